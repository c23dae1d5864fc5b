"""What a browser complains of, whom it asks, and what stands in its page that should not."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request

from tests.browser.conftest import ROOT, Server

__all__ = ["LOOKS", "Watcher", "assert_tame", "assert_upright", "open_everything", "violations"]

LOOKS = [(width, scheme) for width in (1440, 390) for scheme in ("light", "dark")]
"""How wide a page may be, and in which colours."""

_LISTEN = """() => addEventListener("securitypolicyviolation", (event) => {
  console.error("refused by the policy:", event.violatedDirective, event.blockedURI);
})"""


class Watcher:
    """Everything a browser complains of, and every address it asks for."""

    def __init__(self, context: BrowserContext, server: Server) -> None:
        self.own = f"127.0.0.1:{server.port}"
        self.complaints: list[str] = []
        self.addresses: list[str] = []
        context.add_init_script(f"({_LISTEN})()")
        context.on("console", self._said)
        context.on("request", self._asked)
        context.on("dialog", self._dialog)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _asked(self, request: Request) -> None:
        self.addresses.append(request.url)

    def _dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def assert_quiet(self) -> None:
        """Nothing was complained of, nobody else was asked, and nothing that was told to."""
        assert self.complaints == [], self.complaints
        hosts = {urlsplit(url).netloc for url in self.addresses}
        assert hosts == {self.own}, hosts
        asked = [url for url in self.addresses if "evil" in url]
        assert asked == [], asked


# Opens what is closed, also what only came by that, until all of it is here.
_OPEN_ALL = """() => {
  const closed = [...document.querySelectorAll("details:not([open])")];
  for (const details of closed) details.open = true;
  return !closed.length
    && !document.querySelector(".lazy > a[href*='/card/']:only-child, .htmx-request, .kids:empty");
}"""


def open_everything(page: Page) -> None:
    """Open every card and wait until all bodies are there."""
    # A long page would be laid out anew for each of them.
    page.evaluate("() => { document.getElementById('cards').hidden = true; }")
    page.wait_for_function(_OPEN_ALL, timeout=60_000, polling=100)
    page.evaluate("() => { document.getElementById('cards').hidden = false; }")


# Every element that our templates, renderers and scripts write, and every attribute of those in
# which something of a session stands.
_ELEMENTS = """
a article aside b bdi blockquote body br button caption circle code col colgroup dd del details
dialog div dl dt em form g h1 h2 h3 h4 h5 h6 head header hr html i img input kbd label li link main
mark meta nav ol optgroup option p path pre rect s script section select small span strong summary
sup svg symbol table tbody td th thead time title tr ul use defs
"""
_ATTRIBUTES = """
alt class colspan datetime dir download height hidden href hx-get hx-swap hx-target hx-trigger id
loading name open preserveAspectRatio rel rowspan rx scope src start tabindex target title type
value viewBox width x y
"""
_NEVER = "action formaction ping srcdoc srcset background poster manifest content http-equiv"
_STRANGE = """([elements, attributes, never]) => {
  const strange = [];
  const places = "#cards, .card, .lines, #outline, .sessions, #head, #problems, #vitals";
  for (const element of document.querySelectorAll("*")) {
    const inside = element.closest(places);
    const known = elements.includes(element.localName)
      && !(inside && element.matches("form, select, input, dialog, script, link, meta"));
    if (!known) strange.push(`<${element.localName}>`);
    for (const { name, value } of element.attributes) {
      const ours = inside ? attributes.includes(name) || /^(data|aria|hx)-[a-z-]+$/.test(name)
        : !never.includes(name) || element.matches("meta[content], form[action^='/']");
      const acts = /^on/.test(name) || (name === "style" && (inside || element.matches("p, a")))
        || (/^(data-)?hx-/.test(name) && !element.matches(".lazy > a"));
      if ((!ours || acts) && !(name === "style" && element.matches(".gap"))) {
        strange.push(`${name}=${value}`);
      }
      if (["href", "src", "action", "xlink:href"].includes(name)
        && !/^(\\/(s\\/|static\\/|\\?|$)|#|\\?[a-z]+=|\\?$|https?:|mailto:)/.test(value)) {
        strange.push(`${name}=${value}`);
      }
    }
    if (element.matches(".card.kids, .card.in, .card.visually-hidden, .card:not([data-kind])")
      && !element.matches(".opened")) strange.push(`class=${element.className}`);
    if (element.localName === "script" && !element.src.startsWith(location.origin)) {
      strange.push("a script");
    }
    if (element.localName === "img" && !element.getAttribute("src").startsWith("/s/")) {
      strange.push(element.outerHTML);
    }
    if (element.matches("a[href^='http'], a[href^='mailto:']")
      && !element.relList.contains("noopener")) strange.push(element.outerHTML);
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size !== ids.length) strange.push("an id twice");
  const foreign = ids.filter((id) => !/^([a-z]+(-[a-z]+)*|[cosL][0-9a-f]+|[a-z]+-\\w+)$/.test(id));
  return [window.__xss, strange.slice(0, 20), foreign.slice(0, 20)];
}"""


def assert_tame(page: Page) -> None:
    """Nothing ran, and the page holds only what is ours."""
    found = page.evaluate(_STRANGE, [_ELEMENTS.split(), _ATTRIBUTES.split(), _NEVER.split()])
    assert found == [None, [], []], found


_AXE = ROOT / "tests" / "vendor" / "axe-core-4.14.1.min.js"
# Nobody asks for what passed, and to describe it takes as long as to find out.
_VIOLATIONS = """(within) => axe.run(within || document, { resultTypes: ["violations"] })
  .then((result) => result.violations)"""


def violations(page: Page, within: str = "") -> list[str]:
    """What axe-core finds fault with, on the page as it is now or in parts of it. The page's
    context has to bypass the content security policy.
    """
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(_AXE.read_text())
    found = page.evaluate(_VIOLATIONS, within)
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


_TOO_WIDE = """() => {
  const root = document.scrollingElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  const wide = [...document.querySelectorAll("body *")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width && box.right > root.clientWidth + 1;
  });
  return [root.scrollWidth, ...wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 200))];
}"""


def assert_upright(page: Page) -> None:
    """The page is as wide as its window, on a desk and on a phone."""
    for width, height in ((390, 844), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        wide = page.evaluate(_TOO_WIDE)
        assert wide == [], (width, *wide)
