"""Data types as kernels name them: strings, as in the public API (`nl.float32 == "float32"`)."""

from __future__ import annotations

from typing import Any

from nkijit.dialects.dtypes import DTYPES, DType

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


def as_dtype(value: Any) -> DType:
    """The data type that `value` names.

    Accepts NKI's names and the types of NumPy, ml_dtypes, PyTorch and JAX of the same name
    (`np.float32`, `ml_dtypes.bfloat16`, `torch.bfloat16`). Raises ValueError otherwise.
    """
    if isinstance(value, str):
        name = value
    elif isinstance(value, type):
        name = value.__name__
    else:
        name = getattr(value, "name", None) or str(value)
    name = str(name).rpartition(".")[2]
    dtype = DTYPES.get("bool_" if name == "bool" else name)
    if dtype is None:
        raise ValueError(f"unknown data type {value!r}; known: {', '.join(DTYPES)}")
    return dtype

__all__ = [
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
