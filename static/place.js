// A tab comes back as it was: which cards are open, which card stood at the top and how far it was
// scrolled. Kept per session in this browser; a link to a card wins over it.
"use strict";
(() => {
  const session = document.body.dataset.session;
  const cards = document.getElementById("cards");
  if (!session || !cards) return;
  const KEY = `presentview.place.${session}`;
  const SAVE_AFTER = 250;
  const MOST_REMEMBERED = 500;
  let timer = 0, settling = null;

  const top = () => document.querySelector(".top").getBoundingClientRect().bottom;
  const details = (card) => card.querySelector(":scope > details");

  // The first card that reaches below the bar, as deep inside others as there is one.
  function atTop() {
    const edge = top() + 1;
    let found = null;
    for (const card of cards.querySelectorAll(".card")) {
      const box = card.getBoundingClientRect();
      if (box.height && box.bottom > edge) { found = card; break; }
    }
    return found && { id: found.id, offset: Math.round(found.getBoundingClientRect().top - top()) };
  }

  function save() {
    clearTimeout(timer);
    const open = [], closed = [];
    for (const card of cards.querySelectorAll(".card")) {
      const own = details(card);
      if (own && own.open !== card.hasAttribute("data-open")) (own.open ? open : closed).push(card.id);
    }
    const place = {
      open: open.slice(-MOST_REMEMBERED),
      closed: closed.slice(-MOST_REMEMBERED),
      at: scrollY > 0 ? atTop() : null,
    };
    try { localStorage.setItem(KEY, JSON.stringify(place)); } catch { /* full or off */ }
  }

  function saveSoon() { clearTimeout(timer); timer = setTimeout(save, SAVE_AFTER); }

  function read() {
    try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; }
  }

  function align({ id, offset }) {
    const card = document.getElementById(id);
    if (card) scrollBy({ top: card.getBoundingClientRect().top - top() - offset, behavior: "instant" });
  }

  function restore() {
    const place = read();
    for (const [ids, open] of [[place.open, true], [place.closed, false]]) {
      for (const id of Array.isArray(ids) ? ids : []) {
        const own = details(document.getElementById(id) ?? cards);
        if (own) own.open = open;
      }
    }
    if (location.hash || !place.at) return;
    history.scrollRestoration = "manual";
    settling = place.at;
    align(settling);
  }

  // Bodies that come in above push the place down: it is held until the reader moves.
  const unsettle = () => { settling = null; };
  for (const event of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(event, unsettle, { passive: true });
  document.addEventListener("htmx:after:swap", () => { if (settling) align(settling); });

  restore();
  addEventListener("scroll", saveSoon, { passive: true });
  cards.addEventListener("toggle", saveSoon, true);
  addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", () => { if (document.hidden) save(); });
})();
