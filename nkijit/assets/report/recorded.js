"use strict";

// Look-ups in a recorded run. A step is an instruction that has run; one in a loop on the device has
// several. What is unusual in what a step wrote has a mark.

/** What may be unusual, the worst last; a rank is an index. */
const MARKS = [
  { text: "", style: "" },
  { text: "sat", style: "end", says: "saturated numbers" },
  { text: "Inf", style: "bad", says: "infinities" },
  { text: "NaN", style: "bad", says: "NaN" },
];

class Recorded {
  constructor(model) {
    this.model = model;
    this.values = model.data.values;
    const { steps, operands } = this.values;
    this.ofOp = new Map();
    this.runs = new Map();
    this.ranks = new Uint8Array(steps.length);
    this.rows = new Map(steps.map(([, number], step) => [number, step]));
    steps.forEach(([op, , , shown], step) => {
      const written = shown.filter((operand) => operands[operand][1]);
      // A tensor has the instructions that wrote it.
      for (const each of new Set([op, ...written.map((operand) => operands[operand][5])])) push(this.ofOp, each, step);
      push(this.runs, op, step);
      this.ranks[step] = written.reduce((most, operand) => Math.max(most, this.rankOf(operand)), 0);
    });
    this.hasMarks = this.ranks.some((rank) => rank > 0);
    this.marks = new WeakMap();
    this.ofPlace = new Map();
    if (this.hasMarks) this.relate();
  }

  rankOf(operand) {
    const { nans, infinities, saturated } = this.figures(operand);
    return nans ? 3 : infinities ? 2 : saturated ? 1 : 0;
  }

  figures(operand) {
    const [least, largest, mean, nans, infinities, zeros, subnormals, saturated] =
      this.values.figures[this.values.operands[operand][2]];
    return { least, largest, mean, nans, infinities, zeros, subnormals, saturated };
  }

  /** What is unusual at each line of source, also by the functions that it calls. */
  relate() {
    for (const [op, steps] of this.runs) {
      const keys = new Set(this.model.places(op).map(([source, line]) => lineKey(source, line)));
      for (const key of keys) {
        const found = this.ofPlace.get(key);
        if (found) found.push(...steps);
        else this.ofPlace.set(key, [...steps]);
      }
    }
  }

  worst(steps) {
    return steps.reduce((most, step) => Math.max(most, this.ranks[step]), 0);
  }

  /** The mark of some steps: `null` where nothing is unusual. */
  markOf(steps) {
    if (!this.marks.has(steps)) this.marks.set(steps, this.newMarkOf(steps));
    return this.marks.get(steps);
  }

  newMarkOf(steps) {
    const rank = this.worst(steps);
    if (!rank) return null;
    const such = steps.filter((step) => this.ranks[step] === rank);
    const first = such.reduce((least, step) => Math.min(least, this.values.steps[step][1]), Infinity);
    const { text, style, says } = MARKS[rank];
    const often = steps.length > 1 ? ` in ${such.length.toLocaleString("en")} of ${steps.length.toLocaleString("en")} runs` : "";
    const words = `${says}${often}, first in #${first}`;
    return { text, style, words, title: `wrote ${words}` };
  }

  /** The column of a row that has marks; nothing when there are none at all. */
  cell(steps) {
    if (!this.hasMarks) return "";
    const mark = steps ? this.markOf(steps) : null;
    return make("span", { className: `mark ${mark?.style || ""}`, textContent: mark?.text || "", title: mark?.title || "" });
  }

  /** The steps of operations, in the order of the run. */
  stepsOf(ops) {
    return [...new Set(ops.flatMap((op) => this.ofOp.get(op) || []))].sort((a, b) => a - b);
  }

  /** Of several runs the first with the worst that there is, else the last one, which is what stays. */
  foremost(steps) {
    const rank = this.worst(steps);
    return rank ? steps.find((step) => this.ranks[step] === rank) : steps.at(-1);
  }

  written(step) {
    return this.values.steps[step][3].filter((operand) => this.values.operands[operand][1]);
  }

  /** `#7 nisa.activation` */
  name(step) {
    const [op, number] = this.values.steps[step];
    return `#${number} ${this.opName(op)}`;
  }

  opName(op) {
    return (this.model.irText(op).match(/\w+\.\w+/) || [""])[0];
  }

  place(op) {
    const place = this.model.places(op)[0];
    return place ? this.model.placeText(place) : `IR line ${this.model.data.ops.first[op] + 1}`;
  }

  /** The runs of an item of the listing, if it is what writes: others load tables, or start a DMA. */
  runsOfItem({ op, number, words }) {
    const { strings } = this.model.data;
    const runs = number < 0 ? undefined : this.runs.get(op);
    const names = runs ? this.written(runs[0]).map((operand) => strings[this.values.operands[operand][0]].split(" ")[0]) : [];
    return words.some((word) => names.includes(strings[word].split("=")[0])) ? runs : undefined;
  }

  loops(step) {
    return this.model.data.strings[this.values.steps[step][2]];
  }
}

/** Six digits of a number; of an integer of 32 bits all. */
const short = (number) =>
  (Number.isInteger(number) && Math.abs(number) < 1e10 ? number : Number(number.toPrecision(6))).toString();

/** Least, largest and mean in words, and what else there is to say: [text, is it bad]. */
function figuresInWords({ least, largest, mean, nans, infinities, zeros, subnormals, saturated }) {
  const count = (number, name) => (number ? [`${number.toLocaleString("en")} ${name}`] : []);
  return {
    numbers: mean === null ? "nothing finite" : `min ${short(least)}, max ${short(largest)}, mean ${short(mean)}`,
    bad: [...count(nans, "NaN"), ...count(infinities, "Inf")].join(", "),
    saturated: count(saturated, "saturated").join(),
    others: [...count(zeros, zeros === 1 ? "zero" : "zeros"), ...count(subnormals, "subnormal")].join(", "),
  };
}

/** The same as elements. */
function figuresOf(figures) {
  const { numbers, bad, saturated, others } = figuresInWords(figures);
  const part = (className, textContent) => (textContent ? [" ", make("span", { className, textContent })] : []);
  return [make("span", { className: "statistics", textContent: numbers }),
    ...part("bad", bad), ...part("end", saturated), ...part("quiet", others)];
}
