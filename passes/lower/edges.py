"""The author's edges to instructions further down: what waits for one is moved behind it.

`depends_on` and `with_schedule` may name an instruction that comes later in the program. Everything
behind this pass works in program order, so the waiting instruction, and whatever needs its results,
is put behind the one that it names.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare import NisaOp, is_instruction
from nkijit.dialects.effects import registers_written
from nkijit.dialects.nki import KernelOp, NoReorderOp
from nkijit.dialects.registers import RegisterType
from nkijit.passes.analysis.dependences import share_bytes


def with_edges_in_order(kernel: KernelOp) -> tuple[KernelOp, dict[Operation, Operation]]:
    """The kernel with every instruction behind those that the author wants to run before it.

    The kernel itself where that is so already, else a changed copy, together with the operation
    that each one of it is a copy of. The kernel is verified: `verify-schedule` has found edges that
    cannot be kept.
    """
    if not any(op.after is not None for op in kernel.operations if is_instruction(op)):
        return kernel, {}
    if all(_late(block) is None for block in _blocks(kernel)):
        return kernel, {}
    copy = kernel.clone()
    origins = dict(zip(copy.walk(), kernel.walk(), strict=True))
    for block in _blocks(copy):
        if _late(block) is not None:
            _arrange(block)
    return copy, origins


def _blocks(op: Operation) -> Iterator[Block]:
    """The blocks whose operations may change places."""
    for inner in op.walk():
        if not isinstance(inner, NoReorderOp):
            for region in inner.regions:
                yield from region.blocks


def _instructions(unit: Operation) -> list[NisaOp]:
    return [op for op in unit.walk() if is_instruction(op)]


def _late(block: Block) -> Operation | None:
    """The first operation of a block that waits for a later one of it."""
    place = _places(block)
    for number, unit in enumerate(block.ops):
        if any(place.get(name, -1) > number for name in _awaited(unit)):
            return unit
    return None


def _places(block: Block) -> dict[str, int]:
    """Where in a block each instruction with a name is."""
    return {
        op.label: number
        for number, unit in enumerate(block.ops)
        for op in _instructions(unit)
        if op.instruction_name is not None
    }


def _awaited(unit: Operation) -> set[str]:
    return {name for op in _instructions(unit) for name in op.runs_after}


def _arrange(block: Block) -> None:
    """Hold back what waits for a later operation, and what needs its results."""
    missing = set(_places(block))
    done: list[Operation] = []
    held: list[Operation] = []
    for unit in list(block.ops):
        waits = not missing.isdisjoint(_awaited(unit) - _labels(unit))
        if waits or any(_needs(unit, other) for other in held):
            held.append(unit)
            continue
        _finish(unit, done, missing)
        for other in list(held):
            behind = held[: held.index(other)]
            free = missing.isdisjoint(_awaited(other) - _labels(other))
            if free and not any(_needs(other, first) for first in behind):
                held.remove(other)
                _finish(other, done, missing)
    for unit in (*done, *held):
        unit.detach()
        block.add_op(unit)


def _labels(unit: Operation) -> set[str]:
    return {op.label for op in _instructions(unit) if op.instruction_name is not None}


def _finish(unit: Operation, done: list[Operation], missing: set[str]) -> None:
    done.append(unit)
    missing -= _labels(unit)


def _needs(unit: Operation, other: Operation) -> bool:
    """True when an operation has to stay behind another one."""
    if any(use.operation is unit for result in other.results for use in result.uses):
        return True
    return any(
        share_bytes(one, two) or _share_registers(one, two) or one.label in two.runs_after
        for two in _instructions(unit)
        for one in _instructions(other)
    )


def _share_registers(one: NisaOp, two: NisaOp) -> bool:
    written = {*registers_written(one), *registers_written(two)}
    return bool(written & _registers(one) & _registers(two))


def _registers(op: NisaOp) -> set[SSAValue]:
    return {value for value in op.operands if isinstance(value.type, RegisterType)}
