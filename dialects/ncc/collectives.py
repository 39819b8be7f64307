"""The instructions of the collectives."""

from __future__ import annotations

from nkijit.dialects.costs.dma import (
    AROUND,
    NEIGHBOUR,
    TWICE_AROUND,
    Route,
    collects,
    moving,
)
from nkijit.dialects.costs.engines import REGISTER_MOVE
from nkijit.dialects.declare.fields import (
    flag,
    groups,
    integer_or_register,
    integers,
    operator,
    opt_integer,
    pairs,
    required_integer,
    tiles,
    updated,
    written_register,
    written_tiles,
)
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.spec import Rule, Stage
from nkijit.dialects.hardware.words import engine, nc_version
from nkijit.dialects.ncc.rules import (
    COMMON,
    GROUP,
    REDUCES,
    buffers,
    channels,
    coalesced,
    dims,
    divided,
    equal,
    exchanged,
    gather_v_launch,
    metadata,
    permutation,
    rdispls,
    ring_channel,
    sbuf_dims,
    scaled,
    shapes,
    slots,
)
from nkijit.dialects.rule_texts.cores import (
    COLLECTIVE_CHANNELS,
    COLLECTIVE_GROUP,
    COLLECTIVE_LAUNCH,
    COLLECTIVE_METADATA,
    COLLECTIVE_SBUF_DIMS,
    COLLECTIVE_SHAPE,
)


def _stage(mnemonic: str, route: Route, *operands: str) -> tuple[Stage, ...]:
    return (Stage(mnemonic, operands, moving(collects(route))),)


@instruction(
    engines=(engine.dma,),
    rules=(
        buffers(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, sbuf_dims),
        coalesced(never=False),
        *COMMON,
        GROUP,
        REDUCES,
        shapes(equal),
    ),
    stages=_stage("ALL_REDUCE", TWICE_AROUND, "dsts", "srcs"),
)
class AllReduceOp(NisaOp):
    """`dsts` of every rank: the reduction of the `srcs` of all ranks of its group."""

    name = "ncc.all_reduce"

    srcs = tiles()
    dsts = written_tiles()
    replica_group = groups()
    op = operator()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        buffers(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, sbuf_dims),
        coalesced(never=False),
        *COMMON,
        GROUP,
        dims((0,), (0, 1)),
        shapes(scaled),
    ),
    stages=_stage("ALL_GATHER", AROUND, "dsts", "srcs"),
)
class AllGatherOp(NisaOp):
    """`dsts` of every rank: the `srcs` of all ranks of its group, one behind the other."""

    name = "ncc.all_gather"

    srcs = tiles()
    dsts = written_tiles()
    replica_group = groups()
    collective_dim = required_integer()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        buffers(sbuf=False),
        coalesced(never=True),
        *COMMON,
        GROUP,
        Rule(COLLECTIVE_METADATA, metadata),
        Rule(COLLECTIVE_SHAPE, slots),
        rdispls(None),
        Rule(COLLECTIVE_LAUNCH, gather_v_launch),
    ),
    stages=_stage("ALL_GATHER_V", AROUND, "dsts", "srcs", "metadata_tensor"),
)
class AllGatherVOp(NisaOp):
    """`dsts` of every rank: a slot for each rank of its group with the elements that it sent."""

    name = "ncc.all_gather_v"

    srcs = tiles(partial=True)
    dsts = written_tiles(partial=True)
    replica_group = groups()
    metadata_tensor = updated(partial=True)
    recv_counts_known = flag()
    has_rdispls = flag()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        buffers(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, sbuf_dims),
        coalesced(never=False),
        *COMMON,
        GROUP,
        dims((0,), (0,)),
        REDUCES,
        shapes(divided),
    ),
    stages=_stage("REDUCE_SCATTER", AROUND, "dsts", "srcs"),
)
class ReduceScatterOp(NisaOp):
    """`dsts` of rank `r`: part `r` of the reduction of the `srcs` of all ranks of its group."""

    name = "ncc.reduce_scatter"

    srcs = tiles()
    dsts = written_tiles()
    replica_group = groups()
    collective_dim = required_integer()
    op = operator()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(buffers(sbuf=False), *COMMON, GROUP, dims((0,), (0,)), shapes(exchanged)),
    stages=_stage("ALL_TO_ALL", AROUND, "dsts", "srcs"),
)
class AllToAllOp(NisaOp):
    """`dsts` of rank `r`: part `r` of the `srcs` of all ranks of its group, in their order."""

    name = "ncc.all_to_all"

    srcs = tiles()
    dsts = written_tiles()
    replica_group = groups()
    collective_dim = required_integer()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        buffers(sbuf=False),
        coalesced(never=True),
        *COMMON,
        GROUP,
        Rule(COLLECTIVE_METADATA, metadata),
        Rule(COLLECTIVE_SHAPE, slots),
        rdispls(nc_version.gen4),
    ),
    stages=_stage("ALL_TO_ALL_V", AROUND, "dsts", "srcs", "metadata_tensor"),
)
class AllToAllVOp(NisaOp):
    """`dsts` of every rank: what each rank of its group sent to it, counts known at run time."""

    name = "ncc.all_to_all_v"

    srcs = tiles(partial=True)
    dsts = written_tiles(partial=True)
    replica_group = groups()
    metadata_tensor = updated(partial=True)
    recv_counts_known = flag()
    has_rdispls = flag()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        buffers(sbuf=False),
        coalesced(never=True),
        *COMMON,
        Rule(COLLECTIVE_GROUP, permutation),
        shapes(equal),
    ),
    stages=_stage("COLLECTIVE_PERMUTE", NEIGHBOUR, "dsts", "srcs"),
)
class CollectivePermuteOp(NisaOp):
    """`dsts` of each target: the `srcs` of its source."""

    name = "ncc.collective_permute"

    srcs = tiles()
    dsts = written_tiles()
    source_target_pairs = pairs()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        buffers(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, sbuf_dims),
        *COMMON,
        GROUP,
        Rule(COLLECTIVE_CHANNELS, channels),
        shapes(equal),
    ),
    stages=_stage("COLLECTIVE_PERMUTE_IMPLICIT", NEIGHBOUR, "dsts_by_channel", "srcs_by_channel"),
)
class CollectivePermuteImplicitOp(NisaOp):
    """A step around the ring of a group: to the successor, from the predecessor."""

    name = "ncc.collective_permute_implicit"

    srcs_by_channel = tiles()
    dsts_by_channel = written_tiles()
    replica_group = groups()
    channel_ids = integers()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        buffers(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, sbuf_dims),
        *COMMON,
        GROUP,
        Rule(COLLECTIVE_CHANNELS, channels),
        REDUCES,
        shapes(equal),
    ),
    stages=_stage(
        "COLLECTIVE_PERMUTE_REDUCE",
        NEIGHBOUR,
        "dsts_by_channel",
        "srcs0_by_channel",
        "srcs1_by_channel",
    ),
)
class CollectivePermuteImplicitReduceOp(NisaOp):
    """A step around the ring of a group with `srcs0 op srcs1`."""

    name = "ncc.collective_permute_implicit_reduce"

    srcs0_by_channel = tiles()
    srcs1_by_channel = tiles()
    dsts_by_channel = written_tiles()
    replica_group = groups()
    op = operator()
    channel_ids = integers()
    priority = opt_integer()


@instruction(
    engines=(engine.sync,),
    rules=(GROUP, Rule(COLLECTIVE_CHANNELS, ring_channel)),
    stages=(Stage("RING_RANK_ID", ("dst", "iteration_id"), REGISTER_MOVE),),
)
class RingRankIdOp(NisaOp):
    """`dst`: the rank whose data comes by in a step around the ring of a group."""

    name = "ncc.collective_permute_implicit_current_processing_rank_id"

    dst = written_register()
    iteration_id = integer_or_register()
    replica_group = groups()
    channel_id = required_integer()


@instruction(engines=(engine.sync,), rules=(), stages=(Stage("RANK_ID", ("dst",), REGISTER_MOVE),))
class RankIdOp(NisaOp):
    """`dst`: the rank that runs the kernel."""

    name = "ncc.rank_id"

    dst = written_register()
