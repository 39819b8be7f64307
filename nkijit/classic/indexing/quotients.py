"""Quotients and remainders of index expressions that are not affine by themselves."""

from __future__ import annotations

from typing import Any, NoReturn

from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


class Divided:
    """A quotient or remainder that is not affine.

    Both together can index two dimensions of a tensor: `t[p, i // 64, i % 64]` has the elements of
    index `i` if the second dimension has 64 (`merged`). Any other use ends the trace.
    """

    __slots__ = ("divisor", "finding", "index", "sign")
    __array_ufunc__ = None

    def __init__(self, index: Any, divisor: int, sign: str, finding: Diagnostic):
        """Create a quotient or remainder.

        Args:
            index: the divided `Index`.
            divisor: a positive integer.
            sign: // for a quotient, % for a remainder.
            finding: reported by `refuse`.
        """
        self.index, self.divisor, self.sign, self.finding = index, divisor, sign, finding

    def refuse(self, *_: Any) -> NoReturn:
        """End the trace."""
        tracer_for("nl.arange").stop(self.finding)

    def __getitem__(self, key: Any) -> Divided:
        return Divided(self.index[key], self.divisor, self.sign, self.finding)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = refuse
    __floordiv__ = __mod__ = __truediv__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = refuse
    __iter__ = __bool__ = refuse
    __hash__ = object.__hash__

    def is_rest_of(self, other: Divided) -> bool:
        """Whether this is the remainder that belongs to a quotient."""
        one, two = self.index, other.index
        same = one.form is two.form and one.constant == two.constant
        return same and self.divisor == other.divisor and (other.sign, self.sign) == ("//", "%")


def merged(base: NkiTensor, keys: tuple[Any, ...]) -> tuple[NkiTensor, tuple[Any, ...]]:
    """Return a tensor and indices without quotients and remainders.

    Two dimensions that a quotient and its remainder index become one dimension. Other quotients and
    remainders end the trace.
    """
    for dim in range(len(keys) - 1, 0, -1):
        first, second = keys[dim - 1], keys[dim]
        if not (isinstance(first, Divided) and isinstance(second, Divided)):
            continue
        if len(keys) == base.ndim and second.is_rest_of(first):
            shape, on_chip = base.shape, base.buffer.on_chip
            if shape[dim] == first.divisor and not (on_chip and dim == 1):
                joined = shape[dim - 1] * shape[dim]
                base = base.reshape((*shape[: dim - 1], joined, *shape[dim + 1 :]))
                keys = (*keys[: dim - 1], first.index, *keys[dim + 1 :])
    for key in keys:
        if isinstance(key, Divided):
            key.refuse()
    return base, keys
