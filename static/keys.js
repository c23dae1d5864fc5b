// The keyboard: from card to card, from error to error, and a list of the keys.
"use strict";
(() => {
  const help = document.getElementById("keys");
  const cards = document.getElementById("cards");

  const isSeen = (card) => card.getClientRects().length > 0;
  const handle = (card) => card.querySelector(":scope > details > summary") ?? card;

  function current() {
    return document.activeElement?.closest?.("#cards .card") ?? null;
  }

  // The next (or previous) card in page order of those that match and can be seen.
  function step(selector, forward) {
    const all = [...cards.querySelectorAll(selector)].filter(isSeen);
    const from = current();
    const edge = document.querySelector(".top").getBoundingClientRect().bottom;
    let index;
    if (from) {
      const order = (card) => from.compareDocumentPosition(card);
      index = forward
        ? all.findIndex((card) => order(card) & Node.DOCUMENT_POSITION_FOLLOWING)
        : all.findLastIndex((card) => order(card) & Node.DOCUMENT_POSITION_PRECEDING);
    } else {
      index = all.findIndex((card) => card.getBoundingClientRect().top >= edge);
      if (!forward) index -= 1;
    }
    const card = all[index];
    if (!card) return;
    handle(card).focus({ preventScroll: true });
    handle(card).scrollIntoView({ block: "nearest" });
    const box = handle(card).getBoundingClientRect();
    if (box.top < edge) scrollBy({ top: box.top - edge - 12, behavior: "instant" });
  }

  function toggle() {
    const own = current()?.querySelector(":scope > details");
    if (own) own.open = !own.open;
  }

  function tab(index) { document.querySelectorAll(".tabs a")[index]?.click(); }

  const keys = {
    j: () => step(".card", true),
    k: () => step(".card", false),
    J: () => step(".card.prompt", true),
    K: () => step(".card.prompt", false),
    o: toggle,
    e: () => step(".card.failed, .card.blocked, .card.turn_error", true),
    d: () => step(".card.edit, .card.write", true),
    f: () => window.presentview.follow?.(),
    1: () => tab(0),
    2: () => tab(1),
    "?": () => help.showModal(),
  };

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable], dialog")) return;
    const action = keys[event.key];
    if (!action || (!cards && event.key !== "?" && !/^[12]$/.test(event.key))) return;
    event.preventDefault();
    action();
  });

  for (const button of document.querySelectorAll("[data-keys]")) {
    button.hidden = false;
    button.addEventListener("click", () => help.showModal());
  }
  help?.addEventListener("click", (event) => { if (event.target === help) help.close(); });
})();
