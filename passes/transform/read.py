"""Conversion of a kernel to nodes: each operation with the views that were created for it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    IntegerAttr,
    LocationAttr,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from nkijit.dialects.declare.kinds import OperandKind
from nkijit.dialects.declare.operation import SEGMENTS, NisaOp, is_instruction
from nkijit.dialects.declare.properties import IntegerKind
from nkijit.dialects.declare.spec import Field
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.places import positions
from nkijit.passes.transform.constants import constants_at_top
from nkijit.passes.transform.fold import fold
from nkijit.passes.transform.nodes import (
    GIVEN,
    OMITTED,
    InRegion,
    Node,
    NodeForms,
    Place,
    Ref,
    Unit,
    add_regions,
)
from nkijit.passes.transform.numbers import Splits, split_text
from nkijit.passes.transform.views import SharedViews


def optional_number(f: Field) -> int | None:
    """Return the integer default of an argument that can be omitted; None for other arguments."""
    kind = f.kind
    scalar = isinstance(kind, OperandKind) and kind.accepts_scalar and not kind.variadic
    if kind.required or not (scalar or isinstance(kind, IntegerKind)):
        return None
    default = kind.default
    if isinstance(default, bool) or not isinstance(default, (int, float)):
        return None
    return int(default) if default == int(default) else None


def integer_of(value: SSAValue) -> tuple[int, Attribute] | None:
    """Return the integer of a constant operand, with its type; None for other operands."""
    owner = value.owner
    if type(owner) is not ConstantOp:
        return None
    attr = owner.properties["value"]
    if not isinstance(attr, IntegerAttr):
        return None
    given = cast(Any, attr)
    return None if given.type == i1 else (given.value.data, given.type)


class Reader:
    """Converts a kernel's operations to nodes."""

    tops: set[Operation]

    def __init__(self, kernel: KernelOp):
        self.forms = NodeForms()
        self.splits = Splits()
        self.shared = SharedViews(self.splits)
        """The views whose operation is directly before the first operation that uses them."""
        self.top: list[ConstantOp] = []
        """The constants at the top of the kernel; empty if a constant occurs twice."""
        self._values: dict[SSAValue, tuple[int, int]] = {}
        self.counts: dict[int, int] = {}
        """The number of values that have been created so far, by kind (see `Ref`)."""
        self._places: dict[int, Place] = {}
        self.block = kernel.body.block
        self._arguments: dict[SSAValue, int] = {
            argument: index for index, argument in enumerate(self.block.args)
        }

    def read(self) -> list[Node]:
        """Return the nodes of the kernel's body, with loops, without the constants at the top."""
        first = self.block.first_op
        self.top = constants_at_top(self.block)
        if len({constant.properties["value"] for constant in self.top}) < len(self.top):
            self.top = []
        elif self.top:
            first = self.top[-1].next_op
        self.tops = set[Operation](self.top)
        return fold(list(self._nodes(self.block, first)), self.forms)

    def definition(self, value: SSAValue) -> tuple[int, int]:
        """Return the kind and the ordinal of a value that an operation created."""
        return self._values[value]

    def _nodes(self, block: Block, first: Operation | None) -> Iterator[Node]:
        """Yield the nodes of a block; shared views belong to the operation after them."""
        op = first
        pending: list[ViewOp] = []
        self.shared.open()
        while op is not None:
            if type(op) is ViewOp:
                pending.append(op)
            else:
                if pending:
                    for view in self.shared.admit(pending, op):
                        yield self._unit(view)
                    pending.clear()
                yield self._unit(op)
            op = op.next_op
        for view in pending:
            yield self._unit(view)
        self.shared.close()

    def _unit(self, op: Operation) -> Unit:
        words = _Words(self, op)
        words.read()
        before = dict(self.counts) if op.regions else {}
        for value in op.results:
            words.result(value)
        unit = Unit(
            self.forms.form(()), (), (), words.made, self._place(op.location), words.size, op
        )
        masks = words.masks
        if op.regions:
            for region in op.regions:
                for block in region.blocks:
                    kinds = [words.result(argument) for argument in block.args]
                    nodes = fold(list(self._nodes(block, block.first_op)), self.forms)
                    unit.regions.append(InRegion(block, kinds, nodes))
            unit.makes = {
                kind: count - before.get(kind, 0)
                for kind, count in self.counts.items()
                if count != before.get(kind, 0)
            }
            own = len(words.numbers)
            for region in unit.regions:
                words.add("block", len(region.arguments), len(region.nodes))
                for node in region.nodes:
                    unit.size += node.size
                    words.add(node.form.index)
                    masks += [own + mask for mask in node.form.masks]
                    own += len(node.numbers)
        add_regions(unit, words.numbers, words.refs)
        words.key += unit.steps
        unit.form = self.forms.form(tuple(words.key), tuple(masks))
        return unit

    def define(self, value: SSAValue, key: Hashable) -> int:
        """Register a new value; returns the value's kind."""
        kind = self.forms.kind(key)
        ordinal = self.counts.get(kind, 0)
        self._values[value] = kind, ordinal
        self.counts[kind] = ordinal + 1
        return kind

    def argument(self, value: SSAValue) -> int | None:
        """Return the position of a kernel argument; None for other values."""
        return self._arguments.get(value)

    def _place(self, location: LocationAttr) -> Place:
        number = self.splits.of(location)[0]
        known = self._places.get(number)
        if known is None:
            known = self._places[number] = _place_of(location)
        return known


def _place_of(location: LocationAttr) -> Place:
    """Return the line and column of each call of a location, outermost first."""
    return tuple((position.line, position.column) for position in positions(location)[::-1])


class _Words:
    """Collects the form, the numbers and the uses of one operation, each as a list.

    The lists are in the order in which `write` consumes them.
    """

    def __init__(self, reader: Reader, op: Operation):
        self._reader = reader
        self._op = op
        self.key: list[Hashable] = [type(op), reader.splits.of(op.location)[0]]
        self.numbers: list[int] = []
        self.masks: list[int] = []
        self.refs: list[Ref] = []
        self.made: dict[int, int] = {}
        self.size = 1

    def add(self, *words: Hashable) -> None:
        """Append items to the key of the operation's form."""
        self.key += words

    def read(self) -> None:
        """Read the attributes, properties and operands of the operation."""
        op = self._op
        if op.attributes:
            self.add(*((name, self._fixed(attr)) for name, attr in op.attributes.items()))
        self._properties(op)
        if is_instruction(op):
            self._instruction(op)
        else:
            for value in op.operands:
                self._value(value)

    def _fixed(self, attr: Attribute) -> tuple[int, ...]:
        frame, numbers = self._reader.splits.of(attr)
        return frame, *numbers

    def _properties(self, op: Operation) -> None:
        properties = op.properties
        for name in sorted(properties):
            if name != SEGMENTS:
                default = None
                if is_instruction(op) and name in op.SPEC.by_name:
                    default = optional_number(op.SPEC.by_name[name])
                if default is None:
                    self._attribute(name, properties[name])
                else:
                    self._optional(name, self._reader.splits.of(properties[name])[1][0], default)
        if is_instruction(op):
            for f in op.SPEC.fields:
                if not f.is_operand and f.name not in properties:
                    default = optional_number(f)
                    if default is not None:
                        self._optional(f.name, None, default)

    def _attribute(self, name: str, attr: Attribute) -> None:
        frame, numbers = self._reader.splits.of(attr)
        self.add(name, frame)
        self.numbers += numbers

    def _optional(self, name: str, number: int | None, default: int) -> None:
        self.add(name, "optional")
        self.masks.append(len(self.numbers) + 1)
        if number is None:
            self.numbers += (default, OMITTED)
        else:
            self.numbers += (number, GIVEN if number == default else GIVEN | OMITTED)

    def _instruction(self, op: NisaOp) -> None:
        segments = op.segments
        for f in op.SPEC.operand_fields:
            positions = range(f.index, f.index + 1) if segments is None else segments[f.index]
            default = None if f.variadic else optional_number(f)
            if default is not None and not positions:
                self._optional(f.name, None, default)
                continue
            if default is not None:
                value = op.operands[positions.start]
                number = integer_of(value)
                if number is not None and number[1] == i32:
                    self._optional(f.name, number[0], default)
                    continue
            self.add(f.name, len(positions))
            for position in positions:
                self._value(op.operands[position])

    def _value(self, value: SSAValue) -> None:
        owner = value.owner
        if type(owner) is ViewOp and owner in self._reader.shared:
            self.size += 1
            self.add("view")
            self._properties(owner)
            self.add(info_of(owner.result).dtype)
            for operand in owner.operands:
                self._value(operand)
            return
        number = integer_of(value)
        if number is not None and owner in self._reader.tops:
            self.add("number", number[1])
            self.numbers.append(number[0])
            return
        argument = self._reader.argument(value)
        if argument is not None:
            self.add("argument", argument)
            return
        if type(owner) is ConstantOp and owner in self._reader.tops:
            self.add("constant", self._reader.splits.of(owner.properties["value"])[0])
            return
        kind, ordinal = self._reader.definition(value)
        self.add("made", kind)
        self.refs.append(Ref(kind, ordinal, self._reader.counts[kind] - ordinal))

    def result(self, value: OpResult | BlockArgument) -> int:
        """Read a result or block argument; returns its kind."""
        hint = value.name_hint
        name, numbers = ((), ()) if hint is None else split_text(hint)
        self.numbers += numbers
        kind: Attribute = value.type
        op = self._op
        frame: Hashable
        if type(op) is ViewOp:
            frame = info_of(value).dtype
        else:
            frame, sizes = self._reader.splits.of(kind)
            self.numbers += sizes
        made = self._reader.define(value, (type(op), hint is None, name, frame, self.key[1]))
        self.add("makes", hint is None, made)
        self.made[made] = self.made.get(made, 0) + 1
        return made
