"use strict";

// What belongs to the line, the operation or the bar that is chosen, in words, with what leads on.

const LONGEST_WORDS = 220;

class Inspector {
  /** Of a page, which knows what is chosen. */
  constructor(page) {
    this.page = page;
    this.data = page.data;
    this.model = page.model;
    this.recorded = page.recorded;
    /** The run that the reader has chosen among those of what is selected. */
    this.run = -1;
  }

  /** Shows what is chosen; of its runs a certain one, if it is asked for. */
  show(run = -1) {
    this.run = run;
    const root = byId("inspector");
    root.replaceChildren();
    if (this.page.item >= 0) root.append(...this.ofItem());
    else if (this.page.related.ops.size || this.page.related.lines.size) root.append(...this.ofOps());
    else {
      root.append(...this.help(), ...this.turns());
    }
  }

  /** How to read the page, while nothing is chosen: the lines of a selection are as many. */
  help() {
    const { eventCount } = this.model;
    const lines = eventCount ? [
      "Click a line, or a bar of the timeline, to see what belongs together.",
      "Bars with a red line below are on the critical path; figures beside the source are shares of it.",
    ] : ["Click a line to see what belongs together.", "Bold line numbers of the source have operations."];
    return [...lines, "Press / to search, ? for all keys."].map((textContent) =>
      make("p", { className: "quiet", textContent }));
  }

  itemButton(item, event = -1) {
    return placeButton(this.model.itemText(item), () => this.page.selectItem(item, event, true));
  }

  ofItem() {
    const { item, event } = this.page;
    const { model } = this;
    const { waits, op } = model.items[item];
    const words = model.words(item);
    const first = make("p", {}, make("strong", { textContent: model.itemText(item) }),
      ` ${words.length > LONGEST_WORDS ? `${words.slice(0, LONGEST_WORDS)}…` : words}`);
    const second = make("p", {});
    if (event >= 0) second.append(...this.ofEvent(event));
    const third = make("p", {}, ...this.placesOf(op), ...this.iterationOf(op));
    if (waits.length) {
      third.append(labelOf("waits for"));
      for (const wait of waits) {
        third.append(this.itemButton(wait.item), make("span", { className: "quiet",
          textContent: ` ${wait.text}, ${wait.reason} ` }));
      }
    }
    const waiters = model.waiters.get(item) || [];
    if (waiters.length) {
      third.append(labelOf("awaited by"));
      for (const [other] of waiters.slice(0, 4)) third.append(this.itemButton(other), " ");
      if (waiters.length > 4) third.append(`and ${waiters.length - 4} more`);
    }
    return [...this.valuesOf([op]), first, second, third];
  }

  ofEvent(event) {
    const { model } = this;
    const { begin, free, end, cause, stalled } = this.data.events;
    const reason = this.data.strings[this.data.events.reason[event]];
    const parts = [
      ...labelled("begins", timeText(begin[event])),
      ...labelled("takes", timeText(free[event] - begin[event])),
      ...labelled("result after", timeText(end[event] - begin[event])),
      ...labelled("begins after", reason),
    ];
    if (cause[event] >= 0) parts.push(this.itemButton(model.itemOfEvent[cause[event]], cause[event]));
    if (stalled[event]) parts.push(` its queue was idle for ${timeText(stalled[event])}`);
    const runs = model.eventsOfItem[model.itemOfEvent[event]];
    if (runs.length > 1) {
      const at = model.iterationOf[event];
      const to = (other) => () => this.page.selectItem(model.itemOfEvent[event], runs[other], true);
      parts.push(labelOf("iteration"), `${at + 1} of ${runs.length} `,
        make("button", { textContent: "‹", "aria-label": "Iteration before", disabled: at === 0, onclick: to(at - 1) }),
        make("button", { textContent: "›", "aria-label": "Next iteration", disabled: at + 1 === runs.length, onclick: to(at + 1) }));
    }
    if (model.isOnPath[event]) parts.push(" ", make("span", { className: "tag path", textContent: "critical path" }));
    return parts;
  }

  ofOps() {
    const { related } = this.page;
    const { model } = this;
    const [op] = related.ops;
    const name = this.page.chosenLine ? model.placeText(this.page.chosenLine)
      : related.ops.size ? model.irText(op) : "";
    const first = make("p", {}, make("strong", { textContent: name }));
    const second = make("p", {},
      ...labelled("operations", related.ops.size.toLocaleString("en")),
      ...(this.data.cores.length
        ? labelled("engine instructions", related.items.size.toLocaleString("en")) : []));
    if (this.data.profile && this.page.chosenLine) {
      const share = model.shareOfLine.get(lineKey(...this.page.chosenLine));
      if (share) second.append(...labelled("of the critical path", percent(share)));
    }
    second.append(...this.busyOf(related.items));
    const third = make("p", {}, ...(related.ops.size === 1 ? [...this.placesOf(op), ...this.iterationOf(op)] : []));
    return [...this.valuesOf([...related.ops]), first, second, third];
  }

  /** In which iteration an operation is, with what leads to the same one of others. */
  iterationOf(op) {
    const text = this.model.iterationText(op);
    if (!text) return [];
    const alike = this.model.alike(op);
    const at = alike.indexOf(op);
    const to = (other) => () => {
      const item = this.page.item < 0 ? -1 : this.model.items.findIndex((each) =>
        each.op === alike[other] && each.mnemonic === this.model.items[this.page.item].mnemonic);
      if (item >= 0) this.page.selectItem(item, -1, true);
      else {
        this.page.selectOp(alike[other]);
        this.page.irPane.reveal(this.data.ops.first[alike[other]]);
      }
    };
    return [labelOf("unrolled iteration"), `${text} `,
      make("button", { id: "iteration-before", textContent: "‹", "aria-label": "The same, one iteration before",
        disabled: at === 0, onclick: to(at - 1) }),
      make("button", { id: "iteration-behind", textContent: "›", "aria-label": "The same, one iteration later",
        disabled: at + 1 === alike.length, onclick: to(at + 1) }), " "];
  }

  /** What a run of operations wrote, with what leads to their other runs, and to all values. */
  valuesOf(ops) {
    const { recorded } = this;
    const steps = recorded ? recorded.stepsOf(ops) : [];
    if (!steps.length) return [];
    const step = this.runOf(steps);
    const at = steps.indexOf(step);
    const show = () => this.page.showStep(step, steps);
    const to = (by) => () => this.show(steps[at + by]);
    const mark = recorded.markOf(steps);
    const words = recorded.written(step).slice(0, 1).flatMap((operand) => [
      labelOf("wrote"), `${this.data.strings[this.data.values.operands[operand][0]]}  `,
      ...figuresOf(recorded.figures(operand)), " ",
    ]);
    const around = recorded.loops(step);
    const line = make("p", { id: "wrote" }, ...words,
      steps.length > 1 ? labelOf("run") : null, steps.length > 1 ? `${at + 1} of ${steps.length.toLocaleString("en")} ` : null,
      ...(steps.length > 1 ? [
        make("button", { id: "run-before", textContent: "‹", "aria-label": "Run before", disabled: at === 0, onclick: to(-1) }),
        make("button", { id: "run-behind", textContent: "›", "aria-label": "Next run", disabled: at + 1 === steps.length, onclick: to(1) }),
      ] : []), ` #${this.data.values.steps[step][1]}${around ? ` ${around}` : ""} `,
      make("button", { id: "show-values", onclick: show, textContent: `values (${counted(steps.length, "instruction")})` }),
      mark && steps.length > 1 ? make("span", { className: mark.style, textContent: ` ${mark.words}` }) : null);
    this.page.makeLater("values");
    const picture = this.page.values.picture(step);
    if (!picture) return [line];
    picture.classList.add("thumbnail");
    picture.onclick = show;
    return [picture, line];
  }

  /** The run that the timeline shows, if it has the same runs; else the foremost. */
  runOf(steps) {
    if (this.run >= 0) return this.run;
    const isSame = this.page.event >= 0 && this.model.eventsOfItem[this.page.item].length === steps.length;
    return isSame ? steps[this.model.iterationOf[this.page.event]] : this.recorded.foremost(steps);
  }

  /** What leads to where NaN and the like turned up first. */
  turns() {
    const turns = this.data.values?.turns || [];
    if (!turns.length) return [];
    return [make("p", { id: "turns" }, ...turns.flatMap(([kind, step]) => {
      const [op] = this.data.values.steps[step];
      const go = () => {
        this.page.selectOp(op);
        this.page.irPane.reveal(this.data.ops.first[op]);
        this.show(step);
      };
      return [labelOf(`first ${kind}`), placeButton(`${this.recorded.name(step)} ${this.recorded.place(op)}`, go), " "];
    }))];
  }

  /** How long instructions keep their queues busy. */
  busyOf(items) {
    const { model } = this;
    const sums = new Map();
    for (const item of items) {
      const name = model.queues[model.items[item].queue].name;
      for (const event of model.eventsOfItem[item]) {
        const time = this.data.events.free[event] - this.data.events.begin[event];
        sums.set(name, (sums.get(name) || 0) + time);
      }
    }
    return [...sums].flatMap(([name, time]) => labelled(name, timeText(time)));
  }

  placesOf(op) {
    const { model } = this;
    const places = model.places(op);
    if (!places.length) return [];
    const parts = [labelOf("source")];
    places.forEach((place, depth) => {
      if (depth) parts.push(make("span", { className: "quiet", textContent: " called from " }));
      parts.push(placeButton(model.placeText(place), () => this.page.selectLine(place[0], place[1])));
    });
    return [...parts, " "];
  }
}
