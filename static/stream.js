// One event stream for all tabs of this browser: the tab that holds the lock leads, opens the
// stream for what all tabs show, and tells the others by a channel. When it goes, another leads.
// Where there are no locks (on a page that did not come from this machine or by HTTPS) each tab
// has a stream of its own.
"use strict";
(() => {
  const NAME = "presentview-stream";
  const RETRY_FIRST = 500, RETRY_MOST = 10_000;
  const tab = `${performance.timeOrigin}-${Math.random()}`;
  const shares = Boolean(navigator.locks) && typeof BroadcastChannel === "function";
  const channel = shares ? new BroadcastChannel(NAME) : null;
  const listeners = new Set();
  const wants = new Map(); // tab -> its topics
  const latest = new Map(); // topic -> the position the stream last told
  let mine = [];
  let leads = false, source = null, opened = "", retry = RETRY_FIRST, timer = 0;

  function deliver(message) { for (const listener of listeners) listener(message); }

  function tell(message) {
    channel?.postMessage({ type: "event", message });
    deliver(message);
  }

  function address() {
    const topics = [...new Set([...wants.values()].flat())].sort();
    if (!topics.length) return "";
    return "/events?" + topics.map((t) => (t === "list" ? "list=1" : "s=" + encodeURIComponent(t))).join("&");
  }

  // The browser does not tell why it was refused a stream; the answer without a body does.
  async function sayWhyRefused() {
    const answer = await fetch("/events", { method: "HEAD" }).catch(() => null);
    if (answer?.status === 401) tell({ connected: false, signedOut: true });
  }

  function open() {
    clearTimeout(timer);
    source?.close();
    source = null;
    latest.clear();
    opened = address();
    if (!opened) return;
    source = new EventSource(opened);
    source.onopen = () => { retry = RETRY_FIRST; tell({ connected: true }); };
    source.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.s) latest.set(message.s, message.pos);
      tell(message);
    };
    source.onerror = () => {
      tell({ connected: false });
      if (source?.readyState === EventSource.CLOSED) sayWhyRefused();
      // A refused stream is closed for good by the browser; a lost one it would retry, but with
      // the topics of then. Both are opened anew here, slower each time.
      source?.close();
      source = null;
      latest.clear();
      timer = setTimeout(open, retry * (0.75 + Math.random() / 2));
      retry = Math.min(retry * 2, RETRY_MOST);
    };
  }

  function reconsider() { if (leads && address() !== opened) open(); }

  function want(who, topics) {
    wants.set(who, topics);
    reconsider();
    // Where the topic is streamed already, no message may come for long: what the page missed
    // between being made and listening it learns from the position.
    if (leads) for (const topic of topics) {
      if (latest.has(topic)) tell({ s: topic, pos: latest.get(topic) });
    }
  }

  function announce() {
    channel?.postMessage({ type: "want", tab, topics: mine });
    want(tab, mine);
  }

  if (channel) channel.onmessage = ({ data }) => {
    if (data.type === "event") deliver(data.message);
    else if (data.type === "want") want(data.tab, data.topics);
    else if (data.type === "bye") { wants.delete(data.tab); reconsider(); }
    else if (data.type === "who") channel.postMessage({ type: "want", tab, topics: mine });
  };

  function lead() {
    leads = true;
    channel?.postMessage({ type: "who" });
    open();
  }

  function begin() {
    // The lock is held as long as this page lives; the promise never settles by itself.
    if (shares) navigator.locks.request(NAME, () => { lead(); return new Promise(() => {}); }).catch(lead);
    else lead();
  }

  window.addEventListener("pagehide", () => channel?.postMessage({ type: "bye", tab }));
  window.addEventListener("pageshow", (event) => { if (event.persisted) { announce(); deliver({ lost: true }); } });

  window.presentview = {
    ...window.presentview,
    // Call `listener` with each message about `topics` (ids of sessions, or "list").
    listen(topics, listener) {
      listeners.add(listener);
      const isFirst = !mine.length;
      mine = [...new Set([...mine, ...topics])];
      announce();
      if (isFirst) begin();
    },
  };
})();
