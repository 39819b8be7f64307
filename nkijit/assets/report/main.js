"use strict";

// Puts the page together: views, panes, the timeline, and what is selected in all of them.

const TIMELINE_SHARE = 0.38;
const WIDEST_MNEMONIC = 24;
/** From this width of the window on, the listing has addresses and shapes. */
const WIDE = 1700;

const byId = (id) => document.getElementById(id);

class Page {
  constructor(data) {
    this.data = data;
    this.model = new Model(data);
    const { model } = this;
    this.source = 0;
    this.queueTab = 0;
    this.item = -1;
    this.event = -1;
    this.recorded = data.values ? new Recorded(model) : null;
    this.related = { lines: new Map(), ops: new Set(), items: new Set() };
    this.coloured = model.sources.map((source) => source.lines && pythonLines(source.lines.join("\n")));
    this.showHead();
    this.makePanes();
    this.makeViews();
    this.makeTimeline();
    this.showSource(Math.max(0, model.mainSource()));
    this.revealKernel();
    this.showIr();
    this.showListing(0);
    this.inspector = new Inspector(this);
    this.inspector.show();
    this.makeSearch();
    this.makeKeys();
    document.addEventListener("keydown", (event) => this.pressed(event));
    this.preparePrinting();
    this.address = new Address(this);
    this.address.read();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.redraw();
      this.values?.redraw();
      this.inspector.show(this.inspector.run);
    });
  }

  // ---------------------------------------------------------------- head and views

  showHead() {
    const { profile, findings, missing, values } = this.data;
    byId("kernel").textContent = this.data.kernel;
    byId("target").textContent = this.data.target + (this.data.memory.length > 1 ? `, ${this.data.memory.length} cores` : "");
    const errors = findings.filter((finding) => finding.severity === "error").length;
    const warnings = findings.length - errors;
    const figures = [
      profile && ["time", timeText(profile.time)],
      profile && ["bound by", profile.bound],
      profile && profile.roofline.flops ? ["MFU", percent(profile.mfu)] : null,
      this.data.cores.length ? ["instructions",
        this.data.cores.reduce((sum, core) => sum + core.instructions, 0).toLocaleString("en")] : null,
      errors ? ["errors", errors, "error"] : null,
      warnings ? ["warnings", warnings, "warning"] : null,
      values?.not_finite ? ["wrote NaN, Inf", counted(values.not_finite, "instruction"), "error"] : null,
      values?.saturated ? ["saturated", counted(values.saturated, "instruction"), "warning"] : null,
    ];
    byId("figures").append(...figures.filter(Boolean).map(([name, value, style]) =>
      make("div", {}, make("dt", { textContent: name }),
        make("dd", { textContent: value, className: style || "" }))));
    byId("missing").textContent = missing;
    byId("missing").hidden = !missing;
  }

  makeViews() {
    const tabs = [...document.querySelectorAll(".views [role=tab]")];
    for (const tab of tabs) tab.addEventListener("click", () => this.showView(tab.id.slice(4)));
    arrowsMoveAmong(document.querySelector(".views"));
    const go = (source, line) => {
      this.showView("code");
      this.selectLine(source, line);
      this.sourcePane.rows.focus({ preventScroll: true });
    };
    const goOp = (op) => {
      this.showView("code");
      this.selectOp(op);
      this.irPane.reveal(this.data.ops.first[op]);
    };
    /** Views that are made when they are first seen. */
    this.later = {
      memory: () => { this.memory = new MemoryView(this.model, byId("view-memory"), goOp); },
      values: this.recorded && (() => {
        this.values = new ValuesView(this.recorded, byId("view-values"), goOp, () => this.address?.write());
      }),
      compare: this.data.other
        && (() => { this.compared = new CompareView(this.model, byId("view-compare"), go, (step) => this.showStep(step)); }),
    };
    if (this.data.profile) new ProfileView(this.model, byId("view-profile"), go);
    else byId("tab-profile").hidden = true;
    byId("tab-values").hidden = !this.recorded;
    byId("inspector").classList.toggle("recorded", this.recorded !== null);
    if (this.data.advice) new AdviceView(this.model, byId("view-advice"), go);
    else byId("tab-advice").hidden = true;
    byId("tab-compare").hidden = !this.data.other;
    new FindingsView(this.model, byId("view-findings"), this.coloured, go, (line) => goOp(this.model.opOfLine[line]));
    const badge = make("span", { className: "badge", textContent: this.data.findings.length });
    if (this.data.findings.length) byId("tab-findings").append(badge);
    const hasErrors = this.data.findings.some((finding) => finding.severity === "error");
    this.firstView = hasErrors ? "findings" : "code";
    this.showView(this.firstView);
  }

  /** Makes a view, or all of them, unless it is there. */
  makeLater(...names) {
    for (const name of names) {
      this.later[name]?.();
      delete this.later[name];
    }
  }

  showView(name) {
    this.view = name;
    for (const view of document.querySelectorAll(".view")) view.hidden = view.id !== `view-${name}`;
    for (const tab of document.querySelectorAll(".views [role=tab]")) {
      const isShown = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
    }
    tooltip.hide();
    this.makeLater(name);
    this.redraw();
    this.address?.write();
  }

  // ---------------------------------------------------------------- search and keys

  makeSearch() {
    const go = (scope, match) => {
      this.showView("code");
      if (scope === "source") this.selectLine(match.source, match.line);
      else if (scope === "listing") this.selectItem(match.item, -1, true);
      else {
        this.selectOp(this.model.opOfLine[match.line], match.line);
        this.irPane.reveal(match.line);
      }
    };
    this.search = new Search(this.model, go, (pattern, found) => {
      this.pattern = pattern;
      this.found = found;
      this.markHits();
    });
  }

  /** Marks what matches the search in what the panes show. */
  markHits() {
    if (!this.found) return;
    const { source, ir, listing } = this.found;
    this.sourcePane.markHits(source.filter((each) => each.source === this.source)
      .map(({ line }) => line - 1), this.pattern);
    this.irPane.markHits(ir.map(({ line }) => line), this.pattern);
    this.listingPane.markHits(listing.map(({ item }) => this.rowOfItem.get(item))
      .filter((row) => row !== undefined), this.pattern);
  }

  makeKeys() {
    const dialog = byId("keys");
    byId("keys-open").onclick = () => dialog.showModal();
    byId("help-keys").onclick = () => dialog.showModal();
    byId("keys-close").onclick = () => dialog.close();
    dialog.onclick = (event) => {
      if (event.target === dialog) dialog.close();
    };
  }

  // ---------------------------------------------------------------- what the address says

  /** The selection, the range and the view, by names that people can read. */
  state() {
    const { model, timeline } = this;
    const { range } = timeline || {};
    const state = { view: this.view === this.firstView ? undefined : this.view };
    if (this.item >= 0) {
      const iteration = this.event >= 0 ? model.iterationOf[this.event] : 0;
      state.instruction = model.itemName(this.item);
      if (iteration) state.iteration = iteration + 1;
    } else if (this.chosenLine) {
      state.line = `${model.sourceName(this.chosenLine[0])}:${this.chosenLine[1]}`;
    } else if (this.from === "ir" && this.related.ops.size) {
      state.ir = this.model.data.ops.first[[...this.related.ops][0]] + 1;
    }
    if (this.view === "values" && this.values?.step !== undefined) state.values = this.data.values.steps[this.values.step][1];
    if (range) state.range = `${Math.round(range.begin)}-${Math.round(range.end)}`;
    if (timeline && timeline.viewport.length < timeline.viewport.whole) {
      state.shown = `${Math.round(timeline.viewport.begin)}-${Math.round(timeline.viewport.end)}`;
    }
    return state;
  }

  /** Shows what an address says; what it says wrongly is passed over. */
  restore({ view, instruction, iteration, line, ir, range, shown, values }) {
    const { model, timeline } = this;
    const [, name, number] = /^(.*):(\d+)$/.exec(line || "") || [];
    const source = model.sources.findIndex((_, index) => model.sourceName(index) === name);
    const item = model.itemOfName(instruction || "");
    const row = Number(ir) - 1;
    const span = (text) => (text || "").match(/^(\d+)-(\d+)$/)?.slice(1).map(Number);
    if (item >= 0) this.selectItem(item, model.eventsOfItem[item][iteration - 1], true);
    else if (source >= 0 && number >= 1 && number <= model.sources[source].lines?.length) {
      this.selectLine(source, Number(number));
    } else if (row >= 0 && row < model.irLines.length) {
      this.selectOp(model.opOfLine[row], row);
      this.irPane.reveal(row);
    } else if (this.from && this.from !== "none") this.select({ ops: [], from: "none" });
    if (timeline) {
      timeline.setRange(...(span(range) || [0, 0]));
      // Last, for what is selected is moved into view.
      const [begin, end] = span(shown) || [0, 0];
      if (end > begin) timeline.viewport.set(begin, end);
    }
    const tab = byId(`tab-${view || this.firstView}`);
    if (tab && !tab.hidden) this.showView(view || this.firstView);
    const step = this.recorded?.rows.get(Number(values));
    if (view === "values" && values && step !== undefined) this.showStep(step);
  }

  redraw() {
    this.timeline?.chart.draw();
    this.memory?.redraw();
    if (this.view === "compare") this.compared?.shown();
  }

  // ---------------------------------------------------------------- panes

  makePanes() {
    const { model } = this;
    this.sourcePane = new Pane("source", "Source", (row) => this.selectLine(this.source, row + 1));
    this.irPane = new Pane("ir", "IR", (row) => this.selectOp(model.opOfLine[row], row));
    this.listingPane = new Pane("listing", "Listing", (row) => {
      const { item, loop } = this.listed[row];
      this.selectItem(item >= 0 ? item : loop);
    });
    this.listingPane.rows.addEventListener("click", (event) => {
      const wait = event.target.closest("[data-item]");
      if (!wait) return;
      event.stopPropagation();
      this.selectItem(Number(wait.dataset.item), -1, true);
    }, true);
    this.hasAddresses = window.innerWidth >= WIDE;
    const addresses = make("button", { id: "addresses", textContent: "[ ]",
      "aria-label": "Addresses and shapes of operands", title: "Show addresses and shapes of operands",
      "aria-pressed": String(this.hasAddresses), onclick: () => {
        this.hasAddresses = !this.hasAddresses;
        addresses.setAttribute("aria-pressed", String(this.hasAddresses));
        this.listingPane.draw(true);
      } });
    this.listingPane.told.before(addresses);
    this.panes = [
      ...(model.sources.length ? [this.sourcePane] : []), this.irPane,
      ...(this.data.cores.length ? [this.listingPane] : []),
    ];
    const show = (pane) => {
      byId("panes").dataset.shown = pane.element.id;
      for (const each of this.panes) {
        byId(`pane-${each.element.id}`).setAttribute("aria-pressed", String(each === pane));
      }
      if (pane.active >= 0) pane.reveal(pane.active);
      else pane.revealRelated();
    };
    byId("pane-choice").append(...this.panes.map((pane) => make("button", {
      id: `pane-${pane.element.id}`, textContent: pane.title, "aria-pressed": "false", onclick: () => show(pane),
    })));
    show(this.panes[0]);
    this.panes.forEach((pane, index) => {
      if (index) byId("panes").append(splitter(this.panes[index - 1].element, pane.element));
      byId("panes").append(pane.element);
    });
  }

  /** Scrolls to the first line that operations come from. */
  revealKernel() {
    const keys = [...this.model.chainsOfLine.keys()]
      .filter((key) => Math.floor(key / lineKey(1, 0)) === this.source);
    if (keys.length) this.sourcePane.reveal(Math.min(...keys) - lineKey(this.source, 0) - 1);
  }

  showSource(number) {
    if (!this.model.sources.length) return;
    this.source = number;
    const { lines, name } = this.model.sources[number];
    const shown = lines || [`${name} cannot be read here`];
    const columns = shown.reduce((most, line) => Math.max(most, line.length), 0);
    this.sourcePane.show(shown.length, columns, (row, index) => this.sourceRow(row, index));
    this.markSource(-1);
    this.markHits();
  }

  sourceRow(row, index) {
    const key = lineKey(this.source, index + 1);
    const share = this.model.shareOfLine.get(key);
    const hasOps = this.model.chainsOfLine.has(key);
    const found = this.model.findingsOfLine.get(key) || [];
    const severity = found.some((finding) => finding.severity === "error") ? "error" : "warning";
    row.append(...this.markCells(this.recorded?.ofPlace.get(key)), make("span", {
      className: `gutter${hasOps ? " has-ops" : ""}${found.length ? ` found ${severity}` : ""}`,
      textContent: index + 1,
      title: found.map((finding) => `${finding.severity}: ${finding.message}`).join("\n"),
    }));
    if (this.data.profile) {
      const heat = make("span", { className: "heat", textContent: share >= 0.0005 ? percent(share) : "",
        title: share ? `${percent(share)} of the critical path` : "" });
      heat.style.setProperty("--share", Math.min(1, (share || 0) * 2.5));
      row.append(heat);
    }
    const marked = found.flatMap((finding) => finding.marked).filter(([line]) => line === index + 1);
    const pieces = this.coloured[this.source]?.[index] || [];
    spans(row, marked.length ? markedPieces(pieces, marked.map(([, first, last]) => [first, last])) : pieces);
  }

  showIr() {
    const lines = this.model.irLines;
    const columns = lines.reduce((most, line) => Math.max(most, line.length), 0);
    this.irPane.show(lines.length, columns, (row, index) => {
      const op = this.model.opOfLine[index];
      const isFirst = op >= 0 && this.data.ops.first[op] === index;
      row.append(...this.markCells(isFirst && this.recorded?.runs.get(op)),
        make("span", { className: "gutter", textContent: index + 1 }));
      spans(row, irPieces(lines[index]));
    });
    const { iteration } = this.data.ops;
    this.irPane.marked = this.markedRows(this.data.ops.first, (_, op) => this.recorded.runs.get(op));
    this.fold(this.irPane, lines.length, (row) => iteration[this.model.opOfLine[row]] ?? -1);
  }

  /** Folds the iterations of loops, where there is much to fold. */
  fold(pane, count, iterationOf) {
    pane.showFolds(this.model.folds.of(count, iterationOf), count > FOLDED_FROM);
  }

  /** Tab 0 is all instructions in program order, the others are queues. */
  showListing(tab) {
    if (!this.data.cores.length) return;
    const { model } = this;
    this.queueTab = tab;
    if (tab === 0) {
      this.listed = [];
      model.items.forEach(({ number }, item) => {
        if (number >= 0) this.listed.push({ item, depth: 0 });
      });
    } else {
      this.listed = model.queues[tab - 1].rows;
    }
    let [columns, mnemonics] = [0, 0];
    for (const { item, depth } of this.listed) {
      if (item < 0) continue;
      const { number, mnemonic, words, waits } = model.items[item];
      const wait = waits.reduce((sum, { text }) => sum + text.length + 2, 0);
      const length = words.reduce((sum, word) => sum + this.data.strings[word].length + 2, 0);
      if (number >= 0) mnemonics = Math.max(mnemonics, mnemonic.length);
      columns = Math.max(columns, 2 * depth + mnemonic.length + length + wait + 50);
    }
    const longest = Math.max(...model.queues.map(({ name }) => name.length));
    this.listingPane.rows.style.setProperty("--queue", `${longest + 1}ch`);
    this.listingPane.rows.style.setProperty("--mnemonic", `${Math.min(mnemonics, WIDEST_MNEMONIC) + 1}ch`);
    this.listingPane.show(this.listed.length, columns, (row, index) =>
      this.listingRow(row, this.listed[index]), Math.max(0, ...this.data.cores.map((core) => core.instructions)));
    this.listingPane.marked = this.markedRows(this.listed.map((_, row) => row), (row) => {
      const { item } = this.listed[row];
      return item >= 0 && this.recorded.runsOfItem(model.items[item]);
    });
    this.fold(this.listingPane, this.listed.length, (row) => {
      const { item, loop } = this.listed[row];
      return this.data.ops.iteration[model.items[item < 0 ? loop : item].op];
    });
    this.rowOfItem = new Map();
    this.listed.forEach(({ item }, row) => {
      if (item >= 0) this.rowOfItem.set(item, row);
    });
    this.markListing();
    this.markHits();
  }

  listingRow(row, { item, loop, depth }) {
    const { model } = this;
    const indent = "  ".repeat(depth);
    row.append(...this.markCells(item >= 0 && this.recorded?.runsOfItem(model.items[item])));
    if (item < 0) {
      row.append(make("span", { className: "gutter" }), `${indent}}`, this.signalOf(loop));
      return;
    }
    const { number, mnemonic, waits, queue, op } = model.items[item];
    row.append(make("span", { className: "gutter", textContent: number < 0 ? "" : number }));
    if (this.queueTab === 0) {
      row.append(make("span", { className: "queue", textContent: model.queues[queue].name }));
    }
    row.append(indent);
    if (number < 0) {
      row.append(make("span", { className: "keyword", textContent: mnemonic }), " {", ...this.waitsOf(waits));
    } else {
      row.append(make("span", { className: "mnemonic", textContent: mnemonic }));
      spans(row, operandPieces(model.words(item), this.hasAddresses));
      row.append(...this.waitsOf(waits), this.signalOf(item));
    }
    const place = number < 0 ? undefined : model.places(op)[0];
    if (place) row.append(make("span", { className: "comment", textContent: `  ${model.placeText(place)}` }));
  }

  /** The rows, in order, whose runs (`runsOf(row, index)`) have a mark. */
  markedRows(rows, runsOf) {
    if (!this.recorded?.hasMarks) return [];
    return rows.filter((row, index) => {
      const runs = runsOf(row, index);
      return runs && this.recorded.markOf(runs);
    });
  }

  /** Where what instructions wrote is unusual, in front of a row. */
  markCells(steps) {
    return this.recorded?.hasMarks ? [this.recorded.cell(steps)] : [];
  }

  signalOf(item) {
    const { signal } = this.model.items[item];
    return make("span", { className: "signal", textContent: signal ? `  signal(${signal})` : "" });
  }

  waitsOf(waits) {
    if (!waits.length) return [];
    const cell = make("span", { className: "waits" }, "  after ");
    waits.forEach((wait, index) => {
      if (index) cell.append(", ");
      cell.append(make("span", { className: "wait", textContent: wait.text, "data-item": wait.item,
        title: `${wait.reason}: go to ${this.model.itemText(wait.item)}` }));
    });
    return [cell];
  }

  // ---------------------------------------------------------------- timeline

  makeTimeline() {
    if (!this.model.eventCount) return;
    byId("timeline").hidden = byId("divider").hidden = false;
    const ranged = (range) => {
      this.range.show(range);
      this.address?.write();
    };
    this.timeline = new Timeline(this.model, (event) =>
      this.selectItem(this.model.itemOfEvent[event], event), {
      canvas: byId("timeline-canvas"), legend: byId("legend"), ranged,
      moved: (text) => {
        byId("range").textContent = text;
        this.address?.write();
      },
    });
    const { timeline } = this;
    this.range = new RangeView(this.model, byId("statistics"), {
      go: (source, line) => this.selectLine(source, line),
      zoom: () => timeline.zoomToRange(), clear: () => timeline.clearRange(),
    });
    byId("zoom-range").onclick = () =>
      timeline.setRange(timeline.viewport.begin, timeline.viewport.end);
    timeline.moved();
    const wanted = timeline.height + 4;
    this.resize(Math.min(wanted, Math.max(140, window.innerHeight * TIMELINE_SHARE)));
    byId("zoom-in").onclick = () => timeline.viewport.zoom(ZOOM);
    byId("zoom-out").onclick = () => timeline.viewport.zoom(1 / ZOOM);
    byId("zoom-fit").onclick = () => timeline.viewport.fit();
    byId("zoom-selection").onclick = () => timeline.zoomToSelection();
    byId("colours").onchange = (event) => timeline.colourBy(event.target.value);
    byId("show-path").onchange = (event) => {
      timeline.pathOnly = event.target.checked;
      timeline.chart.draw();
    };
    this.makeDivider();
  }

  resize(height) {
    this.timelineHeight = Math.min(Math.max(60, height), window.innerHeight - 260);
    byId("tracks").style.height = `${this.timelineHeight}px`;
  }

  makeDivider() {
    const divider = byId("divider");
    divider.onpointerdown = (down) => {
      const start = this.timelineHeight - down.clientY;
      divider.setPointerCapture(down.pointerId);
      divider.onpointermove = (move) => this.resize(start + move.clientY);
      divider.onpointerup = () => {
        divider.onpointermove = null;
      };
    };
    divider.onkeydown = (event) => {
      const by = { ArrowUp: -20, ArrowDown: 20 }[event.key];
      if (by) this.resize(this.timelineHeight + by);
    };
  }

  // ---------------------------------------------------------------- selection

  selectLine(source, line) {
    const ops = this.model.opsOfSource(source, line);
    this.select({ lines: [[source, line]], ops, from: "source" });
    if (source !== this.source) this.showSource(source);
    this.markSource(line - 1);
    if (this.model.sources[source].lines) this.sourcePane.reveal(line - 1);
  }

  selectOp(op, row = op < 0 ? -1 : this.data.ops.first[op]) {
    this.select({ ops: op < 0 ? [] : [op], from: "ir" });
    this.irPane.mark(this.irRows, [], row);
  }

  /** Selects an instruction or a loop; `reveal` also scrolls the listing to it. */
  selectItem(item, event = this.nearestEvent(item), reveal = event !== undefined) {
    const { op, queue } = this.model.items[item];
    this.select({ ops: [op], from: "listing", item, event: event >= 0 ? event : this.nearestEvent(item) });
    // Loops stand in the listing of a queue only.
    if (!this.rowOfItem.has(item)) this.showListing(queue + 1);
    const row = this.rowOfItem.get(item) ?? -1;
    this.listingPane.mark(this.listingRows, [], row);
    if (reveal && row >= 0) this.listingPane.reveal(row);
  }

  /** The event of an item nearest to what the timeline shows. */
  nearestEvent(item) {
    const events = this.model.eventsOfItem[item];
    if (!events.length) return -1;
    const { begin, end } = this.timeline.viewport;
    return events.find((event) => this.data.events.begin[event] >= begin && this.data.events.begin[event] <= end)
      ?? events[0];
  }

  /** Makes operations, and all that comes from or leads to them, the selection. */
  select({ lines = null, ops, from, item = -1, event = -1 }) {
    const { model } = this;
    this.item = item;
    this.event = event;
    this.from = from;
    const items = ops.flatMap((op) => model.itemsOfOp.get(op) || []);
    this.related = { lines: new Map(), ops: new Set(ops), items: new Set(items) };
    for (const [source, line] of lines || []) this.related.lines.set(lineKey(source, line), 0);
    if (lines === null) {
      for (const op of ops) {
        model.places(op).forEach(([source, line], depth) => {
          const key = lineKey(source, line);
          if (!this.related.lines.has(key)) this.related.lines.set(key, depth);
        });
      }
    }
    this.chosenLine = lines ? lines[0] : null;
    this.showRelated(from, ops);
    const events = items.flatMap((other) => model.eventsOfItem[other]);
    this.timeline?.select(events, event);
    this.inspector.show();
    this.address?.write();
  }

  /** Marks what is related in all panes, and scrolls those in which nothing was chosen. */
  showRelated(from, ops) {
    if (from !== "source") {
      const place = ops.length ? this.model.places(ops[0])[0] : undefined;
      if (place && place[0] !== this.source) this.showSource(place[0]);
      this.markSource(-1);
      this.revealInnermost(place);
    }
    this.irRows = [...this.related.ops].map((op) => this.data.ops.first[op]).sort((a, b) => a - b);
    this.irPane.mark(this.irRows, [], -1);
    if (from !== "ir") this.irPane.revealRelated();
    if (!this.data.cores.length) return;
    const queues = new Set([...this.related.items].map((item) => this.model.items[item].queue));
    if (from !== "listing" && this.queueTab > 0 && queues.size && !queues.has(this.queueTab - 1)) {
      this.showListing(Math.min(...queues) + 1);
    }
    this.markListing();
    if (from !== "listing") this.listingPane.revealRelated();
  }

  revealInnermost(place) {
    if (place && this.model.sources[place[0]].lines) this.sourcePane.reveal(place[1] - 1);
  }

  markSource(chosen) {
    if (!this.model.sources.length) return;
    const rows = [];
    const callers = [];
    for (const [key, depth] of this.related.lines) {
      const line = key - lineKey(this.source, 0);
      if (line < 1 || line > this.sourcePane.count) continue;
      rows.push(line - 1);
      if (depth > 0) callers.push(line - 1);
    }
    rows.sort((a, b) => a - b);
    this.sourcePane.mark(rows, callers, chosen);
    const counts = this.model.sources.map((_, source) => [...this.related.lines.keys()]
      .filter((key) => Math.floor(key / lineKey(1, 0)) === source).length);
    const tabs = this.model.sources.map(({ name }, source) => ({
      name: name.replace(/^.*[/\\]/, ""), title: name,
      count: source !== this.source && counts[source] ? counts[source] : 0,
    }));
    this.sourcePane.showTabs(tabs, this.source, (number) => this.showSource(number));
  }

  markListing() {
    this.listingRows = [...this.related.items].map((item) => this.rowOfItem.get(item))
      .filter((row) => row !== undefined).sort((a, b) => a - b);
    this.listingPane.mark(this.listingRows, [], this.rowOfItem.get(this.item) ?? -1);
    const counts = new Map();
    for (const item of this.related.items) {
      const { queue } = this.model.items[item];
      counts.set(queue, (counts.get(queue) || 0) + 1);
    }
    const tabs = [{ name: "all" }, ...this.model.queues.map(({ name }, queue) =>
      ({ name, count: counts.get(queue) || 0 }))];
    this.listingPane.showTabs(tabs, this.queueTab, (tab) => this.showListing(tab));
  }

  // ---------------------------------------------------------------- the selection in words

  /** Shows the values of a step, with others beside it. */
  showStep(step, among) {
    this.showView("values");
    this.values.show(step, among || this.values.every);
  }

  // ---------------------------------------------------------------- keys and printing

  pressed(event) {
    const isSearch = (event.ctrlKey || event.metaKey) && (event.key === "k" || event.key === "f");
    // Pressed again, it is the browser's own.
    if (isSearch && !(this.search.isOpen && event.key === "f")) {
      event.preventDefault();
      this.search.open();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input, dialog")) return;
    if (event.key === "/") {
      event.preventDefault();
      this.search.open();
    }
    if (event.key === "F3") {
      event.preventDefault();
      this.search.step(event.shiftKey ? -1 : 1);
    }
    if (event.key === "?") byId("keys").showModal();
    if (event.key === "Escape") {
      if (this.search.isOpen) this.search.close();
      else if (this.timeline?.range) this.timeline.clearRange();
      else this.select({ ops: [], from: "none" });
    }
    if (event.key === "w" && this.item >= 0) {
      const cause = this.event >= 0 ? this.data.events.cause[this.event] : -1;
      const wait = this.model.items[this.item].waits[0];
      if (wait) this.selectItem(wait.item, -1, true);
      else if (cause >= 0) this.selectItem(this.model.itemOfEvent[cause], cause, true);
    }
  }

  preparePrinting() {
    const views = [...document.querySelectorAll(".view")];
    let hidden = [];
    const drawAll = () => {
      this.timeline?.chart.flush();
      for (const map of this.memory?.charts || []) map.chart.flush();
      for (const other of this.compared?.timelines || []) other.chart.flush();
      for (const pane of this.panes) pane.draw(true);
    };
    window.addEventListener("beforeprint", () => {
      hidden = views.map((view) => view.hidden);
      document.documentElement.dataset.print = "";
      this.makeLater(...Object.keys(this.later));
      for (const view of views) {
        const name = view.id.replace("view-", "");
        view.hidden = name === "help" || byId(`tab-${name}`).hidden;
      }
      drawAll();
    });
    window.addEventListener("afterprint", () => {
      delete document.documentElement.dataset.print;
      views.forEach((view, index) => {
        view.hidden = hidden[index];
      });
      drawAll();
    });
  }
}

/** What is dragged, or moved with the arrow keys, to change the widths of two panes. */
function splitter(left, right) {
  const element = make("div", { className: "splitter", role: "separator", tabIndex: 0,
    "aria-orientation": "vertical", "aria-label": "Width of the panes" });
  const move = (by) => {
    const widths = [left.offsetWidth + by, right.offsetWidth - by];
    if (Math.min(...widths) < 120) return;
    // All panes get their width in pixels as a weight, so that the others keep theirs.
    const panes = [...element.parentElement.querySelectorAll(".pane")];
    for (const [pane, width] of panes.map((each) => [each, each.offsetWidth])) {
      pane.style.flexGrow = width;
    }
    [left.style.flexGrow, right.style.flexGrow] = widths;
  };
  element.onpointerdown = (down) => {
    let x = down.clientX;
    element.setPointerCapture(down.pointerId);
    element.onpointermove = (event) => {
      move(event.clientX - x);
      x = event.clientX;
    };
    element.onpointerup = () => {
      element.onpointermove = null;
    };
  };
  element.onkeydown = (event) => {
    const by = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
    if (by) move(by);
  };
  return element;
}

let page;
readData().then((data) => {
  page = new Page(data);
  performance.mark("ready");
});
