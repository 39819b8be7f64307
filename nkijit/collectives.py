"""Collectives between ranks, with the names and signatures of `nki.collectives`.

Those that move data return their instruction, as the pages of NKI 0.7 show, for `depends_on`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NoReturn, cast

from nkijit.dialects.declare.operation import NisaOp
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
from nkijit.dialects.rule_texts.cores import COLLECTIVE_COALESCED
from nkijit.tracing.dtype_names import missing
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.objects import NKIObject
from nkijit.tracing.operators import OperatorLike
from nkijit.tracing.registers import VirtualRegister, allocate_register
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


class rg_partition_op(Enum):
    """How `ReplicaGroup.from_partition_op` numbers the group of a rank.

    `div` makes groups of neighbours, `mod` of ranks at a distance, `bitwise_and` of ranks with
    equal bits in a mask. The public pages show these three.

    Source: NKI API reference, nki.collectives.ReplicaGroup.
    """

    div = "div"
    mod = "mod"
    bitwise_and = "bitwise_and"


_PARTITIONS: dict[rg_partition_op, Callable[[int, int], int]] = {
    rg_partition_op.div: lambda rank, operand: rank // operand,
    rg_partition_op.mod: lambda rank, operand: rank % operand,
    rg_partition_op.bitwise_and: lambda rank, operand: rank & operand,
}


class ReplicaGroup(NKIObject):
    """Groups of ranks: `ReplicaGroup([[0, 1], [2, 3]])`. A rank is in one of them at most.

    Source: NKI API reference, nki.collectives.ReplicaGroup.
    """

    groups: Sequence[Sequence[int]]

    @staticmethod
    def from_partition_op(world_size: int, op: rg_partition_op, operand: int) -> ReplicaGroup:
        """The ranks below `world_size`, in groups of equal `op(rank, operand)`, both in order.

        Example:
            >>> op = rg_partition_op.mod
            >>> ReplicaGroup.from_partition_op(6, op, 2).groups
            [[0, 2, 4], [1, 3, 5]]

        Raises:
            ValueError: there are no ranks, or `operand` divides and is not positive.

        Source: NKI API reference, nki.collectives.ReplicaGroup.
        """
        if world_size < 1:
            raise ValueError(f"world_size must be positive, it is {world_size}")
        if operand < 1 and op is not rg_partition_op.bitwise_and:
            raise ValueError(f"operand must be positive with {op.name}, it is {operand}")
        groups: dict[int, list[int]] = {}
        for rank in range(world_size):
            groups.setdefault(_PARTITIONS[op](rank, operand), []).append(rank)
        return ReplicaGroup([groups[number] for number in sorted(groups)])


def all_reduce(
    srcs: list[NkiTensor],
    dsts: list[NkiTensor],
    replica_group: ReplicaGroup,
    op: OperatorLike,
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """`dsts` of every rank: the element-wise reduction of the `srcs` of all ranks of its group.

    Args:
        srcs: tensors, all in HBM, or one (P, N) tile in SBUF.
        dsts: a tensor of the same shape and dtype for each.
        replica_group: the groups.
        op: nl.add, nl.minimum or nl.maximum; in float32, in the order of the group.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        ncc.all_reduce([hbm], [other_hbm], ncc.ReplicaGroup([[0, 1]]), nl.add)

    Source: NKI API reference, nki.collectives.all_reduce.
    """
    return emit(AllReduceOp, locals())


def all_gather(
    srcs: list[NkiTensor],
    dsts: list[NkiTensor],
    replica_group: ReplicaGroup,
    collective_dim: int,
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """`dsts` of every rank: the `srcs` of all ranks of its group, joined along a dimension.

    Args:
        srcs: tensors, all in HBM, or one (P, N) tile in SBUF.
        dsts: for each a tensor that is as many times larger as the group has ranks.
        replica_group: the groups.
        collective_dim: the dimension; 0 in HBM, 0 or 1 in SBUF.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        ncc.all_gather([hbm], [twice], ncc.ReplicaGroup([[0, 1]]), collective_dim=0)

    Source: NKI API reference, nki.collectives.all_gather.
    """
    return emit(AllGatherOp, locals())


def all_gather_v(
    srcs: list[NkiTensor],
    dsts: list[NkiTensor],
    replica_group: ReplicaGroup,
    metadata_tensor: NkiTensor,
    recv_counts_known: bool = False,
    has_rdispls: bool = False,
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """Every rank sends one chunk of `srcs` to all ranks of its group; lengths differ.

    The chunk of rank `r` lands at the start of slot `r` of `dsts`, which is divided into equal
    slots.

    Args:
        srcs: one tensor in HBM, seen as a flat buffer.
        dsts: one tensor in HBM, seen as a flat buffer.
        replica_group: the groups.
        metadata_tensor: uint32, (3, ranks) in HBM or (1, 3, ranks) in SBUF. Row 0, column 0: how
            many elements are sent; row 1, column 0: from which one on; row 2: how many came from
            each rank, written by the collective.
        recv_counts_known: True leaves row 2 as it is.
        has_rdispls: False; the public page documents True as not supported.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        ncc.all_gather_v([hbm], [four], ncc.ReplicaGroup([[0, 1, 2, 3]]), metadata)

    For kernels on two cores (`kernel[2]`) and groups of four ranks, as the public page limits it.
    Source: NKI API reference, nki.collectives.all_gather_v.
    """
    return emit(AllGatherVOp, locals())


def all_gather_v_prepare(
    srcs: list[NkiTensor],
    dsts: list[NkiTensor],
    replica_group: ReplicaGroup,
    metadata_tensor: NkiTensor,
    recv_counts_known: bool = False,
    has_rdispls: bool = False,
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """Set up an `all_gather_v`, before what it sends is there; `all_gather_v_trigger` runs it.

    Args:
        srcs: one tensor in HBM, seen as a flat buffer; it may be filled later on.
        dsts: one tensor in HBM, seen as a flat buffer.
        replica_group: the groups.
        metadata_tensor: uint32, (3, ranks) in HBM or (1, 3, ranks) in SBUF. Row 0, column 0: how
            many elements are sent; row 1, column 0: from which one on; row 2: how many came from
            each rank, written by the collective.
        recv_counts_known: True leaves row 2 as it is.
        has_rdispls: False; the public page documents True as not supported.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        handle = ncc.all_gather_v_prepare(
            [hbm], [four], ncc.ReplicaGroup([[0, 1, 2, 3]]), metadata
        )
        ncc.all_gather_v_trigger(handle)

    Returns what `all_gather_v_trigger` takes. There is one slot: no other prepare, and no change of
    the metadata, before the trigger.
    For kernels on two cores (`kernel[2]`) and groups of four ranks.
    Source: NKI API reference, nki.collectives.all_gather_v_prepare.
    """
    return _prepare(AllGatherVPrepareOp, AllGatherVTriggerOp, locals())


def all_gather_v_trigger(prepare_instr: NkiInstruction, name: str | None = None) -> NkiInstruction:
    """Run what `all_gather_v_prepare` has set up: sources are read and destinations written here.

    Args:
        prepare_instr: what `all_gather_v_prepare` returned.
        name: name of the instruction.

    Example:

        handle = ncc.all_gather_v_prepare(
            [hbm], [four], ncc.ReplicaGroup([[0, 1, 2, 3]]), metadata
        )
        ncc.all_gather_v_trigger(handle)

    Source: NKI API reference, nki.collectives.all_gather_v_trigger.
    """
    return _trigger(AllGatherVTriggerOp, prepare_instr, name)


def reduce_scatter(
    srcs: list[NkiTensor],
    dsts: list[NkiTensor],
    replica_group: ReplicaGroup,
    collective_dim: int,
    op: OperatorLike,
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """`dsts` of a rank: its part of the reduction of the `srcs` of all ranks of its group.

    Args:
        srcs: tensors, all in HBM, or one (P, N) tile in SBUF.
        dsts: for each a tensor that is as many times smaller as the group has ranks.
        replica_group: the groups.
        collective_dim: the dimension that is split, 0.
        op: nl.add, nl.minimum or nl.maximum; in float32, in the order of the group.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        ncc.reduce_scatter(
            [twice], [hbm], ncc.ReplicaGroup([[0, 1]]), collective_dim=0, op=nl.add
        )

    Source: NKI API reference, nki.collectives.reduce_scatter.
    """
    return emit(ReduceScatterOp, locals())


def all_to_all(
    srcs: list[NkiTensor],
    dsts: list[NkiTensor],
    replica_group: ReplicaGroup,
    collective_dim: int,
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """`dsts` of a rank: its part of the `srcs` of each rank of its group, in their order.

    Args:
        srcs: tensors in HBM.
        dsts: a tensor of the same shape for each.
        replica_group: the groups.
        collective_dim: the dimension that is split and joined, 0.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        ncc.all_to_all([hbm], [other_hbm], ncc.ReplicaGroup([[0, 1]]), collective_dim=0)

    Source: NKI API reference, nki.collectives.all_to_all.
    """
    return emit(AllToAllOp, locals())


def all_to_all_v(
    srcs: list[NkiTensor],
    dsts: list[NkiTensor],
    replica_group: ReplicaGroup,
    metadata_tensor: NkiTensor,
    recv_counts_known: bool = False,
    has_rdispls: bool = False,
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """Every rank sends a chunk of its own to each rank of its group; lengths differ.

    Args:
        srcs: one tensor in HBM, seen as a flat buffer.
        dsts: one tensor in HBM, seen as a flat buffer; without `has_rdispls` divided into equal
            slots, one for each rank that sends.
        replica_group: the groups.
        metadata_tensor: uint32, (3 or 4, ranks) in HBM or (1, 3 or 4, ranks) in SBUF. Rows: how
            many elements go to each rank, from which one of `srcs` on, how many came from each
            (written by the collective), where they land in `dsts`.
        recv_counts_known: True leaves row 2 as it is.
        has_rdispls: True reads row 3; NeuronCore-v4 only.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    A rank exchanges with itself as with the others. Which groups a system can connect is not
    checked. Source: NKI API reference, nki.collectives.all_to_all_v.

    Example:

        ncc.all_to_all_v([four], [other_four], ncc.ReplicaGroup([[0, 1, 2, 3]]), metadata_of_parts)
    """
    return emit(AllToAllVOp, locals())


def all_to_all_v_prepare(
    srcs: list[NkiTensor],
    dsts: list[NkiTensor],
    replica_group: ReplicaGroup,
    metadata_tensor: NkiTensor,
    recv_counts_known: bool = False,
    has_rdispls: bool = False,
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """Set up an `all_to_all_v`, before what it sends is there; `all_to_all_v_trigger` runs it.

    Args:
        srcs: one tensor in HBM, seen as a flat buffer; it may be filled later on.
        dsts: one tensor in HBM, seen as a flat buffer.
        replica_group: the groups.
        metadata_tensor: uint32, (3 or 4, ranks) in HBM or (1, 3 or 4, ranks) in SBUF. Rows: how
            many elements go to each rank, from which one of `srcs` on, how many came from each
            (written by the collective), where they land in `dsts`.
        recv_counts_known: True leaves row 2 as it is.
        has_rdispls: True reads row 3; NeuronCore-v4 only.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        handle = ncc.all_to_all_v_prepare(
            [four], [other_four], ncc.ReplicaGroup([[0, 1, 2, 3]]), metadata_of_parts
        )
        ncc.all_to_all_v_trigger(handle)

    Returns what `all_to_all_v_trigger` takes. There is one slot: no other prepare, and no change of
    the metadata, before the trigger.
    Source: NKI API reference, nki.collectives.all_to_all_v_prepare.
    """
    return _prepare(AllToAllVPrepareOp, AllToAllVTriggerOp, locals())


def all_to_all_v_trigger(prepare_instr: NkiInstruction, name: str | None = None) -> NkiInstruction:
    """Run what `all_to_all_v_prepare` has set up: sources are read and destinations written here.

    Args:
        prepare_instr: what `all_to_all_v_prepare` returned.
        name: name of the instruction.

    Example:

        handle = ncc.all_to_all_v_prepare(
            [four], [other_four], ncc.ReplicaGroup([[0, 1, 2, 3]]), metadata_of_parts
        )
        ncc.all_to_all_v_trigger(handle)

    Source: NKI API reference, nki.collectives.all_to_all_v_trigger.
    """
    return _trigger(AllToAllVTriggerOp, prepare_instr, name)


def collective_permute(
    srcs: list[NkiTensor],
    dsts: list[NkiTensor],
    source_target_pairs: list[tuple[int, int]],
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """`dsts` of each target rank: the `srcs` of its source rank.

    Args:
        srcs: one tensor in HBM.
        dsts: one tensor in HBM of the same shape and dtype; of a rank that is no target it stays
            as it was.
        source_target_pairs: (source, target) ranks.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        ncc.collective_permute([hbm], [other_hbm], [(0, 1), (1, 0)])

    Source: NKI API reference, nki.collectives.collective_permute.
    """
    return emit(CollectivePermuteOp, locals())


def collective_permute_implicit(
    srcs_by_channel: list[list[NkiTensor]],
    dsts_by_channel: list[list[NkiTensor]],
    replica_group: ReplicaGroup,
    channel_ids: list[int] = [0],  # noqa: B006  the reference's default
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """A step around the ring of each group: to the next rank, from the one before.

    Args:
        srcs_by_channel: for each channel a list of one tensor.
        dsts_by_channel: for each channel a list of one tensor of the same shape and dtype.
        replica_group: the groups; the ring is their order.
        channel_ids: 0, 1, … for as many channels, four at most.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        ncc.collective_permute_implicit([[hbm]], [[other_hbm]], ncc.ReplicaGroup([[0, 1]]))

    Source: NKI API reference, nki.collectives.collective_permute_implicit.
    """
    arguments = locals()
    for field in ("srcs_by_channel", "dsts_by_channel"):
        arguments[field] = _flat("collective_permute_implicit", field, arguments[field])
    return emit(CollectivePermuteImplicitOp, arguments)


def collective_permute_implicit_reduce(
    srcs0_by_channel: list[list[NkiTensor]],
    srcs1_by_channel: list[list[NkiTensor]],
    dsts_by_channel: list[list[NkiTensor]],
    replica_group: ReplicaGroup,
    op: OperatorLike,
    channel_ids: list[int] = [0],  # noqa: B006  the reference's default
    priority: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """A step around the ring of each group with `srcs0 op srcs1`.

    Args:
        srcs0_by_channel: for each channel a list of one tensor, the left operand.
        srcs1_by_channel: for each channel a list of one tensor, the right operand.
        dsts_by_channel: for each channel a list of one tensor for what the rank before computed.
        replica_group: the groups; the ring is their order.
        op: nl.add, nl.minimum or nl.maximum, in float32.
        channel_ids: 0, 1, … for as many channels, four at most.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        ncc.collective_permute_implicit_reduce(
            [[hbm]], [[third_hbm]], [[other_hbm]], ncc.ReplicaGroup([[0, 1]]), nl.add
        )

    Source: NKI API reference, nki.collectives.collective_permute_implicit_reduce.
    """
    arguments = locals()
    for field in ("srcs0_by_channel", "srcs1_by_channel", "dsts_by_channel"):
        arguments[field] = _flat("collective_permute_implicit_reduce", field, arguments[field])
    return emit(CollectivePermuteImplicitReduceOp, arguments)


def collective_permute_implicit_current_processing_rank_id(
    iteration_id: int,
    replica_group: ReplicaGroup,
    channel_id: int = 0,
    name: str | None = None,
) -> VirtualRegister:
    """The rank whose data is here after so many steps around the ring of the group.

    Args:
        iteration_id: steps so far, an int or a register; 0 is this rank's own data.
        replica_group: the groups; the ring is their order.
        channel_id: the channel, 0 to 3; data goes around all of them alike.
        name: name of the instruction.

    Example:

        rank = ncc.collective_permute_implicit_current_processing_rank_id(
            0, ncc.ReplicaGroup([[0, 1]])
        )

    Returns a register.
    Source: NKI API reference,
    nki.collectives.collective_permute_implicit_current_processing_rank_id.
    """
    call = "ncc.collective_permute_implicit_current_processing_rank_id"
    arguments = {**locals(), "dst": allocate_register(call)}
    emit(RingRankIdOp, arguments)
    return arguments["dst"]


def rank_id(name: str | None = None) -> VirtualRegister:
    """A register with the rank that runs the kernel.

    Args:
        name: name of the instruction.

    Example:

        rank = ncc.rank_id()

    Source: NKI API reference, nki.collectives.rank_id.
    """
    dst = allocate_register("ncc.rank_id")
    emit(RankIdOp, {"dst": dst, "name": name})
    return dst


class _Prepared(NkiInstruction):
    """A prepare, with the arguments that its trigger takes over."""

    __slots__ = ("arguments", "trigger")

    def __init__(self, handle: NkiInstruction, trigger: type[NisaOp], arguments: dict[str, Any]):
        super().__init__(handle._op)  # pyright: ignore[reportPrivateUsage]
        self.trigger = trigger
        self.arguments = arguments


def _prepare(
    prepare: type[NisaOp], trigger: type[NisaOp], arguments: dict[str, Any]
) -> NkiInstruction:
    arguments = dict(arguments)
    return _Prepared(emit(prepare, arguments), trigger, {**arguments, "name": None})


def _trigger(trigger: type[NisaOp], prepared: Any, name: str | None) -> NkiInstruction:
    if not isinstance(prepared, _Prepared) or prepared.trigger is not trigger:
        call = trigger.name
        expected = call.replace("_trigger", "_prepare")
        tracer_for(call).wrong_argument(
            call, "prepare_instr", f"what {expected} returned", prepared
        )
    return emit(trigger, {**prepared.arguments, "name": name})


def _flat(call: str, field: str, value: Any) -> Any:
    """The tensors of all channels, each of which has one."""
    if not isinstance(value, (list, tuple)):
        return value
    tensors: list[Any] = []
    for inner in cast(Sequence[Any], value):
        if not isinstance(inner, (list, tuple)) or len(cast(Sequence[Any], inner)) != 1:
            _refuse(call, field)
        tensors += cast(Sequence[Any], inner)
    return tensors


def _refuse(call: str, field: str) -> NoReturn:
    tracer_for(f"ncc.{call}").fail(
        COLLECTIVE_COALESCED, f"ncc.{call}", f"'{field}' has a list of one tensor for each channel"
    )


def __getattr__(name: str) -> NoReturn:
    raise missing("nki.collectives", name, globals())


__all__ = [
    "ReplicaGroup",
    "all_gather",
    "all_gather_v",
    "all_gather_v_prepare",
    "all_gather_v_trigger",
    "all_reduce",
    "all_to_all",
    "all_to_all_v",
    "all_to_all_v_prepare",
    "all_to_all_v_trigger",
    "collective_permute",
    "collective_permute_implicit",
    "collective_permute_implicit_current_processing_rank_id",
    "collective_permute_implicit_reduce",
    "rank_id",
    "reduce_scatter",
    "rg_partition_op",
]


def __dir__() -> list[str]:
    """The public names: modules that they come from are not completed."""
    return sorted(__all__)
