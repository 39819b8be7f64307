"""What a recording shows in a report: small pictures of values, of a bounded size together.

A picture is a tile as partitions by free elements, made smaller: a cell is the mean of the elements
that it stands for, and shows a NaN or an infinity among them.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.nki.views import access_of, base_of, index_of, reach_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.environment import strided
from nkijit.passes.report import model
from nkijit.passes.values.cells import cells_of, sizes_of, sums_of
from nkijit.passes.values.instructions import Statistics, loops_text
from nkijit.passes.values.record import Record

Array = npt.NDArray[Any]

MOST_STEPS = 3_000
"""Instructions whose values are shown."""
MOST_BYTES = 3_000_000
"""Bytes of all pictures together, about."""
FINEST, COARSEST = 48, 6
"""Cells of a picture in each direction."""
BINS = 24
"""Bars of a histogram."""
_LARGEST_PATTERN = 1 << 24
"""Elements of a tensor up to which access patterns are drawn."""


def values_of(
    record: Record, numbers: dict[Operation, int], string: Callable[[str], int]
) -> model.Values:
    """The values of a recording.

    Args:
        record: the recording, of a kernel whose operations have these numbers.
        numbers: those of `Ops`.
        string: the number of a text.
    """
    shown = _shown(record)
    operands = sum(len(record.instructions[n].operands) for n in shown)
    size = _side(operands)
    made = _Pictures(size)
    values = model.Values(len(record))
    for number in shown:
        instruction = record.instructions[number]
        row: list[int] = []
        for operand in instruction.operands:
            text = f"{operand.name} = {operand.tile}: {'x'.join(map(str, operand.shape))} "
            array = operand.after if operand.is_written else operand.before
            entry = model.Shown(
                string(text + operand.dtype),
                int(operand.is_written),
                made.picture(array),
                made.pattern(operand.value),
                numbers.get(cast(Operation, base_of(operand.value).owner), -1),
            )
            row.append(made.entry(entry))
        values.steps.append(
            model.Step(
                numbers[instruction.operation],
                number,
                string(loops_text(tuple(instruction.loops.items()))),
                row,
            )
        )
    values.operands, values.pictures, values.patterns = made.entries, made.pictures, made.patterns
    return values


def _shown(record: Record) -> list[int]:
    """The instructions that are shown: all, or of each operation as many as there is room for."""
    if len(record) <= MOST_STEPS:
        return list(range(len(record)))
    ops = [instruction.operation for instruction in record.instructions]
    counts = Counter(ops)
    room = max(1, MOST_STEPS // len(counts))
    found: list[int] = []
    seen = Counter[Operation]()
    for number, op in enumerate(ops):
        # Evenly over the instances, with the last one.
        place, count = seen[op], counts[op]
        seen[op] += 1
        if (place + 1) * room // count > place * room // count:
            found.append(number)
    return found[:MOST_STEPS]


def _side(operands: int) -> int:
    """Cells of a picture in each direction, such that all together are not too large."""
    each = MOST_BYTES / max(operands, 1) - 200  # statistics and a histogram
    return max(COARSEST, min(FINEST, math.isqrt(max(0, int(each * 3 / 4)))))


class _Pictures:
    """Pictures and access patterns; equal ones are kept once."""

    def __init__(self, side: int):
        self._side = side
        self.pictures: list[model.Picture] = []
        self.patterns: list[model.Pattern] = []
        self.entries: list[model.Shown] = []
        self._known: dict[object, int] = {}

    def entry(self, entry: model.Shown) -> int:
        return self._keep(self.entries, entry, entry)

    def picture(self, array: Array) -> int:
        rows = array.reshape(array.shape[0] if array.ndim > 1 else 1, -1)
        statistics = Statistics.of(rows)
        made = model.Picture(
            rows.shape[0],
            rows.shape[1],
            min(rows.shape[0], self._side),
            b64encode(cells_of(rows, self._side).tobytes()).decode(),
            _histogram(rows, statistics),
            _number(statistics.least),
            _number(statistics.largest),
            _number(statistics.mean),
            statistics.nans,
            statistics.infinities,
        )
        return self._keep(self.pictures, ("picture", *made[:4], *made[5:]), made)

    def pattern(self, value: SSAValue) -> int:
        """The part of its tensor that an operand is; -1 for all of it, and an unknown one."""
        base = base_of(value)
        info, whole = info_of(value), info_of(base)
        if base is value or index_of(value) is not None:
            return -1
        elements = whole.dtype.itemsize * math.prod(whole.shape) // info.dtype.itemsize
        access = access_of(value)
        key = "pattern", whole.shape, whole.dtype.name, info.dtype.name, access
        if key in self._known:
            return self._known[key]
        if elements > _LARGEST_PATTERN or reach_of(base).extended:
            return -1
        touched = np.zeros(elements, np.uint8)
        strided(touched, access, np.dtype(np.uint8))[...] = 1
        rows = touched.reshape(whole.shape[0] if len(whole.shape) > 1 else 1, -1)
        share = sums_of(rows.astype(np.int64), self._side) / sizes_of(rows.shape, self._side)
        cells = np.ceil(share * 255).astype(np.uint8)
        text = b64encode(cells.tobytes()).decode()
        made = model.Pattern(rows.shape[0], rows.shape[1], len(cells), text)
        return self._keep(self.patterns, key, made)

    def _keep(self, into: list[Any], key: object, made: Any) -> int:
        if key not in self._known:
            self._known[key] = len(into)
            into.append(made)
        return self._known[key]


def _histogram(rows: Array, statistics: Statistics) -> list[int]:
    """How many finite elements lie in each of `BINS` equal parts from the least to the largest."""
    if not statistics.largest > statistics.least:
        return []
    values = rows.astype(np.float64)
    span = statistics.largest / 2 - statistics.least / 2
    with np.errstate(all="ignore"):
        place = (values / 2 - statistics.least / 2) / span * BINS
    place = place[np.isfinite(values)].astype(np.int64)
    return np.bincount(np.minimum(place, BINS - 1), minlength=BINS).tolist()


def _number(value: float) -> float | None:
    return None if not math.isfinite(value) else float(f"{value:.6g}")
