"""Mistakes in compiler passes change the results of compiled kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from support.compiled_runs import check
from support.kernel_parts import random_kernel
from support.lowered_runs import numbers
from support.odd_kernels import loop_that_stops, odd_kernel
from support.redundant_kernels import redundant_kernel
from support.tangled_kernels import tangled_kernel, visible_kernel

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.access import AccessPattern
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.compile.analyses import ordering as order
from nkijit.passes.compile.passes import accumulate_in_psum as accumulate
from nkijit.passes.compile.passes import forward_copies as forward
from nkijit.passes.compile.passes import hoist_invariant as hoist
from nkijit.passes.compile.passes import remove_unused as dead
from nkijit.passes.compile.passes import rename_tiles as rename
from nkijit.passes.compile.passes import share_loads as share
from nkijit.passes.compile.passes import share_results
from nkijit.passes.compile.passes import spread_engines as spread
from nkijit.passes.compile.pipeline import compiled
from nkijit.passes.prove.proof import prove
from nkijit.traced.kernel import TracedKernel

Kernels = Iterator[tuple[TracedKernel, Any]]


def tangled() -> Kernels:
    for seed in range(12):
        yield tangled_kernel(seed, "trn3", 24, 0)


def visible() -> Kernels:
    for seed in range(12):
        yield visible_kernel(seed, "trn3", 16)


def redundant() -> Kernels:
    for seed in range(24):
        yield redundant_kernel(seed, "trn3", 16, 0)


def loops() -> Kernels:
    for seed in range(24):
        yield redundant_kernel(seed, "trn3", 6, 1)


def odd(depth: int = 0) -> Callable[[], Kernels]:
    def made() -> Kernels:
        for seed in range(24):
            yield odd_kernel(seed, "trn3", 5 if depth else 14, depth)

    return made


def stopping() -> Kernels:
    yield from map(loop_that_stops, ("before", "behind"))


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


def _signed_matmul(left: Any, right: Any, out: Any) -> None:
    """A product that begins with its first term: no zero is added to it."""
    np.multiply(left[:, :1], right[:1], out)
    for k in range(1, len(right)):
        out += left[:, k : k + 1] * right[k : k + 1]


def negative_zeros() -> Kernels:
    """Products that are too small, and negative, added to zero.

    Some processors' BLAS leaves them negative, others' adds them to zero itself.
    """

    @nki.jit
    def kernel(x):
        out = nl.ndarray((64, 64), nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((64, 64), nl.float32, buffer=nl.sbuf)
        other = nl.ndarray((64, 64), nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((64, 64), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(tile, x[0])
        nisa.dma_copy(other, x[1])
        nisa.memset(total, 0.0)
        for _ in range(3):
            product = nl.ndarray((64, 64), nl.float32, buffer=nl.psum)
            nisa.nc_matmul(product, tile, other, accumulate=False)
            nisa.tensor_tensor(total, total, product, op=nl.add)
        nisa.dma_copy(out, total)
        return out

    x = np.full((2, 64, 64), 1e-30, np.float32)
    x[1] *= -1
    with patch.object(np, "matmul", _signed_matmul):
        yield kernel.trace(x), [x]


def integers() -> Kernels:
    """A sum of integers, which GpSimd makes exactly; it does not reach PSUM."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray((64, 64), nl.int32, buffer=nl.shared_hbm)
        tile = nl.ndarray((64, 64), nl.int32, buffer=nl.sbuf)
        held = nl.ndarray((64, 64), nl.int32, buffer=nl.psum)
        copied = nl.ndarray((64, 64), nl.int32, buffer=nl.sbuf)
        total = nl.ndarray((64, 64), nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        nisa.tensor_tensor(held, tile, tile, op=nl.bitwise_or)
        nisa.tensor_copy(copied, held, engine=nisa.vector_engine)
        nisa.tensor_tensor(total, copied, tile, op=nl.add)
        nisa.dma_copy(out, total)
        return out

    x = np.random.default_rng(0).integers(-(2**30), 2**30, (64, 64)).astype(np.int32)
    yield kernel.trace(x), [x]


def maxima() -> Kernels:
    """Maxima, which Scalar does not compute, and more of them than Vector has time for."""

    @nki.jit(platform_target="trn1")
    def kernel(x):
        out = nl.ndarray((8, 64, 512), nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((64, 512), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        for number in range(8):
            largest = nl.ndarray((64, 512), nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(largest, tile, op0=nl.maximum, operand0=float(number))
            nisa.dma_copy(out[number], largest)
        return out

    x = np.random.default_rng(0).standard_normal((64, 512)).astype(np.float32)
    yield kernel.trace(x), [x]


def forgets(owner: Any, name: str) -> tuple[Any, str, Any]:
    """A mutant in which a function does nothing."""
    return owner, name, lambda *_, **__: ()


def _only_writers(accesses: Any, found: Any) -> None:
    writer = -1
    for number, writes in accesses:
        if writer >= 0:
            found[number].add(writer)
        writer = number if writes else writer


def _only_readers(accesses: Any, found: Any) -> None:
    readers: list[int] = []
    for number, writes in accesses:
        if writes:
            found[number].update(readers)
        readers = [] if writes else [*readers, number]


def _needs_nothing(self: Any, value: Any, needed: bool) -> None:
    return None


def _touches_all(access: Any, tile: Any) -> bool:
    return any(info_of(effect.value) == tile for effect in access.effects)


def _in_use(first: Any, second: Any, accesses: Any, meetings: Any) -> bool:
    return first.last >= second.place


def _never(self: Any) -> int:
    return -1


def _forget(self: Any, ready: int) -> None:
    return None


MUTANTS = {
    "an instruction does not wait for readers": (order, "_wait", _only_writers, visible),
    "an instruction does not wait for writers": (order, "_wait", _only_readers, visible),
    "parts of a tensor are forgotten": (*forgets(order, "_by_cell"), tangled),
    "tensors at one address": (*forgets(order, "_sharing"), of_part("placed")),
    "what engines keep": (*forgets(order.Kept, "of"), of_part("summed")),
    "a tile is renamed that is still read": (rename._Needed, "set", _needs_nothing, tangled),
    "matmuls add by what was written before": (rename, "_adds", lambda op, target: False, groups),
    "a sum does not begin with zero": (accumulate, "_is_zero", lambda value: True, redundant),
    "a part is changed on its way": (accumulate, "_touches", _touches_all, redundant),
    "a sum begins with a negative zero": (accumulate, "_added", accumulate._copied, negative_zeros),
    "matmuls in another order": (accumulate._Sum, "ready", property(_never, _forget), redundant),
    "what a loop writes changes": (hoist, "_count", lambda places, first, last: 0, loops),
    "a loop may not run": (hoist, "_runs", lambda loop: True, loops),
    "the source of a copy changes": (forward, "_changes", lambda *_: False, redundant),
    "an instruction chooses another engine": (
        *(forward, "engine_of", lambda op, target: None),
        integers,
    ),
    "an engine lacks the operator": (spread, "all_rules_of", lambda kind: (), maxima),
    "HBM is written between": (share, "_overlaps_any", lambda source, written: False, redundant),
    "a shared tile is written": (share, "_can_replace", _in_use, redundant),
    "what has been computed from has changed": (
        *forgets(share_results, "between"),
        redundant,
    ),
    "a shared result is changed": (share_results, "_writes", lambda accesses: False, redundant),
    "what is read is unused": (
        dead._Readers,
        "_reads",
        lambda self, access, base: False,
        tangled,
    ),
    "what stays needs no data": (dead, "_has_no_other_effect", lambda op, kept: True, odd()),
    "a copy has the lanes of its source": (forward, "lanes_of", lambda value: None, odd()),
    "no pattern repeats an element": (
        AccessPattern,
        "repeats",
        property(lambda self: False),
        odd(),
    ),
    "a result of some elements is a tile": (share_results, "fills_tile", lambda _: True, odd()),
    "an index of a loop is a constant": (
        hoist,
        "_depends_on_loop",
        lambda op, block: False,
        odd(1),
    ),
    "loops run": (share, "_is_in", lambda block, op: True, stopping),
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


LOWERED_ONLY = frozenset({"tensors at one address", "an engine lacks the operator"})
"""Mistakes that keep the computed values: only lowering and verification make them visible."""

WITHOUT_VALUE = frozenset({"an index of a loop is a constant"})
"""Mistakes that use an index outside of its loop: a run on terms fails as one on data does."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MUTANTS.keys() - LOWERED_ONLY))
def test_a_mistake_is_refuted_without_data(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, mistake, kernels = MUTANTS[name]
    for traced, _ in kernels():
        own = kernels_of(traced.module)
        counts = (1, 3)  # the iterations of loops that run as often as data says
        for trips in counts:
            honest = prove(own, [compiled(kernel).kernel for kernel in own], "bits", trips)
            assert honest.holds("bits"), honest
        monkeypatch.setattr(owner, attribute, mistake)
        try:
            made = [compiled(kernel).kernel for kernel in own]
        except Exception:
            return
        finally:
            monkeypatch.undo()
        proofs = [prove(own, made, "bits", trips) for trips in counts]
        if any(proof.difference is not None for proof in proofs):
            return
        if name in WITHOUT_VALUE and any(proof.unproven is not None for proof in proofs):
            return
    pytest.fail("no kernel shows it")
