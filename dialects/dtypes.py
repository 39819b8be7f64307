"""Data types of NKI: one table, from the public name to the type in the IR.

Source: table "Supported Data Types by NKI" of the public API reference (nki.api.shared).
NumPy storage is attached by the interpreter under the same names.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

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
    """How an engine treats a data type."""

    boolean = "boolean"
    integer = "integer"
    float = "float"
    packed = "packed"
    """Only copied and used by MX instructions; engines do not convert it."""


@dataclass(frozen=True, slots=True)
class DType:
    """One data type: its public name, its type in the IR, its size in memory."""

    name: str
    type: Attribute
    bits: int
    kind: Kind
    signed: bool = True

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.bits // 8

    @property
    def is_integer(self) -> bool:
        """True for the integers; a boolean is stored as uint8 but is not one of them."""
        return self.kind is Kind.integer


def _integer(bits: int, *, signed: bool) -> Attribute:
    # int32 is the signless `i32` of MLIR, as in upstream dialects; unsigned types say so.
    return IntegerType(bits, Signedness.SIGNLESS if signed else Signedness.UNSIGNED)


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
    DType("float16", Float16Type(), 16, Kind.float),
    DType("float32", Float32Type(), 32, Kind.float),
    DType("bfloat16", BFloat16Type(), 16, Kind.float),
    DType("tfloat32", FloatTF32Type(), 32, Kind.float),
    DType("float8_e4m3", Float8E4M3Type(), 8, Kind.float),
    DType("float8_e4m3fn", Float8E4M3FNType(), 8, Kind.float),
    DType("float8_e5m2", Float8E5M2Type(), 8, Kind.float),
    DType("float8_e8m0fnu", Float8E8M0FNUType(), 8, Kind.float, signed=False),
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
