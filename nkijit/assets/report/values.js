"use strict";

// What instructions have read and written: a list of them, and of one heat maps, histograms, and
// which part of a tensor it is.

const PICTURE = 264;
const HISTOGRAM_HEIGHT = 56;
const LEVELS = 250;
const SPECIAL = { 252: "grid", 253: "value", 254: "error", 255: "keyword" };
const LONGEST_LOOPS = 24;
const MEASURED = 400;

class ValuesView {
  /** `choose(op)` is called when the reader wants to see an operation, `shown()` for another step. */
  constructor(recorded, root, choose, shown) {
    this.recorded = recorded;
    this.data = recorded.model.data;
    this.choose = choose;
    this.shown = shown;
    this.every = this.data.values.steps.map((_, step) => step);
    this.pane = new Pane("steps", "Instructions", (row) => this.show(this.among[row], this.among));
    this.pane.before.title = this.pane.before.ariaLabel = "Previous marked instruction";
    this.pane.behind.title = this.pane.behind.ariaLabel = "Next marked instruction";
    this.pane.toRelated = (by) => {
      Pane.prototype.toRelated.call(this.pane, by);
      if (this.pane.related.length) this.show(this.among[this.pane.cursor], this.among);
    };
    this.body = make("div", { id: "values", tabIndex: 0, role: "region", "aria-label": "Values of an instruction" });
    root.append(this.controls(), make("div", { className: "beside" }, this.pane.element, this.body));
    const [turn] = this.data.values.turns;
    if (this.every.length) this.show(turn ? turn[1] : this.every.at(-1), this.every);
    else this.body.append(make("p", { textContent: "No instruction has run." }));
  }

  controls() {
    const { instructions, steps, pictured, turns } = this.data.values;
    const move = (by) => () => this.move(by);
    this.all = make("button", { id: "all-steps", textContent: "all instructions",
      onclick: () => this.show(this.step, this.every) });
    const said = [
      steps.length < instructions ? `${steps.length.toLocaleString("en")} of ${counted(instructions, "instruction")} are listed` : "",
      pictured < steps.length ? `${pictured.toLocaleString("en")} of ${counted(steps.length, "instruction")} have pictures` : "",
    ].filter(Boolean).join("; ");
    return make("div", { className: "bar" },
      make("h2", { textContent: "Values" }),
      make("span", { className: "buttons" },
        make("button", { id: "step-back", textContent: "‹", title: "Instruction before", "aria-label": "Instruction before", onclick: move(-1) }),
        make("button", { id: "step-on", textContent: "›", title: "Next instruction", "aria-label": "Next instruction", onclick: move(1) })),
      ...turns.map(([kind, step]) => make("button", { className: "turn", onclick: () => this.show(step, this.every),
        textContent: `first ${kind}: #${steps[step][1]}` })),
      this.all,
      make("span", { id: "values-told", className: "quiet", textContent: said }));
  }

  move(by) {
    const next = this.among[this.among.indexOf(this.step) + by];
    if (next !== undefined) this.show(next, this.among);
  }

  /** Shows a step; the ones before and behind are among some. */
  show(step, among) {
    const { recorded } = this;
    if (this.among !== among) this.list(among);
    this.step = step;
    this.all.hidden = among.length === this.every.length;
    const row = among.indexOf(step);
    this.pane.mark(this.marked, [], row);
    this.pane.told.textContent = this.marked.length ? `${this.marked.length.toLocaleString("en")} marked` : "";
    this.pane.reveal(row);
    const [op, , , operands] = this.data.values.steps[step];
    const around = recorded.loops(step);
    const head = make("p", { id: "step" }, make("strong", { textContent: recorded.name(step) }), " ",
      placeButton(recorded.place(op), () => this.choose(op)), around ? ` ${around}` : "");
    const code = make("p", { className: "quiet" },
      make("code", { textContent: recorded.model.irText(op).replace(/ loc\(.*/, "") }));
    this.body.replaceChildren(head, code, ...this.turnsOf(step), ...operands.map((operand) => this.operand(operand)));
    this.shown();
  }

  /** Draws anew what depends on the colours of the page. */
  redraw() {
    if (this.step !== undefined) this.show(this.step, this.among);
  }

  list(among) {
    const { recorded } = this;
    this.among = among;
    this.marked = [];
    const ops = new Set(among.map((step) => this.data.values.steps[step][0]));
    const longest = (text) => [...ops].reduce((most, op) => Math.max(most, text(op).length), 0);
    const widths = [longest((op) => recorded.opName(op)), longest((op) => recorded.place(op))];
    let loops = 0;
    among.forEach((step, row) => {
      if (recorded.ranks[step]) this.marked.push(row);
      loops = Math.max(loops, recorded.loops(step).length);
    });
    widths.push(Math.min(loops, LONGEST_LOOPS));
    const [, largest] = this.data.values.steps[among.at(-1)];
    // As wide as some of the rows, for there may be very many.
    const every = Math.ceil(among.length / MEASURED);
    const figures = among.filter((_, row) => row % every === 0).map((step) => this.figuresOf(step).join("").length);
    this.pane.show(among.length, widths.reduce((sum, width) => sum + width + 1, Math.max(...figures)),
      (row, index) => this.row(row, among[index], widths), largest);
  }

  row(row, step, widths) {
    const { recorded } = this;
    const [op, number] = this.data.values.steps[step];
    row.append(make("span", { className: "gutter", textContent: number }), recorded.cell([step]));
    [recorded.opName(op), recorded.place(op), recorded.loops(step)].forEach((text, column) => {
      if (!widths[column]) return;
      const cell = make("span", { className: column ? "cell quiet" : "cell mnemonic", textContent: text });
      cell.style.minWidth = `${widths[column] + 1}ch`;
      row.append(cell);
    });
    const [tile, figures] = this.figuresOf(step);
    row.append(make("span", { className: "value", textContent: tile }), figures);
  }

  /** What a step wrote in words: a name and figures. */
  figuresOf(step) {
    const [written] = this.recorded.written(step);
    if (written === undefined) return ["", ""];
    const text = this.data.strings[this.data.values.operands[written][0]];
    const { numbers, bad, saturated } = figuresInWords(this.recorded.figures(written));
    return [text.replace(/^.*? = (.*): .*$/, "$1 "), [numbers, bad, saturated].filter(Boolean).join(", ")];
  }

  /** What is known where something turned up first. */
  turnsOf(step) {
    return this.data.values.turns.filter(([, at]) => at === step).map(([kind, , text]) =>
      make("article", { className: `finding turn ${kind.startsWith("NaN") ? "error" : ""}` },
        make("h3", { textContent: `the first ${kind}` }), make("pre", { textContent: text })));
  }

  operand(number) {
    const [text, written, , picture, pattern] = this.data.values.operands[number];
    const name = `${written ? "wrote" : "read"} ${this.data.strings[text]}`;
    return make("section", { className: "operand" },
      make("h3", { textContent: name }),
      make("p", {}, ...figuresOf(this.recorded.figures(number))),
      picture >= 0 ? make("div", { className: "figures-of" }, ...this.figures(name, number, picture, pattern))
        : make("p", { className: "quiet", textContent: "no picture: there is room for those of some instructions of each line" }));
  }

  figures(name, number, picture, pattern) {
    const [rows, columns, high, cells, histogram] = this.data.values.pictures[picture];
    const { least, largest } = this.recorded.figures(number);
    const parts = [
      figure(`${rows.toLocaleString("en")} × ${columns.toLocaleString("en")}`,
        heatMap(name, bytesOf(cells), high, rows, columns)),
      ...(histogram.length ? [figure(`${short(least)} to ${short(largest)}`, bars(name, histogram))] : []),
    ];
    if (pattern >= 0) {
      const [tall, wide, patternHigh, touched] = this.data.values.patterns[pattern];
      parts.push(figure(`its part of ${tall.toLocaleString("en")} × ${wide.toLocaleString("en")}`,
        patternMap(name, bytesOf(touched), patternHigh, tall, wide)));
    }
    return parts;
  }

  /** The heat map of what a step wrote; null when there is none. */
  picture(step) {
    const number = this.recorded.written(step).find((operand) => this.data.values.operands[operand][3] >= 0);
    if (number === undefined) return null;
    const [text, , , picture] = this.data.values.operands[number];
    const [rows, columns, high, cells] = this.data.values.pictures[picture];
    return heatMap(`wrote ${this.data.strings[text]}`, bytesOf(cells), high, rows, columns);
  }
}

const bytesOf = (text) => Uint8Array.from(atob(text), (each) => each.charCodeAt(0));

const figure = (caption, canvas) =>
  make("figure", {}, canvas, make("figcaption", { className: "quiet", textContent: caption }));

const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** A canvas of cells, as wide as there are elements in the one direction and high in the other. */
function cellMap(label, cells, high, rows, columns, colour) {
  const wide = cells.length / high;
  const width = Math.min(PICTURE, Math.max(columns * 8, 24));
  const height = Math.min(PICTURE / 2, Math.max(rows * 8, 12));
  const canvas = make("canvas", { role: "img", "aria-label": label, width, height });
  const context = canvas.getContext("2d");
  cells.forEach((cell, index) => {
    const [x, y] = [index % wide, Math.floor(index / wide)];
    const [left, top] = [Math.round((x * width) / wide), Math.round((y * height) / high)];
    context.fillStyle = colour(cell);
    context.fillRect(left, top, Math.round(((x + 1) * width) / wide) - left,
      Math.round(((y + 1) * height) / high) - top);
  });
  return canvas;
}

/** Dark is small, light is large; NaN and infinities have colours of their own. */
function heatMap(label, cells, high, rows, columns) {
  const special = Object.fromEntries(Object.entries(SPECIAL).map(([code, name]) => [code, colourOf(name)]));
  return cellMap(`Heat map: ${label}, partitions downwards`, cells, high, rows, columns, (cell) => {
    if (cell in special) return special[cell];
    const share = cell / LEVELS;
    return `hsl(${255 - 205 * share} ${45 + 35 * share}% ${18 + 64 * share}%)`;
  });
}

function patternMap(label, cells, high, rows, columns) {
  const [none, some] = [colourOf("grid"), colourOf("accent")];
  return cellMap(`Access pattern: ${label}`, cells, high, rows, columns, (cell) => (cell ? some : none));
}

function bars(label, counts) {
  const most = Math.max(...counts);
  const canvas = make("canvas", { role: "img", "aria-label": `Histogram: ${label}`,
    width: counts.length * 7, height: HISTOGRAM_HEIGHT });
  const context = canvas.getContext("2d");
  context.fillStyle = colourOf("accent");
  counts.forEach((count, index) => {
    const height = count ? Math.max(1, Math.round((HISTOGRAM_HEIGHT * count) / most)) : 0;
    context.fillRect(index * 7, HISTOGRAM_HEIGHT - height, 6, height);
  });
  return canvas;
}
