// What the scripts of all pages share.
"use strict";
(() => {
  // The elements of a piece of HTML from our server, escaped there.
  function parse(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    return [...template.content.children];
  }

  // Where the bar at the top ends: what lies above is not seen.
  const edge = () => document.querySelector(".top").getBoundingClientRect().bottom;

  // The number in the id of a card or a turn.
  const numberOf = (element) => Number(element.id.slice(1));

  // Open everything that hides an element, up to `outermost`.
  function uncover(element, outermost = document.body) {
    const around = (inner) => inner.parentElement?.closest("details");
    for (let outer = around(element); outer && outermost.contains(outer); outer = around(outer)) outer.open = true;
  }

  // `work`, once in a frame however often that is asked for.
  function onceAFrame(work) {
    let isWaiting = false;
    return () => {
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => { isWaiting = false; work(); });
    };
  }

  // Whether a key is meant for the page, and not typed into something.
  function isForPage(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
    // A dialog that was closed keeps the focus until the page is drawn again.
    return !event.target.closest?.("input, textarea, select, [contenteditable], dialog[open]");
  }

  // A part of this session's page, as JSON.
  async function fetchPart(path, parameters, query = "") {
    const address = `/s/${document.body.dataset.session}/${path}?${new URLSearchParams(parameters)}${query && "&" + query}`;
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    return answer.json();
  }

  // Say something for a moment, where the page has a place for that.
  let said = 0;
  function say(text) {
    const note = document.querySelector("[data-said]");
    if (!note) return;
    note.textContent = text;
    note.hidden = false;
    clearTimeout(said);
    said = setTimeout(() => { note.hidden = true; }, 2500);
  }

  window.presentview = { parse, edge, numberOf, uncover, onceAFrame, isForPage, fetchPart, say };
})();
