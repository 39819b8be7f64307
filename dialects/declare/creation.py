"""Creation of operations, of which a kernel has as many as it has instructions.

xDSL's own `create` and `add_op` serve operations of any kind: with successors, regions and default
properties, attached or not. Those of a kernel have none of these, and their parts are made in the
form in which an operation keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues, Use

_OpT = TypeVar("_OpT", bound=Operation)

# What follows is `Operation.__init__` and `Block.add_op` of xDSL for what kernels are made of.
# pyright: reportPrivateUsage=false


class _Result(OpResult[Attribute]):
    """A result that is a key by identity, as all are, without a call in Python."""

    __slots__ = ()
    __hash__ = object.__hash__


def created(
    op_class: type[_OpT],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: dict[str, Attribute],
    location: LocationAttr,
) -> _OpT:
    """An operation without regions, successors and default properties.

    Args:
        op_class: its class.
        operands: its operands, in their order.
        result_types: types of its results.
        properties: all of its properties; the operation keeps this dictionary.
        location: where in the author's source it comes from.
    """
    op = op_class.__new__(op_class)
    if operands:
        uses: list[Use] = []
        for index, operand in enumerate(operands):
            use = Use(op, index)
            first = operand.first_use
            if first is not None:
                use._next_use = first
                first._prev_use = use
            operand.first_use = use
            uses.append(use)
        op._operands = SSAValues(operands)
        op._operand_uses = tuple(uses)
    if result_types:
        op.results = SSAValues([_Result(kind, op, i) for i, kind in enumerate(result_types)])
    op.properties = properties
    op.attributes = {}
    op.location = location
    return op


def append(block: Block, op: Operation) -> None:
    """Add an operation that has just been created, and has no regions, to the end of a block."""
    last = block._last_op
    if last is None:
        block._first_op = op
    else:
        last._next_op = op
        op._prev_op = last
    block._last_op = op
    op.parent = block


def put_in_order(block: Block, ops: Sequence[Operation]) -> None:
    """Let all operations of a block stand in another order."""
    before: Operation | None = None
    for op in ops:
        op._prev_op = before
        if before is None:
            block._first_op = op
        else:
            before._next_op = op
        before = op
    if before is not None:
        before._next_op = None
    block._last_op = before


def copied(op: _OpT) -> tuple[_OpT, dict[Operation, Operation]]:
    """A copy of an operation with all that is in it, and what each operation is a copy of.

    What it uses from outside is used by the copy, too. xDSL's `clone` takes twice as long.
    """
    origins: dict[Operation, Operation] = {}
    values: dict[int, SSAValue] = {}  # by identity, as hashing a value is a call
    return _copied(op, values, origins), origins


def copied_before(op: _OpT, following: Operation, values: dict[int, SSAValue]) -> _OpT:
    """A copy of an operation without regions, put before another one.

    Args:
        op: the operation.
        following: what stands behind the copy.
        values: by identity, the values that the copy uses instead of others; gets its results.
    """
    made = _copied_alone(op, values)
    block = following.parent
    assert block is not None
    block.insert_op_before(made, following)
    return made


def _copied_alone(op: _OpT, values: dict[int, SSAValue]) -> _OpT:
    """A copy of an operation without what is in it, which keeps its names."""
    given = op._operands
    operands = [values.get(id(value), value) for value in given] if given else ()
    if op.regions or op._successors:
        made = op.clone_without_regions(clone_operands=False)
        made.operands = operands
    else:
        kinds = [result._type for result in op.results]
        made = created(type(op), operands, kinds, op.properties.copy(), op.location)
        if op.attributes:
            made.attributes = op.attributes.copy()
    if made.results:
        for old, new in zip(op.results, made.results, strict=True):
            values[id(old)] = new
            new._name = old._name
    return made


def _copied(op: _OpT, values: dict[int, SSAValue], origins: dict[Operation, Operation]) -> _OpT:
    made = _copied_alone(op, values)
    origins[made] = op
    for region, into in zip(op.regions, made.regions, strict=True):
        for block in region.blocks:
            arguments = [argument.type for argument in block.args]
            fresh = Block(arg_types=arguments)
            for old, new in zip(block.args, fresh.args, strict=True):
                values[id(old)] = new
                new._name = old._name
            into.add_block(fresh)
            inner = block.first_op
            while inner is not None:
                if inner.regions:
                    fresh.add_op(_copied(inner, values, origins))
                else:
                    copy = _copied_alone(inner, values)
                    origins[copy] = inner
                    append(fresh, copy)
                inner = inner._next_op
    return made


@lru_cache(maxsize=4096)
def valid_name(name: str) -> str:
    """What xDSL keeps of a name for a value. Raises ValueError for what is none."""
    return SSAValue.extract_valid_name(name)


def name_value(value: SSAValue, name: str) -> None:
    """Name a value, as its `name_hint`."""
    value._name = valid_name(name)
