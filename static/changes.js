// The changes page: from step to step by keys, buttons, the scrubber and by playing; what is known
// of the files comes as it is worked out; new steps append while live, and the reader stays.
"use strict";
(() => {
  const root = document.getElementById("changes");
  if (!root) return;
  const { parse, become, entered, isForPage, say } = window.presentview;
  const session = document.body.dataset.session, here = `/s/${session}/changes`;
  const RENEW = 700; // ms between two looks while live
  const RETRY = 1500;
  const number = (name) => Number(root.dataset[name]);

  // What the address asks for

  const query = () => new URLSearchParams(root.dataset.query);
  const remembered = () => { const asked = query(); if (number("step")) asked.set("step", number("step")); return asked; };

  async function get(path, asked, signal) {
    const answer = await fetch(`${path}?${asked}`, { signal });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    return answer;
  }

  // Showing a step. Only the newest wish counts.

  let wish = null;
  async function show(asked, { pushes = false } = {}) {
    wish?.abort();
    const mine = wish = new AbortController();
    try {
      const html = await (await get(`${here}/part`, asked, mine.signal)).text();
      if (mine.signal.aborted) return false;
      take(html, pushes);
      return true;
    } catch (error) {
      if (error.name !== "AbortError") throw error;
      return false;
    } finally {
      if (wish === mine) wish = null;
    }
  }

  const scrub = () => root.querySelector(".ch-scrub input");

  function take(html, pushes) {
    const [fresh] = parse(html), before = root.dataset.step;
    keepKnown(fresh);
    const input = scrub(), isHeld = input && document.activeElement === input;
    takeRegions(fresh);
    if (scrub() && !isHeld) scrub().value = String(number("index") + 1);
    const address = `${here}?${remembered()}`;
    if (pushes && root.dataset.step !== before) history.pushState(null, "", address);
    else history.replaceState(history.state, "", address);
    for (const tab of document.querySelectorAll(".tabs a")) {
      if (tab.getAttribute("aria-current")) continue;
      const card = root.dataset.card, [path] = tab.getAttribute("href").split(/[?#]/);
      if (path.endsWith("/timings")) tab.href = card ? `${path}?at=${card}` : path;
      else if (!path.endsWith("/raw")) tab.href = card ? `${path}#${card}` : path;
    }
    arrived();
  }

  // Part by part, so that what has the focus, a selection or a place keeps it. A part that is not
  // in both is a reason to take everything.
  function takeRegions(fresh) {
    const parts = [...fresh.querySelectorAll("[data-region]")];
    if (parts.map(({ id }) => id).join() !== [...root.querySelectorAll("[data-region]")].map(({ id }) => id).join()) {
      become(root, fresh);
      entered(root);
      return;
    }
    for (const { name, value } of fresh.attributes) root.setAttribute(name, value);
    for (const name of ["compared", "complete"]) if (!(name in fresh.dataset)) delete root.dataset[name];
    for (const part of parts) {
      const old = document.getElementById(part.id);
      if (old.isEqualNode(part)) continue;
      if (part.id === "ch-steps") takeRows(old, part); else become(old, part);
      entered(old);
    }
  }

  function takeRows(list, fresh) {
    const rows = [...list.children], others = [...fresh.children];
    const isSame = rows.length === others.length && rows.every((row, at) => row.id === others[at].id);
    if (!isSame) { become(list, fresh); return; }
    rows.forEach((row, at) => { if (!row.isEqualNode(others[at])) become(row, others[at]); });
  }

  // What is known of the step before stays, dimmed, until that of this one is here: the page does
  // not shrink and grow under the reader.
  function keepKnown(fresh) {
    const place = fresh.querySelector("#known[data-again]"), old = document.getElementById("known");
    if (!place || !old?.childElementCount) return;
    place.replaceChildren(...old.cloneNode(true).childNodes);
    place.setAttribute("aria-busy", "true");
  }

  // The file so far shows what the step changed in it, as long as the reader did not look elsewhere.
  let lookedAt = "";
  function lookAtChange() {
    const frame = root.querySelector(".ch-scroll"), row = frame?.querySelector(".a");
    const part = root.querySelector(".ch-parts [aria-current]")?.dataset.part ?? "", what = `${root.dataset.step}.${part}`;
    if (!row || lookedAt === what) return;
    lookedAt = what;
    frame.scrollTop += row.getBoundingClientRect().top - frame.getBoundingClientRect().top - frame.clientHeight / 3;
  }

  let isFolded = false;
  root.addEventListener("toggle", ({ target }) => { if (target.matches(".ch-file")) isFolded = !target.open; }, true);
  function fold() {
    const file = root.querySelector(".ch-file");
    if (file && isFolded) file.open = false;
  }

  function arrived() {
    tellPlaying();
    fold();
    if (!document.getElementById("known")?.hasAttribute("aria-busy")) lookAtChange();
    const current = root.querySelector(".ch-steps [aria-current]"), list = root.querySelector(".ch-steps");
    // In the list, and nowhere else: the page stands where the reader left it.
    if (current && list.scrollHeight > list.clientHeight) {
      const box = current.getBoundingClientRect(), frame = list.getBoundingClientRect();
      if (box.top < frame.top || box.bottom > frame.bottom) list.scrollTop += box.top - frame.top - (frame.height - box.height) / 2;
    }
    markVerdicts();
    askedKnown = remembered();
    later(known, 0);
    later(judge, 60);
  }

  const stepTo = (step) => { const asked = query(); asked.set("step", step); return show(asked); };
  function nth(index) {
    const asked = query();
    asked.set("nth", String(Math.max(1, Math.min(number("count"), index))));
    return show(asked);
  }

  // Whoever presses a key again before the step is here goes on from the one that is coming.
  let wanted = null;
  async function move(count) {
    const next = Math.max(1, Math.min(number("count"), (wanted ?? number("index") + 1) + count));
    wanted = next;
    try { await nth(next); } finally { if (wanted === next) wanted = null; }
  }

  // What takes longer: the file so far, the net diff, the verdicts

  const timers = new Map();
  function later(work, delay) {
    clearTimeout(timers.get(work));
    timers.set(work, setTimeout(() => work().catch(() => later(work, RETRY)), delay));
  }

  async function known() {
    const place = document.getElementById("known"), step = root.dataset.step;
    if (!place || !("again" in place.dataset)) return;
    await takeKnown(askedKnown, step);
    if ("again" in document.getElementById("known").dataset) later(known, 0);
  }

  let askedKnown = null; // which of the step's files, from which line on, with its net diff?
  async function takeKnown(asked, step) {
    askedKnown = asked;
    const html = await (await get(`${here}/known`, asked)).text();
    // The reader may be elsewhere by now.
    if (root.dataset.step !== step) return;
    become(document.getElementById("known"), parse(html)[0]);
    fold();
    if (!asked.has("line")) lookAtChange();
  }

  const told = new Map(); // step -> [words, class]
  let judging = null;
  async function judge() {
    if (!("compared" in root.dataset) || isPlaying()) return;
    const mine = judging = {};
    const asked = remembered();
    for (let from = 0; from !== null;) {
      asked.set("from", String(from));
      const answer = await (await get(`${here}/verdicts`, asked)).json();
      if (judging !== mine) return;
      for (const [step, word] of Object.entries(answer.verdicts)) told.set(step, word);
      markVerdicts();
      from = answer.next;
    }
    sum();
  }

  function markVerdicts() {
    for (const place of root.querySelectorAll("[data-verdict]")) {
      const [text, kind] = told.get(place.dataset.verdict) ?? ["", ""];
      if (place.textContent !== text) place.textContent = text;
      place.className = `verdict ${kind}`;
    }
    sum();
  }

  // Said only where every step is in the list and has a verdict.
  function sum() {
    const place = root.querySelector("[data-sum]"), rows = [...root.querySelectorAll(".ch-steps li.ch-applied [data-verdict]")];
    if (!place) return;
    const isWhole = number("count") === number("newest") && root.querySelectorAll(".ch-steps li[id]").length === number("newest");
    const words = rows.map((row) => told.get(row.dataset.verdict));
    if (!isWhole || !rows.length || words.includes(undefined)) { place.textContent = ""; return; }
    const good = words.filter(([, kind]) => kind === "good").length;
    const all = "complete" in root.dataset ? "All applied steps are on disk, or overwritten by later ones that are" : "Those recorded are on disk, but edits before this point are not recorded";
    place.textContent = good === rows.length ? `${all}.` : `${good} of ${rows.length} applied steps are on disk or overwritten by later ones.`;
  }

  // Playing

  let playing = 0;
  const isPlaying = () => playing !== 0;
  const pause = () => { const was = playing; clearTimeout(playing); playing = 0; tellPlaying(); if (was) later(judge, 60); };
  const wait = () => 1000 / Number(root.querySelector("[data-speed]")?.value ?? 2);

  function tellPlaying() {
    const button = root.querySelector("[data-play]");
    if (!button) return;
    button.classList.toggle("on", isPlaying());
    button.setAttribute("aria-label", isPlaying() ? "Pause" : "Play");
  }

  function again() { playing = setTimeout(() => next().catch(pause), wait()); }

  async function next() {
    if (number("index") + 1 >= number("count")) { pause(); return; }
    const mine = playing;
    await nth(number("index") + 2);
    if (playing === mine) again();
    tellPlaying();
  }

  function play() {
    if (isPlaying()) { pause(); return Promise.resolve(); }
    playing = -1;
    tellPlaying();
    if (number("index") + 1 >= number("count")) return nth(1).then(() => { if (playing === -1) again(); });
    return next();
  }

  // What a reader does

  const quietly = (work) => { Promise.resolve(work).catch(() => say("The server does not answer")); };

  root.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    if (event.target.closest("[data-play]")) { quietly(play()); return; }
    const link = event.target.closest("a[data-nth], a[data-go], a[data-layout], a[data-part], a[data-line], a[data-net]");
    if (!link) return;
    event.preventDefault();
    if (link.matches("[data-part], [data-line], [data-net]")) {
      quietly(takeKnown(new URLSearchParams(link.search), root.dataset.step).then(() => later(known, 0)));
      return;
    }
    pause();
    quietly(show(new URLSearchParams(link.search), { pushes: link.matches("[data-go]") }));
  });

  root.addEventListener("input", (event) => {
    if (!event.target.matches(".ch-scrub input")) return;
    pause();
    quietly(nth(Number(event.target.value)));
  });
  root.addEventListener("submit", (event) => { if (event.target.matches(".ch-scrub")) event.preventDefault(); });
  addEventListener("popstate", () => { pause(); quietly(show(new URLSearchParams(location.search))); });

  // The nearest tick of another state may be anywhere: the list has those around, the server all.
  async function toTrouble(isForward) {
    const asked = query();
    asked.set("trouble", isForward ? "next" : "previous");
    asked.set("step", root.dataset.step);
    const before = root.dataset.step;
    await show(asked);
    if (root.dataset.step === before) say(`No ${isForward ? "later" : "earlier"} step that was not applied`);
  }

  const ofChanges = {
    "←": () => { pause(); return move(-1); },
    "→": () => { pause(); return move(1); },
    space: play,
    Home: () => { pause(); return nth(1); },
    End: () => { pause(); return nth(number("count")); },
    e: () => toTrouble(true),
    E: () => toTrouble(false),
    s: () => root.querySelector("[data-layout]")?.click(),
    t: () => root.querySelector("[data-back]")?.click(),
  };
  const names = { ArrowLeft: "←", ArrowRight: "→", " ": "space" };
  addEventListener("keydown", (event) => {
    if (!isForPage(event)) return;
    const name = names[event.key] ?? event.key, action = ofChanges[name];
    // What has the focus knows what the space bar and the ends of it mean.
    if (!action || (name === "space" && event.target.matches?.("a, button, summary"))) return;
    if (event.target.closest?.(".ch-scroll") && /Home|End|space/.test(name)) return;
    event.preventDefault();
    quietly(action());
  });

  // Live

  let renewing = 0;
  function renew() {
    renewing ||= setTimeout(async () => {
      renewing = 0;
      if (document.hidden || isPlaying() || wish) { renew(); return; }
      const asked = remembered();
      if (root.dataset.card) { asked.delete("step"); asked.set("card", root.dataset.card); }
      const last = number("newest");
      await show(asked).catch(renew);
      if (number("newest") > last) say(`${number("newest") - last} new`);
    }, RENEW);
  }
  for (const name of ["presentview:changed", "presentview:anew"]) document.addEventListener(name, renew);

  function treeChanged() {
    told.clear();
    later(() => takeKnown(askedKnown, root.dataset.step).then(() => later(known, 0)), 0);
    later(judge, 100);
  }
  if ("compared" in root.dataset) {
    window.presentview.listen([`${session}.tree`], (message) => { if (message.s === `${session}.tree`) treeChanged(); });
    // Notices get lost: whoever comes back sees what is there now.
    document.addEventListener("visibilitychange", () => { if (!document.hidden) treeChanged(); });
  }

  history.replaceState(history.state, "", `${here}?${remembered()}`);
  arrived();
})();
