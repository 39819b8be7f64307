"use strict";

// What would make the kernel faster, as `nkijit advise` says it: the largest gain first.

const OF_NUMBERS = {
  same: "results stay the same", rounding: "results are rounded otherwise", change: "results change",
  estimate: "an estimate: the kernel has to be written otherwise",
};

class AdviceView {
  /** `go(source, line)` shows a line of the source. */
  constructor(model, root, go) {
    const { suggestions, tried, left_out: leftOut, time } = model.data.advice;
    root.append(make("h2", { textContent: "Advice" }),
      make("p", { className: "quiet", textContent: `${counted(suggestions.length, "change")} of ${tried} tried ` +
        `gain at least 2% of ${timeText(time)}; predicted, not measured. Each was tried by itself, so gains do not add up.` +
        (leftOut ? ` ${leftOut} that could gain less were not tried.` : "") }));
    for (const { place, message, reasons, numbers, before, after, by_compiler: byCompiler, kind } of suggestions) {
      const gain = (before - after) / before;
      const notes = [...reasons, OF_NUMBERS[numbers], byCompiler ? "the compiler does this itself" : ""].filter(Boolean);
      root.append(make("article", { className: "finding suggestion" },
        make("h3", {}, make("span", { className: "gain", textContent: `−${percent(gain)}` }), ` ${message} `,
          make("code", { textContent: kind })),
        make("p", {}, place ? placeButton(model.placeText(place), () => go(place[0], place[1])) : null,
          make("span", { className: "words", textContent: ` ${timeText(before)} → ${timeText(after)}` })),
        barOf([[after / before, "idle"], [gain, "busy"]], `${percent(gain)} of the time`),
        make("ul", {}, ...notes.map((note) => make("li", { textContent: note })))));
    }
  }
}
