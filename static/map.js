// The map of the whole session at the right edge: where errors, edits and compactions lie, where
// the view is, and a click that goes there.
"use strict";
(() => {
  const map = document.querySelector("[data-map]");
  const cards = document.getElementById("cards");
  const { rows } = window.presentview;
  if (!map || !cards || !rows) return;
  const AGAIN_AFTER = 5000; // ms between two looks while live
  const here = map.querySelector(".here");
  let timer = 0;

  const parts = () => {
    const box = cards.getBoundingClientRect();
    return { start: -box.top, whole: Math.max(box.height, 1) };
  };

  function draw() {
    const { start, whole } = parts();
    const top = Math.min(1, Math.max(0, start / whole)), height = Math.min(1 - top, innerHeight / whole);
    here.setAttribute("y", String(top * 200));
    here.setAttribute("height", String(Math.max(2, height * 200)));
    map.toggleAttribute("hidden", whole < 2 * innerHeight);
  }

  const soon = window.presentview.onceAFrame(draw);

  async function renew() {
    timer = 0;
    const found = await window.presentview.ask("map", {});
    const [svg] = window.presentview.parse(`<svg>${found.map}</svg>`);
    map.querySelector(".ticks").replaceChildren(...svg.childNodes);
    draw();
  }

  function renewLater() { timer ||= setTimeout(() => renew().catch(() => {}), AGAIN_AFTER); }

  function go(event) {
    const box = map.getBoundingClientRect(), { whole } = parts();
    const share = Math.min(1, Math.max(0, (event.clientY - box.top) / box.height));
    const top = cards.getBoundingClientRect().top + scrollY;
    const wanted = top + share * whole - innerHeight / 3;
    // The end is where the last card stands, however high those before it turn out to be.
    if (wanted >= document.documentElement.scrollHeight - innerHeight) rows.toEnd();
    else scrollTo({ top: wanted, behavior: "instant" });
  }

  map.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    map.setPointerCapture(event.pointerId);
    go(event);
  });
  map.addEventListener("pointermove", (event) => { if (map.hasPointerCapture(event.pointerId)) go(event); });
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon);
  document.addEventListener("presentview:filled", soon);
  document.addEventListener("presentview:changed", () => { soon(); renewLater(); });
  document.addEventListener("presentview:anew", renewLater);
  soon();
  // The page comes without its map: to draw that, all cards are looked at.
  renew().catch(renewLater);
})();
