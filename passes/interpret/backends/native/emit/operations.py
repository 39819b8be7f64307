"""Nodes of graphs (`graphs.py`) as LLVM instructions on lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nkijit.passes.interpret.backends.native.emit.lanes import F32, F64, I32, I64, Lanes
from nkijit.passes.interpret.backends.native.llvm import building

ir = building()

ELEMENTS = {"f": F32, "d": F64, "I": I32, "?": ir.IntType(1)}
"""The LLVM type of each type of a node."""


def literal(lanes: Lanes, kind: str, bits: int) -> Any:
    """A number of a node's type in all lanes."""
    held = lanes.constant(I64 if kind == "d" else I32, bits)
    return held if kind == "I" else lanes.bits(held, ELEMENTS[kind])


def _compare(word: str) -> Callable[..., Any]:
    def compare(lanes: Lanes, _: str, x: Any, y: Any) -> Any:
        if word == "!=":
            return lanes.b.fcmp_unordered(word, x, y)
        return lanes.b.fcmp_ordered(word, x, y)

    return compare


def _extreme(word: str) -> Callable[..., Any]:
    """The first operand where it is greater (less) or NaN, else the second."""

    def extreme(lanes: Lanes, _: str, x: Any, y: Any) -> Any:
        b = lanes.b
        first = b.or_(b.fcmp_ordered(word, x, y), b.fcmp_unordered("uno", x, x))
        return b.select(first, x, y)

    return extreme


def _convert(lanes: Lanes, wanted: str, value: Any) -> Any:
    b = lanes.b
    kind = lanes.type(ELEMENTS[wanted])
    element = value.type.element if lanes.count > 1 else value.type
    if element == F32:
        return b.fpext(value, kind)
    if element == F64:
        return b.fptrunc(value, kind)
    return b.uitofp(value, kind) if wanted == "f" else b.zext(value, kind)


def _negative(lanes: Lanes, kind: str, x: Any) -> Any:
    return lanes.b.sub(lanes.constant(I32, 0), x) if kind == "I" else lanes.b.fneg(x)


def _built(method: str) -> Callable[..., Any]:
    """An instruction of LLVM on lanes."""

    def build(lanes: Lanes, _: str, *values: Any) -> Any:
        return getattr(lanes.b, method)(*values)

    return build


def _intrinsic(name: str) -> Callable[..., Any]:
    def call(lanes: Lanes, kind: str, *values: Any) -> Any:
        return lanes.intrinsic(name, ELEMENTS[kind], *values)

    return call


def _square(lanes: Lanes, _: str, x: Any) -> Any:
    return lanes.b.fmul(x, x)


def _reciprocal(lanes: Lanes, kind: str, x: Any) -> Any:
    return lanes.b.fdiv(lanes.constant(ELEMENTS[kind], 1.0), x)


def _bits(lanes: Lanes, kind: str, x: Any) -> Any:
    return lanes.bits(x, ELEMENTS[kind])


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": _built("fadd"),
    "subtract": _built("fsub"),
    "multiply": _built("fmul"),
    "divide": _built("fdiv"),
    "negative": _negative,
    "absolute": _intrinsic("fabs"),
    "square": _square,
    "sqrt": _intrinsic("sqrt"),
    "reciprocal": _reciprocal,
    "equal": _compare("=="),
    "not_equal": _compare("!="),
    "greater": _compare(">"),
    "greater_equal": _compare(">="),
    "less": _compare("<"),
    "less_equal": _compare("<="),
    "maximum": _extreme(">"),
    "minimum": _extreme("<"),
    "and": _built("and_"),
    "or": _built("or_"),
    "xor": _built("xor"),
    "select": _built("select"),
    "convert": _convert,
    "bits": _bits,
}
