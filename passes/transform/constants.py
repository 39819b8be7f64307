"""The constants at the top of a kernel: each constant occurs once, in the order of first use."""

from __future__ import annotations

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import UNKNOWN_LOC, IntegerAttr
from xdsl.ir import Attribute, Block, Operation

from nkijit.dialects.walks import operations


def integer_constant(number: int, kind: Attribute) -> ConstantOp:
    """Create an integer constant as tracing does, named after its value."""
    op = ConstantOp(IntegerAttr(number, kind))  # pyright: ignore[reportArgumentType, reportCallIssue]
    op.result.name_hint = f"c{number}"
    return op


def constants_at_top(block: Block) -> list[ConstantOp]:
    """Return the constants at the start of a kernel's body."""
    found: list[ConstantOp] = []
    op = block.first_op
    while type(op) is ConstantOp:
        found.append(op)
        op = op.next_op
    return found


def in_order_of_use(block: Block, constants: list[ConstantOp]) -> list[ConstantOp]:
    """Return the members of `constants` that a block uses, in the order of their first use."""
    among: set[Operation] = set(constants)
    found: dict[ConstantOp, None] = {}
    for op in operations(block):
        for operand in op.operands:
            owner = operand.owner
            if type(owner) is ConstantOp and owner in among:
                found[owner] = None
    return list(found)


def follow_from_use(block: Block, constants: list[ConstantOp]) -> bool:
    """True if the IR text can omit the constants at the top, because their uses imply them."""
    for op in constants:
        attr = op.properties["value"]
        named = not isinstance(attr, IntegerAttr) or op.result.name_hint == f"c{attr.value.data}"
        if not named or op.attributes or op.location != UNKNOWN_LOC:
            return False
    return in_order_of_use(block, constants) == constants
