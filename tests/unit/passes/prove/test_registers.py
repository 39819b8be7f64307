"""Terms of registers that depend on inputs, and of loops that they bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.traced.kernel import TracedKernel

COUNTS = np.zeros((1, 2), np.int32)
TILE = np.zeros((128, 16), np.float32)
Body = Callable[..., None]


def of(body: Body, *, scalars: bool = False) -> TracedKernel:
    """A kernel that computes `y` from a tile and two registers or scalars loaded from inputs."""

    def kernel(x, counts):
        y = nl.ndarray((128, 16), nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 16), nl.float32, buffer=nl.sbuf)
        loaded = nl.ndarray((1, 2), nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        nisa.dma_copy(loaded, counts)
        registers = []
        for number in range(2):
            element = loaded[0:1, number : number + 1]
            if scalars:
                registers.append(nisa.scalar_load(element))
            else:
                registers.append(nisa.register_alloc())
                nisa.register_load(registers[-1], element)
        body(tile, *registers)
        nisa.dma_copy(y, tile)
        return y

    return nki.jit(kernel).trace(TILE, COUNTS)


def select(tile: Any, offset: Any, compare: str = "greater_equal", fill: float = 0.0) -> None:
    nisa.affine_select(
        dst=tile,
        pattern=[[-1, 16]],
        channel_multiplier=1,
        on_true_tile=tile,
        on_false_value=fill,
        cmp_op=getattr(nl, compare),
        offset=offset,
    )


def added(tile, n, m):
    select(tile, n + m)


def added_swapped(tile, n, m):
    select(tile, m + n)


def subtracted(tile, n, m):
    select(tile, n - m)


def subtracted_swapped(tile, n, m):
    select(tile, m - n)


def moved(tile, n, m):
    other = nisa.register_alloc()
    nisa.register_move(other, n)
    select(tile, other)


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        (added, added_swapped, "bits"),
        (moved, lambda tile, n, m: select(tile, n), "bits"),
        (added, subtracted, None),
        (subtracted, subtracted_swapped, None),
        (moved, lambda tile, n, m: select(tile, m), None),
        (moved, lambda tile, n, m: select(tile, n, "greater"), None),
        (moved, lambda tile, n, m: select(tile, n, fill=1.0), None),
        (moved, lambda tile, n, m: select(tile, 0), None),
    ],
)
def test_an_offset_in_a_register(old: Body, new: Body, level: str | None) -> None:
    proof = of(old, scalars=True).equivalent(of(new, scalars=True), "bits")
    assert proof.unproven is None
    assert proof.level == level


def doubled(tile: Any, count: Any, factor: float = 2.0) -> None:
    for _ in nl.dynamic_range(count):
        nisa.tensor_scalar(tile, tile, nl.multiply, factor)


def test_a_loop_of_unknown_trip_count_needs_a_given_count() -> None:
    traced = of(lambda tile, n, m: doubled(tile, n))
    proof = traced.equivalent(traced)
    assert proof.level is None
    assert proof.unproven is not None
    assert proof.unproven.reason == "its trip count depends on inputs"
    assert proof.unproven.place is not None
    assert "dynamic_range" in proof.unproven.place.source_line()
    given = traced.equivalent(traced, trips=3)
    assert (given.level, given.trips) == ("bits", 3)
    assert "run 3 times" in str(given)


def twice(tile, n, m):
    for _ in range(2):
        nisa.tensor_scalar(tile, tile, nl.multiply, 2.0)


@pytest.mark.parametrize(
    ("new", "trips", "level"),
    [
        (twice, 2, "bits"),
        (twice, 1, None),
        (lambda tile, n, m: doubled(tile, n, 3.0), 2, None),
        (lambda tile, n, m: doubled(tile, n, 3.0), 0, "bits"),
        (lambda tile, n, m: doubled(tile, m), 2, None),
    ],
)
def test_given_trips(new: Body, trips: int, level: str | None) -> None:
    old = of(lambda tile, n, m: doubled(tile, n))
    proof = old.equivalent(of(new), trips=trips)
    assert proof.level == level


def test_another_trip_count_is_another_assumption() -> None:
    old, new = of(lambda tile, n, m: doubled(tile, n)), of(lambda tile, n, m: doubled(tile, m))
    proof = old.equivalent(new, trips=2)
    assert proof.unproven is not None
    assert "the trip count of a loop is another term" in proof.unproven.reason


def test_a_condition_that_never_changes_excludes_trips() -> None:
    def endless(tile, n, m):
        while n:
            nisa.tensor_scalar(tile, tile, nl.multiply, 2.0)

    traced = of(endless)
    proof = traced.equivalent(traced, trips=2)
    assert proof.unproven is not None
    assert "does not end after 2 iterations" in proof.unproven.reason
    assert traced.equivalent(traced, trips=0).level == "bits"
