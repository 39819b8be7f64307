"use strict";

// The data of the report with look-ups in all directions. Items (instructions and loops in queues)
// and queues of all cores are numbered through, so that one number says which one is meant.

/** The data of the page, which is packed with deflate: browsers unpack that themselves. */
async function readData() {
  const text = atob(document.getElementById("data").textContent);
  const packed = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) packed[at] = text.charCodeAt(at);
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return readColumns(JSON.parse(await new Response(unpacked).text()));
}

/**
 * A value with long lists where something stands in their place: `passes/report/columns.py` says
 * what. It is changed. Lists are looked into only where they have objects or lists in them.
 */
function readColumns(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    if (typeof value[0] === "object") value.forEach((each, at) => (value[at] = readColumns(each)));
    return value;
  }
  if (value["~whole"]) return summedUp(value["~whole"], 1);
  if (value["~tenths"]) return summedUp(value["~tenths"], 10);
  if (value["~rows"]) {
    const columns = value["~rows"].map(readColumns);
    return columns[0].map((_, row) => columns.map((column) => column[row]));
  }
  if (value["~lists"]) {
    const [lengths, all] = value["~lists"].map(readColumns);
    let at = 0;
    return lengths.map((length) => all.slice(at, (at += length)));
  }
  for (const key of Object.keys(value)) value[key] = readColumns(value[key]);
  return value;
}

/** A column from its differences. */
function summedUp(differences, over) {
  let sum = 0;
  return differences.map((difference) => (sum += difference) / over);
}

/** Adds a value to the list under a key. */
function push(map, key, value) {
  const found = map.get(key);
  if (found) found.push(value);
  else map.set(key, [value]);
}

/** One number for a line of a source file. */
const lineKey = (source, line) => source * 2 ** 24 + line;

class Model {
  constructor(data) {
    this.data = data;
    this.sources = this.data.sources.map((source) => ({
      name: source.name,
      lines: source.text === null ? null : source.text.replace(/\n$/, "").split("\n"),
    }));
    this.irLines = this.data.ir.replace(/\n$/, "").split("\n");
    this.folds = new Folds(data.iterations);
    this.relateSource();
    this.collectItems();
    this.collectEvents();
  }

  // ---------------------------------------------------------------- source and IR

  relateSource() {
    const { first, last, chain } = this.data.ops;
    this.opOfLine = new Int32Array(this.irLines.length).fill(-1);
    this.opsOfChain = this.data.chains.map(() => []);
    for (let op = 0; op < first.length; op++) {
      // Inner operations come behind the one that they are in, and take their lines from it.
      this.opOfLine.fill(op, first[op], last[op] + 1);
      if (chain[op] >= 0) this.opsOfChain[chain[op]].push(op);
    }
    this.chainsOfLine = new Map();
    this.data.chains.forEach((places, number) => {
      const keys = new Set(places.map(([source, line]) => lineKey(source, line)));
      for (const key of keys) push(this.chainsOfLine, key, number);
    });
    this.findingsOfLine = new Map();
    for (const finding of this.data.findings) {
      for (const [source, line] of finding.where.slice(0, 1)) {
        push(this.findingsOfLine, lineKey(source, line), finding);
      }
    }
    this.shareOfLine = new Map();
    for (const { place, share } of this.data.profile ? this.data.profile.lines : []) {
      if (!place || !share) continue;
      const key = lineKey(place[0], place[1]);
      this.shareOfLine.set(key, (this.shareOfLine.get(key) || 0) + share);
    }
  }

  /** The file that most operations come from; -1 when none is known. */
  mainSource() {
    const counts = this.sources.map(() => 0);
    this.data.chains.forEach((places, chain) => {
      counts[places[0][0]] += this.opsOfChain[chain].length;
    });
    return counts.indexOf(Math.max(...counts));
  }

  /** The operations that come from a line of source, also through the functions it calls. */
  opsOfSource(source, line) {
    const chains = this.chainsOfLine.get(lineKey(source, line)) || [];
    return chains.flatMap((chain) => this.opsOfChain[chain]);
  }

  /** Where an operation comes from, innermost call first. */
  places(op) {
    const chain = op < 0 ? -1 : this.data.ops.chain[op];
    return chain < 0 ? [] : this.data.chains[chain];
  }

  /** In which iterations of unrolled loops an operation is, the outermost first; empty for none. */
  iterationText(op) {
    const { iteration } = this.data.ops;
    const { number, count } = this.data.iterations;
    return (this.folds.paths[iteration[op]] || [])
      .map((each) => `${number[each] + 1} of ${count[each]}`).join(", ");
  }

  /** The same operation of other iterations: all that come from its place and do the same. */
  alike(op) {
    const chain = op < 0 ? -1 : this.data.ops.chain[op];
    const name = (other) => this.irText(other).replace(/^%\S+ = /, "").match(/(?:= )?([\w.]+)/)?.[1];
    return chain < 0 ? [] : this.opsOfChain[chain].filter((other) => name(other) === name(op));
  }

  placeText([source, line]) {
    return `${this.sources[source].name.replace(/^.*[/\\]/, "")}:${line}`;
  }

  irText(op) {
    return this.irLines[this.data.ops.first[op]].trim();
  }

  // ---------------------------------------------------------------- listing

  collectItems() {
    this.items = [];
    this.queues = [];
    this.itemsOfOp = new Map();
    this.waiters = new Map();
    this.firstItem = [];
    this.data.cores.forEach((core, coreIndex) => {
      const start = this.items.length;
      const startQueue = this.queues.length;
      this.firstItem.push(start);
      const columns = core.items;
      columns.op.forEach((op, index) => {
        const item = start + index;
        this.items.push({
          core: coreIndex,
          op,
          number: index < core.instructions ? index : -1,
          queue: startQueue + columns.queue[index],
          mnemonic: this.data.strings[columns.mnemonic[index]],
          words: columns.words[index],
          signal: columns.signal[index],
          loop: columns.loop[index],
          body: columns.body[index],
          bytes: columns.bytes[index],
          flops: columns.flops[index],
          waits: columns.waits[index].map(([other, text, carried, reason]) => ({
            item: start + other,
            text: this.data.strings[text],
            carried: carried === 1,
            reason: reason < 0 ? "an edge of the author" : this.data.strings[reason],
          })),
        });
        push(this.itemsOfOp, op, item);
        for (const wait of this.items[item].waits) push(this.waiters, wait.item, [item, wait]);
      });
      for (const queue of core.queues) this.queues.push(this.queue(queue, coreIndex, start));
    });
  }

  queue(queue, core, start) {
    const rows = [];
    let depth = 0;
    for (const index of queue.rows) {
      if (index < 0) {
        rows.push({ item: -1, loop: start - 1 - index, depth: --depth });
        continue;
      }
      const item = start + index;
      rows.push({ item, depth });
      if (this.items[item].number < 0) depth++;
    }
    const name = this.data.cores.length > 1 ? `core ${core} ${queue.name}` : queue.name;
    return { name, core, isRing: queue.is_ring, rows };
  }

  /** What an instruction works on, as the listing has it. */
  words(item) {
    return this.items[item].words.map((word) => this.data.strings[word]).join(", ");
  }

  /** A source by its file's name, or its path where several have that. */
  sourceName(source) {
    const short = (name) => name.replace(/^.*[/\\]/, "");
    const name = short(this.sources[source].name);
    return this.sources.filter((other) => short(other.name) === name).length > 1
      ? this.sources[source].name : name;
  }

  /** An item as an address has it: its number, with several cores `core.number`. */
  itemName(item) {
    const { core } = this.items[item];
    const number = item - this.firstItem[core];
    return this.data.cores.length > 1 ? `${core}.${number}` : `${number}`;
  }

  /** The item of a name; -1 when there is none. */
  itemOfName(name) {
    const match = /^(?:(\d+)\.)?(\d+)$/.exec(name);
    if (!match) return -1;
    const core = Number(match[1] || 0);
    const item = this.firstItem[core] + Number(match[2]);
    return this.items[item]?.core === core ? item : -1;
  }

  /** An item in a few words. */
  itemText(item) {
    const { number, mnemonic, queue } = this.items[item];
    const name = number < 0 ? mnemonic : `#${number} ${mnemonic}`;
    return `${name}, ${this.queues[queue].name}`;
  }

  // ---------------------------------------------------------------- time

  collectEvents() {
    const events = this.data.events;
    this.eventCount = events ? events.item.length : 0;
    this.eventsOfItem = this.items.map(() => []);
    this.itemOfEvent = new Int32Array(this.eventCount);
    /** In which run of its instruction an event is: 0, but in loops. */
    this.iterationOf = new Int32Array(this.eventCount);
    this.isOnPath = new Uint8Array(this.eventCount);
    this.duration = 0;
    for (let event = 0; event < this.eventCount; event++) {
      const item = this.firstItem[events.core[event]] + events.item[event];
      this.itemOfEvent[event] = item;
      this.iterationOf[event] = this.eventsOfItem[item].length;
      this.eventsOfItem[item].push(event);
      this.duration = Math.max(this.duration, events.end[event]);
    }
    for (const event of events ? events.path : []) this.isOnPath[event] = 1;
  }

  /** The event that ends an item for another one in the same block; -1 when there is none. */
  eventOf(item, iteration, before) {
    const { number, queue } = this.items[item];
    if (number >= 0) return this.eventsOfItem[item][iteration] ?? -1;
    // A loop has ended with its last instruction.
    let last = -1;
    for (const inner of this.inside(item, queue)) {
      for (const event of this.eventsOfItem[inner]) {
        const end = this.data.events.end[event];
        if (end <= before && (last < 0 || end > this.data.events.end[last])) last = event;
      }
    }
    return last;
  }

  /** The instructions of a loop in a queue. */
  inside(item, queue) {
    const rows = this.queues[queue].rows;
    const start = rows.findIndex((row) => row.item === item);
    const found = [];
    for (let row = start + 1; rows[row].depth > rows[start].depth; row++) {
      if (rows[row].item >= 0 && this.items[rows[row].item].number >= 0) found.push(rows[row].item);
    }
    return found;
  }

  /** Events that an event waited for by semaphores. */
  eventsBefore(event) {
    const iteration = this.iterationOf[event];
    const begin = this.data.events.begin[event];
    return this.items[this.itemOfEvent[event]].waits
      .map((wait) => this.eventOf(wait.item, iteration - (wait.carried ? 1 : 0), begin))
      .filter((other) => other >= 0);
  }

  /** Events that wait for an event by semaphores. */
  eventsBehind(event) {
    const iteration = this.iterationOf[event];
    return (this.waiters.get(this.itemOfEvent[event]) || [])
      .map(([item, wait]) => this.eventsOfItem[item][iteration + (wait.carried ? 1 : 0)] ?? -1)
      .filter((other) => other >= 0);
  }
}

/** A time with its unit and four digits. */
function timeText(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (Math.abs(ns) >= size * 0.99995) return `${Number((ns / size).toPrecision(4))} ${unit}`;
  }
  return `${Math.round(ns * 10) / 10} ns`;
}

function bytesText(count) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (count >= size) return `${Number((count / size).toPrecision(4))} ${unit}`;
  }
  return `${Math.round(count)} B`;
}

function flopsText(count) {
  for (const [unit, size] of [["P", 1e15], ["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (count >= size) return `${Number((count / size).toPrecision(3))} ${unit}flop`;
  }
  return `${Math.round(count)} flop`;
}

const percent = (share) => `${(100 * share).toFixed(1)}%`;

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
