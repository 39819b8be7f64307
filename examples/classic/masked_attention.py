"""Causal attention of one head, in the classic API: later keys are masked."""

from __future__ import annotations

import numpy as np
from check import check

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

TILE = 128


@nki.jit
def masked_attention(q, k, v):
    """Return the attention (sequence, d) of `q`, `k` (d, sequence), `v` (sequence, d); d <= 128."""
    d, length = q.shape
    tiles = length // TILE
    out = nl.ndarray((length, d), dtype=q.dtype, buffer=nl.shared_hbm)
    keys = nl.load(k)
    i_q, i_k = nl.mgrid[0:TILE, 0:TILE]
    for q_tile in nl.affine_range(tiles):
        queries = nl.load(q[:, nl.ds(q_tile * TILE, TILE)])
        scores = nl.full((TILE, length), nl.fp32.min, dtype=nl.float32)
        # Key tiles after the last query of the tile are masked entirely, so they are skipped.
        for k_tile in nl.affine_range(q_tile + 1):
            product = nisa.nc_matmul(queries, keys[:, nl.ds(k_tile * TILE, TILE)])
            scores[i_q, k_tile * TILE + i_k] = nisa.affine_select(
                q_tile * TILE + i_q >= k_tile * TILE + i_k,
                nl.multiply(product, d**-0.5),
                nl.fp32.min,
            )
        weights = nl.softmax(scores, axis=1)

        # The contraction runs along partitions, so each block of weights is transposed.
        attended = nl.zeros((TILE, d), nl.float32, buffer=nl.psum)
        for k_tile in nl.affine_range(q_tile + 1):
            values = nl.load(v[nl.ds(k_tile * TILE, TILE), :])
            transposed = nl.copy(nisa.nc_transpose(weights[:, nl.ds(k_tile * TILE, TILE)]))
            attended += nisa.nc_matmul(transposed, values)
        nl.store(out[nl.ds(q_tile * TILE, TILE), :], attended)
    return out


def reference(q, k, v):
    scores = q.T @ k / np.sqrt(q.shape[0])
    scores[np.triu_indices_from(scores, 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


_random = np.random.default_rng(0).standard_normal
INPUTS = {
    "q": _random((64, 256)).astype(np.float32),
    "k": _random((64, 256)).astype(np.float32),
    "v": _random((256, 64)).astype(np.float32),
}


def main() -> None:
    check(masked_attention, INPUTS, reference, 1e-6)


if __name__ == "__main__":
    main()
