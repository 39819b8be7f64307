"use strict";

// What is shown and selected, as the fragment of the page's address: it can be sent to somebody.

const AGAIN = 700;

class Address {
  /** The page is asked for its `state()` and told to `restore(state)`. */
  constructor(page) {
    this.page = page;
    this.last = 0;
    this.isHeld = false;
    window.addEventListener("hashchange", () => this.read());
  }

  /** Writes the state; changes that follow each other quickly are one step back. */
  write() {
    if (this.isHeld) return;
    const text = `#${textOfState(this.page.state())}`;
    if (text === (location.hash || "#")) return;
    const isSoon = performance.now() - this.last < AGAIN;
    this.last = performance.now();
    try {
      history[isSoon ? "replaceState" : "pushState"](null, "", text === "#" ? location.pathname + location.search : text);
    } catch {
      // A page inside of another one may have no address of its own.
    }
  }

  read() {
    this.isHeld = true;
    try {
      this.page.restore(stateOfText(location.hash.slice(1)));
    } finally {
      this.isHeld = false;
    }
  }
}

/** `view=…&line=file.py:12&range=100-2000`; readable, as people see it. */
function textOfState(state) {
  return Object.entries(state).filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replace(/%3A/g, ":").replace(/%2F/g, "/")}`)
    .join("&");
}

function stateOfText(text) {
  try {
    return Object.fromEntries(text.split("&").filter(Boolean).map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [part, ""] : [part.slice(0, at), decodeURIComponent(part.slice(at + 1))];
    }));
  } catch {
    return {};  // no address that this page has written
  }
}
