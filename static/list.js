// The list of sessions: finds while one types, among all sessions; and keeps the page true where it
// does not show the first rows of all, which is what the server tells the changes of.
"use strict";
(() => {
  const form = document.querySelector("[data-find]");
  if (!form) return;
  const TYPED = 120, CHANGED = 400, PAUSE = 60, RETRY = 2000;
  const PARTS = ["choices", "listed", "empty", "pager"];
  const box = form.elements.q;
  const sessions = document.getElementById("sessions");
  const { patch, showAnew, isForPage } = window.presentview;
  let asked = null, again = false, timer = 0;

  // What the page shows is in its address; nothing there: the first rows of all.
  const isFirst = () => !location.search;
  const count = (position) => Number(position.split(".")[1]);

  async function show(answer) {
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const position = document.body.dataset.position;
    // Changes were applied that this answer does not know of yet.
    if (isFirst() && count(page.body.dataset.position) < count(position)) { again = true; return; }
    const regions = { sessions: page.getElementById("sessions").innerHTML };
    for (const id of PARTS) regions[id] = page.getElementById(id).outerHTML;
    showAnew(regions);
  }

  async function ask() {
    const mine = asked = new AbortController();
    again = false;
    try {
      await show(await fetch(location.pathname + location.search, { signal: mine.signal }));
    } catch {
      if (mine === asked) askSoon(RETRY);
    }
    if (mine !== asked) return;
    asked = null;
    if (again) askSoon(CHANGED);
  }

  // Another search does not wait for the answer to the last one.
  function askSoon(delay) {
    clearTimeout(timer);
    timer = setTimeout(() => { timer = 0; asked?.abort(); ask(); }, delay);
  }

  // Neither put off again and again, nor asked twice, while a session is being recorded.
  function changed() {
    if (asked) again = true;
    else if (!timer) askSoon(CHANGED);
  }

  window.presentview = {
    ...window.presentview,
    patch(ops) {
      if (isFirst()) return patch(ops);
      changed();
      return true;
    },
    showAnew(regions) {
      if (isFirst()) showAnew(regions); else changed();
    },
  };
  // What was told before this script was here went past it.
  if (!isFirst() && sessions.dataset.shown !== document.body.dataset.position) changed();

  function find() {
    const query = new URLSearchParams(location.search), words = box.value.trim();
    if ((query.get("q") ?? "") === words) return;
    query.delete("page");
    query.delete("q");
    const rest = query.toString();
    const all = (words ? "q=" + encodeURIComponent(words) : "") + (words && rest ? "&" : "") + rest;
    history.replaceState(null, "", location.pathname + (all && "?" + all));
    askSoon(TYPED);
  }

  box.addEventListener("input", find);
  form.addEventListener("submit", (event) => { event.preventDefault(); find(); });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (box.value) { box.value = ""; find(); } else box.blur();
    event.preventDefault();
  });

  const rows = () => [...sessions.querySelectorAll(":scope > li > a")];
  function step(by) {
    const all = rows(), at = all.indexOf(document.activeElement);
    all[at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by]?.focus();
  }
  const keys = { "/": () => { box.focus(); box.select(); }, j: () => step(1), k: () => step(-1) };
  addEventListener("keydown", (event) => {
    if (!keys[event.key] || !isForPage(event)) return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const key of form.querySelectorAll("[data-find-key]")) key.hidden = false;
  // What was typed before this script was here, or kept by the browser.
  if (box.value !== box.defaultValue) find();

  // Sessions are read a few at each look: as long as some wait and somebody sees the page, it asks
  // for the next look. What that finds comes as any other change does.
  const note = document.querySelector("[data-live-note]");
  const isAwaiting = () => Number(document.getElementById("listed").dataset.unread) > 0 && !document.hidden;
  let reading = false;

  async function readOn() {
    if (reading) return;
    reading = true;
    while (isAwaiting()) {
      const before = document.body.dataset.position;
      const went = note.hidden && await fetch(`/s/list/since/${before}`, { method: "HEAD" }).then((a) => a.ok, () => false);
      await new Promise((done) => setTimeout(done, PAUSE));
      if (!went || before === document.body.dataset.position) await new Promise((done) => setTimeout(done, RETRY / 4));
    }
    reading = false;
  }
  document.addEventListener("presentview:changed", readOn);
  document.addEventListener("visibilitychange", readOn);
  readOn();

  // Back from a session: the browser shows the box as it was, the address says what was found.
  box.value = new URLSearchParams(location.search).get("q") ?? "";
})();
