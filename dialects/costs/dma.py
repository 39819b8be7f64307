"""Costs of DMA: the descriptors of a transfer, and the time that the DMA engines take for them.

A transfer takes the time of its trigger in a queue, a delay until data moves, the time to move the
bytes, and a delay until waiting instructions can start. Many short transfers are limited by their
triggers, as the time of a trigger does not depend on the length of rows. Published measurements of
the time for the bytes differ, so the model has two times:

- `engine_ns` is the time of an engine in a stream of transfers. Each descriptor takes
  `descriptor_ns` in addition to its bytes (profiles of transfers with prebuilt descriptors).
- `payload_ns` is the time of an isolated transfer. It excludes `descriptor_ns` for the first
  `burst_descriptors` of an engine, but moving the bytes takes longer than in a stream (isolated
  probes).

So a short transfer can be complete before its engines are free for the next one.

Each engine moves the data of eight partitions of SBUF (DMA overview), so a transfer of fewer than
128 partitions leaves engines idle. The engine with the most data determines the time of a
transfer: with nine partitions, the engine that has eight of them.
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
    """Return the cost of an instruction whose only stage is a transfer."""

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
    """The default descriptor mode of dma_copy.

    A vector of indices requires descriptors that software generates (DGE reference). With DGE
    (descriptor generation on the device), a conversion of data types requires software as well, and
    hardware generates all other descriptors. Without DGE, descriptors are prebuilt, except for
    addresses that are known only at run time, which require software.
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
    """Return a transfer of `size` bytes, whose contiguous runs have `run` bytes.

    `share` is the fraction of the bandwidth that the transfer reaches. Transfers from SBUF or PSUM
    to HBM are stores. All others count as loads, as nothing is published about transfers within HBM
    and within SBUF.
    """
    dma = target.timing.dma
    run = min(run, size, dma.max_descriptor_bytes)
    descriptors = ceil(size / run)
    first, last = _ends(op)
    parts = _parts(first, last, size, run, target)
    stores = first.region.on_chip and not last.region.on_chip
    rate = (dma.store_bytes_per_ns if stores else dma.engine_bytes_per_ns) * share
    each_ns = run / rate + dma.descriptor_ns
    engine_ns = parts.most * each_ns
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
    """The distribution of a transfer's descriptors over the engines: each has `most` or `least`."""

    engines: int
    fullest: int
    """The number of engines with the most descriptors (`most`)."""
    most: int
    """The number of descriptors that each of the fullest engines has."""
    least: int
    """The number of descriptors of each engine that is not among the fullest."""


def _parts(first: TileInfo, last: TileInfo, size: int, run: int, target: Target) -> _Parts:
    """Distribute descriptors over DMA engines: by partition, or evenly for transfers within HBM."""
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
    """Return the first source and the first destination tile of a transfer."""
    given = [(f.role, info_of(value)) for f, value in op.given_operands() if is_tile(value)]
    read = [tile for role, tile in given if role is Role.read]
    written = [tile for role, tile in given if role is not Role.read]
    return read[0], written[0]


def _run(tiles: Sequence[TileInfo]) -> int:
    """Return the bytes of a run that is contiguous in all tiles, in the widest data type."""
    shortest = min(tile.run_bytes // tile.dtype.itemsize for tile in tiles)
    return shortest * max(tile.dtype.itemsize for tile in tiles)


def _largest(op: NisaOp) -> int:
    return max(map(_bytes, _tiles(op)))


def copies(op: NisaOp, target: Target) -> Transfer:
    """Return the transfer of a dma_copy."""
    mode = _unless_given(op, lambda: _copy_mode(op, target))
    return _transfer(op, target, mode, _largest(op), _run(_tiles(op)))


def computes(op: NisaOp, target: Target) -> Transfer:
    """Return the transfer of a dma_compute, in which each source after the first is added.

    Descriptors are prebuilt, or generated by software with a vector of indices (API reference).
    """
    mode = dge_mode.swdge if by_vector(op) else dge_mode.none
    added = max(1, len(op.operands_named("srcs")) - 1)
    share = target.timing.dma.compute_share
    return _transfer(op, target, mode, added * _largest(op), _run(_tiles(op)), share)


def transposes(fits_hardware: Callable[[TileInfo], bool]) -> Transfers:
    """Return the function that computes the transfer of a dma_transpose.

    `fits_hardware` returns True if hardware can generate the descriptors of a source.
    """

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
    """Return the transfer of a sendrecv; the two cores synchronise before data moves.

    With `dma_engine.gpsimd_dma` the GpSimd Engine's own DMA engine, separate from the others, moves
    the data.
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
    """The path of a collective's data, as functions of the number of ranks in a group."""

    hops: Callable[[int], int]
    """Returns the number of consecutive steps between ranks, given the number of ranks."""
    share: Callable[[int], float]
    """Returns the fraction of the data that passes through each rank, given the number of ranks.

    The data is the largest of the collective's lists of tensors.
    """


AROUND = Route(lambda n: n - 1, lambda n: (n - 1) / n)
"""For gather, scatter and all-to-all: the data moves once around the ring."""
TWICE_AROUND = Route(lambda n: 2 * (n - 1), lambda n: 2 * (n - 1) / n)
"""For reductions: the data moves once around the ring to be scattered, and once to be gathered."""
NEIGHBOUR = Route(lambda n: 1, lambda n: 1.0)
"""For permutations: the data moves one step, to the neighbour."""


def _ranks(op: NisaOp) -> int:
    groups = op.get("replica_group")
    return 2 if groups is None else max(map(len, groups), default=1)


def collects(route: Route) -> Transfers:
    """Return the function that computes the transfer of a collective.

    The time of the collective is the time of the steps from rank to rank, plus the time of the
    bytes. Only two measurements are published, for reductions and gathers of a few bytes. The model
    assumes that links are as fast as the DMA engines.
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
        # The steps include the start and the end of each transfer.
        return replace(made, payload_ns=steps + made.engine_ns, dispatch_ns=0.0, notify_ns=0.0)

    return transfer
