// Whether the page goes with what comes. Three states: *following* goes with the end; *reading*
// stays where it is and counts what came; *held* follows but for the moment: something is selected.
"use strict";
(() => {
  const button = document.querySelector("[data-new]");
  const cards = document.getElementById("cards");
  const { rows, numberOf } = window.presentview;
  if (!button || !cards || !rows) return;
  const NEAR = 80; // px from the end that still count as the end

  // What happens: the reader moved to the end or away from it, asked for the end, selected
  // something or nothing any more. Only the reader changes the state.
  const STATES = {
    following: { away: "reading", select: "held" },
    held: { away: "reading", release: "following", ask: "following" },
    reading: { end: "following", ask: "following" },
  };
  const next = (state, event) => STATES[state][event] ?? state;

  let state = "reading";
  const fresh = new Map(); // cards that came since the reader last was at the end: whether they failed
  let newest = Number(cards.dataset.newest);

  const isAtEnd = () => rows.isAtEnd() && innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR;
  const isScrollable = () => document.documentElement.scrollHeight > innerHeight + NEAR;
  const isSelecting = () => { const s = getSelection(); return Boolean(s && !s.isCollapsed && cards.contains(s.anchorNode)); };

  function show() {
    if (state !== "reading") fresh.clear();
    const errors = [...fresh.values()].filter(Boolean).length;
    button.hidden = !fresh.size;
    button.textContent = fresh.size
      ? `${fresh.size} new${errors ? `, ${errors} error${errors > 1 ? "s" : ""}` : ""} ↓`
      : "";
    document.body.dataset.follow = state;
  }

  async function happened(event) {
    state = next(state, event);
    if (state === "following" && event !== "end") await rows.toEnd();
    show();
  }

  const failed = (card) => card.matches(".failed, .blocked, .turn_error");

  // A card that came, or that is another now.
  document.addEventListener("presentview:card", ({ detail: { card, isNew } }) => {
    const number = numberOf(card);
    if (isNew && number > newest) { newest = number; fresh.set(card.id, failed(card)); }
    else if (fresh.has(card.id)) fresh.set(card.id, failed(card));
  });

  document.addEventListener("presentview:changed", () => {
    if (state === "following") rows.toEnd();
    show();
  });
  new ResizeObserver(() => { if (state === "following") rows.toEnd(); }).observe(cards);

  // A scroll by the reader, not by a change of the page: only these come before one.
  const MOVES = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " ", "j", "k"]);
  const MOVING = 500; // ms that a scroll may come after what the reader did
  let touched = -MOVING;
  const judge = () => { if (isScrollable()) happened(isAtEnd() ? "end" : "away"); };
  const moved = () => { touched = performance.now(); requestAnimationFrame(judge); };
  addEventListener("scroll", () => { if (performance.now() - touched < MOVING) judge(); }, { passive: true });
  addEventListener("wheel", moved, { passive: true });
  addEventListener("touchmove", moved, { passive: true });
  addEventListener("keydown", (event) => { if (MOVES.has(event.key)) moved(); });
  addEventListener("pointerup", () => { if (!isAtEnd()) happened("away"); });
  document.addEventListener("selectionchange", () => happened(isSelecting() ? "select" : "release"));
  button.addEventListener("click", () => happened("ask"));

  // New since the reader left: a line in front of the first card they have not seen.
  const seen = window.presentview.seenBefore ?? 0;
  function drawLine() {
    if (!seen || seen >= newest || cards.querySelector(".since")) return;
    const first = [...cards.querySelectorAll(".sec > .card")].find((card) => numberOf(card) > seen && !card.matches(".usage"));
    const earlier = first?.previousElementSibling ?? first?.closest(".sec").previousElementSibling?.lastElementChild;
    if (!first || !earlier?.classList.contains("card")) return;
    const line = document.createElement("div");
    line.className = "since";
    line.setAttribute("role", "separator");
    line.textContent = "New since you left";
    first.before(line);
  }
  document.addEventListener("presentview:filled", drawLine);

  const isLive = document.querySelector("#head .pill.live") !== null;
  if (isLive && isScrollable() && isAtEnd()) state = "following";
  show();
  window.presentview = {
    ...window.presentview,
    follow: () => happened("ask"),
    leaveEnd: () => happened("away"),
    isFollowing: () => state === "following",
    newest: () => newest,
    nextFollowState: next,
  };
})();
