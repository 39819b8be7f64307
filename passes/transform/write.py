"""Conversion of nodes to operations.

Loops become `nki.repeat`, and numbers that vary become `Affine`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerType, UnitAttr, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from nkijit.dialects.declare.creation import created
from nkijit.dialects.declare.operation import SEGMENTS, NisaOp, is_instruction, segments_attr
from nkijit.dialects.nki.affine import HINT, TYPE, Affine, set_varying
from nkijit.dialects.nki.repeat import ElementOp, NumberOp, RepeatOp, TilesType, YieldOp
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.transform.indices import IndexNames
from nkijit.passes.transform.nodes import OMITTED, InRegion, Loop, Node, Unit
from nkijit.passes.transform.numbers import split_text
from nkijit.passes.transform.read import Reader, integer_of, optional_number
from nkijit.passes.transform.resolve import Definition, Element, Resolved
from nkijit.passes.transform.views import AGAIN

Steps = tuple[tuple[str, int], ...]
"""For each surrounding loop: the name of its index, and the growth of a number per iteration."""


class Writer:
    """Writes the body of a kernel."""

    def __init__(self, reader: Reader, resolved: Resolved, arguments: Mapping[SSAValue, SSAValue]):
        """Create a writer. `arguments` maps the old kernel's arguments to the new kernel's."""
        self._reader = reader
        self._resolved = resolved
        self._arguments = arguments
        self.constants: dict[ConstantOp, ConstantOp] = {}
        """Maps the old kernel's constants that are used by name to the new kernel's constants."""
        self._values: dict[Definition, SSAValue] = {}
        self._lists: dict[tuple[Node, Definition], SSAValue] = {}
        self._blocks: list[Block] = []
        self._made: list[dict[Hashable, SSAValue]] = []
        self._indices: list[tuple[Loop, str]] = []
        self._names = IndexNames()

    def body(self, nodes: Sequence[Node], block: Block) -> None:
        """Write nodes to a block."""
        self._block(nodes, [((),) * len(node.numbers) for node in nodes], block)

    def constant(self, op: ConstantOp) -> SSAValue:
        """Return the new kernel's copy of a constant."""
        made = self.constants.get(op)
        if made is None:
            made = self.constants[op] = op.clone()
        return made.result

    def append(self, op: Operation) -> None:
        """Append an operation to the current block."""
        self._blocks[-1].add_op(op)

    def once(self, key: Hashable) -> SSAValue | None:
        """Return the value that `keep` stored for a key in this or an outer block, or None."""
        return next((made[key] for made in self._made if key in made), None)

    def keep(self, key: Hashable, value: SSAValue) -> None:
        """Store a value for a key in the current block."""
        self._made[-1][key] = value

    def define(self, unit: Unit, kind: int, value: SSAValue) -> None:
        """Store a value that a unit created."""
        self._values[unit, kind] = value

    def argument(self, value: SSAValue) -> SSAValue | None:
        """Return the new kernel's argument for the old kernel's; None for other values."""
        return self._arguments.get(value)

    @property
    def is_repeated(self) -> bool:
        """True if the current block is in a loop."""
        return bool(self._indices)

    def used(self, unit: Unit, slot: int) -> SSAValue:
        """Return the value that a use refers to.

        If the value is in a list, an `nki.element` selects it, which is created once.
        """
        element = self._resolved.uses[unit, slot]
        if element.is_plain:
            return self._values[element.parts[0][1]]
        lists = tuple(self._part(*part) for part in element.parts)
        position = self._affine(element)
        if len(lists) == 1 and not isinstance(lists[0].type, TilesType):
            return lists[0]  # the value of a loop with one iteration
        key = (lists, position)
        value = self.once(key)
        if value is None:
            op = ElementOp.of(lists, position)
            op.location = unit.op.location
            op.result.name_hint = element.parts[0][1][0].op.results[0].name_hint
            self.append(op)
            value = op.result
            self.keep(key, value)
        return value

    def _part(self, node: Node, definition: Definition) -> SSAValue:
        return self._lists[node, definition] if isinstance(node, Loop) else self._values[definition]

    def _affine(self, element: Element) -> Affine:
        steps = dict(element.steps)
        indices = [(name, steps.get(loop, 0)) for loop, name in self._indices]
        return Affine.of(element.position, indices)

    def _block(self, nodes: Sequence[Node], steps: Sequence[Sequence[Steps]], block: Block) -> None:
        self._blocks.append(block)
        self._made.append({})
        self._nodes(nodes, steps)
        self._made.pop()
        self._blocks.pop()

    def _nodes(self, nodes: Sequence[Node], steps: Sequence[Sequence[Steps]]) -> None:
        for node, of_node in zip(nodes, steps, strict=True):
            if isinstance(node, Loop):
                self._loop(node, of_node)
            else:
                assert isinstance(node, Unit)
                _UnitWriter(self, self._reader, node, of_node).write()

    def region(self, unit: Unit, region: InRegion, steps: Sequence[Sequence[Steps]]) -> Region:
        """Write a region of an operation."""
        old = region.block
        block = Block(arg_types=old.arg_types)
        for argument, before, kind in zip(block.args, old.args, region.arguments, strict=True):
            argument.name_hint = before.name_hint
            self._values[unit, kind] = argument
        self._block(region.nodes, steps, block)
        return Region(block)

    def _loop(self, loop: Loop, steps: Sequence[Steps]) -> None:
        name = self._names.of(loop, [name for _, name in self._indices])
        self._indices.append((loop, name))
        inner: list[list[Steps]] = []
        position = 0
        for node in loop.body:
            count = len(node.numbers)
            own = loop.number_steps[position : position + count]
            around = steps[1 + position : 1 + position + count]
            once = loop.numbers[0] == 1 and not any(step for _, step in steps[0])
            inner.append([a if once else (*a, (name, b)) for a, b in zip(around, own, strict=True)])
            position += count
        wanted = list(self._resolved.lists.get(loop, ()))
        if loop.numbers[0] == 1 and not any(step for _, step in steps[0]):
            self._indices.pop()
            self._nodes(loop.body, inner)
            for definition in wanted:
                self._lists[loop, definition] = self._made_inside(loop, definition)
            return
        block = Block()
        self._block(loop.body, inner, block)
        self._indices.pop()
        yielded = [self._made_inside(loop, definition) for definition in wanted]
        if yielded:
            block.add_op(YieldOp.of(yielded))
        op = RepeatOp.of(name, Affine.of(loop.numbers[0], steps[0]), block)
        self.append(op)
        for definition, result in zip(wanted, op.results, strict=True):
            hint = definition[0].op.results[0].name_hint
            if hint is not None:  # `tiles` of `tile`, and of `tile.0`, `tile.1`, …
                result.name_hint = f"{hint.rstrip('0123456789').rstrip('._') or hint}s"
            self._lists[loop, definition] = result

    def _made_inside(self, loop: Loop, definition: Definition) -> SSAValue:
        for node in loop.body:
            if node is definition[0]:
                return self._values[definition]
            if (node, definition) in self._lists:
                return self._lists[node, definition]
        raise KeyError(definition)


class _UnitWriter:
    """Writes one operation; consumes the numbers in the order in which `read.py` collected them."""

    def __init__(self, writer: Writer, reader: Reader, unit: Unit, steps: Sequence[Steps]):
        self._writer = writer
        self._reader = reader
        self._unit = unit
        self._steps = steps
        self._number = self._slot = 0
        self._varying: dict[str, tuple[Affine, ...]] = {}

    def write(self) -> None:
        unit, op, writer = self._unit, self._unit.op, self._writer
        properties = dict(op.properties)
        self._properties(op, self._varying)
        if is_instruction(op):
            operands, present = self._instruction(op)
            if op.SPEC.has_segments:
                properties[SEGMENTS] = segments_attr(present)
        else:
            operands = [self._value(value) for value in op.operands]
        for result in op.results:
            self._result(result, type(op) is ViewOp)
        if op.regions:
            regions = self._regions()
            made = type(op).create(
                operands=operands,
                result_types=op.result_types,
                properties=properties,
                regions=regions,
            )
            made.location = op.location
        else:
            made = created(type(op), operands, op.result_types, properties, op.location)
        made.attributes.update(op.attributes)
        if type(op) is ViewOp and (writer.is_repeated or op in self._reader.shared.repeated):
            made.attributes[AGAIN] = UnitAttr()
        set_varying(made, self._varying)
        for old, new in zip(op.results, made.results, strict=True):
            new.name_hint = old.name_hint
            writer.define(unit, self._reader.definition(old)[0], new)
        writer.append(made)

    def _regions(self) -> list[Region]:
        unit = self._unit
        # The numbers of arguments precede those of the nodes.
        for region in unit.regions:
            for argument in region.block.args:
                self._result(argument, False)
        regions: list[Region] = []
        for region in unit.regions:
            steps: list[Sequence[Steps]] = []
            for node in region.nodes:
                end = self._number + len(node.numbers)
                steps.append(self._steps[self._number : end])
                self._number = end
            regions.append(self._writer.region(unit, region, steps))
        return regions

    def _next(self) -> Affine:
        position = self._number
        self._number += 1
        return Affine.of(self._unit.numbers[position], self._steps[position])

    def _take(self, count: int) -> tuple[Affine, ...]:
        return tuple(self._next() for _ in range(count))

    def _properties(self, op: Operation, varying: dict[str, tuple[Affine, ...]]) -> None:
        properties = op.properties
        for name in sorted(properties):
            if name == SEGMENTS:
                continue
            if is_instruction(op) and name in op.SPEC.by_name:
                default = optional_number(op.SPEC.by_name[name])
                if default is not None:
                    self._optional_property(name, varying)
                    continue
            numbers = self._take(len(self._reader.splits.of(properties[name])[1]))
            if any(number.terms for number in numbers):
                varying[name] = numbers
        if is_instruction(op):
            for f in op.SPEC.fields:
                left_out = not f.is_operand and f.name not in properties
                if left_out and optional_number(f) is not None:
                    self._optional_property(f.name, varying)

    def _optional_property(self, name: str, varying: dict[str, tuple[Affine, ...]]) -> None:
        number, mask = self._next(), self._next().constant
        if number.terms:
            varying[f"{name}?" if mask & OMITTED else name] = (number,)

    def _instruction(self, op: NisaOp) -> tuple[list[SSAValue], list[int]]:
        segments = op.segments
        operands: list[SSAValue] = []
        present: list[int] = []
        for f in op.SPEC.operand_fields:
            positions = range(f.index, f.index + 1) if segments is None else segments[f.index]
            before = len(operands)
            default = None if f.variadic else optional_number(f)
            given = [op.operands[position] for position in positions]
            number = integer_of(given[0]) if given and default is not None else None
            if default is not None and (not given or (number is not None and number[1] == i32)):
                value, mask = self._next(), self._next().constant
                if value.terms:
                    omitted = default if mask & OMITTED else None
                    operands.append(self._affine(value, omitted, i32, f.name))
                elif given:
                    operands.append(self._constant(given[0]))
            else:
                operands += [self._value(value, f.name) for value in given]
            present.append(len(operands) - before)
        return operands, present

    def _constant(self, value: SSAValue) -> SSAValue:
        owner = value.owner
        assert isinstance(owner, ConstantOp)
        return self._writer.constant(owner)

    def _affine(
        self, value: Affine, omitted: int | None, kind: IntegerType, name: str = "number"
    ) -> SSAValue:
        key = (value, omitted, kind)
        made = self._writer.once(key)
        if made is None:
            op = NumberOp.of(value, kind, omitted)
            op.location = self._unit.op.location
            op.result.name_hint = name
            self._writer.append(op)
            made = op.result
            self._writer.keep(key, made)
        return made

    def _value(self, value: SSAValue, name: str = "number") -> SSAValue:
        owner = value.owner
        if type(owner) is ViewOp and owner in self._reader.shared:
            return self._view(owner)
        if type(owner) is ConstantOp and owner in self._reader.tops:
            number = integer_of(value)
            if number is not None:
                affine = self._next()
                if affine.terms:
                    return self._affine(affine, None, cast(IntegerType, number[1]), name)
            return self._writer.constant(owner)
        argument = self._writer.argument(value)
        if argument is not None:
            return argument
        slot = self._slot
        self._slot += 1
        return self._writer.used(self._unit, slot)

    def _view(self, view: ViewOp) -> SSAValue:
        start = self._number
        varying: dict[str, tuple[Affine, ...]] = {}
        self._properties(view, varying)
        all_numbers = tuple(
            Affine.of(self._unit.numbers[i], self._steps[i]) for i in range(start, self._number)
        )
        operands = [self._value(value) for value in view.operands]
        frames = tuple(
            (name, self._reader.splits.of(attr)[0])
            for name, attr in sorted(view.properties.items())
        )
        key = (tuple(operands), info_of(view.result).dtype, frames, all_numbers)
        made = self._writer.once(key)
        if made is None:
            op = created(
                ViewOp,
                operands,
                view.result_types,
                dict(view.properties),
                self._unit.op.location,
            )
            set_varying(op, varying)
            op.result.name_hint = operands[0].name_hint
            self._writer.append(op)
            made = op.result
            self._writer.keep(key, made)
        return made

    def _result(self, value: SSAValue, is_view: bool) -> None:
        hint = value.name_hint
        numbers = self._take(0 if hint is None else len(split_text(hint)[1]))
        if any(number.terms for number in numbers):
            self._varying[HINT] = numbers
        if not is_view:
            sizes = self._take(len(self._reader.splits.of(value.type)[1]))
            if any(number.terms for number in sizes):
                self._varying[TYPE] = sizes


def header(writer: Writer, reader: Reader, *, every: bool) -> list[ConstantOp]:
    """Return the new kernel's constants that are at its top.

    Args:
        every: include constants that are not used by name.
    """
    if every:
        for op in reader.top:
            writer.constant(op)
    return [writer.constants[op] for op in reader.top if op in writer.constants]
