"""Rewrites of instructions that return a tile: it is allocated, and passed as the destination."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from nkijit import isa as today
from nkijit.classic import isa as classic
from nkijit.classic.isa.constants import is_enumeration
from nkijit.migrate import bounds, operators
from nkijit.migrate.amounts import Amount
from nkijit.migrate.api import UNKNOWN, member_text, operator_text
from nkijit.migrate.bounds import Crop
from nkijit.migrate.creation import dtype_of
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.indices import Index, Mask
from nkijit.migrate.observing import ObservedEvent, Seen
from nkijit.migrate.rewriting import Rewriter
from nkijit.migrate.shapes import axes_text, moved_last, reduced_shape, shape_text
from nkijit.migrate.values import Plain, TensorValue, Value

_OPERATORS = ("op", "op0", "op1", "reduce_op", "comp_op0", "comp_op1", "dst_rmw_op")
_PER_PARTITION = (
    "bias",
    "scale",
    "reduce_res",
    "operand0",
    "operand1",
    "imm0",
    "imm1",
    "bound0",
    "bound1",
    "on_false",
    "initial",
    "vals",
    "dst_idx",
)
"""Names of operands that have one element per partition if they are tiles."""
_DATA_OPERAND1 = ("scalar_tensor_tensor",)
"""Instructions with a whole tile as their second operand."""
_SWAPPED = ("nc_transpose",)


def instruction(
    rewriter: Rewriter, node: ast.Call, name: str, into: TensorValue | str | None
) -> Value:
    """Rewrite `nisa.name(...)`."""
    function = getattr(classic, name)
    arguments = bounds.bind(function, node)
    events = rewriter.events(node)
    if not events:
        raise NoRewriteError(f"nisa.{name}, to which no run has come", node)
    rewriter.note("instruction", node)
    values = _values(rewriter, name, arguments, events)
    cut = bounds.crop(rewriter, arguments, events)
    extra = _extra(rewriter, name, arguments, values)
    values |= extra
    writes = "dst" in arguments
    if not writes and not all(isinstance(e.result, Seen) for e in events):
        raise NoRewriteError(f"nisa.{name} returns no tile", node)
    seen = tuple(e.result for e in events if isinstance(e.result, Seen))
    main, copies = _forms(name, events, node)
    cropped = _cropped(rewriter, name, values, cut)
    for owner, dtype in copies:
        cropped[owner] = _copied(rewriter, cropped[owner], dtype)
    if writes:
        result = None
        text = cropped["dst"].text
    elif isinstance(into, TensorValue):
        result = into
        text = _place(name, cut, result, values).text
    else:
        base = into or rewriter.fresh(name)
        shape, dtype = _shape(name, values, seen), _dtype(rewriter, name, arguments, values, seen)
        if name == "tensor_reduce" and isinstance(data := values["data"], TensorValue):
            shape = reduced_shape(data, arguments["axis"], seen) or shape
        rewriter.allocate(base, shape, dtype, seen[-1].buffer)
        result = TensorValue(base, seen, is_name=True)
        text = _place(name, cut, result, values).text
    if name == "tensor_reduce":
        cropped |= moved_last(cropped["data"], arguments["axis"], bool(cropped.get("keepdims")))
    call = {"dst": text}
    for parameter in inspect.signature(getattr(today, main)).parameters:
        if parameter in cropped and parameter != "dst":
            call[parameter] = operators.text_of(cropped[parameter])
    lost = [n for n in cropped if n not in call]
    if lost:
        raise NoRewriteError(f"nisa.{main} has no '{lost[0]}' any more", node)
    rewriter.call(f"nisa.{main}", call)
    return Plain("") if result is None else result


def _values(
    rewriter: Rewriter,
    name: str,
    arguments: Mapping[str, ast.expr],
    events: Sequence[ObservedEvent],
) -> dict[str, Value]:
    """Return the arguments except mask and dtype, as the current API takes them."""
    values: dict[str, Value] = {}
    for argument, node in arguments.items():
        if argument in ("mask", "dtype"):
            continue
        value = rewriter.value_named(node)
        text = None
        if argument in _OPERATORS and value is not UNKNOWN:
            text = operator_text(value, rewriter.module.nl)
            if text is not None:
                rewriter.module.needed.add("nl")
                if rewriter.source.segment(node) != text:
                    rewriter.note("name", node)
        elif is_enumeration(argument):
            known = value if value is not UNKNOWN else getattr(node, "value", UNKNOWN)
            if known is not UNKNOWN:
                text = member_text(argument, known, rewriter.module.nisa)
                if text is not None and rewriter.source.segment(node) != text:
                    rewriter.note("enumeration", node)
        elif argument == "axis":
            text = axes_text(rewriter, node)
        if text is not None:
            values[argument] = Plain(text)
            continue
        found = rewriter.value(node)
        if isinstance(found, Plain) and found.text == "None":
            continue
        if not isinstance(found, (Plain, TensorValue)):
            raise NoRewriteError("an index expression is an operand", node)
        values[argument] = found
    return values


def _extra(
    rewriter: Rewriter,
    name: str,
    arguments: Mapping[str, ast.expr],
    values: Mapping[str, Value],
) -> dict[str, Value]:
    """Return the arguments that are spelled differently in the current API."""
    found: dict[str, Value] = {}
    mode = arguments.get("perf_mode")
    if isinstance(mode, ast.Constant) and mode.value == "double_row_gen3":
        found["perf_mode"] = Plain(f"{rewriter.module.nisa}.matmul_perf_mode.double_row")
    return found


def _forms(
    name: str, events: Sequence[ObservedEvent], node: ast.AST
) -> tuple[str, list[tuple[str, tuple[str, str]]]]:
    """Return the name of a call's main instruction, and the operands that were copied before it.

    A copied operand is (name of the operand, (dtype, buffer) of the copy).

    Raises:
        NoRewriteError: the call emitted other instructions.
    """
    forms = {e.instructions for e in events if e.instructions}
    shapes = {tuple((i.name, i.reads) for i in form) for form in forms}
    if len(shapes) != 1:
        raise NoRewriteError(f"nisa.{name} takes other instructions each time", node)
    form = next(iter(forms))
    *before, main = form
    copies: list[tuple[str, tuple[str, str]]] = []
    for step in before:
        owner = dict(step.reads).get("src")
        if step.name != "tensor_copy" or owner is None:
            steps = " and ".join(i.name for i in form)
            raise NoRewriteError(f"nisa.{name} that takes {steps}", node)
        copies.append((owner, step.wrote))
    return main.name, copies


def _copied(rewriter: Rewriter, value: Value, wrote: tuple[str, str]) -> TensorValue:
    """Copy an operand to a new tile, e.g. from PSUM to SBUF; `wrote` is its (dtype, buffer)."""
    assert isinstance(value, TensorValue)
    tile = rewriter.bound(value, "operand")
    name = rewriter.fresh(f"{tile.base.partition('[')[0].partition('.')[0]}_sbuf")
    dtype = tile.dtype if tile.seen[-1].dtype == wrote[0] else f"{rewriter.module.nl}.{wrote[0]}"
    rewriter.allocate(name, tile.shape, dtype, wrote[1])
    rewriter.call("nisa.tensor_copy", {"dst": name, "src": tile.text})
    return TensorValue(name, tile.seen, is_name=True)


def _cropped(
    rewriter: Rewriter, name: str, values: Mapping[str, Value], cut: Crop
) -> dict[str, Any]:
    """Return the operands, cropped to the part that the mask selects."""
    found: dict[str, Any] = dict(values)
    for argument, value in values.items():
        if not isinstance(value, TensorValue):
            continue
        if not cut.is_whole:
            value = rewriter.bound(value, argument)
        if name == "nc_matmul":
            # The mask selects a part of the result.
            dims = (0, -2) if argument == "stationary" else (0, -1)
            found[argument] = cut.of(value, dims) if value.rank == 2 else value
        elif _is_vector(name, argument):
            rank = max(v.rank for v in values.values() if isinstance(v, TensorValue))
            found[argument] = cut.of(value, (-rank, *(0,) * (value.rank - 1)))
        else:
            found[argument] = cut.of(value)
    return found


def _is_vector(name: str, argument: str) -> bool:
    if argument == "operand1" and name in _DATA_OPERAND1:
        return False
    return argument in _PER_PARTITION


def _place(name: str, cut: Crop, result: TensorValue, values: Mapping[str, Value]) -> TensorValue:
    """Return the part of a result that the call computes, as restricted by its mask."""
    if cut.is_whole:
        return result
    if name in _SWAPPED:
        return cut.of(result, (-1, -2))
    if name == "tensor_reduce":
        data = values["data"]
        assert isinstance(data, TensorValue)
        # Partitions are not reduced; the reduced dimensions are the last ones.
        return cut.of(result, (-data.rank, *(0,) * (result.rank - 1)))
    if name in ("max8", "bn_stats", "bn_aggr", "nc_find_index8"):
        return cut.of(result, (-result.rank, *(0,) * (result.rank - 1)))
    return cut.of(result)


def _shape(name: str, values: Mapping[str, Value], seen: Sequence[Seen]) -> str:
    """Return an expression for the shape of a result."""
    tiles = {n: v for n, v in values.items() if isinstance(v, TensorValue)}
    if name == "nc_matmul":
        rows, columns = tiles["stationary"], tiles["moving"]
        free = [columns.size(d) for d in range(1, columns.rank)]
        if rows.rank == 2 and len(seen[-1].shape) == columns.rank:
            return f"({', '.join([rows.size(1), *free])})"
        if rows.rank == columns.rank == 3 and len(seen[-1].shape) == 2:
            return f"({rows.size(2)}, {columns.size(2)})"
        return repr(seen[-1].shape)
    if name in _SWAPPED or name == "dma_transpose":
        tile = next(iter(tiles.values()))
        if tile.rank == 2:
            return f"({tile.size(1)}, {tile.size(0)})"
        return repr(seen[-1].shape)
    whole = {n: t for n, t in tiles.items() if not _is_vector(name, n)}
    return shape_text(whole or tiles, seen)


def _dtype(
    rewriter: Rewriter,
    name: str,
    arguments: Mapping[str, ast.expr],
    values: Mapping[str, Value],
    seen: Sequence[Seen],
) -> str:
    """Return an expression for the dtype of a result."""
    requested = arguments.get("dtype")
    if requested is not None and not (
        isinstance(requested, ast.Constant) and requested.value is None
    ):
        return dtype_of(rewriter, requested)
    if name == "nc_matmul":
        rewriter.module.needed.add("nl")
        return f"{rewriter.module.nl}.float32"
    tiles = [v for v in values.values() if isinstance(v, TensorValue)]
    return operators.result_dtype(rewriter, seen, tiles)


def _affine(rewriter: Rewriter, index: Index, seen: Seen) -> dict[str, str]:
    """Return the arguments (pattern, offset, multiplier) that compute an index expression."""
    rank = len(seen.shape)
    zero = (Amount.of(0), Amount.of(1))
    pairs: list[str] = []
    for dim in range(1, rank):
        step, size = index.dims.get(dim - rank, (zero[0], Amount.of(seen.shape[dim])))
        pairs.append(f"[{step}, {size}]")
    partition = index.dims.get(-rank, zero)[0]
    return {
        "pattern": f"[{', '.join(pairs)}]",
        "offset": str(index.begin),
        "channel_multiplier": str(partition),
    }


def iota(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    """Rewrite `nisa.iota(expr, dtype)`: the expression becomes a pattern."""
    arguments = bounds.bind(classic.iota, node)
    events = [e for e in rewriter.events(node) if isinstance(e.result, Seen)]
    if not events or not bounds.crop(rewriter, arguments, events).is_whole:
        raise NoRewriteError("nisa.iota under a mask", node)
    seen = tuple(e.result for e in events)
    expression = rewriter.value(arguments["expr"])
    if isinstance(expression, Plain):
        expression = Index(Amount.of(expression.text), 0)
    if not isinstance(expression, Index):
        raise NoRewriteError("nisa.iota of what is no index expression", node)
    if isinstance(into, TensorValue):
        result = into
    else:
        name = into or rewriter.fresh("iota")
        rank = len(seen[-1].shape)
        sizes = [
            str(expression.dims[d - rank][1])
            if d - rank in expression.dims
            else str(seen[-1].shape[d])
            for d in range(rank)
        ]
        dtype = dtype_of(rewriter, arguments["dtype"])
        rewriter.allocate(name, f"({', '.join(sizes)})", dtype, "sbuf")
        result = TensorValue(name, seen, is_name=True)
    rewriter.note("instruction", node)
    rewriter.call("nisa.iota", {"dst": result.text, **_affine(rewriter, expression, seen[-1])})
    return result


_SIGNS: Mapping[str, tuple[int, int, str]] = {
    # The comparison of `sign * (left - right) + shift` with 0: sign, shift, operator.
    ">": (1, -1, "greater_equal"),
    ">=": (1, 0, "greater_equal"),
    "<": (-1, -1, "greater_equal"),
    "<=": (-1, 0, "greater_equal"),
    "==": (1, 0, "equal"),
    "!=": (1, 0, "not_equal"),
}


def affine_select(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    """Rewrite `nisa.affine_select(pred, …)`: the comparison becomes a pattern and an operator."""
    arguments = bounds.bind(classic.affine_select, node)
    events = [e for e in rewriter.events(node) if isinstance(e.result, Seen)]
    predicate = arguments.pop("pred")
    if not events:
        raise NoRewriteError("nisa.affine_select, to which no run has come", node)
    seen = tuple(e.result for e in events)
    cut = bounds.crop(rewriter, arguments, events)
    difference, operator = _predicate(rewriter, predicate)
    if not cut.is_whole:
        raise NoRewriteError("nisa.affine_select under a mask", node)
    values = _values(rewriter, "affine_select", arguments, events)
    _, copies = _forms("affine_select", events, node)
    for owner, wrote in copies:
        values[owner] = _copied(rewriter, values[owner], wrote)
    if isinstance(into, TensorValue):
        result = into
    else:
        name = into or rewriter.fresh("selected")
        dtype = _dtype(rewriter, "affine_select", arguments, values, seen)
        rewriter.allocate(name, _shape("affine_select", values, seen), dtype, "sbuf")
        result = TensorValue(name, seen, is_name=True)
    rewriter.note("instruction", node)
    pattern = _affine(rewriter, difference, seen[-1])
    call = {
        "dst": result.text,
        "pattern": pattern["pattern"],
        "channel_multiplier": pattern["channel_multiplier"],
        **{n: operators.text_of(v) for n, v in values.items()},
        "cmp_op": f"{rewriter.module.nl}.{operator}",
        "offset": pattern["offset"],
    }
    rewriter.call("nisa.affine_select", call)
    return result


def _predicate(rewriter: Rewriter, node: ast.expr) -> tuple[Index, str]:
    """Convert a comparison to a comparison with 0: returns its left side and its operator."""
    mask = rewriter.value(node)
    if not isinstance(mask, Mask) or len(mask.comparisons) != 1 or mask.conditions:
        raise NoRewriteError("a predicate that is not one comparison of index expressions", node)
    ((left, comparison, right),) = mask.comparisons
    sign, shift, operator = _SIGNS[comparison]
    difference = left.plus(right, -1).times(Amount.of(sign))
    return difference.plus(Amount.of(shift)), operator


__all__ = ["affine_select", "instruction", "iota"]
