// Find in the whole session: the server searches its file, this lists the hits, goes from one to
// the next and marks what was found in the card that is shown, without a change to the card.
"use strict";
(() => {
  const form = document.querySelector("[data-find]");
  const cards = document.getElementById("cards");
  if (!form || !cards) return;
  const { edge, uncover, onceAFrame, isForPage } = window.presentview;
  const input = form.querySelector("input");
  const panel = form.querySelector("[data-find-panel]");
  const list = form.querySelector("[data-find-list]");
  const counter = form.querySelector("[data-find-count]");
  const SEARCH_AFTER = 200; // ms without a key
  const ENOUGH = 25; // hits to add to the list at a time
  const MOST_MARKS = 1000; // in one card
  const isNarrow = matchMedia("(max-width: 800px)");

  let query = ""; // what the hits are of
  let hits = [], next = 0; // `next` is the byte to go on from, null at the end
  let current = -1;
  let running = null, stop = new AbortController(), timer = 0, share = 0, failed = false;
  let answered = () => {};

  // Asking

  async function fetchOnce(signal) {
    const answer = await fetch(`${form.getAttribute("action")}?${new URLSearchParams({ q: query, from: next })}`, { signal });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    const found = await answer.json();
    signal.throwIfAborted();
    next = found.next;
    queueMicrotask(answered);
    share = found.share;
    const known = new Set(hits.map((hit) => hit.card));
    const fresh = found.hits.filter((hit) => !known.has(hit.card));
    for (const hit of fresh) { hits.push(hit); list.append(item(hit, hits.length - 1)); }
    return fresh.length;
  }

  // Go on until there are some more hits, or the end is reached; the first are shown at once.
  function more() {
    if (running || next === null || !query) return running ?? Promise.resolve();
    const { signal } = stop;
    failed = false;
    running = (async () => {
      try {
        for (let fresh = 0; next !== null && fresh < ENOUGH; tell()) fresh += await fetchOnce(signal);
      } catch (error) {
        if (error.name === "AbortError") return;
        failed = true;
      } finally {
        if (!signal.aborted) { running = null; tell(); }
      }
    })();
    tell();
    return running;
  }

  // Until the next answer, whether or not more are to come.
  function first() {
    const done = more();
    return Promise.race([done, new Promise((resolve) => { answered = resolve; })]);
  }

  function search() {
    clearTimeout(timer);
    if (input.value === query) return;
    stop.abort();
    stop = new AbortController();
    running = null;
    query = input.value.trim() ? input.value : "";
    hits = [];
    next = 0;
    current = -1;
    share = 0;
    list.replaceChildren();
    mark();
    open();
    more();
    tell();
  }

  // The panel

  function tell() {
    const count = hits.length.toLocaleString("en") + (next === null ? "" : "+");
    if (!query) counter.textContent = "";
    else if (failed) counter.textContent = "cannot search";
    else if (hits.length) counter.textContent = current >= 0 ? `${current + 1} of ${count}` : `${count} ${count === "1" ? "card" : "cards"}`;
    else counter.textContent = next === null ? "not found" : `searching… ${Math.round(100 * share)} %`;
    form.toggleAttribute("aria-busy", Boolean(running));
    panel.classList.toggle("empty", !hits.length);
  }

  function text(tag, className, content) {
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = content;
    return element;
  }

  function item(hit, index) {
    const row = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.dataset.hit = index;
    const what = text("span", "what", "");
    what.append(text("span", "turn-no num", `Turn ${hit.turn}`), text("b", "", hit.label), text("span", "subj", hit.subject));
    if (hit.count > 1) what.append(text("span", "num", `×${hit.count.toLocaleString("en")}`));
    const snippet = text("span", "text", "");
    snippet.dir = "auto";
    snippet.append(hit.before, text("mark", "", hit.match), hit.after);
    button.append(what, snippet);
    row.append(button);
    return row;
  }

  function open() { panel.hidden = !query; }
  function close() { panel.hidden = true; }

  const buttons = () => [...list.querySelectorAll("button")];

  list.addEventListener("scroll", () => {
    if (list.scrollTop + list.clientHeight > list.scrollHeight - 300) more();
  }, { passive: true });

  // Going there

  let arriving = false; // the match is still to be scrolled to

  async function go(index, button = null) {
    const hit = hits[index];
    current = index;
    tell();
    for (const other of list.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
    const own = buttons()[index];
    own?.setAttribute("aria-current", "true");
    own?.scrollIntoView({ block: "nearest" });
    if (isNarrow.matches) close();
    form.dataset.going = hit.card;
    const isHere = await window.presentview.open(hit.card);
    if (hits[current] !== hit) return;
    delete form.dataset.going;
    if (!isHere) return;
    (button && !panel.hidden ? button : input).focus({ preventScroll: true });
    arriving = true;
    mark();
  }

  async function step(forward) {
    search();
    if (forward) {
      while (current + 1 >= hits.length && next !== null && !failed) await first();
      if (hits.length) await go(current + 1 < hits.length ? current + 1 : 0);
      if (current + 1 >= hits.length) more();
    } else {
      while (!hits.length && next !== null && !failed) await first();
      if (hits.length) await go(current > 0 ? current - 1 : hits.length - 1);
    }
  }

  // Marking

  // As on the server: without capitals in the query those of the English alphabet count as small.
  const folds = () => query === query.toLowerCase();
  const alike = (string) => (folds() ? string.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : string);

  // The texts of a card, without those nested in it and without buttons.
  function* texts(card) {
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) => {
      if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
      return node.matches(".kids, button, [hx-get]") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    });
    while (walker.nextNode()) yield walker.currentNode;
  }

  // Where the query stands in a card, also where its letters are of several elements.
  function ranges(card) {
    const nodes = [], starts = [];
    let whole = "";
    for (const node of texts(card)) { nodes.push(node); starts.push(whole.length); whole += node.data; }
    const needle = alike(query), found = [];
    whole = alike(whole);
    let at = 0, node = 0;
    const place = (offset, isEnd) => {
      while (node + 1 < nodes.length && starts[node + 1] + (isEnd ? 1 : 0) <= offset) node += 1;
      return [nodes[node], offset - starts[node]];
    };
    while (found.length < MOST_MARKS && (at = whole.indexOf(needle, at)) >= 0) {
      const range = new Range();
      range.setStart(...place(at, false));
      at += needle.length;
      range.setEnd(...place(at, true));
      found.push(range);
    }
    return found;
  }

  function mark() {
    if (!window.CSS?.highlights) return;
    const card = current >= 0 && document.getElementById(hits[current].card);
    const found = card ? ranges(card) : [];
    if (found.length) CSS.highlights.set("found", new Highlight(...found));
    else CSS.highlights.delete("found");
    if (arriving && found.length) arrive(card, found);
  }

  // Bring a match into view: the first in the body once that is here, till then the first of all.
  function arrive(card, found) {
    const isInHead = (range) => range.startContainer.parentElement.closest("summary")?.parentElement.parentElement === card;
    const target = found.find((range) => !isInHead(range));
    const isWaiting = card.querySelector(":scope > details[open] > .lazy > a[hx-get]");
    if (!target && isWaiting) return;
    arriving = false;
    if (!target) return;
    uncover(target.startContainer, card);
    const box = target.getBoundingClientRect(), top = edge();
    if (box.top < top || box.bottom > innerHeight - 20) {
      const offset = card.getBoundingClientRect().top - box.top + (innerHeight - top) / 3;
      if (window.presentview.rows) window.presentview.rows.goTo(card.id, { offset }).catch(() => {});
      else scrollBy({ top: box.top - top - (innerHeight - top) / 3, behavior: "instant" });
    }
  }

  const markInAFrame = onceAFrame(mark);
  const markSoon = () => { if (current >= 0) markInAFrame(); };
  for (const event of ["htmx:after:swap", "presentview:filled", "presentview:changed"]) document.addEventListener(event, markSoon);
  cards.addEventListener("toggle", markSoon, true);
  // From here on the reader decides where the page is.
  for (const event of ["wheel", "touchmove", "pointerdown"]) addEventListener(event, () => { arriving = false; }, { passive: true });

  // Keys

  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, SEARCH_AFTER); });
  input.addEventListener("focus", () => { if (!isNarrow.matches || current < 0) open(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); step(true).catch(() => {}); });
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[data-hit]");
    if (button) go(Number(button.dataset.hit), button).catch(() => {});
  });
  form.addEventListener("focusout", ({ relatedTarget }) => { if (relatedTarget && !form.contains(relatedTarget) && !cards.contains(relatedTarget)) close(); });
  document.addEventListener("pointerdown", ({ target }) => { if (!form.contains(target)) close(); });

  function leave() {
    clearTimeout(timer);
    close();
    const card = current >= 0 ? document.getElementById(hits[current].card) : null;
    current = -1;
    delete form.dataset.going;
    mark();
    tell();
    if (card) (card.querySelector(":scope > details > summary") ?? card).focus({ preventScroll: true });
    else input.blur();
  }

  form.addEventListener("keydown", (event) => {
    // With no key here the reader moves about: the page must not begin to follow its end.
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const all = buttons(), index = all.indexOf(document.activeElement);
    if (event.key === "Escape") leave();
    else if (event.key === "Enter" && event.target === input) step(!event.shiftKey).catch(() => {});
    else if (event.key === "ArrowDown" && all.length) { open(); (all[index + 1] ?? all[index]).focus(); if (index + 2 >= all.length) more(); }
    else if (event.key === "ArrowUp" && index >= 0) (all[index - 1] ?? input).focus();
    else return;
    event.preventDefault();
  });

  addEventListener("keydown", (event) => {
    if (event.key !== "/" || !isForPage(event)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
})();
