"""Collectives between ranks, with the names and signatures of `nki.collectives`.

Collectives that move data return their instruction, for `depends_on`, as in the reference of NKI
0.7.
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
    """The operation with which `ReplicaGroup.from_partition_op` computes the group of a rank.

    `div` groups neighbouring ranks, `mod` ranks at a distance, `bitwise_and` ranks with equal bits
    in a mask. The public pages show these three.

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
    """Groups of ranks: `ReplicaGroup([[0, 1], [2, 3]])`. A rank is in at most one group.

    Source: NKI API reference, nki.collectives.ReplicaGroup.
    """

    groups: Sequence[Sequence[int]]

    @staticmethod
    def from_partition_op(world_size: int, op: rg_partition_op, operand: int) -> ReplicaGroup:
        """Group the ranks below `world_size` by `op(rank, operand)`.

        Groups are in the order of this value, ranks in ascending order.

        Example:
            >>> op = rg_partition_op.mod
            >>> ReplicaGroup.from_partition_op(6, op, 2).groups
            [[0, 2, 4], [1, 3, 5]]

        Raises:
            ValueError: `world_size` is not positive, or `operand` is not with `div` or `mod`.

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
    """Reduce the `srcs` of all ranks of a group element-wise, into `dsts` of every rank.

    Args:
        srcs: tensors, all in HBM, or one (P, N) tile in SBUF.
        dsts: for each of `srcs` a tensor of the same shape and dtype.
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
    """Concatenate the `srcs` of all ranks of a group along a dimension, into `dsts` of every rank.

    Args:
        srcs: tensors, all in HBM, or one (P, N) tile in SBUF.
        dsts: for each of `srcs` a tensor whose `collective_dim` is larger by a factor of the number
            of ranks in a group.
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
    """Send one chunk of `srcs` from every rank to all ranks of its group. Lengths may differ.

    `dsts` is divided into equal slots, one per rank. The chunk of rank `r` is written to the start
    of slot `r`.

    Args:
        srcs: one tensor in HBM, used as a flat buffer.
        dsts: one tensor in HBM, used as a flat buffer.
        replica_group: the groups.
        metadata_tensor: uint32, (3, ranks) in HBM or (1, 3, ranks) in SBUF. Row 0, column 0: number
            of elements to send; row 1, column 0: index of the first element to send; row 2: number
            of elements received from each rank, written by the collective.
        recv_counts_known: True leaves row 2 unchanged.
        has_rdispls: False; the public page documents True as not supported.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        ncc.all_gather_v([hbm], [four], ncc.ReplicaGroup([[0, 1, 2, 3]]), metadata)

    Only for kernels on two cores (`kernel[2]`) and groups of four ranks, as on the public page.
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
    """Set up an `all_gather_v`, before its data is available; `all_gather_v_trigger` runs it.

    Args:
        srcs: one tensor in HBM, used as a flat buffer. Instructions may write the tensor after this
            call, before the trigger.
        dsts: one tensor in HBM, used as a flat buffer.
        replica_group: the groups.
        metadata_tensor: uint32, (3, ranks) in HBM or (1, 3, ranks) in SBUF. Row 0, column 0: number
            of elements to send; row 1, column 0: index of the first element to send; row 2: number
            of elements received from each rank, written by the collective.
        recv_counts_known: True leaves row 2 unchanged.
        has_rdispls: False; the public page documents True as not supported.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        handle = ncc.all_gather_v_prepare(
            [hbm], [four], ncc.ReplicaGroup([[0, 1, 2, 3]]), metadata
        )
        ncc.all_gather_v_trigger(handle)

    Returns the handle for `all_gather_v_trigger`. Before the trigger, no other prepare and
    no change of the metadata is allowed.
    For kernels on two cores (`kernel[2]`) and groups of four ranks.
    Source: NKI API reference, nki.collectives.all_gather_v_prepare.
    """
    return _prepare(AllGatherVPrepareOp, AllGatherVTriggerOp, locals())


def all_gather_v_trigger(prepare_instr: NkiInstruction, name: str | None = None) -> NkiInstruction:
    """Run a prepared `all_gather_v`: read its sources and write its destinations.

    Args:
        prepare_instr: the result of `all_gather_v_prepare`.
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
    """Reduce the `srcs` of all ranks of a group, and write each rank's part to its `dsts`.

    Args:
        srcs: tensors, all in HBM, or one (P, N) tile in SBUF.
        dsts: for each of `srcs` a tensor whose `collective_dim` is smaller by a factor of the
            number of ranks in a group.
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
    """Split the `srcs` of every rank, and concatenate the parts for a rank in its `dsts`.

    Part `i` of a rank goes to rank `i` of its group. Parts are in the order of the sending ranks.

    Args:
        srcs: tensors in HBM.
        dsts: for each of `srcs` a tensor of the same shape.
        replica_group: the groups.
        collective_dim: the dimension to split and concatenate, 0.
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
    """Send a chunk of `srcs` from every rank to each rank of its group. Lengths may differ.

    Args:
        srcs: one tensor in HBM, used as a flat buffer.
        dsts: one tensor in HBM, used as a flat buffer; without `has_rdispls` divided into equal
            slots, one per sending rank.
        replica_group: the groups.
        metadata_tensor: uint32, (3 or 4, ranks) in HBM or (1, 3 or 4, ranks) in SBUF. Per rank,
            row 0: number of elements to send; row 1: index in `srcs` of the first element to send;
            row 2: number of elements received, written by the collective; row 3: index in `dsts` of
            the first element received.
        recv_counts_known: True leaves row 2 unchanged.
        has_rdispls: True reads row 3; NeuronCore-v4 only.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    A rank also sends a chunk to itself. nkijit does not check which groups a system can connect.
    Source: NKI API reference, nki.collectives.all_to_all_v.

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
    """Set up an `all_to_all_v`, before its data is available; `all_to_all_v_trigger` runs it.

    Args:
        srcs: one tensor in HBM, used as a flat buffer. Instructions may write the tensor after this
            call, before the trigger.
        dsts: one tensor in HBM, used as a flat buffer.
        replica_group: the groups.
        metadata_tensor: uint32, (3 or 4, ranks) in HBM or (1, 3 or 4, ranks) in SBUF. Per rank,
            row 0: number of elements to send; row 1: index in `srcs` of the first element to send;
            row 2: number of elements received, written by the collective; row 3: index in `dsts` of
            the first element received.
        recv_counts_known: True leaves row 2 unchanged.
        has_rdispls: True reads row 3; NeuronCore-v4 only.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        name: name of the instruction.

    Example:

        handle = ncc.all_to_all_v_prepare(
            [four], [other_four], ncc.ReplicaGroup([[0, 1, 2, 3]]), metadata_of_parts
        )
        ncc.all_to_all_v_trigger(handle)

    Returns the handle for `all_to_all_v_trigger`. Before the trigger, no other prepare and
    no change of the metadata is allowed.
    Source: NKI API reference, nki.collectives.all_to_all_v_prepare.
    """
    return _prepare(AllToAllVPrepareOp, AllToAllVTriggerOp, locals())


def all_to_all_v_trigger(prepare_instr: NkiInstruction, name: str | None = None) -> NkiInstruction:
    """Run a prepared `all_to_all_v`: read its sources and write its destinations.

    Args:
        prepare_instr: the result of `all_to_all_v_prepare`.
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
    """Send the `srcs` of each source rank to `dsts` of its target rank.

    Args:
        srcs: one tensor in HBM.
        dsts: one tensor in HBM of the same shape and dtype; unchanged on ranks that are no target.
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
    """Send data one step around the ring of each group: from every rank to the next.

    Args:
        srcs_by_channel: for each channel a list of one tensor.
        dsts_by_channel: for each channel a list of one tensor of the same shape and dtype.
        replica_group: the groups; the order of the ranks in a group is their order in the ring.
        channel_ids: the channels, numbered 0, 1, …; four at most.
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
    """Compute `srcs0 op srcs1` and send it one step around the ring of each group.

    Args:
        srcs0_by_channel: for each channel a list of one tensor, the left operand.
        srcs1_by_channel: for each channel a list of one tensor, the right operand.
        dsts_by_channel: for each channel a list of one tensor for the previous rank's result.
        replica_group: the groups; the order of the ranks in a group is their order in the ring.
        op: nl.add, nl.minimum or nl.maximum, in float32.
        channel_ids: the channels, numbered 0, 1, …; four at most.
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
    """Return the rank whose data has arrived after some steps around the ring of the group.

    Args:
        iteration_id: number of steps, an int or a register; 0 is this rank's own data.
        replica_group: the groups; the order of the ranks in a group is their order in the ring.
        channel_id: the channel, 0 to 3; the order of the ranks is the same in all channels.
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
    """Return a register with the rank that runs the kernel.

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
    """The handle of a prepare instruction, with the arguments for its trigger instruction."""

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
    """Flatten a list with one tensor per channel."""
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
    """Return only public names, for completion in editors and notebooks."""
    return sorted(__all__)
