"""Edges to later instructions: the waiting instruction moves, with those that need it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import nkijit
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.dialects.declare.operation import is_instruction
from nkijit.passes.lower.edges import with_edges_in_order

NUMBERS = np.zeros((4, 4), np.int32)


def i32(buffer: Any = nl.sbuf) -> Any:
    return nl.ndarray((4, 4), dtype=nl.int32, buffer=buffer)


def order(kernel: Any) -> list[str]:
    """The operations of a kernel in their order, instructions by their names."""
    arranged, _ = with_edges_in_order(kernel.trace(NUMBERS)._kernels[0])
    arranged.verify()
    ops = arranged.body.block.ops
    return [(op.label or op.name) if is_instruction(op) else op.name for op in ops]


@pytest.mark.parametrize("length", [2, 3, 4, 7])
def test_a_chain_of_edges_at_the_end(length: int) -> None:
    @nkijit.jit
    def kernel(x: Any) -> None:
        made = [nisa.memset(dst=i32(), value=0, name=f"set{i}") for i in range(length)]
        for first, second in pairwise(made):
            first.depends_on(second)

    *_, last = names = order(kernel)
    assert [name for name in names if name.startswith("set")] == [
        f"set{i}" for i in reversed(range(length))
    ]
    assert last == "nki.return"


@nkijit.jit
def _printed(x: Any) -> None:
    tile = i32()
    first = nisa.memset(dst=tile, value=1, name="first")
    nl.device_print("tile", tile)
    first.depends_on(nisa.memset(dst=i32(), value=2, name="late"))


@nkijit.jit
def _bounds(x: Any) -> None:
    count, tile = i32(), i32()
    first = nisa.memset(dst=count, value=1, name="first")
    register = nisa.register_alloc(1)
    nisa.register_load(register, count[0:1, 0:1])
    for _ in nl.dynamic_range(register):
        nisa.memset(dst=tile, value=1)
    first.depends_on(nisa.memset(dst=i32(), value=2, name="late"))


@nkijit.jit
def _index(x: Any) -> None:
    count, tile, other = i32(), i32(), i32()
    first = nisa.memset(dst=count, value=1, name="first")
    nisa.memset(dst=tile, value=1)
    register = nisa.register_alloc(1)
    nisa.register_load(register, count[0:1, 0:1])
    nisa.tensor_copy(dst=other[:, 0:1], src=tile[:, nl.ds(register, 1)], name="user")
    first.depends_on(nisa.memset(dst=i32(), value=2, name="late"))


@pytest.mark.parametrize(
    ("kernel", "user"), [(_printed, "nki.device_print"), (_bounds, "scf.for"), (_index, "user")]
)
def test_users_of_a_moved_instruction_move_along(kernel: Any, user: str) -> None:
    names = order(kernel)
    assert names.index("late") < names.index("first") < names.index(user)
