// While a session is live a page at its end follows it; a page that was scrolled up stays where it
// is and tells what has come since.
"use strict";
(() => {
  const button = document.querySelector("[data-new]");
  const cards = document.getElementById("cards");
  if (!button || !cards) return;
  const NEAR = 40; // px from the end that still count as the end

  const number = (card) => Number(card.id.slice(1));
  const newest = () => Math.max(0, ...[...cards.querySelectorAll(".card")].map(number));
  const isAtEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR;
  const isScrollable = () => document.documentElement.scrollHeight > innerHeight + NEAR;

  // following: goes with the end. reading: the reader scrolled away. Only the reader changes it.
  let state = isAtEnd() && isScrollable() ? "following" : "reading";
  let seen = newest();

  function toEnd() { scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" }); }

  function follow() {
    state = "following";
    toEnd();
    show();
  }

  function show() {
    if (state === "following") seen = newest();
    const fresh = [...cards.querySelectorAll(".card")].filter((card) => number(card) > seen);
    const errors = fresh.filter((card) => card.matches(".failed, .blocked, .turn_error")).length;
    button.hidden = !fresh.length;
    if (fresh.length) button.textContent = `${fresh.length} new${errors ? `, ${errors} error${errors > 1 ? "s" : ""}` : ""} ↓`;
  }

  const isSelecting = () => { const s = getSelection(); return s && !s.isCollapsed && cards.contains(s.anchorNode); };

  document.addEventListener("presentview:changed", () => {
    if (state === "following" && !isSelecting()) toEnd();
    show();
  });

  // A scroll by the reader, not by a change of the page: only these events come before one.
  for (const event of ["wheel", "touchmove", "keydown"]) {
    addEventListener(event, () => requestAnimationFrame(() => {
      state = isAtEnd() && isScrollable() ? "following" : "reading";
      show();
    }), { passive: true });
  }
  addEventListener("pointerup", () => { if (!isAtEnd()) state = "reading"; });

  button.addEventListener("click", follow);
  window.presentview = { ...window.presentview, follow };
})();
