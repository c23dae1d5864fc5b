// The band under the top bar: opened or not as the reader left it, and drawn anew while live, never
// for each record.
"use strict";
(() => {
  const band = document.getElementById("band");
  if (!band) return;
  const { parse, fetchPart } = window.presentview;
  const KEY = "presentview.band";
  const AGAIN_AFTER = 5000; // ms between two looks while live
  const LARGE_AFTER = 500; // ms until that of a long session is asked for, which takes a while
  const SHARE = 20; // a look may take this part of the time
  let timer = 0, wait = AGAIN_AFTER;
  let drawn = "later" in band.dataset ? "" : document.body.dataset.position; // what it shows

  function remembered() {
    try { return localStorage.getItem(KEY); } catch { return null; }
  }

  function restore() {
    const details = band.querySelector("details"), state = remembered();
    if (details && state) details.open = state === "open";
    const focus = new URLSearchParams(location.search).get("focus");
    const lane = focus && band.querySelector(`.lane > a[href$="?focus=${CSS.escape(focus)}"]`);
    if (lane) lane.setAttribute("aria-current", "true");
  }

  // What changes above the cards must not move what is being read.
  function put(found) {
    const [fresh] = parse(found.band);
    const shown = band.querySelector("details"), next = fresh.querySelector("details");
    if (shown && next) {
      const top = shown.querySelector(".lanes")?.scrollTop ?? 0;
      shown.replaceChildren(...next.childNodes);
      shown.querySelector(".lanes").scrollTop = top;
    } else band.replaceChildren(...fresh.childNodes);
    restore();
    const tools = document.getElementById("tools");
    if (tools) tools.replaceChildren(...parse(found.tools)[0].childNodes);
  }

  async function renew() {
    const began = performance.now();
    const found = await fetchPart("band", {});
    wait = Math.max(AGAIN_AFTER, SHARE * (performance.now() - began));
    if (found.pos === drawn) return;
    // A link that has the keyboard is not taken away from under it.
    if (band.contains(document.activeElement)) { later(); return; }
    drawn = found.pos;
    const { rows } = window.presentview;
    const isThere = band.firstElementChild || found.band.includes("<details");
    if (rows && scrollY > 0 && isThere) rows.hold(() => put(found));
    else put(found);
  }

  function later() {
    timer ||= setTimeout(() => { timer = 0; renew().catch(() => {}); }, wait);
  }

  band.addEventListener("click", (event) => {
    const details = event.target.closest("summary")?.parentElement;
    // It is turned over after this.
    if (details) try { localStorage.setItem(KEY, details.open ? "closed" : "open"); } catch { /* storage may be off */ }
  });
  document.addEventListener("presentview:changed", later);
  document.addEventListener("presentview:anew", later);
  restore();
  if ("later" in band.dataset) addEventListener("load", () => setTimeout(() => renew().catch(() => {}), LARGE_AFTER));
})();
