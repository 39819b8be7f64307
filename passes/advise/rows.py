"""`longer-rows`: merges instructions of several iterations of a loop on longer rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import PSUM
from nkijit.dialects.nisa.activation import ActivationOp
from nkijit.dialects.nisa.elementwise import (
    ReciprocalOp,
    ScalarTensorTensorOp,
    TensorScalarOp,
    TensorTensorOp,
)
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.nisa.movement import DmaCopyOp, MemsetOp, TensorCopyOp
from nkijit.dialects.nki.views import base_of, index_of
from nkijit.dialects.spelling import counted, numbered
from nkijit.dialects.tiles import TileInfo, info_of, is_tile
from nkijit.passes.advise.dmas import is_simple, with_steps
from nkijit.passes.advise.edit import (
    Edit,
    NotPossibleError,
    allocation_of,
    erase,
    join,
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
from nkijit.passes.advise.kinds import LONGER_ROWS
from nkijit.passes.advise.loops import loops_around
from nkijit.passes.advise.nests import Nest, Order, flat, levels_to
from nkijit.passes.advise.proposal import Proposal

_MOST = (32, 8, 4, 2)
"""The numbers of iterations that are merged into one."""
_PARTITION_BYTES = 32 << 10
"""The largest number of bytes per partition of a joint tile."""
_ELEMENTWISE = (
    *(TensorTensorOp, TensorScalarOp, ScalarTensorTensorOp),
    *(ReciprocalOp, ActivationOp, TensorCopyOp, MemsetOp),
)
_MERGEABLE = (*_ELEMENTWISE, NcMatmulOp, DmaCopyOp)
_SHARED = frozenset({"operand0", "operand1", "scale", "bias", "stationary"})
"""The names of operands that must be the same in all iterations.

They have one element per partition, or are the stationary tile of a matmul.
"""


def longer_rows(facts: Facts, renamed: Renamed) -> Iterator[Proposal]:
    """Yield proposals for loops with instructions that can be merged."""
    loops: dict[tuple[LocationAttr, int], list[tuple[Nest, int]]] = {}
    for nest, depth in facts.nests:
        first = next((op for op in flat(nest.iterations[0]) if isinstance(op, _MERGEABLE)), None)
        if first is not None and are_uniform(nest):
            loops.setdefault((first.location, depth), []).append((nest, depth))
    places = {op: place for place, op in enumerate(facts.instructions)}
    for subject, nests in loops.items():
        rows = [
            [[places[op] for op in flat(items)] for items in nest.iterations] for nest, _ in nests
        ]
        own = next((each for each in (facts, renamed) if _are_free(each, rows)), None)
        if own is None:
            continue
        known: set[int] = set()
        for variant, most in enumerate(_MOST):
            plan = _plan(own, rows, most)
            if plan is None or plan.together in known:
                continue
            known.add(plan.together)
            about = [facts.instructions[n] for n in plan.about]
            yield Proposal(
                LONGER_ROWS,
                subject,
                variant,
                about[0].location,
                _message(plan, *nests[0], about[0]),
                (f"{counted(len(plan.about), 'instruction')} become {plan.after:,}",),
                about,
                _Merge(plan, own is renamed),
            )


@dataclass(frozen=True, slots=True)
class _Plan:
    """The iterations to merge, as numbers of instructions in program order."""

    grouped: Sequence[Sequence[Sequence[Sequence[int]]]]
    """The instruction numbers by loop, by group of merged iterations, and by iteration."""
    together: int
    """The largest number of iterations that are merged into one."""
    about: Sequence[int]
    """The numbers of the instructions that are merged."""
    after: int
    """The number of instructions that they become."""


def _are_free(facts: Facts, loops: Sequence[Sequence[Sequence[int]]]) -> bool:
    """Whether the iterations of all loops can run in lockstep."""
    ops = facts.instructions
    for rows in loops:
        region = [ops[n] for row in rows for n in row]
        order = [n - rows[0][0] for n in in_step([rows])]
        try:
            if not Order(facts.engine_state, region).allows(order):
                return False
        except NotPossibleError:
            return False
    return True


def _plan(facts: Facts, loops: Sequence[Sequence[Sequence[int]]], most: int) -> _Plan | None:
    ops = facts.instructions
    grouped: list[list[Sequence[Sequence[int]]]] = []
    about: list[int] = []
    after = 0
    for rows in loops:
        groups = [rows[at : at + most] for at in range(0, len(rows), most)]
        for group in groups:
            if len(group) > 1:
                together = _Together(facts, [[ops[n] for n in row] for row in group])
                about += [row[column] for column in together.merged for row in group]
                after += len(together.merged)
        grouped.append(groups)
    together = max(len(group) for groups in grouped for group in groups)
    # `merged-dma` is for DMAs alone.
    computes = any(not isinstance(ops[n], DmaCopyOp) for n in about)
    return _Plan(grouped, together, about, after) if computes else None


def _message(plan: _Plan, nest: Nest, depth: int, op: NisaOp) -> str:
    names = loops_around(op.location)
    loop = "a loop"
    if len(names) == depth + 1 + (levels_to(nest.iterations[0], op) or 0):
        loop = f"the loop over {names[depth]}"
    return f"do {numbered(plan.together, 'iteration')} of {loop} with instructions on longer rows"


class _Together:
    """The analysis of several iterations: the columns that one instruction can replace."""

    def __init__(self, facts: Facts, rows: Rows):
        self._facts = facts
        self.columns = list(zip(*rows, strict=True))
        """For each instruction of an iteration, the instructions of all iterations."""
        self.own = {
            first: bases
            for first, bases in own_tiles(facts, rows).items()
            if len(rows) * info_of(first).partition_bytes <= _limit(info_of(first), facts)
        }
        """The tiles that can become parts of one tile, keyed by the tile of the first iteration."""
        numbers = range(len(self.columns))
        self.merged = [number for number in numbers if self._is_one(self.columns[number])]
        """The numbers of the columns that become one instruction."""

    def _is_one(self, column: Sequence[NisaOp]) -> bool:
        first = column[0]
        if not isinstance(first, _MERGEABLE):
            return False
        if isinstance(first, DmaCopyOp) and not all(
            isinstance(op, DmaCopyOp) and is_simple(op) for op in column
        ):
            return False
        if any(op.properties != first.properties or op.after is not None for op in column):
            return False
        if first.instruction_name is not None or _reduces(first):
            return False
        if any(True for _ in self._facts.engine_state.of(first)):
            return False
        steps = [self._step(values, _is_shared(first, values[0])) for values in operands(column)]
        return None not in steps and _are_apart(column, steps)

    def _step(self, values: Sequence[SSAValue], shared: bool) -> int | None:
        """Return the distance between an operand's views in a joint tile, in elements.

        0 if all iterations use the same value, None if one instruction cannot use all of them.
        """
        if not is_tile(values[0]):
            return 0 if are_equal(values) else None
        infos = [info_of(value) for value in values]
        forms = {(info.shape, info.strides, info.dtype, info.region) for info in infos}
        if len(forms) > 1 or any(
            index_of(v) is not None or i.indirection is not None
            for v, i in zip(values, infos, strict=True)
        ):
            return None
        bases = tuple(base_of(value) for value in values)
        if len(set(bases)) == 1:
            steps = {two.offset - one.offset for one, two in pairwise(infos)}
            step = min(steps)
            row = info_of(bases[0]).free_size
            inside = not infos[0].region.on_chip or infos[-1].offset - infos[0].offset < row
            if len(steps) > 1 or (shared and step != 0) or step < 0 or not inside:
                return None
            return step
        if shared or self.own.get(bases[0]) != bases or len({i.offset for i in infos}) > 1:
            return None
        return info_of(bases[0]).free_size


def _limit(info: TileInfo, facts: Facts) -> int:
    return facts.target.psum_bank_bytes if info.region is PSUM else _PARTITION_BYTES


def _reduces(op: NisaOp) -> bool:
    return op.declares("reduce_res") and op.operand_named("reduce_res") is not None


def _is_shared(op: NisaOp, value: SSAValue) -> bool:
    """Whether an operand must be the same in all iterations."""
    if isinstance(op, ScalarTensorTensorOp):
        return value is op.operand0
    return any(op.declares(name) and op.operand_named(name) is value for name in _SHARED)


def _are_apart(column: Sequence[NisaOp], steps: Sequence[int | None]) -> bool:
    """Whether no iteration reads or overwrites the result of another one."""
    first = column[0]
    dst = first.required("dst")
    into = steps[list(first.operands).index(dst)]
    if not into:
        return False
    for value, step in zip(first.operands, steps, strict=True):
        if is_tile(value) and base_of(value) is base_of(dst) and value is not dst:
            same = info_of(value).pattern == info_of(dst).pattern
            if not same or step != into:
                return False
    others = (op.required("dst") for op in column[1:])
    return not any(
        base_of(other) is base_of(dst) and info_of(other).overlaps(info_of(dst)) for other in others
    )


@dataclass(frozen=True, slots=True)
class _Merge:
    """The change: run iterations in lockstep and merge their instructions."""

    plan: _Plan
    renames: bool

    def __call__(self, edit: Edit) -> None:
        grouped = self.plan.grouped
        ops = Facts(edit.kernel).instructions
        facts = put_in_step(edit.kernel, ops, grouped, renames=self.renames)
        for groups in grouped:
            for group in groups:
                if len(group) > 1:
                    _merge(_Together(facts, [[ops[n] for n in row] for row in group]))


def _merge(together: _Together) -> None:
    merged = [together.columns[number] for number in together.merged]
    used = {base_of(v) for column in merged for v in column[0].operands if is_tile(v)}
    for first, bases in together.own.items():
        if first in used:  # declarations precede all instructions of the loop
            join([allocation_of(base) for base in bases], allocation_of(first))
    for column in merged:
        _replace(column)


def _replace(column: Sequence[NisaOp]) -> None:
    """Replace adjacent instructions of all iterations by one."""
    first, second = column[0], column[1]
    count = len(column)
    changed: list[tuple[int, AccessPattern, int]] = []
    for number, (one, two) in enumerate(zip(first.operands, second.operands, strict=True)):
        if not is_tile(one) or _is_shared(first, one):
            continue
        pattern = info_of(one).pattern
        changed.append((number, pattern, info_of(two).offset - pattern.offset))
    flat_rows = all(_follows(pattern, step) for _, pattern, step in changed)
    for number, pattern, step in changed:
        value = first.operands[number]
        access = _longer(pattern, count) if flat_rows else with_steps(pattern, step, count)
        first.operands[number] = view(base_of(value), access, first, info_of(value).dtype)
    for other in column[1:]:
        erase(other)


def _follows(pattern: AccessPattern, step: int) -> bool:
    """Whether a view is one row per partition that the next view continues."""
    return pattern.ndim == 2 and pattern.strides[1] == 1 and step == pattern.shape[1]


def _longer(pattern: AccessPattern, count: int) -> AccessPattern:
    partitions, size = pattern.shape
    return AccessPattern(pattern.offset, pattern.strides, (partitions, count * size))
