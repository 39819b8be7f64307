"""Data types as classic kernels name them: NumPy's own, and those of ml_dtypes.

Source: NKI API reference 2.26, nki.language data types and nki.api.shared.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from nkijit.dialects.dtypes import DTYPES

float32 = np.float32
float16 = np.float16
bfloat16 = np.dtype(ml_dtypes.bfloat16)
float8_e4m3 = np.dtype(ml_dtypes.float8_e4m3)
float8_e5m2 = np.dtype(ml_dtypes.float8_e5m2)
tfloat32 = "tfloat32"
int32 = np.int32
int16 = np.int16
int8 = np.int8
uint32 = np.uint32
uint16 = np.uint16
uint8 = np.uint8
bool_ = np.bool_

_NUMPY: dict[str, Any] = {
    "bool_": np.dtype(np.bool_),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    **{
        np.dtype(t).name: np.dtype(t)
        for t in (float32, float16, bfloat16, float8_e4m3, float8_e5m2)
    },
    **{np.dtype(t).name: np.dtype(t) for t in (int32, int16, int8, uint32, uint16, uint8)},
}


def as_numpy(name: str) -> Any:
    """The NumPy data type of one of NKI's; of those that NumPy does not have, NKI's name."""
    assert name in DTYPES
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
