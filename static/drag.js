// What presses that move do on a line of time: one pointer pans or chooses a part, two zoom.
"use strict";
(() => {
  const MOVED = 6; // px from which a press is a drag, and no click

  // Follow the pointers on what `plotOf` finds of a target. `current` and `show` tell and change
  // which part of the line is shown (%), `choice` makes the mark of a chosen part, `click` is told
  // of a press that did not move. Returns whether any pointer is down.
  function followPointers({ plotOf, current, show, choice, click }) {
    const down = new Map(); // where each pointer is
    let drag = null;

    const distance = ([one, other]) => Math.max(MOVED, Math.hypot(one.x - other.x, one.y - other.y));
    const middle = (all) => all.reduce((sum, one) => sum + one.x, 0) / all.length;
    const part = (x) => (x - drag.box.left) / drag.box.width;

    // From here on what is shown moves with the pointers that are down.
    function hold() {
      const all = [...down.values()], { low, high } = current();
      drag.width = high - low;
      drag.apart = all.length > 1 ? distance(all) : 0;
      drag.under = low + part(middle(all)) * drag.width;
    }

    function turnInto(kind) {
      drag.kind = kind;
      drag.mark?.remove();
      drag.mark = kind === "choose" ? choice() : null;
      // What it began on may be drawn anew meanwhile.
      for (const id of down.keys()) drag.plot.closest("form")?.setPointerCapture(id);
    }

    function begin(event, plot) {
      const isMouse = event.pointerType === "mouse", { low, high } = current();
      const chooses = isMouse && (event.shiftKey || plot.matches(".ruler") || high - low >= 100);
      drag = { box: plot.getBoundingClientRect(), plot, x: event.clientX, does: chooses ? "choose" : "pan", kind: null };
    }

    function move(x) {
      if (!drag.kind && Math.abs(x - drag.x) < MOVED) return;
      if (!drag.kind) turnInto(drag.does);
      getSelection()?.removeAllRanges();
      if (drag.kind === "choose") { drag.mark.between(...chosen(x)); return; }
      const all = [...down.values()], width = Math.min(100, drag.apart ? drag.width * drag.apart / distance(all) : drag.width);
      if (!drag.apart && width >= 100) return;
      const low = drag.under - part(middle(all)) * width;
      drag.isShown = true;
      show({ low, high: low + width });
    }

    const chosen = (x) => [Math.max(drag.box.left, Math.min(drag.x, x)), Math.min(drag.box.right, Math.max(drag.x, x))];

    function end(event) {
      const { kind, mark, plot, isShown } = drag, { low, high } = current(), at = (place) => low + part(place) * (high - low);
      const [from, to] = chosen(event.clientX);
      if (!kind) click(plot, event.target);
      else if (kind === "choose") show({ low: at(from), high: at(to) }, { soon: 0 });
      else if (isShown) show({ low, high }, { soon: 0 });
      mark?.remove();
      drag = null;
    }

    document.addEventListener("pointerdown", (event) => {
      const plot = plotOf(event.target);
      if (!plot || event.button !== 0 || down.size > 1) return;
      if (!down.size) begin(event, plot);
      down.set(event.pointerId, { x: event.clientX, y: event.clientY });
      hold();
      if (down.size === 2) turnInto("zoom");
    });
    document.addEventListener("pointermove", (event) => {
      const pointer = down.get(event.pointerId);
      if (!pointer) return;
      pointer.x = event.clientX;
      pointer.y = event.clientY;
      move(event.clientX);
    });
    document.addEventListener("pointerup", (event) => {
      if (!down.delete(event.pointerId)) return;
      if (down.size) hold();
      else end(event);
    });
    // The browser scrolls with it instead.
    document.addEventListener("pointercancel", (event) => {
      if (!down.delete(event.pointerId)) return;
      drag.mark?.remove();
      if (drag.isShown) show(current(), { soon: 0 });
      if (down.size) hold();
      else drag = null;
    });
    return () => down.size > 0;
  }

  window.presentview.followPointers = followPointers;
})();
