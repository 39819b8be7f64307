"""The values of a recording in a report: small pictures, with a limited total size.

A picture shows a tile as partitions by free elements. A cell is the mean of several elements; NaN
and infinities in a cell take precedence.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.nki.views import access_of, base_of, index_of, reach_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.records.environment import strided
from nkijit.passes.report import model
from nkijit.passes.values.cells import cells_of, sizes_of, sums_of
from nkijit.passes.values.instructions import Statistics, loops_text
from nkijit.passes.values.items import RecordedInstruction, StepValues
from nkijit.passes.values.record import Recording

Array = npt.NDArray[Any]

MOST_STEPS = 200_000
"""The largest number of instructions with statistics."""
MOST_PICTURED = 3_000
"""The largest number of instructions with pictures."""
MOST_BYTES = 3_000_000
"""The approximate limit of the size of all pictures together, in bytes."""
FINEST, COARSEST = 48, 6
"""The largest and the smallest number of cells of a picture per dimension."""
BINS = 24
"""The number of bars in a histogram."""
_EXACT = 1e10
"""Whole numbers below this limit, such as 32-bit integers, are not rounded."""
_LARGEST_PATTERN = 1 << 24
"""The largest number of elements of a tensor whose access patterns are drawn."""


def values_of(
    record: Recording,
    numbers: dict[Operation, int],
    chains: Sequence[int],
    string: Callable[[str], int],
) -> model.ReportValues:
    """Return the values of a recording.

    Args:
        record: the recording of the kernel.
        numbers: the row of each operation in `Ops`.
        chains: the source position of each row, as in `Ops`.
        string: adds a text to `Report.strings` and returns its index.
    """
    ops = [instruction.operation for instruction in record.instructions]
    places = [(chains[numbers[op]], op.name) for op in ops]
    selected = _evenly(places, MOST_STEPS)
    pictured = _evenly(places, MOST_PICTURED)
    operands = sum(len(record.instructions[n].operands) for n in pictured)
    # For each place, the first step with unusual values is added if it is not included.
    pictures = _Pictures(_side(operands + 2 * len(set(places))), string, numbers)
    values = model.ReportValues(len(ops))
    known: set[tuple[object, str]] = set()
    for number, (instruction, held) in enumerate(record.steps()):
        found = [Statistics.of(after) for after in held.after if after is not None]
        is_bad = any(each.nans or each.infinities for each in found)
        is_saturated = any(each.saturated for each in found)
        values.not_finite += is_bad
        values.saturated += is_saturated
        kinds = ("bad",) * is_bad + ("saturated",) * is_saturated
        unusual = {(places[number], kind) for kind in kinds}
        is_first = not unusual <= known
        known |= unusual
        if number in selected or is_first:
            is_pictured = number in pictured or is_first
            values.steps.append(pictures.step(instruction, held, found, is_pictured))
    _add_turns(values, record, pictures)
    values.pictured = sum(pictures.is_pictured(step) for step in values.steps)
    values.operands, values.figures = pictures.entries, pictures.figures
    values.pictures, values.patterns = pictures.pictures, pictures.patterns
    return values


def _add_turns(values: model.ReportValues, record: Recording, pictures: _Pictures) -> None:
    """Add the first NaN, infinity and saturated number, with pictures of their instructions."""
    searches = (
        ("NaN or infinity", values.not_finite, record.first),
        ("saturated value", values.saturated, record.first_saturated),
    )
    turns = [(kind, search() if count else None) for kind, count, search in searches]
    steps = {step.number: step for step in values.steps}
    for _, found in turns:
        number = -1 if found is None else found.instruction.number
        if found is not None and not (number in steps and pictures.is_pictured(steps[number])):
            held = StepValues.of(found.instruction)
            written = [Statistics.of(after) for after in held.after if after is not None]
            steps[number] = pictures.step(found.instruction, held, written, True)
    values.steps = [steps[number] for number in sorted(steps)]
    rows = {step.number: row for row, step in enumerate(values.steps)}
    values.turns = [
        model.Turn(kind, rows[found.instruction.number], str(found))
        for kind, found in turns
        if found is not None
    ]


def _evenly(places: Sequence[object], most: int) -> set[int]:
    """Return the indices of at most `most` instructions, spread over all source positions.

    The last instruction is included.
    """
    if len(places) <= most:
        return set(range(len(places)))
    counts = Counter(places)
    shares: dict[object, int] = {}
    left = most
    for number, (place, count) in enumerate(sorted(counts.items(), key=lambda item: item[1])):
        # Rarely executed places leave their share to the others.
        shares[place] = min(count, max(1, left // (len(counts) - number)))
        left -= shares[place]
    found: list[int] = []
    seen = Counter[object]()
    for number, place in enumerate(places):
        before, count, share = seen[place], counts[place], shares[place]
        seen[place] += 1
        if (before + 1) * share // count > before * share // count:
            found.append(number)
    if len(found) <= most:
        return set(found)
    return {found[n * len(found) // most] for n in range(most)}


def _side(operands: int) -> int:
    """Return the number of cells per dimension at which the pictures stay within the size limit."""
    each = MOST_BYTES / max(operands, 1) - 200  # statistics and a histogram
    return max(COARSEST, min(FINEST, math.isqrt(max(0, int(each * 3 / 4)))))


class _Pictures:
    """The statistics, pictures and access patterns of a report; equal ones are stored once."""

    def __init__(self, side: int, string: Callable[[str], int], numbers: dict[Operation, int]):
        self._side, self._string, self._numbers = side, string, numbers
        self.figures: list[model.ReportFigures] = []
        self.pictures: list[model.ReportPicture] = []
        self.patterns: list[model.Pattern] = []
        self.entries: list[model.Shown] = []
        self._known: dict[object, int] = {}

    def is_pictured(self, step: model.ReportStep) -> bool:
        return any(self.entries[operand].picture >= 0 for operand in step.operands)

    def step(
        self,
        instruction: RecordedInstruction,
        held: StepValues,
        written: Sequence[Statistics],
        is_pictured: bool,
    ) -> model.ReportStep:
        """Add a step with the operands that an instruction wrote or, with pictures, also read."""
        statistics = iter(written)
        row: list[int] = []
        for operand, before, after in zip(
            instruction.operands, held.before, held.after, strict=True
        ):
            if after is None and not is_pictured:
                continue
            array = before if after is None else after
            figures = Statistics.of(array) if after is None else next(statistics)
            text = f"{operand.name} = {operand.tile}: {'x'.join(map(str, operand.shape))} "
            entry = model.Shown(
                self._string(text + operand.dtype),
                int(operand.is_written),
                self._index_of(self.figures, *[_figures(figures)] * 2),
                self.picture(array, figures) if is_pictured else -1,
                self.pattern(operand.value) if is_pictured else -1,
                self._numbers.get(cast(Operation, base_of(operand.value).owner), -1),
            )
            row.append(self._index_of(self.entries, entry, entry))
        loops = self._string(loops_text(tuple(instruction.loops.items())))
        op = self._numbers[instruction.operation]
        return model.ReportStep(op, instruction.number, loops, row)

    def picture(self, array: Array, statistics: Statistics) -> int:
        rows = array.reshape(array.shape[0] if array.ndim > 1 else 1, -1)
        picture = model.ReportPicture(
            rows.shape[0],
            rows.shape[1],
            min(rows.shape[0], self._side),
            b64encode(cells_of(rows, self._side).tobytes()).decode(),
            _histogram(rows, statistics),
        )
        return self._index_of(self.pictures, (*picture[:4], *picture.histogram), picture)

    def pattern(self, value: SSAValue) -> int:
        """Return the picture of an operand's elements; -1 for the whole tensor, or if unknown."""
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
        pattern = model.Pattern(rows.shape[0], rows.shape[1], len(cells), text)
        return self._index_of(self.patterns, key, pattern)

    def _index_of(self, into: list[Any], key: object, entry: Any) -> int:
        if key not in self._known:
            self._known[key] = len(into)
            into.append(entry)
        return self._known[key]


def _histogram(rows: Array, statistics: Statistics) -> list[int]:
    """Return a histogram: the number of finite elements in each of `BINS` equal intervals."""
    if not statistics.largest > statistics.least:
        return []
    values = rows.astype(np.float64)
    span = statistics.largest / 2 - statistics.least / 2
    with np.errstate(all="ignore"):
        place = (values / 2 - statistics.least / 2) / span * BINS
    place = place[np.isfinite(values)].astype(np.int64)
    return np.bincount(np.minimum(place, BINS - 1), minlength=BINS).tolist()


def _figures(found: Statistics) -> model.ReportFigures:
    return model.ReportFigures(
        _number(found.least),
        _number(found.largest),
        _number(found.mean),
        found.nans,
        found.infinities,
        found.zeros,
        found.subnormals,
        found.saturated,
    )


def _number(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    return value if value.is_integer() and abs(value) < _EXACT else float(f"{value:.6g}")
