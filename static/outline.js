// The outline of a long session: the turns near the one in view, more as it is scrolled.
"use strict";
(() => {
  const list = document.getElementById("outline");
  const cards = document.getElementById("cards");
  if (!list || !cards || !window.presentview.rows) return;
  const rail = list.closest(".rail");
  const KEPT = 120; // turns
  const { parse, edge, numberOf, onceAFrame } = window.presentview;
  let most = Number(list.dataset.most), busy = false, current = null;

  const item = (turn) => document.getElementById(`o${turn}`);
  const firstShown = () => (list.firstElementChild ? numberOf(list.firstElementChild) : 1);
  const lastShown = () => (list.lastElementChild ? numberOf(list.lastElementChild) : 0);

  async function fetchAround(turn) {
    const found = await window.presentview.ask("outline", { turn });
    most = found.most;
    return parse(found.items);
  }

  async function extend(isLater) {
    const turn = isLater ? lastShown() + 1 : firstShown() - 1;
    if (busy || turn > most || turn < Number(list.dataset.least) || !list.firstElementChild) return;
    busy = true;
    try {
      const fresh = (await fetchAround(isLater ? turn + 12 : turn - 26)).filter((element) => !item(numberOf(element)));
      const before = list.scrollHeight;
      if (isLater) list.append(...fresh); else list.prepend(...fresh);
      if (!isLater) rail.scrollTop += list.scrollHeight - before;
      while (list.childElementCount > KEPT) {
        const height = list.scrollHeight;
        (isLater ? list.firstElementChild : list.lastElementChild).remove();
        if (isLater) rail.scrollTop -= height - list.scrollHeight;
      }
    } finally {
      busy = false;
      soon();
    }
  }

  rail.addEventListener("scroll", () => {
    if (rail.scrollTop < 200) extend(false).catch(() => {});
    else if (rail.scrollTop + rail.clientHeight > rail.scrollHeight - 200) extend(true).catch(() => {});
  }, { passive: true });

  // The turn in view

  function turnInView() {
    const line = edge() + 60;
    let found = null;
    for (const card of cards.querySelectorAll(".sec > .card, .run > .card")) {
      if (found && card.getBoundingClientRect().top > line) break;
      found = card;
    }
    return found ? Number(found.dataset.turn) : 0;
  }

  function mark() {
    const turn = turnInView();
    if (turn === current || (!turn && list.firstElementChild)) return;
    if (!item(turn)) {
      // The turn in view may be another one by the time the answer is here.
      if (!busy) fetchInstead(turn).then(soon, () => {});
      return;
    }
    current = turn;
    for (const link of list.querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
    const link = item(turn).firstElementChild;
    link.setAttribute("aria-current", "true");
    const box = link.getBoundingClientRect(), frame = rail.getBoundingClientRect();
    if (frame.height && (box.top < frame.top + 30 || box.bottom > frame.bottom - 30)) {
      rail.scrollTop += box.top - frame.top - frame.height / 3;
    }
  }

  async function fetchInstead(turn) {
    busy = true;
    try {
      const fresh = await fetchAround(turn);
      list.replaceChildren(...fresh);
      // A stretch without any prompt has no item to mark.
      if (!item(turn)) current = turn;
    } finally {
      busy = false;
    }
  }

  const soon = onceAFrame(mark);
  addEventListener("scroll", soon, { passive: true });
  document.addEventListener("presentview:changed", soon);
  document.addEventListener("presentview:filled", soon);

  // A turn that came or changed.
  function take(fresh) {
    const turn = numberOf(fresh), old = item(turn);
    most = Math.max(most, turn);
    if (old) { window.presentview.become(old, fresh); return; }
    if (turn === lastShown() + 1) list.append(fresh);
    if (list.childElementCount > KEPT && rail.scrollTop > 400) list.firstElementChild.remove();
  }

  document.addEventListener("presentview:anew", () => {
    current = null;
    list.replaceChildren();
    soon();
  });
  window.presentview = { ...window.presentview, takeTurn: take };
  soon();
})();
