"""`merged-dma`: merges DMAs of one source line that move neighbouring slices into one DMA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.declare.building import arguments_of, instruction
from nkijit.dialects.declare.cost import transfer_of
from nkijit.dialects.declare.queries import SBUF
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import access_of, base_of
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import TileInfo, info_of
from nkijit.passes.advise.edit import (
    Edit,
    NotPossibleError,
    allocation_of,
    declare_first,
    erase,
    insert_before,
    join,
    view,
)
from nkijit.passes.advise.facts import Facts, Renamed
from nkijit.passes.advise.kinds import MERGED_DMA
from nkijit.passes.advise.proposal import Line, Proposal, name_of
from nkijit.passes.compile.passes.rename_tiles import rename_tiles
from nkijit.passes.profile.units import bytes_text

_MOST = (32, 8, 4, 2)
"""The limits that are tried for the number of DMAs merged into one."""
_PARTITION_BYTES = 32 << 10
"""The largest number of bytes per partition that a merged DMA moves."""


@dataclass(frozen=True, slots=True)
class _Move:
    """A DMA between HBM and SBUF with static addresses."""

    op: DmaCopyOp
    position: int

    @property
    def loads(self) -> bool:
        return info_of(self.op.dst).region is SBUF

    @property
    def chip(self) -> SSAValue:
        return self.op.dst if self.loads else self.op.src

    @property
    def hbm(self) -> SSAValue:
        return self.op.src if self.loads else self.op.dst


@dataclass(frozen=True, slots=True)
class _Run:
    """DMAs of one source line whose addresses in HBM are a constant distance apart."""

    moves: Sequence[_Move]
    step: int
    """The distance between consecutive DMAs in HBM, in elements."""
    chip_step: int | None
    """The distance between consecutive DMAs in SBUF, in elements; None for separate tiles."""

    @property
    def is_of_rows(self) -> bool:
        """Whether the DMAs move consecutive rows (partitions) of one tile."""
        return self.chip_step == _rows_step(self.moves[0].chip)


def merged_dmas(facts: Facts, renamed: Renamed) -> Iterator[Proposal]:
    """Yield a proposal for each source line with DMAs that can be merged."""
    others = _lines(renamed)
    for line, moves in _lines(facts).items():
        reported: set[int] = set()
        for variant, most in enumerate(_MOST):
            runs = _runs(moves, facts, most)
            other = _runs(others.get(line, []), renamed, most)
            renames = _merged(other) > _merged(runs)
            runs = other if renames else runs
            longest = max((len(run.moves) for run in runs), default=1)
            if longest < 2 or longest in reported:
                continue
            reported.add(longest)
            ops = [move.op for run in runs for move in run.moves]
            about = [renamed.origins[op] for op in ops] if renames else ops
            one = transfer_of(moves[0].op, facts.target)
            verb = "load" if moves[0].loads else "store"
            tile = name_of(base_of(move.chip).name_hint for move in moves)
            yield Proposal(
                MERGED_DMA,
                line,
                variant,
                line[0],
                f"{verb} {numbered(longest, 'slice')} of {tile} with one DMA",
                (
                    f"{len(moves):,} DMAs of {bytes_text(one.bytes)}, with descriptors of "
                    f"{bytes_text(one.descriptor_bytes)}, become {len(moves) - _merged(runs):,}",
                ),
                about,
                _Merge(line, most, about if renames else ()),
            )  # fmt: skip


def _merged(runs: Sequence[_Run]) -> int:
    """Return the number of DMAs that merging saves."""
    return sum(len(run.moves) - 1 for run in runs)


@dataclass(frozen=True, slots=True)
class _Merge:
    """Merges the DMAs of a source line, at most `most` into one."""

    line: Line
    most: int
    renamed: Sequence[Operation]
    """DMAs into refilled buffers; the change first gives each refill a separate tile."""

    def __call__(self, edit: Edit) -> None:
        buffers = {base_of(v).owner for op in self.renamed for v in edit.of(op).operands}
        rename_tiles(edit.kernel, only={b for b in buffers if isinstance(b, Operation)})
        facts = Facts(edit.kernel)
        runs = _runs(_lines(facts).get(self.line, []), facts, self.most)
        if not runs:
            raise NotPossibleError
        for run in runs:
            _merge(run)


def _lines(facts: Facts) -> dict[Line, list[_Move]]:
    """Return the DMAs of each source line that has several DMAs, in program order."""
    found: dict[Line, list[_Move]] = {}
    for op in facts.instructions:
        if isinstance(op, DmaCopyOp) and is_simple(op):
            move = _Move(op, facts.position[op])
            found.setdefault((op.location, base_of(move.hbm).name_hint), []).append(move)
    return {line: moves for line, moves in found.items() if len(moves) > 1}


def is_simple(op: DmaCopyOp) -> bool:
    """Whether a DMA is between SBUF and HBM, with static addresses and partitions as dim 0."""
    dst, src = info_of(op.dst), info_of(op.src)
    return (
        dst.indirection is None
        and src.indirection is None
        and dst.shape[0] == src.shape[0]
        and (dst.region is SBUF) != (src.region is SBUF)
        and all(info_of(base_of(value)).dtype is info_of(value).dtype for value in op.operands)
        and isinstance(base_of(op.dst if dst.region is SBUF else op.src).owner, AllocOp)
        and op.after is None
        and op.instruction_name is None
    )


def _runs(moves: Sequence[_Move], facts: Facts, most: int) -> list[_Run]:
    """Return the runs of 2 to `most` DMAs that can be merged, in program order."""
    found: list[_Run] = []
    run: list[_Move] = []
    for move in moves:
        if run and len(run) < most and _continues([*run, move], facts):
            run.append(move)
            continue
        found += _run_of(run)
        run = [move]
    return [*found, *_run_of(run)]


def _run_of(run: Sequence[_Move]) -> Iterable[_Run]:
    if len(run) < 2:
        return ()
    one, two = run[0], run[1]
    shared = base_of(one.chip) is base_of(two.chip)
    return (_Run(run, _step(one.hbm, two.hbm), _step(one.chip, two.chip) if shared else None),)


def _step(one: SSAValue, two: SSAValue) -> int:
    return info_of(two).offset - info_of(one).offset


def _form(info: TileInfo) -> object:
    return info.shape, info.strides, info.dtype


def _continues(run: Sequence[_Move], facts: Facts) -> bool:
    """Whether the last DMA of a run continues the address pattern of the other DMAs."""
    first, last, before = run[0], run[-1], run[-2]
    if not (
        first.loads == last.loads
        and first.op.parent_block() is last.op.parent_block()
        and first.op.properties == last.op.properties
        and base_of(first.hbm) is base_of(last.hbm)
        and _form(info_of(first.hbm)) == _form(info_of(last.hbm))
        and _form(info_of(first.chip)) == _form(info_of(last.chip))
        and len(run) * info_of(last.chip).partition_bytes <= _PARTITION_BYTES
    ):
        return False
    step = _step(first.hbm, run[1].hbm)
    if step < 0 or _step(before.hbm, last.hbm) != step:
        return False
    # Several stores to the same place keep their order.
    if step == 0 and not first.loads:
        return False
    return _tiles_continue(run) and _is_free(run, facts)


def _rows_step(chip: SSAValue) -> int:
    """Return the distance to the rows after those of a slice, in elements."""
    info = info_of(chip)
    return info.shape[0] * info.strides[0]


def _tiles_continue(run: Sequence[_Move]) -> bool:
    first, last = run[0].chip, run[-1].chip
    bases = {base_of(move.chip) for move in run}
    if len(bases) == 1:
        step = _step(first, run[1].chip)
        within_partition = step > 0 and len(run) * step <= info_of(base_of(first)).free_size
        fits = within_partition or step == _rows_step(first)
        return fits and _step(run[-2].chip, last) == step
    same_form = info_of(base_of(first)) == info_of(base_of(last)) and access_of(first) == access_of(
        last
    )
    return same_form and len(bases) == len(run) and allocation_of(last).fixed_address is None


def _is_free(run: Sequence[_Move], facts: Facts) -> bool:
    """Whether the DMAs of a run can move: loads to its first DMA, or stores to its last.

    No instruction in between may write the source of a DMA, or access its destination.
    """
    ops = {move.op for move in run}
    start, end = run[0].position, run[-1].position
    if facts.meets(start, end):
        return False
    if run[0].loads:
        move = run[-1]
        return facts.undisturbed(move.chip, start, end, ops, reads=True) and facts.undisturbed(
            move.hbm, start, end, ops, reads=False
        )
    return all(
        facts.undisturbed(move.chip, move.position, end, ops, reads=False)
        and facts.undisturbed(move.hbm, move.position, end, ops, reads=True)
        for move in run[:-1]
    )


def _merge(run: _Run) -> None:
    moves, first = run.moves, run.moves[0]
    place = first.op if first.loads else moves[-1].op
    count = len(moves)
    hbm, chip = first.hbm, first.chip
    outside = with_steps(info_of(hbm).pattern, run.step, count)
    if run.is_of_rows:
        outside, tile = _with_rows(info_of(hbm).pattern, run.step, count), base_of(chip)
        rows = info_of(chip).pattern
        inside = AccessPattern(rows.offset, rows.strides, (count * rows.shape[0], *rows.shape[1:]))
    elif run.chip_step is not None:
        inside = with_steps(info_of(chip).pattern, run.chip_step, count)
        tile = base_of(chip)
    else:
        joint = join([allocation_of(move.chip) for move in moves], first.op)
        declare_first(joint)
        tile, row = joint.result, info_of(joint.result).free_size // count
        # After `join`, the DMA itself uses its part of the joint tile.
        inside = with_steps(info_of(first.chip).pattern, row, count)
    views = {
        "dst" if first.loads else "src": view(tile, inside, place, info_of(chip).dtype),
        "src" if first.loads else "dst": view(base_of(hbm), outside, place, info_of(hbm).dtype),
    }
    merged = instruction(DmaCopyOp, place.location, **(arguments_of(first.op) | views))
    insert_before(place, merged)
    for move in moves:
        erase(move.op)


def _with_rows(access: AccessPattern, step: int, count: int) -> AccessPattern:
    """Repeat a pattern `count` times in a new first dimension."""
    return AccessPattern(access.offset, (step, *access.strides), (count, *access.shape))


def with_steps(access: AccessPattern, step: int, count: int) -> AccessPattern:
    """Repeat a pattern `count` times in a new second dimension."""
    strides = (access.strides[0], step, *access.strides[1:])
    return AccessPattern(access.offset, strides, (access.shape[0], count, *access.shape[1:]))
