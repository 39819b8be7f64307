"""How far predictions are off, by the resource that bounds a kernel.

The spreads are fitted to published times of kernels: for 80% of the sources in
`benchmarks/fidelity`, 80% of the times lie within the spread of their predictions. `make fidelity`
prints the spreads, and a test compares them with its table.
"""

from __future__ import annotations

from typing import NamedTuple

from nkijit.passes.profile.figures import Figures


class Basis(NamedTuple):
    """The published times that a prediction's range rests on."""

    name: str
    """The kernels: `tensor-bound`, `engine-bound`, `dma-bound` or `latency-bound`."""
    spread: float
    """The relative deviation that 80% of the published times do not exceed."""
    rows: int
    """The number of published times."""

    def ends(self, time: float) -> tuple[float, float]:
        """Return the ends of the range of a predicted time."""
        return time * max(0.0, 1 - self.spread), time * (1 + self.spread)


def basis_of(figures: Figures) -> Basis:
    """Return the published times that a prediction rests on."""
    return BASES[_NAMES[figures.bound]]


_NAMES = {
    "tensor": "tensor-bound",
    "vector": "engine-bound",
    "scalar": "engine-bound",
    "gpsimd": "engine-bound",
    "sync": "engine-bound",
    "dma": "dma-bound",
    "hbm": "dma-bound",
    "latency": "latency-bound",
}
"""The name of a basis, by `Figures.bound`."""

BASES = {
    basis.name: basis
    for basis in (
        Basis("tensor-bound", 0.17, 54),
        Basis("engine-bound", 0.15, 29),
        Basis("dma-bound", 0.24, 36),
        Basis("latency-bound", 0.20, 16),
    )
}
"""The bases by name."""
