"""RMSNorm on two cores, each with half of the columns: launched with `sharded_rmsnorm[2]`.

A row's mean square needs both halves. Each core sums the squares of its half, and the cores
exchange these sums, one number per row. Each then writes its half of the shared output.

--columns must be even. Try it with --dtype float32, or --data hard.
"""

from __future__ import annotations

import sys

from common import Example, Options, run
from rmsnorm import EPSILON, float32_error, inputs, reference

import nki
import nki.isa as nisa
import nki.language as nl

TILES_AT_ONCE = 16
"""Tiles of 128 rows that are in SBUF while their sums are exchanged, all in one message."""


@nki.jit
def sharded_rmsnorm(x, gamma):
    rows, columns = x.shape
    core, cores = nl.program_id(0), nl.num_programs(0)
    assert cores == 2, "launch it on two cores: sharded_rmsnorm[2](x, gamma)"
    assert columns % cores == 0, f"{columns} columns have no halves"
    width = columns // cores
    mine = slice(core * width, (core + 1) * width)
    pmax = nl.tile_size.pmax
    # Both cores allocate it; it is one shared tensor.
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

    gamma_tile = nl.ndarray((pmax, width), dtype=gamma.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=gamma_tile, src=gamma[mine].reshape((1, width)).broadcast(0, pmax))

    for first in range(0, rows, TILES_AT_ONCE * pmax):
        last = min(first + TILES_AT_ONCE * pmax, rows)
        parts = [slice(r, min(r + pmax, last)) for r in range(first, last, pmax)]

        # The sums of a tile are a column. An incomplete tile leaves the end of its column at 0.
        totals = nl.ndarray((pmax, len(parts)), dtype=nl.float32, buffer=nl.sbuf)
        if (last - first) % pmax:
            nisa.memset(dst=totals, value=0)
        x_tiles = []
        for i, part in enumerate(parts):
            count = part.stop - part.start
            x_tile = nl.ndarray((count, width), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=x_tile, src=x[part, mine])
            x_tiles.append(x_tile)
            squares = nl.ndarray(x_tile.shape, dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation_reduce(
                dst=squares,
                op=nl.square,
                data=x_tile,
                reduce_op=nl.add,
                reduce_res=totals[:count, i : i + 1],
            )

        # Both cores add the same two numbers, so both get the same sum.
        others = nl.ndarray(totals.shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.sendrecv(
            src=totals, dst=others, send_to_rank=1 - core, recv_from_rank=1 - core, pipe_id=0
        )
        nisa.tensor_tensor(dst=totals, data1=totals, data2=others, op=nl.add)

        # 1 / sqrt(total / columns + EPSILON), for all rows at once.
        inverse_rms = nl.ndarray(totals.shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=inverse_rms, op=nl.rsqrt, data=totals, scale=1 / columns, bias=EPSILON)
        for i, part in enumerate(parts):
            count = part.stop - part.start
            result = nl.ndarray((count, width), dtype=out.dtype, buffer=nl.sbuf)
            nisa.scalar_tensor_tensor(
                dst=result,
                data=x_tiles[i],
                op0=nl.multiply,
                operand0=inverse_rms[:count, i : i + 1],
                op1=nl.multiply,
                operand1=gamma_tile[:count],
            )
            nisa.dma_copy(dst=out[part, mine], src=result)
    return out


# ------------------------------------------------------------------ checking it: as rmsnorm.py

SIZE = Options(rows=2048, columns=4096, dtype="bfloat16")

EXAMPLES = [
    Example(
        sharded_rmsnorm[2],
        inputs,
        reference,
        float32_error,
        small=Options(rows=256, columns=512),
        production=SIZE,
        any_size=False,
    )
]


def main() -> int:
    return run(EXAMPLES, __doc__, SIZE)


if __name__ == "__main__":
    sys.exit(main())
