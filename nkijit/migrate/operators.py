"""Rewrites of Python's operators on tiles, index expressions and masks, and of names."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from nkijit.migrate.amounts import Amount
from nkijit.migrate.api import TODAY, UNKNOWN, api_name, dtype_text
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.indices import Index, Mask
from nkijit.migrate.observing import ObservedEvent, Seen
from nkijit.migrate.rewriting import Rewriter
from nkijit.migrate.sources import one_line
from nkijit.migrate.values import Plain, TensorValue, Value

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
    ast.Mod: "mod",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
}
"""The nl functions that compute Python's operators on tiles, by the operator's syntax node."""
_COMPARISONS: Mapping[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "less"),
    ast.LtE: ("<=", "less_equal"),
    ast.Gt: (">", "greater"),
    ast.GtE: (">=", "greater_equal"),
    ast.Eq: ("==", "equal"),
    ast.NotEq: ("!=", "not_equal"),
}
_UNARY: Mapping[type[ast.unaryop], str] = {ast.USub: "negative", ast.Invert: "invert"}


def binary(rewriter: Rewriter, node: ast.BinOp, into: TensorValue | str | None) -> Value:
    """Rewrite `a + b`."""
    left, right = rewriter.value(node.left), rewriter.value(node.right)
    if isinstance(left, Index) or isinstance(right, Index):
        return _affine(left, right, node)
    if isinstance(node.op, ast.BitAnd) and (isinstance(left, Mask) or isinstance(right, Mask)):
        one, two = (Mask((), (v.text,)) if isinstance(v, Plain) else v for v in (left, right))
        if isinstance(one, Mask) and isinstance(two, Mask):
            return one.joined(two)
    if not isinstance(left, TensorValue) and not isinstance(right, TensorValue):
        return Plain(rewriter.spliced(node))
    word = BINARY.get(type(node.op))
    events = [e for e in rewriter.events(node) if isinstance(e.result, Seen)]
    if word is None or not events:
        raise NoRewriteError("an operator that no run has come to", node)
    return function(rewriter, word, {"x": left, "y": right}, events, into, node)


def _affine(left: Value, right: Value, node: ast.BinOp) -> Value:
    one, two = _index(left), _index(right)
    if one is None or two is None:
        raise NoRewriteError("an index that is a tile and an expression", node)
    if isinstance(node.op, ast.Add):
        return one.plus(two)
    if isinstance(node.op, ast.Sub):
        return one.plus(two, -1)
    if isinstance(node.op, ast.Mult):
        if two.is_plain:
            return one.times(two.begin)
        if one.is_plain:
            return two.times(one.begin)
    raise NoRewriteError("an index expression that is not affine", node)


def _index(value: Value) -> Index | None:
    if isinstance(value, Index):
        return value
    return Index(Amount.of(value.text), 0) if isinstance(value, Plain) else None


def unary(rewriter: Rewriter, node: ast.UnaryOp, into: TensorValue | str | None) -> Value:
    """Rewrite `-a`."""
    operand = rewriter.value(node.operand)
    if isinstance(operand, Index) and isinstance(node.op, ast.USub):
        return operand.times(Amount.of(-1))
    word = _UNARY.get(type(node.op))
    if not isinstance(operand, TensorValue) or word is None:
        return Plain(rewriter.spliced(node))
    events = [e for e in rewriter.events(node) if isinstance(e.result, Seen)]
    return function(rewriter, word, {"x": operand}, events, into, node)


def compare(rewriter: Rewriter, node: ast.Compare, into: TensorValue | str | None) -> Value:
    """Rewrite `a < b`."""
    if len(node.ops) != 1:
        return Plain(rewriter.spliced(node))
    left, right = rewriter.value(node.left), rewriter.value(node.comparators[0])
    words = _COMPARISONS.get(type(node.ops[0]))
    if words is not None and (isinstance(left, Index) or isinstance(right, Index)):
        one, two = _index(left), _index(right)
        if one is None or two is None:
            raise NoRewriteError("an index expression is compared with a tile", node)
        if one.is_plain and two.is_plain:
            return Plain(f"{one.begin} {words[0]} {two.begin}")
        rewriter.note("mask", node)
        return Mask(((one, words[0], two),))
    events = [e for e in rewriter.events(node) if isinstance(e.result, Seen)]
    if (
        words is None
        or not events
        or not (isinstance(left, TensorValue) or isinstance(right, TensorValue))
    ):
        return Plain(rewriter.spliced(node))
    return function(rewriter, words[1], {"x": left, "y": right}, events, into, node)


def function(
    rewriter: Rewriter,
    word: str,
    operands: Mapping[str, Value],
    events: Sequence[ObservedEvent],
    into: TensorValue | str | None,
    node: ast.AST,
) -> TensorValue:
    """Rewrite an operator as a function call, e.g. `nl.add(a, b)`."""
    rewriter.note("operator", node)
    seen = tuple(e.result for e in events if isinstance(e.result, Seen))
    if isinstance(into, TensorValue):
        names: dict[str, str] = dict(zip(("x", "y"), _parameters(events), strict=False))
        emit(rewriter, word, into, {names.get(k, k): v for k, v in operands.items()}, events)
        return into
    rewriter.module.needed.add("nl")
    first = next(v for v in operands.values() if isinstance(v, TensorValue))
    parts = [text_of(v) for v in operands.values()]
    dtype = result_dtype(
        rewriter, seen, [v for v in operands.values() if isinstance(v, TensorValue)]
    )
    if dtype != first.dtype and first.seen[-1].dtype != seen[-1].dtype:
        parts.append(f"dtype={dtype}")
    text = f"{rewriter.module.nl}.{word}({', '.join(parts)})"
    return TensorValue(text, seen, sizes=sizes_of(list(operands.values()), seen))


def _parameters(events: Sequence[ObservedEvent]) -> list[str]:
    """Return the names of the parameters for the operands, as recorded."""
    names = events[-1].arguments
    return ["self", "other"] if "self" in names and "other" in names else ["x", "y"]


def sizes_of(values: Sequence[Value], seen: tuple[Seen, ...]) -> tuple[Amount | None, ...]:
    """Return expressions for the dimensions of an elementwise result."""
    found: list[Amount | None] = []
    for dim, size in enumerate(seen[-1].shape):
        matching = [
            value
            for value in values
            if isinstance(value, TensorValue)
            and value.rank == len(seen[-1].shape)
            and value.seen[-1].shape[dim] == size
            and (value.is_name or value.keys or value.sizes)
        ]
        found.append(Amount.of(matching[0].size(dim)) if matching else None)
    return tuple(found)


def fitted(value: TensorValue, place: TensorValue) -> str:
    """Return the text of a tensor broadcast to the shape of its destination, without a copy."""
    text = value.text
    mine, other = value.seen[-1].shape, place.seen[-1].shape
    if mine == other or len(mine) != len(other):
        return text
    for dim, (one, two) in enumerate(zip(mine, other, strict=True)):
        if one != two:
            text = f"{text}.broadcast({dim}, {place.size(dim)})"
    return text


def text_of(value: Value) -> str:
    """Return the text of an operand."""
    if isinstance(value, (Plain, TensorValue)):
        return one_line(value.text)
    raise NoRewriteError("an index expression is an operand")


def result_dtype(rewriter: Rewriter, seen: Sequence[Seen], operands: Sequence[TensorValue]) -> str:
    """Return an expression for the dtype of a result."""
    wanted = {s.dtype for s in seen}
    for operand in operands:
        is_known = operand.is_name or operand.keys is not None or operand.source
        if is_known and {s.dtype for s in operand.seen} == wanted and len(wanted) == 1:
            return operand.dtype
    if len(wanted) > 1:
        raise NoRewriteError("a result of several data types")
    rewriter.module.needed.add("nl")
    return f"{rewriter.module.nl}.{next(iter(wanted))}"


def emit(
    rewriter: Rewriter,
    word: str,
    dst: TensorValue,
    operands: Mapping[str, Value],
    events: Sequence[ObservedEvent],
) -> None:
    """Emit the instruction that a function of tiles was observed to emit, with destination `dst`.

    `word` names the function, e.g. `add`. Raises NoRewriteError for several instructions.
    """
    shown = [e for e in events if e.instructions]
    forms = {tuple((i.name, i.reads) for i in e.instructions) for e in shown}
    if len(forms) != 1:
        raise NoRewriteError("an operator that takes other instructions each time")
    (form,) = forms
    if len(form) != 1:
        raise NoRewriteError(f"an operator that takes {' and '.join(name for name, _ in form)}")
    ((name, reads_items),) = form
    reads = dict(reads_items)
    op = f"{rewriter.module.nl}.{word}"
    rewriter.module.needed.add("nl")
    names = list(operands)
    if name == "tensor_tensor":
        one, two = reads.get("data1", names[0]), reads.get("data2", names[-1])
        first, second = operands[one], operands[two]
        texts = [
            fitted(value, dst) if isinstance(value, TensorValue) else text_of(value)
            for value in (first, second)
        ]
        rewriter.call(
            "nisa.tensor_tensor", {"dst": dst.text, "data1": texts[0], "data2": texts[1], "op": op}
        )
    elif name == "tensor_scalar" and "data" in reads and len(names) == 2:
        data = reads["data"]
        other = next(n for n in names if n != data) if names.count(data) == 1 else names[-1]
        arguments = {"dst": dst.text, "data": text_of(operands[data]), "op0": op}
        arguments["operand0"] = text_of(operands[other])
        if names.index(data) == 1:
            arguments["reverse0"] = "True"
        rewriter.call("nisa.tensor_scalar", arguments)
    elif name == "activation" and len(names) == 1:
        rewriter.call(
            "nisa.activation", {"dst": dst.text, "op": op, "data": text_of(operands[names[0]])}
        )
    elif name in ("reciprocal", "tensor_copy") and len(names) == 1:
        field = "data" if name == "reciprocal" else "src"
        rewriter.call(f"nisa.{name}", {"dst": dst.text, field: text_of(operands[names[0]])})
    else:
        raise NoRewriteError(f"nl.{word} as {name}")


# ---------------------------------------------------------------- names


def named(rewriter: Rewriter, node: ast.Name) -> Value:
    """Rewrite a name that is not a tensor."""
    return _of_api(rewriter, node, rewriter.value_named(node)) or Plain(node.id)


def attribute(rewriter: Rewriter, node: ast.Attribute) -> Value:
    """Rewrite a dotted name, or an attribute of an expression."""
    value = rewriter.value_named(node)
    if value is not UNKNOWN:
        return _of_api(rewriter, node, value) or Plain(rewriter.source.segment(node))
    return Plain(rewriter.spliced(node))


def _of_api(rewriter: Rewriter, node: ast.AST, value: Any) -> Value | None:
    """Return the current API's name for a name of the classic API; None if both are equal."""
    found = api_name(value)
    module = rewriter.module
    if found is None:
        owner = node.value if isinstance(node, ast.Attribute) else None
        parent = UNKNOWN if owner is None else rewriter.value_named(owner)
        if parent is not UNKNOWN and api_name(parent) in (
            ("nl", "fp32"),
            ("nl", "bfp16"),
            ("nisa", "fp32"),
        ):
            rewriter.note("name", node)
            return Plain(repr(value))
        return None
    name, attr = found
    if name in TODAY and not hasattr(TODAY[name], attr):
        text = dtype_text(value, module.nl)
        if text is not None:
            return Plain(text)
    return None


__all__ = ["BINARY", "attribute", "binary", "compare", "emit", "function", "named", "unary"]
