"""Data types as kernels name them: strings, as in the public API (`nl.float32 == "float32"`)."""

from __future__ import annotations

from nkijit.dialects.dtypes import DTYPES

DType = str
"""The Python type of data types."""

bool_ = "bool_"
"""True or false, a byte."""
int8 = "int8"
"""Whole numbers from -128 to 127."""
int16 = "int16"
"""Whole numbers of 16 bits with a sign."""
int32 = "int32"
"""Whole numbers of 32 bits with a sign."""
uint8 = "uint8"
"""Whole numbers from 0 to 255."""
uint16 = "uint16"
"""Whole numbers from 0 to 65535."""
uint32 = "uint32"
"""Whole numbers of 32 bits without a sign."""
float16 = "float16"
"""IEEE 754 half precision: 5 bits of exponent, 10 of mantissa; up to 65504."""
float32 = "float32"
"""IEEE 754 single precision: 8 bits of exponent, 23 of mantissa; engines compute in it."""
bfloat16 = "bfloat16"
"""The range of float32 with 7 bits of mantissa; 2 bytes."""
tfloat32 = "tfloat32"
"""float32 with 10 bits of mantissa; 4 bytes."""
float8_e4m3 = "float8_e4m3"
"""4 bits of exponent, 3 of mantissa, with infinities; up to 240."""
float8_e4m3fn = "float8_e4m3fn"
"""4 bits of exponent, 3 of mantissa, finite numbers and NaN only; up to 448."""
float8_e5m2 = "float8_e5m2"
"""5 bits of exponent, 2 of mantissa, with infinities; up to 57344."""
float8_e8m0fnu = "float8_e8m0fnu"
"""Powers of two from 2**-127 to 2**127 and NaN: scales of MX formats."""
float8_e5m2_x4 = "float8_e5m2_x4"
"""Four float8_e5m2 in 4 bytes: operands of MX instructions."""
float8_e4m3fn_x4 = "float8_e4m3fn_x4"
"""Four float8_e4m3fn in 4 bytes: operands of MX instructions."""
float4_e2m1fn_x4 = "float4_e2m1fn_x4"
"""Four numbers of 4 bits in 2 bytes: operands of MX instructions."""

DATA_TYPES: tuple[str, ...] = tuple(DTYPES)
"""The public names of all data types."""


__all__ = [
    "DType",
    "bfloat16",
    "bool_",
    "float16",
    "float32",
    "float4_e2m1fn_x4",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e4m3fn_x4",
    "float8_e5m2",
    "float8_e5m2_x4",
    "float8_e8m0fnu",
    "int16",
    "int32",
    "int8",
    "tfloat32",
    "uint16",
    "uint32",
    "uint8",
]
