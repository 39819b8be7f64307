"""What the instructions of a stretch have to wait for, within and across queues.

A stretch is instructions of one block of which none has to keep its place. Between two of them
there is an edge where they share bytes of which one writes some (of tensors that the author has put
at the same address, too), where both use the same state of an engine (its accumulators, its random
numbers), and where the author says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.effects import effects, registers_written
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine, reduce_cmd
from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nisa.random import GENERATING
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of, fixed_address_of, index_of, reach_of
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.accumulators import accumulator_command
from nkijit.passes.analysis.footprints import Cells, Extent, FewCells, Footprint, cut, extent_of

Predecessors = list[set[int]]
"""Of each instruction of a stretch, those that have to come before it."""


@dataclass(frozen=True)
class Kept:
    """What instructions of a kernel leave in an engine, besides memory, for others."""

    target: Target
    accumulators: frozenset[engine]
    """The engines whose accumulators somebody goes on with."""

    @staticmethod
    def by(kernel: KernelOp) -> Kept:
        """That of all instructions of a kernel."""
        going_on = {
            op.SPEC.accumulators.engine
            for op in kernel.operations
            if is_instruction(op) and op.SPEC.accumulators is not None and _goes_on(op)
        }
        return Kept(kernel.target, frozenset(going_on))

    def of(self, op: NisaOp) -> Iterator[object]:
        """The states that an instruction uses."""
        use = op.SPEC.accumulators
        if use is not None and use.engine in self.accumulators:
            yield use.engine
        if isinstance(op, GENERATING):
            yield engine_of(op, self.target), "generators"


def _goes_on(op: NisaOp) -> bool:
    """Whether an instruction uses accumulators as others have left them."""
    command = accumulator_command(op)
    if command is reduce_cmd.idle:
        return op.get("reduce_res") is not None if op.declares("reduce_res") else False
    return command not in (reduce_cmd.reset, reduce_cmd.reset_reduce, reduce_cmd.load_reduce)


def is_movable(op: NisaOp) -> bool:
    """False for what has to do with registers or other cores: it keeps its place."""
    if type(op) in WAITING or any(True for _ in registers_written(op)):
        return False
    values = op._operands  # pyright: ignore[reportPrivateUsage]
    return not any(
        type(value.type) is RegisterType or index_of(value) is not None for value in values
    )


def predecessors(stretch: Sequence[NisaOp], kept: Kept) -> Predecessors:
    """What each instruction has to wait for, by place in the stretch."""
    touched = [_touched(op) for op in stretch]
    tensors = _tensors(touched)
    states: dict[object, int] = {}
    named: dict[str, int] = {}
    found: Predecessors = []
    for number, (op, tiles) in enumerate(zip(stretch, touched, strict=True)):
        before: set[int] = set()
        accesses = [
            (tensor, value, writes)
            for value, writes in tiles
            if (tensor := tensors.get(base_of(value))) is not None
        ]
        for tensor, value, writes in accesses:
            tensor.before(value, writes, before)
        for tensor, value, writes in accesses:
            tensor.touch(value, writes, number)
        for state in kept.of(op):
            last = states.get(state)
            if last is not None:
                before.add(last)
            states[state] = number
        if op.after is not None:
            before.update(named[name] for name in op.runs_after if name in named)
        if op.instruction_name is not None:
            named[op.label] = number
        found.append(before)
    return found


def _touched(op: Operation) -> list[tuple[SSAValue, bool]]:
    return [(e.value, e.role is not Role.read) for e in effects(op)]


class _Tensor(Protocol):
    """The accesses to a tensor that a later one may have to wait for."""

    def before(self, value: SSAValue, writes: bool, into: set[int]) -> None:
        """Add what an access to a tile has to wait for."""
        ...

    def touch(self, value: SSAValue, writes: bool, number: int) -> None:
        """Note an access."""
        ...


def _tensors(touched: Iterable[Sequence[tuple[SSAValue, bool]]]) -> dict[SSAValue, _Tensor]:
    """The tensors that something writes: of others nobody waits for anybody."""
    tiles: dict[SSAValue, dict[int, SSAValue]] = {}
    written: set[SSAValue] = set()
    for each in touched:
        for value, writes in each:
            base = base_of(value)
            tiles.setdefault(base, {})[id(value)] = value
            if writes:
                written.add(base)
    found: dict[SSAValue, _Tensor] = {
        base: _tensor(base, list(tiles[base].values())) for base in tiles if base in written
    }
    for group in _sharing(tiles):
        if not written.isdisjoint(group):
            found.update(dict.fromkeys(group, _Whole()))
    return found


def _sharing(bases: Iterable[SSAValue]) -> Iterator[list[SSAValue]]:
    """Tensors that the author has put at the same bytes, for different times."""
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


def _tensor(base: SSAValue, tiles: Sequence[SSAValue]) -> _Tensor:
    reach = reach_of(base)
    extents = {id(value): extent_of(value, reach) for value in tiles}
    distinct = set(extents.values())
    if len(distinct) == 1:
        return _Whole()
    cells = cut(reach, distinct)
    if isinstance(cells, Cells):
        return _Many(extents, cells) if cells.exact else _Whole()
    return _Few(extents, cells)


class _Whole:
    """A tensor whose tiles all share bytes."""

    def __init__(self) -> None:
        self._writer: int | None = None
        self._readers: list[int] = []

    def before(self, value: SSAValue, writes: bool, into: set[int]) -> None:
        if self._writer is not None:
            into.add(self._writer)
        if writes:
            into.update(self._readers)

    def touch(self, value: SSAValue, writes: bool, number: int) -> None:
        if writes:
            self._writer, self._readers = number, []
        else:
            self._readers.append(number)


class _Few:
    """A tensor of few cells."""

    def __init__(self, extents: dict[int, Extent], cells: FewCells):
        self._cells = {value: cells.numbers[extent] for value, extent in extents.items()}
        self._all = [_Whole() for _ in range(cells.count)]

    def before(self, value: SSAValue, writes: bool, into: set[int]) -> None:
        for cell in self._cells[id(value)]:
            self._all[cell].before(value, writes, into)

    def touch(self, value: SSAValue, writes: bool, number: int) -> None:
        for cell in self._cells[id(value)]:
            self._all[cell].touch(value, writes, number)


class _Many:
    """A tensor of many cells: arrays. Readers of a cell are a chain, shared by cells alike."""

    def __init__(self, extents: dict[int, Extent], cells: Cells):
        self._parts: dict[int, Footprint] = {
            value: cells.footprint(extent) for value, extent in extents.items()
        }
        self._writers = np.full(cells.count, -1)
        self._readers = np.full(cells.count, -1)
        self._chains: list[tuple[int, int]] = []
        """(reader, the chain before it)."""

    def before(self, value: SSAValue, writes: bool, into: set[int]) -> None:
        part = self._parts[id(value)]
        into.update(_distinct(part.part(self._writers)))
        if not writes:
            return
        for chain in _distinct(part.part(self._readers)):
            while chain >= 0:
                reader, chain = self._chains[chain]
                into.add(reader)

    def touch(self, value: SSAValue, writes: bool, number: int) -> None:
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
    """The numbers in an array that are not negative."""
    return [number for number in np.unique(numbers).tolist() if number >= 0]
