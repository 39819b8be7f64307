"""Integer expressions of Python source, as sums of terms.

The begin and size of a slice are sums of source expressions (`tile * 128`, `columns`). In this form
`tile * 128 + 128 - tile * 128` simplifies to 128.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Amount:
    """An integer expression: a constant plus terms with coefficients."""

    terms: tuple[tuple[str, int], ...] = ()
    """Pairs of an expression's text and its coefficient; a text that is a sum is in brackets."""
    constant: int = 0

    @staticmethod
    def of(value: Amount | str | int) -> Amount:
        """Convert a number, or the text of an expression, to an amount."""
        if isinstance(value, Amount):
            return value
        if isinstance(value, int):
            return Amount((), value)
        return _of_node(ast.parse(value.strip(), mode="eval").body)

    @property
    def number(self) -> int | None:
        """The value of an amount without terms; else None."""
        return None if self.terms else self.constant

    def __add__(self, other: Amount | int) -> Amount:
        other = Amount.of(other)
        sums = dict(self.terms)
        for text, count in other.terms:
            sums[text] = sums.get(text, 0) + count
        return _normalized(sums, self.constant + other.constant)

    def __neg__(self) -> Amount:
        return self.times(-1)

    def __sub__(self, other: Amount | int) -> Amount:
        return self + -Amount.of(other)

    def times(self, other: Amount | int) -> Amount:
        """Return the product."""
        other = Amount.of(other)
        for one, two in ((self, other), (other, self)):
            if two.number is not None:
                n = two.number
                return _normalized({text: count * n for text, count in one.terms}, one.constant * n)
        return Amount(((f"{_factor(self)} * {_factor(other)}", 1),))

    def __str__(self) -> str:
        text = ""
        # Positive terms come first: `rows - row`.
        for term, count in sorted(self.terms, key=lambda entry: entry[1] < 0):
            size = abs(count)
            part = term if size == 1 else f"{term} * {size}"
            sign = "-" if count < 0 else "+"
            text += (f" {sign} " if text else "-" * (count < 0)) + part
        if self.constant or not text:
            sign = "-" if self.constant < 0 else "+"
            text += f" {sign} {abs(self.constant)}" if text else str(self.constant)
        return text

    @property
    def is_sum(self) -> bool:
        """Whether the amount's text has a `+` or `-` outside of brackets."""
        return len(self.terms) + bool(self.constant) > 1 or any(n < 0 for _, n in self.terms)


def _normalized(sums: Mapping[str, int], constant: int) -> Amount:
    return Amount(tuple((text, n) for text, n in sums.items() if n), constant)


def _factor(amount: Amount) -> str:
    text = str(amount)
    return f"({text})" if amount.is_sum or (amount.number or 0) < 0 else text


def _of_node(node: ast.expr) -> Amount:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Amount((), node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_of_node(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = node.left, node.right
        if isinstance(node.op, ast.Add):
            return _of_node(left) + _of_node(right)
        if isinstance(node.op, ast.Sub):
            return _of_node(left) - _of_node(right)
        if isinstance(node.op, ast.Mult):
            return _of_node(left).times(_of_node(right))
    text = ast.unparse(node)
    loose = (ast.IfExp, ast.Lambda, ast.BoolOp, ast.Compare, ast.NamedExpr)
    bits = (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
    if isinstance(node, loose) or (isinstance(node, ast.BinOp) and isinstance(node.op, bits)):
        text = f"({text})"
    return Amount(((text, 1),))


def _among(function: str, one: Amount, two: Amount) -> str:
    """Return the text of a minimum or maximum; `min(a, min(a, b))` is `min(a, b)`."""
    items: list[str] = []
    for amount in (one, two):
        text = str(amount)
        parts = [text]
        node = ast.parse(text, mode="eval").body
        if isinstance(node, ast.Call) and ast.unparse(node.func) == function:
            parts = [ast.unparse(item) for item in node.args]
        items += [part for part in parts if part not in items]
    return items[0] if len(items) == 1 else f"{function}({', '.join(items)})"


def least(one: Amount, two: Amount) -> Amount:
    """Return the smaller of two amounts."""
    difference = (one - two).number
    if difference is not None:
        return one if difference <= 0 else two
    return Amount(((_among("min", one, two), 1),))


def greatest(one: Amount, two: Amount) -> Amount:
    """Return the larger of two amounts."""
    difference = (one - two).number
    if difference is not None:
        return one if difference >= 0 else two
    return Amount(((_among("max", one, two), 1),))


def ceil_div(amount: Amount, by: Amount) -> Amount:
    """Return the quotient, rounded up."""
    if by.number == 1:
        return amount
    if amount.number is not None and by.number is not None:
        return Amount((), -(-amount.number // by.number))
    return Amount(((f"-({_factor(-amount)} // {_factor(by)})", 1),))


__all__ = ["Amount", "ceil_div", "greatest", "least"]
