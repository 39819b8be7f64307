"use strict";

// A section of time: how busy queues are in it, what it moves and computes, and which lines take it.

const MOST_LINES = 6;

/** What happens between two times. */
function statisticsOf(model, from, to) {
  const { begin, free, end } = model.data.events;
  const length = to - from;
  const queues = model.queues.map(({ name }) => ({ name, busy: 0, covered: from, instructions: 0 }));
  const lines = new Map();
  const found = { from, to, length, instructions: 0, bytes: 0, flops: 0, queues };
  for (let event = 0; event < model.eventCount; event++) {
    if (begin[event] >= to || end[event] <= from) continue;
    const item = model.items[model.itemOfEvent[event]];
    const queue = queues[item.queue];
    const inside = Math.max(0, Math.min(free[event], to) - Math.max(begin[event], from));
    const whole = free[event] - begin[event];
    found.instructions++;
    queue.instructions++;
    const start = Math.max(begin[event], queue.covered);
    const stop = Math.min(free[event], to);
    if (stop > start) {
      queue.busy += stop - start;
      queue.covered = stop;
    }
    // A transfer moves its bytes until its end, evenly.
    const shown = Math.min(end[event], to) - Math.max(begin[event], from);
    if (item.bytes) found.bytes += (item.bytes * shown) / (end[event] - begin[event] || 1);
    if (item.flops) found.flops += whole ? (item.flops * inside) / whole : 0;
    const place = model.places(item.op)[0];
    const key = place ? lineKey(place[0], place[1]) : -1;
    if (!lines.has(key)) lines.set(key, { place, busy: 0, count: 0 });
    const line = lines.get(key);
    line.busy += inside;
    line.count++;
  }
  found.lines = [...lines.values()].sort((a, b) => b.busy - a.busy);
  return found;
}

class RangeView {
  /** `go(source, line)` shows a line; `zoom()` and `clear()` are the reader's. */
  constructor(model, root, { go, zoom, clear }) {
    this.model = model;
    this.root = root;
    this.actions = { go, zoom, clear };
  }

  /** Shows a range, or nothing. */
  show(range) {
    this.root.hidden = !range;
    if (!range) return;
    const found = statisticsOf(this.model, range.begin, range.end);
    const roof = this.model.data.profile.roofline;
    const rate = found.flops / (found.length * 1e-9);
    const words = [
      ...labelled("from", timeText(found.from)), ...labelled("to", timeText(found.to)),
      ...labelled("instructions", found.instructions.toLocaleString("en")),
      ...(found.bytes ? labelled("DMA", `${bytesText(found.bytes)} (${(found.bytes / found.length).toFixed(1)} GB/s)`) : []),
      ...(found.flops ? labelled("computed", `${flopsText(found.flops)} (${flopsText(rate)}/s${
        roof.peak ? `, ${percent(rate / roof.peak)} of the peak` : ""})`) : []),
    ];
    const busiest = Math.max(...found.lines.map((line) => line.busy), 1e-9);
    this.root.replaceChildren(
      make("div", { className: "bar" }, make("h2", { textContent: `Range of ${timeText(found.length)}` }),
        make("p", { className: "words" }, ...words),
        make("span", { className: "buttons" },
          make("button", { id: "range-zoom", textContent: "zoom", title: "Zoom to the range", onclick: this.actions.zoom }),
          make("button", { id: "range-clear", textContent: "×", "aria-label": "Close the range", onclick: this.actions.clear }))),
      make("div", { className: "halves" },
        make("table", { className: "busy-queues", "aria-label": "Busy queues" }, make("tbody", {},
          ...found.queues.map(({ name, busy, instructions }) => make("tr", {}, make("td", { textContent: name }),
            make("td", { className: "number", textContent: percent(busy / found.length) }),
            make("td", {}, barOf([[busy / found.length, "busy"]], `${name}: busy ${percent(busy / found.length)}`)),
            make("td", { className: "number quiet", textContent: counted(instructions, "instruction") }))))),
        make("table", { className: "top-lines", "aria-label": "Lines that take the most time" }, make("tbody", {},
          ...found.lines.slice(0, MOST_LINES).map((line) => make("tr", {},
            make("td", {}, line.place ? placeButton(this.model.placeText(line.place), () =>
              this.actions.go(line.place[0], line.place[1])) : "no line"),
            make("td", { className: "number", textContent: timeText(line.busy) }),
            make("td", {}, barOf([[line.busy / busiest, "busy"]], timeText(line.busy))),
            make("td", { className: "number quiet", textContent: `${line.count.toLocaleString("en")}×` }),
            make("td", { className: "code", textContent: line.place
              ? (this.model.sources[line.place[0]].lines?.[line.place[1] - 1] || "").trim() : "" })))))));
  }
}
