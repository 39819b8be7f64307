"""A kernel for one core is divided between two cores, and computes the same results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.advice import normal
from support.exports import retraced

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.advise.edit import Edit
from nkijit.passes.advise.stores import Without
from nkijit.passes.optimize import split
from nkijit.passes.prove.algebra import Level
from nkijit.passes.verify.passes import find_all
from nkijit.traced.kernel import TracedKernel

X = normal(512, 512)


def sbuf(*shape):
    return nl.ndarray(shape, nl.float32, buffer=nl.sbuf)


def exponentiate(dst, src):
    for r in range(0, src.shape[0], 128):
        tile = sbuf(128, src.shape[1])
        nisa.dma_copy(dst=tile, src=src[r : r + 128, :])
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nisa.dma_copy(dst=dst[r : r + 128, :], src=tile)


@nki.jit
def exponentials(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    exponentiate(out, x)
    return out


@nki.jit
def through_hbm(x):
    """The second loop reads a tensor in shared HBM that the first one writes."""
    middle = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    exponentiate(middle, x)
    exponentiate(out, middle)
    return out


@nki.jit
def written_twice(x):
    """Both stores write the first rows: which one is last depends on the cores."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for factor in (2.0, 3.0):
        tile = sbuf(*x.shape)
        nisa.dma_copy(dst=tile, src=x)
        for _ in range(8):
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=factor)
        nisa.dma_copy(dst=out, src=tile)
    return out


def traced(kernel: Any, target: str = "trn2", rows: int = 512) -> TracedKernel:
    return kernel.for_target(target).trace(X[:rows])


def optimized(kernel: TracedKernel, **more: Any) -> Any:
    return kernel.optimize(**({"budget": 600, "experiments": 2} | more))


def split_of(kernel: Any, target: str = "trn2", **more: Any) -> Any:
    return optimized(traced(kernel, target), **more)


def test_each_core_computes_half_of_the_results() -> None:
    found = split_of(exponentials, two_cores=True)
    assert [step.move.kind for step in found.result.steps] == ["split-cores"]
    assert found.result.level is Level.bits
    for kernel in found.traced.cores():
        stores = [op for op in kernel.operations if op.name == "nisa.dma_copy"]
        assert len(stores) == 4
    (one, other) = (each.run(X.copy()) for each in (traced(exponentials), found.traced))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(other, np.exp(X), rtol=1e-5)
    again = retraced(found.traced, found.source())
    assert again.profile().time == found.result.after.time
    np.testing.assert_array_equal(again.run(X.copy()), one)


def test_the_division_is_repeated_from_json() -> None:
    found = split_of(exponentials, two_cores=True)
    again = split_of(exponentials, budget=0, resume=found.to_json())
    assert [step.move for step in again.result.steps] == [s.move for s in found.result.steps]
    assert len(again.traced.cores()) == 2


def test_kernels_stay_on_one_core_without_permission() -> None:
    assert len(split_of(exponentials).traced.cores()) == 1


@pytest.mark.parametrize("kernel", [traced(through_hbm), traced(exponentials, rows=128)])
def test_kernels_that_cannot_be_divided(kernel: TracedKernel) -> None:
    """Kernels whose cores would exchange data, or with one store."""
    assert not list(split.splits(kernel.cores()))
    assert len(optimized(kernel, two_cores=True).traced.cores()) == 1


def test_cores_that_write_the_same_rows_are_refused() -> None:
    found = optimized(traced(written_twice, rows=128), two_cores=True)
    assert found.result.tried > 0
    assert len(found.traced.cores()) == 1
    for _, kernels in split.splits(traced(written_twice, rows=128).cores()):
        rules = {d.rule.id for d in find_all(kernels, advise=False)}
        assert "core-double-write" in rules


def test_trn1_has_no_launches_on_two_cores() -> None:
    assert len(split_of(exponentials, "trn1", two_cores=True).traced.cores()) == 1


def test_a_core_that_forgets_a_store_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(kernel: Any, core: int, others: Any) -> Any:
        stores = [op for op in kernel.operations if op.name == "nisa.dma_copy"][1::2]
        return whole(kernel, core, [*others, *(each for each in stores[:1] if each not in others)])

    whole = split._program  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(split, "_program", program)
    found = split_of(exponentials, two_cores=True)
    assert len(found.traced.cores()) == 1


def test_both_ways_are_equal_for_all_inputs() -> None:
    kernel = traced(exponentials)
    ways = list(split.splits(kernel.cores()))
    assert [proposal.variant for proposal, _ in ways] == [0, 1]
    for proposal, kernels in ways:
        assert len(kernels) == 2
        edit = Edit(kernel.cores()[0])
        assert isinstance(proposal.change, Without)
        proposal.change(edit)
        stores = [op for op in edit.kernel.operations if op.name == "nisa.dma_copy"]
        assert len(stores) == 4
