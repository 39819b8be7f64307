"""Facts about a whole kernel that are needed to write its statements."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.scf import WhileOp
from xdsl.ir import Attribute, Operation, SSAValue

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
from nkijit.dialects.nisa.registers import RegisterComputeOp, RegisterMoveOp
from nkijit.dialects.nki.affine import TYPE, varying
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.loops import storage_of
from nkijit.dialects.nki.registers import RegisterOp
from nkijit.dialects.nki.repeat import ElementOp, RepeatOp, TilesType
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import info_of
from nkijit.export.calls import function_of
from nkijit.export.errors import ExportError
from nkijit.export.registers import (
    Escape,
    escape_of,
    initial_move,
    is_plain,
    is_register,
    loop_start,
    scalars_of,
)
from nkijit.passes.numerics.storage import storage

_TRIGGERS: dict[type[Operation], type[Operation]] = {
    AllGatherVTriggerOp: AllGatherVPrepareOp,
    AllToAllVTriggerOp: AllToAllVPrepareOp,
}
"""For each trigger instruction, the prepare instruction whose result is the trigger's argument."""


@dataclass
class Facts:
    """Information about a kernel that is needed to write its operations as statements."""

    scalars: set[SSAValue] = field(default_factory=set[SSAValue])
    """Registers and induction variables that are `NkiScalar`s in Python."""
    makers: dict[SSAValue, NisaOp] = field(default_factory=dict[SSAValue, NisaOp])
    """For each register that a function or an operator returns, the instruction that creates it."""
    conditions: set[SSAValue] = field(default_factory=set[SSAValue])
    """Registers that `nl.while_loop` allocates."""
    escapes: list[Escape] = field(default_factory=list[Escape])
    """Registers that loop bodies assign and operations outside use."""
    implied: set[Operation] = field(default_factory=set[Operation])
    """Register moves that need no statement: `nisa.register_alloc` or `nl.while_loop` emits them.
    """
    identities: set[SSAValue] = field(default_factory=set[SSAValue])
    """Constants that `nl.shared_identity_matrix` creates."""
    following: dict[WhileOp, SSAValue] = field(default_factory=dict[WhileOp, SSAValue])
    """For each `nl.while_loop`, the register that its body returns: the next condition."""
    labelled: dict[str, list[NisaOp]] = field(default_factory=dict[str, list[NisaOp]])
    """The instructions with a `name=`, by name."""
    awaited: set[Operation] = field(default_factory=set[Operation])
    """Instructions for which other instructions wait (`depends_on`)."""
    prepares: dict[Operation, NisaOp] = field(default_factory=dict[Operation, NisaOp])
    """The prepare instruction of each trigger."""
    triggers: dict[Operation, list[NisaOp]] = field(default_factory=dict[Operation, list[NisaOp]])
    """The triggers of each prepare instruction."""


def facts_of(kernel: KernelOp) -> Facts:
    """Collect the facts of a kernel. Raises ExportError for IR that the API cannot emit."""
    facts = Facts()
    labels = set[str]()
    computing: list[SSAValue] = []
    order: dict[Operation, int] = {}
    for number, op in enumerate(kernel.operations):
        order[op] = number
        if is_instruction(op):
            _note_instruction(facts, op)
            labels.update(op.runs_after)
            if isinstance(op, RegisterComputeOp):
                computing += filter(is_register, map(storage_of, op.operands))
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
    for value, creator in scalars_of(computing).items():
        facts.scalars.add(value)
        if creator is not None:
            facts.makers[value] = creator
    for register, creator in facts.makers.items():
        first = min(register.uses, key=lambda use: order[use.operation]).operation
        if order[first] < order[creator]:
            raise ExportError.at(first, "it uses a register before the function that returns it")
        escape = escape_of(register, creator)
        if escape is not None:
            facts.escapes.append(escape)
    return facts


def _note_loop(facts: Facts, loop: WhileOp, start: RegisterMoveOp) -> None:
    condition = start.required("dst")
    facts.implied.add(start)
    facts.conditions.add(condition)
    facts.following[loop] = condition
    last = cast(Operation, loop.after_region.block.last_op).prev_op
    if isinstance(last, RegisterMoveOp) and last.required("dst") is condition and is_plain(last):
        source = last.required("src")
        if isinstance(source.type, RegisterType) and source is not condition:
            facts.implied.add(last)
            facts.following[loop] = source


def _note_instruction(facts: Facts, op: NisaOp) -> None:
    if op.label:
        facts.labelled.setdefault(op.label, []).append(op)
    prepare = _TRIGGERS.get(type(op))
    if prepare is not None:
        found = _prepare_of(op, prepare, facts.triggers)
        facts.prepares[op] = found
        facts.triggers.setdefault(found, []).append(op)
    function = function_of(type(op))
    if function is not None and function.result is not None:
        register = op.required(function.result)
        if facts.makers.setdefault(register, op) is not op:
            raise ExportError.at(op, "two functions return one register")


def _prepare_of(trigger: NisaOp, prepare: type[Operation], used: Collection[Operation]) -> NisaOp:
    """Return the nearest earlier prepare with the same arguments, preferably an unused one."""
    nearest: NisaOp | None = None
    op = trigger.prev_op
    while op is not None:
        if isinstance(op, NisaOp) and type(op) is prepare and _agree(op, trigger):
            if op not in used:
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
    """Whether an instruction is the copy that `nl.shared_identity_matrix` emits."""
    if not isinstance(op, DmaCopyOp) or op.properties:
        return False
    dst, src = op.required("dst"), op.required("src")
    info, of = info_of(dst), info_of(src)
    on_chip = info.region is MemoryRegion.sbuf
    return on_chip and info.dtype is of.dtype and info.shape == of.shape


def is_used(value: SSAValue, creator: Operation) -> bool:
    """Whether a value has uses besides its creation and unused views."""
    return any(
        is_used(use.operation.result, use.operation)
        if isinstance(use.operation, ViewOp)
        else use.operation is not creator
        for use in value.uses
    )


# ---------------------------------------------------------------- iterations


def differs_in_shape(value: SSAValue) -> bool:
    """Whether the shape of a tile differs between iterations of the loops around it."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return False
    if isinstance(owner, ElementOp):
        return len({_type_of(v) for v in owner.lists}) > 1 or any(map(_has_others, owner.lists))
    return TYPE in varying(owner)


def _type_of(value: SSAValue) -> Attribute:
    return value.type.element if isinstance(value.type, TilesType) else value.type


def _has_others(value: SSAValue) -> bool:
    """Whether the tiles that a value represents in different iterations have different shapes."""
    owner = value.owner
    if isinstance(owner, RepeatOp):
        return _has_others(owner.yielded[owner.results.index(value)])
    return differs_in_shape(value)
