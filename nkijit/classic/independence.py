"""Whether instances of a grid and iterations of `nl.affine_range` are independent.

Loops are unrolled while they are traced, so the IR does not know them. `Independence` notes which
stretch of the trace is which iteration; after the trace it walks the operations once and looks
for elements of one tensor that an iteration writes and another one writes or reads.

Source: NKI API reference 2.26, nki.errors, err_unexpected_output_dependencies, and
nki.language.affine_range, whose "associative reductions" may carry from iteration to iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare import is_instruction
from nkijit.dialects.effects import effects
from nkijit.dialects.fields import Role
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.rule_texts.classic_kernels import OUTPUT_DEPENDENCE
from nkijit.dialects.views import base_of, index_of
from nkijit.passes.analysis.footprints import Cells, Footprint, extent_of
from nkijit.passes.verify.diagnostics import diagnose
from nkijit.tracer import Tracer

_T = TypeVar("_T")


@dataclass(slots=True)
class _Loop:
    """One run of a loop, or the instances of a grid."""

    what: str
    """What its parts are called."""
    severity: str
    bounds: list[int] = field(default_factory=list[int])
    """Where each part begins in the history of the trace, and at last where the last one ends."""


class Independence:
    """The order in which a kernel's instances and iterations were traced."""

    def __init__(self, tracer: Tracer):
        """Starts to keep the history of the trace."""
        self._tracer = tracer
        self._history: list[Operation] = []
        tracer.history = self._history
        self._loops: list[_Loop] = []

    def instances(self, points: Iterable[_T]) -> Iterator[_T]:
        """The instances of a grid, one after the other."""
        return self._parts(_Loop("instance", "error"), points)

    def iterations(self, numbers: Iterable[_T]) -> Iterator[_T]:
        """The iterations of a loop that are said to be independent."""
        return self._parts(_Loop("iteration", "warning"), numbers)

    def _parts(self, loop: _Loop, items: Iterable[_T]) -> Iterator[_T]:
        self._loops.append(loop)
        try:
            for item in items:
                loop.bounds.append(len(self._history))
                yield item
        finally:
            loop.bounds.append(len(self._history))

    def check(self) -> None:
        """Record what is not independent, and stop keeping the history."""
        self._tracer.history = None
        loops = [loop for loop in self._loops if len(loop.bounds) > 2]
        if not loops:
            return
        accesses = _Accesses(self._history)
        for loop in loops:
            for earlier, later in accesses.conflicts(loop.bounds):
                self._tracer.diagnostics.append(_told(loop, earlier, later))


class _Access(NamedTuple):
    """One tile that one operation touches."""

    op: Operation
    base: SSAValue
    value: SSAValue
    writes: bool
    reduces: bool
    """It is a step of a reduction into the tile: the order of such steps does not matter."""


class _Accesses:
    """What the operations of a trace touch, in order."""

    def __init__(self, history: Sequence[Operation]):
        self._all: list[_Access] = []
        self._starts = [0]
        """For each position in the history, the number of accesses before it."""
        for op in history:
            if op.parent is not None:  # not erased since
                self._all.extend(_accesses_of(op))
            self._starts.append(len(self._all))

    def conflicts(self, bounds: Sequence[int]) -> Iterator[tuple[_Access, _Access]]:
        """Pairs of accesses of different parts to one element, at least one of them a write.

        One pair for each tensor and kind of access.
        """
        edges = [self._starts[bound] for bound in bounds]
        for touched in self._shared(edges).values():
            yield from _conflicts_of(touched)

    def _shared(self, edges: Sequence[int]) -> dict[SSAValue, list[tuple[int, _Access]]]:
        """Accesses with their parts, by tensor: those that one part writes and others touch."""
        touched: dict[SSAValue, list[tuple[int, _Access]]] = {}
        for part, (start, end) in enumerate(pairwise(edges)):
            for access in self._all[start:end]:
                touched.setdefault(access.base, []).append((part, access))
        return {
            base: found
            for base, found in touched.items()
            if found[0][0] != found[-1][0] and any(access.writes for _, access in found)
        }


def _accesses_of(op: Operation) -> Iterator[_Access]:
    touched = [effect for effect in effects(op) if not effect.partial]
    written = {effect.value for effect in touched if effect.role is not Role.read}
    reducing = _reduces(op)
    for _, value, role, _ in touched:
        if index_of(value) is not None:
            continue  # only the device knows which elements
        if role is Role.read:
            if not (reducing and value in written):
                yield _Access(op, base_of(value), value, False, False)
            continue
        in_place = isinstance(op, NcMatmulOp) or any(
            value is other.value and other.role is Role.read for other in touched
        )
        reduces = role is Role.update or (reducing and in_place)
        yield _Access(op, base_of(value), value, True, reduces)


_ASSOCIATIVE = frozenset(
    {
        *("add", "multiply", "maximum", "minimum"),
        *("logical_and", "logical_or", "logical_xor"),
        *("bitwise_and", "bitwise_or", "bitwise_xor"),
    }
)


def _reduces(op: Operation) -> bool:
    """True for a step of an associative reduction, if it reads what it writes."""
    if isinstance(op, NcMatmulOp):
        return True
    if not is_instruction(op):
        return False
    word = op.properties.get("op")
    return word is not None and op.value_of("op") in _ASSOCIATIVE


def _conflicts_of(
    touched: Sequence[tuple[int, _Access]],
) -> Iterator[tuple[_Access, _Access]]:
    """The first write onto another part's write, and the first of each to another part's read."""
    values = list(dict.fromkeys(access.value for _, access in touched))
    extents = {value: extent_of(value) for value in values}
    cells = Cells(touched[0][1].base, list(extents.values()))
    if not cells.exact:
        return
    where = {value: cells.footprint(extent) for value, extent in extents.items()}
    marks = {True: _Marks(cells.count, touched), False: _Marks(cells.count, touched)}
    told: set[tuple[bool, bool]] = set()
    for number, (part, access) in enumerate(touched):
        footprint = where[access.value]
        for writes in (True, False) if access.writes else (True,):
            if (writes, access.writes) in told:
                continue
            other = marks[writes].of_another_part(footprint, part)
            if other is not None and not (access.reduces and _begins(other)):
                told.add((writes, access.writes))
                yield other, access
        marks[access.writes].set(footprint, number)


def _begins(access: _Access) -> bool:
    """True when an access is, or may begin, a reduction that other parts go on with."""
    return access.reduces or isinstance(access.op, NcMatmulOp)


class _Marks:
    """For each cell of a tensor, the last access of a kind."""

    def __init__(self, cells: int, touched: Sequence[tuple[int, _Access]]):
        self._touched = touched
        self._parts = np.array([part for part, _ in touched] + [-1])
        self._last = np.full(cells, -1, np.int64)

    def of_another_part(self, footprint: Footprint, part: int) -> _Access | None:
        """The last access to one of some cells, if it was of another part."""
        last = footprint.part(self._last)
        others: Any = self._parts[last]
        found = (others != part) & (others >= 0)
        return self._touched[int(last[found].flat[0])][1] if found.any() else None

    def set(self, footprint: Footprint, number: int) -> None:
        """Note an access by its number."""
        footprint.part(self._last)[...] = number


def _told(loop: _Loop, earlier: _Access, later: _Access) -> Any:
    tensor = later.base.name_hint or "?"
    both = "write" if later.writes and earlier.writes else "use"
    return diagnose(
        OUTPUT_DEPENDENCE,
        later.op,
        f"several {loop.what}s {both} the same elements of '{tensor}'"
        + ("" if both == "write" else ", and one of them writes them"),
        related=[(earlier.op, f"{'written' if earlier.writes else 'read'} by another {loop.what}")]
        if earlier.op.location != later.op.location
        else (),
        severity=loop.severity,
    )
