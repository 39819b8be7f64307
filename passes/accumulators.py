"""What an instruction does with its engine's accumulators: asked by verifier and interpreter."""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from nkijit.dialects.declare import NisaOp
from nkijit.dialects.fields import Role
from nkijit.dialects.hardware import reduce_cmd
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.dialects.views import access_of, base_of


def accumulator_command(op: NisaOp) -> reduce_cmd:
    """The command of an instruction that has accumulators, given or implied."""
    use = op.SPEC.accumulators
    assert use is not None
    return cast(reduce_cmd, use.command or op.value_of("reduce_cmd"))


def accumulator_operator(op: NisaOp) -> str | None:
    """The reduction operator of an instruction that has accumulators, given or implied.

    None where a reducing command lacks its operator, which is a mistake of its own.
    """
    use = op.SPEC.accumulators
    assert use is not None
    has_field = use.operator_field in op.SPEC.by_name
    given = op.value_of(use.operator_field) if has_field else use.operator
    only_resets = accumulator_command(op) is reduce_cmd.reset
    return use.operator if given is None and only_resets else given


def accumulator_lanes(op: NisaOp) -> slice:
    """The registers that an instruction uses: one for each partition that its data is in."""
    return lanes_of(
        next(value for f, value in op.given_operands() if f.role is Role.read and is_tile(value))
    )


def lanes_of(value: SSAValue) -> slice:
    """The lanes of an engine that work on a tile: one for each partition that it is in."""
    base, tile = info_of(base_of(value)), info_of(value)
    if not base.region.on_chip:  # a mistake of its own; every register may be meant
        return slice(None)
    elements = base.free_size * base.dtype.bits // tile.dtype.bits
    first, count = access_of(value).partition_range(elements)
    return slice(first, first + count)
