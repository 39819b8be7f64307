"""Call sites are cached by running function, and equal those that all frames give."""

from __future__ import annotations

import gc
import random
import re
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.tracing.locations import CallSites, calls_from, location_of

Check = Callable[[], None]


class Watched:
    """Asks at each call, and compares."""

    def __init__(self) -> None:
        self.sites = CallSites()
        self.places: set[str] = set()

    def __call__(self) -> None:
        frame = sys._getframe(1)
        location = self.sites.location(frame)
        assert location is self.sites.location(frame)
        assert location == location_of(frame)
        assert self.sites.sites(frame) == tuple(calls_from(frame))
        self.places.add(str(location))


def _leaf(ask: Check) -> None:
    ask()
    ask()


def _recursive(ask: Check, depth: int) -> None:
    ask()
    if depth:
        _recursive(ask, depth - 1)
    else:
        _leaf(ask)
    ask()


def _generator(ask: Check) -> Iterator[int]:
    for number in range(3):
        ask()
        _leaf(ask)
        yield number


def _first(ask: Check, items: Iterator[int]) -> None:
    next(items)
    _leaf(ask)
    ask()


def _second(ask: Check, items: Iterator[int]) -> None:
    ask()
    next(items)
    _leaf(ask)


def _raising(ask: Check) -> None:
    ask()
    raise ValueError("raised")


def test_calls_of_all_kinds():
    ask = Watched()
    for number in range(3):
        _leaf(ask)
        _leaf(ask)
        _recursive(ask, number)
        items = _generator(ask)  # goes on under another caller
        _first(ask, items)
        _second(ask, items)
        next(items)
        list(map(lambda item: ask(), range(2)))
        with pytest.raises(ValueError, match="raised"):
            _raising(ask)
        ask()
    assert len(ask.places) > 20


@pytest.mark.parametrize("seed", range(5))
def test_random_orders_of_calls(seed):
    ask, rng = Watched(), random.Random(seed)
    items: list[Iterator[int]] = []

    def nested(depth: int) -> None:
        for _ in range(rng.randint(1, 4)):
            kind = rng.randrange(6)
            if kind == 0:
                ask()
            elif kind == 1:
                _leaf(ask)
            elif kind == 2:
                _recursive(ask, rng.randrange(3))
            elif kind == 3:
                items.append(_generator(ask))
            elif kind == 4 and items:
                next(rng.choice(items), None)
            elif depth:
                nested(depth - 1)

    for _ in range(20):
        nested(4)


def test_comprehensions_are_no_functions():
    """Python 3.11 compiles them to functions, which are ignored: each call has its line."""
    ask = Watched()

    def kernel() -> None:
        [_leaf(ask) for _ in range(2)]
        {n: [_leaf(ask) for _ in range(2)] for n in range(2)}
        [ask() for _ in {ask() for _ in range(2)}]

    kernel()
    leaf, own = _leaf.__code__.co_firstlineno, kernel.__code__.co_firstlineno
    lines = {tuple(map(int, re.findall(r"(\d+):\d+", place))) for place in ask.places}
    called = own + 5
    assert {chain[: chain.index(called)] for chain in lines} == {
        *((leaf + line, own + call) for line in (1, 2) for call in (1, 2)),
        (own + 3,),
    }


def test_a_trace_lets_go_of_the_authors_frames():
    class Held:
        pass

    alive: list[weakref.ref[Any]] = []

    def helper(tile: Any) -> None:
        held = Held()
        alive.append(weakref.ref(held))
        nisa.memset(dst=tile, value=0)

    @nki.jit
    def kernel(x: Any) -> None:
        helper(nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.sbuf))

    kernel.trace(nki.TensorSpec((4, 4), nl.float32))
    gc.collect()
    assert [each() for each in alive] == [None]
