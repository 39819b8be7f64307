"""Checks of two cores that run at the same time: races in shared memory, and deadlocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.ncc import MEETINGS, WAITING
from nkijit.dialects.nisa.cores import CoreBarrierOp, SendrecvOp
from nkijit.dialects.nki.kernel import KernelOp, shared_tensors
from nkijit.dialects.nki.views import base_of, index_of, reach_of, views_of
from nkijit.dialects.reach import Reach
from nkijit.dialects.rule_texts.hazards import (
    CORE_DOUBLE_WRITE,
    CORE_RACE,
    CORES_WAIT,
    SAME_WORK,
    SENDRECV_PAIR,
)
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.dialects.walks import directly_in, operations
from nkijit.passes.analysis.bytes.footprints import Cells, Extent, Footprint, extent_of
from nkijit.passes.analysis.flow.ranges import Ranges
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.verify.launch import check_launch

_NO_OPERATION = -1
_MEETINGS, _WAITING = frozenset(MEETINGS), frozenset(WAITING)
Marks = npt.NDArray[np.int64]


def check_cores(kernels: Sequence[KernelOp]) -> Iterator[Diagnostic]:
    """Yield findings about races and deadlocks between two cores.

    `kernels` are the programs of one launch, in the order of their cores.
    """
    # Programs that differ are reported by verify-launch; their shared tensors cannot be matched.
    if len(kernels) < 2 or check_launch(kernels):
        return
    programs = [_Program(kernel) for kernel in kernels]
    yield from _meetings(programs)
    yield from _races(programs)


@dataclass(slots=True)
class _Program:
    """The operations of one core, in phases; a barrier or a collective ends each phase."""

    kernel: KernelOp
    phases: list[list[Operation]] = field(default_factory=lambda: [[]])
    meetings: list[NisaOp] = field(default_factory=list[NisaOp])
    """The barriers and collectives that end the phases."""
    is_whole: bool = True
    """False if a loop contains an instruction that waits for the other core.

    If so, races are not checked.
    """
    ranges: Ranges = field(init=False)

    def __post_init__(self) -> None:
        self.ranges = Ranges(self.kernel)
        for op in directly_in(self.kernel.body.block):
            if is_instruction(op) and type(op) in _MEETINGS:
                self.meetings.append(op)
                self.phases.append([])
                continue
            if not op.regions:
                self.phases[-1].append(op)
                continue
            inner = [op for region in op.regions for op in operations(region.block)]
            if any(type(op) in _WAITING for op in inner):
                self.is_whole = False
            self.phases[-1] += [op, *inner]


# ------------------------------------------------------------------ meetings


def _meetings(programs: Sequence[_Program]) -> Iterator[Diagnostic]:
    """Yield a finding for the first difference between the waiting instructions of two cores.

    The n-th waiting instructions of both cores must match.
    """
    if not all(program.is_whole for program in programs):
        return
    one, two = [
        [
            op
            for op in directly_in(p.kernel.body.block)
            if is_instruction(op) and type(op) in _WAITING
        ]
        for p in programs
    ]
    keys = [_Keys(program.kernel) for program in programs]
    for first, second in zip(one, two, strict=False):
        if keys[0].of(first) != keys[1].of(second):
            yield diagnose(
                CORES_WAIT,
                first,
                f"core 0 waits in {first.name}, while core 1 waits in {second.name}"
                + (" for something else" if first.name == second.name else ""),
                related=[(second, "core 1 waits here")],
            )
            return
        if isinstance(first, SendrecvOp) and isinstance(second, SendrecvOp):
            yield from _pair(first, second)
    if len(one) != len(two):
        core, ops = (0, one) if len(one) > len(two) else (1, two)
        waiting = ops[min(len(one), len(two))]
        yield diagnose(
            CORES_WAIT, waiting, f"core {core} waits here for core {1 - core}, which does not come"
        )


@dataclass(slots=True)
class _Keys:
    """Keys of waiting instructions. Instructions that wait for each other have equal keys."""

    kernel: KernelOp
    _shared: dict[SSAValue, int] = field(init=False)

    def __post_init__(self) -> None:
        tensors = shared_tensors(self.kernel)
        self._shared = {tensor: number for number, tensor in enumerate(tensors)}

    def of(self, op: NisaOp) -> object:
        if isinstance(op, CoreBarrierOp):
            return op.name, self._shared.get(base_of(op.data))
        if isinstance(op, SendrecvOp):
            return op.name, op.value_of("pipe_id")
        arguments = [str(op.properties.get(f.name)) for f in op.SPEC.fields]
        types = [str(value.type) for _, value in op.given_operands() if is_tile(value)]
        return op.name, tuple(arguments), tuple(types)


def _pair(first: SendrecvOp, second: SendrecvOp) -> Iterator[Diagnostic]:
    for core, (here, there) in enumerate(((first, second), (second, first))):
        sender, receiver = here.value_of("recv_from_rank"), there.value_of("send_to_rank")
        if sender not in (0, 1):
            continue  # reported by another rule
        if sender == core:
            there, receiver = here, here.value_of("send_to_rank")
        if receiver != core:
            yield diagnose(
                SENDRECV_PAIR,
                here,
                f"core {core} receives from core {sender}, which sends to core {receiver}",
                related=[(there, f"core {sender} sends here")] if there is not here else [],
            )
            continue
        into, sent = info_of(here.dst), info_of(there.src)
        if (into.shape, into.dtype) != (sent.shape, sent.dtype):
            yield diagnose(
                SENDRECV_PAIR,
                here,
                f"core {core} receives {sent} into 'dst', {into}",
                [("dst", here.dst)],
                related=[(there, f"core {sender} sends here")] if there is not here else [],
            )


# ------------------------------------------------------------------ races


@dataclass(slots=True)
class _Shared:
    """The accesses of both cores to one tensor in shared HBM, cell by cell."""

    reach: Reach
    cells: Cells
    written: list[Marks]
    """For each core and cell, the number of the operation that wrote the cell last."""
    read: list[Marks]
    """For each core and cell, the last read before the core itself wrote the cell."""
    written_first: list[Marks]
    """For each core and cell, the operation that wrote it first since the cores last waited."""
    read_back: list[Marks]
    """For each core and cell, the last read of the core's own write since the cores last waited."""
    first_unordered: int = 0
    """The number of the first operation after the cores last waited for each other.

    Operations with lower numbers happen before it on both cores.
    """
    noted: list[tuple[int, Footprint, bool]] = field(
        default_factory=list[tuple[int, Footprint, bool]]
    )
    """The accesses in the current phase: core, cells, and whether the access is a write."""
    _footprints: dict[Extent, Footprint] = field(default_factory=dict[Extent, Footprint])

    @staticmethod
    def of(bases: Sequence[SSAValue]) -> _Shared:
        values = [value for base in bases for value in (base, *views_of(base))]
        reach = reach_of(*bases)
        cells = Cells(reach, list({extent_of(value, reach): None for value in values}))

        def marks() -> Marks:
            return np.full(cells.count, _NO_OPERATION)

        return _Shared(
            reach,
            cells,
            [marks() for _ in bases],
            [marks() for _ in bases],
            [marks() for _ in bases],
            [marks() for _ in bases],
        )

    def note(self, core: int, effect: Effect, number: int) -> None:
        """Record an access of a core to a tile."""
        extent = extent_of(effect.value, self.reach)
        footprint = self._footprints.get(extent)
        if footprint is None:
            footprint = self._footprints[extent] = self.cells.footprint(extent)
        writes = effect.role is not Role.read
        self.noted.append((core, footprint, writes))
        written = footprint.part(self.written[core])
        is_own = written >= self.first_unordered
        if writes:
            footprint.part(self.written_first[core])[~is_own] = number
            written[...] = number
            return
        # A core may read back its own writes, unless the other core writes other values there.
        footprint.part(self.read[core])[~is_own] = number
        footprint.part(self.read_back[core])[is_own] = number

    def may_meet(self) -> bool:
        """Whether accesses of the two cores may conflict in this phase. Ends the phase.

        Checking only the accessed cells is faster than checking the entire tensor.
        """
        noted, self.noted = self.noted, []
        for core, footprint, writes in noted:
            other = 1 - core
            for marks in (self.written, self.read) if writes else (self.written,):
                if footprint.part(marks[other]).max() >= self.first_unordered:
                    return True
        return False

    def pairs(self, one: Marks, two: Marks) -> Iterator[tuple[int, int]]:
        """Yield the pairs of operations that accessed the same cell since the cores last waited."""
        both = (one >= self.first_unordered) & (two >= self.first_unordered)
        if both.any():
            many = int(two.max()) + 1
            for pair in np.unique(one[both] * many + two[both]).tolist():
                yield divmod(pair, many)

    def repeated(self, ops: Sequence[Operation]) -> Operation | None:
        """Return the first operation of core 0 that writes a cell which core 1 also writes."""
        return next((ops[number] for number, _ in self.pairs(*self.written)), None)


def _races(programs: Sequence[_Program]) -> Iterator[Diagnostic]:
    """Yield races: one core certainly writes bytes of shared HBM that the other core accesses."""
    if not all(program.is_whole for program in programs):
        return
    tensors = [shared_tensors(program.kernel) for program in programs]
    # By identity: hashing a value is slow.
    number_of = [{id(tensor): n for n, tensor in enumerate(all_of)} for all_of in tensors]
    names = [tensor.name_hint or "?" for tensor in tensors[0]]
    shared = {
        number: _Shared.of(bases)
        for number, bases in enumerate(zip(*tensors, strict=False))
        if all(_is_used(base) for base in bases)
    }
    shared = {number: tensor for number, tensor in shared.items() if tensor.cells.exact}
    if not shared:
        return
    followed = [
        {base: shared[number] for base, number in of_core.items() if number in shared}
        for of_core in number_of
    ]
    differ = _Difference(programs)
    ops: list[Operation] = []
    found: dict[Diagnostic, None] = {}
    repeated: Operation | None = None
    for phase in range(min(len(program.phases) for program in programs)):
        for core, program in enumerate(programs):
            for op, effect, tensor in _certain_effects(program, phase, followed[core]):
                tensor.note(core, effect, len(ops))
                ops.append(op)
        for number, tensor in shared.items():
            if tensor.may_meet():
                found |= dict.fromkeys(_conflicts(tensor, ops, names[number], differ))
                if repeated is None and not differ:
                    repeated = tensor.repeated(ops)
        for core, program in enumerate(programs):
            for effect in effects(program.meetings[phase]) if phase < len(program.meetings) else ():
                tensor = followed[core].get(id(base_of(effect.value)))
                if tensor is not None:
                    tensor.first_unordered = len(ops)
    yield from found
    if repeated is not None and not found and not any(map(_waits, programs)):
        yield diagnose(SAME_WORK, repeated, "both cores compute and write the same results")


def _waits(program: _Program) -> bool:
    """True if an instruction of a core waits for the other core, which may divide the work."""
    ops = program.kernel.body.block.ops
    return any(type(op) in _WAITING for op in ops)


@dataclass(slots=True)
class _Difference:
    """Whether the cores run different programs; computed when first used."""

    programs: Sequence[_Program]
    _known: bool | None = None

    def __bool__(self) -> bool:
        if self._known is None:
            one, two = (program.kernel.body for program in self.programs)
            self._known = not one.is_structurally_equivalent(two)
        return self._known


def _is_used(base: SSAValue) -> bool:
    return any(value.uses for value in (base, *views_of(base)))


def _certain_effects(
    program: _Program, phase: int, followed: dict[int, _Shared]
) -> Iterator[tuple[Operation, Effect, _Shared]]:
    """Yield the accesses that a core certainly makes to the tracked tensors in a phase."""
    for op in program.phases[phase]:
        if not is_instruction(op):
            continue
        for effect in effects(op):
            tensor = followed.get(id(base_of(effect.value)))
            if tensor is None or effect.partial or index_of(effect.value) is not None:
                continue
            if program.ranges.always_runs(op):
                yield op, effect, tensor


def _conflicts(
    tensor: _Shared, ops: Sequence[Operation], name: str, differ: _Difference
) -> Iterator[Diagnostic]:
    for core, other in ((0, 1), (1, 0)):
        for reader, writer in tensor.pairs(tensor.read[core], tensor.written[other]):
            yield read_race(core, ops[reader], ops[writer], name)
    if differ:
        for one, two in tensor.pairs(*tensor.written):
            yield write_race(ops[one], ops[two], name)
        return
    yield from _rewrites(tensor, ops, name)


def _rewrites(tensor: _Shared, ops: Sequence[Operation], name: str) -> Iterator[Diagnostic]:
    """Yield races in cells that cores with equal programs write more than once in a phase.

    In a cell that each core writes once, both write the same value.
    """
    first, last = tensor.written_first, tensor.written
    again = (first[0] >= tensor.first_unordered) & (last[0] > first[0])
    if not again.any():
        return
    readers = np.where(again, tensor.read_back[0], _NO_OPERATION)
    # The core has read its own last write, or an earlier one.
    writers = np.where(readers > last[0], first[1], last[1])
    reads = list(tensor.pairs(readers, writers))
    help = (
        "both cores run the same program: let each write its own part, chosen by nl.program_id(0), "
        f"or call nisa.core_barrier on '{name}' between writes and reads"
    )
    for reader, writer in reads:
        yield read_race(0, ops[reader], ops[writer], name, help)
    if not reads:
        for one, two in tensor.pairs(np.where(again, first[0], _NO_OPERATION), last[1]):
            yield write_race(ops[one], ops[two], name)


def read_race(
    core: int, reader: Operation, writer: Operation, name: str, help: str | None = None
) -> Diagnostic:
    """Return the finding that a core reads a tensor while the other core writes the tensor."""
    other = 1 - core
    return diagnose(
        CORE_RACE,
        reader,
        f"core {core} reads '{name}', which core {other} writes without a barrier between",
        related=[(writer, f"core {other} writes it here")],
        help=help,
    )


def write_race(
    first: Operation, second: Operation, name: str, severity: str | None = None
) -> Diagnostic:
    """Return the finding that both cores write a tensor; `first` is core 0's instruction."""
    return diagnose(
        CORE_DOUBLE_WRITE,
        first,
        f"both cores write the same bytes of '{name}' without a barrier between",
        related=[(second, "core 1 writes them here")],
        severity=severity,
    )
