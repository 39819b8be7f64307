"""Types that annotate the parameters of the public API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nkijit.tracing.tensor import NkiTensor

DTypeLike = str | type[Any] | np.dtype[Any]
"""A data type: `nl.bfloat16`, the `dtype` of a tensor, or the type of that name in NumPy or
ml_dtypes."""

Shape = Sequence[int] | int
"""The dimensions of a tensor; a number is the size of a single dimension."""

Axes = int | Sequence[int]
"""The dimensions that a function works along; negative numbers count from the end."""

Operand = NkiTensor | float
"""A tile or a number."""
