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
    """tensors, all in HBM, or one (P, N) tile in SBUF."""
    dsts = written_tiles()
    """a tensor of the same shape and dtype for each."""
    replica_group = groups()
    """the groups."""
    op = operator()
    """nl.add, nl.minimum or nl.maximum; in float32, in the order of the group."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """`dsts` of every rank: the `srcs` of all ranks of its group, one after the other."""

    name = "ncc.all_gather"

    srcs = tiles()
    """tensors, all in HBM, or one (P, N) tile in SBUF."""
    dsts = written_tiles()
    """for each a tensor that is as many times larger as the group has ranks."""
    replica_group = groups()
    """the groups."""
    collective_dim = required_integer()
    """the dimension; 0 in HBM, 0 or 1 in SBUF."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """`dsts` of every rank: a slot for each rank of its group with the elements that it sent."""

    name = "ncc.all_gather_v"

    srcs = tiles(partial=True)
    """one tensor in HBM, seen as a flat buffer."""
    dsts = written_tiles(partial=True)
    """one tensor in HBM, seen as a flat buffer."""
    replica_group = groups()
    """the groups."""
    metadata_tensor = updated(partial=True)
    """uint32, (3, ranks) in HBM or (1, 3, ranks) in SBUF. Row 0, column 0: how many elements are
    sent; row 1, column 0: from which one on; row 2: how many came from each rank, written by the
    collective."""
    recv_counts_known = flag()
    """True leaves row 2 as it is."""
    has_rdispls = flag()
    """False; the public page documents True as not supported."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """Read the metadata of an all_gather_v, which a trigger runs later on."""

    name = "ncc.all_gather_v_prepare"

    replica_group = groups()
    """the groups."""
    metadata_tensor = tile()
    """uint32, (3, ranks) in HBM or (1, 3, ranks) in SBUF. Row 0, column 0: how many elements are
    sent; row 1, column 0: from which one on; row 2: how many came from each rank, written by the
    collective."""
    recv_counts_known = flag()
    """True leaves row 2 as it is."""
    has_rdispls = flag()
    """False; the public page documents True as not supported."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """What `all_gather_v` does, prepared before."""

    name = "ncc.all_gather_v_trigger"

    srcs = tiles(partial=True)
    """one tensor in HBM, seen as a flat buffer."""
    dsts = written_tiles(partial=True)
    """one tensor in HBM, seen as a flat buffer."""
    replica_group = groups()
    """the groups."""
    metadata_tensor = updated(partial=True)
    """the metadata that was prepared; row 2 is written by the collective."""
    recv_counts_known = flag()
    """True leaves row 2 as it is."""
    has_rdispls = flag()
    """whether row 3 says where chunks land."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """tensors, all in HBM, or one (P, N) tile in SBUF."""
    dsts = written_tiles()
    """for each a tensor that is as many times smaller as the group has ranks."""
    replica_group = groups()
    """the groups."""
    collective_dim = required_integer()
    """the dimension that is split, 0."""
    op = operator()
    """nl.add, nl.minimum or nl.maximum; in float32, in the order of the group."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """`dsts` of rank `r`: part `r` of the `srcs` of all ranks of its group, in their order."""

    name = "ncc.all_to_all"

    srcs = tiles()
    """tensors in HBM."""
    dsts = written_tiles()
    """a tensor of the same shape for each."""
    replica_group = groups()
    """the groups."""
    collective_dim = required_integer()
    """the dimension that is split and joined, 0."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """`dsts` of every rank: what each rank of its group sent to it, counts known at run time."""

    name = "ncc.all_to_all_v"

    srcs = tiles(partial=True)
    """one tensor in HBM, seen as a flat buffer."""
    dsts = written_tiles(partial=True)
    """one tensor in HBM, seen as a flat buffer; without `has_rdispls` divided into equal slots, one
    for each rank that sends."""
    replica_group = groups()
    """the groups."""
    metadata_tensor = updated(partial=True)
    """uint32, (3 or 4, ranks) in HBM or (1, 3 or 4, ranks) in SBUF. Rows: how many elements go to
    each rank, from which one of `srcs` on, how many came from each (written by the collective),
    where they land in `dsts`."""
    recv_counts_known = flag()
    """True leaves row 2 as it is."""
    has_rdispls = flag()
    """True reads row 3; NeuronCore-v4 only."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """Read the metadata of an all_to_all_v, which a trigger runs later on."""

    name = "ncc.all_to_all_v_prepare"

    replica_group = groups()
    """the groups."""
    metadata_tensor = tile()
    """uint32, (3 or 4, ranks) in HBM or (1, 3 or 4, ranks) in SBUF. Rows: how many elements go to
    each rank, from which one of `srcs` on, how many came from each (written by the collective),
    where they land in `dsts`."""
    recv_counts_known = flag()
    """True leaves row 2 as it is."""
    has_rdispls = flag()
    """True reads row 3; NeuronCore-v4 only."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """What `all_to_all_v` does, prepared before."""

    name = "ncc.all_to_all_v_trigger"

    srcs = tiles(partial=True)
    """one tensor in HBM, seen as a flat buffer."""
    dsts = written_tiles(partial=True)
    """one tensor in HBM, seen as a flat buffer."""
    replica_group = groups()
    """the groups."""
    metadata_tensor = updated(partial=True)
    """the metadata that was prepared; row 2 is written by the collective."""
    recv_counts_known = flag()
    """True leaves row 2 as it is."""
    has_rdispls = flag()
    """whether row 3 says where chunks land."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """one tensor in HBM."""
    dsts = written_tiles()
    """one tensor in HBM of the same shape and dtype; of a rank that is no target it stays as it
    was."""
    source_target_pairs = pairs()
    """(source, target) ranks."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """A step around the ring of a group: to the successor, from the predecessor."""

    name = "ncc.collective_permute_implicit"

    srcs_by_channel = tiles()
    """for each channel a list of one tensor."""
    dsts_by_channel = written_tiles()
    """for each channel a list of one tensor of the same shape and dtype."""
    replica_group = groups()
    """the groups; the ring is their order."""
    channel_ids = integers()
    """0, 1, … for as many channels, four at most."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


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
    """A step around the ring of a group with `srcs0 op srcs1`."""

    name = "ncc.collective_permute_implicit_reduce"

    srcs0_by_channel = tiles()
    """for each channel a list of one tensor, the left operand."""
    srcs1_by_channel = tiles()
    """for each channel a list of one tensor, the right operand."""
    dsts_by_channel = written_tiles()
    """for each channel a list of one tensor for what the rank before computed."""
    replica_group = groups()
    """the groups; the ring is their order."""
    op = operator()
    """nl.add, nl.minimum or nl.maximum, in float32."""
    channel_ids = integers()
    """0, 1, … for as many channels, four at most."""
    priority = opt_integer()
    """0 (first) to 3, NeuronCore-v4 and newer."""


@instruction(
    engines=(engine.sync,),
    rules=(GROUPS_RULE, Rule(COLLECTIVE_CHANNELS, known_channel)),
    stages=(Stage("RING_RANK_ID", ("dst", "iteration_id"), REGISTER_MOVE),),
)
class RingRankIdOp(NisaOp):
    """`dst`: the rank whose data comes by in a step around the ring of a group."""

    name = "ncc.collective_permute_implicit_current_processing_rank_id"

    dst = written_register()
    """the register that receives the rank."""
    iteration_id = integer_or_register()
    """steps so far, an int or a register; 0 is this rank's own data."""
    replica_group = groups()
    """the groups; the ring is their order."""
    channel_id = required_integer()
    """the channel, 0 to 3; data goes around all of them alike."""


@instruction(engines=(engine.sync,), rules=(), stages=(Stage("RANK_ID", ("dst",), REGISTER_MOVE),))
class RankIdOp(NisaOp):
    """`dst`: the rank that runs the kernel."""

    name = "ncc.rank_id"

    dst = written_register()
    """the register that receives the rank."""
