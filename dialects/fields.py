"""Fields of an instruction: what an argument may be, as Python value, attribute and text.

A field's kind is an xDSL constraint, so that one object says what is well formed, encodes the
author's value, and prints and parses the textual form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast

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
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    VerificationContext,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import (
    MemorySpaceAttr,
    OperatorAttr,
    WordAttr,
    float_from_bits,
    float_to_text,
    to_float32,
)
from nkijit.dialects.dtypes import dtype_of_type
from nkijit.dialects.operators import NUMPY_NAMES, OPERATORS
from nkijit.dialects.registers import RegisterType

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
    accepts_tile: bool = True
    accepts_register: bool = False
    variadic: bool = False
    """Any number of tiles, given as a list."""
    indirections: tuple[Indirection, ...] = ()
    """Addresses known at run time only that are documented for this operand, besides scalar ones,
    which every tile may have."""
    partial: bool = False
    """The instruction may leave elements of the tile alone: which ones it touches follows from
    its arguments or from data."""
    inside_quadrants: bool = False
    """It may start inside a quadrant, at the partitions that the instruction names."""
    any_order: bool = False
    """Its elements are read in another order than the results are written."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if isinstance(attr, MemRefType) and self.accepts_tile:
            space = cast(MemRefType[Attribute], attr).memory_space
            if not isinstance(space, MemorySpaceAttr):
                raise VerifyException(f"expected a memory space of NKI, got {attr}")
            if dtype_of_type(cast(MemRefType[Attribute], attr).element_type) is None:
                raise VerifyException(f"expected an element type of NKI, got {attr}")
            return
        if self.accepts_register:
            # An i32 is a number or an induction variable, which nobody writes.
            if isinstance(attr, RegisterType) or (attr == i32 and self.role is Role.read):
                return
        elif self.accepts_scalar and attr in (f32, i32, i64):
            return
        numbers = ["i32"] if self.accepts_register else ["f32", "i32", "i64"]
        expected = [
            *(["a memref"] if self.accepts_tile else []),
            *(numbers if self.accepts_scalar else []),
            *(["a register"] if self.accepts_register else []),
        ]
        raise VerifyException(f"expected {_either(expected)}, got {attr}")

    def mapping_type_vars(self, type_var_mapping: Any) -> AttrConstraint:
        return self

    @property
    def expected(self) -> str:
        """What the API accepts, in words."""
        if self.variadic:
            return "a list of tiles"
        number = "an int32" if self.accepts_register else "a number"
        accepted = [
            *(["a tile"] if self.accepts_tile else []),
            *([number] if self.accepts_scalar else []),
            *(["a register"] if self.accepts_register else []),
        ]
        return _either(accepted)


def _either(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


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


def _is_integer(attr: Attribute, integer_type: IntegerType) -> bool:
    if not isinstance(attr, IntegerAttr):
        return False
    return cast(IntegerAttr[IntegerType], attr).type == integer_type


def _is_float32(attr: Attribute) -> bool:
    return isinstance(attr, FloatAttr) and cast(FloatAttr[Float32Type], attr).type == f32


def _is_array(attr: Attribute) -> bool:
    if not isinstance(attr, DenseArrayBase):
        return False
    return cast(DenseArrayBase[IntegerType], attr).elt_type == i64


def _is_pairs(attr: Attribute) -> bool:
    if not isinstance(attr, ArrayAttr):
        return False
    return all(
        _is_array(pair) and len(cast(DenseArrayBase[IntegerType], pair).get_values()) == 2
        for pair in cast(ArrayAttr[Attribute], attr)
    )


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
        _check(attr, _is_integer(attr, i1), "a boolean")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string("true" if self.decode(attr) else "false")

    def parse(self, parser: Parser) -> Attribute:
        return _TRUE if parser.parse_boolean() else _FALSE


@dataclass(frozen=True)
class IntegerKind(PropertyKind):
    """A compile-time integer that fits int32."""

    @property
    def expected(self) -> str:
        return "an int32"

    def encode(self, value: Any) -> Attribute:
        number = _as_index(value)
        if number is None or not is_int32(number):
            raise self.reject(value)
        return IntegerAttr(number, i64)

    def decode(self, attr: Attribute) -> int:
        return cast(IntegerAttr[IntegerType], attr).value.data

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        ok = _is_integer(attr, i64) and is_int32(self.decode(attr))
        _check(attr, ok, "a 64-bit integer that fits int32")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string(str(self.decode(attr)))

    def parse(self, parser: Parser) -> Attribute:
        pos = parser.pos
        number = parser.parse_integer(allow_boolean=False)
        if not is_int32(number):
            parser.raise_error(f"expected an int32, got {number}", pos)
        return IntegerAttr(number, i64)


def is_int32(number: int) -> bool:
    """True for an integer that 32 bits hold, with a sign."""
    return -(2**31) <= number < 2**31


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
        ok = _is_integer(attr, i64) or _is_float32(attr)
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
        return FloatAttr(to_float32(float(value)), f32)
    if hasattr(value, "__float__") and getattr(value, "shape", None) == ():
        return FloatAttr(to_float32(float(value)), f32)
    raise kind.reject(value)


def decode_number(attr: Attribute) -> int | float:
    """The number in an IntegerAttr or a FloatAttr."""
    if isinstance(attr, FloatAttr):
        return attr.value.data
    return cast(IntegerAttr[IntegerType], attr).value.data


def parse_number(parser: Parser) -> Attribute:
    """Parse an integer, a decimal float, or the bits of a float32 (`0x7F800000`)."""
    text = parser._current_token.text  # pyright: ignore[reportPrivateUsage]
    value = parser.parse_number()
    if isinstance(value, int) and text[:2] in ("0x", "0X"):
        return FloatAttr(float_from_bits(value), f32)
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    return FloatAttr(to_float32(value), f32)


def parse_defined_operand(parser: Parser) -> SSAValue:
    """Parse `%name` of a value that is defined above; its type need not be repeated."""
    operand = parser.parse_unresolved_operand()
    values = parser.ssa_values.get(operand.operand_name)
    if values is None or operand.index >= len(values):
        parser.raise_error(f"%{operand.operand_name} is not defined above", operand.span)
    return values[operand.index]


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


def operator_word(value: Any) -> str | None:
    """The word that an operator of nki.language, or a function of NumPy, stands for."""
    name = getattr(value, "nki_operator", None)
    if name is None and _is_numpy_function(value):
        name = NUMPY_NAMES.get(value.__name__, value.__name__)
    return name


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
        name = operator_word(value)
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
        _check(attr, _is_array(attr), "an array of 64-bit integers")

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
        _check(attr, _is_pairs(attr), "an array of pairs of 64-bit integers")

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


@dataclass(frozen=True)
class NumbersKind(PropertyKind):
    """A list of compile-time numbers, kept as float32."""

    @property
    def expected(self) -> str:
        return "a list of numbers"

    def encode(self, value: Any) -> Attribute:
        if not isinstance(value, (tuple, list)):
            raise self.reject(value)
        numbers = [decode_number(encode_number(v, self)) for v in cast(Sequence[Any], value)]
        return ArrayAttr([FloatAttr(to_float32(float(number)), f32) for number in numbers])

    def decode(self, attr: Attribute) -> tuple[float, ...]:
        return tuple(number.value.data for number in cast(ArrayAttr[FloatAttr[Any]], attr))

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        numbers = cast(ArrayAttr[Attribute], attr) if isinstance(attr, ArrayAttr) else ()
        ok = isinstance(attr, ArrayAttr) and all(_is_float32(number) for number in numbers)
        _check(cast(Attribute, attr), ok, "an array of float32 numbers")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string(f"[{', '.join(map(float_to_text, self.decode(attr)))}]")

    def parse(self, parser: Parser) -> Attribute:
        numbers = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: decode_number(parse_number(parser))
        )
        return self.encode(numbers)


@dataclass(frozen=True)
class NamesKind(PropertyKind):
    """A list of names."""

    @property
    def expected(self) -> str:
        return "a list of names"

    def encode(self, value: Any) -> Attribute:
        return ArrayAttr([StringAttr(name) for name in value])

    def decode(self, attr: Attribute) -> tuple[str, ...]:
        return tuple(name.data for name in cast(ArrayAttr[StringAttr], attr))

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        names = cast(ArrayAttr[Attribute], attr) if isinstance(attr, ArrayAttr) else ()
        ok = isinstance(attr, ArrayAttr) and all(isinstance(name, StringAttr) for name in names)
        _check(cast(Attribute, attr), ok, "an array of strings")

    def print(self, printer: Printer, attr: Attribute) -> None:
        with printer.in_square_brackets():
            printer.print_list(self.decode(attr), printer.print_string_literal)

    def parse(self, parser: Parser) -> Attribute:
        names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
        return self.encode(names)


@dataclass(frozen=True)
class GroupsKind(PropertyKind):
    """A list of lists of integers; an object with `groups` counts as them."""

    @property
    def expected(self) -> str:
        return "a ReplicaGroup, or a list of lists of ranks"

    def encode(self, value: Any) -> Attribute:
        given = getattr(value, "groups", value)
        if not isinstance(given, (tuple, list)):
            raise self.reject(value)
        rows: list[Attribute] = []
        for row in cast(Sequence[Any], given):
            if not isinstance(row, (tuple, list)):
                raise self.reject(value)
            numbers = [_as_index(item) for item in cast(Sequence[Any], row)]
            if any(number is None for number in numbers):
                raise self.reject(value)
            rows.append(DenseArrayBase.from_list(i64, cast(list[int], numbers)))
        return ArrayAttr(rows)

    def decode(self, attr: Attribute) -> tuple[tuple[int, ...], ...]:
        rows = cast(ArrayAttr[DenseArrayBase[IntegerType]], attr)
        return tuple(tuple(int(number) for number in row.get_values()) for row in rows)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        rows = cast(ArrayAttr[Attribute], attr) if isinstance(attr, ArrayAttr) else ()
        ok = isinstance(attr, ArrayAttr) and all(_is_array(row) for row in rows)
        _check(cast(Attribute, attr), ok, "an array of arrays of 64-bit integers")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string(str([list(row) for row in self.decode(attr)]))

    def parse(self, parser: Parser) -> Attribute:
        square = parser.Delimiter.SQUARE

        def parse_row() -> Attribute:
            numbers = parser.parse_comma_separated_list(
                square, lambda: parser.parse_integer(allow_boolean=False)
            )
            return DenseArrayBase.from_list(i64, numbers)

        return ArrayAttr(parser.parse_comma_separated_list(square, parse_row))


# The functions below are what an op class is written with. Their return types are those of
# xDSL's own field definitions, so that `op.data` is an SSAValue to a type checker.


def written(*indirections: Indirection) -> SSAValue:
    """A tile that the instruction writes."""
    return operand_def(OperandKind(Role.write, indirections=indirections))


def updated(
    *indirections: Indirection, partial: bool = False, inside_quadrants: bool = False
) -> SSAValue:
    """A tile that the instruction writes on top of: it adds to it, or, `partial`, writes a part."""
    kind = OperandKind(
        Role.update,
        indirections=indirections,
        partial=partial,
        inside_quadrants=inside_quadrants,
    )
    return operand_def(kind)


def opt_written() -> SSAValue | None:
    """A tile that the instruction writes when it is given."""
    return opt_operand_def(OperandKind(Role.write, required=False))


def tile(
    *indirections: Indirection,
    partial: bool = False,
    inside_quadrants: bool = False,
    any_order: bool = False,
) -> SSAValue:
    """A tile that the instruction reads; `partial`: maybe only some of its elements."""
    kind = OperandKind(
        Role.read,
        indirections=indirections,
        partial=partial,
        inside_quadrants=inside_quadrants,
        any_order=any_order,
    )
    return operand_def(kind)


def tiles(*indirections: Indirection, partial: bool = False) -> Sequence[SSAValue]:
    """A list of tiles that the instruction reads; `partial`: maybe only some of their elements."""
    kind = OperandKind(Role.read, variadic=True, indirections=indirections, partial=partial)
    return var_operand_def(kind)


def written_tiles(*, partial: bool = False) -> Sequence[SSAValue]:
    """A list of tiles that the instruction writes; `partial`: maybe only some of their elements."""
    return var_operand_def(OperandKind(Role.write, variadic=True, partial=partial))


def written_register() -> SSAValue:
    """A register that the instruction writes."""
    return operand_def(OperandKind(Role.write, accepts_tile=False, accepts_register=True))


def register() -> SSAValue:
    """A register that the instruction reads."""
    return operand_def(OperandKind(Role.read, accepts_tile=False, accepts_register=True))


def integer_or_register(default: int | None = None) -> Any:
    """An integer or a register; it may be left out where it has a default."""
    kind = OperandKind(
        Role.read,
        accepts_scalar=True,
        required=default is None,
        default=default,
        accepts_tile=False,
        accepts_register=True,
    )
    return operand_def(kind) if default is None else opt_operand_def(kind)


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


def opt_operator(default: str | None = None) -> Attribute | None:
    """An operator that may be left out."""
    return opt_prop_def(OperatorKind(required=False, default=default))


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


def required_integer() -> Attribute:
    """A compile-time integer without a default."""
    return prop_def(IntegerKind())


def groups() -> Attribute:
    """Groups of ranks."""
    return prop_def(GroupsKind())


def opt_integer() -> Attribute | None:
    """A compile-time integer that may be left out."""
    return opt_prop_def(IntegerKind(required=False))


def number() -> Attribute:
    """A compile-time number."""
    return prop_def(NumberKind())


def opt_number(default: float) -> Attribute | None:
    """A compile-time number that may be left out."""
    return opt_prop_def(NumberKind(required=False, default=default))


def opt_numbers() -> Attribute | None:
    """A list of numbers that may be left out."""
    return opt_prop_def(NumbersKind(required=False))


def integers() -> Attribute:
    """One or more integers."""
    return prop_def(IntegersKind())


def opt_integers(default: tuple[int, ...] | None = ()) -> Attribute | None:
    """A tuple of integers, empty or None by default."""
    return opt_prop_def(IntegersKind(required=False, default=default))


def pairs() -> Attribute:
    """A list of [step, count] pairs."""
    return prop_def(PairsKind())
