"""A kernel for one core is divided between two cores, and computes the same results."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from support.advice import normal

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


@nki.jit
def exponentials(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for r in range(0, x.shape[0], 128):
        tile = sbuf(128, x.shape[1])
        nisa.dma_copy(dst=tile, src=x[r : r + 128, :])
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nisa.dma_copy(dst=out[r : r + 128, :], src=tile)
    return out


@nki.jit
def through_hbm(x):
    """The second loop reads a tensor in shared HBM that the first one writes."""
    middle = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for src, dst in ((x, middle), (middle, out)):
        for r in range(0, x.shape[0], 128):
            tile = sbuf(128, x.shape[1])
            nisa.dma_copy(dst=tile, src=src[r : r + 128, :])
            nisa.activation(dst=tile, op=nl.exp, data=tile)
            nisa.dma_copy(dst=dst[r : r + 128, :], src=tile)
    return out


@nki.jit
def one_store(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = sbuf(*x.shape)
    nisa.dma_copy(dst=tile, src=x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)
    nisa.dma_copy(dst=out, src=tile)
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


def traced(kernel: Any, target: str = "trn2") -> TracedKernel:
    whole = kernel in (exponentials, through_hbm)
    return kernel.for_target(target).trace(X if whole else X[:128])


def split_of(kernel: Any, target: str = "trn2", **more: Any) -> Any:
    return traced(kernel, target).optimize(**({"budget": 600, "experiments": 2} | more))


def test_each_core_computes_half_of_the_results(tmp_path) -> None:
    found = split_of(exponentials, two_cores=True)
    assert [step.move.kind for step in found.result.steps] == ["split-cores"]
    assert found.result.level is Level.bits
    for kernel in found.traced.cores():
        stores = [op for op in kernel.operations if op.name == "nisa.dma_copy"]
        assert len(stores) == 4
    (one, other) = (each.run(X.copy()) for each in (traced(exponentials), found.traced))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(other, np.exp(X), rtol=1e-5)
    path = tmp_path / "faster.py"
    path.write_text(found.source(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("faster", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    again = module.exponentials[2].for_target("trn2").trace(X)
    assert again.profile().time == found.result.after.time
    np.testing.assert_array_equal(again.run(X.copy()), one)


def test_the_division_is_repeated_from_json() -> None:
    found = split_of(exponentials, two_cores=True)
    again = split_of(exponentials, budget=0, resume=found.to_json())
    assert [step.move for step in again.result.steps] == [s.move for s in found.result.steps]
    assert len(again.traced.cores()) == 2


def test_kernels_stay_on_one_core_without_permission() -> None:
    assert len(split_of(exponentials).traced.cores()) == 1


@pytest.mark.parametrize("kernel", [through_hbm, one_store])
def test_kernels_that_cannot_be_divided(kernel: Any) -> None:
    assert not list(split.splits(traced(kernel).cores()))
    assert len(split_of(kernel, two_cores=True).traced.cores()) == 1


def test_cores_that_write_the_same_rows_are_refused() -> None:
    found = split_of(written_twice, two_cores=True)
    assert found.result.tried > 0
    assert len(found.traced.cores()) == 1
    for _, kernels in split.splits(traced(written_twice).cores()):
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
