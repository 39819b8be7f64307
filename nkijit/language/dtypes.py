"""Data types as kernels name them: strings, as in the public API (`nl.float32 == "float32"`)."""

from __future__ import annotations

from nkijit.dialects.dtypes import DTYPES

DType = str
"""The type of data types."""

bool_ = "bool_"
int8 = "int8"
int16 = "int16"
int32 = "int32"
uint8 = "uint8"
uint16 = "uint16"
uint32 = "uint32"
float16 = "float16"
float32 = "float32"
bfloat16 = "bfloat16"
tfloat32 = "tfloat32"
float8_e4m3 = "float8_e4m3"
float8_e4m3fn = "float8_e4m3fn"
float8_e5m2 = "float8_e5m2"
float8_e8m0fnu = "float8_e8m0fnu"
float8_e5m2_x4 = "float8_e5m2_x4"
float8_e4m3fn_x4 = "float8_e4m3fn_x4"
float4_e2m1fn_x4 = "float4_e2m1fn_x4"

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
