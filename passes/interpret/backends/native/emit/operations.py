"""Emits nodes of graphs (`graphs.py`) as LLVM instructions on lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nkijit.passes.interpret.backends.native.emit.lanes import F32, F64, I8, I16, I32, I64, Lanes
from nkijit.passes.interpret.backends.native.llvm import building

ir = building()

ELEMENTS = {
    "f": F32,
    "d": F64,
    "B": I8,
    "H": I16,
    "I": I32,
    "q": I64,
    "?": ir.IntType(1),
}
"""The LLVM type of each node type."""


def literal(lanes: Lanes, kind: str, bits: int) -> Any:
    """Return a constant of a node type, given by its bits, in all lanes."""
    held = _SAME_SIZE.get(kind)
    if held is None:
        return lanes.constant(ELEMENTS[kind], bits)
    return lanes.bits(lanes.constant(held, bits), ELEMENTS[kind])


_SAME_SIZE = {"f": I32, "d": I64}
"""The integer type with the bits of each float node type."""


def _compare(word: str) -> Callable[..., Any]:
    def compare(lanes: Lanes, _: str, x: Any, y: Any) -> Any:
        if lanes.element(x) == I64:
            return lanes.b.icmp_signed(word, x, y)
        if word == "!=":
            return lanes.b.fcmp_unordered(word, x, y)
        return lanes.b.fcmp_ordered(word, x, y)

    return compare


def _extreme(word: str) -> Callable[..., Any]:
    """Return a function that emits a maximum (`word` is ">") or a minimum ("<").

    The result is the first operand if the comparison holds or if this operand is NaN, else the
    second.
    """

    def extreme(lanes: Lanes, kind: str, x: Any, y: Any) -> Any:
        b = lanes.b
        if kind == "q":
            return b.select(b.icmp_signed(word, x, y), x, y)
        first = b.or_(b.fcmp_ordered(word, x, y), b.fcmp_unordered("uno", x, x))
        return b.select(first, x, y)

    return extreme


def _convert(lanes: Lanes, wanted: str, value: Any) -> Any:
    b = lanes.b
    kind = lanes.type(ELEMENTS[wanted])
    element = lanes.element(value)
    if element == F32:
        return b.fpext(value, kind)
    if element == F64:
        return b.fptrunc(value, kind)
    return b.uitofp(value, kind) if wanted == "f" else b.zext(value, kind)


def _negative(lanes: Lanes, kind: str, x: Any) -> Any:
    return lanes.b.sub(lanes.constant(I32, 0), x) if kind == "I" else lanes.b.fneg(x)


def _absolute(lanes: Lanes, kind: str, x: Any) -> Any:
    if kind != "q":
        return lanes.intrinsic("fabs", ELEMENTS[kind], x)
    b, zero = lanes.b, lanes.constant(I64, 0)
    return b.select(b.icmp_signed("<", x, zero), b.sub(zero, x), x)


def _built(method: str, of_integers: str | None = None) -> Callable[..., Any]:
    """Return a function that emits the LLVM instruction `method`; `of_integers` for integers."""

    def build(lanes: Lanes, kind: str, *values: Any) -> Any:
        name = of_integers if of_integers is not None and kind == "q" else method
        return getattr(lanes.b, name)(*values)

    return build


def _shift(method: str) -> Callable[..., Any]:
    """Return a function that emits a logical shift; shifts by the width or more give 0."""

    def shift(lanes: Lanes, kind: str, x: Any, amount: Any) -> Any:
        b, element = lanes.b, ELEMENTS[kind]
        fits = b.icmp_unsigned("<", amount, lanes.constant(element, element.width))
        return b.select(fits, getattr(b, method)(x, amount), lanes.constant(element, 0))

    return shift


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
    "add": _built("fadd", "add"),
    "subtract": _built("fsub", "sub"),
    "multiply": _built("fmul", "mul"),
    "divide": _built("fdiv"),
    "negative": _negative,
    "absolute": _absolute,
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
    "invert": _built("not_"),
    "left_shift": _shift("shl"),
    "right_shift": _shift("lshr"),
    "select": _built("select"),
    "convert": _convert,
    "bits": _bits,
}
