"""Runs the kernels of this folder and compares them with NumPy. The kernels do not need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def check(
    kernel: Callable[..., Any],
    inputs: Mapping[str, np.ndarray[Any, Any]],
    reference: Callable[..., np.ndarray[Any, Any]],
    bound: float,
) -> float:
    """Return the largest error of a kernel, relative to the largest expected number.

    Raises AssertionError when it exceeds `bound`.
    """
    expected = reference(**{name: a.astype(np.float64) for name, a in inputs.items()})
    result = np.asarray(kernel(**inputs), dtype=np.float64)
    error = float(np.abs(result - expected).max() / np.abs(expected).max())
    assert error <= bound, f"error {error:.3g} is above {bound:.3g}"
    print(f"{result.shape} agrees with NumPy, largest error {error:.2g}")
    return error
