"""What has to be known of a kernel before its first statement is written."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.arith import ConstantOp as NumberConstantOp
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.ncc.collectives import (
    AllGatherVPrepareOp,
    AllGatherVTriggerOp,
    AllToAllVPrepareOp,
    AllToAllVTriggerOp,
)
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nisa.registers import RegisterComputeOp, RegisterLoadOp, RegisterMoveOp
from nkijit.dialects.nki.affine import TYPE, varying
from nkijit.dialects.nki.allocation import DECLARATIONS
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.loops import compared
from nkijit.dialects.nki.registers import ReadRegisterOp, RegisterOp
from nkijit.dialects.nki.repeat import ElementOp, RepeatOp, TilesType
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import info_of
from nkijit.export.calls import function_of
from nkijit.export.errors import ExportError
from nkijit.passes.numerics.storage import storage

_TRIGGERS: dict[type[Operation], type[Operation]] = {
    AllGatherVTriggerOp: AllGatherVPrepareOp,
    AllToAllVTriggerOp: AllToAllVPrepareOp,
}
"""The instruction whose result each function takes that has no tensors itself."""

_SILENT = (*DECLARATIONS, RegisterOp, NumberConstantOp, ReadRegisterOp)
"""Operations that write no register."""


@dataclass
class Facts:
    """What the statements of a kernel depend on, beside the operation that each is made of."""

    scalars: set[SSAValue] = field(default_factory=set[SSAValue])
    """Registers that Python's operators compute, or compute with."""
    returned: set[SSAValue] = field(default_factory=set[SSAValue])
    """Registers that are allocated by the function that writes them first, or by their loop."""
    implied: set[Operation] = field(default_factory=set[Operation])
    """Moves that are made by what allocates a register, or by `nl.while_loop`."""
    identities: set[SSAValue] = field(default_factory=set[SSAValue])
    """Constants that `nl.shared_identity_matrix` makes."""
    following: dict[WhileOp, SSAValue] = field(default_factory=dict[WhileOp, SSAValue])
    """The registers that bodies of `nl.while_loop` return."""
    labelled: dict[str, list[NisaOp]] = field(default_factory=dict[str, list[NisaOp]])
    """Instructions by name."""
    awaited: set[Operation] = field(default_factory=set[Operation])
    """Instructions that others run after."""
    prepares: dict[Operation, NisaOp] = field(default_factory=dict[Operation, NisaOp])
    """The prepare of each trigger."""
    triggers: dict[Operation, list[NisaOp]] = field(default_factory=dict[Operation, list[NisaOp]])
    """The triggers of each prepare."""


def facts_of(kernel: KernelOp) -> Facts:
    """The facts of a kernel. Raises ExportError for what contradicts the API."""
    facts = Facts()
    labels = set[str]()
    for op in kernel.operations:
        if is_instruction(op):
            _note_instruction(facts, op)
            labels.update(op.runs_after)
        elif isinstance(op, WhileOp):
            start = loop_start(op)
            if start is not None:
                _note_loop(facts, op, start)
        elif isinstance(op, ConstantOp):
            if is_identity(op) and all(copies_identity(use.operation) for use in op.result.uses):
                facts.identities.add(op.result)
        elif isinstance(op, RegisterOp):
            first = initial_move(op)
            if first is not None:
                facts.implied.add(first)
    facts.awaited = {op for label in labels for op in facts.labelled.get(label, ())}
    for register in facts.scalars:
        _check_scalar(register)
    facts.returned |= facts.scalars
    return facts


def _note_loop(facts: Facts, loop: WhileOp, start: RegisterMoveOp) -> None:
    condition = start.required("dst")
    facts.implied.add(start)
    facts.returned.add(condition)
    facts.following[loop] = condition
    last = cast(Operation, loop.after_region.block.last_op).prev_op
    if isinstance(last, RegisterMoveOp) and last.required("dst") is condition and _is_plain(last):
        source = last.required("src")
        if isinstance(source.type, RegisterType) and source is not condition:
            facts.implied.add(last)
            facts.following[loop] = source


def initial_move(op: RegisterOp) -> RegisterMoveOp | None:
    """The move that gives a register its first number, where it stands behind its allocation."""
    move = op.next_op
    if not isinstance(move, RegisterMoveOp) or move.required("dst") is not op.result:
        return None
    is_number = isinstance(move.required("src").owner, NumberConstantOp)
    return move if is_number and _is_plain(move) else None


def _is_plain(op: NisaOp) -> bool:
    return not op.label and not op.runs_after


def _note_instruction(facts: Facts, op: NisaOp) -> None:
    if op.label:
        facts.labelled.setdefault(op.label, []).append(op)
    if isinstance(op, RegisterComputeOp):
        facts.scalars.update(v for v in op.operands if isinstance(v.type, RegisterType))
    prepare = _TRIGGERS.get(type(op))
    if prepare is not None:
        found = _prepare_of(op, prepare, facts.triggers)
        facts.prepares[op] = found
        facts.triggers.setdefault(found, []).append(op)
    function = function_of(type(op))
    if function is not None and function.result is not None:
        register = op.required(function.result)
        _check_scope(register, op)
        facts.returned.add(register)


def _prepare_of(trigger: NisaOp, prepare: type[Operation], taken: Collection[Operation]) -> NisaOp:
    """The nearest prepare before a trigger with the same arguments, if possible not taken yet."""
    nearest: NisaOp | None = None
    op = trigger.prev_op
    while op is not None:
        if isinstance(op, NisaOp) and type(op) is prepare and _agree(op, trigger):
            if op not in taken:
                return op
            nearest = nearest or op
        op = op.prev_op
    if nearest is not None:
        return nearest
    raise ExportError.at(trigger, "there is no prepare with its arguments before it")


def _agree(one: NisaOp, two: NisaOp) -> bool:
    names = [f.name for f in one.SPEC.fields if two.declares(f.name)]
    return all(
        one.get(name) == two.get(name) or _is_same_view(one.get(name), two.get(name))
        for name in names
    )


def _is_same_view(one: Any, two: Any) -> bool:
    views = [v.owner for v in (one, two) if isinstance(v, SSAValue) and isinstance(v.owner, ViewOp)]
    return len(views) == 2 and views[0].is_structurally_equivalent(views[1])


# ---------------------------------------------------------------- identity matrices


def is_identity(op: ConstantOp) -> bool:
    """Whether a constant is an identity matrix."""
    info = info_of(op.result)
    if len(info.shape) != 2 or info.shape[0] != info.shape[1] or info.dtype.kind is Kind.packed:
        return False
    array = np.eye(info.shape[0]).astype(storage(info.dtype))
    return array.tobytes() == op.data.data


def copies_identity(op: Operation) -> bool:
    """Whether an instruction is what `nl.shared_identity_matrix` does with its constant."""
    if not isinstance(op, DmaCopyOp) or op.properties:
        return False
    dst, src = op.required("dst"), op.required("src")
    info, of = info_of(dst), info_of(src)
    on_chip = info.region is MemoryRegion.sbuf
    return on_chip and info.dtype is of.dtype and info.shape == of.shape


# ---------------------------------------------------------------- registers


def _check_scalar(register: SSAValue) -> None:
    """Raise ExportError for a register that is written as no scalar is."""
    writers = _writers(register)
    computes = (RegisterLoadOp, RegisterComputeOp)
    if len(writers) != 1 or not isinstance(writers[0], computes):
        at = writers[0] if writers else register.owner
        assert isinstance(at, Operation)
        raise ExportError.at(
            at, "Python computes with scalars, which are loaded or computed once, not written"
        )
    _check_scope(register, writers[0])


def _writers(register: SSAValue) -> list[NisaOp]:
    users = (use.operation for use in register.uses)
    found = (op for op in users if isinstance(op, NisaOp))
    return [
        op
        for op in found
        if any(f.role is not Role.read and v is register for f, v in op.given_operands())
    ]


def _check_scope(register: SSAValue, made: Operation) -> None:
    """Raise ExportError for what a function of the author's returns, used outside of it."""
    block = made.parent
    while block is not None and not isinstance(block.parent_op(), (ForOp, WhileOp)):
        around = block.parent_op()
        block = None if around is None else around.parent
    if block is None:
        return
    for use in register.uses:
        if not _is_inside(use.operation, block):
            raise ExportError.at(use.operation, "a scalar of a loop's body is used outside of it")


def _is_inside(op: Operation, block: Block) -> bool:
    parent: Block | None = op.parent
    while parent is not None and parent is not block:
        around = parent.parent_op()
        parent = None if around is None else around.parent
    return parent is block


def is_used(value: SSAValue, made: Operation) -> bool:
    """Whether anything uses a value but what makes it, and views that nothing uses."""
    return any(
        is_used(use.operation.result, use.operation)
        if isinstance(use.operation, ViewOp)
        else use.operation is not made
        for use in value.uses
    )


def is_read_at_once(op: ReadRegisterOp) -> bool:
    """Whether the loop that uses the value of a register could as well read it itself."""
    users = {use.operation for use in op.result.uses}
    if any(isinstance(user, CmpiOp) for user in users):
        return True
    if len(users) != 1 or not isinstance(next(iter(users)), ForOp):
        return not users
    changes = {_beside(op, writer) for writer in _writers(op.source)}
    following = op.next_op
    while following is not None and following not in users:
        if following in changes:
            return False
        following = following.next_op
    return following is not None


def _beside(op: Operation, other: Operation) -> Operation | None:
    """The operation of the same block as another one that an operation is, or is inside of."""
    found: Operation | None = other
    while found is not None and found.parent is not op.parent:
        found = found.parent_op()
    return found


# ---------------------------------------------------------------- loops


def loop_start(loop: WhileOp) -> RegisterMoveOp | None:
    """The move that `nl.while_loop` makes before its loop; None for a loop without one.

    It writes the register that the loop tests, which nothing uses but the move and the loop.
    """
    numbers = compared(loop)
    read = None if numbers is None else numbers[0].owner
    if not isinstance(read, ReadRegisterOp):
        return None
    register = read.source
    op = loop.prev_op
    while isinstance(op, _SILENT):
        op = op.prev_op
    if not isinstance(op, RegisterMoveOp) or op.required("dst") is not register:
        return None
    is_number = isinstance(op.required("src").owner, NumberConstantOp) or not _is_plain(op)
    users = [use.operation for use in register.uses if use.operation is not op]
    return None if is_number or not all(loop.is_ancestor(user) for user in users) else op


# ---------------------------------------------------------------- iterations


def differs_in_shape(value: SSAValue) -> bool:
    """Whether a tile has other shapes in other iterations of the loops around."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return False
    if isinstance(owner, ElementOp):
        return len({_type_of(v) for v in owner.lists}) > 1 or any(map(_has_others, owner.lists))
    return TYPE in varying(owner)


def _type_of(value: SSAValue) -> Attribute:
    return value.type.element if isinstance(value.type, TilesType) else value.type


def _has_others(value: SSAValue) -> bool:
    """Whether a list, or a tile, has other shapes than the first."""
    owner = value.owner
    if isinstance(owner, RepeatOp):
        return _has_others(owner.yielded[owner.results.index(value)])
    return differs_in_shape(value)
