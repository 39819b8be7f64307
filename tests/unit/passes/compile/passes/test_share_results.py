"""`share-results` in Python loops: which results of earlier iterations are used again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.compile.pipeline import compiled

ROWS, COLUMNS = 128, 64


def products(inner: bool) -> Any:
    """Return a kernel that multiplies one of two tiles in each of 2 x 3 iterations.

    `inner`: the tile depends on the inner loop, so that the previous iteration of this loop
    multiplied another one.
    """

    @nki.jit(platform_target="trn2")
    def kernel(x: Any) -> Any:
        out = nl.ndarray((6, ROWS, COLUMNS), nl.float32, buffer=nl.shared_hbm)
        tiles = [nl.ndarray((ROWS, COLUMNS), nl.float32, buffer=nl.sbuf) for _ in range(3)]
        for i in range(3):
            nisa.dma_copy(tiles[i], x[i])
        for i in range(2):
            for j in range(3):
                tile = tiles[j if inner else i]
                square = nl.ndarray((ROWS, COLUMNS), nl.float32, buffer=nl.sbuf)
                result = nl.ndarray((ROWS, COLUMNS), nl.float32, buffer=nl.sbuf)
                nisa.tensor_tensor(square, tile, tile, op=nl.multiply)
                nisa.tensor_scalar(result, square, op0=nl.add, operand0=float(3 * i + j))
                nisa.dma_copy(out[3 * i + j], result)
        return out

    return kernel


@pytest.mark.parametrize(("inner", "left"), [(False, 2), (True, 6)])
def test_only_results_of_the_innermost_loop_are_shared(inner: bool, left: int) -> None:
    x = np.random.default_rng(0).standard_normal((3, ROWS, COLUMNS)).astype(np.float32)
    traced = products(inner).trace(x)
    (kernel,) = traced.cores()
    found = compiled(kernel)
    names = [op.name for op in found.kernel.walk()]
    assert names.count("nisa.tensor_tensor") == left
    assert found.changes["share-results"] == 6 - left
