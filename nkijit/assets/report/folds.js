"use strict";

// Iterations of unrolled loops: of each loop the first one is shown, the others fold into one row.

/** Fewer rows are not worth a row that stands for them. */
const LEAST_FOLDED = 4;
/** Panes with more rows begin with their iterations folded. */
const FOLDED_FROM = 400;

class Folds {
  constructor({ parent, number, count }) {
    this.table = { parent, number, count };
    this.loopOf = new Int32Array(parent.length);
    this.paths = [];
    const current = new Map();
    let loops = 0;
    parent.forEach((outer, iteration) => {
      if (number[iteration] === 0) current.set(outer, loops++);
      this.loopOf[iteration] = current.get(outer);
      this.paths.push([...(outer < 0 ? [] : this.paths[outer]), iteration]);
    });
  }

  /** What can be folded of `count` rows, of which each is in an iteration (-1: in none). */
  of(count, iterationOf) {
    const path = (row) => this.paths[iterationOf(row)] || [];
    return this.between(0, count, 0, path);
  }

  between(from, to, depth, path) {
    const { number, count } = this.table;
    const found = [];
    for (let row = from; row < to;) {
      const here = path(row)[depth];
      if (here === undefined) {
        row++;
        continue;
      }
      // As far as rows are in the first iteration of this loop, or in others of it.
      const isFirst = number[here] === 0;
      let [end, least, most] = [row, number[here], number[here]];
      for (; end < to; end++) {
        const there = path(end)[depth];
        if (there === undefined || this.loopOf[there] !== this.loopOf[here]) break;
        if ((number[there] === 0) !== isFirst) break;
        least = Math.min(least, number[there]);
        most = Math.max(most, number[there]);
      }
      const inner = this.between(row, end, depth + 1, path);
      if (isFirst || end - row < LEAST_FOLDED) found.push(...inner);
      else {
        const numbers = least === most ? `iteration ${least + 1}` : `iterations ${least + 1} to ${most + 1}`;
        found.push({ first: row, last: end - 1, depth, inner, isOpen: false,
          label: `${numbers} of ${count[here]}, ${counted(end - row, "row")}` });
      }
      row = end;
    }
    return found;
  }
}
