"""`partition-use`: merges several iterations into one if each iteration uses few partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.hardware.targets import PARTITIONS_PER_QUADRANT
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import base_of, index_of, row_elements
from nkijit.dialects.spelling import counted, numbered
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.advise.dmas import is_simple
from nkijit.passes.advise.edit import (
    Edit,
    NotPossibleError,
    access_in,
    erase,
    insert_after,
    remove_tile,
    tile_like,
    users_of,
    view,
)
from nkijit.passes.advise.facts import Facts, Renamed
from nkijit.passes.advise.iterations import (
    Rows,
    are_equal,
    are_uniform,
    in_step,
    operands,
    own_tiles,
    put_in_step,
)
from nkijit.passes.advise.kinds import PARTITION_USE
from nkijit.passes.advise.loops import loops_around
from nkijit.passes.advise.nests import Nest, Order, flat, levels_to
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.analysis.addresses.allocation import QUADRANTS

_PARTITIONS = QUADRANTS * PARTITIONS_PER_QUADRANT


def partition_uses(facts: Facts, renamed: Renamed) -> Iterator[Proposal]:
    """Yield proposals for loops in which one iteration can do the work of several iterations."""
    if not any(_is_narrow(op) for op in facts.instructions):
        return
    found: dict[tuple[LocationAttr, int], list[tuple[Nest, int]]] = {}
    for nest, depth in facts.nests:
        narrow = next((op for op in flat(nest.iterations[0]) if _is_narrow(op)), None)
        if narrow is not None and are_uniform(nest):
            found.setdefault((narrow.location, depth), []).append((nest, depth))
    places = {op: place for place, op in enumerate(facts.instructions)}
    variants: Counter[LocationAttr] = Counter()
    # Innermost loops come first.
    for (location, _), nests in sorted(found.items(), key=lambda item: -item[1][0][1]):
        rows = [
            [[places[op] for op in flat(items)] for items in nest.iterations] for nest, _ in nests
        ]
        for own in (facts, renamed):
            try:
                plan = _plan(own, rows)
            except NotPossibleError:
                continue
            about = [facts.instructions[n] for n in plan.about]
            yield Proposal(
                PARTITION_USE,
                location,
                variants[location],
                about[0].location,
                _message(plan, *nests[0], about[0]),
                (
                    f"{counted(plan.before, 'instruction')}, on {plan.partitions} of {_PARTITIONS} "
                    f"partitions, become {plan.after:,}",
                ),
                about,
                _Fold(plan, own is renamed),
            )
            variants[location] += 1
            break


def _is_narrow(op: NisaOp) -> bool:
    """Whether an instruction uses at most half of the partitions."""
    if not op.SPEC.per_partition:
        return False
    info = info_of(op.operands_named("dst")[0])
    return info.region.on_chip and info.shape[0] <= _PARTITIONS // 2


@dataclass(frozen=True, slots=True)
class _Plan:
    """The iterations to merge, as numbers of instructions in program order."""

    grouped: Sequence[Sequence[Sequence[Sequence[int]]]]
    """The instruction numbers by loop, by group of merged iterations, and by iteration."""
    partitions: int
    together: int
    """The largest number of iterations that are merged into one."""
    about: Sequence[int]
    """The numbers of the instructions that are merged."""
    before: int
    after: int


def _plan(facts: Facts, loops: Sequence[Sequence[Sequence[int]]]) -> _Plan:
    """Plan the merging of iterations. `loops` has the instruction numbers by loop and iteration.

    Raises:
        NotPossibleError: nothing can be merged.
    """
    ops = facts.instructions
    partitions = _Together(facts, [[ops[n] for n in row] for row in loops[0][:2]], None).partitions
    count = _PARTITIONS // partitions if partitions else 0
    grouped: list[list[list[Sequence[int]]]] = []
    about: list[int] = []
    before = after = 0
    for rows in loops:
        if count < 2:
            raise NotPossibleError
        groups = [list(rows[at : at + count]) for at in range(0, len(rows), count)]
        for group in groups:
            if len(group) < 2:
                continue
            together = _Together(facts, [[ops[n] for n in row] for row in group], partitions)
            if not together.folded:
                raise NotPossibleError
            numbers = [row[s] for s in together.folded for row in group]
            about += numbers
            before += len(numbers)
            after += len(together.folded)
        first = rows[0][0]
        region = [ops[n] for row in rows for n in row]
        order = [n - first for n in in_step(groups)]
        if not Order(facts.engine_state, region).allows(order):
            raise NotPossibleError
        grouped.append(groups)
    together = min(count, max(len(group) for groups in grouped for group in groups))
    return _Plan(grouped, partitions, together, about, before, after)


def _message(plan: _Plan, nest: Nest, depth: int, op: NisaOp) -> str:
    names = loops_around(op.location)
    loop = "the loop"
    if len(names) == depth + 1 + (levels_to(nest.iterations[0], op) or 0):
        loop = f"the loop over {names[depth]}"
    return (
        f"do {numbered(plan.together, 'iteration')} of {loop} at once, "
        f"on {numbered(plan.together * plan.partitions, 'partition')}"
    )


# ------------------------------------------------------------------ mergeable instructions


class _Together:
    """The analysis of merged iterations: the instructions and tiles that are joined."""

    def __init__(self, facts: Facts, rows: Rows, partitions: int | None):
        """Analyse iterations.

        `partitions` is the partition count of the tiles to join; None: the largest count up to 64.
        """
        self._facts = facts
        self._start = facts.position[rows[0][0]]
        self._same: dict[SSAValue, bool] = {}
        self.count = len(rows)
        self.columns = list(zip(*rows, strict=True))
        tiles = own_tiles(facts, rows)
        narrow = [info_of(tile).partitions for tile in tiles]
        most = max((n for n in narrow if n <= _PARTITIONS // 2), default=0)
        self.partitions = partitions or most
        self.joint = {
            t: all for t, all in tiles.items() if info_of(t).partitions == self.partitions
        }
        """The tiles that become one joint tile, keyed by the tile of the first iteration."""
        self.folded: list[int] = []
        """The columns (one instruction per iteration) that become one instruction each."""
        self._settle()

    def _settle(self) -> None:
        """Find the columns (one instruction per iteration) to merge; drop unusable joint tiles."""
        while True:
            columns = range(len(self.columns))
            self.folded = [number for number in columns if self._is_one(self.columns[number])]
            other = [self.columns[n][0] for n in columns if n not in set(self.folded)]
            touched = {
                base_of(value)
                for op in other
                for value in op.operands
                # Only DMAs can start at a partition that is not the first of a quadrant.
                if self.partitions % PARTITIONS_PER_QUADRANT
                and not (isinstance(op, DmaCopyOp) and is_simple(op))
            }
            if touched.isdisjoint(self.joint):
                return
            self.joint = {t: all for t, all in self.joint.items() if t not in touched}

    def _is_one(self, column: Sequence[NisaOp]) -> bool:
        """Whether one instruction can replace a column: the instructions of all iterations."""
        first = column[0]
        if not first.SPEC.per_partition or any(True for _ in self._facts.engine_state.of(first)):
            return False
        if any(op.properties != first.properties for op in column):
            return False
        writes = False
        for values in operands(column):
            if not is_tile(values[0]):
                if not are_equal(values):
                    return False
                continue
            base = base_of(values[0])
            if not self.covers(values[0]) or len({_access(value) for value in values}) > 1:
                return False
            bases = tuple(base_of(value) for value in values)
            if base in self.joint:
                if self.joint[base] != bases:
                    return False
                writes = True
            elif any(other is not base for other in bases) or not self._is_same(base):
                return False
        return writes

    def covers(self, value: SSAValue) -> bool:
        """Whether a view covers all partitions of an allocation with `partitions` partitions."""
        access = _access(value)
        return (
            access is not None
            and access.shape[0] == self.partitions == info_of(base_of(value)).partitions
            and access.partition_range(row_elements(value)) == (0, self.partitions)
        )

    def _is_same(self, base: SSAValue) -> bool:
        """Whether all iterations read equal contents of a tile, so one wide tile can replace it."""
        if base not in self._same:
            self._same[base] = False  # the result for cycles
            self._same[base] = self._can_repeat(base)
        return self._same[base]

    def _can_repeat(self, base: SSAValue) -> bool:
        alloc = base.owner
        if not isinstance(alloc, AllocOp) or alloc.fixed_address is not None:
            return False
        written = [a for a in self._facts.accesses[base] if a.role is not Role.read]
        if not written or not info_of(base).region.on_chip:
            return False
        for access in written:
            op = access.op
            if access.position >= self._start or op.parent_block() is not alloc.parent_block():
                return False
            if not self.covers(access.value):
                return False
            if isinstance(op, DmaCopyOp) and is_simple(op):
                continue
            if not is_instruction(op) or not op.SPEC.per_partition:
                return False
            if any(True for _ in self._facts.engine_state.of(op)):
                return False
            for value in op.operands:
                other = base_of(value) if is_tile(value) else base
                if other is not base and not (self.covers(value) and self._is_same(other)):
                    return False
        return True


def _access(value: SSAValue) -> AccessPattern | None:
    """Return the access pattern of a static on-chip tile; None for other tiles."""
    info = info_of(value)
    static = index_of(value) is None and info.indirection is None
    return info.pattern if static and info.region.on_chip else None


# ------------------------------------------------------------------ the change


@dataclass(frozen=True, slots=True)
class _Fold:
    plan: _Plan
    renames: bool

    def __call__(self, edit: Edit) -> None:
        grouped = self.plan.grouped
        ops = Facts(edit.kernel).instructions
        facts = put_in_step(edit.kernel, ops, grouped, renames=self.renames)
        wide: dict[int, _Wide] = {}
        merged = [
            _Together(facts, [[ops[n] for n in row] for row in group], self.plan.partitions)
            for groups in grouped
            for group in groups
            if len(group) > 1
        ]
        for together in merged:
            rows = together.count * together.partitions
            _fold(together, wide.setdefault(rows, _Wide(facts, together.partitions, rows)))
        for each in wide.values():
            each.clean()


class _Wide:
    """Wide tiles: each repeats the contents of a narrower tile in more partitions."""

    def __init__(self, facts: Facts, partitions: int, rows: int):
        self._facts = facts
        self._partitions = partitions
        self._rows = rows
        self._tiles: dict[SSAValue, SSAValue] = {}

    def tile(self, base: SSAValue) -> SSAValue:
        """Return the wide counterpart of a tile; creates it, with its writes, if necessary."""
        if base in self._tiles:
            return self._tiles[base]
        alloc = base.owner
        assert isinstance(alloc, AllocOp)
        wide = tile_like(alloc, alloc, (self._rows, info_of(base).free_size))
        self._tiles[base] = wide.result
        for access in self._facts.accesses[base]:
            if access.role is not Role.read:
                self._write(access.op, wide.result)
        return wide.result

    def _write(self, op: Operation, wide: SSAValue) -> None:
        if not isinstance(op, DmaCopyOp):
            copy = op.clone()
            insert_after(op, copy)
            for number, value in enumerate(op.operands):
                if is_tile(value):
                    copy.operands[number] = self.widened(value, copy)
            return
        outside = info_of(op.src).pattern
        if self._partitions == 1 or outside.strides[0] == 0:
            pattern = _rows(outside, 0, self._rows)
            copy = op.clone()
            insert_after(op, copy)
            copy.operands[0] = self.widened(op.dst, copy)
            copy.operands[1] = view(base_of(op.src), pattern, copy, info_of(op.src).dtype)
            return
        for start in range(0, self._rows, self._partitions):
            copy = op.clone()
            insert_after(op, copy)
            pattern = _lower(op.dst, start)
            copy.operands[0] = view(wide, pattern, copy, info_of(op.dst).dtype)

    def widened(self, value: SSAValue, place: Operation) -> SSAValue:
        """Create the view of the wide tile that corresponds to a tile's view, before `place`."""
        pattern = _rows(info_of(value).pattern, row_elements(value), self._rows)
        return view(self.tile(base_of(value)), pattern, place, info_of(value).dtype)

    def clean(self) -> None:
        """Remove the tiles that are unused after the change, with the writes to them."""
        for base in reversed(self._tiles):
            alloc = base.owner
            assert isinstance(alloc, AllocOp)
            written = {a.op for a in self._facts.accesses[base] if a.role is not Role.read}
            if {op for _, op, _ in users_of(alloc)} <= written:
                for op in written:
                    erase(op)
                remove_tile(alloc)


def _rows(access: AccessPattern, step: int, count: int) -> AccessPattern:
    """Return a pattern with its dim 0 replaced by `count` partitions (or rows), `step` apart."""
    return AccessPattern(access.offset, (step, *access.strides[1:]), (count, *access.shape[1:]))


def _lower(value: SSAValue, partitions: int) -> AccessPattern:
    """Return the access pattern of a view, moved by a number of partitions."""
    access = access_in(value)
    offset = access.offset + partitions * row_elements(value)
    return AccessPattern(offset, access.strides, access.shape)


def _fold(together: _Together, wide: _Wide) -> None:
    """Replace each merged column by one instruction, and the tiles that are joined by one tile."""
    rows = together.count * together.partitions
    parts: dict[SSAValue, tuple[SSAValue, int]] = {}
    for first, bases in together.joint.items():
        alloc = first.owner
        assert isinstance(alloc, AllocOp)
        # Next to the first one: tiles that are declared outside of a loop keep their contents in
        # it.
        joint = tile_like(alloc, alloc, (rows, info_of(first).free_size))
        for number, base in enumerate(bases):
            parts[base] = joint.result, number * together.partitions
    for number, column in enumerate(together.columns):
        if number in together.folded:
            op = column[0]
            for place, value in enumerate(op.operands):
                if is_tile(value) and base_of(value) in parts:
                    pattern = _rows(info_of(value).pattern, row_elements(value), rows)
                    tile = parts[base_of(value)][0]
                    op.operands[place] = view(tile, pattern, op, info_of(value).dtype)
                elif is_tile(value):
                    op.operands[place] = wide.widened(value, op)
            for other in column[1:]:
                erase(other)
            continue
        patterns = _one_dma(column, together)
        for op in column:
            for place, value in enumerate(op.operands):
                if is_tile(value) and base_of(value) in parts:
                    tile, start = parts[base_of(value)]
                    pattern = _lower(value, start)
                    if patterns is not None:
                        pattern = _rows(info_of(value).pattern, row_elements(value), rows)
                    op.operands[place] = view(tile, pattern, op, info_of(value).dtype)
                elif patterns is not None:
                    op.operands[place] = view(base_of(value), patterns, op, info_of(value).dtype)
            if patterns is not None:
                for other in column[1:]:
                    erase(other)
                break
    for base in parts:
        assert isinstance(base.owner, AllocOp)
        remove_tile(base.owner)


def _one_dma(column: Sequence[NisaOp], together: _Together) -> AccessPattern | None:
    """Return the HBM access pattern of a DMA that serves all iterations; None if impossible.

    `column` holds the DMA of each iteration.
    """
    first = column[0]
    if not isinstance(first, DmaCopyOp) or not is_simple(first):
        return None
    if any(op.properties != first.properties for op in column):
        return None
    found: AccessPattern | None = None
    for values in operands(column):
        infos = [info_of(value) for value in values]
        if infos[0].region.on_chip:
            if base_of(values[0]) not in together.joint or not all(map(together.covers, values)):
                return None
            continue
        steps = {two.offset - one.offset for one, two in pairwise(infos)}
        forms = {
            (base_of(v), i.strides, i.shape, i.dtype) for v, i in zip(values, infos, strict=True)
        }
        step, partitions = min(steps), together.partitions
        row = step if partitions == 1 else infos[0].strides[0]
        if len(steps) > 1 or len(forms) > 1 or step != partitions * row or step < 0:
            return None
        if step == 0 and values[0] is first.dst:
            return None
        found = _rows(infos[0].pattern, row, together.count * partitions)
    return found
