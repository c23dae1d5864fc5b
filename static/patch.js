// Changes elements of the page in place: what did not change stays the same element, so that what
// is open, selected or focused stays so. Everything here comes from our server, escaped there.
"use strict";
(() => {
  const BODY_DELAY = 300;
  const stale = new WeakSet(); // bodies that were fetched and may have changed since

  const { parse } = window.presentview;
  const isCard = (element) => element.classList.contains("card");
  const part = (element, selector) => element?.querySelector(":scope > " + selector);

  function entered(element) {
    window.htmx?.process(element);
    window.presentview.startClocks(element);
  }

  // One element like another

  function takeAttributes(old, fresh) {
    const kept = old.localName === "details" ? "open" : ""; // that is the reader's
    for (const { name } of [...old.attributes]) {
      if (name !== kept && !fresh.hasAttribute(name)) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (name !== kept && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
  }

  function takeText(old, fresh) {
    if (fresh.data.startsWith(old.data)) old.appendData(fresh.data.slice(old.data.length));
    else old.data = fresh.data;
  }

  // Only what lies between the first and the last child that differ is touched.
  function sync(old, fresh) {
    takeAttributes(old, fresh);
    const mine = [...old.childNodes], theirs = [...fresh.childNodes];
    while (mine.length && theirs.length && mine[0].isEqualNode(theirs[0])) { mine.shift(); theirs.shift(); }
    let end = null;
    while (mine.length && theirs.length && mine.at(-1).isEqualNode(theirs.at(-1))) { end = mine.pop(); theirs.pop(); }
    if (mine.length && theirs.length && mine[0].nodeName === theirs[0].nodeName) {
      const [first] = mine.splice(0, 1), [other] = theirs.splice(0, 1);
      if (first instanceof Text) takeText(first, other); else sync(first, other);
    }
    for (const node of mine) node.remove();
    for (const node of theirs) old.insertBefore(node, end);
  }

  // The body of an open card

  const isFetched = (lazy) => !part(lazy, "a[href*='/card/']:only-child");

  async function fetchAgain(lazy) {
    const answer = await fetch(lazy.dataset.body);
    const html = await answer.text();
    if (!answer.ok || !lazy.isConnected) return;
    const fresh = lazy.cloneNode(false);
    fresh.innerHTML = html;
    sync(lazy, fresh);
    entered(lazy);
  }

  function changed(lazy, details) {
    if (stale.has(lazy)) return;
    stale.add(lazy);
    if (details.open) setTimeout(() => refresh(lazy), BODY_DELAY);
  }

  function refresh(lazy) {
    if (stale.delete(lazy)) fetchAgain(lazy).catch(() => stale.add(lazy));
  }

  document.addEventListener("toggle", ({ target }) => {
    const lazy = target.open && part(target, ".lazy");
    if (lazy) refresh(lazy);
  }, true);

  // A card that a link opened while the page was being loaded told nobody of it.
  addEventListener("load", () => {
    for (const lazy of document.querySelectorAll("details[open] > .lazy")) {
      if (!isFetched(lazy) && !lazy.matches(".htmx-request, :has(.htmx-request)")) changed(lazy, lazy.parentElement);
    }
  });

  function takeBody(details, other) {
    const old = part(details, ".in"), fresh = part(other, ".in"), kids = part(details, ".kids");
    if (!fresh) { old?.remove(); return; }
    const wasLazy = old?.classList.contains("lazy"), isLazy = fresh.classList.contains("lazy");
    if (old && !wasLazy && !isLazy) { sync(old, fresh); return; }
    if (wasLazy && isLazy) { if (isFetched(old)) changed(old, details); return; }
    // What the reader sees of an open card stays until the new body is here.
    if (old && isLazy && details.open) fresh.replaceChildren(...old.childNodes);
    old?.remove();
    details.insertBefore(fresh, kids);
    entered(fresh);
    if (isLazy && details.open) changed(fresh, details);
  }

  // Cards

  // Makes `old` like `fresh`; with `deep` also what is nested in it. Returns the element that
  // stands there now, null if the two contradict each other.
  function update(old, fresh, deep) {
    const details = part(old, "details"), other = part(fresh, "details");
    if (!isCard(old) || !details || !other) {
      if (part(details, ".kids")?.childElementCount) return null;
      if (details && !other) { old.replaceWith(fresh); entered(fresh); return fresh; }
      sync(old, fresh);
      window.presentview.startClocks(old);
      return old;
    }
    const kids = part(details, ".kids"), place = part(other, ".kids");
    if (!deep && kids?.childElementCount && !place) return null;
    const closedByReader = old.hasAttribute("data-open") && !details.open;
    takeAttributes(old, fresh);
    if (other.open && !closedByReader) details.open = true;
    sync(part(details, "summary"), part(other, "summary"));
    const bars = part(details, "svg"), newBars = part(other, "svg");
    if (bars && newBars) sync(bars, newBars);
    else if (newBars) part(details, "summary").after(newBars);
    else bars?.remove();
    takeBody(details, other);
    if (!place) kids?.remove();
    else if (!kids) { details.append(place); entered(place); }
    else if (deep) reconcile(kids, [...place.children]);
    window.presentview.startClocks(old);
    return old;
  }

  function reconcile(parent, wanted) {
    const staying = new Set(wanted.map((element) => element.id));
    for (const child of [...parent.children]) if (!staying.has(child.id)) child.remove();
    let at = parent.firstElementChild;
    for (const fresh of wanted) {
      const known = document.getElementById(fresh.id);
      if (known === at) at = at?.nextElementSibling ?? null;
      const element = known && !known.contains(parent) ? update(known, fresh, true) : null;
      if (!element) known?.remove();
      const now = element ?? fresh;
      if (now.parentElement !== parent || now.nextElementSibling !== at) parent.insertBefore(now, at);
      if (!element) entered(fresh);
    }
  }

  // Operations: each says whether the page was as the server thinks it is

  function container(id) {
    const element = document.getElementById(id);
    // Where everything is shown at once, all cards stand in the one section there is.
    if (id === "cards") return part(element, ".sec") ?? element;
    if (!element || !isCard(element)) return element;
    const details = part(element, "details");
    let kids = part(details, ".kids");
    if (details && !kids) {
      kids = document.createElement("div");
      kids.className = "kids";
      details.append(kids);
    }
    return kids;
  }

  // Where an element with a given parent stands in this page: nowhere, if what it is nested in is
  // not here, or has not fetched what is nested in it.
  const rows = () => window.presentview.rows;
  const isTop = (op) => rows() && op.parent === rows().top;

  function isElsewhere(op) {
    if (!rows() || isTop(op) || !/^c\d+$|^cards$/.test(op.parent)) return false;
    const parent = document.getElementById(op.parent);
    const details = part(parent, "details"), kids = part(details, ".kids");
    if (op.parent === "cards" || !parent) return true;
    const later = kids?.lastElementChild?.querySelector(":scope > [data-side=later]");
    return op.before ? !document.getElementById(op.before) : Boolean(later);
  }

  function addAtTop(op, fresh) {
    const old = document.getElementById(op.id);
    if (old) { if (old.closest(".kids")) { old.remove(); } else { return update(old, fresh, false) !== null; } }
    if (rows().add(fresh, op.before)) entered(fresh);
    return true;
  }

  function tell(card, isNew) {
    if (card && isCard(card)) document.dispatchEvent(new CustomEvent("presentview:card", { detail: { card, isNew } }));
  }

  function put(op, element) {
    const parent = container(op.parent);
    const before = op.before ? document.getElementById(op.before) : null;
    if (!parent || (op.before && before?.parentElement !== parent)) return false;
    if (element.parentElement !== parent || element.nextElementSibling !== before) parent.insertBefore(element, before);
    return true;
  }

  const ops = {
    add(op) {
      const [fresh] = parse(op.html), old = document.getElementById(op.id);
      if (op.parent === "outline") { window.presentview.takeTurn?.(fresh); return true; }
      tell(fresh, true);
      if (isTop(op)) return addAtTop(op, fresh);
      if (isElsewhere(op)) {
        old?.remove();
        // It may be looked for in this view, nested in a card that is not.
        if (rows().isFiltered && isCard(fresh) && rows().isShown(fresh)) renewSoon();
        return true;
      }
      if (!old) {
        if (!put(op, fresh)) return false;
        entered(fresh);
        return true;
      }
      const now = update(old, fresh, false);
      return now !== null && put(op, now);
    },
    replace(op) {
      const old = document.getElementById(op.id), [fresh] = parse(op.html);
      tell(fresh, false);
      if (!old && rows()) {
        // What was filtered out may be looked for now.
        if (rows().isFiltered && isCard(fresh) && rows().isShown(fresh)) renewSoon();
        return true;
      }
      return old !== null && update(old, fresh, op.deep) !== null;
    },
    move(op) {
      const element = document.getElementById(op.id), from = element?.parentElement;
      if (element) rows()?.leaves(element);
      if (isElsewhere(op)) { element?.remove(); return true; }
      if (!element) return Boolean(rows()) && !document.getElementById(op.parent);
      if (!put(op, element)) return false;
      if (from.classList.contains("kids") && !from.childElementCount) from.remove();
      return true;
    },
    remove(op) { document.getElementById(op.id)?.remove(); return true; },
    reset() { return false; },
  };

  let renewing = 0;
  function renewSoon() {
    clearTimeout(renewing);
    renewing = setTimeout(() => rows().renew().catch(() => {}), 500);
  }

  window.presentview = {
    ...window.presentview,
    entered,
    become: sync,
    // Apply operations in order; false if the page must be shown anew.
    patch(list) {
      // A page without cards shows only what stands around them.
      const isHere = (op) => op.op === "reset" || document.getElementById(op.id);
      const ours = document.getElementById("cards") || document.getElementById("sessions") ? list : list.filter(isHere);
      return ours.every((op) => ops[op.op]?.(op) ?? false);
    },
    // Show regions of the page anew, their HTML by their ids.
    showAnew(regions) {
      for (const [id, html] of Object.entries(regions)) {
        const element = document.getElementById(id);
        if (!element) continue;
        if (id === "sessions") reconcile(element, parse(html));
        else update(element, parse(html)[0], false);
      }
      rows()?.renew().catch(() => renewSoon());
      document.dispatchEvent(new CustomEvent("presentview:anew"));
    },
  };
})();
