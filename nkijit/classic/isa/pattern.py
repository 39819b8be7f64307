"""Generated patterns."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.indexing.expressions import Index
from nkijit.classic.indexing.predicates import pattern_of
from nkijit.classic.isa.bodies import returning
from nkijit.classic.tensors.tensors import ClassicTensor
from nkijit.dialects.rule_texts.classic import INDEX_1D
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def iota(expr: Any, dtype: Any, *, mask: Any = None, **kwargs: Any) -> ClassicTensor:
    """A tile in SBUF with the values of an index expression; see `nkijit.isa.iota`.

    Args:
        expr: sum of `nl.arange`, `nl.mgrid` and integers, of two dimensions or more; an integer,
            such as a loop variable, makes a tile of one element.
        dtype: data type of the tile.
        mask: which elements are computed.

    Source: NKI API reference 2.26, nki.isa.iota.
    """
    arguments = locals()
    call = "nisa.iota"
    if isinstance(expr, int) and not isinstance(expr, bool):
        arguments["expr"] = expr = Index((1, 1), (0, 0), expr)
    if not isinstance(expr, Index):
        tracer_for(call).wrong_argument(call, "expr", "an index expression", expr)
    if expr.ndim < 2:
        count = expr.shape[0] if expr.shape else 1
        help = (
            f"nl.arange({count})[None, :] counts along the columns, nl.arange({count})[:, None] "
            "along the partitions"
        )
        tracer_for(call).fail(INDEX_1D, call, f"'expr' is of shape {expr.shape}", help)
    return returning("iota", _iota, arguments, dtype_of=())


def _iota(dst: NkiTensor, expr: Index) -> None:
    pattern, channel_multiplier = pattern_of(expr)
    isa.iota(dst, pattern, expr.constant, channel_multiplier)


__all__ = ["iota"]
