// The timings page: zoom and pan at once by stretching what is drawn, and then as the server draws
// it; what a row says; the way to its card; new rows and growing bars while live.
"use strict";
(() => {
  if (!document.getElementById("waterfall")) return;
  const { parse, become, isForPage, onceAFrame, startClocks, followPointers } = window.presentview;
  const SETTLE = 140; // ms after the last move until it is drawn anew
  const AGAIN_AFTER = 1000; // ms between two looks while live
  const SHARE = 20; // a look may take this part of the time
  const NARROWEST = 1e-4;
  const form = () => document.getElementById("waterfall");
  const session = document.body.dataset.session;

  // What is shown, in % of the whole line

  const drawn = () => ({ low: Number(form().dataset.low), high: Number(form().dataset.high) });
  let wanted = null, settling = 0;

  function within({ low, high }) {
    const width = Math.min(100, Math.max(NARROWEST, high - low));
    const from = Math.min(Math.max(0, low), 100 - width);
    return { low: from, high: from + width };
  }

  const preview = onceAFrame(() => {
    if (!wanted) return;
    const now = drawn(), stretch = (now.high - now.low) / (wanted.high - wanted.low);
    const move = -(wanted.low - now.low) / (now.high - now.low) * stretch * 100;
    form().style.setProperty("--stretch", String(stretch));
    form().style.setProperty("--move", `${move}%`);
    form().classList.add("moving");
  });

  function show(window, { soon = SETTLE } = {}) {
    wanted = within(window);
    preview();
    clearTimeout(settling);
    settling = setTimeout(settle, soon);
  }

  function settle() {
    if (wanted) act(`span:${wanted.low.toFixed(7)}:${wanted.high.toFixed(7)}`);
  }

  const current = () => wanted ?? drawn();

  function zoom(factor, at = 0.5) {
    const { low, high } = current(), width = high - low, next = width / factor;
    show({ low: low + (width - next) * at, high: low + (width - next) * at + next });
  }

  function pan(part) {
    const { low, high } = current(), by = (high - low) * part;
    show({ low: low + by, high: high + by });
  }

  // The server draws what a button does; the address follows

  let asking = null; // what is done with the answer that is waited for
  function act(name) {
    const button = document.createElement("button");
    button.name = "act";
    button.value = name;
    button.hidden = true;
    form().append(button);
    form().requestSubmit(button);
    button.remove();
  }

  document.addEventListener("htmx:before:request", ({ target }) => {
    if (target === form()) asking ??= performance.now();
  });

  document.addEventListener("htmx:after:swap", ({ target }) => {
    if (target.id === "waterfall" || target === document) arrived();
  });

  function arrived() {
    const element = form();
    if (!element) return;
    wait = Math.max(AGAIN_AFTER, SHARE * (performance.now() - (asking ?? performance.now())));
    asking = wanted = null;
    clearTimeout(settling);
    element.classList.remove("moving");
    element.removeAttribute("style");
    startClocks(element);
    tell(document.querySelector(".wf-row:hover") ?? document.activeElement?.closest?.(".wf-row"));
    const query = element.dataset.query, sort = document.getElementById("figures")?.dataset.sort ?? "own";
    const whole = new URLSearchParams(query);
    if (sort === "own") whole.delete("sort"); else whole.set("sort", sort);
    const text = whole.toString();
    history.replaceState(history.state, "", `/s/${session}/timings${text && "?" + text}`);
    if ("running" in element.dataset) later();
  }

  // Buttons move at once what is drawn, as the keys do.
  const MOVES = {
    "zoom:in": () => zoom(2),
    "zoom:out": () => zoom(0.5),
    "zoom:all": () => show({ low: 0, high: 100 }, { soon: 0 }),
    "pan:left": () => pan(-0.5),
    "pan:right": () => pan(0.5),
  };
  document.addEventListener("click", (event) => {
    const move = MOVES[event.target.closest?.("#waterfall button")?.value];
    if (!move) return;
    event.preventDefault();
    move();
  });

  // Wheel and pointer

  const plotOf = (target) => target.closest?.(".plot, .ruler");

  document.addEventListener("wheel", (event) => {
    const plot = form().contains(event.target) ? plotOf(event.target) : null;
    if (!plot) return;
    const box = plot.getBoundingClientRect();
    const zooms = event.ctrlKey || event.metaKey || (plot.matches(".ruler") && !event.shiftKey && !event.deltaX);
    if (zooms) zoom(2 ** (-event.deltaY / 240), (event.clientX - box.left) / box.width);
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / box.width);
    else return;
    event.preventDefault();
  }, { passive: false });

  function choice() {
    const mark = document.createElement("div"), rows = document.querySelector(".wf-rows");
    mark.className = "wf-choice";
    rows.append(mark);
    mark.between = (from, to) => {
      mark.style.left = `${from - rows.getBoundingClientRect().left}px`;
      mark.style.width = `${to - from}px`;
    };
    return mark;
  }

  const isHeld = followPointers({
    plotOf: (target) => form().contains(target) ? plotOf(target) : null,
    current,
    show,
    choice,
    click: (plot, target) => { if (plot.contains(target)) plot.closest(".wf-row")?.querySelector(".wf-name > a")?.click(); },
  });

  // What a row says

  function tell(row) {
    const place = document.querySelector("[data-detail]");
    const said = row?.querySelector("[aria-description]")?.getAttribute("aria-description");
    if (!place) return;
    place.hidden = !said;
    if (!said) return;
    const name = document.createElement("b");
    name.textContent = row.querySelector(".wf-name > a, .part-name").textContent.trim();
    place.replaceChildren(name, ` · ${said}`);
  }
  for (const name of ["pointerover", "focusin"]) {
    document.addEventListener(name, ({ target }) => {
      const row = target.closest?.(".wf-row");
      if (row) tell(row);
    });
  }

  // Keys

  const rows = () => [...document.querySelectorAll(".wf-row")];
  const handle = (row) => row.querySelector(".wf-name > a") ?? row.querySelector(".wf-name > button");
  const here = () => document.activeElement?.closest?.(".wf-row");

  function goTo(row) {
    if (!row) return;
    handle(row)?.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
    const under = document.querySelector(".wf-head").getBoundingClientRect().bottom;
    if (row.getBoundingClientRect().top < under) scrollBy({ top: row.getBoundingClientRect().top - under - 4, behavior: "instant" });
  }

  function step(isForward, isMeant = () => true) {
    const all = rows(), from = all.indexOf(here());
    const following = isForward ? all.slice(from + 1) : all.slice(0, Math.max(0, from)).reverse();
    goTo(following.find(isMeant));
  }

  const failed = (row) => row.matches(".failed, .blocked");
  const ofTimings = {
    j: () => step(true),
    k: () => step(false),
    o: () => here()?.querySelector(".wf-name > button")?.click(),
    e: () => step(true, failed),
    E: () => step(false, failed),
    h: () => pan(-0.25),
    l: () => pan(0.25),
    "+": () => zoom(2),
    "-": () => zoom(0.5),
    0: () => show({ low: 0, high: 100 }, { soon: 0 }),
  };
  const same = { "=": "+", ArrowLeft: "h", ArrowRight: "l" };
  addEventListener("keydown", (event) => {
    if (!isForPage(event)) return;
    const action = ofTimings[same[event.key] ?? event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  // Live: drawn anew when something came, and while something runs

  let timer = 0, wait = AGAIN_AFTER, stands = document.body.dataset.position;
  function later() {
    timer ||= setTimeout(() => { timer = 0; renew(); }, wait);
  }

  function renew() {
    if (document.hidden || wanted || isHeld()) { later(); return; }
    form().requestSubmit();
    if (document.body.dataset.position === stands) return;
    stands = document.body.dataset.position;
    renewFigures().catch(() => {});
  }

  async function renewFigures() {
    const sort = document.getElementById("figures").dataset.sort;
    const answer = await fetch(`/s/${session}/timings/figures?sort=${sort}`);
    if (!answer.ok) return;
    for (const fresh of parse(await answer.text())) {
      const old = document.getElementById(fresh.id);
      if (old) { become(old, fresh); window.htmx.process(old); }
    }
  }

  for (const name of ["presentview:changed", "presentview:anew"]) document.addEventListener(name, later);
  if ("running" in form().dataset) later();

  // The row somebody came for

  const at = new URLSearchParams(location.search).get("at");
  const sought = /^c\d+$/.test(at) ? document.getElementById(`r-${at}`) ?? document.querySelector(`.wf-name > a[href$="#${at}"]`)?.closest(".wf-row") : null;
  if (sought) {
    sought.classList.add("sought");
    handle(sought)?.focus({ preventScroll: true });
    sought.scrollIntoView({ block: "center" });
  }
  tell(sought);
})();
