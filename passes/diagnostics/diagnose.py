"""Construction of findings from operations and operands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO

from xdsl.ir import BlockArgument, Operation, SSAValue

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.views import base_of, leaves_its_tensor
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.diagnostics.diagnostic import Diagnostic, Operand
from nkijit.passes.diagnostics.ir_printer import IrPrinter
from nkijit.passes.diagnostics.places import Position, positions


def describe_operand(name: str, value: SSAValue) -> Operand:
    """Return the description of an operand for a finding."""
    shown = f"%{value.name_hint}" if value.name_hint else "an unnamed value"
    if not is_tile(value):
        return Operand(name, shown, "a number")
    base = base_of(value)
    text = str(info_of(value))
    if base is not value:
        text += f", a view of %{base.name_hint or '?'} ({info_of(base)})"
    if isinstance(base, BlockArgument):
        return Operand(name, shown, f"{text}, an argument of the kernel")
    if isinstance(base.owner, ConstantOp):
        text += ", a constant"
    elif not isinstance(base.owner, AllocOp):
        return Operand(name, shown, text)
    places = positions(base.owner.location)
    return Operand(name, shown, text, places[0] if places else None)


def element_text(value: SSAValue, partition: int, number: int) -> str:
    """Return the name of an element of a static tile: its index in the allocation, if possible.

    `number` is the number of the element within its partition.
    """
    info, base = info_of(value), base_of(value)
    index = _unravelled(number, info.shape[1:])
    whole = info_of(base)
    if whole.dtype.bits == info.dtype.bits and not leaves_its_tensor(value):
        at = sum(i * stride for i, stride in zip((partition, *index), info.strides, strict=True))
        value, index = base, _unravelled(info.offset + at, whole.shape)
    else:
        index = (partition, *index)
    return f"%{value.name_hint or '?'}[{', '.join(map(str, index))}]"


def _unravelled(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the index of the element with a number in row-major order."""
    index: list[int] = []
    for count in reversed(shape):
        number, at = divmod(number, count)
        index.insert(0, at)
    return tuple(index)


def op_text(op: Operation) -> str:
    """Return an operation as one line of IR; for an operation with a body, the first line."""
    stream = StringIO()
    IrPrinter(stream).print_op(op)
    return stream.getvalue().partition("\n")[0]


def mention(op: Operation) -> str:
    """Return an instruction's name, with the label (`name=`) if it has one."""
    return f"{op.name} '{op.label}'" if isinstance(op, NisaOp) and op.label else op.name


def diagnose(
    rule: RuleText,
    op: Operation,
    message: str,
    operands: Iterable[tuple[str, SSAValue]] = (),
    *,
    notes: Iterable[str] = (),
    related: Iterable[tuple[Operation, str]] = (),
    help: str | None = None,
    severity: str | None = None,
) -> Diagnostic:
    """Create a diagnostic at an operation; it includes the IR if the source line is unknown.

    Args:
        rule: the broken rule.
        op: the operation that breaks the rule.
        message: how the operation breaks the rule.
        operands: the operands concerned, with their names in the signature.
        notes: further facts, one per line.
        related: other operations involved, each with a label: `(op, "written here")`.
        help: a fix that is more specific than the rule's own.
        severity: `error` or `warning`, if it differs from the rule's own.
    """
    where = positions(op.location)
    places: list[tuple[Position, str]] = []
    unplaced: list[str] = []
    for other, label in related:
        chain = positions(other.location)
        if not chain:
            unplaced.append(f"{label}: {op_text(other)}")
            continue
        places.append((chain[0], label))
        # In the same function, only the calls distinguish the operations.
        places += [(place, "called from here") for place in chain[1:] if place not in where]
    return Diagnostic(
        rule,
        message,
        op.name,
        tuple(where),
        (*unplaced, *notes),
        help or "",
        severity or "",
        tuple(places),
        tuple(describe_operand(name, value) for name, value in operands),
        "" if where and where[0].source_line() else op_text(op),
    )
