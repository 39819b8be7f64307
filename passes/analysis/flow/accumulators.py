"""The use of engine accumulators by an instruction, for the verifier and the interpreter."""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.words import reduce_cmd
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import access_of, base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.bytes.rows import partitions_of


def accumulator_command(op: NisaOp) -> reduce_cmd:
    """Return the accumulator command, explicit or implied, of an instruction with accumulators."""
    use = op.SPEC.accumulators
    assert use is not None
    if use.optional and op.value_of(use.operator_field) is None:
        return reduce_cmd.idle
    return cast(reduce_cmd, use.command or op.value_of("reduce_cmd"))


def accumulator_operator(op: NisaOp) -> str | None:
    """Return the reduction operator, explicit or implied, of an instruction with accumulators.

    None if a reducing command has no operator, which another rule reports.
    """
    use = op.SPEC.accumulators
    assert use is not None
    has_field = use.operator_field in op.SPEC.by_name
    operator = op.value_of(use.operator_field) if has_field else use.operator
    only_resets = accumulator_command(op) is reduce_cmd.reset
    return use.operator if operator is None and only_resets else operator


def accumulator_lanes(op: NisaOp) -> slice:
    """Return the accumulators that an instruction uses: one per partition of its data."""
    return lanes_of(accumulated_tile(op))


def accumulated_tile(op: NisaOp) -> SSAValue:
    """Return the tile whose partitions select the accumulators that an instruction uses."""
    data = next(f for f in op.SPEC.operand_fields if f.role is Role.read)
    return op.required(data.name)


def reads_accumulators(op: NisaOp) -> bool:
    """Whether an instruction that has accumulators writes their contents to a tile.

    An instruction without the operand `reduce_res` writes each state of the accumulators to `dst`.
    """
    return not op.declares("reduce_res") or op.get("reduce_res") is not None


def lanes_of(value: SSAValue) -> slice:
    """Return the engine lanes that process a tile: one per partition.

    An allocation without a fixed address starts at partition 0.
    """
    owner = base_of(value)
    if not info_of(owner).region.on_chip:  # another rule reports this; assume all lanes
        return slice(None)
    first, count = partitions_of(value, access_of(value))
    address = owner.owner.fixed_address if isinstance(owner.owner, AllocOp) else None
    start = first if address is None else first + address[0]
    return slice(start, start + count)
