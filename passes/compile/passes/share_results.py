"""`share-results`: removes instructions that recompute a result from unchanged operands.

Two equivalent instructions have the same result if they read the same elements and nothing writes
these in between. Readers of the second result then read the first result, if each tile has no other
writes.

The two are different statements, or the statement computed the same the last time it ran. Then it
is in a Python loop and does not depend on the loop index, and a compiler moves it before the loop:
tracing unrolls the loop, so that the instruction appears once per iteration. Results of earlier
iterations of an outer loop are computed again. The source is published busy times of Mamba kernels
on trn2 (Jerry2423/kda-for-trainium): products that depend only on the outer loop keep the Vector
Engine busy once per iteration of the inner one, and so do broadcasts with the Tensor Engine.

The first result is in use for longer, so sharing needs free memory. Loads are not shared here; see
`share-loads`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.effects import effects
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.compile.analyses.accesses import (
    Access,
    between,
    elements_of,
    fills_tile,
    is_free,
    is_own,
)
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.analyses.memory_use import MemoryUses
from nkijit.passes.compile.analyses.merge import Tiles
from nkijit.passes.compile.passes.list_schedule import MAX_USE


def share_results(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Remove instructions that recompute a result; returns their number."""
    analyses = analyses or Analyses(kernel)
    program = _Program(analyses)
    costs, shared = analyses.costs, 0
    for place, op in enumerate(analyses.operations):
        cost = costs.get(id(op))  # None for an instruction that must not move
        if cost is not None and not cost.queue.is_ring:
            shared += program.is_shared(cast(NisaOp, op), place, cost.form)
    if shared:
        analyses.changed()
    return shared


@dataclass(slots=True)
class _Result:
    op: NisaOp
    place: int
    """The index of the instruction in program order."""
    tile: SSAValue | None
    """The tile with the result; None if the tile cannot be shared or has not been checked yet."""


class _Program:
    def __init__(self, analyses: Analyses):
        self._analyses = analyses
        self._memory = MemoryUses(analyses.kernel, MAX_USE)
        self._tiles = Tiles(analyses)
        self._last: dict[Hashable, _Result] = {}
        """The latest result of each class of equivalent instructions, by `_key`."""
        self._of_statement: dict[Hashable, Hashable] = {}
        """The key of each statement's latest instruction, by location and form."""

    def is_shared(self, op: NisaOp, place: int, form: int) -> bool:
        """Remove an instruction if an earlier result can replace its own; returns whether it did.

        `form`: equal for instructions that differ only in names and in the offsets of their tiles.
        """
        key = _key(op, form)
        statement = op.location, form
        again = self._of_statement.get(statement) == key
        self._of_statement[statement] = key
        last = self._last.get(key)
        if last is None:
            # Most instructions have no duplicate: the other conditions are checked for the second
            # one.
            self._last[key] = _Result(op, place, None)
            return False
        if not (again or op.location != last.op.location or op.location == UNKNOWN_LOC):
            self._last[key] = _Result(op, place, None)
            return False
        if last.tile is None:
            last.tile = self._filled(last.op)
        tile = self._filled(op) if last.tile is not None else None
        if (
            tile is not None
            and self._reads_the_same(last, op, place)
            and self._share(last, op, tile)
        ):
            return True
        self._last[key] = _Result(op, place, tile)
        return False

    def _filled(self, op: NisaOp) -> SSAValue | None:
        """Return the tile that an instruction fills; None if it does anything else."""
        if not is_free(op) or any(True for _ in self._analyses.engine_state.of(op)):
            return None
        written = [effect for effect in effects(op) if effect.role is not Role.read]
        if len(written) != 1 or written[0].partial:
            return None
        if written[0].role is Role.update:
            adds = accumulation_of(op, self._analyses.kernel.target)
            if adds is not Accumulation.overwrites:
                return None
        filled = written[0].value
        tile = base_of(filled)
        if not is_own(tile) or cast(AllocOp, tile.owner).attributes:
            return None
        if not fills_tile(filled):
            return None
        first, *others = self._analyses.accesses[tile]
        return tile if first.op is op and not _writes(others) else None

    def _reads_the_same(self, last: _Result, op: NisaOp, place: int) -> bool:
        """Whether an instruction reads only elements that are known and unchanged since `last`."""
        for effect in effects(op):
            if effect.role is Role.read:
                base = base_of(effect.value)
                if not is_own(base) or elements_of(effect.value) is None:
                    return False
                if _writes(between(self._analyses.accesses[base], last.place, place)):
                    return False
        return True

    def _share(self, last: _Result, op: NisaOp, replaced: SSAValue) -> bool:
        """Let readers of an instruction's result read an earlier result, if memory allows."""
        earlier = last.tile
        assert earlier is not None
        if earlier.type != replaced.type or earlier.owner.parent is not replaced.owner.parent:
            return False
        accesses = self._analyses.accesses
        readers = accesses[replaced][1:]
        end = readers[-1].op if readers else op
        if not self._memory.of(earlier).extend(earlier, [replaced], last.op, end):
            return False
        self._tiles.merge(earlier, replaced, op)
        accesses[earlier] += readers
        return True


def _key(op: NisaOp, form: int) -> Hashable:
    """Return a key that is equal for equivalent instructions of a block with equal operands."""
    key: list[object] = [op.parent, form]
    for _, value, role, _ in effects(op):
        if role is Role.read:
            key += (id(base_of(value)), info_of(value).offset)
    values = operand_tuple(op)
    key += [id(value) for value in values if not is_tile(value)]
    return tuple(key)


def _writes(accesses: Sequence[Access]) -> bool:
    return any(access.writes for access in accesses)
