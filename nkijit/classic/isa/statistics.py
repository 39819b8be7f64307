"""Mean and variance along the free dimensions."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.calls.calls import Axis
from nkijit.classic.isa.bodies import returning
from nkijit.classic.tensors.tensors import ClassicTensor
from nkijit.dialects.nisa.statistics import TRIPLE


def bn_stats(data: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any) -> ClassicTensor:
    """A (P, 6) tile of statistics for `bn_aggr`; see `nkijit.isa.bn_stats`.

    Args:
        data: (P, …) tile in SBUF or PSUM, at most 512 elements per partition.
        mask: the block of elements that the statistics include.
        dtype: data type of the result, by default that of `data`.

    Source: NKI API reference 2.26, nki.isa.bn_stats.
    """
    return returning("bn_stats", isa.bn_stats, locals(), shape=(Axis(0), 2 * TRIPLE), box_only=True)


def bn_aggr(data: Any, *, mask: Any = None, dtype: Any = None, **kwargs: Any) -> ClassicTensor:
    """A (P, 2) tile of means and variances; see `nkijit.isa.bn_aggr`.

    Args:
        data: (P, …) tile of results of `bn_stats`.
        mask: the block of elements that the statistics include.
        dtype: data type of the result, by default that of `data`.

    Source: NKI API reference 2.26, nki.isa.bn_aggr.
    """
    return returning("bn_aggr", isa.bn_aggr, locals(), shape=(Axis(0), 2), box_only=True)


__all__ = ["bn_aggr", "bn_stats"]
