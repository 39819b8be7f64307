"""Moves declarations to their positions in a trace: views to the first use, numbers to the top.

Compiler passes leave declarations at other positions. Canonical positions let `reroll` match
iterations. A register that a function returns is allocated directly before the call, not before the
loops around the call.
"""

from __future__ import annotations

import struct
from typing import Any

from xdsl.dialects.arith import ConstantOp as NumberConstantOp
from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Block, Operation, SSAValue

from nkijit.dialects.declare.creation import copied
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.registers import RegisterOp
from nkijit.dialects.nki.views import ViewOp, base_of
from nkijit.dialects.tiles import info_of
from nkijit.export.facts import facts_of

_Views = dict[tuple[Any, ...], SSAValue]
_Numbers = dict[tuple[Any, ...], NumberConstantOp]


def settled(kernel: KernelOp, *, tiles: bool = False) -> KernelOp:
    """Return a copy of a kernel with views and numbers positioned as in a trace.

    With `tiles`, on-chip allocations also move to their first uses.
    """
    copy, _ = copied(kernel)
    block = copy.body.block
    for register, creator in facts_of(copy).makers.items():
        _settle_register(register.owner, creator)
    if tiles:
        _settle_tiles(copy)
    old = [op for op in copy.operations if isinstance(op, (ViewOp, NumberConstantOp))]
    numbers: _Numbers = {}
    _settle(block, [{}], numbers)
    for op in reversed(old):  # views before the views and numbers that they use
        op.detach()
        op.erase()
    first = block.first_op
    if numbers and first is not None:
        block.insert_ops_before(list(numbers.values()), first)
    return copy


def _settle_register(op: Operation | Block, creator: Operation) -> None:
    """Move a register's allocation before the call that returns it, unless it is used earlier."""
    block = creator.parent
    if not isinstance(op, RegisterOp) or block is None:
        return
    if all(block.find_ancestor_op_in_block(use.operation) for use in op.result.uses):
        op.detach()
        block.insert_op_before(op, creator)


def _settle_tiles(kernel: KernelOp) -> None:
    moved = set[Operation]()
    for op in list(kernel.operations):
        if isinstance(op, (AllocOp, ViewOp)):
            continue
        for value in op.operands:
            alloc = base_of(value).owner
            if isinstance(alloc, AllocOp) and alloc not in moved:
                moved.add(alloc)
                block = alloc.parent
                if info_of(alloc.result).region.on_chip and block is not None:
                    place = block.find_ancestor_op_in_block(op)
                    assert place is not None, "a tile is used where it is known"
                    # Its views will be recreated after it.
                    alloc.detach()
                    block.insert_op_before(alloc, place)


def _settle(block: Block, scopes: list[_Views], numbers: _Numbers) -> None:
    def used(value: SSAValue, by: Operation) -> SSAValue:
        owner = value.owner
        if isinstance(owner, NumberConstantOp):
            return _number(owner, numbers)
        if not isinstance(owner, ViewOp):
            return value
        operands = [used(operand, by) for operand in owner.operands]
        key = (*operands, *sorted(owner.properties.items()), owner.result.type)
        for scope in scopes:
            if key in scope:
                return scope[key]
        view = ViewOp.create(
            operands=operands,
            result_types=[owner.result.type],
            properties=dict(owner.properties),
        )
        view.location = by.location
        view.result.name_hint = operands[0].name_hint
        block.insert_op_before(view, by)
        scopes[-1][key] = view.result
        return view.result

    for op in list(block.ops):
        if isinstance(op, (ViewOp, NumberConstantOp)):
            continue
        if any(isinstance(value.owner, (ViewOp, NumberConstantOp)) for value in op.operands):
            op.operands = [used(value, op) for value in op.operands]
        for region in op.regions:
            for inner in region.blocks:
                _settle(inner, [*scopes, {}], numbers)


def _number(op: NumberConstantOp, numbers: _Numbers) -> SSAValue:
    attr: Any = op.value
    number = attr.value.data
    # By bits, as 0.0 and -0.0 are equal.
    key = attr.type, struct.pack("<d", number) if isinstance(number, float) else number
    constant = numbers.get(key)
    if constant is None:
        constant = numbers[key] = NumberConstantOp(attr)
        constant.location = UNKNOWN_LOC
        if isinstance(number, int):
            constant.result.name_hint = f"c{number}"
    return constant.result
