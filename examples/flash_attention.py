"""Causal attention of one head, forward: softmax(q @ k.T / sqrt(columns)) @ v in blocks.

The scores of 128 queries are computed 512 keys at a time. The sums so far are rescaled when a
larger score occurs (online softmax). Keys after the last query of a tile are skipped.

--rows is the length of the sequence, a multiple of 128; --columns the size of the head, at most
128. Try it with --dtype float32 as well.
"""

from __future__ import annotations

import sys

import ml_dtypes
import numpy as np
from common import UNIT, Array, Example, Options, run, sum_error, values

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def flash_attention(q, k, v):
    length, head = q.shape
    pmax, block = nl.tile_size.pmax, nl.tile_size.psum_bank_fmax
    assert length % pmax == 0, f"a sequence of {length} is not in tiles of {pmax}"
    assert head <= pmax, f"a head of {head} does not fit in {pmax} partitions"
    scale = head**-0.5
    out = nl.ndarray(q.shape, dtype=q.dtype, buffer=nl.shared_hbm)

    # Rows are divided into tiles of 128: one DMA loads a whole tensor as (128, tiles, head).
    tiles = length // pmax
    keys = nl.ndarray((pmax, tiles, head), dtype=k.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=keys, src=k.reshape((tiles, pmax, head)).permute((1, 0, 2)))
    queries = nl.ndarray((pmax, tiles, head), dtype=q.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=queries, src=q.reshape((tiles, pmax, head)).permute((1, 0, 2)))
    # The product with v sums over keys, which are v's partitions: no transpose is needed.
    v_tiles = nl.ndarray((pmax, tiles, head), dtype=v.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=v_tiles, src=v.reshape((tiles, pmax, head)).permute((1, 0, 2)))

    # Scores sum over the head dimension, which must therefore be in partitions.
    k_columns = _transposed([keys[:, i, :] for i in range(tiles)])
    q_columns = _transposed([queries[:, i, :] for i in range(tiles)])

    # The lower bound of the key indices that a query may use; `position` is the upper bound.
    first = nl.ndarray((pmax, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=first, value=0)

    for i in range(tiles):
        end = (i + 1) * pmax
        position = nl.ndarray((pmax, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.iota(dst=position, pattern=[[1, 1]], offset=i * pmax, channel_multiplier=1)

        starts = range(0, end, block)
        maxima = nl.ndarray((pmax, len(starts)), dtype=nl.float32, buffer=nl.sbuf)
        for j, start in enumerate(starts):
            width = min(block, end - start)
            raw = nl.ndarray((pmax, width), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(
                dst=raw,
                stationary=q_columns[:, i * pmax : end],
                moving=k_columns[:, start : start + width],
                accumulate=False,
            )

            # The largest score of each query. The last block ends at the diagonal: there, the same
            # instruction also masks the keys after a query.
            scores = raw
            maximum = maxima[:, j : j + 1]
            if start + width == end:
                scores = nl.ndarray(raw.shape, dtype=nl.float32, buffer=nl.sbuf)
                nisa.range_select(
                    dst=scores,
                    on_true_tile=raw,
                    comp_op0=nl.greater_equal,
                    bound0=first,
                    comp_op1=nl.less_equal,
                    bound1=position,
                    range_start=start,
                    reduce_res=maximum,
                )
            else:
                nisa.tensor_reduce(dst=maximum, op=nl.maximum, data=raw, axis=1)
            if j > 0:
                before = maxima[:, j - 1 : j]
                nisa.tensor_tensor(dst=maximum, data1=maximum, data2=before, op=nl.maximum)
            shift = nl.ndarray((pmax, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=shift, data=maximum, op0=nl.multiply, operand0=-scale)

            # exp(scale * score - scale * maximum), and its sum over the keys in the same pass.
            p = nl.ndarray((pmax, width), dtype=v.dtype, buffer=nl.sbuf)
            p_sum = nl.ndarray((pmax, 1), dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation_reduce(
                dst=p,
                op=nl.exp,
                data=scores,
                scale=scale,
                bias=shift,
                reduce_op=nl.add,
                reduce_res=p_sum,
            )

            # p @ v sums over the keys, so p is transposed: up to four tiles into one bank.
            p_columns = _transposed([p[:, c : c + pmax] for c in range(0, width, pmax)])
            product = nl.ndarray((pmax, head), dtype=nl.float32, buffer=nl.psum)
            for c in range(0, width, pmax):
                nisa.nc_matmul(
                    dst=product,
                    stationary=p_columns[:, c : c + pmax],
                    moving=v_tiles[:, (start + c) // pmax, :],
                    accumulate=c > 0,
                )

            if j == 0:
                # A single block needs no sum; the sum of several is in SBUF.
                total, result = p_sum, product
                if len(starts) > 1:
                    result = nl.ndarray(product.shape, dtype=nl.float32, buffer=nl.sbuf)
                    nisa.tensor_copy(dst=result, src=product)
            else:
                # Rescale the sums from the old maximum to the new one.
                carry = nl.ndarray((pmax, 1), dtype=nl.float32, buffer=nl.sbuf)
                nisa.activation(dst=carry, op=nl.exp, data=before, scale=scale, bias=shift)
                for kept, new in ((total, p_sum), (result, product)):
                    nisa.scalar_tensor_tensor(
                        dst=kept,
                        data=kept,
                        op0=nl.multiply,
                        operand0=carry,
                        op1=nl.add,
                        operand1=new,
                    )

        inverse = nl.ndarray((pmax, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=inverse, data=total)
        rounded = nl.ndarray((pmax, head), dtype=out.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=rounded, data=result, op0=nl.multiply, operand0=inverse)
        nisa.dma_copy(dst=out[i * pmax : end], src=rounded)
    return out


def _transposed(tiles):
    """Transpose (128, n) tiles and concatenate them: (n, 128 * tiles).

    The results go through PSUM, as many as fit into a bank at a time.
    """
    pmax, width = tiles[0].shape[0], tiles[0].shape[-1]
    in_bank = nl.tile_size.psum_bank_fmax // pmax
    result = nl.ndarray((width, len(tiles) * pmax), dtype=tiles[0].dtype, buffer=nl.sbuf)
    for start in range(0, len(tiles), in_bank):
        together = tiles[start : start + in_bank]
        bank = nl.ndarray((width, len(together) * pmax), dtype=result.dtype, buffer=nl.psum)
        for i, tile in enumerate(together):
            nisa.nc_transpose(dst=bank[:, i * pmax : (i + 1) * pmax], data=tile)
        first = start * pmax
        nisa.tensor_copy(dst=result[:, first : first + bank.shape[1]], src=bank)
    return result


# ------------------------------------------------------------------ checking it


def inputs(options: Options) -> dict[str, Array]:
    shape = (options.rows, options.columns)
    return {name: values(options, *shape, seed=seed) for seed, name in enumerate("qkv")}


def probabilities(q: Array, k: Array) -> tuple[Array, Array]:
    """Return the scores, -inf where they are masked, and their softmax."""
    scores = q.astype(np.float64) @ k.astype(np.float64).T / np.sqrt(q.shape[1])
    scores[np.triu_indices(len(q), 1)] = -np.inf
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores, exponentials / exponentials.sum(axis=1, keepdims=True)


def reference(q: Array, k: Array, v: Array) -> Array:
    return probabilities(q, k)[1] @ v.astype(np.float64)


def float32_error(q: Array, k: Array, v: Array) -> Array:
    (length, head), v_size = q.shape, np.abs(v.astype(np.float64))
    scores, p = probabilities(q, k)
    magnitudes = np.abs(q.astype(np.float64)) @ np.abs(k.astype(np.float64)).T / np.sqrt(head)
    # The error of a score, and of scaling and shifting it, is relative in its exponential.
    visible = np.isfinite(scores)
    largest = np.abs(np.where(visible, scores, 0)).max(axis=1, keepdims=True)
    of_p = sum_error(head) * magnitudes + 4 * UNIT * (magnitudes + largest) + 4 * UNIT
    # Every block rescales the sums before it; the products are summed over the keys.
    blocks = np.ceil(length / 512)
    of_p += sum_error(length) + 4 * UNIT * blocks * (1 + largest)
    of_p = np.where(visible, of_p, 0)
    # The Tensor Engine reads p in v's data type. The denominator sums it in float32.
    rounding = float(ml_dtypes.finfo(v.dtype).eps) / 2
    of_sum = (p * of_p).sum(axis=1, keepdims=True) + 4 * UNIT
    return (p * (of_p + rounding)) @ v_size + of_sum * (p @ v_size)


SIZE = Options(rows=2048, columns=128, dtype="bfloat16")

EXAMPLES = [
    Example(
        flash_attention,
        inputs,
        reference,
        float32_error,
        small=Options(rows=640, columns=64),
        production=SIZE,
        data=("random",),
        any_size=False,
    )
]


def main() -> int:
    return run(EXAMPLES, __doc__, SIZE)


if __name__ == "__main__":
    sys.exit(main())
