"""Arrays made smaller for pictures: a cell is the mean of the elements that it stands for.

It shows a NaN or an infinity among them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nkijit.passes.values.instructions import Array

LEVELS = 250
"""Cells hold 0 for the least and this for the largest finite number of a picture."""
NOTHING, MINUS_INFINITY, INFINITY, NAN = 252, 253, 254, 255
"""Cells that hold no finite number, or something that hides the others."""


def cells_of(rows: Array, side: int) -> npt.NDArray[np.uint8]:
    """An array of two dimensions as cells, at most `side` in each direction."""
    values = rows.astype(np.float64)
    finite = np.isfinite(values)
    counts = sums_of(finite.astype(np.int64), side)
    with np.errstate(all="ignore"):
        means = sums_of(np.where(finite, values, 0), side) / counts
        least, largest = (
            (values[finite].min(), values[finite].max()) if finite.any() else (0.0, 0.0)
        )
        span = largest / 2 - least / 2  # of float64 as well
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
    """Where the cells of a direction begin."""
    cells = min(length, side)
    return np.arange(cells) * length // cells


def sums_of(values: Array, side: int) -> Array:
    """The sums of the elements that each cell stands for."""
    rows, columns = (_edges(length, side) for length in values.shape)
    return np.add.reduceat(np.add.reduceat(values, rows, axis=0), columns, axis=1)


def sizes_of(shape: tuple[int, ...], side: int) -> Array:
    """How many elements each cell stands for."""
    one, other = (np.diff([*_edges(length, side), length]) for length in shape)
    return np.multiply.outer(one, other)
