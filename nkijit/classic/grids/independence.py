"""Checks that instances of a grid and iterations of `nl.affine_range` are independent.

Loops are unrolled during tracing, so the IR does not contain them. `Independence` records the range
of the trace that belongs to each iteration or instance (a *part*). After the trace, one walk over
the operations finds elements of tensors that one part writes and another part reads or writes.

Source: NKI API reference 2.26, nki.errors, err_unexpected_output_dependencies, and
nki.language.affine_range: "associative reductions" may carry from iteration to iteration.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.collection import without_collection
from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import effects
from nkijit.dialects.nisa.elementwise import ScalarTensorTensorOp, TensorScalarOp, TensorTensorOp
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.views import base_of, index_of, reach_of
from nkijit.dialects.reach import Reach
from nkijit.dialects.rule_texts.classic_kernels import OUTPUT_DEPENDENCE
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.footprints import Cells, Extent, Footprint, extent_of
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.tracing.tracer import Tracer

_T = TypeVar("_T")


@dataclass(slots=True)
class _Loop:
    """An executed loop whose parts are its iterations, or a grid whose parts are its instances."""

    part_name: str
    """The name of parts in messages: `instance` or `iteration`."""
    severity: str
    bounds: list[int] = field(default_factory=list[int])
    """The positions in the trace at which parts begin, and the end of the last part."""


class Independence:
    """The parts of a trace (iterations of loops, instances of a grid), in the order of tracing."""

    def __init__(self, tracer: Tracer):
        """Start to record the history of the trace."""
        self._tracer = tracer
        if tracer.history is None:
            tracer.history = []
        self._history = tracer.history
        self._loops: list[_Loop] = []
        self._interrupt: KeyboardInterrupt | None = None
        """A KeyboardInterrupt during the closing of a generator, where Python would swallow it."""

    def instances(self, points: Iterable[_T]) -> Iterator[_T]:
        """Yield the instances of a grid, and record which part of the trace belongs to each."""
        return self._parts(_Loop("instance", "error"), points)

    def iterations(self, numbers: Iterable[_T]) -> Iterator[_T]:
        """Yield the iterations of an `affine_range`, and record the range of the trace of each."""
        return self._parts(_Loop("iteration", "warning"), numbers)

    def _parts(self, loop: _Loop, items: Iterable[_T]) -> Iterator[_T]:
        self._loops.append(loop)
        try:
            for item in items:
                loop.bounds.append(len(self._history))
                yield item
        finally:
            # When the user leaves the loop, Python closes this generator and swallows errors.
            try:
                loop.bounds.append(len(self._history))
            except KeyboardInterrupt as error:
                self._interrupt = error

    @without_collection()
    def check(self) -> None:
        """Record a finding for each dependence, and stop recording the history."""
        self._tracer.history = None
        if self._interrupt is not None:
            raise self._interrupt
        loops = [loop for loop in self._loops if len(loop.bounds) > 2]
        if not loops:
            return
        accesses = _Accesses(self._history, [bound for loop in loops for bound in loop.bounds])
        for loop in loops:
            for earlier, later in accesses.conflicts(loop.bounds):
                self._tracer.diagnostics.append(_finding_of(loop, earlier, later))


class _Access(NamedTuple):
    """An access of an operation to a tile."""

    op: Operation
    base: SSAValue
    value: SSAValue
    writes: bool
    reduction: str | None
    """The operator of the reduction, if the access accumulates into the tile; else None."""


class _Accesses:
    """The accesses to all tensors that several parts use, in program order."""

    def __init__(self, history: Sequence[Operation], bounds: Sequence[int]):
        """`bounds`: the positions in the trace at which the parts of all loops begin and end."""
        self._all: list[_Access] = []
        self._positions: list[int] = []
        """The position of each access in the history."""
        for position in _crossing(history, bounds):
            for access in _accesses_of(history[position]):
                self._all.append(access)
                self._positions.append(position)
        self._extents: dict[SSAValue, Extent] = {}
        self._reaches: dict[SSAValue, Reach] = {}

    def conflicts(self, bounds: Sequence[int]) -> Iterator[tuple[_Access, _Access]]:
        """Yield pairs of accesses, by different parts of a loop, to the same element.

        At least one of the two accesses is a write. Each tensor has at most one pair. `bounds` are
        the boundaries of the loop's parts.
        """
        edges = [bisect_left(self._positions, bound) for bound in bounds]
        touched: dict[SSAValue, list[tuple[int, _Access]]] = {}
        for part, (start, end) in enumerate(pairwise(edges)):
            for access in self._all[start:end]:
                touched.setdefault(access.base, []).append((part, access))
        for found in touched.values():
            several = found[0][0] != found[-1][0]
            if several and any(access.writes for _, access in found):
                pair = self._conflict(found)
                if pair is not None:
                    yield pair

    def _conflict(self, touched: Sequence[tuple[int, _Access]]) -> tuple[_Access, _Access] | None:
        first = touched[0][1]
        if all(_continues(access, first) for _, access in touched[1:]):
            return None
        reach = self._reaches.get(first.base)
        if reach is None:
            reach = self._reaches[first.base] = reach_of(first.base)
        extents = {access.value: self._extent_of(access.value, reach) for _, access in touched}
        if _are_apart((part, extents[access.value]) for part, access in touched):
            return None
        if len(extents) <= _COMPARED and _are_disjoint(touched):
            return None
        cells = Cells(reach, list(extents.values()))
        if not cells.exact:
            return None
        where = {value: cells.footprint(extent) for value, extent in extents.items()}
        return _meeting(touched, where, cells.count)

    def _extent_of(self, value: SSAValue, reach: Reach) -> Extent:
        extent = self._extents.get(value)
        if extent is None:
            extent = self._extents[value] = extent_of(value, reach)
        return extent


def _crossing(history: Sequence[Operation], bounds: Sequence[int]) -> Sequence[int]:
    """Return the positions of all operations on tensors that several parts may use.

    These are the tensors that are used both before and after one of the boundaries.
    """
    numbers: dict[SSAValue, int] = {}
    uses: list[tuple[int, int]] = []
    for position, op in enumerate(history):
        if type(op) in DECLARATIONS or op.parent is None:  # erased after it was recorded
            continue
        operands = operand_tuple(op)
        uses += [(position, numbers.setdefault(base_of(v), len(numbers))) for v in operands]
    if not uses:
        return []
    positions, tensors = np.array(uses).T
    # In program order, because NumPy retains the last of several assignments to one element.
    first, last = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.int64)
    last[tensors] = positions
    first[tensors[::-1]] = positions[::-1]
    edges = np.sort(bounds)
    crosses = np.searchsorted(edges, first, "right") != np.searchsorted(edges, last, "right")
    return np.unique(positions[crosses[tensors]]).tolist()


def _are_apart(touched: Iterable[tuple[int, Extent]]) -> bool:
    """Return True when the address ranges that the parts access do not overlap."""
    spans: dict[int, tuple[int, int]] = {}
    for part, extent in touched:
        low, high = spans.get(part, (extent.low, extent.high))
        spans[part] = min(low, extent.low), max(high, extent.high)
    return all(one[1] < two[0] for one, two in pairwise(sorted(spans.values())))


_COMPARED = 8
"""The maximum number of views that are compared pairwise before a tensor is divided into cells."""


def _are_disjoint(touched: Sequence[tuple[int, _Access]]) -> bool:
    """Return True when no two parts access the same element."""
    tiles = {(part, access.value): info_of(access.value) for part, access in touched}
    return not any(
        part != other and tile.overlaps(tiles[other, value])
        for (part, _), tile in tiles.items()
        for other, value in tiles
    )


def _accesses_of(op: Operation) -> Iterator[_Access]:
    # Elements that an index selects are known only at run time and cannot be checked.
    touched = [
        (value, role)
        for _, value, role, partial in effects(op)
        if not partial and index_of(value) is None
    ]
    reductions: dict[SSAValue, str | None] = {}
    if type(op) in _REDUCING:
        reductions = {v: _reduction_into(op, v) for v, role in touched if role is not Role.read}
    for value, role in touched:
        reduction = reductions.get(value)
        if role is not Role.read:
            yield _Access(op, base_of(value), value, True, reduction)
        elif reduction is None:
            yield _Access(op, base_of(value), value, False, None)


_COMMUTATIVE = frozenset(
    {
        *("add", "multiply", "maximum", "minimum"),
        *("logical_and", "logical_or", "logical_xor"),
        *("bitwise_and", "bitwise_or", "bitwise_xor"),
    }
)


_REDUCING = (NcMatmulOp, TensorTensorOp, TensorScalarOp, ScalarTensorTensorOp)
"""Instructions that may combine the contents of a tile with another operand."""


def _reduction_into(op: Operation, tile: SSAValue) -> str | None:
    """Return the operator if the instruction computes `tile = tile op operand`, else None.

    Also returns None if the order of several such instructions matters.
    """
    if isinstance(op, NcMatmulOp):
        return None if op.value_of("accumulate") is False else "add"
    if isinstance(op, TensorTensorOp):
        word = op.value_of("op")
        if word == "subtract" and op.data1 is tile:
            return "add"
        others = (op.data1, op.data2)
    elif isinstance(op, TensorScalarOp) and op.op1 is None:
        word, others = op.value_of("op0"), (op.data,)
    elif isinstance(op, ScalarTensorTensorOp):
        word, others = op.value_of("op1"), (op.operand1,)
    else:
        return None
    return word if word in _COMMUTATIVE and tile in others else None


def _meeting(
    touched: Sequence[tuple[int, _Access]], where: Mapping[SSAValue, Footprint], cells: int
) -> tuple[_Access, _Access] | None:
    """Return the first two accesses by different parts to the same element; two writes if possible.

    Otherwise, one access is a read. Accesses of the same reduction do not count.
    """
    marks = {writes: _Marks(cells, touched) for writes in (True, False)}
    read: tuple[_Access, _Access] | None = None
    for number, (part, access) in enumerate(touched):
        footprint = where[access.value]
        for writes in (True, False) if access.writes else (True,):
            other = marks[writes].of_another_part(footprint, part)
            if other is None or _continues(access, other):
                continue
            if writes and access.writes:
                return other, access
            read = read or (other, access)
        marks[access.writes].set(footprint, number)
    return read


def _continues(access: _Access, other: _Access) -> bool:
    """Return True when `access` continues a reduction that `other` begins or continues.

    A matmul that overwrites the tile begins a sum.
    """
    begins = isinstance(other.op, NcMatmulOp) and access.reduction == "add"
    return access.reduction is not None and (begins or access.reduction == other.reduction)


class _Marks:
    """The last read, or the last write, of each cell of a tensor."""

    def __init__(self, cells: int, touched: Sequence[tuple[int, _Access]]):
        self._touched = touched
        self._parts = np.array([part for part, _ in touched] + [-1])
        self._last = np.full(cells, -1, np.int64)

    def of_another_part(self, footprint: Footprint, part: int) -> _Access | None:
        """Return the last access by a part other than `part` to a cell of the footprint, if any."""
        last = footprint.part(self._last)
        others: Any = self._parts[last]
        found = (others != part) & (others >= 0)
        return self._touched[int(last[found].flat[0])][1] if found.any() else None

    def set(self, footprint: Footprint, number: int) -> None:
        """Record access `number` as the last access to all cells of the footprint."""
        footprint.part(self._last)[...] = number


def _finding_of(loop: _Loop, earlier: _Access, later: _Access) -> Diagnostic:
    tensor, part, severity = later.base.name_hint or "?", loop.part_name, loop.severity
    if earlier.writes and later.writes:
        # Two writes of the same value do no harm, and published kernels have them.
        severity = "warning"
        message = f"two {part}s write the same elements of '{tensor}'"
    else:
        one, other = ("writes", "reads") if later.writes else ("reads", "writes")
        message = f"one {part} {one} elements of '{tensor}' that another one {other}"
    label = f"{'written' if earlier.writes else 'read'} by another {part}"
    same_line = earlier.op.location == later.op.location
    return diagnose(
        OUTPUT_DEPENDENCE,
        later.op,
        message,
        related=() if same_line else [(earlier.op, label)],
        severity=severity,
        help=_help_of(loop, earlier, later),
    )


def _help_of(loop: _Loop, earlier: _Access, later: _Access) -> str | None:
    """Return the help for a loop that accumulates in a tile on chip; None for the rule's help."""
    tensor = later.base.name_hint
    if loop.part_name != "iteration" or not info_of(later.base).region.on_chip or tensor is None:
        return None
    if not (earlier.writes and later.writes):
        if earlier.reduction is None and later.reduction is None:
            return None
        return (
            f"to begin a new sum in each iteration, allocate {tensor} with nl.zeros inside the "
            "loop; to continue the sum, use nl.sequential_range"
        )
    if isinstance(later.op, NcMatmulOp) and earlier.op.location == later.op.location:
        return (
            f"to add up the iterations, write {tensor} += ... to a tile of zeros; to keep each "
            f"result, index {tensor} with the loop variable"
        )
    return None
