"""Attributes of the dialects: memory spaces and members of the public enumerations."""

from __future__ import annotations

import math
import struct
from enum import Enum
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar, cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from nkijit.dialects.access import Indirection
from nkijit.dialects.hardware.words import (
    MemoryRegion,
    dge_mode,
    dma_engine,
    engine,
    matmul_perf_mode,
    oob_mode,
    reduce_cmd,
)
from nkijit.dialects.operators import OPERATORS


class MemorySpaceAttr(ParametrizedAttribute):
    """Base of the memory spaces of a `memref`."""

    REGION: ClassVar[MemoryRegion]


@irdl_attr_definition
class SbufAttr(MemorySpaceAttr):
    """State buffer: on-chip, dim 0 is the partition dimension."""

    name = "nki.sbuf"
    REGION = MemoryRegion.sbuf


@irdl_attr_definition
class PsumAttr(MemorySpaceAttr):
    """Partial sum buffer: on-chip, written by the Tensor Engine."""

    name = "nki.psum"
    REGION = MemoryRegion.psum


@irdl_attr_definition
class PrivateHbmAttr(MemorySpaceAttr):
    """Device memory that one kernel instance sees (`nl.hbm`)."""

    name = "nki.private_hbm"
    REGION = MemoryRegion.private_hbm


@irdl_attr_definition
class SharedHbmAttr(MemorySpaceAttr):
    """Device memory that all kernel instances see."""

    name = "nki.shared_hbm"
    REGION = MemoryRegion.shared_hbm


MEMORY_SPACES: dict[MemoryRegion, MemorySpaceAttr] = {
    attr.REGION: attr for attr in (SbufAttr(), PsumAttr(), PrivateHbmAttr(), SharedHbmAttr())
}

_E = TypeVar("_E", bound=Enum)


class WordAttr(Data[_E], Generic[_E]):
    """A member of a public enumeration: `#nisa.engine<scalar>`, or only its name (pretty form)."""

    ENUM: ClassVar[type[Enum]]
    INTERNED: ClassVar[dict[Enum, WordAttr[Any]]]

    @classmethod
    def of(cls, member: Enum) -> WordAttr[_E]:
        """Return the attribute for `member`, the same object each time."""
        return cls.INTERNED[member]

    @classmethod
    def parse_word(cls, parser: AttrParser) -> _E:
        """Parse a member's name."""
        pos = parser.pos
        name = parser.parse_identifier(f" (a member of {cls.ENUM.__name__})")
        member = cls.ENUM.__members__.get(name)
        if member is None:
            known = ", ".join(cls.ENUM.__members__)
            parser.raise_error(f"unknown {cls.ENUM.__name__} '{name}'; known: {known}", pos)
        return cast(_E, member)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> _E:
        with parser.in_angle_brackets():
            return cls.parse_word(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.name)


def _interned(cls: type[WordAttr[Any]]) -> None:
    cls.INTERNED = {member: cls(member) for member in cls.ENUM}


@irdl_attr_definition
class EngineAttr(WordAttr[engine]):
    name = "nisa.engine"
    ENUM = engine


@irdl_attr_definition
class ReduceCmdAttr(WordAttr[reduce_cmd]):
    name = "nisa.reduce_cmd"
    ENUM = reduce_cmd


@irdl_attr_definition
class DgeModeAttr(WordAttr[dge_mode]):
    name = "nisa.dge_mode"
    ENUM = dge_mode


@irdl_attr_definition
class OobModeAttr(WordAttr[oob_mode]):
    name = "nisa.oob_mode"
    ENUM = oob_mode


@irdl_attr_definition
class MatmulPerfModeAttr(WordAttr[matmul_perf_mode]):
    name = "nisa.matmul_perf_mode"
    ENUM = matmul_perf_mode


@irdl_attr_definition
class DmaEngineAttr(WordAttr[dma_engine]):
    name = "nisa.dma_engine"
    ENUM = dma_engine


@irdl_attr_definition
class IndirectionAttr(WordAttr[Indirection]):
    name = "nki.indirection"
    ENUM = Indirection


for _cls in (
    EngineAttr,
    ReduceCmdAttr,
    DgeModeAttr,
    OobModeAttr,
    MatmulPerfModeAttr,
    DmaEngineAttr,
    IndirectionAttr,
):
    _interned(_cls)


@irdl_attr_definition
class OperatorAttr(Data[str]):
    """The name of an operator in `dialects.operators`: `#nisa.op<gelu>`."""

    name = "nisa.op"

    @staticmethod
    def of(name: str) -> OperatorAttr:
        """Return the attribute for the operator `name`, the same object each time."""
        return _OPERATOR_ATTRS[name]

    @classmethod
    def parse_word(cls, parser: AttrParser) -> str:
        """Parse an operator's name."""
        pos = parser.pos
        name = parser.parse_identifier(" (an operator)")
        if name not in OPERATORS:
            parser.raise_error(f"unknown operator '{name}'; known: {', '.join(OPERATORS)}", pos)
        return name

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return cls.parse_word(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)


_OPERATOR_ATTRS: dict[str, OperatorAttr] = {name: OperatorAttr(name) for name in OPERATORS}

WORD_ATTRIBUTES: tuple[type[Attribute], ...] = (
    EngineAttr,
    ReduceCmdAttr,
    DgeModeAttr,
    OobModeAttr,
    MatmulPerfModeAttr,
    DmaEngineAttr,
    OperatorAttr,
)


_T = TypeVar("_T")


def variant(value: _T, /, **changes: Any) -> _T:
    """Return a copy of a frozen value with changed numbers, without its constructor's checks.

    xDSL verifies every new attribute. For attributes that differ only in a number, verifying the
    first is enough. The caller ensures that the numbers are in range.
    """
    made = object.__new__(type(value))
    made.__dict__.update(value.__dict__)
    made.__dict__.update(changes)
    return made


_ZERO = IntegerAttr(0, i64)


@lru_cache(maxsize=65536)
def integer_attr(number: int) -> IntegerAttr[IntegerType]:
    """Return the attribute of a 64-bit integer."""
    if not -(2**63) <= number < 2**63:
        return IntegerAttr(number, i64)  # raises xDSL's error
    return variant(_ZERO, value=variant(_ZERO.value, data=number))


def float_from_bits(bits: int) -> float:
    """Return the float32 with these bits."""
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def to_float32(value: float) -> float:
    """Return the nearest float32; numbers beyond its range become infinite."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


_LARGEST = float_from_bits(0x7F7F_FFFF)
"""The largest float32."""


def float_to_text(value: float) -> str:
    """Return a float32 as text that parses back exactly: the shortest decimal, or bits.

    Infinities and NaN are written as bits: `0x7F800000`.
    """
    packed = struct.pack("<f", value)
    if not math.isfinite(value):
        return f"0x{struct.unpack('<I', packed)[0]:08X}"
    text = f"{value:.9g}"
    for digits in range(1, 9):
        shorter = f"{value:.{digits}g}"
        # Near the largest float32, few digits may round to a number beyond its range.
        if abs(float(shorter)) <= _LARGEST and struct.pack("<f", float(shorter)) == packed:
            text = shorter
            break
    mantissa, e, exponent = text.partition("e")
    # MLIR's lexer requires a point in every float literal.
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


def number_source(value: int | float) -> str:
    """Return a number as Python source: an integer, or the shortest decimal of this float32.

    Infinities and NaN become calls of `float`; of a NaN only the sign is preserved.

    Example: `number_source(to_float32(0.1))` is `0.1`.
    """
    if isinstance(value, int):
        return str(value)
    if math.isfinite(value):
        return repr(float(float_to_text(value))).replace("e+", "e")
    sign = "-" if math.copysign(1, value) < 0 else ""
    return f'float("{sign}{"inf" if math.isinf(value) else "nan"}")'


def string_source(text: str) -> str:
    """Return a string as Python source: in double quotes, or single ones if that saves escapes.

    Unprintable characters are escaped, so the result is one line.
    """
    quote = "'" if text.count('"') > text.count("'") else '"'
    shown = "".join(
        f"\\{c}" if c in ("\\", quote) else c if c.isprintable() else repr(c)[1:-1] for c in text
    )
    return f"{quote}{shown}{quote}"
