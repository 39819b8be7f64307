"""`longer-rows`: the predicted time of advice equals that of the kernel changed by hand."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from support.advice import check_pair, normal, proofs

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.advise import rows
from nkijit.passes.advise.edit import Edit
from nkijit.passes.advise.facts import Facts, Renamed
from nkijit.passes.advise.iterations import are_equal
from nkijit.passes.prove.algebra import Level

KIND = "longer-rows"


def sbuf(*shape):
    return nl.ndarray(shape, nl.float32, buffer=nl.sbuf)


@nki.jit
def chunks(x, y, by_hand):
    """Eight chunks of columns, or all of them at once."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    size = 1024 if by_hand else 128
    for c in range(0, 1024, size):
        one, two, total, result = (sbuf(128, size) for _ in range(4))
        nisa.dma_copy(dst=one, src=x[:, c : c + size])
        nisa.dma_copy(dst=two, src=y[:, c : c + size])
        nisa.tensor_tensor(dst=total, data1=one, data2=two, op=nl.add)
        nisa.activation(dst=result, data=total, op=nl.exp)
        nisa.dma_copy(dst=out[:, c : c + size], src=result)
    return out


@nki.jit
def rows_of_pixels(x, weights, by_hand):
    """A matmul with 16 columns for each of 16 rows, or one with all of them."""
    out = nl.ndarray((128, 16, 16), x.dtype, buffer=nl.shared_hbm)
    kernel = sbuf(128, 128)
    nisa.dma_copy(dst=kernel, src=weights)
    size = 16 if by_hand else 1
    for row in range(0, 16, size):
        data, result = sbuf(128, size, 16), sbuf(128, size, 16)
        product = nl.ndarray((128, size, 16), nl.float32, buffer=nl.psum)
        nisa.dma_copy(dst=data, src=x[:, row : row + size, :])
        nisa.nc_matmul(dst=product, stationary=kernel, moving=data)
        nisa.tensor_copy(dst=result, src=product)
        nisa.dma_copy(dst=out[:, row : row + size, :], src=result)
    return out


@nki.jit
def running_sum(x):
    """Each iteration reads the sum that the one before it writes."""
    out = nl.ndarray((128, 64), x.dtype, buffer=nl.shared_hbm)
    total = sbuf(128, 64)
    nisa.memset(dst=total, value=0.0)
    for c in range(0, 512, 64):
        part = sbuf(128, 64)
        nisa.dma_copy(dst=part, src=x[:, c : c + 64])
        nisa.tensor_tensor(dst=total, data1=total, data2=part, op=nl.add)
    nisa.dma_copy(dst=out, src=total)
    return out


@nki.jit
def factors(x, scales):
    """A factor per row and iteration."""
    out = nl.ndarray((512, 128), x.dtype, buffer=nl.shared_hbm)
    for r in range(0, 512, 128):
        tile, factor, result = sbuf(128, 128), sbuf(128, 1), sbuf(128, 128)
        nisa.dma_copy(dst=tile, src=x[r : r + 128, :])
        nisa.dma_copy(dst=factor, src=scales[r : r + 128, :])
        nisa.tensor_scalar(dst=result, data=tile, op0=nl.multiply, operand0=factor)
        nisa.dma_copy(dst=out[r : r + 128, :], src=result)
    return out


@pytest.mark.parametrize("target", ["trn2", "trn3"])
def test_chunks_become_one(target):
    found = check_pair(chunks, target, (normal(128, 1024), normal(128, 1024)), KIND)
    assert "do 8 iterations of the loop over c" in found.message


def test_matmuls_with_the_same_stationary_tile_become_one():
    check_pair(rows_of_pixels, "trn2", (normal(128, 16, 16), normal(128, 128)), KIND)


@pytest.mark.parametrize(
    ("kernel", "args"),
    [
        (chunks, (normal(128, 1024), normal(128, 1024), False)),
        (rows_of_pixels, (normal(128, 16, 16), normal(128, 128), False)),
    ],
)
def test_results_have_the_same_bits(kernel, args):
    found = proofs(kernel, args, KIND)
    assert found
    assert all(proof.level is Level.bits for proof in found), list(map(str, found))


def test_iterations_with_dependences_are_not_merged():
    """The additions depend on each other, the scalings have another factor per iteration."""
    for kernel, args, name in (
        (running_sum, (normal(128, 512),), "nisa.tensor_tensor"),
        (factors, (normal(512, 128), normal(512, 1)), "nisa.tensor_scalar"),
    ):
        own = kernel.for_target("trn2").trace(*args).cores()[0]
        before = sum(op.name == name for op in own.operations)
        for proposal in rows.longer_rows(Facts(own), Renamed(own)):
            edit = Edit(own)
            proposal.change(edit)
            assert sum(op.name == name for op in edit.kernel.operations) == before


def _wrong_step(original, access, step, count):
    return original(access, step - 1, count)


def test_mutants_are_refuted(monkeypatch):
    """Rows in another place, and factors of the first iteration for all."""
    args = normal(128, 16, 16), normal(128, 128), False
    with monkeypatch.context() as patch:
        patch.setattr(rows, "with_steps", partial(_wrong_step, rows.with_steps))
        found = proofs(rows_of_pixels, args, KIND)
        assert found
        assert all(proof.level is None for proof in found)
    with monkeypatch.context() as patch:
        patch.setattr(rows._Together, "_step", lambda self, values, shared: _careless(self, values))
        found = proofs(factors, (normal(512, 128), normal(512, 1)), KIND)
        assert found
        assert all(proof.level is None for proof in found)


def _careless(together, values):
    """Return a step for operands with one element per partition that differ, too."""
    if not is_tile(values[0]):
        return 0 if are_equal(values) else None
    step = info_of(values[1]).offset - info_of(values[0]).offset
    base = base_of(values[0])
    return step or (info_of(base).free_size if base in together.own else 0)


def test_the_oracle_runs():
    x, y = normal(128, 1024), normal(128, 1024, seed=1)
    expected = np.exp(x + y)
    for by_hand in (False, True):
        np.testing.assert_allclose(chunks.for_target("trn2")(x, y, by_hand), expected, rtol=1e-5)
