// The keyboard: from card to card, from error to error, and a list of the keys.
"use strict";
(() => {
  const help = document.getElementById("keys");
  const cards = document.getElementById("cards");
  const { rows, edge, isForPage, fetchPart, say } = window.presentview;

  // What lies in closed cards has a place, and is not seen all the same.
  const isSeen = (card) => card.checkVisibility();
  const handle = (card) => card.querySelector(":scope > summary, :scope > details > summary") ?? card;

  function current() {
    return document.activeElement?.closest?.("#cards .card, #cards .run") ?? null;
  }

  function goTo(card) {
    handle(card).focus({ preventScroll: true });
    handle(card).scrollIntoView({ block: "nearest" });
    const box = handle(card).getBoundingClientRect();
    if (box.top < edge()) scrollBy({ top: box.top - edge() - 12, behavior: "instant" });
  }

  // The next (or previous) card in page order that can be seen; those near the view are here.
  // A link that stands for cards which are still to come is no card: they are fetched first.
  async function step(isForward, again = false) {
    const all = [...cards.querySelectorAll(".card, .run, .more-kids > a")].filter(isSeen);
    const from = current();
    let index;
    if (from) {
      const order = (card) => from.compareDocumentPosition(card);
      index = isForward
        ? all.findIndex((card) => order(card) & Node.DOCUMENT_POSITION_FOLLOWING)
        : all.findLastIndex((card) => order(card) & Node.DOCUMENT_POSITION_PRECEDING);
    } else {
      index = all.findIndex((card) => card.getBoundingClientRect().top >= edge());
      if (!isForward) index -= 1;
    }
    const next = all[index];
    if (next?.matches("a") && window.presentview.loadKids) {
      await window.presentview.loadKids(next);
      if (!next.isConnected) await step(isForward);
    } else if (next) goTo(next);
    // The section it stands in may be on its way.
    else if (rows && !again) { await rows.settle(); await step(isForward, true); }
  }

  // On a page of everything at once there are no sections to ask for.
  const ask = window.presentview.ask ?? ((path, parameters) => fetchPart(path, parameters, location.search.slice(1)));

  // The next card of a kind may be anywhere: the server knows.
  async function jump(what, isForward) {
    const focused = document.activeElement?.closest?.("#cards .card");
    const from = focused?.id ?? rows?.anchor()?.card.id ?? "";
    const parameters = { what, from };
    if (!isForward) parameters.back = "1";
    // A card at the top that is not focused may be the one that is meant.
    if (!focused && isForward) parameters.here = "1";
    const found = await ask("next", parameters);
    if (found.card) await window.presentview.open(found.card, { opens: what !== "turn" });
    else say(`No ${isForward ? "later" : "earlier"} ${what} here`);
  }

  function toggle() {
    const card = current();
    const own = card?.matches(".run") ? card : card?.querySelector(":scope > details");
    if (!own) return;
    own.open = !own.open;
    // What had the focus may be hidden now.
    if (!own.open) handle(card).focus({ preventScroll: true });
  }

  const tab = (index) => document.querySelectorAll(".tabs a")[index]?.click();
  const ofCards = {
    j: () => step(true),
    k: () => step(false),
    J: () => jump("turn", true),
    K: () => jump("turn", false),
    o: toggle,
    e: () => jump("error", true),
    E: () => jump("error", false),
    d: () => jump("edit", true),
    D: () => jump("edit", false),
    f: () => window.presentview.follow?.(),
  };
  const everywhere = {
    1: () => tab(0),
    2: () => tab(1),
    3: () => tab(2),
    4: () => tab(3),
    "?": () => help?.showModal(),
  };

  addEventListener("keydown", (event) => {
    if (!isForPage(event)) return;
    // A summary, a link or a button that has the focus knows what Enter means.
    const isEnter = event.key === "Enter" && event.target.matches?.("#cards .card");
    const action = isEnter ? toggle : (cards && ofCards[event.key]) || everywhere[event.key];
    if (!action) return;
    event.preventDefault();
    Promise.resolve(action()).catch(() => say("The server does not answer"));
  });

  for (const button of document.querySelectorAll("[data-keys]")) {
    button.hidden = false;
    button.addEventListener("click", () => help.showModal());
  }
  help?.addEventListener("click", (event) => { if (event.target === help) help.close(); });
})();
