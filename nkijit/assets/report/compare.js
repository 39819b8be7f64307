"use strict";

// Two kernels side by side: figures, timelines on one axis, sources, and what their queues run.

const COMPARED_HEIGHT = 460;
const MOST_CHANGED = 3000;
const BETTER_IF_MORE = new Set(["achieved", "MFU"]);

class CompareView {
  /** `go(source, line)` shows a line of the first kernel, `goStep(step)` the values of a step. */
  constructor(model, root, go, goStep) {
    this.model = model;
    this.other = new Model(model.data.other);
    this.go = go;
    this.timelines = [];
    const { comparison } = model.data;
    root.append(make("h2", { textContent: "Two kernels" }));
    if (model.data.departed) root.append(this.departed(model.data.departed, goStep));
    if (!comparison) {
      root.append(make("p", { textContent: `${model.data.other.kernel} cannot stand beside ` +
        `${model.data.kernel}: ${model.data.events ? model.data.other.missing : model.data.missing}` }));
      return;
    }
    this.names = comparison.names;
    root.append(this.figures(comparison), this.timelinesOf(), this.sources(comparison), this.tables(comparison));
  }

  /** Whether they compute the same, as far as they were recorded. */
  departed({ text, step }, goStep) {
    const [first, ...lines] = text.split("\n");
    return make("section", { className: "departed" }, make("h2", { textContent: "Values" }),
      step < 0 ? make("p", { textContent: text })
        : make("article", { className: "finding turn error" }, make("h3", { textContent: first }),
          make("pre", { textContent: lines.join("\n") }),
          make("button", { textContent: "show what it wrote", onclick: () => goStep(step) })));
  }

  figures({ figures }) {
    return make("section", { className: "compared-figures" }, tableOf(["", ...this.names, "change"], figures.map((row) => this.withChange(row)), [1, 2, 3]));
  }

  /** A row whose change has a class: of most things less is better. */
  withChange(row) {
    const change = row[3];
    row = row.map((text) => text.replace(/ us$/, " µs"));
    const isMore = change.startsWith("+");
    const style = !/[1-9]/.test(change) ? "quiet" : isMore === BETTER_IF_MORE.has(row[0]) ? "less" : "more";
    return [...row.slice(0, 3), make("span", { className: style, textContent: change }), ...row.slice(4)];
  }

  /** Both timelines, which are zoomed and moved together. */
  timelinesOf() {
    const section = make("section", {}, make("h2", { textContent: "Timelines, on one axis" }));
    const legend = make("div", { className: "legend-bar" });
    section.append(legend);
    const both = [this.model, this.other];
    const times = new Map();
    for (const model of both) {
      for (let event = 0; event < model.eventCount; event++) {
        const { mnemonic } = model.items[model.itemOfEvent[event]];
        const { begin, free } = model.data.events;
        times.set(mnemonic, (times.get(mnemonic) || 0) + free[event] - begin[event]);
      }
    }
    const looks = looksOfInstructions(times);
    legend.append(...[...looks].filter(([, look]) => look !== OTHER).map(([name, look]) =>
      make("span", {}, swatchOf(look), name)));
    const viewport = new Viewport(Math.max(...both.map(({ duration }) => duration)) * 1.01, 20, () => this.redraw());
    both.forEach((model, index) => {
      const canvas = make("canvas", { tabIndex: 0, role: "img" });
      section.append(make("h4", { textContent: `${this.names[index]}: ${timeText(model.data.profile.time)}` }),
        make("div", { className: "map" }, canvas));
      const timeline = new Timeline(model, (event) => timeline.select([event], event), { canvas, viewport, looks });
      this.timelines.push(timeline);
    });
    return section;
  }

  redraw() {
    for (const timeline of this.timelines) timeline.chart?.draw();
  }

  /** The main sources, equal lines beside each other, with the time of each line. */
  sources({ source }) {
    if (!source.length) return make("span");
    const pane = new Pane("compared", "Source: time on the critical path by line", (row) => {
      const [line] = source[row];
      if (line) this.go(this.model.mainSource(), line);
    });
    const sides = [this.model, this.other].map((model) => {
      const number = model.mainSource();
      const { lines } = model.sources[number] || {};
      const times = new Map();
      for (const { place, path } of model.data.profile.lines) {
        if (place && place[0] === number) times.set(place[1], (times.get(place[1]) || 0) + path);
      }
      return { lines: lines || [], times, coloured: pythonLines((lines || []).join("\n")), whole: model.data.profile.time };
    });
    pane.show(source.length, 0, (row, index) => {
      const [one, other] = source[index].map((line, side) => sides[side].lines[line - 1]);
      row.classList.add(one === other ? "same" : "differs");
      row.append(...source[index].map((line, side) => this.half(sides[side], line)));
    }, Math.max(...sides.map(({ lines }) => lines.length)));
    pane.element.style.height = `${Math.min(COMPARED_HEIGHT, (source.length + 3) * ROW_HEIGHT)}px`;
    const first = source.findIndex((lines) => lines.some((line, side) => sides[side].times.has(line)));
    this.pane = pane;
    this.first = first;
    return make("section", { className: "compared" }, pane.element);
  }

  half({ times, coloured, whole }, line) {
    const time = times.get(line) || 0;
    const heat = make("span", { className: "heat time", textContent: time >= 0.5 ? timeText(time) : "" });
    heat.style.setProperty("--share", Math.min(1, (time / (whole || 1)) * 2.5));
    const half = make("span", { className: `half${line ? "" : " none"}` },
      make("span", { className: "gutter", textContent: line || "" }), heat);
    spans(half, coloured[line - 1] || []);
    return half;
  }

  /** A unified diff, with a colour for each kind of line. */
  diff(lines) {
    return make("pre", { className: "diff" }, ...lines.slice(0, MOST_CHANGED).map((line) => make("span", {
      className: { "+": "added", "-": "removed", "@": "quiet" }[line[0]] || "", textContent: `${line}\n` })));
  }

  tables({ lines, instructions, ir, queues }) {
    const [head, ...rows] = lines;
    const changed = instructions.filter(([, , , change]) => change !== "same");
    return make("div", {},
      rows.length ? make("section", {}, make("h2", { textContent: "Critical path, where it differs the most" }),
        tableOf(head, rows.map((row) => this.withChange(row)), [1, 2, 3])) : null,
      make("section", {}, make("h2", { textContent: "Instructions" }),
        changed.length ? tableOf(["", ...this.names, "change"], changed.map((row) => this.withChange(row)), [1, 2, 3]) : null,
        make("p", { className: "quiet", textContent: `${counted(instructions.length - changed.length, "kind")} as often in both` })),
      make("section", {}, make("h2", { textContent: "IR, with loops" }), this.diff(ir)),
      make("section", {}, make("h2", { textContent: "What the queues run, without addresses" }), this.diff(queues)));
  }

  /** What has to be done when the view is seen for the first time. */
  shown() {
    if (this.first > 0) this.pane?.reveal(this.first);
    this.first = 0;
    this.redraw();
  }
}
