"""Semantics of collectives between the ranks of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from nkijit.dialects.ncc.collectives import (
    AllGatherOp,
    AllGatherVOp,
    AllGatherVPrepareOp,
    AllGatherVTriggerOp,
    AllReduceOp,
    AllToAllOp,
    AllToAllVOp,
    AllToAllVPrepareOp,
    AllToAllVTriggerOp,
    CollectivePermuteImplicitOp,
    CollectivePermuteImplicitReduceOp,
    CollectivePermuteOp,
    RankIdOp,
    ReduceScatterOp,
    RingRankIdOp,
)
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.diagnostics.diagnose import element_text
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.errors import InterpretationError, failure
from nkijit.passes.interpret.records.machine import Core, Meeting, Runner
from nkijit.passes.interpret.records.operands import reader
from nkijit.passes.interpret.records.records import Meets, OnRegisters, Opaque, Source
from nkijit.passes.interpret.semantics.registry import semantics
from nkijit.passes.numerics.operators import BINARY


class SharedMemoryWatch(Protocol):
    """Tracks the uses of the tensors that cores share."""

    def forget(self, number: int) -> None:
        """Forget a core's uses of a tensor before the synchronisation with the other cores."""
        ...


@dataclass(slots=True)
class _Offer:
    """A core's contribution to a collective: the data to send, and the destinations."""

    read: Callable[[], Sequence[Array]]
    """Returns copies of the data to send.

    Called when all cores have arrived, because several cores may fill a tensor together.
    """
    into: Sequence[Callable[[Array], object]]
    """Functions that write values to the destinations: round float32 values, copy stored bits."""
    come_from: tuple[int, ...]
    """The addresses in memory of the tensors that are sent."""
    go_to: tuple[int, ...]
    """The addresses in memory of the destinations."""
    watch: SharedMemoryWatch | None
    metadata: Array | None = None
    sent: Sequence[Array] = ()
    """The data that `read` returned, before any core wrote."""


Result = Callable[[Sequence[_Offer], int], Sequence[Array]]
"""Computes the results of a rank from the offers of all ranks and its index in the group."""


def _group_of(groups: Sequence[Sequence[int]], rank: int) -> Sequence[int]:
    return next((group for group in groups if rank in group), ())


def _lists(b: Binding) -> list[str]:
    return [f.name for f in b.op.SPEC.fields if f.variadic]


def _sources(b: Binding, name: str, *, raw: bool) -> list[Source]:
    return [
        item.read(name, item.tile(name).shape, raw=raw)
        for item in (b.item(name, i) for i in range(len(b.op.operands_named(name))))
    ]


def _members(b: Binding, core: Core) -> frozenset[Core]:
    """Return the cores of a core's collective: both cores of each rank in the group."""
    group = _group_of(b.value("replica_group"), core.rank)
    if not group:
        raise failure(b.op, f"rank {core.rank} is in no group")
    return frozenset(Core(rank, number) for rank in group for number in b.cores)


def _key(b: Binding) -> tuple[str, str]:
    # Equal arguments and tensor types identify a collective, on any core.
    arguments = [(f.name, str(b.op.properties.get(f.name))) for f in b.op.SPEC.fields]
    infos = [info_of(value) for _, value in b.op.given_operands() if is_tile(value)]
    types = [(info.shape, info.dtype.name) for info in infos]
    return b.op.name, repr((arguments, types))


def _offers(here: Mapping[Core, Meeting], core: int) -> dict[int, _Offer]:
    """Return, by rank, the offers of the cores with the number `core`."""
    return {at.rank: cast(_Offer, m.offer) for at, m in here.items() if at.core == core}


def _by_core(here: Mapping[Core, Meeting]) -> Iterator[dict[int, _Offer]]:
    """Yield the offers of all ranks, once for each core number with separate tensors.

    If both cores of a rank pass the same tensors in shared HBM, only the first core takes part. For
    the two cores, the collective is also a barrier: no core continues before all have arrived.
    """
    first = _offers(here, 0)
    yield first
    for number in sorted({core.core for core in here} - {0}):
        offers = _offers(here, number)
        for rank, offer in offers.items():
            into_same = set(offer.go_to) & set(first[rank].go_to)
            if into_same and not _is_same(offer, first[rank]):
                raise _two_into_one(here[Core(rank, number)])
        if not all(_is_same(offers[rank], first[rank]) for rank in offers):
            yield offers


def _two_into_one(meeting: Meeting) -> InterpretationError:
    return failure(
        meeting.op, "the cores of a rank receive different data in the same shared tensor"
    )


def _is_same(one: _Offer, two: _Offer) -> bool:
    return (one.come_from, one.go_to) == (two.come_from, two.go_to)


def _addresses(sources: Iterable[Source], env: Env) -> tuple[int, ...]:
    return tuple(env[source.slot].__array_interface__["data"][0] for source in sources)


def _begin(b: Binding) -> Callable[[Mapping[Core, Meeting]], None]:
    """Return a function that reads the data to send; race detection then forgets earlier uses."""
    tiles = [value for _, value in b.op.given_operands() if is_tile(value)]
    numbers = {b.shared_number(value) for value in tiles}

    def begin(here: Mapping[Core, Meeting]) -> None:
        for meeting in here.values():
            offer: _Offer = meeting.offer
            offer.sent = offer.read()
            if offer.watch is not None:
                for number in numbers:
                    offer.watch.forget(number)

    return begin


def _collective(b: Binding, result: Result, *, reduces: bool = False) -> Meets:
    """Return a collective whose result depends on the data that the ranks of a group sent."""
    names = _lists(b)
    sources = [_sources(b, name, raw=not reduces) for name in names[:-1]]
    reads = [[reader(source, b.slots) for source in listed] for listed in sources]
    written = _sources(b, names[-1], raw=True)
    stores = [
        _store(b.item(names[-1], i), names[-1], source, reduces) for i, source in enumerate(written)
    ]
    combine = BINARY[b.value("op")] if len(sources) == 2 else None
    groups: Sequence[Sequence[int]] = b.value("replica_group")
    me, key, watch, begin = b.core_slot(), _key(b), b.watch_slot(), _begin(b)

    def settle(here: Mapping[Core, Meeting]) -> None:
        begin(here)
        for by_rank in _by_core(here):
            offers = [by_rank[rank] for rank in _group_of(groups, next(iter(by_rank)))]
            results = [result(offers, position) for position in range(len(offers))]
            for offer, values in zip(offers, results, strict=True):
                for into, value in zip(offer.into, values, strict=True):
                    into(value)

    def drive(env: Env) -> Runner:
        def read() -> Sequence[Array]:
            values = [[np.array(read(env)) for read in listed] for listed in reads]
            if combine is not None:
                for left, right in zip(*values, strict=True):
                    combine(left, right, left)
            return values[0]

        offer = _Offer(
            read,
            [_bound(store, env) for store in stores],
            _addresses((source for listed in sources for source in listed), env),
            _addresses(written, env),
            env[watch],
        )
        yield Meeting(b.op, key, _members(b, env[me]), settle, offer)

    return Meets(drive, moves=not reduces)


def _bound(store: Callable[[Env, Array], object], env: Env) -> Callable[[Array], object]:
    return lambda values: store(env, values)


def _store(b: Binding, name: str, written: Source, rounds: bool) -> Callable[[Env, Array], object]:
    shape = b.tile(name).shape
    if not rounds:
        return lambda env, values: np.copyto(env[written.slot], values)
    scratch, store = b.rounds(name, shape)

    def rounded(env: Env, values: Array) -> None:
        env[scratch][...] = values
        store(env)

    return rounded


def _reduced(b: Binding) -> Callable[[Sequence[Array]], Array]:
    """Return a function that reduces arrays in the order of the group, in float32."""
    function: Any = BINARY[b.value("op")]

    def reduce(arrays: Sequence[Array]) -> Array:
        total = arrays[0].copy()
        for array in arrays[1:]:
            function(total, array, total)
        return total

    return reduce


def _by_tensor(offers: Sequence[_Offer]) -> list[list[Array]]:
    """Return, for each tensor of a coalesced collective, the data that each rank sends."""
    return [list(arrays) for arrays in zip(*(offer.sent for offer in offers), strict=True)]


@semantics(AllReduceOp)
def all_reduce(b: Binding) -> Meets:
    reduce = _reduced(b)
    return _collective(
        b, lambda offers, _: [reduce(arrays) for arrays in _by_tensor(offers)], reduces=True
    )


@semantics(AllGatherOp)
def all_gather(b: Binding) -> Meets:
    dim = b.value("collective_dim")
    return _collective(
        b, lambda offers, _: [np.concatenate(arrays, dim) for arrays in _by_tensor(offers)]
    )


@semantics(ReduceScatterOp)
def reduce_scatter(b: Binding) -> Meets:
    reduce, dim = _reduced(b), b.value("collective_dim")

    def result(offers: Sequence[_Offer], position: int) -> list[Array]:
        parts = len(offers)
        return [
            reduce([np.split(array, parts, dim)[position] for array in arrays])
            for arrays in _by_tensor(offers)
        ]

    return _collective(b, result, reduces=True)


@semantics(AllToAllOp)
def all_to_all(b: Binding) -> Meets:
    dim = b.value("collective_dim")

    def result(offers: Sequence[_Offer], position: int) -> list[Array]:
        parts = len(offers)
        return [
            np.concatenate([np.split(array, parts, dim)[position] for array in arrays], dim)
            for arrays in _by_tensor(offers)
        ]

    return _collective(b, result)


@semantics(CollectivePermuteOp)
def collective_permute(b: Binding) -> Meets:
    source_of = {target: source for source, target in b.value("source_target_pairs")}
    src, dst = _sources(b, "srcs", raw=True)[0], _sources(b, "dsts", raw=True)[0]
    sent = reader(src, b.slots)
    ranks = sorted({rank for pair in source_of.items() for rank in pair})
    me, key, watch, begin = b.core_slot(), _key(b), b.watch_slot(), _begin(b)

    def settle(here: Mapping[Core, Meeting]) -> None:
        begin(here)
        for by_rank in _by_core(here):
            for target, source in source_of.items():
                by_rank[target].into[0](by_rank[source].sent[0])

    def drive(env: Env) -> Runner:
        core: Core = env[me]
        if core.rank not in ranks:
            return
        members = frozenset(Core(rank, number) for rank in ranks for number in b.cores)
        into = _bound(lambda env, values: np.copyto(env[dst.slot], values), env)
        places = _addresses((src,), env), _addresses((dst,), env)
        offer = _Offer(lambda: [np.array(sent(env))], [into], *places, env[watch])
        yield Meeting(b.op, key, members, settle, offer)

    return Meets(drive, moves=True)


def _from_predecessor(offers: Sequence[_Offer], position: int) -> Sequence[Array]:
    return offers[position - 1].sent


@semantics(CollectivePermuteImplicitOp)
def collective_permute_implicit(b: Binding) -> Meets:
    return _collective(b, _from_predecessor)


@semantics(CollectivePermuteImplicitReduceOp)
def collective_permute_implicit_reduce(b: Binding) -> Meets:
    return _collective(b, _from_predecessor, reduces=True)


@semantics(RingRankIdOp)
def ring_rank_id(b: Binding) -> Opaque:
    groups, iteration = b.value("replica_group"), b.register("iteration_id")
    into, me = b.register_slot("dst"), b.core_slot()

    def step(env: Env) -> None:
        rank = env[me].rank
        group = _group_of(groups, rank)
        if not group:
            raise failure(b.op, f"rank {rank} is in no group")
        env[into] = group[(list(group).index(rank) - iteration(env)) % len(group)]

    return Opaque(step, OnRegisters.only)


@semantics(RankIdOp)
def rank_id(b: Binding) -> Opaque:
    into, me = b.register_slot("dst"), b.core_slot()

    def step(env: Env) -> None:
        env[into] = env[me].rank

    return Opaque(step, OnRegisters.only)


# ------------------------------------------------------------------ variable length

SEND_COUNT, SEND_AT, RECEIVED, RECEIVE_AT = range(4)
"""Indices of the rows of the metadata tensor."""


def _variable(b: Binding, *, broadcasts: bool) -> Meets:
    """Return a collective between flat buffers, with element counts known only at run time."""
    src, dst = _sources(b, "srcs", raw=True)[0], _sources(b, "dsts", raw=True)[0]
    buffers = [reader(source, b.slots) for source in (src, dst)]
    metadata = b.reader("metadata_tensor", raw=True)
    columns = b.tile("metadata_tensor").shape[-1]
    has_places, counts_known = b.value("has_rdispls"), b.value("recv_counts_known")
    groups, me, key = b.value("replica_group"), b.core_slot(), _key(b)
    watch, begin = b.watch_slot(), _begin(b)

    def held(row: int, column: int) -> str:
        """Return the name of an element of the metadata."""
        info = b.tile("metadata_tensor")
        place = divmod(row * columns + column, info.free_size)
        return element_text(b.operand("metadata_tensor"), *place)

    def chunk(rows: Array, sent: Array, target: int) -> Array:
        column = 0 if broadcasts else target
        count, start = int(rows[SEND_COUNT, column]), int(rows[SEND_AT, column])
        if count and start + count > sent.size:
            raise failure(
                b.op,
                f"rank {target} of the group is sent {numbered(count, 'element')} from {start} on "
                f"({held(SEND_COUNT, column)} and {held(SEND_AT, column)}), 'srcs' has {sent.size}",
            )
        return sent[start : start + count]

    def receive(order: Sequence[int], offers: Sequence[_Offer], target: int) -> Array:
        """Return the contents of a rank's destination after the collective."""
        rows, flat = cast(Array, offers[target].metadata), offers[target].sent[1]
        slot = flat.size // len(order)
        for position, sender in enumerate(offers):
            data = chunk(cast(Array, sender.metadata), sender.sent[0], target)
            start = int(rows[RECEIVE_AT, position]) if has_places else slot * position
            room = flat.size - start if has_places else slot
            if data.size > max(room, 0):
                at = f", from {start} on ({held(RECEIVE_AT, position)})" if has_places else ""
                raise failure(
                    b.op,
                    f"rank {order[position]} sends {numbered(data.size, 'element')}, and there is "
                    f"room for {max(room, 0)} in 'dsts' of rank {order[target]}{at}",
                )
            if data.size:
                flat[start : start + data.size] = data
            if not counts_known:
                rows[RECEIVED, position] = data.size
        return flat

    def settle(here: Mapping[Core, Meeting]) -> None:
        begin(here)
        # Per core: metadata in SBUF, to which counts are written, belongs to one core.
        done: dict[int, Array] = {}
        for number in sorted({core.core for core in here}):
            by_rank = _offers(here, number)
            order = _group_of(groups, next(iter(by_rank)))
            offers = [by_rank[rank] for rank in order]
            received = [receive(order, offers, target) for target in range(len(order))]
            for rank, flat in zip(order, received, strict=True):
                (into,) = by_rank[rank].go_to
                if done.setdefault(into, flat).tobytes() != flat.tobytes():
                    raise _two_into_one(here[Core(rank, number)])
                by_rank[rank].into[0](flat)

    def drive(env: Env) -> Runner:
        rows = metadata(env).reshape(-1, columns)
        into = _bound(
            lambda env, flat: np.copyto(env[dst.slot], flat.reshape(env[dst.slot].shape)), env
        )

        def read() -> Sequence[Array]:
            return [np.array(read(env)).reshape(-1) for read in buffers]

        places = _addresses((src,), env), _addresses((dst,), env)
        offer = _Offer(read, [into], *places, env[watch], rows)
        yield Meeting(b.op, key, _members(b, env[me]), settle, offer)

    return Meets(drive)


@semantics(AllGatherVPrepareOp, AllToAllVPrepareOp)
def prepare(b: Binding) -> Opaque:
    # Nothing to compute: the metadata does not change before the trigger (rule collective-split).
    del b
    return Opaque(lambda env: None, OnRegisters.only)


@semantics(AllGatherVOp, AllGatherVTriggerOp)
def all_gather_v(b: Binding) -> Meets:
    return _variable(b, broadcasts=True)


@semantics(AllToAllVOp, AllToAllVTriggerOp)
def all_to_all_v(b: Binding) -> Meets:
    return _variable(b, broadcasts=False)
