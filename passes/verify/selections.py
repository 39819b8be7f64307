"""Checks that selections and searches can find an element."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from nkijit.dialects.declare.operation import NisaOp, scalar_constant
from nkijit.dialects.nisa.search import NcFindIndex8Op, NcMatchReplace8Op
from nkijit.dialects.nisa.select import AffineSelectOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.lint import FALSE_PREDICATE, ROUNDED_SEARCH
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.flow.integer_bounds import Bounds, exactly
from nkijit.passes.analysis.flow.integers import affine
from nkijit.passes.analysis.writes.unused_results import call_of
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic


def check_selections(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a warning for each selection or search that finds no element, in program order."""
    false: dict[object, list[tuple[AffineSelectOp, Bounds]]] = {}
    others: set[object] = set()
    for op in kernel.operations:
        if type(op) in (NcFindIndex8Op, NcMatchReplace8Op):
            yield from _searches(op)
        elif type(op) is AffineSelectOp:
            bounds = _bounds(op)
            call = call_of(op)
            if bounds is None or not _is_false(op.value_of("cmp_op"), bounds):
                others.add(call)
            else:
                false.setdefault(call, []).append((op, bounds))
    # A line may run for several tiles, of which a mask excludes some entirely.
    for call, found in false.items():
        if call not in others:
            yield _never(*found[0])


# ------------------------------------------------------------------ predicates


def _bounds(op: AffineSelectOp) -> Bounds | None:
    """Return the bounds of the values that an `affine_select` compares with 0; None if unknown."""
    offset = op.operand_named("offset")
    start = 0 if offset is None else scalar_constant(offset)
    if start is None:
        return None
    return affine(exactly(int(start)), op)


def _is_false(word: str, values: Bounds) -> bool:
    """Whether a comparison with 0 is false for all integers within bounds."""
    low, high = values.low, values.high
    return {
        "equal": low > 0 or high < 0,
        "not_equal": low == high == 0,
        "greater": high <= 0,
        "greater_equal": high < 0,
        "less": low >= 0,
        "less_equal": low > 0,
    }[word]


def _never(op: AffineSelectOp, values: Bounds) -> Diagnostic:
    shown = (
        f"are {values.low} to {values.high}" if values.low != values.high else f"are {values.low}"
    )
    message = (
        f"the predicate is false for all elements: its values {shown}, compared with 0 by "
        f"nl.{op.value_of('cmp_op')}, so 'dst' gets 'on_false_value' only"
    )
    return diagnose(FALSE_PREDICATE, op, message, [("dst", op.required("dst"))])


# ------------------------------------------------------------------ searches


def _searches(op: Operation) -> Iterator[Diagnostic]:
    assert isinstance(op, NisaOp)
    data, vals = op.required("data"), op.required("vals")
    searched, sought = info_of(data).dtype, info_of(vals).dtype
    if sought is not searched and not sought.contains(searched):
        message = (
            f"'vals' is {sought.name}, and 'data' {searched.name}: rounded values are not found"
        )
        help = f"allocate the tile of 'vals' as nl.{searched.name}"
        yield diagnose(ROUNDED_SEARCH, op, message, [("vals", vals), ("data", data)], help=help)
