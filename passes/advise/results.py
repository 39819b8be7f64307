"""`repeated-result`: compute a tile once and keep it, where another tile has the same contents.

Contents are compared through all instructions that a tile depends on, from loads onwards: a tile
that is filled in several parts, or by way of PSUM, is found as well.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.declare.queries import SBUF
from nkijit.dialects.effects import effects
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import base_of, index_of
from nkijit.dialects.spelling import counted
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.advise.edit import Edit, NotPossibleError, declare_first, erase, remove_tile
from nkijit.passes.advise.facts import Access, Facts, Renamed
from nkijit.passes.advise.kinds import REPEATED_RESULT
from nkijit.passes.advise.proposal import Proposal, name_of
from nkijit.passes.analysis.writes.repeated_loads import Load, loads_of
from nkijit.passes.compile.analyses.accesses import is_free, is_own
from nkijit.passes.compile.passes.rename_tiles import rename_tiles


@dataclass(frozen=True, slots=True)
class _Again:
    """A tile with the contents of an earlier tile."""

    tile: AllocOp
    first: AllocOp
    writers: Sequence[NisaOp]

    @property
    def line(self) -> LocationAttr:
        return self.writers[-1].location


def repeated_results(renamed: Renamed) -> Iterator[Proposal]:
    """Yield a proposal for each source line that computes a tile again."""
    lines: dict[LocationAttr, list[_Again]] = {}
    for again in _Contents(renamed).again():
        lines.setdefault(again.line, []).append(again)
    for line, found in lines.items():
        tile = name_of(again.tile.result.name_hint for again in found)
        about = [renamed.origins[op] for again in found for op in again.writers]
        yield Proposal(
            REPEATED_RESULT,
            line,
            0,
            line,
            f"compute {tile} once and keep it",
            (f"{counted(len(found), 'tile')} have the contents of an earlier tile",),
            about,
            _Share(line),
        )


@dataclass(frozen=True, slots=True)
class _Share:
    """The change: readers of tiles that a line computes again read the first tile."""

    line: LocationAttr

    def __call__(self, edit: Edit) -> None:
        facts = Facts(edit.kernel)
        written = (op for op in facts.instructions if op.location == self.line)
        buffers = {base_of(e.value).owner for op in written for e in effects(op)}
        rename_tiles(edit.kernel, only={b for b in buffers if isinstance(b, Operation)})
        found = [a for a in _Contents(Facts(edit.kernel)).again() if a.line == self.line]
        if not found:
            raise NotPossibleError
        for again in found:
            for op in again.writers:
                erase(op)
            declare_first(again.first)
            again.tile.result.replace_all_uses_with(again.first.result)
            remove_tile(again.tile)


class _Contents:
    """The contents of tiles, as keys that are equal for equal contents."""

    def __init__(self, facts: Facts):
        self._facts = facts
        self._loads: dict[Operation, Load] = {load.op: load for load in loads_of(facts.program)}
        self._keys: dict[SSAValue, tuple[int, int]] = {}
        """For each tile, the number of its contents, and the position of its last write."""

    def again(self) -> Iterator[_Again]:
        """Yield the tiles in SBUF that instructions, not only loads, fill with known contents."""
        numbers: dict[Hashable, int] = {}
        first: dict[int, SSAValue] = {}
        written = [
            (base, [access for access in accesses if access.role is not Role.read])
            for base, accesses in self._facts.accesses.items()
            if is_own(base)
        ]
        complete = [(base, writers) for base, writers in written if writers]
        # A tile is complete after the tiles that its instructions read.
        for base, writers in sorted(complete, key=lambda item: item[1][-1].position):
            key = self._key(base, writers)
            if key is None:
                continue
            number = numbers.setdefault(key, len(numbers))
            self._keys[base] = number, writers[-1].position
            known = first.setdefault(number, base)
            ops = list(dict.fromkeys(access.op for access in writers))
            if known is base or info_of(base).region is not SBUF:
                continue
            if all(op in self._loads for op in ops) or not self._is_available(known, base, ops):
                continue
            tile, earlier = base.owner, known.owner
            assert isinstance(tile, AllocOp)
            assert isinstance(earlier, AllocOp)
            yield _Again(tile, earlier, [op for op in ops if isinstance(op, NisaOp)])

    def _key(self, base: SSAValue, writers: Sequence[Access]) -> Hashable | None:
        """Return the key of a tile's contents; None if they are not known."""
        blocks = {access.op.parent_block() for access in writers}
        if blocks != {self._facts.kernel.body.block}:
            return None
        found: list[Hashable] = [base.type]
        for op in dict.fromkeys(access.op for access in writers):
            load = self._loads.get(op)
            part = self._load(load) if load is not None else self._of(op, base)
            if part is None:
                return None
            found.append(part)
        return tuple(found)

    def _load(self, load: Load) -> Hashable | None:
        if load.runs_again or index_of(load.op.dst) is not None:
            return None
        return info_of(load.op.dst).pattern, load.contents

    def _of(self, op: Operation, base: SSAValue) -> Hashable | None:
        """Return the key of the elements that an instruction writes; None if they are not known."""
        if not isinstance(op, NisaOp) or not is_free(op):
            return None
        if any(True for _ in self._facts.engine_state.of(op)):
            return None
        if any(e.role is not Role.read and base_of(e.value) is not base for e in effects(op)):
            return None
        found: list[Hashable] = [type(op), frozenset(op.properties.items())]
        for value in op.operands:
            part = self._operand(value, op, base)
            if part is None:
                return None
            found.append(part)
        return tuple(found)

    def _operand(self, value: SSAValue, op: Operation, base: SSAValue) -> Hashable | None:
        if not is_tile(value):
            number = scalar_constant(value)
            return None if number is None else ("constant", number)
        info = info_of(value)
        if index_of(value) is not None or info.indirection is not None:
            return None
        view = info.pattern, info.dtype
        if base_of(value) is base:
            return "itself", view
        known = self._keys.get(base_of(value))
        if known is None or known[1] >= self._facts.position[op]:
            return None
        return known[0], view

    def _is_available(self, first: SSAValue, base: SSAValue, writers: Sequence[Operation]) -> bool:
        """Whether a tile is complete before the first read of another one with its contents."""
        own = set(writers)
        reads = [a.position for a in self._facts.accesses[base] if a.op not in own]
        return all(self._keys[first][1] < read for read in reads) and not any(
            a.role is not Role.read for a in self._facts.accesses[base] if a.op not in own
        )
