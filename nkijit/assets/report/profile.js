"use strict";

// The profile and the findings: tables, bars, and places that lead to the code.

/** A button that looks like a link. */
function placeButton(text, onclick) {
  return make("button", { className: "link", textContent: text, onclick });
}

/** A table; the columns of `numbers` are aligned to the right. */
function tableOf(heads, rows, numbers = []) {
  const cell = (tag, content, index) => make(tag, {
    className: numbers.includes(index) ? "number" : "", ...(tag === "th" ? { scope: "col" } : {}),
  }, content);
  return make("div", { className: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map((head, index) => cell("th", head, index)))),
    make("tbody", {}, ...rows.map((row) =>
      make("tr", {}, ...row.map((content, index) => cell("td", content, index)))))));
}

/** A bar of shares: [[share, class]]; what is told of it stands beside it. */
function barOf(shares, label) {
  const bar = make("div", { className: "shares", role: "img", "aria-label": label, title: label });
  for (const [share, style] of shares) {
    const part = make("span", { className: style });
    part.style.width = `${Math.max(0, 100 * share)}%`;
    bar.append(part);
  }
  return bar;
}

class ProfileView {
  /** `go(source, line)` shows a line of the source. */
  constructor(model, root, go) {
    this.model = model;
    this.go = go;
    this.profile = model.data.profile;
    root.append(this.cards());
    const left = make("div", {}, this.queues(), this.traffic(), this.notes());
    const right = make("div", {}, this.roofline());
    root.append(make("div", { className: "columns" }, left, right), this.path(), this.stalls());
  }

  place(place) {
    if (!place) return "";
    return placeButton(this.model.placeText(place), () => this.go(place[0], place[1]));
  }

  cards() {
    const { profile } = this;
    const roof = profile.roofline;
    const card = (name, value, note) => make("div", { className: "card" },
      make("dt", { textContent: name }), make("dd", { textContent: value }),
      make("dd", { className: "quiet", textContent: note }));
    const [busiest, share] = profile.shares[0] || ["", 0];
    return make("dl", { className: "cards" },
      card("time", timeText(profile.time),
        `predicted, not measured; starting a kernel takes about ${timeText(profile.launch)} more`),
      card("bound by", profile.bound, busiest ? `${busiest} is busy for ${percent(share)}` : ""),
      roof.flops ? card("MFU", percent(profile.mfu),
        `${percent(profile.mfu_active)} while the Tensor Engine is busy`) : null,
      card("DMA", percent(profile.dma_utilization), "of what the DMA engines could move"),
      ...profile.memory.map((use) => card(
        profile.memory.length > 1 ? `SBUF and PSUM, core ${use.core}` : "SBUF and PSUM",
        `${percent(use.sbuf / use.sbuf_capacity)}, ${percent(use.psum / use.psum_capacity)}`,
        "in use at the peak")));
  }

  queues() {
    const { profile } = this;
    const several = profile.memory.length > 1;
    const part = (time) => (profile.time ? time / profile.time : 0);
    const rows = profile.queues.map((use) => {
      const shares = [part(use.busy), part(use.waiting), part(use.idle)];
      const label = `busy ${percent(shares[0])}, waits ${percent(shares[1])}, idle ${percent(shares[2])}`;
      const waits = use.waits.filter((wait) => wait.time >= 0.5).slice(0, 2)
        .map((wait) => `${wait.reason} ${timeText(wait.time)}`).join(", ");
      return [several ? `${use.queue} (core ${use.core})` : use.queue,
        use.instructions.toLocaleString("en"), percent(shares[0]), percent(shares[1]),
        barOf([[shares[0], "busy"], [shares[1], "waiting"], [shares[2], "idle"]], label), waits];
    });
    const legend = make("p", { className: "quiet legend" }, make("span", { className: "swatch busy" }),
      " busy ", make("span", { className: "swatch waiting" }), " waits ",
      make("span", { className: "swatch idle" }), " idle behind its last instruction");
    return make("section", {}, make("h2", { textContent: "Queues" }),
      tableOf(["queue", "instructions", "busy", "waits", "", "waits for"], rows, [1, 2, 3]), legend);
  }

  traffic() {
    if (!this.profile.moved.length) return null;
    const rows = this.profile.moved.map((moved) => [
      moved.direction, moved.transfers.toLocaleString("en"), bytesText(moved.bytes),
      moved.descriptors ? bytesText(moved.bytes / moved.descriptors) : "",
      `${moved.bytes_per_ns.toFixed(1)} GB/s`,
    ]);
    return make("section", {}, make("h2", { textContent: "DMA" }),
      tableOf(["direction", "transfers", "bytes", "descriptor", "rate"], rows, [1, 2, 3, 4]));
  }

  notes() {
    const { loops } = this.profile;
    if (!loops.length) return null;
    return make("section", {}, make("h2", { textContent: "Assumed" }),
      make("ul", {}, ...loops.map((text) => make("li", { textContent: text }))));
  }

  path() {
    const lines = this.profile.lines.filter((line) => line.share > 0);
    const rows = lines.map((line) => [
      this.place(line.place), line.queue, line.mnemonics.slice(0, 3).join(", "),
      line.instructions.toLocaleString("en"), timeText(line.path), percent(line.share),
      barOf([[line.share, "path"]], percent(line.share)), line.reason,
    ]);
    return make("section", {}, make("h2", { textContent: "Critical path, by source line" }),
      tableOf(["line", "queue", "instruction", "count", "time", "share", "", "begins after"],
        rows, [3, 4, 5]),
      explained(lines.map(({ reason }) => reason)));
  }

  stalls() {
    const rows = this.profile.stalls.slice(0, 25).map((stall) => [
      this.place(stall.place), stall.queue, stall.before || stall.reason,
      this.place(stall.before_place),
      [stall.tile === null ? "" : `%${stall.tile}`, stall.kind ? `(${stall.kind})` : ""].join(" "),
      stall.count.toLocaleString("en"), timeText(stall.time),
    ]);
    if (!rows.length) return make("span");
    return make("section", {}, make("h2", { textContent: "Engines wait the longest" }),
      tableOf(["line", "queue", "waits for", "at", "because of", "times", "time"], rows, [5, 6]),
      explained(this.profile.stalls.flatMap(({ kind, before, reason }) => [kind, before ? null : reason])));
  }

  // ---------------------------------------------------------------- roofline

  roofline() {
    const roof = this.profile.roofline;
    if (!roof.flops) return make("span");
    const tera = (value) => `${Number((value / 1e12).toPrecision(3))} TFLOPS`;
    const words = `${tera(roof.achieved)} of ${tera(roof.peak)}, ` +
      `${roof.intensity.toFixed(1)} flops for each byte of HBM: ${roof.bound}-bound, ` +
      `at most ${tera(roof.attainable)}`;
    const bounded = Number.isFinite(roof.intensity) && roof.intensity > 0 && roof.peak > 0;
    return make("section", { className: "roof" }, make("h2", { textContent: "Roofline" }),
      bounded ? this.roofPicture(roof, words) : null, make("p", { textContent: words }));
  }

  /** Flops per second over flops per byte, both logarithmic. */
  roofPicture(roof, words) {
    const [width, height, left, bottom] = [420, 240, 88, 30];
    const bandwidth = this.profile.hbm_bandwidth;
    const ridge = roof.peak / bandwidth;
    const [x0, x1] = [Math.min(ridge, roof.intensity) / 20, Math.max(ridge, roof.intensity) * 20];
    const y1 = roof.peak * 3;
    const y0 = Math.min(bandwidth * x0, roof.achieved / 3);
    const x = (value) => left + (Math.log(value / x0) / Math.log(x1 / x0)) * (width - left - 10);
    const y = (value) => (height - bottom) * (1 - Math.log(value / y0) / Math.log(y1 / y0));
    const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
    const text = (at, from, content, anchor) => {
      const found = svgElement("text", { x: at, y: from, "text-anchor": anchor });
      found.textContent = content;
      svg.append(found);
    };
    for (let power = Math.ceil(Math.log10(y0)); 10 ** power < y1; power++) {
      svg.append(svgElement("line", { x1: left, x2: width, y1: y(10 ** power), y2: y(10 ** power), class: "grid" }));
      text(left - 6, y(10 ** power) + 4, powerText(10 ** power), "end");
    }
    for (let power = Math.ceil(Math.log10(x0)); 10 ** power < x1; power++) {
      if (x(10 ** power) < left + 8 || x(10 ** power) > width - 20) continue;
      text(x(10 ** power), height - bottom + 16, Number((10 ** power).toPrecision(1)), "middle");
    }
    const points = [[x0, bandwidth * x0], [ridge, roof.peak], [x1, roof.peak]];
    svg.append(svgElement("polyline", { class: "roofline",
      points: points.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }));
    const at = x(roof.intensity);
    svg.append(svgElement("line", { x1: at, x2: at, y1: y(roof.attainable), y2: y(roof.achieved), class: "gap" }));
    svg.append(svgElement("circle", { cx: at, cy: y(roof.achieved), r: 5, class: "dot" }));
    text(at + 9, y(roof.achieved) + 4, "this kernel", "start");
    text(width - 4, y(roof.peak) - 6, "peak", "end");
    text((width + left) / 2, height - 2, "flops for each byte of HBM", "middle");
    return svg;
  }
}

/** Flops per second of an axis. */
function powerText(value) {
  const [unit, size] = value >= 1e12 ? ["T", 1e12] : value >= 1e9 ? ["G", 1e9] : ["M", 1e6];
  return `${Number((value / size).toPrecision(2))} ${unit}FLOPS`;
}

function svgElement(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const TERMS = {
  true: "the tile is read after the write that it needs",
  anti: "the tile is written after its last read",
  output: "the tile is written after the write before it",
  semaphore: "another queue has to finish first, and signals it with a semaphore",
  dispatch: "a transfer begins some time after its trigger has ended",
  queue: "the instruction before it in the same queue has to start first",
  result: "an earlier instruction of the same queue has to finish first",
  dma: "another transfer uses the same DMA engines",
  port: "another engine uses the memory port that both share",
  meeting: "the cores wait for each other",
  weights: "the stationary tile has to be loaded first",
};

/** What the words of a table mean, for those that occur in it. */
function explained(words) {
  const found = Object.keys(TERMS).filter((term) => words.includes(term));
  return make("p", { className: "quiet terms", textContent: found.map((term) => `${term}: ${TERMS[term]}`).join(" · ") });
}
