"""Checks of accumulation groups in PSUM.

A group is a matmul that overwrites `dst`, followed by matmuls that add to the result. The forward
walk tracks, for each byte, the writes of the Tensor Engine, later writes of other engines, and
later reads. Bytes are tracked per allocation: an earlier allocation at the same address does not
count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, form_key
from nkijit.dialects.declare.queries import constant_of, engine_of
from nkijit.dialects.declare.rules.wording import variable_of
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion, engine, nc_version
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nisa.movement import MemsetOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import ViewOp, uses_of
from nkijit.dialects.rule_texts.dataflow import (
    PSUM_ACCUMULATE,
    PSUM_INTERLEAVED,
    PSUM_OPEN_READ,
    PSUM_OVERWRITTEN,
)
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.byte_sets import NOWHERE, ByteSet, bytes_of, shifted, shown
from nkijit.passes.analysis.flow.event_tree import event_tree, forward
from nkijit.passes.diagnostics.diagnose import diagnose, mention
from nkijit.passes.diagnostics.diagnostic import Diagnostic


@dataclass(slots=True, eq=False)
class _Tile:
    """A tile in PSUM."""

    value: SSAValue
    base: int
    """The position of the tile's allocation among the kernel's operations."""
    alloc: AllocOp
    region: ByteSet
    """The bytes of the tile, relative to its allocation."""
    known: bool
    """False if an index selects the tile's bytes at run time."""
    bank: object
    """A key of the PSUM bank that contains the tile; None if the tile spans several banks.

    The key is the allocation's number (None if the address is fixed) and the bank's number.
    """
    place: ByteSet
    """The bytes of the tile in PSUM, or relative to the allocation if its address is not fixed.

    Comparable between tiles of one bank.
    """


@dataclass(frozen=True, slots=True)
class _Form:
    """The properties that are equal for instructions that differ only in offsets and names."""

    roles: Sequence[tuple[int, Role]]
    """The index and the role of each operand."""
    is_matmul: bool | None
    """True if the Tensor Engine runs the instruction; None if the operands decide the engine."""
    accumulation: Accumulation | None
    """How a matmul treats `dst`; None for instructions that never add to `dst`."""


@dataclass(slots=True, eq=False)
class _Event:
    """An operation that accesses PSUM."""

    op: Operation
    position: int
    is_matmul: bool
    accumulation: Accumulation | None
    reads: list[_Tile]
    writes: list[_Tile]
    added: ByteSet = NOWHERE
    """The bytes to which a matmul adds; none for other operations."""


@dataclass(slots=True)
class _Memory:
    """The state of the bytes of one allocation. Never mutated: a visit of an event replaces it."""

    sure: ByteSet = NOWHERE
    """Bytes that certainly contain results to which matmuls can add.

    Tiles with run-time addresses count as written.
    """
    maybe: ByteSet = NOWHERE
    """Bytes that contain results to which matmuls can add, on at least one path."""
    replaced: ByteSet = NOWHERE
    """Bytes of `maybe` that another engine has overwritten later, on at least one path.

    Matmuls cannot add to the results of that engine.
    """
    read: ByteSet = NOWHERE
    """Bytes that were read after their last write, on at least one path."""


_EMPTY = _Memory()
_State = dict[int, _Memory]
"""The state of each allocation, by the allocation's number."""


@dataclass(slots=True, eq=False)
class _Group:
    """A matmul, and the later matmuls that add to its result, all in one PSUM bank."""

    first: Operation
    place: ByteSet
    last: int
    """The value of `_Flow._clock` at the latest matmul of the group."""
    tile: _Tile
    """The tile that the latest matmul of the group wrote."""
    memory: _Memory
    """The state of the allocation after the latest matmul of the group."""


def check_psum(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield findings about the accumulation groups of a kernel, in program order."""
    reader = _Reader(kernel)
    if not reader.touching:
        return
    program = event_tree(kernel.body.block, reader.event)
    if not reader.has_matmuls:
        return
    flow = _Flow(kernel.target, reader, is_classic=kernel.classic is not None)
    forward(program, dict[int, _Memory](), flow)
    yield from (diagnostic for _, diagnostic in sorted(flow.found.items(), key=lambda i: i[0][0]))


class _Reader:
    """Creates events for the operations that access PSUM, found through the uses of allocations.

    Keys are identities: operations, values and attributes live as long as the kernel.
    """

    def __init__(self, kernel: KernelOp):
        self.touching: set[int] = set()
        self.has_matmuls = False
        self._target = kernel.target
        self._tiles: dict[int, _Tile] = {}
        self._layouts: dict[tuple[object, ...], tuple[ByteSet, ByteSet, int | None]] = {}
        self._forms: dict[tuple[object, ...], _Form] = {}
        self._multiplied: dict[int, ByteSet] = {}
        """For each allocation, the bytes that matmuls have written, relative to the allocation."""
        self.placed: dict[int, ByteSet] = {}
        """For each allocation with a fixed address, the bytes of PSUM that matmuls have written."""
        self.repeated: set[int] = set()
        """The allocations whose source line has allocated another tile before."""
        self._position = 0
        lines: set[LocationAttr] = set()
        for number, op in enumerate(kernel.operations):
            if type(op) is AllocOp and info_of(op.result).region is MemoryRegion.psum:
                self._add(op.result, number, op)
                if op.location in lines:
                    self.repeated.add(number)
                elif op.location != UNKNOWN_LOC:
                    lines.add(op.location)

    def _add(self, value: SSAValue, number: int, alloc: AllocOp) -> None:
        self._tiles[id(value)] = self._tile(value, number, alloc)
        for use in uses_of(value):
            user = use.operation
            if type(user) is not ViewOp:
                self.touching.add(id(user))
            elif use.index == 0:
                self._add(user.result, number, alloc)

    def _tile(self, value: SSAValue, number: int, alloc: AllocOp) -> _Tile:
        address = alloc.fixed_address
        key = id(alloc.result.type), id(value.type), address
        known = info_of(value).indirection is None
        if key not in self._layouts:
            region = bytes_of(value)
            # An allocation without a fixed address begins at the start of a bank.
            place = region if address is None else shifted(region, *address)
            self._layouts[key] = region, place, _bank(place, self._target)
        region, place, bank = self._layouts[key]
        # Fixed banks are comparable between allocations, others only within one.
        owner = number if address is None else None
        bank_key = None if bank is None else (owner, bank)
        return _Tile(value, number, alloc, region, known, bank_key, place)

    def event(self, op: Operation) -> _Event | None:
        """Return the event of an operation; None if the operation does not access PSUM."""
        if id(op) not in self.touching:
            return None
        key = form_key(op)
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = self._form(op)
        is_matmul = form.is_matmul
        if is_matmul is None:
            is_matmul = engine_of(cast(NisaOp, op), self._target) is engine.tensor
        self._position += 1
        event = _Event(op, self._position, is_matmul, form.accumulation, [], [])
        # A list: indexing xDSL's own sequence is slow.
        operands = list(operand_tuple(op))
        for position, role in form.roles:
            tile = self._tiles.get(id(operands[position]))
            if tile is not None:
                if role is not Role.read:
                    event.writes.append(tile)
                # A matmul's inputs are in SBUF; adding to `dst` does not count as reading a result.
                if role is not Role.write and not is_matmul:
                    event.reads.append(tile)
        if is_matmul and event.writes:
            self.has_matmuls = True
            event.added = self._added(event.writes[0], form.accumulation)
        return event

    def _added(self, tile: _Tile, accumulation: Accumulation | None) -> ByteSet:
        """Return the bytes of dst to which a matmul adds.

        With `accumulate=None`, these are the bytes that earlier matmuls in program order have
        written, as in the interpreter.
        """
        before = self._multiplied.get(tile.base, NOWHERE)
        if not before.covers(tile.region):
            self._multiplied[tile.base] = before | tile.region
            if tile.alloc.fixed_address is not None:
                placed = self.placed.get(tile.base, NOWHERE)
                self.placed[tile.base] = placed | tile.place
        if accumulation is Accumulation.by_location:
            return before & tile.region if tile.known else NOWHERE
        return tile.region if accumulation is Accumulation.adds else NOWHERE

    def _form(self, op: Operation) -> _Form:
        if not isinstance(op, NisaOp):  # nki.device_print and the like
            return _Form([(index, Role.read) for index in range(len(op.operands))], False, None)
        roles = [
            (index, f.role)
            for index, (f, _) in enumerate(op.given_operands())
            if f.role is not None
        ]
        if op.SPEC.select_engine is not None:
            return _Form(roles, None, None)
        if engine_of(op, self._target) is not engine.tensor:
            return _Form(roles, False, None)
        written = [(index, role) for index, role in roles if role is not Role.read]
        return _Form(written, True, accumulation_of(op, self._target))


def _bank(place: ByteSet, target: Target) -> int | None:
    """Return the bank that contains all bytes of a set; None if they span several banks."""
    banks = {
        column // target.psum_bank_bytes
        for _, columns in place.pieces
        for column in ((columns & -columns).bit_length() - 1, columns.bit_length() - 1)
    }
    return banks.pop() if len(banks) == 1 else None


class _Flow:
    """The forward walk over the accesses to PSUM."""

    start = _EMPTY

    def __init__(self, target: Target, reader: _Reader, *, is_classic: bool):
        self.found: dict[tuple[int, str], Diagnostic] = {}
        """The findings by the position of the event and the rule id."""
        self._resets = target.version < nc_version.gen4
        """True if matmuls can add only to results of matmuls: before NeuronCore-v4."""
        self._placed = reader.placed
        self._repeated = reader.repeated
        self._first_wrong: set[LocationAttr] = set()
        """The lines whose first tile is added to before it is written."""
        self._is_classic = is_classic
        self._clock = 0
        self._groups: dict[object, list[_Group]] = {}
        """The groups of each bank, by the bank's key."""
        self._latest: dict[object, _Group] = {}
        self._readers: dict[int, dict[_Tile, Operation]] = {}
        self._writers: dict[int, dict[_Tile, Operation]] = {}

    def keys(self, event: _Event) -> Iterable[int]:
        return (tile.base for tile in (*event.reads, *event.writes))

    def join(self, one: _Memory, two: _Memory) -> _Memory:
        return _Memory(
            one.sure & two.sure,
            one.maybe | two.maybe,
            one.replaced | two.replaced,
            one.read | two.read,
        )

    def visit(self, event: _Event, state: _State, certain: bool) -> None:
        for tile in event.reads:
            memory = state.get(tile.base, _EMPTY)
            if not memory.read.covers(tile.region):
                state[tile.base] = replace(memory, read=memory.read | tile.region)
            self._readers.setdefault(tile.base, {})[tile] = event.op
        for tile in event.writes:
            memory = state.get(tile.base, _EMPTY)
            if event.is_matmul:
                latest = self._latest.get(tile.bank)
                self._clock += 1
                if event.accumulation is Accumulation.adds and _is_unchanged(latest, tile, memory):
                    latest.last = self._clock
                    continue
                self._check(event, tile, memory, certain)
                state[tile.base] = _multiplied(memory, tile)
                if tile.bank is not None and tile.known:
                    self._group(event, tile, memory, state)
            else:
                self._writers.setdefault(tile.base, {})[tile] = event.op
                if tile.known:
                    state[tile.base] = self._written(memory, tile.region)

    def _written(self, memory: _Memory, region: ByteSet) -> _Memory:
        """Return the state after a write by another engine than the Tensor Engine."""
        read = memory.read - region
        if not self._resets:
            return _Memory(memory.sure | region, memory.maybe | region, NOWHERE, read)
        replaced = memory.replaced | (memory.maybe & region)
        return _Memory(memory.sure, memory.maybe, replaced, read)

    def _check(self, event: _Event, tile: _Tile, memory: _Memory, certain: bool) -> None:
        """Report findings about the bytes to which a matmul adds."""
        added = event.added
        if added:
            if not memory.sure.covers(added):
                self._initialised(event, tile, memory, certain)
            if memory.replaced.meets(added):
                self._overwritten(event, tile)
            if tile.known and memory.read.meets(added):
                self._partial(event, tile)

    # ------------------------------------------------------------ findings

    def _report(self, event: _Event, rule: RuleText, diagnostic: Diagnostic) -> None:
        key = event.position, rule.id
        earlier = self.found.get(key)
        if earlier is None or (earlier.severity, diagnostic.severity) == ("warning", "error"):
            self.found[key] = diagnostic

    def _initialised(self, event: _Event, tile: _Tile, memory: _Memory, certain: bool) -> None:
        """Report a matmul that adds to bytes that may be unwritten."""
        if tile.known:
            missing = event.added - memory.maybe
        else:
            missing = NOWHERE if memory.maybe else event.added
        if missing:
            found = self._uninitialised(event, tile, missing, certain)
            self._report(event, PSUM_ACCUMULATE, found)
        elif tile.known:
            message = f"{_argument(event)}, but what it adds to may not have been written"
            self._warn(event, PSUM_ACCUMULATE, tile, message, notes=[_LOOPS])

    def _uninitialised(
        self, event: _Event, tile: _Tile, missing: ByteSet, certain: bool
    ) -> Diagnostic:
        notes: list[str] = []
        related: list[tuple[Operation, str]] = []
        message = f"{_argument(event)}, but nothing to add to has been written in 'dst' before"
        if tile.known and not missing.covers(tile.region):
            message = f"{_argument(event)}, but a part of 'dst' has not been written before"
            rows, columns = missing.pieces[0]
            notes.append(f"the part has partitions {shown(rows)}, bytes {shown(columns)} of each")
        writer = _latest(self._writers, tile)
        help = None
        if writer is not None and self._resets:
            message = f"{_argument(event)}, but no matmul has written 'dst' before"
            if not _is_zero(writer):
                help = (
                    "use accumulate=False (or None) for the first matmul of a group; add what "
                    f"{mention(writer)} writes to the product, e.g. with nisa.tensor_tensor"
                )
            related.append((writer, f"{mention(writer)} has written there, which is no matmul"))
        elif writer is None and self._is_new_again(tile):
            name = variable_of(tile.value, "the tile")
            help = (
                f"each iteration of its loop allocates a new {name}: allocate {name} before the "
                "loop over the products that it sums"
            )
        shares = self._shares_address(tile)
        sure = certain and event.accumulation is Accumulation.adds
        if shares:
            notes.append("another tile at the same address has been written by a matmul")
        if not certain:
            notes.append(_LOOPS)
        return diagnose(
            PSUM_ACCUMULATE,
            event.op,
            message,
            [("dst", tile.value)],
            notes=notes,
            related=related,
            help=help,
            severity="error" if sure and not shares else "warning",
        )

    def _is_new_again(self, tile: _Tile) -> bool:
        """Return whether the line of the allocation has allocated a correctly summed tile before.

        Called for tiles that a matmul adds to before they are written.
        """
        if tile.base not in self._repeated:
            self._first_wrong.add(tile.alloc.location)
            return False
        return tile.alloc.location not in self._first_wrong

    def _shares_address(self, tile: _Tile) -> bool:
        """True if matmuls have written another allocation at the tile's address."""
        if tile.alloc.fixed_address is None:
            return False
        return any(
            place.meets(tile.place) for base, place in self._placed.items() if base != tile.base
        )

    def _overwritten(self, event: _Event, tile: _Tile) -> None:
        writer = _latest(self._writers, tile)
        related = [] if writer is None else [(writer, f"overwritten by {mention(writer)}")]
        message = "adds to what another engine has written since the last matmul"
        self._warn(event, PSUM_OVERWRITTEN, tile, message, related)

    def _partial(self, event: _Event, tile: _Tile) -> None:
        reader = _latest(self._readers, tile)
        if reader is None:  # it reads at an address known only at run time
            return
        inferred = event.accumulation is Accumulation.by_location
        how = "accumulate=None adds" if inferred else "adds"
        message = f"{how} to a result that has been read already"
        help = None
        if self._is_classic:
            name = variable_of(tile.value, "the tile")
            help = (
                f"read {name} after the last matmul of the sum; for a new sum allocate it again "
                "with nl.zeros, inside the loop that reads it"
            )
        related = [(reader, f"read by {mention(reader)}")]
        self._warn(event, PSUM_OPEN_READ, tile, message, related, help=help)

    def _warn(
        self,
        event: _Event,
        rule: RuleText,
        tile: _Tile,
        message: str,
        related: Iterable[tuple[Operation, str]] = (),
        notes: Iterable[str] = (),
        help: str | None = None,
    ) -> None:
        found = diagnose(
            rule,
            event.op,
            message,
            [("dst", tile.value)],
            notes=notes,
            related=related,
            help=help,
            severity="warning",
        )
        self._report(event, rule, found)

    # ------------------------------------------------------------ groups of a bank

    def _group(self, event: _Event, tile: _Tile, before: _Memory, state: _State) -> None:
        """Extend the group that a matmul adds to, or start a group; called in program order."""
        groups = self._groups.setdefault(tile.bank, [])
        touched = [group for group in groups if group.place.meets(tile.place)]
        memory = state[tile.base]
        if touched and event.added:
            group = touched[-1]
            if not before.read.meets(tile.region):
                for other in groups:
                    if other.last > group.last and other not in touched and _is_open(other, state):
                        self._interleaved(event, tile, group, other)
            group.place, group.last = group.place | tile.place, self._clock
            group.tile, group.memory = tile, memory
        else:
            groups[:] = [group for group in groups if group not in touched]
            group = _Group(event.op, tile.place, self._clock, tile, memory)
            groups.append(group)
        self._latest[tile.bank] = group

    def _interleaved(self, event: _Event, tile: _Tile, group: _Group, other: _Group) -> None:
        if not other.place.shares_partitions(group.place):
            return
        message = "goes on with a group while another one is open in the same PSUM bank"
        related = [
            (group.first, f"the group began at {mention(group.first)}"),
            (other.first, f"the other at {mention(other.first)}"),
        ]
        self._warn(event, PSUM_INTERLEAVED, tile, message, related)


_LOOPS = "it depends on how often loops on the device run"


def _is_unchanged(latest: _Group | None, tile: _Tile, memory: _Memory) -> TypeGuard[_Group]:
    """True if the tile is unchanged and unread since its bank's latest matmul wrote it."""
    return latest is not None and latest.tile is tile and latest.memory is memory


def _is_zero(op: Operation) -> bool:
    """True for an instruction that fills a tile with zeros."""
    return isinstance(op, MemsetOp) and constant_of(op, "value") == 0


def _argument(event: _Event) -> str:
    if event.accumulation is Accumulation.adds:
        return "'accumulate' is True"
    return "'accumulate' is None, which adds here"


def _is_open(group: _Group, state: _State) -> bool:
    """True if nothing has read the group's result."""
    return not state.get(group.tile.base, _EMPTY).read.meets(group.tile.region)


def _multiplied(memory: _Memory, tile: _Tile) -> _Memory:
    """Return the state after a write by a matmul."""
    region = tile.region
    if not tile.known:
        return replace(memory, sure=memory.sure | region, maybe=memory.maybe | region)
    if memory.sure.covers(region) and not memory.read and not memory.replaced:
        return memory
    return _Memory(
        memory.sure | region, memory.maybe | region, memory.replaced - region, memory.read - region
    )


def _latest(history: dict[int, dict[_Tile, Operation]], tile: _Tile) -> Operation | None:
    """Return the latest operation in `history` that accessed bytes of a tile at a known address."""
    seen = history.get(tile.base, {})
    return next(
        (op for t, op in reversed(seen.items()) if t.known and t.region.meets(tile.region)), None
    )
