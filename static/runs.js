// Read-only calls in a row fold into one line that names them. It is this page's doing alone: the
// cards are as the server drew them.
"use strict";
(() => {
  const cards = document.getElementById("cards");
  const { rows } = window.presentview;
  if (!cards || document.body.classList.contains("one")) return;
  // Whoever filters wants to see each card that is found.
  const query = new URLSearchParams(cards.dataset.query ?? "");
  if (["tool", "state", "kind"].some((filter) => query.has(filter))) return;
  const LEAST = 3;
  const NAMES = { read: "read", search: "search", list: "listing", fetch: "fetch", web_search: "web search", shell: "command", image: "image", todo: "to-do" };
  const MANY = { search: "searches", fetch: "fetches", "web search": "web searches" };

  const known = new WeakSet(); // sections that were here before: what can be seen of them stays

  const isQuiet = (element) => element?.matches(".card.tool.quiet.done") && !element.querySelector(":scope > details > .kids");
  const inside = (element) => element.contains(document.activeElement) || getSelection()?.containsNode(element, true);

  function words(members) {
    const counts = new Map();
    for (const card of members) {
      const face = card.classList[2], name = NAMES[face] ?? "other";
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const parts = [...counts].map(([name, count]) => `${count} ${count === 1 ? name : MANY[name] ?? name + "s"}`);
    return `${members.length} steps · ${parts.join(" · ")}`;
  }

  const subject = (card) => card.querySelector(":scope > details > summary > .subj")?.textContent.split("/").at(-1) ?? "";

  function head(run) {
    const members = [...run.querySelectorAll(":scope > .card")];
    const summary = run.firstElementChild;
    const took = members.reduce((sum, card) => sum + (parseInt((card.querySelector(":scope > details > summary .dur")?.title ?? "").replace(/\D/g, ""), 10) || 0), 0);
    const [count, names, time] = summary.children;
    count.textContent = words(members);
    names.textContent = [...new Set(members.map(subject).filter(Boolean))].join(", ");
    names.title = names.textContent;
    time.textContent = took ? window.presentview.duration(took) : "";
  }

  // Whether the reader can see one of these.
  function isInView(members) {
    const top = window.presentview.edge();
    return members.some((card) => {
      const box = card.getBoundingClientRect();
      return box.height && box.bottom > top && box.top < innerHeight;
    });
  }

  function make(members, read) {
    const run = document.createElement("details");
    run.className = "run";
    const summary = document.createElement("summary");
    for (const name of ["tool", "subj", "dur num"]) {
      const part = document.createElement("span");
      part.className = name;
      summary.append(part);
    }
    run.append(summary);
    members[0].before(run);
    run.append(...members);
    // Of a turn that is shown alone everything is open.
    run.open = query.has("focus") || members.includes(read) || members.some((card) => card.querySelector(":scope > details").open)
      || window.presentview.wasOpen?.(`r${members[0].id}`) === true;
    head(run);
  }

  // A card that is quiet no more leaves its run, and so do all behind it.
  function loosen(run) {
    const members = [...run.querySelectorAll(":scope > .card")];
    const odd = members.findIndex((card) => !isQuiet(card));
    if (odd === -1) return;
    run.after(...members.slice(odd));
    if (odd < LEAST) run.replaceWith(...members.slice(0, odd)); else head(run);
  }

  function fold(section, read) {
    const stays = known.has(section) && !window.presentview.isFollowing?.();
    known.add(section);
    for (const run of section.querySelectorAll(":scope > .run")) loosen(run);
    const flush = (members) => join(members, read, stays);
    let row = [];
    for (const element of [...section.children, null]) {
      if (element?.classList.contains("run")) { flush(row); row = [element]; continue; }
      if (isQuiet(element) && !(row.length === 0 && inside(element))) { row.push(element); continue; }
      flush(row);
      row = [];
    }
  }

  // Cards that follow each other become a run, or part of the one they follow; unless the reader
  // is among them, or would see them go.
  function join(members, read, stays) {
    const run = members[0]?.classList.contains("run") ? members.shift() : null;
    if (members.length < (run ? 1 : LEAST) || members.some(inside)) return;
    if (stays && !run?.open && isInView(members)) return;
    if (!run) { make(members, read); return; }
    run.append(...members);
    head(run);
  }

  function look() {
    const sections = rows ? rows.sections() : [...cards.querySelectorAll(".sec")];
    const isFollowing = window.presentview.isFollowing?.();
    const read = rows && scrollY > 0 && !isFollowing ? rows.anchor()?.card : null;
    const all = () => { for (const section of sections) fold(section, read); };
    if (rows && !isFollowing) rows.hold(all); else all();
  }

  document.addEventListener("presentview:filled", look);
  document.addEventListener("presentview:changed", look);
  look();
})();
