"use strict";

// The findings, each with its place, its operands and what the rule says.

class FindingsView {
  /** `go(source, line)` shows a line of the source, `goIr(line)` one of the IR. */
  constructor(model, root, go, goIr) {
    root.append(make("h2", { textContent: "Findings" }));
    if (!model.data.findings.length) root.append(make("p", { textContent: "no findings" }));
    const place = (at) => placeButton(`${model.placeText(at)}:${at[2]}`, () => go(at[0], at[1]));
    for (const finding of model.data.findings) {
      const notes = [
        ...finding.where.slice(1).map((at) => ["called from ", place(at)]),
        ...finding.related.map(([label, at]) => [`${label} at `, place(at)]),
        ...finding.operands.map(([text, at]) => (at ? [`${text}, allocated at `, place(at)] : [text])),
        ...finding.notes.map((note) => [note]),
      ];
      const at = finding.where[0];
      const source = at && model.sources[at[0]].lines?.[at[1] - 1];
      root.append(make("article", { className: `finding ${finding.severity}` },
        make("h3", {}, make("span", { className: "severity", textContent: finding.severity }),
          ` ${finding.subject}: ${finding.message} `,
          make("code", { textContent: finding.rule })),
        at ? make("p", {}, place(at)) : null,
        source ? make("pre", {}, `${source}\n${" ".repeat(Math.max(0, at[2] - 1))}^`) : null,
        finding.ir ? make("pre", { textContent: finding.ir }) : null,
        finding.line >= 0
          ? make("p", {}, placeButton(`IR line ${finding.line + 1}`, () => goIr(finding.line))) : null,
        notes.length ? make("ul", {}, ...notes.map((parts) => make("li", {}, ...parts))) : null,
        make("p", { className: "quiet", textContent: `help: ${finding.help}` })));
    }
  }
}
