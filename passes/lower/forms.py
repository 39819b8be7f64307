"""The engine instructions that NKI instructions are lowered to, cached by equivalence class."""

from __future__ import annotations

from typing import NamedTuple

from nkijit.dialects.costs.engines import table_of
from nkijit.dialects.declare.cost import transfer_of
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.declare.spec import Stage
from nkijit.dialects.effects import effects, registers_written
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.ncc import MEETINGS
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.lower.likeness import Likeness
from nkijit.passes.lower.program import Queue


class LoweredForm(NamedTuple):
    """The engine instructions that equivalent NKI instructions are lowered to."""

    number: int
    """The number of the equivalence class in `Likeness`."""
    queue: Queue
    trigger: Queue | None
    """The queue that triggers a DMA; None for other instructions."""
    stages: tuple[tuple[int, Stage], ...]
    """The stages that the instruction is lowered to, with their indices in its declaration."""
    table: str | None
    meets: bool
    """True if cores wait for each other in the instruction."""
    registers: tuple[int, ...]
    """The positions of the register operands that the instruction reads."""
    writes_registers: bool
    indexed: bool
    """True if the address of some tile is known only at run time."""


class LoweredForms:
    """The lowered forms of one kernel's instructions."""

    def __init__(self, target: Target):
        self._target = target
        self._likeness = Likeness()
        self._forms: list[LoweredForm] = []
        """The lowered form of each equivalence class, by the class number."""

    def of(self, op: NisaOp) -> LoweredForm:
        """Return the lowered form of an instruction."""
        forms, number = self._forms, self._likeness.number(op)
        if number == len(forms):
            forms.append(_form_of(op, self._target, number))
        return forms[number]


def _form_of(op: NisaOp, target: Target, number: int) -> LoweredForm:
    runs_on = engine_of(op, target)
    trigger = None
    if runs_on is engine.dma:
        trigger = Queue.of_engine(transfer_of(op, target).trigger)
        queue = _ring(op, trigger)
    else:
        queue = Queue.of_engine(runs_on)
    segments = op.segments
    registers = tuple(
        position
        for f in op.SPEC.operand_fields
        if f.role is Role.read
        for position in ((f.index,) if segments is None else segments[f.index])
        if isinstance(op.operands[position].type, RegisterType)
    )
    return LoweredForm(
        number,
        queue,
        trigger,
        tuple((n, stage) for n, stage in enumerate(op.SPEC.stages) if op.runs(stage)),
        table_of(op) if queue is Queue.scalar else None,
        isinstance(op, MEETINGS),
        registers,
        any(True for _ in registers_written(op)),
        any(is_tile(v) and info_of(v).indirection is not None for v in op.operands),
    )


def _ring(op: NisaOp, trigger: Queue) -> Queue:
    if trigger is not Queue.sync:
        return Queue.dma_gpsimd if trigger is Queue.gpsimd else Queue.dma_scalar
    if isinstance(op, MEETINGS):
        return Queue.dma_copy
    regions = {
        role is Role.read: info_of(value).region.on_chip for _, value, role, _ in effects(op)
    }
    if regions.get(True) is regions.get(False):
        return Queue.dma_copy
    return Queue.dma_store if regions.get(True) else Queue.dma_load
