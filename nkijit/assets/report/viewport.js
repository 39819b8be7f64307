"use strict";

// A section of an axis that can be zoomed and moved, and canvases that are drawn in it.

const LEFT = window.innerWidth < 700 ? 84 : 128;
const RIGHT = 12;
const ZOOM = 1.25;

class Viewport {
  constructor(whole, least, changed) {
    this.least = least;
    this.changed = changed;
    this.reset(whole);
  }

  /** Shows all of a new axis. */
  reset(whole) {
    this.whole = Math.max(whole, this.least);
    this.begin = 0;
    this.end = this.whole;
  }

  get length() {
    return this.end - this.begin;
  }

  set(begin, end) {
    const length = Math.min(Math.max(end - begin, this.least), this.whole);
    this.begin = Math.min(Math.max(begin, 0), this.whole - length);
    this.end = this.begin + length;
    this.changed();
  }

  /** Zooms so that one place stays where it is. */
  zoom(factor, at = (this.begin + this.end) / 2) {
    const length = Math.min(Math.max(this.length / factor, this.least), this.whole);
    const begin = at - ((at - this.begin) * length) / this.length;
    this.set(begin, begin + length);
  }

  move(by) {
    this.set(this.begin + by, this.end + by);
  }

  /** Moves so that a stretch is in view. */
  reveal(begin, end) {
    if (begin >= this.begin && end <= this.end) return;
    if (end >= this.begin && begin <= this.end && end - begin > this.length) return;
    const middle = (begin + end) / 2;
    this.set(middle - this.length / 2, middle + this.length / 2);
  }

  fit() {
    this.set(0, this.whole);
  }
}

/** A canvas as sharp as the screen, with an axis to the right. */
class Chart {
  constructor(canvas, viewport, draw) {
    this.canvas = canvas;
    this.viewport = viewport;
    this.drawNow = draw;
    this.isDue = false;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.grab(event));
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
  }

  /** Draws with the next frame. */
  draw() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => this.flush());
  }

  /** Draws now. */
  flush() {
    this.isDue = false;
    if (this.canvas.offsetParent !== null) this.drawNow();
  }

  get plot() {
    return this.width - LEFT - RIGHT;
  }

  x(value) {
    return LEFT + ((value - this.viewport.begin) / this.viewport.length) * this.plot;
  }

  value(x) {
    return this.viewport.begin + ((x - LEFT) / this.plot) * this.viewport.length;
  }

  /** An empty canvas of some height, and the colours of the page. */
  begin(height) {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.parentElement.clientWidth;
    this.height = height;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement);
    this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
    context.font = `11px ${style.getPropertyValue("--mono")}`;
    context.textBaseline = "middle";
    return context;
  }

  /** What is drawn next stays in the plot. */
  clip(context, top, height) {
    context.save();
    context.beginPath();
    context.rect(LEFT, top, this.plot + RIGHT, height);
    context.clip();
  }

  /** Ticks with words, and lines down to the bottom. */
  axis(context, text, top = 0) {
    const step = roundStep((this.viewport.length * 90) / Math.max(1, this.plot));
    context.textAlign = "center";
    for (let n = Math.ceil(this.viewport.begin / step); n * step <= this.viewport.end; n++) {
      const x = Math.round(this.x(n * step)) + 0.5;
      context.fillStyle = this.colour("grid");
      context.fillRect(x, top + 16, 1, this.height - top - 16);
      context.fillStyle = this.colour("quiet");
      if (x < this.width - 20) context.fillText(text(n * step, step), x, top + 9);
    }
    context.textAlign = "left";
  }

  wheel(event) {
    event.preventDefault();
    const amount = event.deltaY || event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.viewport.move((Math.sign(amount) * this.viewport.length) / 10);
    } else {
      this.viewport.zoom(amount < 0 ? ZOOM : 1 / ZOOM, this.value(event.offsetX));
    }
  }

  /** Dragging moves; a press that does not move is a click. */
  grab(event) {
    if (event.button !== 0) return;
    if (this.ranged && (event.shiftKey || event.offsetY < AXIS)) return this.drag(event);
    const box = this.canvas.parentElement;
    let [x, y, isDrag] = [event.clientX, event.clientY, false];
    const moved = (next) => {
      if (!isDrag && Math.hypot(next.clientX - x, next.clientY - y) < 4) return;
      isDrag = true;
      this.viewport.move(((x - next.clientX) / this.plot) * this.viewport.length);
      box.scrollTop += y - next.clientY;
      [x, y] = [next.clientX, next.clientY];
    };
    const released = (last) => {
      window.removeEventListener("pointermove", moved);
      window.removeEventListener("pointerup", released);
      if (!isDrag && last.target === this.canvas) this.clicked?.(last.offsetX, last.offsetY);
    };
    window.addEventListener("pointermove", moved);
    window.addEventListener("pointerup", released);
  }

  /** Dragging along the axis, or with Shift, selects a section of it. */
  drag(event) {
    const left = event.clientX - event.offsetX;
    const start = this.value(Math.max(event.offsetX, LEFT));
    let [x, isDrag] = [event.clientX, false];
    const moved = (next) => {
      isDrag ||= Math.abs(next.clientX - x) >= 4;
      if (isDrag) this.ranged(start, this.value(Math.min(Math.max(next.clientX - left, LEFT), this.width)));
    };
    const released = () => {
      window.removeEventListener("pointermove", moved);
      window.removeEventListener("pointerup", released);
    };
    window.addEventListener("pointermove", moved);
    window.addEventListener("pointerup", released);
  }
}

/** The next of 1, 2, 5, 10, 20, … from a number on. */
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least * 0.999);
}

/** A time on an axis with steps: as many digits as they need. */
function tickText(ns, step) {
  const [unit, size] = ns >= 1e6 && step >= 1e3 ? ["ms", 1e6] : ns >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  return `${(ns / size).toFixed(Math.min(digits, 6))} ${unit}`;
}

/** The text under the pointer. */
const tooltip = {
  element: document.getElementById("tooltip"),
  show(event, lines) {
    this.element.replaceChildren(...lines.filter(Boolean).map((line, index) =>
      make("div", { className: index ? "" : "strong", textContent: line })));
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - width - 6);
    const below = event.clientY + 18;
    const top = below + height > window.innerHeight ? event.clientY - height - 10 : below;
    this.element.style.left = `${Math.max(4, left)}px`;
    this.element.style.top = `${Math.max(4, top)}px`;
  },
  hide() {
    this.element.hidden = true;
  },
};
