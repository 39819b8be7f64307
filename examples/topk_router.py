"""The router of a mixture of experts: for every token the k experts with the largest logits.

Returns their indices, in order of descending logits and then ascending indices, and the softmax of
their logits as weights. The Vector Engine finds eight at a time. For larger k, these are replaced
by -inf and the next eight are found.

--rows is the number of tokens, a multiple of 128; --columns that of experts, at least 8; --inner
is k, a multiple of 8. Logits must be finite. Try it with --inner 16 --data hard: many are equal.
"""

from __future__ import annotations

import dataclasses
import sys

import ml_dtypes
import numpy as np
from common import SMALLEST, UNIT, Array, Example, Options, run, sum_error, values

import nki
import nki.isa as nisa
import nki.language as nl

FOUND = 8
"""Values that one instruction finds."""


@nki.jit
def topk_router(logits, k):
    tokens, experts = logits.shape
    pmax = nl.tile_size.pmax
    assert tokens % pmax == 0, f"{tokens} tokens are not in tiles of {pmax}"
    assert k % FOUND == 0, f"k={k} is not a multiple of {FOUND}"
    indices_out = nl.ndarray((tokens, k), dtype=nl.uint32, buffer=nl.shared_hbm)
    weights_out = nl.ndarray((tokens, k), dtype=nl.float32, buffer=nl.shared_hbm)

    # Tokens are independent, so a partition gets successive ones: one DMA, in large pieces.
    groups = tokens // pmax
    logits_tile = nl.ndarray((pmax, groups, experts), dtype=logits.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=logits_tile, src=logits.reshape((pmax, groups, experts)))

    values = nl.ndarray((pmax, groups, k), dtype=nl.float32, buffer=nl.sbuf)
    indices = nl.ndarray((pmax, groups, k), dtype=nl.uint32, buffer=nl.sbuf)
    for group in range(groups):
        left = logits_tile[:, group, :]
        for start in range(0, k, FOUND):
            found = values[:, group, start : start + FOUND]
            nisa.max8(dst=found, src=left)
            # nc_match_replace8 can return the indices as well, but for equal values it returns
            # the highest index first.
            nisa.nc_find_index8(dst=indices[:, group, start : start + FOUND], data=left, vals=found)
            if start + FOUND < k:
                nisa.nc_match_replace8(dst=left, data=left, vals=found, imm=float("-inf"))

    # The softmax of all tokens at once. A token's first value is its largest. It is copied to
    # another tile, because the difference overwrites the values.
    largest = nl.ndarray((pmax, groups, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=largest, src=values[:, :, 0:1])
    nisa.tensor_tensor(dst=values, data1=values, data2=largest.broadcast(2, k), op=nl.subtract)
    nisa.activation(dst=values, op=nl.exp, data=values)
    total = nl.ndarray((pmax, groups, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=values, axis=2, keepdims=True)
    nisa.reciprocal(dst=total, data=total)
    nisa.tensor_tensor(dst=values, data1=values, data2=total.broadcast(2, k), op=nl.multiply)

    nisa.dma_copy(dst=indices_out.reshape((pmax, groups, k)), src=indices)
    nisa.dma_copy(dst=weights_out.reshape((pmax, groups, k)), src=values)
    return indices_out, weights_out


# ------------------------------------------------------------------ checking it


def inputs(options: Options) -> dict[str, Array | int]:
    # Hard values are set here, as all logits must be finite.
    shape = (options.rows, options.columns)
    logits = values(dataclasses.replace(options, data="random"), *shape)
    if options.data == "hard":
        make_hard(logits)
    return {"logits": logits, "k": options.inner}


def make_hard(logits: Array) -> None:
    """Overwrite rows with many equal values, zeros of both signs, huge and tiny numbers."""
    huge = np.array(ml_dtypes.finfo(logits.dtype).max, logits.dtype)
    logits[0::5] = np.round(logits[0::5] * 2) / 2
    logits[1::5] = 0.3
    logits[2::5] *= 0
    logits[3::5] = np.where(logits[3::5] > 1, huge, -huge)
    logits[4::5] *= np.array(1e-40, logits.dtype)


def reference(logits: Array, k: int) -> tuple[Array, Array]:
    exact = logits.astype(np.float64)
    indices = np.argsort(-exact, axis=1, kind="stable")[:, :k]
    chosen = np.take_along_axis(exact, indices, axis=1)
    exponentials = np.exp(chosen - chosen[:, :1])
    return indices, exponentials / exponentials.sum(axis=1, keepdims=True)


def float32_error(logits: Array, k: int) -> tuple[Array, Array]:
    indices, weights = reference(logits, k)
    exponents = np.log(np.maximum(weights / weights[:, :1], SMALLEST))
    # The rounding error of the difference is relative in its exponential; then exp, sum, quotient.
    return indices, weights * (UNIT * (8 - exponents) + sum_error(k)) + SMALLEST


SIZE = Options(rows=4096, columns=128, inner=8)

EXAMPLES = [
    Example(
        topk_router,
        inputs,
        reference,
        float32_error,
        small=Options(rows=256, columns=128, inner=24),
        production=SIZE,
        any_size=False,
    )
]


def main() -> int:
    return run(EXAMPLES, __doc__, SIZE)


if __name__ == "__main__":
    sys.exit(main())
