"""`repeated-load`: remove loads of bytes that another tile already holds."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Operation

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.queries import SBUF
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import ViewOp, base_of
from nkijit.dialects.spelling import counted, in_number, numbered
from nkijit.dialects.tiles import info_of
from nkijit.passes.advise.edit import (
    Edit,
    NotPossibleError,
    access_in,
    declare_first,
    erase,
    remove_tile,
)
from nkijit.passes.advise.facts import Access, Facts, Renamed, blocks_around
from nkijit.passes.advise.kinds import REPEATED_LOAD
from nkijit.passes.advise.loops import independent_loops
from nkijit.passes.advise.proposal import Line, Proposal, name_of
from nkijit.passes.analysis.writes.repeated_loads import Load, loads_of
from nkijit.passes.compile.passes.rename_tiles import rename_tiles
from nkijit.passes.profile.units import bytes_text

_PARTS = (1, 2, 4)
"""Alternatives for the slices that stay in SBUF: all, half of them, or a quarter."""


@dataclass(frozen=True, slots=True)
class _Repeated:
    """A tile whose loads are redundant."""

    tile: AllocOp
    first: AllocOp | None
    """The tile that already holds the loaded bytes; None for loads that a device loop repeats."""
    loads: Sequence[Load]
    contents: Hashable

    @property
    def line(self) -> Line:
        return _line_of(self.loads[0].op)


def _line_of(op: DmaCopyOp) -> Line:
    return op.location, base_of(op.src).name_hint


def repeated_loads(renamed: Renamed) -> Iterator[Proposal]:
    """Yield a proposal for each source line with redundant loads."""
    lines: dict[Line, list[_Repeated]] = {}
    for repeated in _repeated(renamed):
        lines.setdefault(repeated.line, []).append(repeated)
    every: dict[Line, int] = {}
    for op in renamed.instructions:
        if isinstance(op, DmaCopyOp):
            every[_line_of(op)] = every.get(_line_of(op), 0) + 1
    for line, found in lines.items():
        removed = [load for one in found for load in one.loads]
        distinct = len({one.contents for one in found})
        saved = sum(info_of(load.op.src).size * _itemsize(load) for load in removed)
        tile = name_of(base_of(load.op.dst).name_hint for load in removed)
        loops = independent_loops(line[0])
        if any(one.first is None for one in found):
            reason = "each iteration of a loop on the device loads the same again"
            message = f"hoist the load of {tile} out of the loop"
        else:
            total = every[line]
            reason = (
                f"{counted(len(removed), 'load')} of {total:,} bring bytes that SBUF held before: "
                f"{bytes_text(saved)} of HBM"
            )
            message = f"load each slice of {tile} once and keep it"
        if loops:
            out = in_number(len(loops), "loop")
            message = f"hoist the load of {tile} out of the {out} over {', '.join(loops)}"
        about = [renamed.origins[load.op] for load in removed]
        for variant, parts in enumerate(_PARTS if distinct >= _PARTS[-1] else _PARTS[:1]):
            slices = -(-distinct // parts)
            text = (
                message
                if parts == 1
                else f"{message}, for {slices} of {numbered(distinct, 'slice')}"
            )
            yield Proposal(
                REPEATED_LOAD, line, variant, line[0], text, (reason,), about,
                _Share(line, slices),
            )  # fmt: skip


def _itemsize(load: Load) -> int:
    return info_of(load.op.src).dtype.itemsize


@dataclass(frozen=True, slots=True)
class _Share:
    """Removes the redundant loads of a source line."""

    line: Line
    slices: int
    """The number of distinct slices that remain in SBUF."""

    def __call__(self, edit: Edit) -> None:
        facts = Facts(edit.kernel)
        buffers = {
            base_of(op.dst).owner
            for op in facts.instructions
            if isinstance(op, DmaCopyOp) and _line_of(op) == self.line
        }
        rename_tiles(edit.kernel, only={b for b in buffers if isinstance(b, Operation)})
        found = [one for one in _repeated(Facts(edit.kernel)) if one.line == self.line]
        if not found:
            raise NotPossibleError
        contents = list(dict.fromkeys(one.contents for one in found))[: self.slices]
        for one in found:
            if one.contents in contents:
                _share(one)


def _share(one: _Repeated) -> None:
    if one.first is None:
        for load in one.loads:
            _hoist(load.op, one.tile)
        return
    for load in one.loads:
        erase(load.op)
    # At the start of the block, the tile is available to all uses.
    declare_first(one.first)
    one.tile.result.replace_all_uses_with(one.first.result)
    remove_tile(one.tile)


def _hoist(op: Operation, tile: AllocOp) -> None:
    """Move a load and its tile before the loop around it."""
    loop = op.parent_op()
    block = None if loop is None else loop.parent_block()
    if not isinstance(loop, (ForOp, WhileOp)) or block is None:
        raise NotPossibleError
    views = [v.owner for v in op.operands if isinstance(v.owner, ViewOp)]
    for moved in (tile, *views, op):
        if loop.is_ancestor(moved):
            moved.detach()
            block.insert_op_before(moved, loop)


def _repeated(facts: Facts) -> Iterator[_Repeated]:
    loads: dict[Operation, Load] = {load.op: load for load in loads_of(facts.program)}
    first: dict[Hashable, tuple[AllocOp, list[Access]]] = {}
    tiles = sorted(facts.accesses.items(), key=lambda item: item[1][0].position)
    for base, accesses in tiles:
        tile = base.owner
        if not isinstance(tile, AllocOp) or tile.fixed_address is not None:
            continue
        writers = [access for access in accesses if access.role is not Role.read]
        if info_of(base).region is not SBUF or not writers:
            continue
        brought = [loads[access.op] for access in writers if access.op in loads]
        if len(brought) < len(writers):
            continue
        if all(load.runs_again for load in brought) and _is_used_only_inside(
            brought[0].op, tile, facts
        ):
            yield _Repeated(tile, None, brought, tile)
            continue
        contents = base.type, *((access_in(load.op.dst), load.contents) for load in brought)
        known = first.get(contents)
        if known is None:
            first[contents] = tile, writers
        elif _is_available(known[0], known[1], accesses):
            yield _Repeated(tile, known[0], brought, contents)


def _is_used_only_inside(op: Operation, tile: AllocOp, facts: Facts) -> bool:
    """Whether a load is directly in a loop, and its tile is accessed only in that loop."""
    loop = op.parent_op()
    return isinstance(loop, (ForOp, WhileOp)) and all(
        loop.is_ancestor(access.op) for access in facts.accesses[tile.result]
    )


def _is_available(tile: AllocOp, writers: Sequence[Access], others: Sequence[Access]) -> bool:
    """Whether a tile is completely written before the first read of a tile with equal contents."""
    read = next((a.position for a in others if a.role is Role.read), others[-1].position)
    if writers[-1].position >= read:
        return False
    block = writers[0].op.parent_block()
    return all(writer.op.parent_block() is block for writer in writers) and all(
        {block, tile.parent_block()} <= set(blocks_around(access.op)) for access in others
    )
