"""Runs a kernel of this folder and compares it with NumPy; no kernel needs it."""

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
    """The largest error of a kernel, as a part of the largest number that is expected.

    Raises AssertionError when it is above `bound`.
    """
    expected = reference(**{name: a.astype(np.float64) for name, a in inputs.items()})
    result = np.asarray(kernel(**inputs), dtype=np.float64)
    error = float(np.abs(result - expected).max() / np.abs(expected).max())
    assert error <= bound, f"error {error:.3g} is above {bound:.3g}"
    print(f"{result.shape} agrees with NumPy, largest error {error:.2g}")
    return error
