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
from nkijit.dialects.costs.engines import REGISTER_ACCESS, REGISTER_MOVE
from nkijit.dialects.declare.fields import (
    flag,
    groups,
    integer_or_register,
    integers,
    operator,
    opt_integer,
    pairs,
    required_integer,
    tile,
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
    COMMON_RULES,
    GROUPS_RULE,
    LISTS_RULES,
    OPERATOR_RULE,
    as_source,
    as_source_divisible,
    channels_counted,
    collective_dim_in,
    equal_slots,
    known_channel,
    metadata_layout,
    one_tensor,
    over_ranks,
    ranks_paired_once,
    rdispls_since,
    result_shape,
    same_memory,
    times_ranks,
    two_cores_four_ranks,
    two_dims_in_sbuf,
)
from nkijit.dialects.nisa.movement import PRIORITY_RULES
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
        same_memory(sbuf=True, one_kind=True),
        Rule(COLLECTIVE_SBUF_DIMS, two_dims_in_sbuf),
        one_tensor(never=False),
        *COMMON_RULES,
        GROUPS_RULE,
        OPERATOR_RULE,
        result_shape(as_source),
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
        same_memory(sbuf=True, one_kind=True),
        Rule(COLLECTIVE_SBUF_DIMS, two_dims_in_sbuf),
        one_tensor(never=False),
        *COMMON_RULES,
        GROUPS_RULE,
        collective_dim_in((0,), (0, 1)),
        result_shape(times_ranks),
    ),
    stages=_stage("ALL_GATHER", AROUND, "dsts", "srcs"),
)
class AllGatherOp(NisaOp):
    """`dsts` of every rank: the `srcs` of all ranks of its group, concatenated."""

    name = "ncc.all_gather"

    srcs = tiles()
    dsts = written_tiles()
    replica_group = groups()
    collective_dim = required_integer()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        same_memory(sbuf=False),
        one_tensor(never=True),
        *COMMON_RULES,
        GROUPS_RULE,
        Rule(COLLECTIVE_METADATA, metadata_layout),
        Rule(COLLECTIVE_SHAPE, equal_slots),
        rdispls_since(None),
        Rule(COLLECTIVE_LAUNCH, two_cores_four_ranks),
    ),
    stages=_stage("ALL_GATHER_V", AROUND, "dsts", "srcs", "metadata_tensor"),
)
class AllGatherVOp(NisaOp):
    """`dsts` of every rank: a slot for each rank of the group, with that rank's elements."""

    name = "ncc.all_gather_v"

    srcs = tiles(partial=True)
    dsts = written_tiles(partial=True)
    replica_group = groups()
    metadata_tensor = updated(partial=True)
    recv_counts_known = flag()
    has_rdispls = flag()
    priority = opt_integer()


@instruction(
    engines=(engine.sync,),
    rules=(
        *PRIORITY_RULES,
        GROUPS_RULE,
        Rule(COLLECTIVE_METADATA, metadata_layout),
        rdispls_since(None),
        Rule(COLLECTIVE_LAUNCH, two_cores_four_ranks),
    ),
    stages=(Stage("ALL_GATHER_V_PREPARE", ("metadata_tensor",), REGISTER_ACCESS),),
)
class AllGatherVPrepareOp(NisaOp):
    """Read the metadata of an all_gather_v that a trigger runs later."""

    name = "ncc.all_gather_v_prepare"

    replica_group = groups()
    metadata_tensor = tile()
    recv_counts_known = flag()
    has_rdispls = flag()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        same_memory(sbuf=False),
        one_tensor(never=True),
        *LISTS_RULES,
        Rule(COLLECTIVE_SHAPE, equal_slots),
    ),
    stages=_stage("ALL_GATHER_V", AROUND, "dsts", "srcs", "metadata_tensor"),
)
class AllGatherVTriggerOp(NisaOp):
    """Run an `all_gather_v` that was prepared before."""

    name = "ncc.all_gather_v_trigger"

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
        same_memory(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, two_dims_in_sbuf),
        one_tensor(never=False),
        *COMMON_RULES,
        GROUPS_RULE,
        collective_dim_in((0,), (0,)),
        OPERATOR_RULE,
        result_shape(over_ranks),
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
    rules=(
        same_memory(sbuf=False),
        *COMMON_RULES,
        GROUPS_RULE,
        collective_dim_in((0,), (0,)),
        result_shape(as_source_divisible),
    ),
    stages=_stage("ALL_TO_ALL", AROUND, "dsts", "srcs"),
)
class AllToAllOp(NisaOp):
    """`dsts` of rank `r`: part `r` of the `srcs` of every rank of the group, in order."""

    name = "ncc.all_to_all"

    srcs = tiles()
    dsts = written_tiles()
    replica_group = groups()
    collective_dim = required_integer()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        same_memory(sbuf=False),
        one_tensor(never=True),
        *COMMON_RULES,
        GROUPS_RULE,
        Rule(COLLECTIVE_METADATA, metadata_layout),
        Rule(COLLECTIVE_SHAPE, equal_slots),
        rdispls_since(nc_version.gen4),
    ),
    stages=_stage("ALL_TO_ALL_V", AROUND, "dsts", "srcs", "metadata_tensor"),
)
class AllToAllVOp(NisaOp):
    """`dsts` of every rank: the elements sent to it; counts are known only at run time."""

    name = "ncc.all_to_all_v"

    srcs = tiles(partial=True)
    dsts = written_tiles(partial=True)
    replica_group = groups()
    metadata_tensor = updated(partial=True)
    recv_counts_known = flag()
    has_rdispls = flag()
    priority = opt_integer()


@instruction(
    engines=(engine.sync,),
    rules=(
        *PRIORITY_RULES,
        GROUPS_RULE,
        Rule(COLLECTIVE_METADATA, metadata_layout),
        rdispls_since(nc_version.gen4),
    ),
    stages=(Stage("ALL_TO_ALL_V_PREPARE", ("metadata_tensor",), REGISTER_ACCESS),),
)
class AllToAllVPrepareOp(NisaOp):
    """Read the metadata of an all_to_all_v that a trigger runs later."""

    name = "ncc.all_to_all_v_prepare"

    replica_group = groups()
    metadata_tensor = tile()
    recv_counts_known = flag()
    has_rdispls = flag()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        same_memory(sbuf=False),
        one_tensor(never=True),
        *LISTS_RULES,
        Rule(COLLECTIVE_SHAPE, equal_slots),
    ),
    stages=_stage("ALL_TO_ALL_V", AROUND, "dsts", "srcs", "metadata_tensor"),
)
class AllToAllVTriggerOp(NisaOp):
    """Run an `all_to_all_v` that was prepared before."""

    name = "ncc.all_to_all_v_trigger"

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
        same_memory(sbuf=False),
        one_tensor(never=True),
        *COMMON_RULES,
        Rule(COLLECTIVE_GROUP, ranks_paired_once),
        result_shape(as_source),
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
        same_memory(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, two_dims_in_sbuf),
        *COMMON_RULES,
        GROUPS_RULE,
        Rule(COLLECTIVE_CHANNELS, channels_counted),
        result_shape(as_source),
    ),
    stages=_stage("COLLECTIVE_PERMUTE_IMPLICIT", NEIGHBOUR, "dsts_by_channel", "srcs_by_channel"),
)
class CollectivePermuteImplicitOp(NisaOp):
    """Send `srcs` one step around the ring of a group: to the successor, from the predecessor."""

    name = "ncc.collective_permute_implicit"

    srcs_by_channel = tiles()
    dsts_by_channel = written_tiles()
    replica_group = groups()
    channel_ids = integers()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        same_memory(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, two_dims_in_sbuf),
        *COMMON_RULES,
        GROUPS_RULE,
        Rule(COLLECTIVE_CHANNELS, channels_counted),
        OPERATOR_RULE,
        result_shape(as_source),
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
    """Send `srcs0 op srcs1` one step around the ring of a group."""

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
    rules=(GROUPS_RULE, Rule(COLLECTIVE_CHANNELS, known_channel)),
    stages=(Stage("RING_RANK_ID", ("dst", "iteration_id"), REGISTER_MOVE),),
)
class RingRankIdOp(NisaOp):
    """`dst`: the rank whose data is processed in a step around the ring of a group."""

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
