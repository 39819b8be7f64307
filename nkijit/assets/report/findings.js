"use strict";

// The findings, each with its place, its operands and what the rule says.

/** Pieces of a line in which columns, [first, last] from 1 on, are marked. */
function markedPieces(pieces, columns) {
  const found = [];
  let start = 1;
  for (const piece of pieces) {
    const [text, style] = typeof piece === "string" ? [piece, ""] : piece;
    const isMarked = (at) => columns.some(([first, last]) => at >= first && at <= last);
    for (let from = 0; from < text.length;) {
      let to = from + 1;
      while (to < text.length && isMarked(start + to) === isMarked(start + from)) to++;
      found.push([text.slice(from, to), `${style}${isMarked(start + from) ? " marked" : ""}`]);
      from = to;
    }
    start += text.length;
  }
  return found;
}

class FindingsView {
  /** `go(source, line)` shows a line of the source, `goIr(line)` one of the IR. */
  constructor(model, root, coloured, go, goIr) {
    this.model = model;
    this.coloured = coloured;
    this.go = go;
    this.goIr = goIr;
    const { findings } = model.data;
    root.append(make("h2", { textContent: "Findings" }));
    if (!findings.length) root.append(make("p", { textContent: "no findings" }));
    root.append(...findings.map((finding) => this.finding(finding)));
  }

  place(at) {
    return placeButton(`${this.model.placeText(at)}:${at[2]}`, () => this.go(at[0], at[1]));
  }

  finding(finding) {
    const notes = [
      ...finding.where.slice(1).map((at) => ["called from ", this.place(at)]),
      ...finding.related.map(([label, at]) => [`${label} at `, this.place(at)]),
      ...finding.operands.map(([text, at]) => (at ? [`${text}, allocated at `, this.place(at)] : [text])),
      ...finding.notes.map((note) => [note]),
    ];
    const at = finding.where[0];
    return make("article", { className: `finding ${finding.severity}` },
      make("h3", {}, make("span", { className: "severity", textContent: finding.severity }),
        ` ${finding.subject}: ${finding.message}`),
      at ? make("p", {}, this.place(at)) : null,
      at ? this.snippet(at, finding.marked) : null,
      finding.ir ? make("pre", { textContent: finding.ir }) : null,
      finding.line >= 0
        ? make("p", {}, placeButton(`IR line ${finding.line + 1}`, () => this.goIr(finding.line))) : null,
      notes.length ? make("ul", {}, ...notes.map((parts) => make("li", {}, ...parts))) : null,
      make("p", { className: "quiet", textContent: `help: ${finding.help}` }),
      make("details", { className: "explanation" },
        make("summary", {}, "explain ", make("code", { textContent: finding.rule })),
        make("dl", {}, ...Object.entries(this.model.data.rules[finding.rule]).filter(([, text]) => text)
          .flatMap(([name, text]) => [make("dt", { textContent: name }), make("dd", { textContent: text })])),
        make("p", { className: "quiet" }, make("code", { textContent: `nkijit explain ${finding.rule}` }),
          " says who has it")));
  }

  /** The lines of a statement from the call to the last piece that is marked, these underlined. */
  snippet([source, line], marked) {
    const coloured = this.coloured[source];
    if (!coloured?.[line - 1]) return null;
    const lines = new Set([line, ...marked.map(([number]) => number)]);
    const rows = [...lines].sort((a, b) => a - b).map((number) => {
      const row = make("div", {}, make("span", { className: "gutter", textContent: number }));
      spans(row, markedPieces(coloured[number - 1] || [],
        marked.filter(([on]) => on === number).map(([, first, last]) => [first, last])));
      return row;
    });
    return make("pre", { className: "snippet" }, ...rows);
  }
}
