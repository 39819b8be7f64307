"""What DMA costs: the descriptors of a transfer, and how long the DMA engines take for them.

A transfer is a queue's trigger, a while until data moves, the bytes, and a while until what waits
is released. What many short transfers cost is the trigger: one takes its queue as long whatever its
rows are. Two figures are given for the bytes, which published measurements force apart. In a
stream of transfers every descriptor takes its engine `descriptor_ns` beside its bytes (profiles of
transfers with descriptors that were made beforehand): `engine_ns`, what transfers that share the
engines have to be counted with. A transfer on its own does not show that for the first
`burst_descriptors` of an engine, and takes longer than its bytes otherwise (isolated probes):
`payload_ns`, after which its data is there. So a short transfer may be complete before its engines
could take on as much again.

Each engine moves what is in eight partitions of SBUF (DMA overview), so that a transfer of fewer
than 128 partitions leaves engines idle. A transfer takes as long as the engine that has most to
move: with nine partitions, the one that has eight of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

from nkijit.dialects.access import Indirection
from nkijit.dialects.declare.cost import Duration, StageCost, Transfer
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.timing import Dma
from nkijit.dialects.hardware.words import dge_mode, dma_engine, engine
from nkijit.dialects.tiles import TileInfo, info_of, is_tile

Transfers = Callable[[NisaOp, Target], Transfer]


def moving(transfer: Transfers) -> StageCost:
    """The cost of an instruction that is a transfer."""

    def size(op: NisaOp, target: Target) -> float:
        return transfer(op, target).bytes

    def time(op: NisaOp, target: Target) -> Duration:
        made = transfer(op, target)
        return Duration(made.trigger_ns, made.latency_ns)

    return StageCost("those that pass through the DMA engines", size, time, transfer)


def by_vector(op: NisaOp) -> bool:
    """True when an operand is addressed by a vector of indices."""
    return any(tile.indirection is Indirection.vector for tile in _tiles(op))


def _tiles(op: NisaOp) -> list[TileInfo]:
    return [info_of(value) for value in op.operands if is_tile(value)]


def _bytes(tile: TileInfo) -> int:
    return tile.size * tile.dtype.itemsize


# ------------------------------------------------------------------ modes


def _unless_given(op: NisaOp, select: Callable[[], dge_mode]) -> dge_mode:
    given: dge_mode = op.value_of("dge_mode")
    return select() if given is dge_mode.unknown else given


def _copy_mode(op: NisaOp, target: Target) -> dge_mode:
    """Hardware where it can, software where it must, else descriptors made beforehand.

    Software alone takes a vector of indices (DGE reference) and converts data types; addresses
    known at run time only rule out descriptors made beforehand.
    """
    tiles = _tiles(op)
    if by_vector(op):
        return dge_mode.swdge
    if not target.has_dge:
        dynamic = any(tile.indirection is not None for tile in tiles)
        return dge_mode.swdge if dynamic else dge_mode.none
    converts = len({tile.dtype for tile in tiles}) > 1
    return dge_mode.swdge if converts else dge_mode.hwdge


def _trigger(op: NisaOp, mode: dge_mode) -> engine:
    if mode is dge_mode.swdge:
        return engine.gpsimd
    chosen = op.get("engine", engine.unknown)
    if mode is dge_mode.hwdge and chosen is not engine.unknown:
        return chosen
    return engine.sync


def _trigger_ns(
    dma: Dma, mode: dge_mode, descriptors: int, *, stores: bool, indirect: bool
) -> float:
    if mode is dge_mode.none:
        return dma.prebuilt_ns
    if mode is dge_mode.swdge:
        own = dma.swdge_indirect_ns if indirect else dma.swdge_ns
        return own + descriptors * dma.swdge_descriptor_ns
    own = dma.hwdge_store_ns if stores else dma.hwdge_load_ns
    further = max(0, descriptors - dma.hwdge_free_descriptors)
    return own + further * dma.hwdge_descriptor_ns


# ------------------------------------------------------------------ transfers


def _transfer(
    op: NisaOp,
    target: Target,
    mode: dge_mode,
    size: int,
    run: int,
    share: float = 1.0,
) -> Transfer:
    """A transfer of `size` bytes in runs of `run` bytes at a share of the bandwidth.

    What leaves SBUF for HBM is a store and everything else a load: of transfers within HBM and
    within SBUF nothing was published.
    """
    dma = target.timing.dma
    run = min(run, size, dma.max_descriptor_bytes)
    descriptors = ceil(size / run)
    first, last = _ends(op)
    parts = _parts(first, last, size, run, target)
    rate = dma.engine_bytes_per_ns * share
    each_ns = run / rate + dma.descriptor_ns
    engine_ns = parts.most * each_ns
    stores = first.region.on_chip and not last.region.on_chip
    base, stretch = (dma.store_ns, dma.store_stretch) if stores else (dma.load_ns, dma.load_stretch)
    alone = base + stretch * size / (dma.engines * rate)
    unseen = min(parts.most, dma.burst_descriptors) * dma.descriptor_ns
    dispatch = dma.store_dispatch_ns if stores else dma.load_dispatch_ns
    return Transfer(
        bytes=size,
        descriptors=descriptors,
        descriptor_bytes=run,
        engines=parts.engines,
        fullest=parts.fullest,
        engine_ns=engine_ns,
        other_ns=parts.least * each_ns,
        payload_ns=max(alone, engine_ns - unseen),
        trigger_ns=_trigger_ns(dma, mode, descriptors, stores=stores, indirect=by_vector(op)),
        dispatch_ns=dma.prebuilt_dispatch_ns if mode is dge_mode.none else dispatch,
        notify_ns=dma.store_notify_ns if stores else dma.load_notify_ns,
        mode=mode,
        trigger=_trigger(op, mode),
    )


class _Parts(NamedTuple):
    """The descriptors of a transfer, by engine."""

    engines: int
    fullest: int
    """How many of the engines have most descriptors."""
    most: int
    """The descriptors of each of these."""
    least: int
    """The descriptors of each of the other engines."""


def _parts(first: TileInfo, last: TileInfo, size: int, run: int, target: Target) -> _Parts:
    """The descriptors of each DMA engine: those of its own partitions; within HBM all alike."""
    dma = target.timing.dma
    descriptors = ceil(size / run)
    touched = [tile.partitions for tile in (first, last) if tile.region.on_chip]
    if not touched:
        engines = min(dma.engines, descriptors)
        least, more = divmod(descriptors, engines)
        return _Parts(engines, more or engines, ceil(descriptors / engines), least)
    partitions, own = max(touched), target.pmax // dma.engines
    most = ceil(size * min(partitions, own) / (partitions * run))
    fullest, more = divmod(partitions, own)
    if fullest + bool(more) > descriptors:
        return _Parts(descriptors, descriptors, most, 0)
    if not fullest:
        return _Parts(1, 1, most, 0)
    least = ceil(size * more / (partitions * run))
    return _Parts(fullest + bool(more), fullest, most, least)


def _ends(op: NisaOp) -> tuple[TileInfo, TileInfo]:
    """A source and a destination of a transfer."""
    given = [(f.role, info_of(value)) for f, value in op.given_operands() if is_tile(value)]
    read = [tile for role, tile in given if role is Role.read]
    written = [tile for role, tile in given if role is not Role.read]
    return read[0], written[0]


def _run(tiles: Sequence[TileInfo]) -> int:
    """Bytes of the elements that are neighbours on all sides, in the widest of the data types."""
    shortest = min(tile.run_bytes // tile.dtype.itemsize for tile in tiles)
    return shortest * max(tile.dtype.itemsize for tile in tiles)


def _largest(op: NisaOp) -> int:
    return max(map(_bytes, _tiles(op)))


def copies(op: NisaOp, target: Target) -> Transfer:
    """dma_copy."""
    mode = _unless_given(op, lambda: _copy_mode(op, target))
    return _transfer(op, target, mode, _largest(op), _run(_tiles(op)))


def computes(op: NisaOp, target: Target) -> Transfer:
    """dma_compute: each source after the first is added to what is there.

    Descriptors are made beforehand, by software with a vector of indices (API reference).
    """
    mode = dge_mode.swdge if by_vector(op) else dge_mode.none
    added = max(1, len(op.operands_named("srcs")) - 1)
    share = target.timing.dma.compute_share
    return _transfer(op, target, mode, added * _largest(op), _run(_tiles(op)), share)


def transposes(fits_hardware: Callable[[TileInfo], bool]) -> Transfers:
    """dma_transpose; `fits_hardware` says whether hardware can make a source's descriptors."""

    def transfer(op: NisaOp, target: Target) -> Transfer:
        src, dma = _ends(op)[0], target.timing.dma

        def select() -> dge_mode:
            if by_vector(op):
                return dge_mode.swdge
            hardware = target.has_dge and fits_hardware(src)
            return dge_mode.hwdge if hardware else dge_mode.none

        share = dma.transpose_sbuf_share if src.region.on_chip else dma.transpose_hbm_share
        mode = _unless_given(op, select)
        return _transfer(op, target, mode, _bytes(src), dma.transpose_block_bytes, share)

    return transfer


def exchanges(op: NisaOp, target: Target) -> Transfer:
    """sendrecv: the cores meet before data moves.

    The GpSimd Engine's own DMA engine is none of the others, and is started by that engine.
    """
    timing = target.timing
    own_engine = op.value_of("dma_engine") is dma_engine.gpsimd_dma
    mode = dge_mode.swdge if own_engine else dge_mode.hwdge
    made = _transfer(op, target, mode, _largest(op), _run(_tiles(op)))
    made = replace(made, dispatch_ns=made.dispatch_ns + timing.sequencer.core_barrier_ns)
    if not own_engine:
        return made
    alone = made.bytes / timing.dma.gpsimd_bytes_per_ns
    payload = timing.dma.load_ns + alone
    return replace(made, engines=0, fullest=0, engine_ns=alone, payload_ns=payload)


# ------------------------------------------------------------------ collectives


@dataclass(frozen=True, slots=True)
class Route:
    """How the data of a collective goes around: as functions of the ranks of a group."""

    hops: Callable[[int], int]
    """Steps that wait for each other."""
    share: Callable[[int], float]
    """Of the largest tensors, what passes through each rank."""


AROUND = Route(lambda n: n - 1, lambda n: (n - 1) / n)
"""Once around the ring: gathering, scattering, exchanging."""
TWICE_AROUND = Route(lambda n: 2 * (n - 1), lambda n: 2 * (n - 1) / n)
"""A reduction that is scattered, then gathered."""
NEIGHBOUR = Route(lambda n: 1, lambda n: 1.0)
"""One step."""


def _ranks(op: NisaOp) -> int:
    groups = op.get("replica_group")
    return 2 if groups is None else max(map(len, groups), default=1)


def collects(route: Route) -> Transfers:
    """A collective: steps from rank to rank, then what the bytes take.

    Two published figures, for reductions and gathers of a few bytes, are all there is; links are
    taken to be as fast as the DMA engines.
    """

    def transfer(op: NisaOp, target: Target) -> Transfer:
        ranks, constants = _ranks(op), target.timing.collectives
        lists = [
            [info_of(v) for v in op.operands_named(f.name)] for f in op.SPEC.fields if f.variadic
        ]
        whole = max(sum(map(_bytes, tiles)) for tiles in lists)
        run = _run([tile for tiles in lists for tile in tiles])
        size = max(1, round(whole * route.share(ranks)))
        made = _transfer(op, target, dge_mode.none, size, run)
        steps = constants.base_ns + constants.hop_ns * max(1, route.hops(ranks))
        # The steps have the start and the end of each transfer in them.
        return replace(made, payload_ns=steps + made.engine_ns, dispatch_ns=0.0, notify_ns=0.0)

    return transfer
