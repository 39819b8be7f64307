"use strict";

// The timeline: a track for each queue, with as many lanes as instructions overlap in it.

const AXIS = 20;
const TRACK_GAP = 5;
const MOST_LANES = 8;
const LOOP_LANE = 14;
/** Bars narrower than this, in pixels, are drawn together with their neighbours. */
const NARROW = 1.5;
/** Narrow bars within so many pixels are one, as high as they fill them. */
const TOGETHER = 2;
/** How much is left of the colour of what is not related to the selection. */
const DIM = 0.25;
const DIM_TEXT = 0.75;

class Timeline {
  /**
   * `choose(event)` is called when the reader chooses a bar, `ranged(range)` for a section of time
   * and `moved(text)` when another one is shown. Without a legend, `looks` says what looks how.
   */
  constructor(model, choose, { canvas, viewport, legend = null, looks = null, ranged = null, moved = null }) {
    this.model = model;
    this.data = model.data;
    this.choose = choose;
    this.mark = new Uint8Array(model.eventCount);
    this.selected = -1;
    this.hovered = -1;
    this.pathOnly = false;
    /** The section of time that is selected: { begin, end }. */
    this.range = null;
    this.ranged = ranged;
    /** The name in the legend to which the timeline is confined. */
    this.only = undefined;
    /** How many bars were drawn last. */
    this.drawn = 0;
    this.canvas = canvas;
    this.root = legend;
    this.ownLooks = looks;
    this.told = moved;
    this.viewport = viewport || new Viewport(model.duration * 1.01, 20, () => this.moved());
    this.layOut();
    this.colourBy("mnemonic");
    this.chart = new Chart(this.canvas, this.viewport, () => this.draw());
    if (ranged) this.chart.ranged = (from, to) => this.setRange(from, to);
    this.chart.clicked = (x, y) => {
      const event = this.eventAt(x, y);
      if (event >= 0) this.choose(event);
    };
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.leave());
    this.canvas.addEventListener("keydown", (event) => this.pressed(event));
    this.canvas.setAttribute("aria-label",
      `Timeline of ${counted(model.eventCount, "instruction")} in ` +
      `${counted(this.tracks.length, "queue")}, ${timeText(model.duration)}`);
  }

  // ---------------------------------------------------------------- layout

  /** Gives every event a lane: the first one of its queue that is free. */
  layOut() {
    const { model } = this;
    const events = model.queues.map(() => []);
    for (let event = 0; event < model.eventCount; event++) {
      events[model.items[model.itemOfEvent[event]].queue].push(event);
    }
    this.laneOf = new Int32Array(model.eventCount);
    this.top = new Float64Array(model.eventCount);
    this.tracks = model.queues.map((queue, index) => this.track(queue, events[index]));
    this.loops = this.loopBands();
    let top = AXIS + 4;
    for (const band of this.loops) {
      band.top = top;
      top += LOOP_LANE + 3;
    }
    for (const track of this.tracks) {
      track.top = top;
      track.lanes.forEach((lane, number) => {
        lane.top = top + number * track.laneHeight;
        for (const event of lane.events) this.top[event] = lane.top;
      });
      track.height = Math.max(track.lanes.length * track.laneHeight, 20);
      top += track.height + TRACK_GAP;
    }
    this.height = top + 4;
  }

  track(queue, events) {
    const { begin, free } = this.data.events;
    events.sort((a, b) => begin[a] - begin[b] || a - b);
    const lanes = [];
    for (const event of events) {
      let lane = lanes.find((other) => other.free <= begin[event]);
      if (!lane && lanes.length < MOST_LANES) {
        lane = { events: [], free: 0 };
        lanes.push(lane);
      }
      // More than fit: on top of what ends first.
      lane ||= lanes.reduce((a, b) => (a.free <= b.free ? a : b));
      lane.events.push(event);
      lane.free = Math.max(lane.free, free[event]);
    }
    const laneHeight = lanes.length <= 1 ? 20 : lanes.length <= 3 ? 13 : 8;
    return { queue, lanes, laneHeight };
  }

  /** The iterations of loops, by core and depth. */
  loopBands() {
    const { model } = this;
    const found = new Map();
    for (let event = 0; event < model.eventCount; event++) {
      const { core, loop } = model.items[model.itemOfEvent[event]];
      if (loop < 0) continue;
      const key = `${core}/${loop}`;
      if (!found.has(key)) found.set(key, { core, loop, iterations: [] });
      const { iterations } = found.get(key);
      const band = (iterations[model.iterationOf[event]] ||= { begin: Infinity, end: 0 });
      band.begin = Math.min(band.begin, this.data.events.begin[event]);
      band.end = Math.max(band.end, this.data.events.free[event]);
    }
    const heads = new Map(model.items.map((item) => [`${item.core}/${item.body}`, item.mnemonic]));
    return [...found.entries()]
      .map(([key, band]) => ({ ...band, name: heads.get(key) }))
      .sort((a, b) => a.core - b.core || a.loop - b.loop);
  }

  // ---------------------------------------------------------------- colours

  colourBy(what) {
    const { model } = this;
    const counts = new Map();
    const times = new Map();
    const nameOf = (item) => {
      if (what === "mnemonic") return model.items[item].mnemonic;
      const place = model.places(model.items[item].op)[0];
      return place ? lineKey(place[0], place[1]) : -1;
    };
    const { begin, free } = this.data.events;
    this.nameOf = model.items.map((item, index) => (item.number >= 0 ? nameOf(index) : undefined));
    this.nameOf.forEach((name, item) => {
      if (name === undefined) return;
      const time = model.eventsOfItem[item].reduce((sum, event) => sum + free[event] - begin[event], 0);
      counts.set(name, (counts.get(name) || 0) + 1);
      times.set(name, (times.get(name) || 0) + time);
    });
    // What takes the most time gets a look of its own.
    const looks = this.ownLooks || looksOfInstructions(times);
    this.looks = this.nameOf.map((name) => looks.get(name));
    this.only = undefined;
    this.legend = [...looks].map(([name, look]) => ({
      name, look, count: counts.get(name), time: times.get(name),
      text: what === "mnemonic" ? name : name < 0 ? "no line"
        : model.placeText([Math.floor(name / lineKey(1, 0)), name % lineKey(1, 0)]),
    }));
    this.showLegend();
    this.chart?.draw();
  }

  showLegend() {
    if (!this.root) return;
    const shown = this.legend.filter(({ look }) => look !== OTHER);
    const others = this.legend.length - shown.length;
    this.root.replaceChildren(...shown.map(({ name, look, count, time, text }) => make("button", {
      "aria-pressed": String(this.only === name),
      title: `${text}: ${counted(count, "instruction")}, ${timeText(time)}; click to see these only`,
      onclick: () => {
        this.only = this.only === name ? undefined : name;
        this.showLegend();
        this.chart.draw();
      },
    }, swatchOf(look), text)),
    ...(others ? [make("span", { className: "quiet" }, swatchOf(OTHER), `${others} others`)] : []));
  }

  // ---------------------------------------------------------------- drawing

  draw() {
    const context = this.chart.begin(this.height);
    context.fillStyle = this.chart.colour("panel");
    context.fillRect(0, 0, this.chart.width, this.height);
    this.chart.axis(context, tickText);
    this.drawn = 0;
    this.drawNames(context);
    this.chart.clip(context, 0, this.height);
    for (const band of this.loops) this.drawLoop(context, band);
    for (const track of this.tracks) {
      for (const lane of track.lanes) this.drawLane(context, lane, track.laneHeight - 2);
    }
    if (this.selected >= 0) this.drawSelected(context);
    if (this.range) this.drawRange(context);
    context.restore();
    this.canvas.dataset.drawn = this.drawn;
  }

  /** Veils what is outside of the range. */
  drawRange(context) {
    const [from, to] = [this.chart.x(this.range.begin), this.chart.x(this.range.end)];
    context.globalAlpha = 0.72;
    context.fillStyle = this.chart.colour("bg");
    context.fillRect(LEFT, 0, Math.max(0, from - LEFT), this.height);
    context.fillRect(Math.max(to, LEFT), 0, this.chart.width, this.height);
    context.globalAlpha = 1;
    context.fillStyle = this.chart.colour("accent");
    context.fillRect(from - 1, 0, 2, this.height);
    context.fillRect(to - 1, 0, 2, this.height);
    context.fillRect(from, 0, to - from, 3);
  }

  drawNames(context) {
    context.textAlign = "right";
    for (const { queue, top, height } of this.tracks) {
      context.fillStyle = this.chart.colour("line");
      context.fillRect(0, top - TRACK_GAP / 2 - 1, this.chart.width, 1);
      context.fillStyle = this.chart.colour("ink");
      context.fillText(queue.name, LEFT - 8, top + height / 2);
    }
    context.fillStyle = this.chart.colour("quiet");
    for (const { top } of this.loops) context.fillText("loop", LEFT - 8, top + LOOP_LANE / 2);
    context.textAlign = "left";
  }

  drawLoop(context, { iterations, top, name }) {
    context.strokeStyle = this.chart.colour("quiet");
    const texts = [];
    let behind = -Infinity;
    iterations.forEach(({ begin, end }, number) => {
      const x = this.chart.x(begin);
      const width = this.chart.x(end) - x;
      if (x + width < LEFT || x > this.chart.width || x + width - behind < NARROW) return;
      behind = x + width;
      context.strokeRect(Math.round(x) + 0.5, top + 0.5, Math.max(1, width - 1), LOOP_LANE - 2);
      const text = `${name}: ${number + 1} of ${iterations.length}`;
      const left = Math.max(x, LEFT);
      if (x + width - left > text.length * 6.8) {
        texts.push([text, left + 4]);
      }
    });
    // Iterations overlap: where one ends there may be the name of the next.
    for (const [text, left] of texts) {
      context.fillStyle = this.chart.colour("panel");
      context.fillRect(left - 2, top + 2, context.measureText(text).width + 4, LOOP_LANE - 5);
      context.fillStyle = this.chart.colour("quiet");
      context.fillText(text, left, top + LOOP_LANE / 2);
    }
  }

  /** The bars of a lane that are in view; those that are narrower than a pixel together. */
  drawLane(context, { events, top }, height) {
    const { begin, free, end, stalled } = this.data.events;
    const { chart, viewport } = this;
    const quiet = chart.colour("quiet");
    const path = chart.colour("path");
    const middle = Math.round(top + height / 2);
    const hasMarks = this.marks > 0 || this.pathOnly || this.only !== undefined;
    let pending = null;
    const flush = () => {
      if (pending) this.drawBar(context, pending, top, height, hasMarks, path);
      pending = null;
    };
    let latest = -Infinity;
    for (let index = firstIn(events, end, viewport.begin); index < events.length; index++) {
      const event = events[index];
      if (begin[event] > viewport.end + stalled[event]) break;
      const x0 = chart.x(begin[event]);
      const x1 = chart.x(free[event]);
      const next = index + 1 < events.length ? chart.x(begin[events[index + 1]]) : Infinity;
      const tail = Math.min(chart.x(end[event]), next);
      const stall = x0 - chart.x(begin[event] - stalled[event]);
      if (stall > 3 && latest < x0 - 3) {
        context.fillStyle = quiet;
        context.fillRect(Math.max(x0 - stall, latest), middle, Math.min(stall, x0 - latest), 1);
      }
      if (tail - x1 > 2) {
        context.globalAlpha = hasMarks && !this.markOf(event) ? DIM : 1;
        context.fillStyle = fillOf(context, this.looks[this.model.itemOfEvent[event]]);
        context.fillRect(x1, middle - 1, tail - x1, 2);
        context.globalAlpha = 1;
      }
      latest = Math.max(latest, tail);
      const isNarrow = x1 - x0 < NARROW;
      if (pending && isNarrow && pending.isNarrow && x0 - pending.x0 < TOGETHER) {
        pending.x1 = Math.max(pending.x1, x1);
        pending.busy += x1 - x0;
        pending.mark = Math.max(pending.mark, this.markOf(event));
        pending.isOnPath ||= this.model.isOnPath[event];
        continue;
      }
      flush();
      pending = { event, x0, x1, busy: x1 - x0, isNarrow, mark: this.markOf(event),
        isOnPath: this.model.isOnPath[event] };
    }
    flush();
  }

  /** 2 what is selected, 1 what is related, 0 all others. */
  markOf(event) {
    if (this.only !== undefined && this.nameOf[this.model.itemOfEvent[event]] !== this.only) return 0;
    if (this.only !== undefined && !this.mark[event]) return 1;
    if (this.pathOnly && !this.mark[event]) return this.model.isOnPath[event];
    return this.mark[event];
  }

  drawBar(context, bar, top, height, hasMarks, path) {
    const width = Math.max(bar.x1 - bar.x0, 1);
    const item = this.model.itemOfEvent[bar.event];
    const isDim = hasMarks && !bar.mark;
    context.globalAlpha = isDim ? DIM : 1;
    context.fillStyle = fillOf(context, this.looks[item]);
    const filled = bar.isNarrow ? Math.min(1, 0.3 + (0.7 * bar.busy) / width) : 1;
    context.fillRect(bar.x0, top + height * (1 - filled), width, height * filled);
    if (bar.isOnPath) {
      context.fillStyle = path;
      context.fillRect(bar.x0, top + height - 2, width, 3);
    }
    if (width > 6) {
      context.fillStyle = this.chart.colour("panel");
      context.fillRect(bar.x1 - 1, top, 1, height);
    }
    const { mnemonic } = this.model.items[item];
    const left = Math.max(bar.x0, LEFT) + 3;
    const letters = Math.floor((Math.min(bar.x1, this.chart.width) - left - 2) / 6.7);
    if (letters >= 4 && height >= 11) {
      context.globalAlpha = isDim ? DIM_TEXT : 1;
      context.fillStyle = isDim ? this.chart.colour("quiet") : "#111";
      const text = mnemonic.length <= letters ? mnemonic : `${mnemonic.slice(0, letters - 1)}…`;
      context.fillText(text, left, top + height / 2);
    }
    context.globalAlpha = 1;
    this.drawn++;
  }

  drawSelected(context) {
    const event = this.selected;
    const cause = this.data.events.cause[event];
    context.strokeStyle = this.chart.colour("accent");
    for (const other of this.model.eventsBehind(event)) {
      this.arrow(context, event, other, 1, [4, 3]);
    }
    for (const other of this.model.eventsBefore(event)) {
      if (other !== cause) this.arrow(context, other, event, 1, []);
    }
    if (cause >= 0) this.arrow(context, cause, event, 2.5, []);
    context.setLineDash([]);
    const { x, y, width, height } = this.box(event);
    context.lineWidth = 2;
    context.strokeStyle = this.chart.colour("ink");
    context.strokeRect(x - 1, y - 1, Math.max(width, 2) + 2, height + 2);
    context.lineWidth = 1;
  }

  box(event) {
    const { begin, free } = this.data.events;
    const x = this.chart.x(begin[event]);
    const track = this.tracks[this.model.items[this.model.itemOfEvent[event]].queue];
    return {
      x, y: this.top[event], width: this.chart.x(free[event]) - x, height: track.laneHeight - 2,
    };
  }

  /** From the end of one event to the beginning of another. */
  arrow(context, from, to, width, dash) {
    const [start, end] = [this.box(from), this.box(to)];
    const x1 = Math.min(this.chart.x(this.data.events.end[from]), end.x);
    const [y1, y2] = [start.y + start.height / 2, end.y + end.height / 2];
    const bend = Math.min(60, Math.max(8, Math.abs(end.x - x1) / 2));
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bend, y1, end.x - bend, y2, end.x, y2);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(end.x, y2);
    context.lineTo(end.x - 6, y2 - 3.5);
    context.lineTo(end.x - 6, y2 + 3.5);
    context.fillStyle = context.strokeStyle;
    context.fill();
  }

  // ---------------------------------------------------------------- what the reader does

  moved() {
    this.told?.(`${timeText(this.viewport.begin)} to ` +
      timeText(Math.min(this.viewport.end, this.model.duration)));
    this.chart?.draw();
  }

  /** Selects a section of time; none when it is empty. */
  setRange(from, to) {
    const ends = [from, to].map((time) => Math.min(Math.max(time, 0), this.model.duration));
    const [begin, end] = [Math.min(...ends), Math.max(...ends)];
    this.range = end - begin > 0 ? { begin, end } : null;
    this.ranged?.(this.range);
    this.chart?.draw();
  }

  clearRange() {
    this.setRange(0, 0);
  }

  zoomToRange() {
    if (this.range) this.viewport.set(this.range.begin, this.range.end);
  }

  /** Marks related events and the selected one. */
  select(related, selected) {
    this.mark.fill(0);
    for (const event of related) this.mark[event] = 1;
    this.marks = related.length;
    if (selected >= 0) this.mark[selected] = 2;
    this.selected = selected;
    const shown = selected >= 0 ? selected : related[0];
    if (shown !== undefined) {
      this.viewport.reveal(this.data.events.begin[shown], this.data.events.end[shown]);
    }
    if (selected >= 0) this.scrollTo(selected);
    this.chart.draw();
  }

  scrollTo(event) {
    const box = this.canvas.parentElement;
    const top = this.top[event];
    if (top < box.scrollTop + AXIS || top + 24 > box.scrollTop + box.clientHeight) {
      box.scrollTop = top - box.clientHeight / 2;
    }
  }

  zoomToSelection() {
    let [begin, end] = [Infinity, -Infinity];
    this.mark.forEach((mark, event) => {
      if (!mark || (this.selected >= 0 && mark < 2)) return;
      begin = Math.min(begin, this.data.events.begin[event]);
      end = Math.max(end, this.data.events.end[event]);
    });
    const margin = Math.max((end - begin) / 2, 10);
    if (begin < end) this.viewport.set(begin - margin, end + margin);
  }

  eventAt(x, y) {
    if (x < LEFT) return -1;
    for (const track of this.tracks) {
      const lane = track.lanes[Math.floor((y - track.top) / track.laneHeight)];
      if (lane && y >= track.top) return this.nearest(lane.events, x);
    }
    return -1;
  }

  /** The event of a lane under a pixel, or a narrow one beside it. */
  nearest(events, x) {
    const { begin, free } = this.data.events;
    const [from, to] = [this.chart.value(x - 2), this.chart.value(x + 2)];
    const time = this.chart.value(x);
    let best = -1;
    for (let index = firstIn(events, this.data.events.end, from); index < events.length; index++) {
      const event = events[index];
      if (begin[event] > to) break;
      if (begin[event] <= time && time <= free[event]) return event;
      if (free[event] >= from) best = event;
    }
    return best;
  }

  hover(event) {
    const found = event.buttons ? -1 : this.eventAt(event.offsetX, event.offsetY);
    this.hovered = found;
    this.canvas.style.cursor = found >= 0 ? "pointer" : "grab";
    if (found >= 0) tooltip.show(event, this.describe(found));
    else tooltip.hide();
  }

  leave() {
    this.hovered = -1;
    tooltip.hide();
  }

  /** An event in some lines of text. */
  describe(event) {
    const { model } = this;
    const item = model.itemOfEvent[event];
    const { begin, free, end } = this.data.events;
    const place = model.places(model.items[item].op)[0];
    const runs = model.eventsOfItem[item].length;
    return [
      model.itemText(item),
      model.words(item),
      `begins at ${timeText(begin[event])}, takes ${timeText(free[event] - begin[event])}, ` +
        `result after ${timeText(end[event] - begin[event])}`,
      this.waited(event),
      runs > 1 ? `iteration ${model.iterationOf[event] + 1} of ${runs}` : "",
      place ? model.placeText(place) : "",
      model.isOnPath[event] ? "on the critical path" : "",
    ];
  }

  /** What an event waited for. */
  waited(event) {
    const reason = this.data.strings[this.data.events.reason[event]];
    const cause = this.data.events.cause[event];
    const stalled = this.data.events.stalled[event];
    const behind = cause < 0 ? "" : ` ${this.model.itemText(this.model.itemOfEvent[cause])}`;
    const time = stalled ? `, its queue idle for ${timeText(stalled)}` : "";
    return `begins after: ${reason}${behind}${time}`;
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { viewport } = this;
    const actions = {
      "+": () => viewport.zoom(ZOOM), "=": () => viewport.zoom(ZOOM),
      "-": () => viewport.zoom(1 / ZOOM), "0": () => viewport.fit(),
      z: () => (this.range ? this.zoomToRange() : this.zoomToSelection()),
      r: () => this.ranged && this.setRange(this.viewport.begin, this.viewport.end),
      ArrowLeft: () => (event.shiftKey ? viewport.move(-viewport.length / 10) : this.step(-1)),
      ArrowRight: () => (event.shiftKey ? viewport.move(viewport.length / 10) : this.step(1)),
      ArrowUp: () => this.changeTrack(-1), ArrowDown: () => this.changeTrack(1),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** The events of a track in their order. */
  inOrder(track) {
    return track.lanes.flatMap((lane) => lane.events).sort((a, b) =>
      this.data.events.begin[a] - this.data.events.begin[b] || a - b);
  }

  step(by) {
    if (this.selected < 0) return this.changeTrack(0);
    const track = this.tracks[this.model.items[this.model.itemOfEvent[this.selected]].queue];
    const events = this.inOrder(track);
    const next = events[events.indexOf(this.selected) + by];
    if (next !== undefined) this.choose(next);
    return undefined;
  }

  /** The event of another track that begins next to the selected one. */
  changeTrack(by) {
    const at = this.selected < 0 ? -by : this.model.items[this.model.itemOfEvent[this.selected]].queue;
    const track = this.tracks[Math.min(Math.max(at + by, 0), this.tracks.length - 1)];
    const time = this.selected < 0 ? this.viewport.begin : this.data.events.begin[this.selected];
    const events = this.inOrder(track);
    const next = events.find((event) => this.data.events.end[event] > time) ?? events.at(-1);
    if (next !== undefined) this.choose(next);
  }
}

/** The index of the first event that ends behind a time; events of a lane end in order. */
function firstIn(events, end, time) {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[events[middle]] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
