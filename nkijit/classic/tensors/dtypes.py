"""Data types as classic kernels name them: the types of NumPy and of ml_dtypes.

Source: NKI API reference 2.26, nki.language data types and nki.api.shared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nkijit.passes.numerics.storage import STORAGE

float32 = np.float32
float16 = np.float16
bfloat16 = STORAGE["bfloat16"]
float8_e4m3 = STORAGE["float8_e4m3"]
float8_e5m2 = STORAGE["float8_e5m2"]
tfloat32 = "tfloat32"
int32 = np.int32
int16 = np.int16
int8 = np.int8
uint32 = np.uint32
uint16 = np.uint16
uint8 = np.uint8
bool_ = np.bool_

_NUMPY = {name: dtype for name, dtype in STORAGE.items() if dtype.name == name}
"""NKI data types that NumPy or ml_dtypes has, by name; other types are stored as one of these."""
_NUMPY["bool_"] = np.dtype(np.bool_)


def as_numpy(name: str) -> Any:
    """Return the NumPy data type of an NKI data type; the type's name if NumPy does not have it."""
    return _NUMPY.get(name, name)


__all__ = [
    "bfloat16",
    "bool_",
    "float16",
    "float32",
    "float8_e4m3",
    "float8_e5m2",
    "int16",
    "int32",
    "int8",
    "tfloat32",
    "uint16",
    "uint32",
    "uint8",
]
