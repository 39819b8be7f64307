"""Checks that the data types of sums hold them."""

from __future__ import annotations

from collections.abc import Iterator

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.rules.wording import variable_of
from nkijit.dialects.dtypes import DTYPES, DType, Kind
from nkijit.dialects.nisa.reduce import TensorReduceOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.rule_texts.lint import ROUNDED_SUM, SATURATED_SUM
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.writes.running_sums import running_sums
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic

_LARGEST: dict[DType, int] = {
    dtype: int(dtype.ends[1]) for dtype in DTYPES.values() if dtype.is_integer and dtype.bits < 32
}
"""The narrow integer types, with the number of ones whose sum they hold."""

_FEW: dict[DType, int] = {
    dtype: max(2 ** (dtype.digits - 2), 8) - 1
    for dtype in DTYPES.values()
    if dtype.signed and 0 < dtype.digits < 24 and dtype.bits < 32
}
"""The narrow float types, with the number of terms that one after the other may add.

With four times as many equal terms, a term is half of the distance between two numbers of the type,
and does not change the sum.
"""


def check_saturated_sums(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a warning for each sum of integers that is too large for its type even if all are 1."""
    for op in kernel.operations:
        if type(op) is TensorReduceOp:
            terms, limit = _terms(op), _LARGEST.get(info_of(op.dst).dtype)
            if limit is not None and terms > limit:
                yield _saturated(op, f"adds up {numbered(terms, 'integer')}", limit)
    for each in running_sums(kernel, _LARGEST):
        limit = _LARGEST[info_of(each.op.required("dst")).dtype]
        yield _saturated(
            each.op, f"adds {numbered(each.terms, 'integer')} one after the other", limit
        )


def _terms(op: TensorReduceOp) -> int:
    """Return the number of integers that a reduction adds up to one; 0 for other reductions."""
    data = info_of(op.data)
    if op.value_of("op") != "add" or data.dtype.kind is Kind.float:
        return 0
    return data.size // max(info_of(op.dst).size, 1)


def _saturated(op: NisaOp, does: str, limit: int) -> Diagnostic:
    dst = op.required("dst")
    message = f"{does}, but 'dst' is {info_of(dst).dtype.name}, which saturates at {limit}"
    return diagnose(SATURATED_SUM, op, message, [("dst", dst)])


def check_rounded_sums(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a warning for each sum whose partial sums are often rounded to a narrow float type."""
    for each in running_sums(kernel, _FEW):
        dst = each.op.required("dst")
        dtype, name = info_of(dst).dtype.name, variable_of(base_of(dst), "the sum")
        message = (
            f"adds {numbered(each.terms, 'term')} one after the other, and rounds each sum to "
            f"{dtype}"
        )
        help = f"allocate {name} as nl.float32, and convert it to {dtype} after the last addition"
        yield diagnose(ROUNDED_SUM, each.op, message, [("dst", dst)], help=help)
