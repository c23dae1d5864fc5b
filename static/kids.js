// Nested cards come when the link that stands for them comes into view: when the card around them
// is opened, and then so many at a time.
"use strict";
(() => {
  const cards = document.getElementById("cards");
  const { rows } = window.presentview;
  if (!cards || !rows) return;
  const asked = new WeakSet();

  const isHere = (element) => Boolean(element.id && document.getElementById(element.id));

  async function load(link) {
    if (asked.has(link)) return;
    asked.add(link);
    try {
      const found = await window.presentview.ask(`kids/${link.dataset.kids}`, { at: link.dataset.at });
      const template = document.createElement("template");
      template.innerHTML = found.cards;
      // What lies on the other side of these cards is here already.
      const other = link.dataset.side === "later" ? "earlier" : "later";
      template.content.querySelector(`:scope > .more-kids > [data-side="${other}"]`)?.parentElement.remove();
      const fresh = [...template.content.children].filter((element) => !isHere(element));
      if (!link.isConnected) return;
      rows.hold(() => link.parentElement.replaceWith(...fresh));
      for (const element of fresh) window.presentview.entered(element);
      for (const element of fresh) window.presentview.restoreCards?.(element);
      document.dispatchEvent(new CustomEvent("presentview:filled"));
    } finally {
      asked.delete(link);
    }
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
})();
