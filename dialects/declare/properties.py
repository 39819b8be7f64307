"""The kinds of properties: flags, numbers, words, operators, lists."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import VerificationContext
from xdsl.parser import Parser
from xdsl.printer import Printer

from nkijit.dialects.attributes import (
    OperatorAttr,
    WordAttr,
    float_from_bits,
    float_to_text,
    integer_attr,
    number_source,
    string_source,
    to_float32,
)
from nkijit.dialects.declare.kinds import PropertyKind, expect, f32, operator_word
from nkijit.dialects.operators import OPERATORS
from nkijit.dialects.python_values import as_float, as_index


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

    def source(self, value: bool) -> str:
        return repr(value)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        expect(attr, _is_integer(attr, i1), "a boolean")

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
        number = _as_int64(value)
        if number is None or not is_int32(number):
            raise self.reject(value)
        return integer_attr(number)

    def decode(self, attr: Attribute) -> int:
        return cast(IntegerAttr[IntegerType], attr).value.data

    def source(self, value: int) -> str:
        return repr(value)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        ok = _is_integer(attr, i64) and is_int32(self.decode(attr))
        expect(attr, ok, "a 64-bit integer that fits int32")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string(str(self.decode(attr)))

    def parse(self, parser: Parser) -> Attribute:
        pos = parser.pos
        number = parser.parse_integer(allow_boolean=False)
        if not is_int32(number):
            parser.raise_error(f"expected an int32, got {number}", pos)
        return integer_attr(number)


def is_int32(number: int) -> bool:
    """True for an integer in the range of int32."""
    return -(2**31) <= number < 2**31


def _as_int64(value: Any) -> int | None:
    number = as_index(value)
    return None if number is None or not -(2**63) <= number < 2**63 else number


@dataclass(frozen=True)
class NumberKind(PropertyKind):
    """A compile-time number: an int64, or a float that is rounded to float32."""

    @property
    def expected(self) -> str:
        return "a number"

    def encode(self, value: Any) -> Attribute:
        return encode_number(value, self)

    def decode(self, attr: Attribute) -> int | float:
        return decode_number(attr)

    def source(self, value: int | float) -> str:
        return number_source(value)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        ok = _is_integer(attr, i64) or _is_float32(attr)
        expect(attr, ok, "a 64-bit integer or a float32")

    def print(self, printer: Printer, attr: Attribute) -> None:
        value = self.decode(attr)
        printer.print_string(str(value) if isinstance(value, int) else float_to_text(value))

    def parse(self, parser: Parser) -> Attribute:
        return parse_number(parser)


def encode_number(value: Any, kind: PropertyKind) -> Attribute:
    """Return an IntegerAttr or a float32 FloatAttr for a Python or NumPy number.

    Raises ArgumentError for other values, and for integers beyond int64.
    """
    if isinstance(value, bool):
        return integer_attr(int(value))
    if (integer := _as_int64(value)) is not None:
        return integer_attr(integer)
    number = None if as_index(value) is not None else as_float(value)
    if number is None:
        raise kind.reject(value)
    return FloatAttr(to_float32(number), f32)


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
        return integer_attr(value)
    return FloatAttr(to_float32(value), f32)


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

    def source(self, value: str) -> str:
        return string_source(value)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        expect(attr, isinstance(attr, StringAttr), "a string")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string_literal(self.decode(attr))

    def parse(self, parser: Parser) -> Attribute:
        return StringAttr(parser.parse_str_literal())


@dataclass(frozen=True)
class WordKind(PropertyKind):
    """A member of one of the public enumerations, printed by its name only."""

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

    def source(self, value: Any) -> str:
        return f"nisa.{self.attr_class.ENUM.__name__}.{value.name}"

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        expect(attr, isinstance(attr, self.attr_class), f"an attribute #{self.attr_class.name}")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string(self.decode(attr).name)

    def parse(self, parser: Parser) -> Attribute:
        return self.attr_class.of(self.attr_class.parse_word(parser))


@dataclass(frozen=True)
class OperatorKind(PropertyKind):
    """An operator of `OPERATORS`: an ALU operator, an activation function, or bypass.

    Rules check which operators an instruction takes, so that IR with a wrong operator can be
    printed and reported.
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

    def source(self, value: str) -> str:
        return f"nl.{value}"

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        expect(attr, isinstance(attr, OperatorAttr), "an attribute #nisa.op")

    def print(self, printer: Printer, attr: Attribute) -> None:
        printer.print_string(self.decode(attr))

    def parse(self, parser: Parser) -> Attribute:
        return OperatorAttr.of(OperatorAttr.parse_word(parser))


@lru_cache(1 << 16)
def _integers(data: bytes) -> tuple[int, ...]:
    """Return the 64-bit integers in an array's bytes.

    Large kernels decode every address several times, and `get_values` of xDSL is ten times slower.
    """
    return struct.unpack(f"<{len(data) // 8}q", data)


@dataclass(frozen=True)
class IntegersKind(PropertyKind):
    """A tuple of integers; a single integer counts as a tuple of one."""

    @property
    def expected(self) -> str:
        return "an integer or a sequence of integers"

    def encode(self, value: Any) -> Attribute:
        if (single := _as_int64(value)) is not None:
            return DenseArrayBase.from_list(i64, [single])
        if not isinstance(value, (tuple, list)):
            raise self.reject(value)
        numbers = [_as_int64(item) for item in cast(Sequence[Any], value)]
        if any(number is None for number in numbers):
            raise self.reject(value)
        return DenseArrayBase.from_list(i64, cast(list[int], numbers))

    def decode(self, attr: Attribute) -> tuple[int, ...]:
        return _integers(cast(DenseArrayBase[IntegerType], attr).data.data)

    def source(self, value: tuple[int, ...]) -> str:
        return repr(value)

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        expect(attr, _is_array(attr), "an array of 64-bit integers")

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
            numbers = [_as_int64(item) for item in cast(Sequence[Any], pair)]
            if any(number is None for number in numbers):
                raise self.reject(value)
            pairs.append(DenseArrayBase.from_list(i64, cast(list[int], numbers)))
        return ArrayAttr(pairs)

    def decode(self, attr: Attribute) -> tuple[tuple[int, int], ...]:
        pairs = cast(ArrayAttr[DenseArrayBase[IntegerType]], attr)
        return tuple(cast(tuple[int, int], tuple(map(int, p.get_values()))) for p in pairs)

    def source(self, value: tuple[tuple[int, int], ...]) -> str:
        return repr([list(pair) for pair in value])

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        expect(attr, _is_pairs(attr), "an array of pairs of 64-bit integers")

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
    """A list of compile-time numbers, rounded to float32."""

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

    def source(self, value: tuple[float, ...]) -> str:
        return f"[{', '.join(map(number_source, value))}]"

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        numbers = cast(ArrayAttr[Attribute], attr) if isinstance(attr, ArrayAttr) else ()
        ok = isinstance(attr, ArrayAttr) and all(_is_float32(number) for number in numbers)
        expect(cast(Attribute, attr), ok, "an array of float32 numbers")

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

    def source(self, value: tuple[str, ...]) -> str:
        return f"[{', '.join(map(string_source, value))}]"

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        names = cast(ArrayAttr[Attribute], attr) if isinstance(attr, ArrayAttr) else ()
        ok = isinstance(attr, ArrayAttr) and all(isinstance(name, StringAttr) for name in names)
        expect(cast(Attribute, attr), ok, "an array of strings")

    def print(self, printer: Printer, attr: Attribute) -> None:
        with printer.in_square_brackets():
            printer.print_list(self.decode(attr), printer.print_string_literal)

    def parse(self, parser: Parser) -> Attribute:
        names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
        return self.encode(names)


@dataclass(frozen=True)
class GroupsKind(PropertyKind):
    """A list of lists of integers, or an object whose `groups` is such a list."""

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
            numbers = [_as_int64(item) for item in cast(Sequence[Any], row)]
            if any(number is None for number in numbers):
                raise self.reject(value)
            rows.append(DenseArrayBase.from_list(i64, cast(list[int], numbers)))
        return ArrayAttr(rows)

    def decode(self, attr: Attribute) -> tuple[tuple[int, ...], ...]:
        rows = cast(ArrayAttr[DenseArrayBase[IntegerType]], attr)
        return tuple(tuple(int(number) for number in row.get_values()) for row in rows)

    def source(self, value: tuple[tuple[int, ...], ...]) -> str:
        return f"ncc.ReplicaGroup({[list(row) for row in value]})"

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        rows = cast(ArrayAttr[Attribute], attr) if isinstance(attr, ArrayAttr) else ()
        ok = isinstance(attr, ArrayAttr) and all(_is_array(row) for row in rows)
        expect(cast(Attribute, attr), ok, "an array of arrays of 64-bit integers")

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
