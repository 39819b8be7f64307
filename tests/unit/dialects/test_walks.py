"""Facts about a program that are cached while it does not change."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.walks import directly_in, found_once, operations, unchanged


def _kernel() -> KernelOp:
    """A loop in a loop, between instructions."""

    @nki.jit
    def kernel(x: Any, out: Any) -> None:
        tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        for _ in nl.dynamic_range(4):
            nisa.dma_copy(dst=tile, src=x)
            for _ in nl.dynamic_range(2):
                nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=out, src=tile)

    spec = nki.TensorSpec((128, 64), nl.float32)
    return kernels_of(kernel.trace(spec, spec).module)[0]


def _all(kernel: KernelOp) -> tuple[list[Operation], list[list[Operation]]]:
    """Its operations, and those of each block, as they are given."""
    blocks = [kernel.body.block]
    blocks += [op.body.block for op in kernel.body.walk() if isinstance(op, ForOp)]
    assert len(blocks) == 3
    return list(kernel.operations), [list(directly_in(block)) for block in blocks]


def test_cached_operations_are_the_operations_of_the_kernel() -> None:
    kernel = _kernel()
    walked = list(kernel.body.walk())
    found = _all(kernel)
    assert found[0] == walked
    assert sum(map(len, found[1])) == len(walked)
    with unchanged([kernel]):
        assert _all(kernel) == found
        with unchanged([kernel]):
            assert _all(kernel) == found
        # Kept until the outer one ends.
        assert isinstance(kernel.operations, list)
        assert list(operations(kernel.body.block)) == walked


def test_later_changes_are_seen() -> None:
    kernel = _kernel()
    with pytest.raises(ValueError, match="wrong"), unchanged([kernel]):
        raise ValueError("wrong")
    before = _all(kernel)
    loop = next(op for op in kernel.operations if isinstance(op, ForOp))
    inner = next(iter(loop.body.block.ops))
    inner.detach()
    inner.erase()
    after = _all(kernel)
    assert len(after[0]) == len(before[0]) - 1
    assert inner not in after[0]
    assert len(after[1][1]) == len(before[1][1]) - 1


def test_failed_walks_are_not_cached() -> None:
    kernel, broken = _kernel(), _kernel()
    broken.detach_region(broken.body)
    with pytest.raises(IndexError), unchanged([kernel, broken]):
        pytest.fail("it has no body")
    assert not isinstance(kernel.operations, list)
    assert not isinstance(directly_in(kernel.body.block), list)


def test_requested_facts_are_computed_once() -> None:
    kernel, other = _kernel(), _kernel()
    asked: list[KernelOp] = []

    def count(program: KernelOp) -> int:
        asked.append(program)
        return len(asked)

    assert [found_once(kernel, count) for _ in range(2)] == [1, 2]
    with unchanged([kernel, other]):
        assert [found_once(kernel, count) for _ in range(2)] == [3, 3]
        assert [found_once(other, count) for _ in range(2)] == [4, 4]
        assert found_once(kernel, count) == 3
    assert found_once(kernel, count) == 5
    assert asked == [kernel, kernel, kernel, other, kernel]
