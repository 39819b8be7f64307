"""The accumulators of the Vector Engine, which five instructions share."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    Call,
    R,
    Tile,
    View,
    X,
    Z,
    arranged,
    call,
    holding,
    some,
    whole_numbers,
)

import nkijit as nki
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.isa import NkiValidationError

P = View("p")
MASK = holding("uint8", [[0, 1, 1, 0, 2], [1, 1, 1, 1, 1]])
SHAPE = (2, 5)


def reducing(op: str, command: str, r: View | None, x: View = X) -> Call:
    init = {"reduce_init": 2.0} if command == "load_reduce" else {}
    arguments: dict[str, Any] = {"dst": Z, "data": x, "op0": "add", "operand0": 1.0} | init
    return call("tensor_scalar_reduce", **arguments, reduce_op=op, reduce_cmd=command, reduce_res=r)


def cumulative(op: str, command: str, r: View | None, x: View = X) -> Call:
    """It has no way to read the accumulators out: they stay where they are."""
    init = {"imm1": -3.0} if command == "load_reduce" else {}
    arguments: dict[str, Any] = {"dst": Z, "src": x, "op0": "subtract", "imm0": 1.0} | init
    return call("tensor_scalar_cumulative", **arguments, op1=op, reduce_cmd=command)


def ranging(op: str, command: str, r: View | None, x: View = X) -> Call:
    bounds = {"comp_op0": "greater", "comp_op1": "less", "bound0": View("c"), "bound1": View("d")}
    arguments: dict[str, Any] = {"dst": Z, "on_true_tile": x} | bounds
    return call("range_select", **arguments, reduce_op=op, reduce_cmd=command, reduce_res=r)


def selecting(op: str, command: str, r: View | None, x: View = X) -> Call:
    arguments: dict[str, Any] = {"dst": Z, "predicate": P, "on_true": x, "on_false": -2.0}
    return call("select_reduce", **arguments, reduce_op=op, reduce_cmd=command, reduce_res=r)


def exponential(op: str, command: str, r: View | None, x: View = X) -> Call:
    init = {"reduce_init": 2.0} if command == "load_reduce" else {}
    return call("exponential", dst=Z, src=x, reduce_cmd=command, reduce_res=r, **init)


SUMS = (reducing, cumulative, exponential)
MAXIMA = (reducing, cumulative, ranging, selecting)
COMMANDS = {
    reducing: ("reset_reduce", "reduce", "load_reduce"),
    cumulative: ("reset_reduce", "reduce", "load_reduce"),
    ranging: ("reset_reduce", "reduce", "reset"),
    selecting: ("reset_reduce", "reduce"),
    exponential: ("reset_reduce", "reduce", "load_reduce"),
}


def check(calls: list[Call], columns: int) -> None:
    tiles = {
        "p": MASK,
        "c": holding("float32", [[0], [-1]]),
        "d": holding("float32", [[3], [4]]),
        "r": Tile("float32", (2, columns)),
    }
    # Not every sequence of calls reads accumulators out to every column.
    arranged(calls, fill=whole_numbers, shape=SHAPE, tiles=tiles).check(unwritten=True)


@pytest.mark.parametrize("op", ["add", "maximum"])
def test_every_instruction_goes_on_from_every_other(op: str) -> None:
    sharing = SUMS if op == "add" else MAXIMA
    calls: list[Call] = []
    for first, second in product(sharing, repeat=2):
        at = len(calls) // 3
        calls.append(first(op, "reset_reduce", None))
        calls.append(second(op, "reduce", None, View("x1")))
        calls.append(reducing(op, "reduce", R[:, at : at + 1], View("x2")))
    check(calls, len(calls) // 3)


@given(st.data(), st.sampled_from(["add", "maximum"]))
@some
def test_sequences(data: st.DataObject, op: str) -> None:
    sharing = SUMS if op == "add" else MAXIMA
    calls = [reducing(op, "reset_reduce", R[:, 0:1])]
    for at in range(1, data.draw(st.integers(2, 8))):
        make = data.draw(st.sampled_from(sharing))
        command = data.draw(st.sampled_from(COMMANDS[make]))
        r = data.draw(st.sampled_from([None, R[:, at : at + 1]]))
        calls.append(make(op, command, r, View(f"x{at % 2}")))
    check(calls, 8)


def test_idle_selections_read_nothing_else() -> None:
    calls = [
        selecting("maximum", "idle", None),
        ranging("maximum", "idle", None),
        reducing("multiply", "reset_reduce", R),
    ]
    check(calls, 1)


@pytest.mark.parametrize("make", ["select_reduce", "range_select"])
def test_idle_leaves_the_accumulators_undefined(make: str) -> None:
    @nki.jit
    def kernel() -> None:
        x = nl.zeros((4, 8), nl.float32)
        column = nl.zeros((4, 1), nl.float32)
        mask = nl.zeros((4, 8), nl.uint8)
        nisa.tensor_scalar_reduce(x, x, nl.add, 1.0, nl.maximum)
        if make == "select_reduce":
            nisa.select_reduce(x, mask, x, 0.0)
        else:
            nisa.range_select(
                x, x, nl.less, nl.less, column, column, reduce_cmd=nisa.reduce_cmd.idle
            )
        nisa.tensor_scalar_reduce(
            x, x, nl.add, 1.0, nl.maximum, column, reduce_cmd=nisa.reduce_cmd.reduce
        )

    with pytest.raises(NkiValidationError, match="accumulator-undefined"):
        kernel.trace().verify()


def test_lanes_are_those_of_the_address() -> None:
    """A tile at partition 64 has other registers than one at partition 0."""

    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((32, 1), nl.float32, buffer=nl.shared_hbm)
        tiles = [
            nl.ndarray((32, 4), nl.float32, buffer=nl.sbuf, address=(first, 0)) for first in (0, 64)
        ]
        total = nl.ndarray((32, 1), nl.float32, buffer=nl.sbuf)
        for tile in tiles:
            nisa.dma_copy(dst=tile, src=x)
        low, high = tiles
        reduction = {"op": nl.copy, "reduce_op": nl.add}
        reset, go_on = nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce
        nisa.activation(dst=high, data=high, **reduction, reduce_cmd=reset)
        nisa.activation(dst=low, data=low, **reduction, reduce_cmd=reset, reduce_res=total)
        nisa.activation(dst=high, data=high, **reduction, reduce_cmd=go_on, reduce_res=total)
        nisa.dma_copy(dst=out, src=total)
        return out

    assert (kernel(np.ones((32, 4), np.float32)) == 8).all()
