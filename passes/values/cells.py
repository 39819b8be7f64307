"""Arrays reduced to pictures: a cell is the mean of several elements.

If a cell contains NaN or an infinity, it shows this value instead of the mean.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nkijit.passes.values.instructions import Array

LEVELS = 250
"""The cell value of the largest finite number in the picture; the smallest finite number has 0."""
NOTHING, MINUS_INFINITY, INFINITY, NAN = 252, 253, 254, 255
"""Values of cells without finite elements, with -infinity, with infinity and with NaN.

A single infinity or NaN hides all other elements of its cell.
"""


def cells_of(rows: Array, side: int) -> npt.NDArray[np.uint8]:
    """Downsample a two-dimensional array to at most `side` cells in each direction."""
    values = rows.astype(np.float64)
    finite = np.isfinite(values)
    counts = sums_of(finite.astype(np.int64), side)
    with np.errstate(all="ignore"):
        means = sums_of(np.where(finite, values, 0), side) / counts
        least, largest = (
            (values[finite].min(), values[finite].max()) if finite.any() else (0.0, 0.0)
        )
        span = largest / 2 - least / 2  # halves, as the difference may overflow float64
        level = (means / 2 - least / 2) / span if span else np.full(means.shape, 0.5)
        cells = np.where(counts > 0, np.clip(np.rint(level * LEVELS), 0, LEVELS), NOTHING)
    for code, those in (
        (MINUS_INFINITY, values == -np.inf),
        (INFINITY, values == np.inf),
        (NAN, np.isnan(values)),
    ):
        if those.any():
            cells[sums_of(those.astype(np.int64), side) > 0] = code
    return cells.astype(np.uint8)


def _edges(length: int, side: int) -> Array:
    """Return the index of the first element of each cell along a dimension."""
    cells = min(length, side)
    return np.arange(cells) * length // cells


def sums_of(values: Array, side: int) -> Array:
    """Return the sum of the elements of each cell."""
    rows, columns = (_edges(length, side) for length in values.shape)
    return np.add.reduceat(np.add.reduceat(values, rows, axis=0), columns, axis=1)


def sizes_of(shape: tuple[int, ...], side: int) -> Array:
    """Return the number of elements of each cell."""
    one, other = (np.diff([*_edges(length, side), length]) for length in shape)
    return np.multiply.outer(one, other)
