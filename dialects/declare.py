"""How an instruction is declared: fields, rules, and what is derived from them.

An instruction is one op class. Its body lists its fields in the order of the public API's
signature; `@instruction` adds what is known of it (engines, first generation, rules) and
derives the rest: the xDSL definition, the textual form, the API's argument encoding and the
statement of what it reads and writes. Every other layer reads the resulting `InstructionSpec`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    IRDLOperation,
    VerificationContext,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.attributes import (
    OperatorAttr,
    WordAttr,
    MemorySpaceAttr,
    float_from_bits,
    float_to_text,
)
from nkijit.dialects.dtypes import dtype_of_type
from nkijit.dialects.hardware import Target, engine, nc_version
from nkijit.dialects.operators import NUMPY_NAMES, OPERATORS

f32 = Float32Type()


class ArgumentError(ValueError):
    """A value that a field cannot hold. The message says what was expected and what came."""


class Role(Enum):
    """What an instruction does with an operand."""

    read = "read"
    write = "write"
    update = "update"
    """Written on top of what is there."""


@dataclass(frozen=True)
class OperandKind(AttrConstraint):
    """A tile, or a tile or a scalar; read or written."""

    role: Role
    accepts_scalar: bool = False
    required: bool = True
    default: float | None = None
    """The value that an absent optional operand stands for; None means "not there"."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if isinstance(attr, MemRefType):
            space = cast(MemRefType[Attribute], attr).memory_space
            if not isinstance(space, MemorySpaceAttr):
                raise VerifyException(f"expected a memory space of NKI, got {attr}")
            if dtype_of_type(cast(MemRefType[Attribute], attr).element_type) is None:
                raise VerifyException(f"expected an element type of NKI, got {attr}")
            return
        if self.accepts_scalar and attr in (f32, i32, i64):
            return
        expected = "a memref, f32, i32 or i64" if self.accepts_scalar else "a memref"
        raise VerifyException(f"expected {expected}, got {attr}")

    def mapping_type_vars(self, type_var_mapping: Any) -> AttrConstraint:
        return self

    @property
    def expected(self) -> str:
        """What the API accepts, in words."""
        return "a tile or a number" if self.accepts_scalar else "a tile"


@dataclass(frozen=True)
class PropertyKind(AttrConstraint, ABC):
    """A compile-time argument: its Python value, its attribute and its text, kept together."""

    required: bool = True
    default: Any = None

    @property
    @abstractmethod
    def expected(self) -> str:
        """What the API accepts, in words."""

    @abstractmethod
    def encode(self, value: Any) -> Attribute:
        """The attribute for a Python value. Raises ArgumentError when there is none."""

    @abstractmethod
    def decode(self, attr: Attribute) -> Any:
        """The Python value of an attribute that `verify` accepts."""

    @abstractmethod
    def print(self, printer: Printer, attr: Attribute) -> None:
        """Print the attribute in the pretty form."""

    @abstractmethod
    def parse(self, parser: Parser) -> Attribute:
        """Parse what `print` printed."""

    def mapping_type_vars(self, type_var_mapping: Any) -> AttrConstraint:
        return self

    def reject(self, value: Any) -> ArgumentError:
        """The error for a value that is not `expected`."""
        return ArgumentError(f"expected {self.expected}, got {_describe(value)}")


def _describe(value: Any) -> str:
    text = repr(value)
    if len(text) > 60:
        text = text[:57] + "..."
    return f"{text} ({type(value).__name__})"


def _check(attr: Attribute, ok: bool, expected: str) -> None:
    if not ok:
        raise VerifyException(f"expected {expected}, got {attr}")


_TRUE = IntegerAttr(1, i1)
_FALSE = IntegerAttr(0, i1)


@dataclass(frozen=True)
class FlagKind(PropertyKind):
    """True or False."""

    @property
    def expected(self) -> str:
        return "True or False"

    def encode(self, value: Any) -> Attribute:
        if value is True:
            return _TRUE
        if value is False:
            return _FALSE
        if type(value).__name__ == "bool":  # np.bool_ is `bool` by name, without importing it
            return _TRUE if value else _FALSE
        raise self.reject(value)

    def decode(self, attr: Attribute) -> bool:
        return bool(cast(IntegerAttr[IntegerType], attr).value.data)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        _check(attr, isinstance(attr, IntegerAttr) and attr.type == i1, "a boolean")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string("true" if self.decode(attr) else "false")

    def parse(self, parser: Parser) -> Attribute:
        return _TRUE if parser.parse_boolean() else _FALSE


@dataclass(frozen=True)
class IntegerKind(PropertyKind):
    """A compile-time integer."""

    bits: int = 32

    @property
    def expected(self) -> str:
        return f"an integer of {self.bits} bits"

    def encode(self, value: Any) -> Attribute:
        number = _as_index(value)
        if number is None or not -(2 ** (self.bits - 1)) <= number < 2**self.bits:
            raise self.reject(value)
        return IntegerAttr(number, i64)

    def decode(self, attr: Attribute) -> int:
        return cast(IntegerAttr[IntegerType], attr).value.data

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        _check(attr, isinstance(attr, IntegerAttr) and attr.type == i64, "a 64-bit integer")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string(str(self.decode(attr)))

    def parse(self, parser: Parser) -> Attribute:
        return IntegerAttr(parser.parse_integer(allow_boolean=False), i64)


def _as_index(value: Any) -> int | None:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return int(value.__index__())
    except TypeError:  # an array of more than one element
        return None


@dataclass(frozen=True)
class NumberKind(PropertyKind):
    """A compile-time number: an integer is kept exactly, a float as float32."""

    @property
    def expected(self) -> str:
        return "a number"

    def encode(self, value: Any) -> Attribute:
        return encode_number(value, self)

    def decode(self, attr: Attribute) -> int | float:
        return decode_number(attr)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        ok = (isinstance(attr, IntegerAttr) and attr.type == i64) or (
            isinstance(attr, FloatAttr) and attr.type == f32
        )
        _check(attr, ok, "a 64-bit integer or a float32")

    def print(self, printer: Printer, attr: Attribute) -> None:
        value = self.decode(attr)
        printer.print_string(str(value) if isinstance(value, int) else float_to_text(value))

    def parse(self, parser: Parser) -> Attribute:
        return parse_number(parser)


def encode_number(value: Any, kind: PropertyKind) -> Attribute:
    """An IntegerAttr or a float32 FloatAttr for a Python or NumPy number."""
    if isinstance(value, bool):
        return IntegerAttr(int(value), i64)
    if (number := _as_index(value)) is not None:
        if not -(2**63) <= number < 2**63:
            raise kind.reject(value)
        return IntegerAttr(number, i64)
    if isinstance(value, float) or (hasattr(value, "__float__") and not hasattr(value, "shape")):
        return FloatAttr(float(value), f32)
    if hasattr(value, "__float__") and getattr(value, "shape", None) == ():
        return FloatAttr(float(value), f32)
    raise kind.reject(value)


def decode_number(attr: Attribute) -> int | float:
    """The number in an IntegerAttr or a FloatAttr."""
    if isinstance(attr, FloatAttr):
        return attr.value.data
    return cast(IntegerAttr[IntegerType], attr).value.data


def parse_number(parser: Parser) -> Attribute:
    """Parse an integer, a decimal float, or the bits of a float32 (`0x7F800000`)."""
    negative = parser.parse_optional_punctuation("-") is not None
    text = parser._current_token.text  # pyright: ignore[reportPrivateUsage]
    value = parser.parse_number()
    if isinstance(value, int) and text[:2] in ("0x", "0X"):
        return FloatAttr(float_from_bits(value), f32)
    value = -value if negative else value
    return IntegerAttr(value, i64) if isinstance(value, int) else FloatAttr(value, f32)


@dataclass(frozen=True)
class StringKind(PropertyKind):
    """A string."""

    @property
    def expected(self) -> str:
        return "a string"

    def encode(self, value: Any) -> Attribute:
        if not isinstance(value, str):
            raise self.reject(value)
        return StringAttr(value)

    def decode(self, attr: Attribute) -> str:
        return cast(StringAttr, attr).data

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        _check(attr, isinstance(attr, StringAttr), "a string")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string_literal(self.decode(attr))

    def parse(self, parser: Parser) -> Attribute:
        return StringAttr(parser.parse_str_literal())


@dataclass(frozen=True)
class WordKind(PropertyKind):
    """A member of one of the public enumerations, printed as a bare word."""

    attr_class: type[WordAttr[Any]] = field(kw_only=True)

    @property
    def expected(self) -> str:
        enum = self.attr_class.ENUM
        return f"a member of {enum.__name__} ({', '.join(member.name for member in enum)})"

    def encode(self, value: Any) -> Attribute:
        if not isinstance(value, self.attr_class.ENUM):
            raise self.reject(value)
        return self.attr_class.of(value)

    def decode(self, attr: Attribute) -> Any:
        return cast(WordAttr[Any], attr).data

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        _check(attr, isinstance(attr, self.attr_class), f"an attribute #{self.attr_class.name}")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string(self.decode(attr).name)

    def parse(self, parser: Parser) -> Attribute:
        return self.attr_class.of(self.attr_class.parse_word(parser))


def _is_numpy_function(value: Any) -> bool:
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module).partition(".")[0] == "numpy" and isinstance(
        getattr(value, "__name__", None), str
    )


@dataclass(frozen=True)
class OperatorKind(PropertyKind):
    """An operator word: an ALU operator, an activation function, or bypass.

    Which of them an instruction takes is judged by its rules, so that a wrong one can be
    printed and explained.
    """

    @property
    def expected(self) -> str:
        return "an operator of nki.language (nl.add, nl.gelu, nl.bypass, …)"

    def encode(self, value: Any) -> Attribute:
        name = getattr(value, "nki_operator", None)
        if name is None and _is_numpy_function(value):
            name = NUMPY_NAMES.get(value.__name__, value.__name__)
        if name in OPERATORS:
            return OperatorAttr.of(name)
        raise self.reject(value)

    def decode(self, attr: Attribute) -> str:
        return cast(OperatorAttr, attr).data

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        _check(attr, isinstance(attr, OperatorAttr), "an attribute #nisa.op")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string(self.decode(attr))

    def parse(self, parser: Parser) -> Attribute:
        return OperatorAttr.of(OperatorAttr.parse_word(parser))


@dataclass(frozen=True)
class IntegersKind(PropertyKind):
    """A tuple of integers; a single integer counts as a tuple of one."""

    @property
    def expected(self) -> str:
        return "an integer or a sequence of integers"

    def encode(self, value: Any) -> Attribute:
        if (single := _as_index(value)) is not None:
            return DenseArrayBase.from_list(i64, [single])
        if not isinstance(value, (tuple, list)):
            raise self.reject(value)
        numbers = [_as_index(item) for item in cast(Sequence[Any], value)]
        if any(number is None for number in numbers):
            raise self.reject(value)
        return DenseArrayBase.from_list(i64, cast(list[int], numbers))

    def decode(self, attr: Attribute) -> tuple[int, ...]:
        return tuple(int(v) for v in cast(DenseArrayBase[IntegerType], attr).get_values())

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        ok = isinstance(attr, DenseArrayBase) and attr.elt_type == i64
        _check(attr, ok, "an array of 64-bit integers")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string(f"[{', '.join(map(str, self.decode(attr)))}]")

    def parse(self, parser: Parser) -> Attribute:
        numbers = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        return DenseArrayBase.from_list(i64, numbers)


@dataclass(frozen=True)
class PairsKind(PropertyKind):
    """A list of [step, count] pairs."""

    @property
    def expected(self) -> str:
        return "a list of [step, count] pairs"

    def encode(self, value: Any) -> Attribute:
        if not isinstance(value, (tuple, list)):
            raise self.reject(value)
        pairs: list[Attribute] = []
        for pair in cast(Sequence[Any], value):
            if not isinstance(pair, (tuple, list)) or len(cast(Sequence[Any], pair)) != 2:
                raise self.reject(value)
            numbers = [_as_index(item) for item in cast(Sequence[Any], pair)]
            if any(number is None for number in numbers):
                raise self.reject(value)
            pairs.append(DenseArrayBase.from_list(i64, cast(list[int], numbers)))
        return ArrayAttr(pairs)

    def decode(self, attr: Attribute) -> tuple[tuple[int, int], ...]:
        pairs = cast(ArrayAttr[DenseArrayBase[IntegerType]], attr)
        return tuple(cast(tuple[int, int], tuple(map(int, p.get_values()))) for p in pairs)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        ok = isinstance(attr, ArrayAttr) and all(
            isinstance(pair, DenseArrayBase) and len(pair.get_values()) == 2
            for pair in cast(ArrayAttr[Attribute], attr)
        )
        _check(attr, ok, "an array of pairs of 64-bit integers")

    def print(self, printer: Printer, attr: Attribute) -> None:
        pairs = ", ".join(f"[{step}, {count}]" for step, count in self.decode(attr))
        printer.print_string(f"[{pairs}]")

    def parse(self, parser: Parser) -> Attribute:
        def parse_pair() -> Attribute:
            pos = parser.pos
            numbers = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
            )
            if len(numbers) != 2:
                parser.raise_error(f"expected [step, count], got {numbers}", pos)
            return DenseArrayBase.from_list(i64, numbers)

        return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_pair))


# The functions below are what an op class is written with. Their return types are those of
# xDSL's own field definitions, so that `op.data` is an SSAValue to a type checker.


def written() -> SSAValue:
    """A tile that the instruction writes."""
    return operand_def(OperandKind(Role.write))


def updated() -> SSAValue:
    """A tile that the instruction may write on top of."""
    return operand_def(OperandKind(Role.update))


def opt_written() -> SSAValue | None:
    """A tile that the instruction writes when it is given."""
    return opt_operand_def(OperandKind(Role.write, required=False))


def tile() -> SSAValue:
    """A tile that the instruction reads."""
    return operand_def(OperandKind(Role.read))


def tile_or_scalar() -> SSAValue:
    """A number, or a [P, 1] tile, that the instruction reads."""
    return operand_def(OperandKind(Role.read, accepts_scalar=True))


def opt_tile_or_scalar(default: float | None = None) -> SSAValue | None:
    """A number, or a [P, 1] tile, that may be left out."""
    kind = OperandKind(Role.read, accepts_scalar=True, required=False, default=default)
    return opt_operand_def(kind)


def operator() -> Attribute:
    """An operator."""
    return prop_def(OperatorKind())


def opt_operator() -> Attribute | None:
    """An operator that may be left out."""
    return opt_prop_def(OperatorKind(required=False))


def flag(default: bool = False) -> Attribute | None:
    """A boolean."""
    return opt_prop_def(FlagKind(required=False, default=default))


def opt_flag() -> Attribute | None:
    """True, False or None."""
    return opt_prop_def(FlagKind(required=False, default=None))


def word(attr_class: type[WordAttr[Any]], default: Enum) -> Attribute | None:
    """A member of a public enumeration."""
    return opt_prop_def(WordKind(required=False, default=default, attr_class=attr_class))


def integer(default: int) -> Attribute | None:
    """A compile-time integer."""
    return opt_prop_def(IntegerKind(required=False, default=default))


def opt_integer() -> Attribute | None:
    """A compile-time integer that may be left out."""
    return opt_prop_def(IntegerKind(required=False))


def number() -> Attribute:
    """A compile-time number."""
    return prop_def(NumberKind())


def integers() -> Attribute:
    """One or more integers."""
    return prop_def(IntegersKind())


def opt_integers() -> Attribute | None:
    """A tuple of integers, empty by default."""
    return opt_prop_def(IntegersKind(required=False, default=()))


def pairs() -> Attribute:
    """A list of [step, count] pairs."""
    return prop_def(PairsKind())


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


@dataclass(frozen=True, slots=True)
class RuleText:
    """What is said about a rule wherever it is shown."""

    id: str
    category: str
    """buffer, shape, dtype, operator, target, access or dataflow."""
    sentence: str
    help: str
    source: str
    """The public document that states it."""


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
    `operator` is the reduction when the instruction has no `reduce_op` field, `command` the
    command when it has no `reduce_cmd` field.
    """

    engine: engine
    idle_clobbers: bool = False
    operator: str | None = None
    command: Enum | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """One engine instruction that an NKI instruction becomes.

    `operands` are the fields that it touches; a stage is emitted when `when` (an operand's name)
    is given, always when it is None.
    """

    mnemonic: str
    operands: tuple[str, ...]
    when: str | None = None


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
        object.__setattr__(self, "has_segments", any(not f.required for f in operand_fields))


_SEGMENTS = AttrSizedOperandSegments.attribute_name


def segments_attr(present: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """The attribute that says which operands are given (1) and which are not (0)."""
    return DenseArrayBase.from_list(i32, present)


_POSITIONS: dict[bytes, tuple[int, ...]] = {}


def _positions(segments: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """Position of each declared operand among the given ones, -1 when it is absent."""
    key = segments.data.data
    positions = _POSITIONS.get(key)
    if positions is None:
        result: list[int] = []
        taken = 0
        for size in segments.get_values():
            result.append(taken if size else -1)
            taken += int(size)
        positions = _POSITIONS[key] = tuple(result)
    return positions


class NisaOp(IRDLOperation, ABC):
    """Base of all instructions: derived access to fields, textual form, effects."""

    SPEC: ClassVar[InstructionSpec]

    instruction_name = opt_prop_def(StringKind(required=False), prop_name="name")

    def operand_named(self, name: str) -> SSAValue | None:
        """The value given for operand `name`, None when it was left out."""
        return self._operand_of(self.SPEC.by_name[name])

    def _operand_of(self, f: Field) -> SSAValue | None:
        index = f.index
        if self.SPEC.has_segments:
            segments = cast(DenseArrayBase[IntegerType], self.properties[_SEGMENTS])
            index = _positions(segments)[index]
            if index < 0:
                return None
        return self._operands[index]

    def value_of(self, name: str) -> Any:
        """The Python value of property `name`, its default when it was left out."""
        kind = cast(PropertyKind, self.SPEC.by_name[name].kind)
        attr = self.properties.get(name)
        return kind.default if attr is None else kind.decode(attr)

    def given_operands(self) -> list[tuple[Field, SSAValue]]:
        """The operands that are given, with their declarations, in declared order."""
        result: list[tuple[Field, SSAValue]] = []
        for f in self.SPEC.operand_fields:
            value = self._operand_of(f)
            if value is not None:
                result.append((f, value))
        return result

    def print(self, printer: Printer) -> None:
        separator = " "
        for f in (*self.SPEC.fields, _NAME_FIELD):
            if f.is_operand:
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
        given: dict[str, SSAValue] = {}
        properties: dict[str, Attribute] = {}
        start = parser.pos
        while True:
            pos = parser.pos
            name = parser.parse_identifier(" (the name of an argument)")
            f = _NAME_FIELD if name == "name" else spec.by_name.get(name)
            if f is None:
                known = ", ".join(f.name for f in spec.fields)
                parser.raise_error(f"{cls.name} has no argument '{name}'; it has {known}", pos)
            if name in given or name in properties:
                parser.raise_error(f"argument '{name}' is given twice", pos)
            parser.parse_punctuation("=")
            if f.is_operand:
                given[name] = parser.parse_operand()
            else:
                properties[name] = cast(PropertyKind, f.kind).parse(parser)
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
            present = [int(f.name in given) for f in spec.operand_fields]
            properties[_SEGMENTS] = segments_attr(present)
        attributes = parser.parse_optional_attr_dict()
        operands = [given[f.name] for f in spec.operand_fields if f.name in given]
        return cls.create(operands=operands, properties=properties, attributes=attributes)


_NAME_FIELD = Field("name", StringKind(required=False), -1)

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


def is_finite_number(value: int | float | None) -> bool:
    """True for a number that is neither infinite nor NaN."""
    return value is not None and math.isfinite(value)
