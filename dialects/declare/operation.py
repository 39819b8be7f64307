"""`NisaOp`, the base of all instructions: access to fields, and the textual form."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar, TypeGuard, cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from nkijit.dialects.declare.accessors import value_at
from nkijit.dialects.declare.kinds import OperandKind, PropertyKind, parse_defined_operand
from nkijit.dialects.declare.properties import NamesKind, StringKind, decode_number
from nkijit.dialects.declare.spec import Field, InstructionSpec, Stage
from nkijit.dialects.hardware.targets import Target

SEGMENTS = AttrSizedOperandSegments.attribute_name
"""Name of the property that holds the number of values of each declared operand."""


def segments_attr(present: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """Return the attribute with the number of values of each operand: 1, 0, or a list's length."""
    return DenseArrayBase.from_list(i32, present)


_POSITIONS: dict[bytes, tuple[range, ...]] = {}


def _positions(segments: Any) -> tuple[range, ...]:
    """Return, for each declared operand, the positions of its values among all values."""
    key: bytes = segments.data.data
    positions = _POSITIONS.get(key)
    if positions is None:
        result: list[range] = []
        taken = 0
        for size in segments.get_values():
            result.append(range(taken, taken + int(size)))
            taken += int(size)
        positions = _POSITIONS[key] = tuple(result)
    return positions


class NisaOp(IRDLOperation, ABC):
    """Base of all instructions: access to fields, and the textual form."""

    SPEC: ClassVar[InstructionSpec]

    instruction_name = opt_prop_def(StringKind(required=False), prop_name="name")
    after = opt_prop_def(NamesKind(required=False))
    """Names of instructions that the user wants to run before this instruction."""

    def operand_named(self, name: str) -> SSAValue | None:
        """The value of operand `name`; None when it is omitted."""
        return self._operand_of(self.SPEC.by_name[name])

    def required(self, name: str) -> SSAValue:
        """The value of the required operand `name`.

        Raises:
            LookupError: the operand is omitted, so the caller should use `operand_named`.
        """
        value = self._operand_of(self.SPEC.by_name[name])
        if value is None:
            raise LookupError(f"internal error: {self.name} is without its operand '{name}'")
        return value

    @classmethod
    def declares(cls, name: str) -> bool:
        """True when this class declares an argument `name`."""
        return name in cls.SPEC.by_name

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an argument that not every instruction declares.

        The result is the same as for `operand_named` or `value_of`. `default` is the result for an
        argument that the instruction does not declare, not for an argument that is omitted.
        """
        f = self.SPEC.by_name.get(name)
        if f is None:
            return default
        return self._operand_of(f) if f.index >= 0 else self.value_of(name)

    def operands_named(self, name: str) -> tuple[SSAValue, ...]:
        """The values of operand `name`: none, one, or the values of a list."""
        return self._operands_of(self.SPEC.by_name[name])

    @property
    def segments(self) -> tuple[range, ...] | None:
        """Positions of each operand's values among all values; None if all have exactly one."""
        if not self.SPEC.has_segments:
            return None
        return _positions(self.properties[SEGMENTS])

    @property
    def segment_bytes(self) -> bytes:
        """Return a key of the operands that are present, for instructions of one class."""
        if not self.SPEC.has_segments:
            return b""
        segments: Any = self.properties[SEGMENTS]
        return segments.data.data

    def _operand_of(self, f: Field) -> SSAValue | None:
        index = f.index
        if self.SPEC.has_segments:
            positions = _positions(self.properties[SEGMENTS])[index]
            if not positions:
                return None
            index = positions.start
        return value_at(self._operands, index)

    def _operands_of(self, f: Field) -> tuple[SSAValue, ...]:
        if not self.SPEC.has_segments:
            return (value_at(self._operands, f.index),)
        positions = _positions(self.properties[SEGMENTS])[f.index]
        return self._operands[positions.start : positions.stop]

    @property
    def label(self) -> str:
        """The instruction's name, empty when it has none."""
        return "" if self.instruction_name is None else cast(StringAttr, self.instruction_name).data

    @property
    def runs_after(self) -> tuple[str, ...]:
        """Names of instructions that the user wants to run before this instruction."""
        return () if self.after is None else NamesKind().decode(self.after)

    def run_after(self, name: str) -> None:
        """Add the name of an instruction that must run before this instruction."""
        names = dict.fromkeys((*self.runs_after, name))
        self.properties["after"] = NamesKind().encode(list(names))

    def value_of(self, name: str) -> Any:
        """The Python value of property `name`; the property's default when it is omitted."""
        kind: Any = self.SPEC.by_name[name].kind
        attr = self.properties.get(name)
        return kind.default if attr is None else kind.decode(attr)

    def runs(self, stage: Stage) -> bool:
        """Return True if a declared stage runs: its `when` operand, if any, is present."""
        return stage.when is None or self.operand_named(stage.when) is not None

    def given_stages(self) -> list[Stage]:
        """The stages that the instruction is lowered to, in order."""
        return [stage for stage in self.SPEC.stages if self.runs(stage)]

    def cycles(self, target: Target) -> float:
        """Return the time that the engine is busy, in cycles of the engine's clock.

        For DMA, returns the number of bytes.
        """
        return sum(stage.cost.cycles(self, target) for stage in self.given_stages())

    def given_operands(self) -> list[tuple[Field, SSAValue]]:
        """The operands that are present, with their declarations, in declared order."""
        operands = self._operands
        if not self.SPEC.has_segments:
            return list(zip(self.SPEC.operand_fields, operands, strict=True))
        positions = _positions(self.properties[SEGMENTS])
        fields = self.SPEC.operand_fields
        return [(f, value_at(operands, i)) for f in fields for i in positions[f.index]]

    def print(self, printer: Printer) -> None:
        separator = " "
        for f in (*self.SPEC.fields, *_OWN_FIELDS.values()):
            if f.variadic:
                printer.print_string(f"{separator}{f.name}=")
                with printer.in_square_brackets():
                    printer.print_list(self._operands_of(f), printer.print_ssa_value)
            elif f.is_operand:
                value = self._operand_of(f)
                if value is None:
                    continue
                printer.print_string(f"{separator}{f.name}=")
                printer.print_ssa_value(value)
            else:
                attr = self.properties.get(f.name)
                if attr is None:
                    continue
                printer.print_string(f"{separator}{f.name}=")
                cast(PropertyKind, f.kind).print(printer, attr)
            separator = ", "
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> NisaOp:
        spec = cls.SPEC
        given: dict[str, Sequence[SSAValue]] = {}
        properties: dict[str, Attribute] = {}
        start = parser.pos
        while True:
            pos = parser.pos
            name = parser.parse_identifier(" (the name of an argument)")
            f = _OWN_FIELDS.get(name) or spec.by_name.get(name)
            if f is None:
                known = ", ".join(f.name for f in spec.fields)
                parser.raise_error(f"{cls.name} has no argument '{name}'; it has {known}", pos)
            if name in given or name in properties:
                parser.raise_error(f"argument '{name}' is given twice", pos)
            parser.parse_punctuation("=")
            if isinstance(f.kind, OperandKind):
                given[name] = _parse_values(parser, f.name, f.kind)
            else:
                properties[name] = f.kind.parse(parser)
            if parser.parse_optional_punctuation(",") is None:
                break
        missing = [
            f.name
            for f in spec.fields
            if f.required and f.name not in given and f.name not in properties
        ]
        if missing:
            parser.raise_error(f"{cls.name} needs argument '{missing[0]}'", start)
        if spec.has_segments:
            present = [len(given.get(f.name, ())) for f in spec.operand_fields]
            properties[SEGMENTS] = segments_attr(present)
        attributes = parser.parse_optional_attr_dict()
        operands = [value for f in spec.operand_fields for value in given.get(f.name, ())]
        return cls.create(operands=operands, properties=properties, attributes=attributes)


def _parse_values(parser: Parser, name: str, kind: OperandKind) -> Sequence[SSAValue]:
    def parse_value() -> SSAValue:
        pos = parser.pos
        value = parse_defined_operand(parser)
        if not kind.verifies(value.type):
            parser.raise_error(f"'{name}' is {kind.expected}, got {value.type}", pos)
        return value

    if not kind.variadic:
        return (parse_value(),)
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_value)


_OWN_FIELDS = {
    "name": Field("name", StringKind(required=False), -1),
    "after": Field("after", NamesKind(required=False), -1),
}
"""The fields that every instruction has in addition to its declared fields, by name."""

_INSTRUCTIONS: dict[type[Operation], bool] = {}


def is_instruction(op: Operation) -> TypeGuard[NisaOp]:
    """Return `isinstance(op, NisaOp)`; faster in loops over programs, as `NisaOp` is an ABC."""
    kind = type(op)
    known = _INSTRUCTIONS.get(kind)
    if known is None:
        known = _INSTRUCTIONS[kind] = issubclass(kind, NisaOp)
    return known


def form_key(op: Operation) -> tuple[object, ...]:
    """Return a key that is equal only for operations that differ at most in operands and results.

    Such operations have the same class and properties: compile-time arguments, names, and the
    choice of present operands. Attributes are compared by identity, so a key is valid only while
    the operations exist, and operations with equal attributes may have different keys.
    """
    properties = op.properties
    return type(op), *properties, *map(id, properties.values())


def scalar_constant(value: SSAValue) -> int | float | None:
    """The number of an operand that is a compile-time constant; None for other operands."""
    owner = value.owner
    if type(owner) is ConstantOp:
        attr = owner.properties["value"]
        if isinstance(attr, (IntegerAttr, FloatAttr)):
            return decode_number(cast(Attribute, attr))
    return None
