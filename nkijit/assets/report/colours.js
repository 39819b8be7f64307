"use strict";

// Colours of kinds of things: Paul Tol's light scheme, which colour-blind eyes tell apart, and
// behind its last colour the same ones with textures.

const PALETTE = document.documentElement.dataset.palette.split(" ");
const TEXTURES = ["plain", "stripes", "dots"];
/** How many kinds have a look of their own. */
const MOST_LOOKS = PALETTE.length * TEXTURES.length;
/** What has none. */
const OTHER = -1;
const OTHER_COLOUR = "#B8BEC5";
const TILE = 6;

const looks = new Map();

/** The fill of a look, a number; of OTHER one that stands for the rest. */
function fillOf(context, look) {
  if (look === OTHER) return OTHER_COLOUR;
  const [colour, texture] = [PALETTE[look % PALETTE.length], Math.floor(look / PALETTE.length)];
  if (texture === 0) return colour;
  if (!looks.has(look)) looks.set(look, context.createPattern(textured(colour, TEXTURES[texture]), "repeat"));
  return looks.get(look);
}

/** A small picture that repeats itself. */
function textured(colour, texture) {
  const canvas = make("canvas", { width: TILE, height: TILE });
  const context = canvas.getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, TILE, TILE);
  context.fillStyle = context.strokeStyle = "rgb(0 0 0 / 55%)";
  if (texture === "dots") context.fillRect(1, 1, 2, 2);
  else {
    context.lineWidth = 1;
    for (const shift of [-TILE, 0, TILE]) {
      context.beginPath();
      context.moveTo(shift - 1, TILE + 1);
      context.lineTo(shift + TILE + 1, -1);
      context.stroke();
    }
  }
  return canvas;
}

/** The look of each name: what there is most of comes first. */
function looksOf(counts) {
  const found = new Map();
  [...counts].sort((a, b) => b[1] - a[1]).forEach(([name], index) => {
    found.set(name, index < MOST_LOOKS ? index : OTHER);
  });
  return found;
}

/** Instructions whose look is the same in every report: the most frequent ones of kernels. */
const FREQUENT = [
  "DMA_COPY", "MULTIPLY_MOVING", "ACTIVATE", "TENSOR_TENSOR", "TENSOR_SCALAR", "LOAD_STATIONARY", "TENSOR_COPY",
  "DMA_TRIGGER", "TENSOR_REDUCE", "TRANSPOSE", "SCALAR_TENSOR_TENSOR", "MEMSET", "RECIPROCAL", "IOTA", "BN_STATS",
  "BN_AGGR", "LOAD_TABLE", "TENSOR_TENSOR_SCAN",
];

/** The look of each instruction. Other instructions have the looks that remain, in the order of their names. */
function looksOfInstructions(counts) {
  const others = [...counts.keys()].filter((name) => !FREQUENT.includes(name)).sort();
  const order = [...FREQUENT, ...others];
  return new Map([...counts].sort((a, b) => b[1] - a[1]).map(([name]) => {
    const look = order.indexOf(name);
    return [name, look < MOST_LOOKS ? look : OTHER];
  }));
}

/** A box in a look, for a legend. */
function swatchOf(look) {
  const canvas = make("canvas", { className: "swatch", width: 22, height: 22, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  context.fillStyle = fillOf(context, look);
  context.fillRect(0, 0, 22, 22);
  return canvas;
}
