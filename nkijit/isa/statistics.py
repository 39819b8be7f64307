"""Mean and variance along the free dimensions."""

from __future__ import annotations

from nkijit.dialects.nisa.statistics import BnAggrOp, BnStatsOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.tensor import NkiTensor

__all__ = ["bn_stats", "bn_aggr"]


def bn_stats(dst: NkiTensor, data: NkiTensor, name: str | None = None) -> NkiInstruction:
    """Statistics of each partition of `data` on the Vector Engine, in float32, for `bn_aggr`.

    The statistics are (count, mean, variance * count) of the elements with even indices, then of
    the elements with odd indices. If there are no elements with odd indices, their triple is three
    zeros, which `bn_aggr` ignores.

    Args:
        dst: (P, 6) tile in SBUF or PSUM.
        data: (P, …) tile in SBUF or PSUM, at most 512 elements per partition.
        name: name of the instruction.

    Example:

        nisa.bn_stats(statistics, x)

    Source: NKI API reference, nki.isa.bn_stats.
    """
    return emit(BnStatsOp, locals())


def bn_aggr(dst: NkiTensor, data: NkiTensor, name: str | None = None) -> NkiInstruction:
    """Mean and variance of each partition from outputs of `bn_stats`.

    Runs on the Vector Engine in float32. The variance is that of the whole population: divided by
    the count, not by the count less one.

    Args:
        dst: (P, 2) tile in SBUF or PSUM: a mean, a variance.
        data: (P, …) tile in SBUF or PSUM of triples (count, mean, variance * count).
        name: name of the instruction.

    Example:

        nisa.bn_aggr(mean_and_variance, statistics)

    Source: NKI API reference, nki.isa.bn_aggr.
    """
    return emit(BnAggrOp, locals())
