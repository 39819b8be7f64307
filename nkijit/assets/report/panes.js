"use strict";

// Panes: long lists of lines of which only those in view are in the document.

const ROW_HEIGHT = 18;
const MORE_ROWS = 12;
const MOST_PRINTED_ROWS = 2000;

/** An element with properties, attributes (`aria-…`, `data-…`, `role`) and children. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Fills a row with pieces of text: [text, class] or text. */
function spans(row, pieces) {
  for (const piece of pieces) {
    if (typeof piece === "string") row.append(piece);
    else row.append(make("span", { className: piece[1], textContent: piece[0] }));
  }
}

/** A name before a value. */
const labelOf = (name) => make("span", { className: "label", textContent: `${name} ` });

/** A name and a value beside each other. */
const labelled = (name, value) => [labelOf(name), `${value} `];

class Pane {
  /**
   * A pane with a head line (tabs, how many lines are related) and rows.
   * `choose(row)` is called when the reader chooses a row.
   */
  constructor(id, title, choose) {
    this.choose = choose;
    this.title = title;
    this.count = 0;
    this.active = -1;
    this.related = [];
    this.isRelated = new Set();
    this.isCaller = new Set();
    this.folds = [];
    this.rowAt = this.positions = null;
    /** Rows that match a search, and what matches. */
    this.isHit = new Set();
    this.pattern = null;
    /** Rows with a mark, in order, which a closed fold tells of. */
    this.marked = [];
    this.tabs = make("div", { className: "tabs", role: "tablist", "aria-label": `${title} tabs` });
    this.told = make("span", { className: "quiet told" });
    this.before = this.step("‹", "Previous related line", -1);
    this.behind = this.step("›", "Next related line", 1);
    this.space = make("div", { className: "space" });
    this.rows = make("div", {
      className: "rows", tabIndex: 0, role: "listbox", id: `${id}-rows`, "aria-label": title,
    });
    this.rows.append(this.space);
    this.foldButton = make("button", { className: "folds", textContent: "⟳", hidden: true,
      title: "Fold the iterations of loops", "aria-label": "Fold the iterations of loops", "aria-pressed": "false",
      onclick: () => this.setFolded(this.foldButton.getAttribute("aria-pressed") !== "true") });
    const head = make("div", { className: "bar" }, make("h2", { textContent: title }), this.tabs,
      make("span", { className: "steps" }, this.foldButton, this.told, this.before, this.behind));
    this.element = make("section", { className: "pane", id }, head, this.rows);
    this.rows.addEventListener("scroll", () => this.draw());
    this.rows.addEventListener("click", (event) => this.clicked(event));
    this.rows.addEventListener("keydown", (event) => this.pressed(event));
    new ResizeObserver(() => this.draw(true)).observe(this.rows);
  }

  step(text, label, by) {
    const onclick = () => this.toRelated(by);
    return make("button", { textContent: text, title: label, "aria-label": label, onclick });
  }

  /**
   * Shows rows: `render(element, index)` fills one, `columns` is the length of the longest,
   * `largest` the largest number beside them.
   */
  show(count, columns, render, largest = count) {
    this.count = count;
    this.folds = this.marked = [];
    this.rowAt = this.positions = null;
    this.rows.style.setProperty("--digits", `${Math.max(3, String(largest).length) + 1}ch`);
    this.render = render;
    this.active = -1;
    this.space.style.height = `${this.length * ROW_HEIGHT}px`;
    this.space.style.minWidth = `calc(${columns + 2}ch + 6rem)`;
    this.rows.scrollTop = 0;
    this.mark([], [], -1);
  }

  // ---------------------------------------------------------------- folds

  /** Rows and folds as they stand below each other. */
  get length() {
    return this.rowAt ? this.rowAt.length : this.count;
  }

  /** Where a row stands; a hidden one where its fold does. */
  position(row) {
    return this.positions ? this.positions[row] : row;
  }

  /** Lets rows be folded: see `Folds`. */
  showFolds(folds, isFolded) {
    this.folds = folds;
    this.foldButton.hidden = !folds.length;
    this.setFolded(isFolded);
  }

  setFolded(isFolded) {
    const set = (folds) => folds.forEach((fold) => {
      fold.isOpen = !isFolded;
      set(fold.inner);
    });
    set(this.folds);
    this.layOut();
  }

  /** Gives rows their positions anew; what is at the top stays there. */
  layOut() {
    const top = this.rows.scrollTop / ROW_HEIGHT;
    const row = this.rowAt ? this.rowAt[Math.floor(top)] : Math.floor(top);
    this.foldAt = [];
    this.rowAt = this.positions = null;
    if (this.folds.length) {
      this.rowAt = [];
      this.positions = new Int32Array(this.count);
      this.layOutRows(0, this.count, this.folds);
    }
    this.foldButton.setAttribute("aria-pressed", String(this.folds.every(({ isOpen }) => !isOpen)));
    this.space.style.height = `${this.length * ROW_HEIGHT}px`;
    if (row >= 0 && row < this.count) {
      this.rows.scrollTop = (this.position(row) + top - Math.floor(top)) * ROW_HEIGHT;
    }
    this.draw(true);
  }

  layOutRows(from, to, folds) {
    let row = from;
    for (const fold of folds) {
      for (; row < fold.first; row++) this.positions[row] = this.rowAt.push(row) - 1;
      const position = this.rowAt.push(-1 - this.foldAt.length) - 1;
      this.foldAt.push(fold);
      if (fold.isOpen) this.layOutRows(fold.first, fold.last + 1, fold.inner);
      else this.positions.fill(position, fold.first, fold.last + 1);
      row = fold.last + 1;
    }
    for (; row < to; row++) this.positions[row] = this.rowAt.push(row) - 1;
  }

  /** Opens what hides a row. */
  unfold(row) {
    let [folds, isChanged] = [this.folds, false];
    for (;;) {
      const fold = folds.find(({ first, last }) => row >= first && row <= last);
      if (!fold) break;
      isChanged ||= !fold.isOpen;
      fold.isOpen = true;
      folds = fold.inner;
    }
    if (isChanged) this.layOut();
  }

  foldRow(position) {
    const fold = this.foldAt[-1 - this.rowAt[position]];
    const hits = [...this.isHit].filter((row) => row >= fold.first && row <= fold.last).length;
    const marks = firstAbove(this.marked, fold.last) - firstAbove(this.marked, fold.first - 1);
    const row = make("div", {
      className: "row fold", role: "option", id: `${this.element.id}-fold-${-1 - this.rowAt[position]}`,
      "aria-selected": "false", "aria-expanded": String(fold.isOpen),
      onclick: () => {
        fold.isOpen = !fold.isOpen;
        this.layOut();
      },
    }, make("span", { className: "gutter", textContent: fold.isOpen ? "▾" : "▸" }),
    `${"  ".repeat(fold.depth + 1)}${fold.label}${hits && !fold.isOpen ? `, ${counted(hits, "match").replace("matchs", "matches")}` : ""}${
      marks && !fold.isOpen ? `, ${marks.toLocaleString("en")} marked` : ""}`);
    row.style.top = `${position * ROW_HEIGHT}px`;
    return row;
  }

  // ---------------------------------------------------------------- marks

  /** Marks related rows (in order), those of callers among them, and the chosen one. */
  mark(related, callers, active) {
    this.related = related;
    this.isRelated = new Set(related);
    this.isCaller = new Set(callers);
    this.active = active;
    /** The related row that was gone to last. */
    this.cursor = active;
    this.told.textContent = related.length ? `${related.length.toLocaleString("en")} related` : "";
    this.before.disabled = this.behind.disabled = related.length === 0;
    this.draw(true);
  }

  /** Marks what matches a search. */
  markHits(rows, pattern) {
    this.isHit = new Set(rows);
    this.pattern = pattern;
    this.draw(true);
  }

  /** Scrolls as little as possible, and not at all when the row is in view. */
  reveal(row) {
    this.unfold(row);
    const height = this.rows.clientHeight;
    const top = this.position(row) * ROW_HEIGHT;
    const isIn = top >= this.rows.scrollTop && top + 2 * ROW_HEIGHT <= this.rows.scrollTop + height;
    if (!isIn) this.rows.scrollTop = Math.max(0, top - height / 3);
    this.draw(true);
  }

  /** Scrolls to what is related, unless some of it is in view. */
  revealRelated() {
    if (!this.related.length) return;
    const top = this.rows.scrollTop / ROW_HEIGHT;
    const bottom = top + this.rows.clientHeight / ROW_HEIGHT - 1;
    const isShown = (row) => this.position(row) >= top && this.position(row) < bottom && !this.isHidden(row);
    this.cursor = this.related.find(isShown) ?? this.related[0];
    this.reveal(this.cursor);
  }

  isHidden(row) {
    return this.rowAt !== null && this.rowAt[this.position(row)] !== row;
  }

  toRelated(by) {
    if (!this.related.length) return;
    this.cursor = by > 0
      ? this.related.find((row) => row > this.cursor) ?? this.related[0]
      : this.related.findLast((row) => row < this.cursor) ?? this.related.at(-1);
    this.reveal(this.cursor);
  }

  clicked(event) {
    const row = event.target.closest("[data-row]");
    if (row) this.pick(Number(row.dataset.row));
  }

  pick(row) {
    if (row < 0 || row >= this.count) return;
    this.choose(row);
    this.active = this.cursor = row;
    this.reveal(row);
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.rows.clientHeight / ROW_HEIGHT) - 2);
    const at = this.active < 0 ? Math.ceil(this.rows.scrollTop / ROW_HEIGHT) - 1 : this.position(this.active);
    const to = {
      ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page,
      Home: 0, End: this.length - 1,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.pick(this.rowNear(Math.min(Math.max(to, 0), this.length - 1), to < at ? -1 : 1));
    } else if (event.key === "n" || event.key === "p") {
      this.toRelated(event.key === "n" ? 1 : -1);
    }
  }

  /** The row at a position, or in some direction from the fold there. */
  rowNear(position, by) {
    if (!this.rowAt) return position;
    let at = position;
    while (this.rowAt[at] < 0) at += by;
    return this.rowAt[at] ?? this.active;
  }

  /** Puts the rows in view into the document. */
  draw(anew = false) {
    const isPrinted = "print" in document.documentElement.dataset;
    let first = Math.max(0, Math.floor(this.rows.scrollTop / ROW_HEIGHT) - MORE_ROWS);
    let last = first + Math.ceil(this.rows.clientHeight / ROW_HEIGHT) + 2 * MORE_ROWS;
    if (isPrinted) [first, last] = [0, MOST_PRINTED_ROWS];
    last = Math.min(this.length, last);
    if (!anew && first === this.first && last === this.last) return;
    [this.first, this.last] = [first, last];
    const rows = [];
    for (let at = first; at < last; at++) {
      const index = this.rowAt ? this.rowAt[at] : at;
      rows.push(index < 0 ? this.foldRow(at) : this.row(index));
    }
    this.space.replaceChildren(...rows);
    this.highlight(rows);
    if (this.active >= 0 && rows.some(({ id }) => id === this.rowId(this.active))) {
      this.rows.setAttribute("aria-activedescendant", this.rowId(this.active));
    } else {
      this.rows.removeAttribute("aria-activedescendant");
    }
  }

  /** Marks the matching text of rows, across the pieces that it is coloured in. */
  highlight(rows) {
    if (!CSS.highlights) return;
    const ranges = [];
    for (const row of this.pattern ? rows.filter((each) => each.classList.contains("hit")) : []) {
      const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
      const nodes = [];
      let text = "";
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        nodes.push([text.length, node]);
        text += node.data;
      }
      const spot = (at) => {
        const [start, node] = nodes.findLast(([from]) => from <= at);
        return [node, Math.min(at - start, node.length)];
      };
      for (const match of text.matchAll(new RegExp(this.pattern.source, `g${this.pattern.flags}`))) {
        const range = document.createRange();
        range.setStart(...spot(match.index));
        range.setEnd(...spot(match.index + match[0].length));
        ranges.push(range);
      }
    }
    CSS.highlights.set(`found-${this.element.id}`, new Highlight(...ranges));
  }

  rowId(index) {
    return `${this.element.id}-${index}`;
  }

  row(index) {
    const isChosen = index === this.active;
    const classes = ["row"];
    if (this.isRelated.has(index)) classes.push("related");
    if (this.isCaller.has(index)) classes.push("caller");
    if (this.isHit.has(index)) classes.push("hit");
    if (isChosen) classes.push("chosen");
    else if (index === this.cursor) classes.push("cursor");
    const row = make("div", {
      className: classes.join(" "), role: "option", id: this.rowId(index), "data-row": index,
      "aria-selected": String(isChosen || this.isRelated.has(index)),
      "aria-setsize": this.count, "aria-posinset": index + 1,
    });
    row.style.top = `${this.position(index) * ROW_HEIGHT}px`;
    this.render(row, index);
    return row;
  }

  /** Shows tabs: [{ name, count }], of which one is chosen. */
  showTabs(tabs, chosen, choose) {
    const buttons = tabs.map(({ name, title, count }, index) => make("button", {
      role: "tab", title: title || name, "aria-selected": String(index === chosen),
      "aria-controls": this.rows.id, tabIndex: index === chosen ? 0 : -1,
      onclick: () => choose(index),
    }, name, count ? make("span", { className: "badge", textContent: count }) : null));
    this.tabs.replaceChildren(...buttons);
    const shown = buttons[chosen];
    const isCut = shown.offsetLeft + shown.offsetWidth > this.tabs.offsetLeft + this.tabs.clientWidth;
    this.tabs.scrollLeft = isCut ? shown.offsetLeft - this.tabs.offsetLeft - 20 : 0;
    arrowsMoveAmong(this.tabs);
  }
}

/** The place of the first of some numbers, in order, that is larger than another one. */
function firstAbove(numbers, limit) {
  let [from, to] = [0, numbers.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (numbers[middle] > limit) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Arrow keys go from tab to tab. */
function arrowsMoveAmong(tabs) {
  tabs.onkeydown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const all = [...tabs.children];
    const next = (all.indexOf(document.activeElement) + by + all.length) % all.length;
    all[next].click();
    tabs.children[next].focus();
  };
}

// ------------------------------------------------------------------ words in colours

const PYTHON = new RegExp(
  [
    /(?<comment>#[^\n]*)/,
    /(?<string>\b[rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|"""[^]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/,
    /(?<keyword>\b(?:and|as|assert|break|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield)\b)/,
    /(?<number>\b\d[\w.]*)/,
  ].map((part) => part.source).join("|"),
  "g",
);

/** The lines of a Python file in coloured pieces. */
function pythonLines(text) {
  const lines = [[]];
  const add = (piece, style) => {
    piece.split("\n").forEach((part, index) => {
      if (index) lines.push([]);
      if (part) lines.at(-1).push(style ? [part, style] : part);
    });
  };
  let end = 0;
  for (const match of text.matchAll(PYTHON)) {
    const style = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    add(text.slice(end, match.index));
    add(match[0], style);
    end = match.index + match[0].length;
  }
  add(text.slice(end));
  return lines;
}

/** The operands of an instruction, with or without where they lie. */
function operandPieces(words, hasAddresses) {
  const pieces = [];
  let end = 0;
  for (const match of words.matchAll(/(?<==[^[\],]+)\[[^\]]*\]/g)) {
    pieces.push(words.slice(end, match.index));
    if (hasAddresses) pieces.push([match[0], "quiet"]);
    end = match.index + match[0].length;
  }
  return [...pieces, words.slice(end)];
}

const IR = /(?<value>%[\w.$-]+)|(?<string>"(?:\\.|[^"\\])*")|(?<keyword>\b(?:builtin|nki|nisa|ncc|scf|arith)\.\w+)|(?<type>[#@!][\w.]+|memref<[^>]*>)/g;

/** A line of IR in coloured pieces. */
function irPieces(text) {
  const pieces = [];
  let end = 0;
  for (const match of text.matchAll(IR)) {
    const style = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    pieces.push(text.slice(end, match.index), [match[0], style]);
    end = match.index + match[0].length;
  }
  return [...pieces, text.slice(end)];
}
