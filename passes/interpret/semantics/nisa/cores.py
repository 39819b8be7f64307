"""Semantics of synchronisation and exchange between the two cores of a logical NeuronCore."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nkijit.dialects.nisa.cores import CORES, CoreBarrierOp, SendrecvOp
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.errors import failure
from nkijit.passes.interpret.records.machine import Core, Meeting, Runner
from nkijit.passes.interpret.records.records import Meets
from nkijit.passes.interpret.semantics.registry import semantics


def _both(core: Core) -> frozenset[Core]:
    return frozenset(Core(core.rank, number) for number in CORES)


@semantics(CoreBarrierOp)
def core_barrier(b: Binding) -> Meets:
    tensor, me, watch = b.shared_number(b.operand("data")), b.core_slot(), b.watch_slot()

    def settle(here: Mapping[Core, Meeting]) -> None:
        for meeting in here.values():
            if meeting.offer is not None:
                meeting.offer.forget(tensor)

    def drive(env: Env) -> Runner:
        yield Meeting(b.op, ("core_barrier", tensor), _both(env[me]), settle, env[watch])

    return Meets(drive, moves=True)


@dataclass(frozen=True, slots=True)
class _Parcel:
    """A core's part in an exchange: `data` goes to core `to`, and data of `sender` to `into`."""

    to: int
    sender: int
    data: Array
    into: Array


def _exchange(here: Mapping[Core, Meeting]) -> None:
    by_core = {core.core: meeting for core, meeting in here.items()}
    for core, meeting in by_core.items():
        mine: _Parcel = meeting.offer
        other = by_core[mine.sender]
        theirs: _Parcel = other.offer
        if theirs.to != core:
            raise failure(
                meeting.op,
                f"core {core} receives from core {mine.sender}, but core {mine.sender} sends to "
                f"core {theirs.to} in {other.place}",
            )
        if (theirs.data.shape, theirs.data.dtype) != (mine.into.shape, mine.into.dtype):
            raise failure(
                meeting.op,
                f"{theirs.data.dtype} {theirs.data.shape} comes in from {other.place}, 'dst' is "
                f"{mine.into.dtype} {mine.into.shape}",
            )
    for meeting in by_core.values():
        meeting.offer.into[...] = by_core[meeting.offer.sender].offer.data


@semantics(SendrecvOp)
def sendrecv(b: Binding) -> Meets:
    shape = b.tile("src").shape
    sent, dst = b.reader("src", shape, raw=True), b.into("dst", shape).slot
    to, sender, me = b.value("send_to_rank"), b.value("recv_from_rank"), b.core_slot()
    key = ("sendrecv", b.value("pipe_id"))

    def drive(env: Env) -> Runner:
        # A copy: src and dst of a core may be the same tile.
        parcel = _Parcel(to, sender, sent(env).copy(), env[dst])
        yield Meeting(b.op, key, _both(env[me]), _exchange, parcel)

    return Meets(drive, moves=True)
