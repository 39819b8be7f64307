"""Dependences between the instructions of a straight-line region, within and across queues.

A region is a sequence of movable instructions of one block. Two instructions depend on each other
if one of the following holds:

- They access the same bytes and one of them writes. This includes tensors with overlapping fixed
  addresses.
- They use the same state of an engine: its accumulators or its random number generators.
- The later one names the earlier one in `after`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.effects import registers_written
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine, reduce_cmd
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nisa.random import GENERATING
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import fixed_address_of, index_of, reach_of
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.footprints import Cells, Extent, Footprint, cut, extent_of
from nkijit.passes.analysis.flow.accumulators import accumulator_command
from nkijit.passes.compile.analyses.accesses import Access, Accesses, accesses_of

Predecessors = list[set[int]]
"""For each instruction of a region, the indices of the instructions that must precede it."""


@dataclass(frozen=True)
class Kept:
    """Engine state, such as accumulators, that instructions leave for later instructions."""

    target: Target
    accumulators: frozenset[engine]
    """The engines whose accumulators carry values from one instruction to a later instruction."""

    @staticmethod
    def by(kernel: KernelOp, operations: Iterable[Operation] | None = None) -> Kept:
        """Return the engine state that a kernel uses. `operations`: those to examine, else all."""
        continuing = {
            op.SPEC.accumulators.engine
            for op in (kernel.operations if operations is None else operations)
            if is_instruction(op) and op.SPEC.accumulators is not None and _continues(op)
        }
        return Kept(kernel.target, frozenset(continuing))

    def of(self, op: NisaOp) -> Iterator[object]:
        """Yield keys of the engine state that an instruction uses."""
        if not _has_states(type(op)):
            return
        use = op.SPEC.accumulators
        if use is not None and use.engine in self.accumulators:
            yield use.engine
        if isinstance(op, GENERATING):
            yield engine_of(op, self.target), "generators"


@cache
def has_accumulators(kind: type[Operation]) -> bool:
    """Whether operations of a class use the accumulators of an engine."""
    return issubclass(kind, NisaOp) and kind.SPEC.accumulators is not None


def _continues(op: NisaOp) -> bool:
    """Whether an instruction continues with accumulators that earlier instructions left."""
    command = accumulator_command(op)
    if command is reduce_cmd.idle:
        return op.get("reduce_res") is not None if op.declares("reduce_res") else False
    return command not in (reduce_cmd.reset, reduce_cmd.reset_reduce, reduce_cmd.load_reduce)


def is_movable(op: NisaOp) -> bool:
    """Whether an instruction may be reordered.

    False for instructions that use registers or an index known only at run time, and for
    instructions at which cores wait for each other.
    """
    if type(op) in WAITING or any(True for _ in registers_written(op)):
        return False
    values = operand_tuple(op)
    return not any(
        type(value.type) is RegisterType or index_of(value) is not None for value in values
    )


def predecessors(
    region: Sequence[NisaOp],
    engine_state: Kept,
    accesses: Accesses | None = None,
    numbers: Sequence[int] | None = None,
) -> Predecessors:
    """Return the indices of the instructions that must precede each instruction of a region.

    `numbers` maps a position in the program (`Access.place`) to an index into the region; by
    default, both are equal.
    """
    if accesses is None or numbers is None:
        accesses, numbers = accesses_of(region), range(len(region))
    found: Predecessors = [set() for _ in region]
    # A tensor without writes causes no dependences.
    written = {
        base: touched
        for base, touched in accesses.items()
        if touched[0].writes or any(access.writes for access in touched)
    }
    for group in _sharing(accesses):
        together = [access for base in group for access in accesses[base]]
        together.sort(key=attrgetter("place"))
        for base in group:
            written.pop(base, None)
        _wait([(numbers[access.place], access.writes) for access in together], found)
    for base, touched in written.items():
        parts = _parts(base, touched)
        if parts is None:
            _wait([(numbers[access.place], access.writes) for access in touched], found)
        elif isinstance(parts, _Many):
            parts.wait(touched, numbers, found)
        else:
            for part in _by_cell(touched, parts, numbers):
                _wait(part, found)
    _wait_for_others(region, engine_state, found)
    return found


def _wait(accesses: Iterable[tuple[int, bool]], found: Predecessors) -> None:
    """Add the dependences between accesses to the same bytes.

    An access is (index of the instruction, whether it writes).
    """
    writer = -1
    readers: list[int] = []
    for number, writes in accesses:
        if writer >= 0 and writer != number:
            found[number].add(writer)
        if not writes:
            readers.append(number)
        else:
            if readers:
                found[number].update(other for other in readers if other != number)
                readers = []
            writer = number


def _wait_for_others(region: Sequence[NisaOp], engine_state: Kept, found: Predecessors) -> None:
    """Add the dependences through engine state, and on instructions named in `after`."""
    states: dict[object, int] = {}
    named: dict[str, int] = {}
    for number, op in enumerate(region):
        for state in engine_state.of(op):
            last = states.get(state)
            if last is not None:
                found[number].add(last)
            states[state] = number
        if "after" in op.properties:
            found[number].update(named[name] for name in op.runs_after if name in named)
        if "name" in op.properties:
            named[op.label] = number


@cache
def _has_states(kind: type[NisaOp]) -> bool:
    return kind.SPEC.accumulators is not None or issubclass(kind, GENERATING)


def _sharing(bases: Iterable[SSAValue]) -> Iterator[list[SSAValue]]:
    """Yield groups of tensors whose fixed addresses overlap."""
    placed: list[tuple[str, int, int, SSAValue]] = []
    for base in bases:
        address = fixed_address_of(base)
        if address is not None:
            info = info_of(base)
            placed.append((info.region.value, address[1], info.partition_bytes, base))
    group: list[SSAValue] = []
    memory, end = "", 0
    for region, byte, size, base in sorted(placed, key=lambda one: one[:2]):
        if region == memory and byte < end:
            group.append(base)
            end = max(end, byte + size)
            continue
        if len(group) > 1:
            yield group
        group, memory, end = [base], region, byte + size
    if len(group) > 1:
        yield group


def _parts(base: SSAValue, touched: Sequence[Access]) -> dict[int, list[int]] | _Many | None:
    """Return the cells that each tile of a tensor covers, by the tile's `id`.

    A `_Many` represents the cells of a tensor with many cells. None if every tile may overlap all
    others.
    """
    first = touched[0].effects[0].value
    if all([effect.value is first for access in touched for effect in access.effects]):
        return None  # the common case
    tiles = {id(effect.value): effect.value for access in touched for effect in access.effects}
    reach = reach_of(base)
    extents = {tile: extent_of(value, reach) for tile, value in tiles.items()}
    distinct = set(extents.values())
    if len(distinct) == 1:
        return None
    cells = cut(reach, distinct)
    if isinstance(cells, Cells):
        return _Many(extents, cells) if cells.exact else None
    return {tile: cells.numbers[extent] for tile, extent in extents.items()}


def _by_cell(
    touched: Sequence[Access], cells: dict[int, list[int]], numbers: Sequence[int]
) -> Iterable[list[tuple[int, bool]]]:
    """Return the accesses to each cell of a tensor with few cells, as arguments of `_wait`."""
    found: defaultdict[int, list[tuple[int, bool]]] = defaultdict(list)
    for access in touched:
        number = numbers[access.place]
        for effect in access.effects:
            entry = number, effect.role is not Role.read
            for cell in cells[id(effect.value)]:
                found[cell].append(entry)
    return found.values()


class _Many:
    """The latest accesses to each cell of a tensor with many cells, in arrays.

    A cell has its last writer, and a chain of the readers after that write. Cells with the same
    readers share a chain.
    """

    def __init__(self, extents: dict[int, Extent], cells: Cells):
        self._parts: dict[int, Footprint] = {
            value: cells.footprint(extent) for value, extent in extents.items()
        }
        self._writers = np.full(cells.count, -1)
        self._readers = np.full(cells.count, -1)
        self._chains: list[tuple[int, int]] = []
        """Linked lists of readers: (reader, index of the next entry or -1)."""

    def wait(self, touched: Sequence[Access], numbers: Sequence[int], found: Predecessors) -> None:
        """Add the dependences between accesses."""
        for access in touched:
            number = numbers[access.place]
            tiles = [(e.value, e.role is not Role.read) for e in access.effects]
            for value, writes in tiles:
                self._before(value, writes, found[number])
            for value, writes in tiles:
                self._touch(value, writes, number)

    def _before(self, value: SSAValue, writes: bool, into: set[int]) -> None:
        part = self._parts[id(value)]
        into.update(_distinct(part.part(self._writers)))
        if not writes:
            return
        for chain in _distinct(part.part(self._readers)):
            while chain >= 0:
                reader, chain = self._chains[chain]
                into.add(reader)

    def _touch(self, value: SSAValue, writes: bool, number: int) -> None:
        part = self._parts[id(value)]
        readers = part.part(self._readers)
        if writes:
            part.part(self._writers)[...] = number
            readers[...] = -1
            return
        distinct, places = np.unique(readers, return_inverse=True)
        first = len(self._chains)
        self._chains += [(number, int(chain)) for chain in distinct]
        readers[...] = first + places.reshape(readers.shape)


def _distinct(numbers: Any) -> list[int]:
    """Return the distinct non-negative numbers of an array."""
    return [number for number in np.unique(numbers).tolist() if number >= 0]
