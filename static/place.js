// A tab comes back as it was: which cards are open, which card stood at the top and how far it was
// scrolled, what was shown and followed, and up to where the reader had seen it. Kept per session
// in this browser; an address that names a card wins over it. The list leads to the view of a
// session that was chosen last: its transcript, its records, …
"use strict";
(() => {
  const keyOf = (session) => `presentview.place.${session}`;
  const SUFFIX = /^(\/[a-z-]+)?(\?[\w=&-]*)?$/;

  function placeOf(session) {
    try { return JSON.parse(localStorage.getItem(keyOf(session))) ?? {}; } catch { return {}; }
  }

  function keep(session, place) {
    try { localStorage.setItem(keyOf(session), JSON.stringify(place)); } catch { /* full or off */ }
  }

  // The view of a session that a page is, as its address goes on behind the session's.
  const chosenView = document.querySelector(".tabs a[aria-current=page]")?.getAttribute("href");
  const [, viewed, suffix] = chosenView?.match(/^\/s\/(\w+)([^#]*)/) ?? [];
  const choose = () => keep(viewed, { ...placeOf(viewed), tab: suffix });
  if (viewed) {
    choose(); // whoever goes on before all of it has come has chosen it too
    addEventListener("pageshow", ({ persisted }) => { if (persisted) choose(); });
  }

  function leadToTab({ target }) {
    const link = target.closest?.("#sessions > li > a");
    if (!link) return;
    const listed = link.parentElement.id.slice(1), { tab = "" } = placeOf(listed);
    link.setAttribute("href", `/s/${listed}${SUFFIX.test(tab) ? tab : ""}`);
  }
  for (const event of ["pointerdown", "focusin", "click"]) document.addEventListener(event, leadToTab, true);

  const session = document.body.dataset.session;
  const cards = document.getElementById("cards");
  const rows = window.presentview.rows;
  if (!session || !cards) return;
  const SAVE_AFTER = 250;
  const MOST_REMEMBERED = 2000;

  const details = (card) => card?.querySelector(":scope > details");

  const before = placeOf(session);
  // The cards the reader opened or closed against what the page does by itself.
  const chosen = new Map();
  for (const [ids, open] of [[before.open, true], [before.closed, false]]) {
    for (const id of Array.isArray(ids) ? ids : []) chosen.set(id, open);
  }
  let timer = 0, isRestored = false;

  function save() {
    clearTimeout(timer);
    if (!isRestored) return;
    const ids = [...chosen].slice(-MOST_REMEMBERED);
    const at = scrollY > 0 ? rows?.anchor() : null;
    const place = {
      open: ids.filter(([, open]) => open).map(([id]) => id),
      closed: ids.filter(([, open]) => !open).map(([id]) => id),
      at: at && { id: at.card.id, offset: Math.round(at.offset) },
      view: location.search,
      follows: window.presentview.isFollowing?.() ?? false,
      seen: Math.max(before.seen ?? 0, window.presentview.newest?.() ?? 0),
      tab: suffix ?? "",
    };
    keep(session, place);
  }

  function saveSoon() { clearTimeout(timer); timer = setTimeout(save, SAVE_AFTER); }

  // Of a turn or sub-agent that is shown alone everything is open, but for what the reader closed.
  const opensAll = new URLSearchParams(location.search).has("focus");

  function restoreCards(root) {
    for (const card of [root, ...root.querySelectorAll(".card")]) {
      const own = details(card), open = chosen.get(card.id) ?? (opensAll || own?.open);
      if (own && card.classList.contains("card") && own.open !== open) own.open = open;
    }
  }

  cards.addEventListener("toggle", ({ target }) => {
    const card = target.parentElement;
    if (opensAll && target.open && target.matches(".run")) return;
    if (target.matches(".run")) {
      const first = target.querySelector(":scope > .card")?.id;
      if (target.open) chosen.set(`r${first}`, true); else chosen.delete(`r${first}`);
    } else if (card?.classList.contains("card")) {
      if (opensAll && target.open) return;
      chosen.delete(card.id);
      if (target.open !== card.hasAttribute("data-open")) chosen.set(card.id, target.open);
    }
    saveSoon();
  }, true);

  function linkToHere() {
    const numbers = (open) => [...chosen].filter(([id, is]) => is === open && id.startsWith("c")).map(([id]) => id.slice(1)).join(".");
    const at = rows?.anchor();
    const parts = [["o", numbers(true)], ["x", numbers(false)], ["y", at ? String(Math.round(at.offset)) : ""]];
    const rest = parts.filter(([, value]) => value).map(([name, value]) => `!${name}=${value}`).join("");
    const view = new URLSearchParams(location.search);
    view.delete("at");
    return `${location.origin}${location.pathname}${view.size ? `?${view}` : ""}#${at ? at.card.id + rest : ""}`;
  }

  async function restore() {
    const link = window.presentview.linked?.(), at = new URLSearchParams(location.search).get("at");
    for (const id of link?.opened ?? []) chosen.set(id, true);
    for (const id of link?.closed ?? []) chosen.set(id, false);
    restoreCards(cards);
    if (!rows) { /* everything is here */ }
    else if (link?.offset !== undefined) await rows.goTo(link.id, { offset: link.offset });
    else if (link || at) await window.presentview.open(link?.id ?? at);
    else if (before.follows) await window.presentview.follow?.();
    else if (before.at) await rows.goTo(before.at.id, { offset: before.at.offset });
  }

  history.scrollRestoration = "manual";
  window.presentview = { ...window.presentview, restoreCards, linkToHere, wasOpen: (id) => chosen.get(id), seenBefore: before.seen ?? 0 };
  // What was looked at is looked at again; an address that says what is wanted wins.
  if (before.view && !location.search && !location.hash) {
    location.replace(location.pathname + before.view);
    return;
  }
  // What opens and goes to a card comes with the scripts after this one.
  document.addEventListener("DOMContentLoaded", () => {
    restore().catch(() => {}).finally(() => {
      isRestored = true;
      document.documentElement.classList.remove("settling");
      document.body.dataset.restored = "";
    });
  });
  addEventListener("scroll", saveSoon, { passive: true });
  addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", () => { if (document.hidden) save(); });
})();
