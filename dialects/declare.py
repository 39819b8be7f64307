"""How an instruction is declared: fields, rules, and what is derived from them.

An instruction is one op class. Its body lists its fields (`fields.py`) in the order of the public
API's signature; `@instruction` adds what is known of it (engines, first generation, rules) and
derives the rest: the xDSL definition, the textual form, the API's argument encoding and the
statement of what it reads and writes. Every other layer reads the resulting `InstructionSpec`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, TypeGuard, TypeVar, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, irdl_op_definition, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from nkijit.dialects.costs import Cost
from nkijit.dialects.fields import (
    NamesKind,
    OperandKind,
    PropertyKind,
    Role,
    StringKind,
    decode_number,
    parse_defined_operand,
)
from nkijit.dialects.hardware import Target, engine, nc_version


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of an instruction, in the order of the public signature."""

    name: str
    kind: OperandKind | PropertyKind
    index: int
    """Position among the operands, or -1 for a property."""

    @property
    def is_operand(self) -> bool:
        return self.index >= 0

    @property
    def required(self) -> bool:
        return self.kind.required

    @property
    def default(self) -> Any:
        return self.kind.default

    @property
    def role(self) -> Role | None:
        """What is done with an operand; None for a property."""
        return self.kind.role if isinstance(self.kind, OperandKind) else None

    @property
    def variadic(self) -> bool:
        return isinstance(self.kind, OperandKind) and self.kind.variadic

    @property
    def accepts_tile(self) -> bool:
        return isinstance(self.kind, OperandKind) and self.kind.accepts_tile


@dataclass(frozen=True, slots=True)
class RuleText:
    """What is said about a rule wherever it is shown."""

    id: str
    category: str
    """buffer, shape, dtype, operator, target, access, dataflow or memory."""
    sentence: str
    help: str
    source: str
    """The public document that states it."""
    severity: str = "error"
    """`error` for what hardware or the documents forbid, `warning` for what they advise against."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that an op breaks."""

    message: str
    operands: tuple[str, ...] = ()
    """Names of the fields that the message is about."""
    help: str | None = None
    """A way out that is more exact than the rule's own."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as one op declares it. It may look at types, properties and scalar constants only,
    so that equal instructions need to be judged once."""

    text: RuleText
    check: Callable[[Any, Target], Finding | None]


@dataclass(frozen=True, slots=True)
class Accumulators:
    """How an instruction uses the accumulator registers of its engine.

    `idle_clobbers` says that with `reduce_cmd.idle` the registers are undefined afterwards.
    `operator` is the reduction when the instruction has only one, `command` the command when it
    has no `reduce_cmd` field. `operator_field` names the reduction's field otherwise, and
    `initial_field` what `reduce_cmd.load_reduce` loads.
    """

    engine: engine
    idle_clobbers: bool = False
    operator: str | None = None
    command: Enum | None = None
    operator_field: str = "reduce_op"
    initial_field: str = "reduce_init"


@dataclass(frozen=True, slots=True)
class Stage:
    """One engine instruction that an NKI instruction becomes.

    `operands` are the fields that it touches; a stage is emitted when `when` (an operand's name)
    is given, always when it is None. `parts` says into how many instructions it is split, which do
    an equal part of the work each.
    """

    mnemonic: str
    operands: tuple[str, ...]
    cost: Cost
    when: str | None = None
    parts: Callable[[Any], int] | None = None


@dataclass(frozen=True)
class InstructionSpec:
    """Everything that is declared of an instruction."""

    name: str
    """The name in `nki.isa`."""
    fields: tuple[Field, ...]
    engines: tuple[engine, ...]
    """Engines that can run it; the first is the choice when nothing speaks against it."""
    since: nc_version
    rules: tuple[Rule, ...]
    stages: tuple[Stage, ...]
    accumulators: Accumulators | None
    select_engine: Callable[[Any, Target], engine] | None
    by_name: Mapping[str, Field] = field(init=False)
    operand_fields: tuple[Field, ...] = field(init=False)
    has_segments: bool = field(init=False)

    def __post_init__(self) -> None:
        operand_fields = tuple(f for f in self.fields if f.is_operand)
        object.__setattr__(self, "by_name", {f.name: f for f in self.fields})
        object.__setattr__(self, "operand_fields", operand_fields)
        segments = any(not f.required or f.variadic for f in operand_fields)
        object.__setattr__(self, "has_segments", segments)


SEGMENTS = AttrSizedOperandSegments.attribute_name
"""The property that says how many values each operand has."""


def segments_attr(present: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """The attribute that says how many values each operand has: 1, 0, or the length of a list."""
    return DenseArrayBase.from_list(i32, present)


_POSITIONS: dict[bytes, tuple[range, ...]] = {}


def _positions(segments: DenseArrayBase[IntegerType]) -> tuple[range, ...]:
    """Positions of each declared operand's values among all that are given."""
    key = segments.data.data
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
    """Base of all instructions: derived access to fields, textual form, effects."""

    SPEC: ClassVar[InstructionSpec]

    instruction_name = opt_prop_def(StringKind(required=False), prop_name="name")
    after = opt_prop_def(NamesKind(required=False))
    """Names of instructions that the author wants to run before this one."""

    def operand_named(self, name: str) -> SSAValue | None:
        """The value given for operand `name`, None when it was left out."""
        return self._operand_of(self.SPEC.by_name[name])

    def operands_named(self, name: str) -> tuple[SSAValue, ...]:
        """The values of operand `name`: none, one, or those of a list."""
        return self._operands_of(self.SPEC.by_name[name])

    @property
    def segments(self) -> tuple[range, ...] | None:
        """Positions of each operand's values among all; None when each has exactly one."""
        if not self.SPEC.has_segments:
            return None
        return _positions(cast(DenseArrayBase[IntegerType], self.properties[SEGMENTS]))

    @property
    def segment_bytes(self) -> bytes:
        """The same for two instructions of a class that are given the same operands."""
        if not self.SPEC.has_segments:
            return b""
        return cast(DenseArrayBase[IntegerType], self.properties[SEGMENTS]).data.data

    def _operand_of(self, f: Field) -> SSAValue | None:
        index = f.index
        if self.SPEC.has_segments:
            segments = cast(DenseArrayBase[IntegerType], self.properties[SEGMENTS])
            positions = _positions(segments)[index]
            if not positions:
                return None
            index = positions.start
        return self._operands[index]

    def _operands_of(self, f: Field) -> tuple[SSAValue, ...]:
        if not self.SPEC.has_segments:
            return (self._operands[f.index],)
        segments = cast(DenseArrayBase[IntegerType], self.properties[SEGMENTS])
        positions = _positions(segments)[f.index]
        return self._operands[positions.start : positions.stop]

    @property
    def label(self) -> str:
        """The instruction's name, empty when it has none."""
        return "" if self.instruction_name is None else cast(StringAttr, self.instruction_name).data

    @property
    def runs_after(self) -> tuple[str, ...]:
        """Names of instructions that the author wants to run before this one."""
        return () if self.after is None else NamesKind().decode(self.after)

    def run_after(self, name: str) -> None:
        """Add the name of an instruction that runs before this one."""
        names = dict.fromkeys((*self.runs_after, name))
        self.properties["after"] = NamesKind().encode(list(names))

    def value_of(self, name: str) -> Any:
        """The Python value of property `name`, its default when it was left out."""
        kind = cast(PropertyKind, self.SPEC.by_name[name].kind)
        attr = self.properties.get(name)
        return kind.default if attr is None else kind.decode(attr)

    def given_stages(self) -> list[Stage]:
        """The engine instructions that it becomes, in order."""
        return [
            stage
            for stage in self.SPEC.stages
            if stage.when is None or self.operand_named(stage.when) is not None
        ]

    def cycles(self, target: Target) -> float:
        """How long its engine is busy, in cycles of its clock; for DMA, bytes."""
        return sum(stage.cost.cycles(self, target) for stage in self.given_stages())

    def given_operands(self) -> list[tuple[Field, SSAValue]]:
        """The operands that are given, with their declarations, in declared order."""
        if not self.SPEC.has_segments:
            return list(zip(self.SPEC.operand_fields, self._operands, strict=True))
        return [(f, value) for f in self.SPEC.operand_fields for value in self._operands_of(f)]

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
"""What every instruction has besides the fields that it declares."""

_INSTRUCTIONS: dict[type[Operation], bool] = {}


def is_instruction(op: Operation) -> TypeGuard[NisaOp]:
    """`isinstance(op, NisaOp)`, for loops over programs: a check against an ABC takes long."""
    kind = type(op)
    known = _INSTRUCTIONS.get(kind)
    if known is None:
        known = _INSTRUCTIONS[kind] = issubclass(kind, NisaOp)
    return known


_OpT = TypeVar("_OpT", bound=NisaOp)


def instruction(
    *,
    engines: tuple[engine, ...],
    rules: tuple[Rule, ...],
    stages: tuple[Stage, ...],
    since: nc_version = nc_version.gen2,
    accumulators: Accumulators | None = None,
    select_engine: Callable[[Any, Target], engine] | None = None,
) -> Callable[[type[_OpT]], type[_OpT]]:
    """Declare an instruction.

    Args:
        engines: engines that can run it, the default first.
        rules: what the documents forbid, checked by the verification passes.
        stages: the engine instructions it becomes, in order.
        since: the first NeuronCore generation that has it.
        accumulators: its use of the engine's accumulator registers, if any.
        select_engine: chooses among `engines` when the author left it open.
    """

    def declare(cls: type[_OpT]) -> type[_OpT]:
        fields: list[Field] = []
        operands = 0
        for name, definition in list(cls.__dict__.items()):
            kind = getattr(definition, "param", None)
            if isinstance(kind, OperandKind):
                fields.append(Field(name, kind, operands))
                operands += 1
            elif isinstance(kind, PropertyKind):
                fields.append(Field(name, kind, -1))
        spec = InstructionSpec(
            name=cls.name.partition(".")[2],
            fields=tuple(fields),
            engines=engines,
            since=since,
            rules=rules,
            stages=stages,
            accumulators=accumulators,
            select_engine=select_engine,
        )
        if spec.has_segments:
            options = (AttrSizedOperandSegments(as_property=True),)
            setattr(cls, "irdl_options", options)  # noqa: B010
        defined = irdl_op_definition(cls)
        defined.SPEC = spec
        return defined

    return declare


def scalar_constant(value: SSAValue) -> int | float | None:
    """The number behind an operand, when it is a compile-time constant."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "arith.constant":
        attr = owner.properties["value"]
        if isinstance(attr, (IntegerAttr, FloatAttr)):
            return decode_number(cast(Attribute, attr))
    return None
