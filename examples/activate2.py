"""Scale, bias and GELU in one instruction: gelu(x * scale + bias).

Try it with --columns 4096, --dtype bfloat16, or --data hard.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from common import UNIT, Array, Example, Options, run, values
from scipy.special import erfc

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def activate2(x, scale=2.0, bias=0.5):
    rows, columns = x.shape
    # Arguments and results of a kernel are in HBM.
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

    # On chip, dim 0 of a tile is the partition, and there are 128 of them (nl.tile_size.pmax).
    for start in range(0, rows, nl.tile_size.pmax):
        end = min(start + nl.tile_size.pmax, rows)
        x_tile = nl.ndarray((end - start, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=x_tile, src=x[start:end])

        # The Scalar Engine computes op((data op0 imm0) op1 imm1) in float32 for all data types
        # of the tiles, and rounds once.
        gelu = nl.ndarray(x_tile.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.activate2(
            dst=gelu,
            op=nl.gelu,
            data=x_tile,
            imm0=scale,
            imm1=bias,
            op0=nl.multiply,
            op1=nl.add,
        )
        nisa.dma_copy(dst=out[start:end], src=gelu)
    return out


# ------------------------------------------------------------------ checking it


def inputs(options: Options) -> dict[str, Array | float]:
    return {"x": values(options, options.rows, options.columns), "scale": 2.0, "bias": 0.5}


def reference(x: Array, scale: float, bias: float) -> Array:
    v = x.astype(np.float64) * scale + bias
    gelu = v * erfc(-v / math.sqrt(2)) / 2
    return np.where(v == -np.inf, 0, gelu)  # the limit, where NumPy has -inf * 0


def float32_error(x: Array, scale: float, bias: float) -> Array:
    scaled = np.abs(x.astype(np.float64) * scale)
    # Rounded after the multiplication, after the addition and within GELU. The slope of GELU is at
    # most 1.13, and its error at most 2 units in the last place.
    return UNIT * (1.13 * (2 * scaled + abs(bias)) + 4 * scaled)


EXAMPLES = [Example(activate2, inputs, reference, float32_error)]


def main() -> int:
    return run(EXAMPLES, __doc__)


if __name__ == "__main__":
    sys.exit(main())
