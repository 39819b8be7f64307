"""Fast creation and copying of operations.

xDSL's own `create` and `add_op` support any operation: with successors, regions and default
properties, attached or not. Most operations of a kernel have none of these, so the functions here
build the fields of an operation directly. A kernel can have 100,000 operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues, Use

_OpT = TypeVar("_OpT", bound=Operation)

# The functions below are `Operation.__init__` and `Block.add_op` of xDSL, restricted to the
# operations of kernels.
# pyright: reportPrivateUsage=false


class _Result(OpResult[Attribute]):
    """A result that hashes by identity, like xDSL's, but without a call of a Python function."""

    __slots__ = ()
    __hash__ = object.__hash__


def created(
    op_class: type[_OpT],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: dict[str, Attribute],
    location: LocationAttr,
) -> _OpT:
    """Create an operation without regions, successors and default properties.

    `properties` are all of its properties; the operation owns this dictionary afterwards.
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
    """Append a new operation without regions to a block."""
    last = block._last_op
    if last is None:
        block._first_op = op
    else:
        last._next_op = op
        op._prev_op = last
    block._last_op = op
    op.parent = block


def put_in_order(block: Block, ops: Sequence[Operation]) -> None:
    """Reorder a block; `ops` are all of its operations in the new order."""
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
    """Return a copy of an operation with its regions, and a map of copies to originals.

    The copy uses the same values from outside the operation. xDSL's `clone` takes twice as long.
    """
    origins: dict[Operation, Operation] = {}
    values: dict[int, SSAValue] = {}  # by identity, as hashing a value calls a Python function
    return _copied(op, values, origins), origins


def copied_before(op: _OpT, following: Operation, values: dict[int, SSAValue]) -> _OpT:
    """Copy an operation without regions and insert the copy before the operation `following`.

    `values` maps the `id` of operands to their replacements. The results of the copy are added, as
    replacements for the results of `op`.
    """
    made = _copied_alone(op, values)
    block = following.parent
    assert block is not None
    block.insert_op_before(made, following)
    return made


def _copied_alone(op: _OpT, values: dict[int, SSAValue]) -> _OpT:
    """Copy an operation without the contents of its regions; results keep their names."""
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
    """Return a value's name as xDSL stores it. Raises ValueError for an invalid name."""
    return SSAValue.extract_valid_name(name)


def name_value(value: SSAValue, name: str) -> None:
    """Set the `name_hint` of a value."""
    value._name = valid_name(name)
