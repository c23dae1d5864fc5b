// Keeps this page in step with its file: applies the changes that follow the position it shows,
// asks for what it missed, and shows everything anew when the file is another one.
"use strict";
(() => {
  const RETRY_FIRST = 1000, RETRY_MOST = 10_000;
  const page = document.body.dataset;
  const topic = page.session ?? ("list" in page ? "list" : null);
  if (!topic) return;
  let position = page.position;
  let catching = false, again = false, retry = RETRY_FIRST, timer = 0;

  function standsAt(reached) {
    position = reached;
    page.position = reached;
    document.dispatchEvent(new CustomEvent("presentview:changed"));
  }

  function apply(batch) {
    if (!window.presentview.patch(batch.ops)) return false;
    standsAt(batch.pos);
    return true;
  }

  async function askOnce() {
    const answer = await fetch(`/s/${topic}/since/${position}`);
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    const found = await answer.json();
    if (found.regions) {
      window.presentview.showAnew(found.regions);
      standsAt(found.pos);
      return;
    }
    for (const batch of found.batches) {
      // A batch that cannot be applied: no position is known any more, so ask for everything.
      if (batch.prev === position && !apply(batch)) { position = "none"; again = true; return; }
    }
  }

  async function catchUp() {
    again = true;
    if (catching) return;
    catching = true;
    clearTimeout(timer);
    try {
      while (again) { again = false; await askOnce(); }
      retry = RETRY_FIRST;
    } catch {
      timer = setTimeout(catchUp, retry);
      retry = Math.min(2 * retry, RETRY_MOST);
    } finally {
      catching = false;
    }
  }

  const note = document.querySelector("[data-live-note]");

  let signedOut = false;

  function sayConnected(message) {
    if (!note) return;
    const was = signedOut;
    signedOut = !message.connected && (was || Boolean(message.signedOut));
    note.hidden = message.connected;
    if (signedOut && was) return;
    note.textContent = message.connected ? "" : signedOut ? "This browser is signed out. " : "Connection lost; trying again…";
    if (!signedOut) return;
    // Loaded anew, the page says how to sign in, and leads back to itself.
    const again = document.createElement("a");
    again.href = location.pathname + location.search;
    again.textContent = "Sign in again";
    note.append(again);
  }

  window.presentview.listen([topic], (message) => {
    if ("connected" in message) { sayConnected(message); return; }
    if (message.lost) { catchUp(); return; }
    if (message.s !== topic || message.pos === position) return;
    if (catching || !message.ops || message.prev !== position || !apply(message)) catchUp();
  });
})();
