"use strict";

// What instructions have read and written: heat maps, histograms, and which part of a tensor it is.

const PICTURE = 264;
const HISTOGRAM_HEIGHT = 56;
const LEVELS = 250;
const SPECIAL = { 252: "grid", 253: "value", 254: "error", 255: "keyword" };

class ValuesView {
  /** `choose(op)` is called when the reader wants to see an operation. */
  constructor(model, root, choose) {
    this.model = model;
    this.data = model.data;
    this.choose = choose;
    this.ofOp = new Map();
    this.data.values.steps.forEach(([op, , , operands], step) => {
      const written = operands.map((operand) => this.data.values.operands[operand])
        .filter(([, isWritten]) => isWritten).map((operand) => operand[4]);
      // A tensor has the instructions that wrote it.
      for (const each of new Set([op, ...written])) push(this.ofOp, each, step);
    });
    this.among = this.data.values.steps.map((_, step) => step);
    this.body = make("div", { id: "values" });
    root.append(this.controls(), this.body);
    if (this.among.length) this.show(this.among[0], this.among);
  }

  /** The steps of operations, in the order of the run. */
  stepsOf(ops) {
    return [...new Set(ops.flatMap((op) => this.ofOp.get(op) || []))].sort((a, b) => a - b);
  }

  controls() {
    const { instructions, steps } = this.data.values;
    const move = (by) => () => this.move(by);
    this.chosen = make("select", { id: "step", "aria-label": "Instruction", onchange: () =>
      this.show(Number(this.chosen.value), this.among) });
    this.all = make("button", { textContent: "all instructions", onclick: () =>
      this.show(this.step, this.data.values.steps.map((_, step) => step)) });
    return make("div", { className: "bar" },
      make("h2", { textContent: "Values" }),
      make("span", { className: "buttons" },
        make("button", { id: "step-back", textContent: "<", "aria-label": "Instruction before", onclick: move(-1) }),
        make("button", { id: "step-on", textContent: ">", "aria-label": "Next instruction", onclick: move(1) })),
      this.chosen, this.all,
      make("span", { className: "quiet", textContent: steps.length < instructions
        ? `${steps.length.toLocaleString("en")} of ${counted(instructions, "instruction")}` : "" }));
  }

  move(by) {
    const next = this.among[this.among.indexOf(this.step) + by];
    if (next !== undefined) this.show(next, this.among);
  }

  /** Shows a step; the ones before and behind are among some. */
  show(step, among) {
    if (this.listed !== among) {
      this.chosen.replaceChildren(...among.map((each) =>
        make("option", { value: each, textContent: this.label(each) })));
      this.listed = among;
    }
    this.among = among;
    this.step = step;
    this.chosen.value = String(step);
    this.all.hidden = among.length === this.data.values.steps.length;
    const [op, , , operands] = this.data.values.steps[step];
    const head = make("p", {},
      make("code", { textContent: this.model.irText(op).replace(/ loc\(.*/, "") }), " ",
      placeButton(this.place(op), () => this.choose(op)));
    this.body.replaceChildren(head, ...operands.map((operand) => this.operand(operand)));
  }

  place(op) {
    const place = this.model.places(op)[0];
    return place ? this.model.placeText(place) : `IR line ${this.data.ops.first[op] + 1}`;
  }

  label(step) {
    const [op, number, loops] = this.data.values.steps[step];
    const name = (this.model.irText(op).match(/\w+\.\w+/) || [""])[0];
    const around = this.data.strings[loops];
    return `#${number} ${name} ${this.place(op)}${around ? `, ${around}` : ""}`;
  }

  operand(number) {
    const [text, written, picture, pattern] = this.data.values.operands[number];
    const name = `${written ? "wrote" : "read"} ${this.data.strings[text]}`;
    const [rows, columns, high, cells, histogram, least, largest, mean, nans, infinities] =
      this.data.values.pictures[picture];
    const bad = [nans ? `${nans.toLocaleString("en")} NaN` : "",
      infinities ? `${infinities.toLocaleString("en")} Inf` : ""].filter(Boolean).join(", ");
    const figures = mean === null ? "nothing finite"
      : `min ${short(least)}, max ${short(largest)}, mean ${short(mean)}`;
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
    return make("section", { className: "operand" },
      make("h3", { textContent: name }),
      make("p", {}, make("span", { className: "statistics", textContent: figures }), " ",
        make("span", { className: "severity", textContent: bad })),
      make("div", { className: "figures-of" }, ...parts));
  }
}

const short = (number) => Number(number.toPrecision(6)).toString();

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
