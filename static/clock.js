// Times and running durations: everything marked data-clock, and nothing else, is rewritten here.
"use strict";
(() => {
  const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE;

  // The same words as units.duration on the server.
  function duration(ms) {
    if (ms < SECOND) return `${Math.max(0, Math.floor(ms))} ms`;
    if (ms < MINUTE) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
    const two = (n) => String(Math.floor(n)).padStart(2, "0");
    if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m ${two((ms % MINUTE) / SECOND)} s`;
    return `${Math.floor(ms / HOUR).toLocaleString("en")} h ${two((ms % HOUR) / MINUTE)} m`;
  }

  const sameDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const otherDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" });

  function localTime(element) {
    const when = new Date(element.dateTime);
    if (Number.isNaN(when.getTime())) return;
    // The time alone where the day is that of the time before it, or today.
    const before = element.dataset.before ? new Date(element.dataset.before) : new Date();
    const isSameDay = before.toDateString() === when.toDateString();
    element.textContent = (isSameDay ? sameDay : otherDay).format(when);
    element.title = element.dateTime;
  }

  function tick() {
    for (const element of document.querySelectorAll('[data-clock="run"]')) {
      const text = duration(Date.now() - Number(element.dataset.from));
      if (element.textContent !== text) element.textContent = text;
    }
  }

  // Called for everything that came into the page.
  function start(root) {
    for (const element of root.querySelectorAll('time[data-clock="time"]')) localTime(element);
    if (root.matches?.('time[data-clock="time"]')) localTime(root);
    tick();
  }

  window.presentview = { ...window.presentview, startClocks: start, duration };
  start(document);
  // Tenths of a second are only worth it while they can be read.
  setInterval(() => { if (!document.hidden) tick(); }, 200);
})();
