"use strict";

// Search in source, IR and listing, also in the rows that are not in the document, and go-to.

const MOST_SHOWN = 9;
const SCOPES = ["source", "ir", "listing"];
const SCOPE_NAMES = { source: "Source", ir: "IR", listing: "Listing" };

/** Texts that are searched: [{ scope, text, go() }], made when they are first asked for. */
class SearchIndex {
  constructor(model) {
    this.model = model;
  }

  get texts() {
    const { model } = this;
    this.made ||= {
      source: model.sources.flatMap(({ lines }, source) =>
        (lines || []).map((text, line) => ({ text, source, line: line + 1 }))),
      ir: model.irLines.map((text, line) => ({ text, line })),
      listing: model.items.flatMap(({ number, mnemonic, queue }, item) => (number < 0 ? [] : [{
        text: `${model.queues[queue].name} ${mnemonic} ${model.words(item)}`, item, number,
      }])),
    };
    return this.made;
  }

  /** All matches of a query by scope. */
  find(query) {
    const pattern = patternOf(query);
    const found = {};
    for (const scope of SCOPES) {
      found[scope] = pattern ? this.texts[scope].filter(({ text }) => pattern.test(text)) : [];
    }
    return { pattern, found, places: this.places(query) };
  }

  /** Where a number leads: `123`, `#123` (an instruction), `:123` or `file.py:123` (a line). */
  places(query) {
    const match = /^([#:]?)(\d+)$/.exec(query) || /^([^:]*\.\w+):(\d+)$/.exec(query);
    if (!match) return [];
    const number = Number(match[2]);
    const { source, ir, listing } = this.texts;
    const isFile = match[1].length > 1;
    const found = [];
    if (match[1] !== "#") {
      const lines = source.filter((each) => each.line === number &&
        (!isFile || this.model.placeText([each.source, number]) === query));
      found.push(...lines.map((each) => ["source", each]));
    }
    if (match[1] !== ":" && !isFile) {
      found.push(...listing.filter((each) => each.number === number).map((each) => ["listing", each]));
    }
    if (match[1] === "" && ir[number - 1]) found.push(["ir", ir[number - 1]]);
    return found;
  }
}

/** Small letters match large ones as well. */
function patternOf(query) {
  if (!query.trim()) return null;
  const text = query.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+");
  return new RegExp(text, /[A-Z]/.test(query) ? "" : "i");
}

class Search {
  /** `go(scope, match)` selects a match; `mark(pattern, found)` shows all of them in the panes. */
  constructor(model, go, mark) {
    this.model = model;
    this.index = new SearchIndex(model);
    this.go = go;
    this.mark = mark;
    this.query = "";
    this.scope = "all";
    this.at = -1;
    this.results = [];
    this.root = document.getElementById("search");
    this.input = document.getElementById("search-input");
    this.list = document.getElementById("search-results");
    this.told = document.getElementById("search-told");
    this.input.addEventListener("input", () => this.look());
    this.root.addEventListener("keydown", (event) => this.pressed(event));
    document.getElementById("search-next").onclick = () => this.step(1);
    document.getElementById("search-before").onclick = () => this.step(-1);
    document.getElementById("search-close").onclick = () => this.close();
    document.getElementById("search-open").onclick = () => this.open();
  }

  get isOpen() {
    return !this.root.hidden;
  }

  open() {
    this.root.hidden = false;
    this.input.focus();
    this.input.select();
    this.look();
  }

  /** Also takes the marks away. */
  close() {
    this.root.hidden = true;
    this.mark(null, { source: [], ir: [], listing: [] });
    this.query = "";
  }

  look() {
    if (this.input.value === this.query) return;
    this.query = this.input.value;
    const { pattern, found, places } = this.index.find(this.query.trim());
    this.found = found;
    this.places = places;
    this.mark(pattern, found);
    this.collect();
  }

  /** The results of the scope that is chosen. */
  collect() {
    const shown = this.scope === "all" ? SCOPES : [this.scope];
    this.results = [
      ...this.places.filter(([scope]) => shown.includes(scope)).map(([scope, match]) => ({ scope, match, isPlace: true })),
      ...shown.flatMap((scope) => this.found[scope].map((match) => ({ scope, match }))),
    ];
    this.at = -1;
    this.show();
  }

  step(by) {
    if (!this.results.length) return;
    const count = this.results.length;
    this.at = this.at < 0 ? (by > 0 ? 0 : count - 1) : (this.at + by + count) % count;
    this.show();
    const { scope, match } = this.results[this.at];
    this.go(scope, match);
  }

  pressed(event) {
    event.stopPropagation();
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && event.target === this.input) this.step(event.shiftKey ? -1 : 1);
    else if (event.key === "F3") this.step(event.shiftKey ? -1 : 1);
    else if (event.key === "ArrowDown") this.step(1);
    else if (event.key === "ArrowUp") this.step(-1);
    else return;
    event.preventDefault();
  }

  show() {
    const count = this.results.length;
    this.told.textContent = !this.query.trim() ? "" : !count ? "nothing found"
      : `${this.at < 0 ? "" : `${(this.at + 1).toLocaleString("en")} of `}${count.toLocaleString("en")}`;
    const scopes = document.getElementById("search-scopes");
    scopes.replaceChildren(...["all", ...SCOPES].map((scope) => make("button", {
      "aria-pressed": String(scope === this.scope),
      onclick: () => {
        this.scope = scope;
        this.collect();
        this.input.focus();
      },
    }, scope === "all" ? "All" : `${SCOPE_NAMES[scope]} ${this.found?.[scope].length.toLocaleString("en") ?? ""}`)));
    const first = Math.max(0, Math.min(this.at - 3, count - MOST_SHOWN));
    this.list.replaceChildren(...this.results.slice(first, first + MOST_SHOWN).map((result, index) =>
      this.row(result, first + index)));
  }

  row({ scope, match, isPlace }, number) {
    const where = scope === "source" ? this.model.placeText([match.source, match.line])
      : scope === "ir" ? `IR ${match.line + 1}` : `#${match.number}`;
    return make("div", {
      role: "option", className: `result${number === this.at ? " chosen" : ""}`,
      "aria-selected": String(number === this.at),
      onclick: () => {
        this.at = number;
        this.show();
        this.go(scope, match);
      },
    }, make("span", { className: "quiet where", textContent: `${isPlace ? "go to " : ""}${where}` }),
    match.text.trim().slice(0, 200));
  }
}
