"""The evidence that a changed kernel computes the results of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.run.launch import Launch
from nkijit.passes.numerics.storage import storage


class Level(StrEnum):
    """How far the results of two kernels may differ, the strictest first."""

    bits = "bits"
    """The results are equal, bit by bit."""
    reassociated = "reassociated"
    """Sums and products are computed in another order."""
    rounding = "rounding"
    """Intermediate results are rounded at other points."""

    def allows(self, other: Level) -> bool:
        """Whether a result of the level `other` is allowed."""
        levels = list(Level)
        return levels.index(other) <= levels.index(self)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The strictest level at which two kernels are equivalent."""

    level: Level | None
    """None if there is no evidence of equivalence at the allowed levels."""
    difference: str = ""
    """The reason for None."""


_SEEDS = (0, 1)
_TOLERANCE = 0.02
"""The largest difference of rounded results, relative to the largest result."""


def evidence(old: Sequence[KernelOp], new: Sequence[KernelOp], allowed: Level) -> Evidence:
    """Compare the results of two launches on random data."""
    level = Level.bits
    for seed in _SEEDS:
        inputs = _inputs(old[0], seed)
        try:
            expected, found = _run(old, inputs), _run(new, inputs)
        except InterpretationError as error:
            return Evidence(None, str(error))
        for one, other in zip(expected, found, strict=True):
            if one.shape != other.shape or one.dtype != other.dtype:
                return Evidence(None, "the results have other types")
            if one.tobytes() == other.tobytes():
                continue
            level = Level.rounding
            exact, close = one.astype(np.float64), other.astype(np.float64)
            if not np.allclose(exact, close, rtol=0.0, atol=_TOLERANCE * np.max(np.abs(exact))):
                return Evidence(None, "the results differ on random data")
    return Evidence(level) if allowed.allows(level) else Evidence(None, f"holds only at {level}")


def _inputs(kernel: KernelOp, seed: int) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    return [
        random.standard_normal(info.shape, np.float32).astype(storage(info.dtype))
        for info in map(info_of, kernel.arguments)
    ]


def _run(
    kernels: Sequence[KernelOp], inputs: Sequence[np.ndarray[Any, Any]]
) -> list[np.ndarray[Any, Any]]:
    arrays = [array.copy() for array in inputs]
    results = Launch([Plan(kernel) for kernel in kernels]).run(arrays)
    return [*results, *arrays]
