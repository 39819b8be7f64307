"""What parameters of the public API are annotated with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nkijit.tracing.tensor import NkiTensor

DTypeLike = str | type[Any] | np.dtype[Any]
"""A data type: `nl.bfloat16`, the `dtype` of a tensor, NumPy's or ml_dtypes' of the same name."""

Shape = Sequence[int] | int
"""Dimensions of a tensor; of one dimension a number will do."""

Axes = int | Sequence[int]
"""Dimensions that a function works along, from the end when negative."""

Operand = NkiTensor | float
"""A tile or a number."""
