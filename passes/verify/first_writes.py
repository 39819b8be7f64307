"""Help texts for reads of unwritten memory: they refer to the first write of the tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.rules.wording import variable_of
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.writes.unused_results import call_of
from nkijit.passes.analysis.writes.written import Read
from nkijit.passes.diagnostics.places import positions
from nkijit.passes.numerics.operators import IDENTITY


class Writers:
    """The first operation that writes each tensor of some kernels."""

    def __init__(self, kernels: Sequence[KernelOp]):
        self._kernels = kernels

    @cached_property
    def _order(self) -> dict[Operation, int]:
        ops = (op for kernel in self._kernels for op in kernel.operations)
        return {op: number for number, op in enumerate(ops)}

    @cached_property
    def _first(self) -> dict[SSAValue, Operation]:
        found: dict[SSAValue, Operation] = {}
        for op in self._order:
            for effect in effects(op):
                if effect.role is not Role.read:
                    found.setdefault(base_of(effect.value), op)
        return found

    def help_for(self, read: Read) -> str | None:
        """Return the help for a read of an unwritten tile; None if the rule's own help applies."""
        op, effect = read.op, read.effect
        source = base_of(effect.value)
        name = variable_of(source, f"'{effect.name}'")
        if op not in self._order or effect.touched.is_index:
            return None
        classic = self._kernels[0].classic is not None
        written = [e for e in effects(op) if e.role is not Role.read]
        start = _start_of(op, effect)
        if start is not None and any(base_of(e.value) is source for e in written):
            filling = _filling(name, start, classic=classic)
            return f"fill {name} before {self._reader(op)}: {filling}"
        first = self._after(op, source, name) or self._write_first(effect, name, classic)
        return self._exchanged(op, effect, written, first) or first

    def _reader(self, op: Operation) -> str:
        """Return the words for the loop around an instruction, or for an instruction in no loop."""
        if isinstance(op.parent_op(), (ForOp, WhileOp)):
            return "the loop"
        call = call_of(op)
        again = any(other is not op and call_of(other) == call for other in self._order)
        return "the loop" if again else "the instruction reads it"

    def _after(self, op: Operation, source: SSAValue, name: str) -> str | None:
        """Return the help for a read before the tensor's first write; None for other reads.

        None also for a write that reads the tensor.
        """
        later = self._first.get(source)
        if later is None or self._order[later] < self._order[op]:
            return None
        reads = {base_of(e.value) for e in effects(later) if e.role is not Role.write}
        places = positions(later.location)
        if source in reads or not places:
            return None
        line = places[0].line
        if self._precedes(later, op):
            return (
                f"{name} is written in a later iteration, by line {line}: write it in the same "
                "iteration (compare the indices of the two lines), or before the loop"
            )
        # A call precedes the calls among its arguments in the source, but runs after them.
        pairs = zip(reversed(places), reversed(positions(op.location)), strict=False)
        lines = next(((one.line, two.line) for one, two in pairs if one != two), (0, 0))
        after = f"{name} is written later, in line {line}: move the read after it"
        return after if lines[0] > lines[1] else None

    def _precedes(self, later: Operation, op: Operation) -> bool:
        """Whether an earlier execution of the source call of `later` precedes `op`."""
        end = self._order[op]
        same = (each for each in self._order if each.location == later.location)
        return next(self._order[each] for each in same) < end

    def _exchanged(
        self, op: Operation, effect: Effect, written: Sequence[Effect], first: str
    ) -> str | None:
        """Return the help for an operation whose source and destination may be exchanged."""
        reads = [e for e in effects(op) if e.role is not Role.write]
        if len(written) != 1 or [e.touched for e in reads] != [effect.touched]:
            return None
        dst = base_of(written[0].value)
        before = self._first.get(dst)
        is_written = isinstance(dst, BlockArgument) or (
            before is not None and self._order[before] < self._order[op]
        )
        sizes = {info_of(e.value).size for e in (*written, effect)}
        if not is_written or isinstance(dst.owner, ConstantOp) or len(sizes) > 1:
            return None
        source = variable_of(base_of(effect.value), f"'{effect.name}'")
        other = variable_of(dst, "the other")
        return (
            f"'{written[0].name}' has been written: if the two are exchanged, pass {source} as "
            f"'{written[0].name}' and {other} as '{effect.name}'; else {first}"
        )

    @staticmethod
    def _write_first(effect: Effect, name: str, classic: bool) -> str:
        region = info_of(effect.value).region
        if not region.on_chip:
            return f"store to {name} first, or read an argument of the kernel"
        if region.value == "psum":
            return f"write {name} first, e.g. with nisa.nc_matmul"
        how = "nl.load or nl.zeros" if classic else "nisa.memset or nisa.dma_copy"
        return f"write {name} first, e.g. with {how}"


def _start_of(op: Operation, effect: Effect) -> float | None:
    """Return the number with which a tile that `op` combines with others starts.

    None if the operator has no identity.
    """
    if not isinstance(op, NisaOp) or effect.role is not Role.read:
        return 0
    start = IDENTITY.get(_operator_of(op, effect.name))
    dtype = info_of(effect.value).dtype
    if start is None or dtype.cannot_hold(start) is None:
        return start
    return dtype.ends[start > 0]


def _operator_of(op: NisaOp, operand: str) -> str:
    """Return the operator that combines an operand with others; "" if there is none."""
    if operand == "bias":
        return "add"
    names = [f"op{operand.removeprefix('operand')}"] if operand.startswith("operand") else _ALL
    words = [op.value_of(name) for name in names if op.declares(name)]
    words = [word for word in words if word is not None]
    if words[:1] == ["multiply"] and len(words) > 1:
        return words[1]  # scaled values start like those of the operator that follows
    return words[0] if words else ""


_ALL = ("op", "op0", "op1")


def _filling(name: str, start: float, *, classic: bool) -> str:
    """Return the code that fills a tile, with the verb before it."""
    if start == 0 and classic:
        return "allocate it with nl.zeros"
    number = repr(start) if math.isfinite(start) else f'float("{start}")'
    number = number.removesuffix(".0")
    if classic:
        return f"allocate it with nl.full and fill_value={number}"
    return f"write nisa.memset({name}, {number})"
