// The cards of a session in sections: those near what is being looked at are in the page, all
// others are two gaps, as high as they would be. What came into view is fetched, what is far away
// is let go. Whatever happens above it, the card at the top of the view stays where it is.
"use strict";
(() => {
  const cards = document.getElementById("cards");
  if (!cards || !("table" in cards.dataset)) return;
  const { parse, edge, numberOf, uncover, onceAFrame, fetchPart } = window.presentview;
  const page = document.body.dataset;
  const query = cards.dataset.query;
  const SECTION = 50; // cards
  const NEAR = 1, FAR = 2; // screens around the view that are filled, and kept
  const CLOSED = 48; // px, about, of a card that is not in the page

  const gap = () => { const element = document.createElement("div"); element.className = "gap"; return element; };
  const above = gap(), below = gap();
  let rows = []; // of all sections: the number of the first card, and the height in px
  let from = 0, to = 0; // the sections in the page
  let last = 0; // cards in the last section
  let busy = false, again = false, retry = 0;

  const sections = () => [...cards.querySelectorAll(":scope > .sec")];
  const members = (section) => [...section.querySelectorAll(":scope > .card, :scope > .run > .card")];
  const sum = (start, end) => { let px = 0; for (let i = start; i < end; i += 1) px += rows[i].height; return px; };

  function changed() { document.dispatchEvent(new CustomEvent("presentview:filled")); }

  // The place of the reader

  // The innermost card that reaches below the bar first, and how far from the bar it begins.
  function anchor() {
    const top = edge() + 1;
    let found = null;
    for (const card of cards.querySelectorAll(".card")) {
      if (found && !found.card.contains(card)) break;
      const box = card.getBoundingClientRect();
      if (box.height && box.bottom > top && card.checkVisibility()) found = { card, offset: box.top - top + 1 };
    }
    return found;
  }

  function align({ card, offset }) {
    if (!card.isConnected) return;
    const off = card.getBoundingClientRect().top - edge() - offset;
    if (Math.abs(off) >= 0.5) scrollBy({ top: off, behavior: "instant" });
    stood = scrollY;
  }

  // The anchor as it was when the reader last moved: bodies that come in later push it about.
  let held = null;
  let stood = 0; // where this script last put the page: a scroll to there is no move of the reader

  function hold(change) {
    const place = held?.card.isConnected ? held : anchor();
    change();
    if (place) align(place);
    held = anchor();
  }

  const watcher = new ResizeObserver(() => {
    measure();
    if (held && !window.presentview.isFollowing?.()) align(held);
    settle();
  });

  // Sections

  function read(table) {
    let number = 0;
    return table.split(" ").filter(Boolean).map((pair) => {
      const [step, height] = pair.split(",").map(Number);
      number += step;
      return { first: number, height };
    });
  }

  function measure() {
    sections().forEach((section, index) => { rows[from + index].height = section.getBoundingClientRect().height; });
  }

  function setGaps() {
    above.style.height = `${sum(0, from)}px`;
    below.style.height = `${sum(to, rows.length)}px`;
  }

  // The sections that lie within `screens` of the view: the first, and the one after the last.
  function around(screens) {
    const margin = screens * innerHeight;
    const top = -cards.getBoundingClientRect().top - margin, bottom = top + innerHeight + 2 * margin;
    let y = 0, first = 0;
    while (first < rows.length - 1 && y + rows[first].height <= top) { y += rows[first].height; first += 1; }
    let end = first;
    while (end < rows.length && (y < bottom || end === first)) { y += rows[end].height; end += 1; }
    return [first, end];
  }

  function put(section, before) {
    cards.insertBefore(section, before);
    window.presentview.entered(section);
    window.presentview.restoreCards?.(section);
    watcher.observe(section);
  }

  function drop(section) {
    watcher.unobserve(section);
    section.remove();
  }

  const isNeeded = (section) => section.contains(document.activeElement) || getSelection()?.containsNode(section, true);

  // What is focused or selected is kept for longer, but not for ever.
  function letGo() {
    const [first, end] = around(FAR), [least, most] = around(3 * FAR);
    if (from >= first && to <= end) return;
    measure();
    hold(() => {
      const here = sections();
      while (from < first && here.length > 1 && (from < least || !isNeeded(here[0]))) { drop(here.shift()); from += 1; }
      while (to > end && here.length > 1 && (to > most || !isNeeded(here.at(-1)))) { drop(here.pop()); to -= 1; }
      setGaps();
    });
  }

  // Asking for more

  // Whether an answer shows less than this page has shown already.
  function isOld(position) {
    const [epoch, count] = position.split("."), [mine, shown] = page.position.split(".");
    return epoch === mine && Number(count) < Number(shown);
  }

  async function ask(path, parameters) {
    for (;;) {
      const found = await fetchPart(path, parameters, query);
      if (!isOld(found.pos)) return found;
    }
  }

  async function piece(index) {
    const parameters = { from: `c${rows[index].first}` };
    if (index + 1 < rows.length) parameters.until = `c${rows[index + 1].first}`;
    const found = await ask("cards", parameters);
    return found.cards;
  }

  async function step() {
    measure();
    let [first, end] = around(NEAR);
    if (end <= from || first >= to) {
      // Far from everything that is here: nothing to keep in its place.
      end = Math.min(end, first + 4);
      const wanted = [...Array(end - first).keys()].map((i) => rows[first + i]);
      const found = await Promise.all(wanted.map((_, i) => piece(first + i)));
      if (found.some((html) => html === null) || rows[first] !== wanted[0]) { await show(nearest()); return; }
      for (const section of sections()) drop(section);
      from = first;
      to = end;
      for (const html of found) put(parse(html)[0], below);
      setGaps();
      held = anchor();
      again = true;
    } else if (first < from || end > to) {
      const isEarlier = first < from, index = isEarlier ? from - 1 : to, row = rows[index];
      const html = await piece(index);
      if (html === null) { await show(nearest()); return; }
      again = true;
      if (rows[index] !== row || index !== (isEarlier ? from - 1 : to)) return;
      hold(() => {
        if (isEarlier) { put(parse(html)[0], sections()[0] ?? below); from = index; }
        else { put(parse(html)[0], below); to = index + 1; }
        measure();
        setGaps();
      });
    } else letGo();
    changed();
  }

  async function settle() {
    again = true;
    if (busy) return;
    busy = true;
    clearTimeout(retry);
    try {
      while (again && rows.length) { again = false; await step(); }
    } catch {
      retry = setTimeout(settle, 1000);
    } finally {
      busy = false;
    }
  }

  function nearest() {
    const place = anchor();
    return { at: place?.card.id ?? "", offset: place?.offset ?? 0 };
  }

  // Show the window around a card (or the end) instead of what is here.
  async function show({ at, offset = 14 }) {
    const found = await ask("cards", { at });
    rows = read(found.table);
    from = found.index;
    last = found.last;
    for (const section of sections()) drop(section);
    if (rows.length) put(parse(found.cards)[0], below);
    to = Math.min(from + 1, rows.length);
    measure();
    setGaps();
    const card = document.getElementById(at) ?? document.getElementById(found.nearest);
    if (card) align({ card, offset });
    held = anchor();
    changed();
  }

  // A card the page may not have: it is fetched, what hides it is opened, and it is scrolled to.
  async function goTo(id, { offset = 14 } = {}) {
    if (!document.getElementById(id)) await show({ at: id, offset });
    const card = document.getElementById(id);
    if (!card) { await settle(); return null; }
    uncover(card);
    align({ card, offset });
    held = { card, offset };
    await settle();
    align({ card, offset });
    held = anchor();
    return card;
  }

  async function toEnd() {
    if (to < rows.length) await show({ at: "end" });
    scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    held = anchor();
  }

  // Changes while live

  const wanted = new URLSearchParams(query);
  const kinds = cards.dataset.kinds ? new Set(cards.dataset.kinds.split(" ")) : null;
  const focus = wanted.get("focus") ?? "";
  const top = focus.startsWith("c") ? focus : "cards"; // the parent of what stands at the top here
  const isFiltered = ["tool", "state", "kind"].some((name) => wanted.has(name));

  function isShown(card) {
    if (kinds && !kinds.has(card.dataset.kind)) return false;
    if (focus.startsWith("t") && focus !== `t${card.dataset.turn}`) return false;
    if (!isFiltered) return true;
    const is = (name) => !wanted.has(name) || card.classList.contains(wanted.get(name));
    return is("tool") && is("state") && (!wanted.has("kind") || card.dataset.kind === wanted.get("kind"));
  }

  const holder = (card) => card.closest(".run") ?? card;

  function begin(card) {
    const section = document.createElement("div");
    section.className = "sec";
    section.dataset.first = card.id;
    rows.push({ first: numberOf(card), height: CLOSED });
    to = rows.length;
    if (rows.length === 1) from = 0;
    put(section, below);
    return section;
  }

  // A new card at the top: in its place if that is in the page. Says whether it is now.
  function add(card, beforeId) {
    if (!isShown(card)) return false;
    const before = beforeId ? document.getElementById(beforeId) : null;
    if (before) {
      const place = holder(before), section = place.parentElement;
      if (section.dataset.first === before.id) rename(section, card);
      section.insertBefore(card, place);
      return true;
    }
    const isFull = !rows.length || last >= SECTION;
    last = isFull ? 1 : last + 1;
    if (to < rows.length) {
      if (isFull) rows.push({ first: numberOf(card), height: CLOSED });
      else rows.at(-1).height += CLOSED;
      setGaps();
      return false;
    }
    if (beforeId) return false;
    const section = isFull ? begin(card) : sections().at(-1);
    section.append(card);
    last = members(section).length;
    return true;
  }

  function rename(section, card) {
    section.dataset.first = card.id;
    rows[from + sections().indexOf(section)].first = numberOf(card);
  }

  // A card is about to leave its place at the top.
  function leaves(card) {
    const section = card.closest("#cards > .sec");
    if (!section || section.dataset.first !== card.id) return;
    const next = members(section).find((other) => other !== card);
    if (next) { rename(section, next); return; }
    // It goes at once, so that nothing is added to it any more; the card is put elsewhere next.
    rows.splice(from + sections().indexOf(section), 1);
    to -= 1;
    drop(section);
    const end = sections().at(-1);
    if (to === rows.length) last = end ? members(end).length : SECTION;
  }

  // Starting

  cards.prepend(above);
  cards.append(below);
  rows = read(cards.dataset.table);
  from = Number(cards.dataset.index);
  last = Number(cards.dataset.last);
  to = from + sections().length;
  for (const section of sections()) watcher.observe(section);
  measure();
  setGaps();
  delete cards.dataset.table;
  // A page that was asked for in the middle shows the middle from the start.
  if (from > 0) align({ card: document.getElementById(cards.dataset.nearest) ?? cards.querySelector(".card"), offset: 14 });

  addEventListener("scroll", onceAFrame(() => {
    if (Math.abs(scrollY - stood) >= 1) held = anchor();
    stood = scrollY;
    settle();
  }), { passive: true });
  addEventListener("resize", settle);

  window.presentview = {
    ...window.presentview,
    ask,
    rows: {
      top, add, leaves, goTo, toEnd, settle, hold, anchor, isFiltered, isShown,
      isAtEnd: () => to === rows.length,
      beginnings: () => rows.map(({ first }) => `c${first}`),
      sections, get ready() { return !busy && !again; },
      // Look again from where the reader is: the cards may be others now.
      renew: () => show(nearest()).then(settle),
    },
  };
})();
