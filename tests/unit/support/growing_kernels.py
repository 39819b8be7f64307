"""Kernels of growing size: those that move or compute more are not predicted faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.kernels.arguments import TensorSpec
from nkijit.traced.kernel import TracedKernel

Sizes = Mapping[str, Any]
NS = 1e-6
"""The allowed difference of sums of the same times in another order."""


def _tile(shape: Sequence[int], dtype: Any) -> Any:
    return nl.ndarray(tuple(shape), dtype=dtype, buffer=nl.sbuf)


def _result(shape: Sequence[int], dtype: Any) -> Any:
    return nl.ndarray(tuple(shape), dtype=dtype, buffer=nl.shared_hbm)


def _loaded(source: Any) -> Any:
    tile = _tile(source.shape, source.dtype)
    nisa.dma_copy(dst=tile, src=source)
    return tile


def _stored(tile: Any) -> Any:
    out = _result(tile.shape, tile.dtype)
    nisa.dma_copy(dst=out, src=tile)
    return out


# ------------------------------------------------------------------ DMA, in all directions


def through_sbuf(x: Any) -> Any:
    return _stored(_loaded(x))


def parts_of_rows(x: Any) -> Any:
    """The first half of each row, in both tensors."""
    half = x.shape[-1] // 2
    out = _result(x.shape, x.dtype)
    nisa.dma_copy(dst=out[..., :half], src=_loaded(x[..., :half]))
    return out


def within_hbm(x: Any) -> Any:
    out = _result(x.shape, x.dtype)
    nisa.dma_copy(dst=out, src=x)
    return out


def parts_within_hbm(x: Any) -> Any:
    half = x.shape[-1] // 2
    out = _result(x.shape, x.dtype)
    nisa.dma_copy(dst=out[..., :half], src=x[..., :half])
    return out


def within_sbuf(x: Any) -> Any:
    return _stored(_loaded(_loaded(x)))


def one_row_to_all(x: Any) -> Any:
    """A broadcast."""
    tile, (partitions, rows, row) = _tile(x.shape, x.dtype), x.shape
    nisa.dma_copy(dst=tile, src=x.ap([[0, partitions], [row, rows], [1, row]]))
    return _stored(tile)


def added(x: Any) -> Any:
    tile = _tile(x.shape, x.dtype)
    nisa.dma_compute(tile, [x, x], nl.add)
    return _stored(tile)


DMAS: tuple[Callable[[Any], Any], ...] = (
    through_sbuf, parts_of_rows, within_hbm, parts_within_hbm, within_sbuf, one_row_to_all, added,
)  # fmt: skip


@dataclass(frozen=True)
class Moved:
    """A kernel that moves a tensor of `partitions` times `rows` runs of `row` elements."""

    body: Callable[[Any], Any]
    target: str
    sizes: Sizes

    def trace(self) -> TracedKernel:
        """The kernel at its sizes."""
        shape = tuple(self.sizes[name] for name in ("partitions", "rows", "row"))
        spec = TensorSpec(shape, self.sizes["dtype"])
        return nki.jit(self.body, platform_target=self.target).trace(spec)


def several(x: Any) -> Any:
    """Copies that share the DMA engines."""
    return tuple(_stored(_loaded(x)) for _ in range(5))


# ------------------------------------------------------------------ engines


@dataclass(frozen=True)
class Product:
    """A tiled product of [m, k] and [k, n]."""

    target: str
    sizes: Sizes

    def trace(self) -> TracedKernel:
        """The kernel at its sizes."""
        m, k, n, dtype = (self.sizes[name] for name in ("m", "k", "n", "dtype"))

        def kernel(lhs: Any, rhs: Any) -> Any:
            out = _result((m, n), nl.float32)
            for row in range(0, m, 128):
                rows = slice(row, min(row + 128, m))
                product = nl.ndarray((rows.stop - row, n), dtype=nl.float32, buffer=nl.psum)
                for inner in range(0, k, 128):
                    inside = slice(inner, min(inner + 128, k))
                    stationary, moving = _loaded(lhs[inside, rows]), _loaded(rhs[inside, :])
                    nisa.nc_matmul(product, stationary, moving)
                result = _tile(product.shape, nl.float32)
                nisa.tensor_copy(dst=result, src=product)
                nisa.dma_copy(dst=out[rows, :], src=result)
            return out

        specs = TensorSpec((k, m), dtype), TensorSpec((k, n), dtype)
        return nki.jit(kernel, platform_target=self.target).trace(*specs)


# ------------------------------------------------------------------ sweeps


class Fall(NamedTuple):
    """A prediction that falls from one kernel to a larger one."""

    smaller: Moved | Product
    larger: Moved | Product
    schedule: str
    before: float
    after: float

    @property
    def share(self) -> float:
        """How much less it is: 0.1 for 10%."""
        return 1 - self.after / self.before

    def __str__(self) -> str:
        return (
            f"{self.before:.1f} ns become {self.after:.1f} in the order of the {self.schedule} on "
            f"{self.larger.target}: {_difference(self.smaller.sizes, self.larger.sizes)}"
        )


def falls(
    kernels: Sequence[Moved | Product], schedules: Sequence[str] = ("author", "compiler")
) -> Iterator[Fall]:
    """Where a prediction falls from one kernel to the next, each larger than the one before."""
    before: dict[str, tuple[Moved | Product, float]] = {}
    for kernel in kernels:
        traced = kernel.trace()
        for schedule in schedules:
            time = traced.profile(schedule=schedule).time
            smaller, least = before.get(schedule, (kernel, 0.0))
            if time < least - NS:
                yield Fall(smaller, kernel, schedule, least, time)
            before[schedule] = kernel, time


def _difference(sizes: Sizes, larger: Sizes) -> str:
    return ", ".join(
        f"{name} {size} to {larger[name]}" if larger[name] != size else f"{name} {size}"
        for name, size in sizes.items()
    )
