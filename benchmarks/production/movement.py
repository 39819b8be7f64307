"""Loads in pieces, gathers, transposes and stores."""

from __future__ import annotations

from typing import Any

import nkijit.isa as nisa
import nkijit.language as nl
from benchmarks.production.stack import COLUMNS, PIECES, ROWS, Stack


def load_in_pieces(stack: Stack, source: Any, row: int) -> Any:
    """Load rows into one tile, a piece of the columns at a time."""
    tile = stack.tile(ROWS, source.shape[1])
    width = source.shape[1] // PIECES
    for piece in range(PIECES):
        columns = nl.ds(piece * width, width)
        nisa.dma_copy(dst=tile[:, columns], src=source[row : row + ROWS, columns])
    return tile


def gather(stack: Stack, table: Any, indices: Any, row: int) -> Any:
    """Load the rows of a table that a column of indices selects."""
    chosen = stack.tile(ROWS, 1, nl.int32)
    nisa.dma_copy(dst=chosen, src=indices[row : row + ROWS])
    tile = stack.tile(ROWS, COLUMNS)
    rows = table.ap([[COLUMNS, ROWS], [1, COLUMNS]], vector_offset=chosen, indirect_dim=0)
    nisa.dma_copy(dst=tile, src=rows)
    return tile


def transpose(stack: Stack, tile: Any) -> Any:
    """Transpose a tile through PSUM, with a cast to bfloat16 before it."""
    rows, columns = tile.shape
    narrow = stack.tile(rows, columns, nl.bfloat16)
    nisa.tensor_copy(dst=narrow, src=tile)
    turned = stack.psum(columns, rows, nl.bfloat16)
    nisa.nc_transpose(dst=turned, data=narrow)
    result = stack.tile(columns, rows, nl.bfloat16)
    nisa.tensor_copy(dst=result, src=turned)
    return result


def store_in_halves(target: Any, row: int, tile: Any) -> None:
    """Store a tile, half of the columns at a time, from views of a view."""
    inner = tile[0:ROWS, :]
    half = COLUMNS // 2
    for start in (0, half):
        columns = nl.ds(start, half)
        nisa.dma_copy(dst=target[row : row + ROWS, columns], src=inner[:, columns])
