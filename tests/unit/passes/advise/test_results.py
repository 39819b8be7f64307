"""`repeated-result`: tiles with equal contents are computed once, and others are not shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.advice import check_same_results, normal, proofs

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.advise import results
from nkijit.passes.advise.experiments import proposals_for
from nkijit.passes.prove.algebra import Level

KIND = "repeated-result"
X, ROW = normal(512, 1024), normal(1, 1024, seed=1)


def sbuf(*shape):
    return nl.ndarray(shape, nl.float32, buffer=nl.sbuf)


def rows_of(row, ones):
    """Broadcast a row to all partitions by matmuls, in two halves."""
    rows = sbuf(128, 1024)
    for half in (0, 512):
        product = nl.ndarray((128, 512), nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=product, stationary=ones, moving=row[:, half : half + 512])
        nisa.tensor_copy(dst=rows[:, half : half + 512], src=product)
    return rows


def loaded(row):
    tile, ones = sbuf(1, 1024), sbuf(1, 128)
    nisa.dma_copy(dst=tile, src=row)
    nisa.memset(dst=ones, value=1.0)
    return tile, ones


@nki.jit
def weighted(x, row, by_hand):
    """Broadcast the weights for each tile of rows; by hand, once."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    weights = rows_of(*loaded(row)) if by_hand else None
    for r in range(0, x.shape[0], 128):
        tile = sbuf(128, 1024)
        nisa.dma_copy(dst=tile, src=x[r : r + 128])
        own = rows_of(*loaded(row)) if weights is None else weights
        nisa.tensor_tensor(dst=tile, data1=tile, data2=own, op=nl.multiply)
        nisa.dma_copy(dst=out[r : r + 128], src=tile)
    return out


@nki.jit
def changed_in_between(x, row):
    """The second tile is computed from the same row after its first element has changed."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = sbuf(1, 1024)
    nisa.dma_copy(dst=tile, src=row)
    for r in range(0, x.shape[0], 128):
        double = sbuf(1, 1024)
        nisa.tensor_scalar(dst=double, data=tile, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=out[r : r + 1], src=double)
        nisa.memset(dst=tile[0:1, 0:1], value=3.0)
    return out


@nki.jit
def other_columns(x, row):
    """The tiles are computed from different columns, by the same line."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for r in range(4):
        tile, double = sbuf(1, 1024), sbuf(1, 256)
        nisa.dma_copy(dst=tile, src=row)
        nisa.activation(dst=double, op=nl.exp, data=tile[:, 256 * r : 256 * r + 256])
        nisa.dma_copy(dst=out[r : r + 1, 0:256], src=double)
    return out


@nki.jit
def written_later(x, row):
    """The tile of an iteration changes after it was filled: the next iteration needs a new one."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    source = sbuf(1, 1024)
    nisa.dma_copy(dst=source, src=row)
    for r in range(4):
        total = sbuf(1, 1024)
        nisa.tensor_scalar(dst=total, data=source, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=out[r : r + 1], src=total)
        nisa.tensor_scalar(dst=total, data=total, op0=nl.add, operand0=float(r))
        nisa.dma_copy(dst=out[r + 4 : r + 5], src=total)
    return out


def kinds(kernel: Any, *args: Any) -> set[str]:
    traced = kernel.for_target("trn2").trace(*args)
    return {proposal.kind.id for proposal in proposals_for(traced.cores()[0], KIND)}


def test_a_broadcast_is_computed_once() -> None:
    traced, by_hand = (weighted.for_target("trn2").trace(X, ROW, hand) for hand in (False, True))
    found = traced.optimize(budget=600, experiments=60)
    assert KIND in {step.move.kind for step in found.result.steps}
    matmuls = [op for op in found.traced.cores()[0].operations if op.name == "nisa.nc_matmul"]
    assert len(matmuls) == 2
    assert found.result.after.time <= by_hand.profile().time
    np.testing.assert_array_equal(found.traced.run(X.copy(), ROW.copy()), X * ROW)


def test_the_change_is_proven() -> None:
    found = proofs(weighted, (X, ROW, False), KIND)
    assert found
    assert {proof.level for proof in found} == {Level.bits}


@pytest.mark.parametrize("kernel", [changed_in_between, other_columns])
def test_other_contents_are_not_shared(kernel: Any) -> None:
    assert not kinds(kernel, X, ROW)


def test_a_tile_that_changes_keeps_its_results() -> None:
    traced = written_later.for_target("trn2").trace(X, ROW)
    check_same_results(traced.cores(), [X, ROW])


@pytest.mark.parametrize("kernel", [other_columns, changed_in_between])
def test_a_change_that_ignores_operands_is_refuted(
    kernel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results._Contents, "_operand", lambda *_: "same")  # pyright: ignore
    found = proofs(kernel, (X, ROW), KIND)
    assert found
    assert all(proof.level is None for proof in found)
