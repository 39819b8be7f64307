"use strict";

// The memory map: what lies where in SBUF and PSUM, over time or over the instructions.

const LEAST_HEIGHT = 240;
const MOST_HEIGHT = 880;
const NAME_HEIGHT = 12;
const NAME_LETTER = 6.8;
/** The part of what is in use that has names in the map, if there is room for them. */
const NAMED = 0.8;
const MOST_IN_LEGEND = 12;
const BANK_HEIGHT = 24;
const QUADRANT = 32;
const MOST_TILES = 60;

class MemoryView {
  /** `choose(op)` is called when the reader chooses a tile, with its allocation. */
  constructor(model, root, choose) {
    this.model = model;
    this.data = model.data;
    this.choose = choose;
    this.root = root;
    this.byTime = model.eventCount > 0;
    this.charts = [];
    this.viewport = new Viewport(1, 1, () => this.redraw());
    root.append(this.controls());
    for (const memory of this.data.memory) {
      this.times = undefined;
      for (const space of memory.spaces) this.space(memory, space);
    }
    this.scale();
  }

  controls() {
    const axis = make("select", { onchange: () => {
      this.byTime = axis.value === "time";
      this.scale();
    } },
    make("option", { value: "time", textContent: "time", selected: this.byTime }),
    make("option", { value: "instruction", textContent: "instructions", selected: !this.byTime }));
    if (!this.model.eventCount) axis.firstChild.remove();
    const zoom = (factor) => () => this.viewport.zoom(factor);
    return make("div", { className: "bar" },
      make("h2", { textContent: "Memory on the chip" }),
      make("span", { className: "buttons" },
        make("button", { textContent: "+", "aria-label": "Zoom in", onclick: zoom(ZOOM) }),
        make("button", { textContent: "−", "aria-label": "Zoom out", onclick: zoom(1 / ZOOM) }),
        make("button", { textContent: "all", title: "Show everything",
          onclick: () => this.viewport.fit() })),
      make("label", {}, "over ", axis));
  }

  space(memory, space) {
    const name = this.data.memory.length > 1 ? `${space.name} of core ${memory.core}` : space.name;
    const share = space.capacity ? space.peak / space.capacity : 0;
    const section = make("section", { className: "space-map" },
      make("h3", { textContent: name }),
      make("p", { className: "quiet", textContent:
        !space.tiles.length ? `no tiles in its ${space.capacity.toLocaleString("en")} bytes per partition` :
        `${space.peak.toLocaleString("en")} of ${space.capacity.toLocaleString("en")} bytes per ` +
        `partition live at the peak (${percent(share)}); addresses up to ` +
        `${highestOf(space).toLocaleString("en")} used by ${counted(space.tiles.length, "tile")}` }));
    this.root.append(section);
    if (!space.tiles.length) return;
    section.append(explanationOf(space), this.legend(space));
    for (const panel of panelsOf(space)) this.panel(section, memory, space, panel);
    section.append(this.table(space));
  }

  /** The names that take the most. */
  legend(space) {
    const groups = new Map();
    for (const { name, bytes } of space.tiles.map(tileOf)) {
      const group = groups.get(name) || { name, bytes: 0, count: 0 };
      group.bytes = Math.max(group.bytes, bytes);
      group.count++;
      groups.set(name, group);
    }
    const largest = [...groups.values()].sort((a, b) => b.bytes * b.count - a.bytes * a.count);
    const more = largest.length - MOST_IN_LEGEND;
    return make("p", { className: "names" }, ...largest.slice(0, MOST_IN_LEGEND).map(({ name, bytes, count }) =>
      make("span", { title: `${counted(count, "tile")} of at most ${bytes.toLocaleString("en")} bytes` },
        swatchOf(this.look(name)), count > 1 ? `${name} ×${count.toLocaleString("en")}` : name)),
    more > 0 ? make("span", { className: "quiet", textContent: `and ${counted(more, "other name")}` }) : null);
  }

  panel(section, memory, space, { name, tiles }) {
    if (name) section.append(make("h4", { textContent: name }));
    const canvas = make("canvas", { role: "img", "aria-label":
      `Map of ${space.name}: addresses upwards, time to the right. The table below has the same.` });
    section.append(make("div", { className: "map" }, canvas));
    const map = { memory, space, tiles, canvas };
    map.spans = () => tiles.map((tile) => this.span(memory, tile));
    map.chart = new Chart(canvas, this.viewport, () => this.draw(map));
    map.chart.clicked = (x, y) => {
      const tile = this.tileAt(map, x, y);
      if (tile) this.choose(tile.op);
    };
    canvas.addEventListener("pointermove", (event) => {
      const tile = event.buttons ? null : this.tileAt(map, event.offsetX, event.offsetY);
      canvas.style.cursor = tile ? "pointer" : "grab";
      if (tile) tooltip.show(event, this.describe(tile));
      else tooltip.hide();
    });
    canvas.addEventListener("pointerleave", () => tooltip.hide());
    this.charts.push(map);
  }

  /** The tiles that take the most, as text. */
  table(space) {
    const largest = [...space.tiles].sort((a, b) => b[5] - a[5]).slice(0, MOST_TILES).map(tileOf);
    const rows = largest.map((tile) => [
      placeButton(tile.name, () => this.choose(tile.op)), tile.size,
      tile.bytes.toLocaleString("en"), tile.byte.toLocaleString("en"),
      `${tile.partition} to ${tile.partition + tile.partitions - 1}`,
      this.words(tile),
    ]);
    const more = space.tiles.length - largest.length;
    return make("details", { className: "tiles" },
      make("summary", { textContent: `tiles, the largest first${more ? ` (${MOST_TILES} of ${space.tiles.length})` : ""}` }),
      tableOf(["tile", "shape and type", "bytes", "at byte", "partitions", "allocated at"], rows, [2, 3]));
  }

  words(tile) {
    const place = this.model.places(tile.op)[0];
    return place ? this.model.placeText(place) : `IR line ${this.data.ops.first[tile.op] + 1}`;
  }

  describe(tile) {
    return [
      `${tile.name}: ${tile.size}`,
      `${tile.bytes.toLocaleString("en")} bytes from byte ${tile.byte.toLocaleString("en")} on, ` +
        `partitions ${tile.partition} to ${tile.partition + tile.partitions - 1}` +
        (tile.fixed ? ", fixed by the author" : ""),
      `in use from instruction ${tile.start} to ${tile.end} of the IR`,
      `allocated at ${this.words(tile)}`,
    ];
  }

  /** Chooses the axis anew. */
  scale() {
    const longest = Math.max(...this.data.memory.map((memory) => memory.positions.length), 1);
    this.viewport.least = this.byTime ? 20 : 4;
    this.viewport.reset(this.byTime ? this.model.duration * 1.01 : longest);
    for (const map of this.charts) map.known = map.spans();
    this.redraw();
  }

  /** From when to when a tile is in use, on the axis. */
  span(memory, tile) {
    if (!this.byTime) return [tile.start, tile.end + 1];
    const { begin, end } = this.data.events;
    // The table of a function is loaded long before anything is written.
    const loads = (item) => this.model.items[item].words.some((word) => this.data.strings[word].startsWith("table="));
    const eventsAt = (position) => (this.model.itemsOfOp.get(memory.positions[position]) || [])
      .filter((item) => !loads(item)).flatMap((item) => this.model.eventsOfItem[item]);
    const first = eventsAt(tile.start).map((event) => begin[event]);
    const last = eventsAt(tile.end).map((event) => end[event]);
    // A kernel ends with its return, which is no instruction.
    const from = first.reduce((a, b) => Math.min(a, b), Infinity);
    const to = last.reduce((a, b) => Math.max(a, b), -Infinity);
    return [Number.isFinite(from) ? from : 0, Number.isFinite(to) ? to : this.model.duration];
  }

  redraw() {
    for (const map of this.charts) map.chart.draw();
  }

  draw(map) {
    const { chart, space, tiles } = map;
    const highest = tiles.reduce((top, tile) => Math.max(top, tile.byte + tile.bytes), 0);
    // The capacity is shown unless little of it is used.
    map.top = space.bank || 4 * highest >= space.capacity
      ? Math.max(space.capacity, highest) : (highest * 9) / 8;
    map.height = space.bank ? BANK_HEIGHT * Math.ceil(map.top / space.bank) : heightOf(tiles, map.top);
    const context = chart.begin(map.height + AXIS + 2);
    context.fillStyle = chart.colour("panel");
    context.fillRect(0, 0, chart.width, chart.height);
    chart.axis(context, this.byTime ? tickText : (value) => value.toLocaleString("en"));
    this.addresses(context, map);
    chart.clip(context, AXIS, map.height);
    tiles.forEach((tile, index) => this.tile(context, map, tile, map.known[index]));
    context.restore();
  }

  y(map, byte) {
    return AXIS + map.height * (1 - byte / map.top);
  }

  addresses(context, map) {
    const { chart, space } = map;
    const step = space.bank || roundStep(map.top / 8);
    context.textAlign = "right";
    for (let byte = 0; byte < map.top; byte += step) {
      const y = Math.round(this.y(map, byte)) + 0.5;
      context.fillStyle = chart.colour("grid");
      context.fillRect(LEFT, y, chart.plot, 1);
      context.fillStyle = chart.colour("quiet");
      const text = space.bank ? `bank ${byte / step}` : byte.toLocaleString("en");
      context.fillText(text, LEFT - 8, space.bank ? y - BANK_HEIGHT / 2 : y - (byte ? 0 : 6));
    }
    context.textAlign = "left";
    if (space.capacity <= map.top) {
      context.fillStyle = chart.colour("error");
      const y = this.y(map, space.capacity);
      context.fillRect(LEFT, y, chart.plot, 2);
      if (!space.bank) context.fillText("capacity", LEFT + 6, y + (space.capacity === map.top ? 9 : -7));
    }
  }

  tile(context, map, tile, [from, to]) {
    const x = map.chart.x(from);
    const width = Math.max(map.chart.x(to) - x, 1);
    if (x + width < LEFT || x > map.chart.width) return;
    const y = this.y(map, tile.byte + tile.bytes);
    const height = Math.max(this.y(map, tile.byte) - y, 1);
    context.fillStyle = fillOf(context, this.look(tile.name));
    context.fillRect(x, y, width, height);
    if (width > 4 && height > 3) {
      context.strokeStyle = map.chart.colour("panel");
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    }
    const left = Math.max(x, LEFT) + 4;
    const text = tile.name;
    if (height >= NAME_HEIGHT && Math.min(x + width, map.chart.width) - left > text.length * NAME_LETTER) {
      context.fillStyle = "#111";
      context.fillText(text, left, y + height / 2);
    }
  }

  /** The look of a name: what takes the most bytes has one of its own. */
  look(name) {
    if (!this.looks) {
      const sizes = new Map();
      for (const tile of this.data.memory.flatMap(({ spaces }) => spaces).flatMap(({ tiles }) => tiles).map(tileOf)) {
        sizes.set(tile.name, (sizes.get(tile.name) || 0) + tile.bytes * tile.partitions);
      }
      this.looks = looksOf(sizes);
    }
    return this.looks.get(name);
  }

  tileAt(map, x, y) {
    const at = map.chart.value(x);
    const slack = map.chart.value(x + 1) - at;
    const byte = (1 - (y - AXIS) / map.height) * map.top;
    const isAt = (tile, [from, to]) => at >= from - slack && at <= to + slack &&
      byte >= tile.byte && byte < tile.byte + tile.bytes;
    return x < LEFT ? undefined : map.tiles.find((tile, index) => isAt(tile, map.known[index]));
  }
}

/** The byte behind the last one that a tile of a space has. */
function highestOf(space) {
  return space.tiles.map(tileOf).reduce((top, tile) => Math.max(top, tile.byte + tile.bytes), 0);
}

/** Why more addresses are used than bytes are live. */
function explanationOf(space) {
  return make("details", {}, make("summary", { textContent: "live bytes and used addresses" }),
    make("p", { className: "words", textContent: "Live are the tiles that hold something that is " +
      "still needed; the peak is the most of them at once, and only that has to fit. Addresses are " +
      "given to tiles so that those that are live at the same time do not overlap: tiles that are " +
      "not share them. More addresses than live bytes are used where free bytes lie in pieces that " +
      "are too small for the next tile, where tiles begin at multiples of their alignment" +
      (space.bank ? ", where a bank has one tile of a product," : "") +
      " and where the author gave addresses." }));
}

/** As high that most of what is in use can have its name. */
function heightOf(tiles, top) {
  const areas = tiles.map(({ bytes, start, end }) => [bytes, bytes * (end - start + 1)]).sort((a, b) => b[0] - a[0]);
  const all = areas.reduce((sum, [, area]) => sum + area, 0);
  let named = 0;
  const [least] = areas.find(([, area]) => (named += area) >= NAMED * all) || [top];
  const wanted = ((NAME_HEIGHT + 1) * top) / least;
  return Math.min(Math.max(wanted, LEAST_HEIGHT), MOST_HEIGHT);
}

/** A tile of the data with names. */
function tileOf([name, size, partition, partitions, byte, bytes, start, end, op, fixed]) {
  return { name, size, partition, partitions, byte, bytes, start, end, op, fixed };
}

/** One map for all partitions, or one for those that have the same tiles. */
function panelsOf(space) {
  const tiles = space.tiles.map(tileOf);
  if (tiles.every((tile) => tile.partition === 0)) return [{ name: "", tiles }];
  const behind = Math.max(...tiles.map((tile) => tile.partition + tile.partitions));
  const panels = [];
  for (let first = 0; first < behind; first += QUADRANT) {
    const inside = tiles.filter((tile) =>
      tile.partition < first + QUADRANT && first < tile.partition + tile.partitions);
    const last = panels.at(-1);
    const isSame = last && last.tiles.length === inside.length &&
      last.tiles.every((tile, index) => tile === inside[index]);
    if (isSame) last.behind = first + QUADRANT;
    else panels.push({ first, behind: first + QUADRANT, tiles: inside });
  }
  return panels.map(({ first, behind: end, tiles: inside }) =>
    ({ name: `partitions ${first} to ${end - 1}`, tiles: inside }));
}
