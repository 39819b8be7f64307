"""Heat maps of values as self-contained HTML, with embedded PNG.

The colours are the same as in the report: small numbers are dark, large numbers light. NaN and
infinities have separate colours.
"""

from __future__ import annotations

import html
import struct
import zlib
from base64 import b64encode
from colorsys import hls_to_rgb

import numpy as np

from nkijit.passes.values.cells import INFINITY, LEVELS, MINUS_INFINITY, NAN, NOTHING, cells_of
from nkijit.passes.values.instructions import Array, Statistics

SIDE = 128
"""The largest number of cells in each direction."""
_WIDTH = 264
_SPECIAL = {
    NOTHING: (216, 216, 216),
    MINUS_INFINITY: (74, 138, 212),
    INFINITY: (238, 136, 102),
    NAN: (217, 83, 79),
}


def _palette() -> bytes:
    colours = [_SPECIAL.get(code, (0, 0, 0)) for code in range(256)]
    for level in range(LEVELS + 1):
        share = level / LEVELS
        hue, light, full = (255 - 205 * share) / 360, 0.18 + 0.64 * share, 0.45 + 0.35 * share
        red, green, blue = hls_to_rgb(hue, light, full)
        colours[level] = (round(255 * red), round(255 * green), round(255 * blue))
    return bytes(part for colour in colours for part in colour)


_PALETTE = _palette()


def png_of(values: Array) -> bytes:
    """Return an array as a PNG, with partitions downwards and all other dimensions to the right."""
    rows = values.reshape(values.shape[0] if values.ndim > 1 else 1, -1)
    cells = cells_of(rows, SIDE)
    high, wide = cells.shape
    lines = np.zeros((high, wide + 1), np.uint8)  # each line begins with its filter: 0, none
    lines[:, 1:] = cells
    head = struct.pack(">IIBBBBB", wide, high, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", _PALETTE), (b"IDAT", zlib.compress(lines.tobytes())))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in (*parts, (b"IEND", b"")))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def figure_of(title: str, values: Array) -> str:
    """Return a heat map with a title and statistics of the values, as HTML."""
    rows = values.shape[0] if values.ndim > 1 else 1
    columns = max(1, values.size // rows)
    width, height = min(_WIDTH, max(24, 8 * columns)), min(_WIDTH // 2, max(12, 8 * rows))
    said = html.escape(f"{title}\n{Statistics.of(values)}")
    picture = b64encode(png_of(values)).decode() if values.size else ""
    return (
        '<figure style="display:inline-block;margin:4px 16px 8px 0;vertical-align:top">'
        f'<img alt="Heat map, partitions downwards" src="data:image/png;base64,{picture}" '
        f'style="width:{width}px;height:{height}px;max-width:100%;image-rendering:pixelated">'
        f'<figcaption style="white-space:pre;font:12px monospace">{said}</figcaption></figure>'
    )
