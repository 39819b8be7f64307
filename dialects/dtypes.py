"""Data types of NKI: a table that maps each public name to the type in the IR.

Source: table "Supported Data Types by NKI" of the public API reference (nki.api.shared).
NumPy storage is attached by the interpreter under the same names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E4M3Type,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    FloatTF32Type,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition


@irdl_attr_definition
class Float8E5M2x4Type(ParametrizedAttribute, TypeAttribute):
    """Four packed float8_e5m2 elements, the MX operand type of NeuronCore-v4."""

    name = "nki.f8E5M2x4"


@irdl_attr_definition
class Float8E4M3FNx4Type(ParametrizedAttribute, TypeAttribute):
    """Four packed float8_e4m3fn elements, the MX operand type of NeuronCore-v4."""

    name = "nki.f8E4M3FNx4"


@irdl_attr_definition
class Float4E2M1FNx4Type(ParametrizedAttribute, TypeAttribute):
    """Four packed float4_e2m1fn elements, the MX operand type of NeuronCore-v4."""

    name = "nki.f4E2M1FNx4"


class Kind(Enum):
    """How engines process the elements of a data type."""

    boolean = "boolean"
    integer = "integer"
    float = "float"
    packed = "packed"
    """Several numbers in one element, which MX instructions read and other instructions copy."""


_FLOAT32_DIGITS = 24
"""The bits of float32's significand."""


@dataclass(frozen=True, slots=True)
class DType:
    """A data type: public name, type in the IR, size in memory and range of values."""

    name: str
    type: Attribute
    bits: int
    kind: Kind
    signed: bool = True
    largest: float = math.inf
    """The largest finite number of a float type; infinite for other types."""
    digits: int = 0
    """The bits of a float type's significand: integers up to `2**digits` are exact; else 0."""
    beyond: float = math.inf
    """The smallest number that is out of range of a float type: it does not round to `largest`."""
    smallest: float = 0.0
    """The smallest positive number of a float type."""
    infinite: bool = True
    """True when a float type can represent infinities."""

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.bits // 8

    @property
    def is_integer(self) -> bool:
        """True for the integer types; a boolean is stored as uint8 but is not an integer."""
        return self.kind is Kind.integer

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest finite number; infinite for booleans and packed types."""
        if self.is_integer:
            return (-(2 ** (self.bits - 1)) if self.signed else 0), 2 ** (
                self.bits - self.signed
            ) - 1
        return (-self.largest if self.signed else 0.0), self.largest

    def contains(self, other: DType) -> bool:
        """Return whether every value of another type, read as float32, is a value of this type."""
        if Kind.packed in (self.kind, other.kind):
            return self is other
        if other.is_integer and other.bits > _FLOAT32_DIGITS:
            return False  # as float32, it may have been rounded
        if self.kind is Kind.float:
            if other.kind is Kind.float:
                return (
                    other.digits <= self.digits
                    and other.largest <= self.largest
                    and other.smallest >= self.smallest
                    and (self.infinite or not other.infinite)
                )
            digits = 1 if other.kind is Kind.boolean else other.bits - other.signed
            return digits <= self.digits and 2.0**digits <= self.largest
        if other.kind is Kind.float:
            return False
        least, largest = (0, 1) if other.kind is Kind.boolean else other.ends
        return self.is_integer and self.ends[0] <= least and largest <= self.ends[1]

    def cannot_hold(self, number: float) -> str | None:
        """Return the reason why the data type cannot store a number; None if it can.

        A data type cannot store a number that is out of range, or that is rounded to 0.
        """
        if self.kind not in (Kind.integer, Kind.float):
            return None
        least, largest = self.ends
        if math.isnan(number):
            return "an integer type has no NaN" if self.is_integer else None
        if math.isinf(number) and not self.is_integer and self.infinite:
            return None
        high = largest + 0.5 if self.is_integer else self.beyond
        low = -high if self.signed and not self.is_integer else least - 0.5
        if not low < number < high:
            return f"the type holds {least!r} to {largest!r}"
        if 0 < abs(number) <= self.smallest / 2:
            return f"the type's smallest number above 0 is {self.smallest!r}"
        return None


def _integer(bits: int, *, signed: bool) -> Attribute:
    # int32 is the signless `i32` of MLIR, as in upstream dialects.
    return IntegerType(bits, Signedness.SIGNLESS if signed else Signedness.UNSIGNED)


def _float(name: str, type: Attribute, bits: int, form: tuple[int, int], **special: Any) -> DType:
    """Return a float type with the range that IEEE 754 derives from `form`.

    `form` is (bits of the significand, exponent of the largest numbers). `special` overrides fields
    of `DType`.
    """
    digits, exponent = form
    largest = (2 - 2.0 ** (1 - digits)) * 2.0**exponent
    beyond = largest + 2.0 ** (exponent - digits)
    smallest = 2.0 ** (2 - exponent - digits)
    derived: dict[str, Any] = {"largest": largest, "beyond": beyond, "smallest": smallest}
    return DType(name, type, bits, Kind.float, digits=digits, **{**derived, **special})


_ALL = (
    DType("bool_", IntegerType(1), 8, Kind.boolean, signed=False),
    *(
        DType(
            f"{'' if signed else 'u'}int{bits}", _integer(bits, signed=signed), bits, kind, signed
        )
        for kind in (Kind.integer,)
        for signed in (True, False)
        for bits in (8, 16, 32)
    ),
    _float("float16", Float16Type(), 16, (11, 15)),
    _float("float32", Float32Type(), 32, (24, 127)),
    _float("bfloat16", BFloat16Type(), 16, (8, 127)),
    _float("tfloat32", FloatTF32Type(), 32, (11, 127)),
    _float("float8_e4m3", Float8E4M3Type(), 8, (4, 7)),
    # IEEE's exponent of infinities encodes numbers; only the largest significand is NaN.
    _float(
        "float8_e4m3fn", Float8E4M3FNType(), 8, (4, 7), largest=448.0, beyond=464.0, infinite=False
    ),
    _float("float8_e5m2", Float8E5M2Type(), 8, (3, 15)),
    _float(
        "float8_e8m0fnu",
        Float8E8M0FNUType(),
        8,
        (1, 127),
        signed=False,
        smallest=2.0**-127,
        infinite=False,
    ),
    DType("float8_e5m2_x4", Float8E5M2x4Type(), 32, Kind.packed),
    DType("float8_e4m3fn_x4", Float8E4M3FNx4Type(), 32, Kind.packed),
    DType("float4_e2m1fn_x4", Float4E2M1FNx4Type(), 16, Kind.packed),
)

DTYPES: dict[str, DType] = {dtype.name: dtype for dtype in _ALL}
"""Every data type by its public name (`nl.float32` is `"float32"`)."""

_BY_TYPE: dict[Attribute, DType] = {dtype.type: dtype for dtype in _ALL}


def dtype_of_type(element_type: Attribute) -> DType | None:
    """The data type whose IR type is `element_type`, or None when NKI has none."""
    return _BY_TYPE.get(element_type)
