"""What collectives do between the ranks of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from nkijit.dialects.collectives import (
    AllGatherOp,
    AllGatherVOp,
    AllReduceOp,
    AllToAllOp,
    AllToAllVOp,
    CollectivePermuteImplicitOp,
    CollectivePermuteImplicitReduceOp,
    CollectivePermuteOp,
    RankIdOp,
    ReduceScatterOp,
    RingRankIdOp,
)
from nkijit.passes.interpret.binding import Array, Binding, Env, Source, Step, semantics
from nkijit.passes.interpret.errors import failure
from nkijit.passes.interpret.functions import BINARY
from nkijit.passes.interpret.machine import Core, Meeting, Runner


@dataclass(frozen=True, slots=True)
class _Offer:
    """What a rank brings to a collective: what it sends, and where it wants the result."""

    sent: Sequence[Array]
    into: Sequence[Callable[[Array], object]]
    """Round float32 values, or copy stored ones, into each destination."""
    metadata: Array | None = None
    memory: tuple[int, ...] = ()
    """Where the destinations are; cores that share memory take part once."""


Result = Callable[[Sequence[_Offer], int], Sequence[Array]]
"""The results of a rank, by position in its group, from what all ranks of the group sent."""


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
    """Who takes part in a collective of a core: both cores of every rank of its group."""
    group = _group_of(b.value("replica_group"), core.rank)
    if not group:
        raise failure(b.op, f"rank {core.rank} is in no group")
    return frozenset(Core(rank, number) for rank in group for number in b.cores)


def _key(b: Binding) -> tuple[str, str]:
    # Properties of equal text are the same collective, whoever calls it.
    return b.op.name, repr(sorted((name, str(attr)) for name, attr in b.op.properties.items()))


def _collective(b: Binding, result: Result, *, reduces: bool = False) -> Step:
    """A collective whose result depends on what the ranks of a group sent."""
    names = _lists(b)
    sources = [_sources(b, name, raw=not reduces) for name in names[:-1]]
    written = _sources(b, names[-1], raw=True)
    stores = [
        _store(b.item(names[-1], i), names[-1], source, reduces) for i, source in enumerate(written)
    ]
    combine = BINARY[b.value("op")] if len(sources) == 2 else None
    groups: Sequence[Sequence[int]] = b.value("replica_group")
    me, key = b.core_slot(), _key(b)

    def settle(here: Mapping[Core, Meeting]) -> None:
        for number in sorted({core.core for core in here}):
            ranks = {core.rank: meeting for core, meeting in here.items() if core.core == number}
            order = _group_of(groups, next(iter(ranks)))
            offers = [cast(_Offer, ranks[rank].offer) for rank in order]
            if number and offers[0].memory == cast(_Offer, here[Core(order[0], 0)].offer).memory:
                continue  # the same tensors in shared HBM
            results = [result(offers, position) for position in range(len(order))]
            for offer, values in zip(offers, results, strict=True):
                for into, value in zip(offer.into, values, strict=True):
                    into(value)

    def drive(env: Env) -> Runner:
        values = [[np.array(source.read(env)) for source in listed] for listed in sources]
        sent = values[0]
        if combine is not None:
            for left, right in zip(*values, strict=True):
                combine(left, right, left)
        offer = _Offer(
            sent,
            [_bound(store, env) for store in stores],
            memory=tuple(env[source.slot].__array_interface__["data"][0] for source in written),
        )
        yield Meeting(b.op, key, _members(b, env[me]), settle, offer)

    return b.meets(drive)


def _bound(store: Callable[[Env, Array], object], env: Env) -> Callable[[Array], object]:
    return lambda values: store(env, values)


def _store(b: Binding, name: str, written: Source, rounds: bool) -> Callable[[Env, Array], object]:
    shape = b.tile(name).shape
    if not rounds:
        return lambda env, values: np.copyto(env[written.slot], values)
    scratch = b.scratch(shape)
    store = b.store(scratch, shape, name)

    def rounded(env: Env, values: Array) -> None:
        env[scratch][...] = values
        store(env)

    return rounded


def _reduced(b: Binding) -> Callable[[Sequence[Array]], Array]:
    """Reduce in the order of the group, in float32."""
    function: Any = BINARY[b.value("op")]

    def reduce(arrays: Sequence[Array]) -> Array:
        total = arrays[0].copy()
        for array in arrays[1:]:
            function(total, array, total)
        return total

    return reduce


def _by_tensor(offers: Sequence[_Offer]) -> list[list[Array]]:
    """For each tensor of a coalesced collective, what every rank sent."""
    return [list(arrays) for arrays in zip(*(offer.sent for offer in offers), strict=True)]


@semantics(AllReduceOp)
def all_reduce(b: Binding) -> Step:
    reduce = _reduced(b)
    return _collective(
        b, lambda offers, _: [reduce(arrays) for arrays in _by_tensor(offers)], reduces=True
    )


@semantics(AllGatherOp)
def all_gather(b: Binding) -> Step:
    dim = b.value("collective_dim")
    return _collective(
        b, lambda offers, _: [np.concatenate(arrays, dim) for arrays in _by_tensor(offers)]
    )


@semantics(ReduceScatterOp)
def reduce_scatter(b: Binding) -> Step:
    reduce, dim = _reduced(b), b.value("collective_dim")

    def result(offers: Sequence[_Offer], position: int) -> list[Array]:
        parts = len(offers)
        return [
            reduce([np.split(array, parts, dim)[position] for array in arrays])
            for arrays in _by_tensor(offers)
        ]

    return _collective(b, result, reduces=True)


@semantics(AllToAllOp)
def all_to_all(b: Binding) -> Step:
    dim = b.value("collective_dim")

    def result(offers: Sequence[_Offer], position: int) -> list[Array]:
        parts = len(offers)
        return [
            np.concatenate([np.split(array, parts, dim)[position] for array in arrays], dim)
            for arrays in _by_tensor(offers)
        ]

    return _collective(b, result)


@semantics(CollectivePermuteOp)
def collective_permute(b: Binding) -> Step:
    source_of = {target: source for source, target in b.value("source_target_pairs")}
    src, dst = _sources(b, "srcs", raw=True)[0], _sources(b, "dsts", raw=True)[0]
    ranks = sorted({rank for pair in source_of.items() for rank in pair})
    me, key = b.core_slot(), _key(b)

    def settle(here: Mapping[Core, Meeting]) -> None:
        for core, meeting in here.items():
            source = source_of.get(core.rank)
            if source is not None:
                meeting.offer.into[0](here[Core(source, core.core)].offer.sent[0])

    def drive(env: Env) -> Runner:
        core: Core = env[me]
        if core.rank not in ranks:
            return
        members = frozenset(Core(rank, number) for rank in ranks for number in b.cores)
        into = _bound(lambda env, values: np.copyto(env[dst.slot], values), env)
        offer = _Offer([np.array(src.read(env))], [into])
        yield Meeting(b.op, key, members, settle, offer)

    return b.meets(drive)


def _from_predecessor(offers: Sequence[_Offer], position: int) -> Sequence[Array]:
    return offers[position - 1].sent


@semantics(CollectivePermuteImplicitOp)
def collective_permute_implicit(b: Binding) -> Step:
    return _collective(b, _from_predecessor)


@semantics(CollectivePermuteImplicitReduceOp)
def collective_permute_implicit_reduce(b: Binding) -> Step:
    return _collective(b, _from_predecessor, reduces=True)


@semantics(RingRankIdOp)
def ring_rank_id(b: Binding) -> Step:
    groups, iteration = b.value("replica_group"), b.register("iteration_id")
    into, me = b.register_slot("dst"), b.core_slot()

    def step(env: Env) -> None:
        rank = env[me].rank
        group = _group_of(groups, rank)
        if not group:
            raise failure(b.op, f"rank {rank} is in no group")
        env[into] = group[(list(group).index(rank) - iteration(env)) % len(group)]

    return step


@semantics(RankIdOp)
def rank_id(b: Binding) -> Step:
    into, me = b.register_slot("dst"), b.core_slot()

    def step(env: Env) -> None:
        env[into] = env[me].rank

    return step


# ------------------------------------------------------------------ variable length

SEND_COUNT, SEND_AT, RECEIVED, RECEIVE_AT = range(4)
"""Rows of the metadata tensor."""


def _variable(b: Binding, *, broadcasts: bool) -> Step:
    """Elements in numbers known at run time, between flat buffers."""
    src, dst = _sources(b, "srcs", raw=True)[0], _sources(b, "dsts", raw=True)[0]
    metadata = b.read("metadata_tensor", raw=True)
    columns = b.tile("metadata_tensor").shape[-1]
    has_places, counts_known = b.value("has_rdispls"), b.value("recv_counts_known")
    groups, me, key = b.value("replica_group"), b.core_slot(), _key(b)

    def chunk(rows: Array, sent: Array, target: int) -> Array:
        column = 0 if broadcasts else target
        count, start = int(rows[SEND_COUNT, column]), int(rows[SEND_AT, column])
        if start + count > sent.size:
            raise failure(
                b.op,
                f"{count} elements from {start} on are sent to rank {target} of the group, 'srcs' "
                f"has {sent.size}",
            )
        return sent[start : start + count]

    def settle(here: Mapping[Core, Meeting]) -> None:
        for number in sorted({core.core for core in here}):
            ranks = {core.rank: m for core, m in here.items() if core.core == number}
            order = list(_group_of(groups, next(iter(ranks))))
            offers = [cast(_Offer, ranks[rank].offer) for rank in order]
            for target, offer in enumerate(offers):
                rows = cast(Array, offer.metadata)
                flat = offer.sent[1]
                for position, sender in enumerate(offers):
                    data = chunk(cast(Array, sender.metadata), sender.sent[0], target)
                    slot = flat.size // len(order)
                    start = int(rows[RECEIVE_AT, position]) if has_places else slot * position
                    room = flat.size - start if has_places else slot
                    if data.size > room:
                        raise failure(
                            b.op,
                            f"{data.size} elements come from rank {order[position]} and there is "
                            f"room for {room} in 'dsts' of rank {order[target]}",
                        )
                    flat[start : start + data.size] = data
                    if not counts_known:
                        rows[RECEIVED, position] = data.size
                offer.into[0](flat)

    def drive(env: Env) -> Runner:
        rows = metadata.read(env).reshape(-1, columns)
        into = _bound(
            lambda env, flat: np.copyto(env[dst.slot], flat.reshape(env[dst.slot].shape)), env
        )
        sent = [np.array(src.read(env)).reshape(-1), np.array(dst.read(env)).reshape(-1)]
        offer = _Offer(sent, [into], rows)
        yield Meeting(b.op, key, _members(b, env[me]), settle, offer)

    return b.meets(drive)


@semantics(AllGatherVOp)
def all_gather_v(b: Binding) -> Step:
    return _variable(b, broadcasts=True)


@semantics(AllToAllVOp)
def all_to_all_v(b: Binding) -> Step:
    return _variable(b, broadcasts=False)
