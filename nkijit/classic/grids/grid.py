"""SPMD launch grids: the instances of a kernel, and the core that runs each instance.

Source: NKI API reference 2.26, nki.language.program_id, nki.language.spmd_dim and nki.language.nc;
NKI programming model, "SPMD".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, cast

from nkijit.dialects.core_program import MAX_CORES
from nkijit.dialects.python_values import as_index, one_line
from nkijit.tracing.checks import refuse

_GRID = "launch grid"
"""The subject of errors about a grid."""
MAX_DIMS = 3
"""The maximum number of dimensions of a launch grid (NKI programming model)."""


class nc:
    """A dimension of a grid that is spread over a number of physical cores: `nl.nc(2)`."""

    def __init__(self, cores: int):
        """Raises ValueError for anything but a positive integer."""
        self.cores = _count(cores)

    def __mul__(self, other: Any) -> spmd_dim:
        return spmd_dim(self, other) if _is_factor(other) else NotImplemented

    def __rmul__(self, other: Any) -> spmd_dim:
        return spmd_dim(other, self) if _is_factor(other) else NotImplemented

    def __repr__(self) -> str:
        return f"nl.nc({self.cores})"


class spmd_dim:
    """A dimension of a grid with several factors, outer ones first: `nl.spmd_dim(nl.nc(2), 2)`."""

    def __init__(self, *factors: Any):
        """Create a dimension from factors: integers, of which at most one is `nl.nc(cores)`."""
        self.factors = tuple(f if isinstance(f, nc) else _count(f) for f in factors)
        if sum(isinstance(f, nc) for f in self.factors) > 1:
            refuse(_GRID, f"a dimension is spread over cores once, got {one_line(factors)}")

    @property
    def size(self) -> int:
        """The number of instances along the dimension."""
        return prod(f.cores if isinstance(f, nc) else f for f in self.factors)

    @property
    def cores(self) -> int:
        """The number of cores that the dimension is spread over."""
        return prod(f.cores for f in self.factors if isinstance(f, nc))

    def core_of(self, index: int) -> int:
        """Return the core that runs the instances with a given index along the dimension."""
        inner = 1
        for factor in reversed(self.factors):
            if isinstance(factor, nc):
                return index // inner % factor.cores
            inner *= factor
        return 0


_MOST_INSTANCES = 1 << 20
"""The maximum number of instances of a grid; each of them is traced."""


def _is_factor(value: Any) -> bool:
    return isinstance(value, nc) or as_index(value) is not None


def _count(value: Any) -> int:
    number = as_index(value)
    if number is None or number < 1:
        refuse(_GRID, f"the dimensions of a grid are positive integers, got {one_line(value)}")
    return number


@dataclass(frozen=True)
class LaunchGrid:
    """A launch grid: `kernel[4, 2]`, `kernel[nl.nc(2) * 2, 2]`."""

    sizes: tuple[int, ...]
    cores: int
    placed: tuple[int, ...]
    """The core of each instance, in row-major order."""

    @staticmethod
    def of(dims: Any) -> LaunchGrid:
        """Return the grid of `kernel[dims]`. Raises ValueError if `dims` is no valid grid."""
        items = cast("tuple[Any, ...]", dims if isinstance(dims, tuple) else (dims,))
        if not 1 <= len(items) <= MAX_DIMS:
            refuse(_GRID, f"a grid has 1 to {MAX_DIMS} dimensions, got {one_line(dims)}")
        parts = [item if isinstance(item, spmd_dim) else spmd_dim(item) for item in items]
        spread = [dim for dim, part in enumerate(parts) if part.cores > 1]
        if len(spread) > 1:
            refuse(_GRID, f"one dimension of a grid is spread over cores, got {one_line(dims)}")
        cores = max(part.cores for part in parts)
        if cores > MAX_CORES:
            refuse(_GRID, f"a grid is spread over up to {MAX_CORES} cores, got {one_line(dims)}")
        sizes = tuple(part.size for part in parts)
        if prod(sizes) > _MOST_INSTANCES:
            refuse(_GRID, f"a grid has at most {_MOST_INSTANCES} instances, got {one_line(dims)}")
        placed = tuple(
            parts[spread[0]].core_of(at[spread[0]]) if spread else 0
            for at in product(*map(range, sizes))
        )
        return LaunchGrid(sizes, cores, placed)

    def instances(self, core: int) -> Iterator[tuple[int, ...]]:
        """Yield the instances that a core runs, in order."""
        for at, where in zip(product(*map(range, self.sizes)), self.placed, strict=True):
            if where == core:
                yield at


ONE_INSTANCE = LaunchGrid((), 1, (0,))
"""The grid of a kernel that is called without a grid: a single instance on one core."""
