"""Reorders blocks: instructions follow those that `depends_on` and `with_schedule` name.

Both arguments may name an instruction that comes later in the program. The waiting instruction, and
all instructions that depend on it, then move after the named one. There is no such order if the
named instruction itself depends on the waiting one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.effects import reads_and_writes, registers_written
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp, NoReorderOp
from nkijit.dialects.nki.registers import ReadRegisterOp
from nkijit.dialects.nki.views import base_of, index_of
from nkijit.dialects.register_type import RegisterType
from nkijit.passes.analysis.flow.dependences import share_bytes


def has_edges(kernel: KernelOp) -> bool:
    """Whether an instruction of a kernel names other instructions that must run first."""
    return any("after" in op.properties and is_instruction(op) for op in kernel.operations)


def blocks_out_of_order(kernel: KernelOp) -> Iterator[Block]:
    """Yield the blocks in which an operation waits for a later operation."""
    return (block for block in _blocks(kernel) if _is_late(block))


def put_in_order(kernel: KernelOp) -> None:
    """Move each instruction after the instructions that its `depends_on` or `with_schedule` names.

    The kernel must be verified: `verify-schedule` reports edges that cannot be satisfied.
    """
    if has_edges(kernel):
        for block in list(blocks_out_of_order(kernel)):
            arrangement = Arrangement(block)
            assert not arrangement.stuck, "verify-schedule has found circles"
            arrangement.apply()


def _blocks(op: Operation) -> Iterator[Block]:
    """Yield the blocks whose operations may be reordered."""
    for inner in op.walk():
        if not isinstance(inner, NoReorderOp):
            for region in inner.regions:
                yield from region.blocks


def _instructions(unit: Operation) -> list[NisaOp]:
    return [op for op in unit.walk() if is_instruction(op)]


def _is_late(block: Block) -> bool:
    """Whether an operation of a block waits for a later operation of the same block."""
    place = _places(block)
    return any(
        place.get(name, -1) > number
        for number, unit in enumerate(block.ops)
        for name in _awaited(_instructions(unit))
    )


def _places(block: Block) -> dict[str, int]:
    """Return the position in a block of each named instruction, or of the loop around it."""
    return {
        op.label: number
        for number, unit in enumerate(block.ops)
        for op in _instructions(unit)
        if op.instruction_name is not None
    }


def _awaited(instructions: Iterable[NisaOp]) -> set[str]:
    return {name for op in instructions for name in op.runs_after}


@dataclass(slots=True, eq=False)
class Unit:
    """An operation of a block with its nested operations, which move together."""

    op: Operation
    number: int
    actors: list[Operation] = field(init=False)
    """The operations of the unit that read or write tiles or registers."""
    instructions: list[NisaOp] = field(init=False)
    labels: set[str] = field(init=False)
    """The names of the unit's named instructions."""
    awaited: set[str] = field(init=False)
    """The names of instructions outside of the unit that must run before the unit."""
    keys: dict[SSAValue, None] = field(init=False)
    """The values that the unit uses. Two units without a common value may change their order."""

    def __post_init__(self) -> None:
        inside = list(self.op.walk())
        kinds = (DevicePrintOp, ReadRegisterOp)
        self.actors = [op for op in inside if is_instruction(op) or isinstance(op, kinds)]
        self.instructions = _instructions(self.op)
        self.labels = {op.label for op in self.instructions if op.instruction_name is not None}
        self.awaited = _awaited(self.instructions) - self.labels
        self.keys = dict.fromkeys(self.op.results)
        for op in inside:
            self.keys.update(dict.fromkeys(op.operands))
        for op in self.actors:
            self.keys.update(dict.fromkeys(base_of(value) for value, _ in reads_and_writes(op)))
            self.keys.update(dict.fromkeys(_registers(op)))

    def needs(self, other: Unit) -> bool:
        """Whether the unit must stay after the unit `other`, which precedes it in the program."""
        if not self.keys.keys().isdisjoint(other.op.results):
            return True
        return any(
            share_bytes(one, two) or _share_registers(one, two)
            for two in self.actors
            for one in other.actors
        )


class Arrangement:
    """A new order of a block, in which each operation follows the operations that it waits for."""

    def __init__(self, block: Block):
        """Compute the order; `apply` changes the block."""
        self._block = block
        self._missing = set(_places(block))
        """The names of instructions that have not been placed."""
        self._done: list[Operation] = []
        self._held: dict[SSAValue, dict[Unit, None]] = {}
        """The delayed units that use each value."""
        self._waiters: dict[Unit | str, list[Unit]] = {}
        """The delayed units, grouped by the unit or name that each of them waits for."""
        self._last: list[Operation] = []
        units: list[Unit] = []
        for number, op in enumerate(block.ops):
            if op.has_trait(IsTerminator):
                self._last.append(op)
            elif isinstance(op, DECLARATIONS):
                self._done.append(op)
            else:
                units.append(Unit(op, number))
                self._place_or_delay(units[-1])
        done = {id(op) for op in self._done}
        self.stuck = [unit for unit in units if id(unit.op) not in done]
        """The units that cannot be placed, because they wait for each other or for such units."""

    def apply(self) -> None:
        """Reorder the operations of the block."""
        for op in (*self._done, *self._last):
            op.detach()
            self._block.add_op(op)

    def _place_or_delay(self, unit: Unit) -> None:
        before = self._obstacle(unit, newest_first=True)
        if before is None:
            self._finish(unit)
            return
        self._waiters.setdefault(before, []).append(unit)
        for key in unit.keys:
            self._held.setdefault(key, {})[unit] = None

    def _obstacle(self, unit: Unit, *, newest_first: bool) -> Unit | str | None:
        """Return a unit or an instruction name that a unit still waits for; None without one."""
        missing = min(unit.awaited & self._missing, default=None)
        if missing is not None:
            return missing
        for key in unit.keys:
            units = self._held.get(key, {})
            for other in reversed(units) if newest_first else units:
                if other.number >= unit.number:
                    break
                if unit.needs(other):
                    return other
        return None

    def _finish(self, unit: Unit) -> None:
        """Place a unit, then the delayed units for which it was the last obstacle."""
        ready = [(unit.number, unit)]
        while ready:
            _, unit = heapq.heappop(ready)
            self._done.append(unit.op)
            self._missing -= unit.labels
            for key in unit.keys:
                self._held.get(key, {}).pop(unit, None)
            for placed in (unit, *unit.labels):
                for waiter in self._waiters.pop(placed, ()):
                    before = self._obstacle(waiter, newest_first=False)
                    if before is None:
                        heapq.heappush(ready, (waiter.number, waiter))
                    else:
                        self._waiters.setdefault(before, []).append(waiter)


def _share_registers(one: Operation, two: Operation) -> bool:
    written = {*registers_written(one), *registers_written(two)}
    return bool(written) and bool(written & _registers(one) & _registers(two))


def _registers(op: Operation) -> set[SSAValue]:
    """Return the registers that an operation uses, including those that index its tiles."""
    found = {value for value in op.operands if isinstance(value.type, RegisterType)}
    indices = {index_of(value) for value, _ in reads_and_writes(op)}
    return found | {i for i in indices if i is not None and isinstance(i.type, RegisterType)}
