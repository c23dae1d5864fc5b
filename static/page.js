// What a reader does on a page: links to cards, copying, the theme, where one is in the outline.
"use strict";
(() => {
  // A link to a card opens everything around it.
  function reveal() {
    const card = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!card) return;
    for (let outer = card.parentElement?.closest("details"); outer; outer = outer.parentElement?.closest("details")) outer.open = true;
    const own = card.querySelector(":scope > details");
    if (own) own.open = true;
    card.scrollIntoView({ block: "start" });
  }
  window.addEventListener("hashchange", reveal);
  reveal();

  // Print what can be read: everything that has been fetched is opened.
  window.addEventListener("beforeprint", () => {
    for (const card of document.querySelectorAll(".card > details")) card.open = true;
  });

  async function copy(button) {
    const answer = await fetch(button.dataset.copy);
    await navigator.clipboard.writeText(await answer.text());
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button).catch(() => { button.textContent = "Cannot copy"; });
    if (event.target.closest("[data-theme-switch]")) switchTheme();
  });

  function switchTheme() {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("presentview.theme", root.dataset.theme); } catch { /* storage may be off */ }
  }

  // Buttons need scripts and so are shown by one; those of cards by a class, for no script may
  // change a card.
  document.documentElement.classList.add("scripted");
  for (const button of document.querySelectorAll("[data-theme-switch]")) button.hidden = false;

  const outline = document.getElementById("outline");
  if (!outline) return;
  let waiting = false;
  function mark() {
    waiting = false;
    const edge = 140;
    let current = null;
    for (const prompt of document.querySelectorAll("#cards > .prompt")) {
      if (prompt.getBoundingClientRect().top > edge) break;
      current = prompt;
    }
    const turn = current ?? document.querySelector("#cards > .prompt");
    for (const link of outline.querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
    const link = turn && outline.querySelector(`#o${turn.dataset.turn} a`);
    link?.setAttribute("aria-current", "true");
  }
  function soon() { if (!waiting) { waiting = true; requestAnimationFrame(mark); } }
  window.addEventListener("scroll", soon, { passive: true });
  document.addEventListener("presentview:changed", soon);
  mark();
})();
