// Nested cards come when the link that stands for them comes into view: when the card around them
// is opened, and then so many at a time.
"use strict";
(() => {
  const cards = document.getElementById("cards");
  const { rows } = window.presentview;
  if (!cards || !rows) return;
  const asked = new WeakMap(); // links, and when what they stand for is here

  const isHere = (element) => Boolean(element.id && document.getElementById(element.id));

  function load(link) {
    if (!asked.has(link)) asked.set(link, fill(link).finally(() => asked.delete(link)));
    return asked.get(link);
  }

  async function fill(link) {
    const found = await window.presentview.ask(`kids/${link.dataset.kids}`, { at: link.dataset.at });
    // What lies on the other side of these cards is here already.
    const other = link.dataset.side === "later" ? "earlier" : "later";
    const isOther = (element) => element.firstElementChild?.dataset.side === other && element.matches(".more-kids");
    const fresh = window.presentview.parse(found.cards).filter((element) => !isHere(element) && !isOther(element));
    if (!link.isConnected) return;
    rows.hold(() => link.parentElement.replaceWith(...fresh));
    for (const element of fresh) window.presentview.entered(element);
    for (const element of fresh) window.presentview.restoreCards?.(element);
    document.dispatchEvent(new CustomEvent("presentview:filled"));
  }

  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) load(target).catch(() => {});
  }, { rootMargin: "400px" });

  cards.addEventListener("click", (event) => {
    const link = event.target.closest("[data-kids]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    load(link).catch(() => {});
  });

  function look() {
    for (const link of cards.querySelectorAll('[data-side="later"]')) near.observe(link);
  }

  document.addEventListener("presentview:filled", look);
  document.addEventListener("presentview:changed", look);
  look();
  window.presentview = { ...window.presentview, loadKids: load };
})();
