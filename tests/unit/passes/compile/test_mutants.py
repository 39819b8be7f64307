"""Mistakes in the compiler's passes are seen in what compiled kernels compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from support.compiled_runs import check
from support.kernel_parts import random_kernel
from support.lowered_runs import numbers
from support.tangled_kernels import tangled_kernel, visible_kernel

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.compile import dead, order, rename
from nkijit.traced import TracedKernel

Kernels = Iterator[tuple[TracedKernel, Any]]


def tangled() -> Kernels:
    for seed in range(12):
        yield tangled_kernel(seed, "trn3", 24, 0)


def visible() -> Kernels:
    for seed in range(12):
        yield visible_kernel(seed, "trn3", 16)


def of_part(part: str) -> Callable[[], Kernels]:
    def made() -> Kernels:
        for seed in range(8):
            kernel = random_kernel(Random(f"{part} {seed}"), part)
            yield kernel.trace(), [numbers(spec, seed) for _, spec in kernel.arguments]

    return made


def groups() -> Kernels:
    """A bank of PSUM in which matmuls add, and which is then used for other sums."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray((4, 128, 128), nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 128), nl.float32, buffer=nl.sbuf)
        result = nl.ndarray((128, 128), nl.float32, buffer=nl.sbuf)
        sums = nl.ndarray((128, 128), nl.float32, buffer=nl.psum)
        nisa.dma_copy(tile, x)
        for number in range(4):
            nisa.memset(sums, 1.0 + number)
            for _ in range(2):
                nisa.nc_matmul(sums, tile, tile)
            nisa.tensor_copy(result, sums)
            nisa.dma_copy(out[number], result)
        return out

    x = np.random.default_rng(0).standard_normal((128, 128), np.float32)
    yield kernel.trace(x), [x]


def forgets(owner: Any, name: str) -> tuple[Any, str, Any]:
    """A mutant in which a function does nothing."""
    return owner, name, lambda *_, **__: ()


def _only_writers(self: Any, value: Any, writes: bool, into: set[int]) -> None:
    if self._writer is not None:
        into.add(self._writer)


def _only_readers(self: Any, value: Any, writes: bool, into: set[int]) -> None:
    if writes:
        into.update(self._readers)


def _needs_nothing(self: Any, value: Any, needed: bool) -> None:
    return None


MUTANTS = {
    "an instruction does not wait for readers": (order._Whole, "before", _only_writers, visible),
    "an instruction does not wait for writers": (order._Whole, "before", _only_readers, visible),
    "parts of a tensor are forgotten": (*forgets(order._Few, "before"), tangled),
    "tensors at one address": (*forgets(order, "_sharing"), of_part("placed")),
    "what engines keep": (*forgets(order.Kept, "of"), of_part("summed")),
    "a tile is renamed that is still read": (rename._Needed, "set", _needs_nothing, tangled),
    "matmuls add by what was written before": (rename, "_adds", lambda op, target: False, groups),
    "what is read is unused": (dead, "_only_itself", lambda op, base: True, tangled),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, mistake, kernels = MUTANTS[name]
    found = False
    for traced, inputs in kernels():
        monkeypatch.setattr(owner, attribute, mistake)
        try:
            check(traced, inputs, range(4))
        except Exception:
            found = True
        monkeypatch.undo()
        if found:
            return
    pytest.fail("no kernel shows it")
