"""Lookup and update of a table's rows by index.

`embedding_lookup` gathers the rows of tokens. The rows of padding, whose id is out of range, are
zero. `embedding_update` performs a step of gradient descent on the rows of some tokens. It gathers
the rows, updates them and scatters them back into the table. A token may occur only once.

--rows is the number of tokens, --columns the length of a row, --inner the number of rows in the
table. Try them with --dtype bfloat16.
"""

from __future__ import annotations

import sys

import numpy as np
from common import UNIT, Array, Example, Options, run, values

import nki
import nki.isa as nisa
import nki.language as nl

PADDING = -1
"""An id that is out of range."""


@nki.jit
def embedding_lookup(table, ids):
    (tokens,), (_, columns) = ids.shape, table.shape
    out = nl.ndarray((tokens, columns), dtype=table.dtype, buffer=nl.shared_hbm)
    for part in _parts(tokens, nl.tile_size.pmax):
        index = _loaded(ids, part)
        # Ids out of range leave the row unchanged.
        rows = nl.ndarray((part.stop - part.start, columns), dtype=table.dtype, buffer=nl.sbuf)
        nisa.memset(dst=rows, value=0)
        nisa.dma_copy(dst=rows, src=_rows(table, index), oob_mode=nisa.oob_mode.skip)
        nisa.dma_copy(dst=out[part], src=rows)
    return out


@nki.jit
def embedding_update(table, ids, gradient, rate=0.01):
    (tokens,), (_, columns) = ids.shape, table.shape
    for part in _parts(tokens, nl.tile_size.pmax):
        index = _loaded(ids, part)
        rows = nl.ndarray((part.stop - part.start, columns), dtype=table.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=rows, src=_rows(table, index))
        gradient_tile = nl.ndarray(rows.shape, dtype=gradient.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=gradient_tile, src=gradient[part])

        # gradient * -rate + row
        nisa.scalar_tensor_tensor(
            dst=rows,
            data=gradient_tile,
            op0=nl.multiply,
            operand0=-rate,
            op1=nl.add,
            operand1=rows,
        )
        nisa.dma_copy(dst=_rows(table, index), src=rows)
    return table


def _loaded(ids, part):
    """Load ids into SBUF, one per partition."""
    index = nl.ndarray((part.stop - part.start, 1), dtype=ids.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=index, src=ids[part].expand_dim(1))
    return index


def _rows(table, index):
    """Return a view of the rows of a table with the ids of a tile."""
    columns = table.shape[1]
    return table.ap([[columns, index.shape[0]], [1, columns]], vector_offset=index)


def _parts(size, step):
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]


# ------------------------------------------------------------------ checking them


def lookup_inputs(options: Options) -> dict[str, Array]:
    rng = np.random.default_rng([options.seed, 1])
    ids = rng.integers(0, options.inner, options.rows, dtype=np.int32)
    ids[rng.random(options.rows) < 0.2] = PADDING
    ids[-1] = options.inner  # the first id after the table
    return {"table": values(options, options.inner, options.columns), "ids": ids}


def lookup_reference(table: Array, ids: Array) -> Array:
    found = (ids >= 0) & (ids < len(table))
    return np.where(found[:, np.newaxis], table[np.where(found, ids, 0)], 0).astype(np.float64)


def lookup_float32_error(table: Array, ids: Array) -> Array:
    return np.zeros((len(ids), table.shape[1]))  # rows are copied


def update_inputs(options: Options) -> dict[str, Array | float]:
    rng = np.random.default_rng([options.seed, 2])
    count = min(options.rows, options.inner)
    return {
        # Weights are float32 for all data types of gradients.
        "table": values(options, options.inner, options.columns).astype(np.float32),
        "ids": rng.permutation(options.inner)[:count].astype(np.int32),
        "gradient": values(options, count, options.columns, seed=1),
        "rate": 0.01,
    }


# As in residual.py, the reference uses float32, so that it overflows where the engine does.


def update_reference(table: Array, ids: Array, gradient: Array, rate: float) -> Array:
    result = table.copy()
    result[ids] -= gradient.astype(np.float32) * np.float32(rate)
    return result


def update_float32_error(table: Array, ids: Array, gradient: Array, rate: float) -> Array:
    result = np.zeros(table.shape)
    result[ids] = 4 * UNIT * (np.abs(table[ids]) + np.abs(gradient * rate).astype(np.float64))
    return result


SIZE = Options(rows=2048, columns=1024, inner=8192)
SMALL = Options(rows=256, columns=512, inner=640)

EXAMPLES = [
    Example(
        embedding_lookup,
        lookup_inputs,
        lookup_reference,
        lookup_float32_error,
        small=SMALL,
        production=SIZE,
    ),
    Example(
        embedding_update,
        update_inputs,
        update_reference,
        update_float32_error,
        small=SMALL,
        production=SIZE,
    ),
]


def main() -> int:
    return run(EXAMPLES, __doc__, SIZE)


if __name__ == "__main__":
    sys.exit(main())
