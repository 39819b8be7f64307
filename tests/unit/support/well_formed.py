"""Checks of the IR that every trace has to pass: SSA dominance, and exact text."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

from xdsl.ir import Block, Operation, SSAValue

from nkijit.classic.launch.errors import ClassicTracedKernel
from nkijit.host.identities import Noted
from nkijit.ir.text import ir_text_of, parse
from nkijit.kernels.hooks import WATCHERS
from nkijit.traced.kernel import TracedKernel


def used_above_definition(op: Operation) -> Iterator[str]:
    """Operands inside an operation whose definitions do not dominate their uses.

    xDSL's verifier does not check dominance. Regions of kernels have one block, so a value
    dominates the operations that follow it in its block, and the regions of these.
    """
    for region in op.regions:
        for block in region.blocks:
            yield from _in_block(block, set())


def _in_block(block: Block, visible: set[SSAValue]) -> Iterator[str]:
    defined: list[SSAValue] = [*block.args]
    visible.update(defined)
    for op in block.ops:
        for operand in op.operands:
            if operand not in visible:
                yield f"%{operand.name_hint} of {op.name} is not defined above: {op}"
        for region in op.regions:
            for inner in region.blocks:
                yield from _in_block(inner, visible)
        visible.update(op.results)
        defined += op.results
    visible.difference_update(defined)


def check_dominance(op: Operation) -> None:
    """Fail for the first operand that is used above its definition."""
    found = next(used_above_definition(op), None)
    assert found is None, found


def check_text(traced: TracedKernel) -> None:
    """Fail unless a kernel that is read from its text has the same text."""
    text = traced.text()
    assert ir_text_of(parse(text)) == text


@contextmanager
def checking_traces() -> Generator[None]:
    """Check each kernel that is traced, once; the text of those of the classic API, too."""
    checked = Noted[bool]()

    def check(traced: TracedKernel) -> None:
        if checked.of(traced):
            return
        checked.note(traced, True)
        check_dominance(traced.module)
        if isinstance(traced, ClassicTracedKernel):
            check_text(traced)

    WATCHERS.append(check)
    try:
        yield
    finally:
        WATCHERS.remove(check)
