// What a reader does on a page: links to cards, copying, the theme, where one is in the outline.
"use strict";
(() => {
  // The card a link led to is marked by a rule of its own, for no script may change a card.
  const marked = new CSSStyleSheet();
  document.adoptedStyleSheets.push(marked);

  function mark(id) {
    const parts = ["> details > summary", "> .say", "> .row", "> .in", "> .foot"];
    const rule = parts.map((part) => `#${id} ${part}`).join(",");
    marked.replaceSync(`${rule} { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 6px; }`);
  }

  // A link to a card opens everything around it, and the card itself. Says whether it is here.
  async function open(id, { opens = true, ...place } = {}) {
    const { rows } = window.presentview;
    window.presentview.leaveEnd?.();
    const card = rows ? await rows.goTo(id, place) : document.getElementById(id);
    if (!card) {
      // This page leaves the card out; the whole session does not.
      if (document.getElementById("cards")?.dataset.query) location.assign(`/s/${document.body.dataset.session}?depth=everything&at=${id}#${id}`);
      return false;
    }
    if (!rows) window.presentview.uncover(card);
    const own = card.querySelector(":scope > details");
    if (own && opens) own.open = true;
    if (!rows) card.scrollIntoView({ block: "start" });
    mark(id);
    (own?.firstElementChild ?? card).focus({ preventScroll: true });
    return true;
  }

  // `#c42`, or with the cards that were open and where on the screen it stood: `#c42!o=3.9!x=5!y=120`.
  function linked() {
    const found = /^#(c\d+)((?:!(?:[ox]=[\d.]*|y=-?\d+))*)$/.exec(location.hash);
    if (!found) return null;
    const values = Object.fromEntries(found[2].split("!").filter(Boolean).map((part) => part.split("=")));
    const ids = (text) => (text ?? "").split(".").filter(Boolean).map((number) => `c${number}`);
    return { id: found[1], opened: ids(values.o), closed: ids(values.x), offset: "y" in values ? Number(values.y) : undefined };
  }

  function follow() {
    const link = linked();
    if (link) open(link.id);
  }

  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#c"]');
    // The same address again is no change that the browser would tell of.
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  window.presentview = { ...window.presentview, open, linked };

  // Print what can be read: everything that has been fetched is opened, and closed again then.
  let printed = [];
  window.addEventListener("beforeprint", () => {
    const closed = document.querySelectorAll(".card > details:not([open]), .run:not([open])");
    printed = [...closed].filter((details) => !details.querySelector(":scope > .lazy > a[hx-get]"));
    for (const details of printed) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const details of printed) details.open = false;
    printed = [];
  });

  // Put a text on the clipboard, and say on the button how that went.
  async function copy(button, text) {
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(await text());
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = label; }, 1500);
    } catch {
      button.textContent = "Cannot copy";
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button, async () => {
      const answer = await fetch(button.dataset.copy);
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
      return answer.text();
    });
    if (event.target.closest("[data-theme-switch]")) switchTheme();
    const step = event.target.closest(".more .step");
    if (step) showMore(step).catch(() => { step.disabled = false; });
    // Whoever came to a card from the timings goes back to its row.
    const tab = event.target.closest('.tabs a[href$="/timings"]'), came = linked();
    if (tab && came) tab.href += `?at=${came.id}`;
    const link = event.target.closest("[data-link]");
    // An address that shows what is shown here, in another browser too.
    if (link) copy(link, () => window.presentview.linkToHere());
  });

  // The next step of a text too long to be shown at once, as it stands.
  async function showMore(button) {
    const more = button.closest(".more"), from = Number(more.dataset.from);
    button.disabled = true;
    const answer = await fetch(`${more.dataset.text}?from=${from}`);
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    const text = await answer.text();
    const shown = document.createElement("pre");
    shown.className = "out";
    shown.textContent = text;
    more.lastElementChild.before(shown);
    const length = [...text].length, left = Number(more.dataset.cut) - length;
    more.dataset.from = String(from + length);
    more.dataset.cut = String(left);
    button.disabled = false;
    if (left > 0 && length) more.querySelector("span").textContent = `${left.toLocaleString("en")} more characters`;
    else more.lastElementChild.remove();
  }

  function switchTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("presentview.theme", root.dataset.theme); } catch { /* storage may be off */ }
  }

  // A filter that is chosen is applied; without scripts there is a button for it.
  document.addEventListener("change", (event) => { event.target.closest("[data-filters]")?.requestSubmit(); });

  // Buttons need scripts and so are shown by one; those of cards by a class, for no script may
  // change a card.
  document.documentElement.classList.add("scripted");
  for (const button of document.querySelectorAll("[data-theme-switch], [data-link]")) button.hidden = false;
})();
