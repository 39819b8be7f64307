"""Dependences of instructions, against bytes that are recorded one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.tangled_kernels import visible_kernel

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.effects import effects
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.nki.views import ViewOp
from nkijit.passes.compile.analyses.ordering import Kept, predecessors


def bytes_of(value: Any) -> tuple[Any, set[int]]:
    """The tensor that a static tile is of, and its bytes there."""
    memref, owner = value.type, value.owner
    base = owner.source if isinstance(owner, ViewOp) else value
    size = max(1, memref.element_type.bitwidth // 8)
    if isinstance(owner, ViewOp):
        pairs, offset = owner.access.strides, owner.access.offset
        numbers = np.full(owner.access.shape, offset)
        for dim, stride in enumerate(pairs):
            shape = [1] * numbers.ndim
            shape[dim] = -1
            numbers = numbers + (np.arange(numbers.shape[dim]) * stride).reshape(shape)
    else:
        numbers = np.arange(int(np.prod(memref.get_shape())))
    first = numbers.ravel() * size
    return base, {int(n) + byte for n in first for byte in range(size)}


def reached(before: Sequence[set[int]]) -> list[set[int]]:
    """All that comes before each instruction, directly or not."""
    found: list[set[int]] = []
    for direct in before:
        found.append(direct.union(*(found[number] for number in direct)))
    return found


def check(traced: Any) -> None:
    """Instructions that share bytes are in order, and others are not put into one."""
    (kernel,) = kernels_of(traced.module)
    ops = [op for op in kernel.operations if is_instruction(op)]
    touched = [[(*bytes_of(e.value), e.role is not Role.read) for e in effects(op)] for op in ops]
    direct = predecessors(ops, Kept.by(kernel))
    before = reached(direct)
    for late in range(len(ops)):
        for early in range(late):
            shares = any(
                base is other and (writes or written) and mine & theirs
                for base, mine, writes in touched[late]
                for other, theirs, written in touched[early]
            )
            assert not shares or early in before[late], (early, late)
            assert shares or early not in direct[late], (early, late)


@pytest.mark.parametrize("seed", range(6))
def test_kernels_in_which_everything_is_touched(seed: int) -> None:
    check(visible_kernel(seed, "trn3", 12)[0])


def test_a_tensor_in_many_pieces() -> None:
    @nki.jit
    def kernel(x):
        out = nl.ndarray((2, 16, 80), nl.float32, buffer=nl.shared_hbm)
        pieces = nl.ndarray((16, 80), nl.float32, buffer=nl.private_hbm)
        tile = nl.ndarray((16, 80), nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        for number in range(2):
            for column in range(0, 80, 2):
                width = slice(column, column + 2)
                nisa.dma_copy(pieces[:, width], tile[:, width])
            for row in range(0, 16, 4):
                rows = slice(row, row + 4)
                nisa.dma_copy(out[number, rows, :], pieces[rows, :])
        return out

    check(kernel.trace(nki.TensorSpec((16, 80), "float32")))
