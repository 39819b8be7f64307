"""Search for the first instruction of a run that departs from a reference beyond rounding errors.

The reference is another recording (of the same kernel in float32, or of another version of the
kernel), or named intermediates. Error bounds are propagated along the run. The bound for a tensor
depends on the number of successive roundings, the data types, and the number of dependent float32
operations (`rounding.py`).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from nkijit.dialects.dtypes import DTYPES, Kind
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.spelling import counted, numbered
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.shown import ShownAsText
from nkijit.passes.values.instructions import Array
from nkijit.passes.values.items import (
    RecordedInstruction,
    RecordedOperand,
    RecordedTile,
    RecordError,
)
from nkijit.passes.values.record import Recording
from nkijit.passes.values.rounding import Tolerance, departs, rounding, tolerance
from nkijit.passes.values.search import headline

MOST_ALIGNED = 20_000
"""The largest number of instructions that are aligned between versions that differ."""
_FILLING = 1e30
"""Larger numbers are fill values of masks and do not count for a tensor's magnitude."""
_CANCELLED = 2.0**-10
"""The smallest assumed magnitude of a result's terms, relative to the largest operand.

If larger terms cancel, the remaining error can exceed the tolerance, and counts as a departure.
"""
_STEEPEST = 128.0
"""The limit of an instruction's amplification of relative errors.

exp(x) amplifies by x, and is 0 below -104.
"""

Reference = Mapping[str, Any]
"""Named intermediates of the reference, by variable name.

Each is an array, a list with one array per instance, or a function that returns the array for the
loop indices of an instance.
"""


@dataclass(frozen=True, slots=True)
class _Exactness:
    """The rounding history of a tensor's values, which determines the error bound."""

    roundings: int = 0
    """The number of successive roundings to a type that is narrower than float32."""
    dtype: str = "float32"
    """The narrowest data type to which the values were rounded."""
    depth: int = 0
    """The number of dependent float32 operations since the inputs."""

    def with_(self, other: _Exactness) -> _Exactness:
        """Return the history of values computed from values with histories `self` and `other`."""
        narrow = max(self.dtype, other.dtype, key=lambda name: rounding(name).unit)
        return _Exactness(
            max(self.roundings, other.roundings), narrow, max(self.depth, other.depth)
        )


class _Explained:
    """The error bounds of results, propagated along a run."""

    def __init__(self) -> None:
        self._known: dict[int, _Exactness] = {}

    def follow(self, instruction: RecordedInstruction) -> dict[str, tuple[Tolerance, float]]:
        """Return, for each written operand, the tolerance and the least magnitude of its terms."""
        operands = instruction.operands
        read = [o for o in operands if o.is_read]
        behind = _Exactness()
        for operand in read:
            behind = behind.with_(self._known.get(id(base_of(operand.value)), _Exactness()))
        gain = self._gain(instruction, read)
        behind = replace(
            behind, roundings=round(behind.roundings * gain), depth=round(behind.depth * gain)
        )
        size = max([_size(o.before) for o in read], default=0.0)
        found: dict[str, tuple[Tolerance, float]] = {}
        for operand in operands:
            if not operand.is_written:
                continue
            made = replace(behind, depth=behind.depth + _terms(instruction, operand, read))
            if _is_number(operand):
                allowed = tolerance(
                    operand.dtype, made.depth, inputs=made.dtype, roundings=made.roundings
                )
                found[operand.name] = allowed, _CANCELLED * size
            dtype = DTYPES[operand.dtype]
            moved = instruction.op in _MOVES and all(o.dtype == dtype.name for o in read)
            is_narrow = dtype.kind is Kind.float and rounding(dtype).unit > rounding("float32").unit
            if is_narrow and not moved:
                made = made.with_(_Exactness(made.roundings + 1, dtype.name))
            base = id(base_of(operand.value))
            # The instruction may write only a part of the tensor.
            before = self._known.get(base)
            self._known[base] = made if before is None else made.with_(before)
        return found

    def of(self, value: SSAValue, dtype: str) -> Tolerance:
        """Return the tolerance of a tensor's values, after the instructions so far."""
        made = self._known.get(id(base_of(value)), _Exactness())
        return tolerance(dtype, made.depth, inputs=made.dtype, roundings=made.roundings)

    @staticmethod
    def _gain(instruction: RecordedInstruction, read: Sequence[RecordedOperand]) -> float:
        """Return the factor by which an instruction amplifies its operands' relative errors."""
        if "activation" not in instruction.op and "exponential" not in instruction.op:
            return 1.0
        scale = abs(instruction.numbers.get("scale", 1.0))
        most = max([_size(o.before, 1e4) for o in read], default=1.0)
        return min(max(1.0, most * scale), _STEEPEST)


def _size(values: Array, filling: float = _FILLING) -> float:
    """Return the largest magnitude of the elements that are not fill values of masks."""
    if values.dtype.kind in "iub":
        return float(np.abs(values.astype(np.float64)).max(initial=0.0))
    size = np.abs(values.astype(np.float64))
    return float(size[size < filling].max(initial=0.0))


def _terms(
    instruction: RecordedInstruction, written: RecordedOperand, read: Sequence[RecordedOperand]
) -> int:
    """Return the number of dependent float32 operations for each written element."""
    if instruction.op in _MOVES:
        return 0
    if "matmul" in instruction.op:
        return max(o.shape[0] for o in read)
    free = [int(np.prod(o.shape[1:])) for o in read]
    return max([4, *(n // max(1, int(np.prod(written.shape[1:]))) for n in free)])


_MOVES = frozenset({"nisa.dma_copy", "nisa.tensor_copy", "nisa.nc_transpose", "nisa.memset"})
"""Instructions that move elements: no arithmetic except for one rounding."""


# ------------------------------------------------------------------ results


@dataclass(frozen=True, slots=True)
class Departure(ShownAsText):
    """The first instruction whose result is too far from the reference; `print` shows it."""

    instruction: RecordedInstruction
    tile: str
    """The name in the kernel of the tensor that departs."""
    values: Array
    reference: npt.NDArray[np.float64]
    allowed: npt.NDArray[np.float64]
    """For each element of the tensor, the largest error that rounding explains."""
    departed: npt.NDArray[np.bool_]
    agreed: tuple[str, ...]
    """Lines about operands that are equal, and about earlier comparisons that agreed."""

    @property
    def index(self) -> tuple[int, ...]:
        """The index of the element whose error exceeds the allowed error by the largest factor."""
        with np.errstate(all="ignore"):
            beyond = np.abs(self.values.astype(np.float64) - self.reference) / self.allowed
        beyond[np.isnan(beyond)] = np.inf
        place = np.argmax(np.where(self.departed, beyond, -1.0))
        return tuple(int(i) for i in np.unravel_index(place, self.departed.shape))

    def __str__(self) -> str:
        index, size = self.index, "x".join(map(str, self.values.shape))
        one, other = float(self.values[index]), float(self.reference[index])
        element = f"{self.tile}{list(index)}"
        lines = headline(
            self.instruction,
            f"{self.instruction.op} departs: {element} is {one:.7g}, the reference has {other:.7g}",
        )
        lines += [
            f"  off by {abs(one - other):.3g}, rounding explains {self.allowed[index]:.3g}",
            f"  {int(self.departed.sum()):,} of {counted(self.values.size, 'element')} of "
            f"{self.tile} "
            f"({size} {self.values.dtype}) are further off than that",
        ]
        return "\n".join([*lines, *(f"  {line}" for line in self.agreed)])

    def __repr__(self) -> str:
        return f"<departure of {self.tile}{list(self.index)}: {self.instruction!r}>"


@dataclass(frozen=True, slots=True)
class Bisection(ShownAsText):
    """The result of comparing a run with a reference; `print` shows it.

    True in a condition if a result departs.
    """

    departure: Departure | None
    compared: int
    """The number of compared results, including the result that departs."""
    against: str
    """The name of the reference."""
    extent: str = ""
    """The parts that were compared, if they are not all instructions."""

    def __bool__(self) -> bool:
        return self.departure is not None

    def __str__(self) -> str:
        results = counted(self.compared, "result")
        extent = f"\n  {self.extent}" if self.extent else ""
        if self.departure is not None:
            return f"{self.departure}\n  compared with {self.against}: {results}{extent}"
        return (
            f"nothing departs from {self.against} by more than rounding explains: "
            f"{results} {'agrees' if self.compared == 1 else 'agree'}{extent}"
        )

    def __repr__(self) -> str:
        return f"<bisection: {self.departure!r}>" if self else f"<bisection: {self}>"


# ------------------------------------------------------------------ against another recording


def against_record(record: Recording, other: Recording, name: str) -> Bisection:
    """Find the first instruction whose result departs from the result in another recording.

    Instructions correspond, in order, if they have the same operation and write tiles of the same
    names and shapes. Instructions of only one recording are reported if they precede a departure.
    If there are any, the results of the kernels are compared as well.

    Raises RecordError if no instructions correspond and the results have other shapes.
    """
    explained, compared = _Explained(), 0
    partner = _aligned(record, other)
    own = {number: None for number in range(len(record)) if number not in partner}
    skipped: list[str] = []
    for instruction in record.instructions:
        allowed = explained.follow(instruction)
        if instruction.number in own:
            skipped.append(f"only this version has {instruction!r}")
            continue
        there = other.instructions[partner[instruction.number]]
        theirs = {operand.name: operand for operand in there.operands}
        for operand in instruction.operands:
            if not operand.is_written or not _is_number(operand):
                continue
            compared += 1
            margin, size = allowed[operand.name]
            found = _departure(instruction, operand.tile, operand.after,
                               theirs[operand.name].after, margin, size)  # fmt: skip
            if found is not None:
                said = [*_operands(instruction, there, theirs), *_missing(partner, other, there)]
                return Bisection(replace(found, agreed=(*said, *skipped[-3:])), compared, name)
    if not own and len(record) == len(other):
        return Bisection(None, compared, name)
    extent = _extent(len(partner), len(own), len(other) - len(partner))
    shapes = [[result.shape for result in each.results] for each in (record, other)]
    if shapes[0] != shapes[1]:
        if not compared:
            raise RecordError(f"nothing is comparable: {extent}, and the results have other shapes")
        return Bisection(None, compared, name, extent)
    for found in _of_results(record, other, explained):
        compared += 1
        if found is not None:
            return Bisection(replace(found, agreed=tuple(skipped[-3:])), compared, name, extent)
    return Bisection(None, compared, name, f"{extent}; the kernels' results were compared, too")


def _of_results(
    record: Recording, other: Recording, explained: _Explained
) -> Iterator[Departure | None]:
    """Yield the departure, if any, of each result that an instruction has written."""
    writers = {
        id(base_of(operand.value)): instruction
        for instruction in record.instructions
        for operand in instruction.operands
        if operand.is_written
    }
    for value, result, theirs in zip(
        record.plan.kernel.return_op.values, record.results, other.results, strict=True
    ):
        writer, dtype = writers.get(id(base_of(value))), info_of(value).dtype
        if writer is None or dtype.kind is Kind.packed:
            continue
        tile = base_of(value).name_hint or "the result"
        margin = explained.of(value, dtype.name)
        yield _departure(writer, tile, result, theirs, margin, 0.0)


def _extent(both: int, here: int, there: int) -> str:
    """Return a clause about the instructions that both versions have, and those of only one."""
    if not both:
        return "no instruction has a counterpart that writes a tile of the same name and shape"
    verb = "was" if both == 1 else "were"
    return (
        f"{counted(both, 'instruction')} of both versions {verb} compared; {here:,} of this one "
        f"and {there:,} of the other have no counterpart that writes a tile of the same name and "
        "shape"
    )


def _aligned(record: Recording, other: Recording) -> dict[int, int]:
    """Map the numbers of instructions in `record` to corresponding instructions in `other`."""
    one, two = ([_key(i) for i in each.instructions] for each in (record, other))
    if one == two:
        return {number: number for number in range(len(one))}
    if max(len(one), len(two)) > MOST_ALIGNED:
        raise RecordError(
            f"the two run different instructions, and more than {MOST_ALIGNED:,} of them"
        )
    found: dict[int, int] = {}
    matcher = difflib.SequenceMatcher(None, one, two, autojunk=False)
    for start, begin, length in matcher.get_matching_blocks():
        found |= {start + n: begin + n for n in range(length)}
    return found


def _key(instruction: RecordedInstruction) -> tuple[Any, ...]:
    written = [(o.name, o.tile, o.shape) for o in instruction.operands if o.is_written]
    return instruction.op, *written


def _missing(
    partner: Mapping[int, int], other: Recording, there: RecordedInstruction
) -> Iterator[str]:
    """Yield lines about the last instructions before `there` that only `other` has."""
    known = set(partner.values())
    lacking = [n for n in range(there.number) if n not in known]
    for number in lacking[-3:]:
        yield f"only the other version has {other.instructions[number]!r}"


def _operands(
    instruction: RecordedInstruction,
    there: RecordedInstruction,
    theirs: Mapping[str, RecordedOperand],
) -> Iterator[str]:
    """Yield lines that compare the inputs of two instructions: tiles and unequal numbers."""
    for name, number in instruction.numbers.items():
        other = there.numbers.get(name)
        if other != number:
            yield f"{name} is {number:.7g}, there {'missing' if other is None else f'{other:.7g}'}"
    for name in there.numbers.keys() - instruction.numbers.keys():
        yield f"{name} is missing, there it is {there.numbers[name]:.7g}"
    for operand in instruction.operands:
        if not operand.is_written and operand.name in theirs:
            one, other = operand.before, theirs[operand.name].before
            name = f"{operand.name} = {operand.tile}"
            if one.shape != other.shape:
                yield f"{name} has shape {one.shape}, there {other.shape}"
            elif one.tobytes() == other.tobytes():
                yield f"{name} is the same, bit by bit"
            else:
                with np.errstate(all="ignore"):
                    off = np.abs(one.astype(np.float64) - other.astype(np.float64))
                yield f"{name} is off by {np.nanmax(off):.3g} at most, which rounding explains"


def _is_number(operand: RecordedOperand) -> bool:
    return DTYPES[operand.dtype].kind is not Kind.packed


def _departure(
    instruction: RecordedInstruction,
    tile: str,
    values: Array,
    reference: Array,
    margin: Tolerance,
    size: float,
) -> Departure | None:
    wanted = reference.astype(np.float64)
    with np.errstate(all="ignore"):
        allowed = margin.of(wanted, max(size, _size(wanted)))
    dtype = values.dtype
    departed = departs(values, wanted, allowed, dtype=dtype)
    if not departed.any():
        return None
    return Departure(instruction, tile, values, wanted, allowed, departed, ())


# ------------------------------------------------------------------ against named intermediates


def against_names(record: Recording, reference: Reference, name: str) -> Bisection:
    """Find the first value of a variable that departs from the reference's array for it.

    Raises RecordError if a name is unknown, if an array has the wrong shape, or if a variable has
    more or fewer values than the reference has arrays.
    """
    unknown = [each for each in reference if each not in record]
    if unknown:
        raise RecordError(
            f"the reference has '{unknown[0]}', which the kernel does not write; it writes "
            f"{', '.join(record.names)}"
        )
    wanted: dict[int, list[tuple[str, RecordedTile, Array]]] = {}
    for variable, given in reference.items():
        for tile, array in _instances(record, variable, given):
            wanted.setdefault(tile.writes[-1].number, []).append((variable, tile, array))
    explained, compared = _Explained(), 0
    agreed = ""
    since: list[str] = []
    """The instructions after the last result that agreed."""
    for instruction in record.instructions:
        allowed = explained.follow(instruction)
        for variable, tile, array in wanted.get(instruction.number, ()):
            compared += 1
            operand = next(o for o in instruction.operands if o.is_written and o.tile == variable)
            margin, size = allowed[operand.name]
            found = _departure(instruction, variable, tile.value, array, margin, size)
            if found is not None:
                return Bisection(replace(found, agreed=tuple(_between(agreed, since))),
                                 compared, name)  # fmt: skip
            agreed = repr(tile)
        if instruction.number in wanted:
            since = []
        else:
            since.append(repr(instruction))
    return Bisection(None, compared, name)


def _between(agreed: str, since: Sequence[str]) -> Iterator[str]:
    """Yield lines about the instructions between the last result that agreed and the departure."""
    if agreed:
        yield f"the last that agreed is {agreed}"
    if since:
        count = numbered(len(since), "instruction")
        yield f"in between {count} wrote what the reference does not have, at last:"
        yield from (f"  {each}" for each in since[-5:])


def _check_apart(tiles: Sequence[RecordedTile], count: int) -> None:
    """Raise RecordError if two tiles have equal loop indices, and so the same array.

    `count`: the number of all instances of the variable.
    """
    known: dict[tuple[tuple[str, int], ...], RecordedTile] = {}
    for tile in tiles:
        other = known.setdefault(tuple(tile.loops.items()), tile)
        if other is not tile:
            raise RecordError(
                f"a function of the loop indices gives one array for two instances, {other!r} and "
                f"{tile!r}; give a list with one for each of the {numbered(count, 'instance')} of "
                f"'{tile.name}', None leaves one out"
            )


def _instances(record: Recording, name: str, given: Any) -> Iterator[tuple[RecordedTile, Array]]:
    """Yield each instance of a variable for which the reference has an array, with that array."""
    tiles = list(record[name])
    if callable(given):
        function = cast(Callable[..., Any], given)
        made: list[Any] = [function(**tile.loops) for tile in tiles]
        given_for = [tile for tile, one in zip(tiles, made, strict=True) if one is not None]
        _check_apart(given_for, len(tiles))
    elif isinstance(given, (list, tuple)):
        made = list(cast("Sequence[Any]", given))
    else:
        array = np.asarray(given)
        stacked = all(array.shape == (len(tiles), *tile.shape) for tile in tiles)
        made = list(array) if stacked and len(tiles) > 1 else [array] * len(tiles)
        if len(tiles) > 1 and not stacked:
            raise RecordError(
                f"the reference has one '{name}' of shape {array.shape}, the kernel has "
                f"{len(tiles)} of them; give a list with one for each, or a function of "
                f"{', '.join(tiles[0].loops) or 'nothing'}"
            )
    if len(made) != len(tiles):
        raise RecordError(f"the reference has {len(made)} of '{name}', the kernel {len(tiles)}")
    for tile, one in zip(tiles, made, strict=True):
        if one is None:  # omitted by the reference
            continue
        array = np.asarray(one)
        if array.shape != tile.shape:
            if array.size != int(np.prod(tile.shape)) or array.squeeze().shape != tuple(
                n for n in tile.shape if n > 1
            ):
                raise RecordError(f"the reference has shape {array.shape} for {tile!r}")
            array = array.reshape(tile.shape)
        yield tile, array
