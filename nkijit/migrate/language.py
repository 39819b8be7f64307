"""Rewrites of `nl` functions on tiles, as the current function or as their instructions."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence

from nkijit import language as today
from nkijit.classic import language as classic
from nkijit.migrate import bounds, operators
from nkijit.migrate.bounds import Crop
from nkijit.migrate.creation import dtype_of
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.observing import ObservedEvent, Seen
from nkijit.migrate.rewriting import Rewriter
from nkijit.migrate.shapes import axes_text, moved_last, reduced_shape, shape_text
from nkijit.migrate.values import Plain, TensorValue, Value

_ALONG = {
    "sum": "kept",
    "max": "kept",
    "min": "kept",
    "mean": "kept",
    "prod": "kept",
    "var": "kept",
    "all": "kept",
    "transpose": "swapped",
    "load_transpose2d": "swapped",
    "matmul": "none",
}
"""How the dimensions of a result follow from those of the operands, if they differ.

"kept": a reduction, which keeps the partition dimension. "swapped": a transpose. "none": a product.
"""


def load(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    """Rewrite `nl.load(x[...])` as an allocation and a DMA."""
    arguments = bounds.bind(classic.load, node)
    events = [e for e in rewriter.events(node) if isinstance(e.result, Seen)]
    if not events:
        raise NoRewriteError("nl.load, to which no run has come", node)
    seen = tuple(e.result for e in events)
    source = rewriter.tile(arguments["src"])
    cut = bounds.crop(rewriter, arguments, events)
    if not cut.is_whole:
        source = rewriter.bound(source, "source")
    if any(len(e.instructions) > 1 for e in events):
        raise NoRewriteError("a load under a mask that is no block", node)
    if isinstance(into, TensorValue):
        result = into
    else:
        name = into or rewriter.fresh("loaded")
        dtype = source.dtype
        if "dtype" in arguments and not _is_none(arguments["dtype"]):
            dtype = dtype_of(rewriter, arguments["dtype"])
        rewriter.allocate(name, _shape(source, seen), dtype, "sbuf")
        result = TensorValue(name, seen, is_name=True)
    rewriter.note("load", node)
    rewriter.call("nisa.dma_copy", {"dst": cut.of(result).text, "src": cut.of(source).text})
    return result


def _shape(source: TensorValue, seen: Sequence[Seen]) -> str:
    """Return the shape of a loaded tile."""
    if (*source.seen[-1].shape, 1) == seen[-1].shape:
        return f"({', '.join(source.size(d) for d in range(source.rank))}, 1)"
    if source.seen[-1].shape != seen[-1].shape:
        return repr(seen[-1].shape)
    return source.shape


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def store(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    """Rewrite `nl.store(x[...], tile)` as a DMA."""
    arguments = bounds.bind(classic.store, node)
    events = rewriter.events(node)
    if not events:
        raise NoRewriteError("nl.store, to which no run has come", node)
    place = rewriter.tile(arguments["dst"])
    value = rewriter.value(arguments["value"])
    cut = bounds.crop(rewriter, arguments, events)
    rewriter.note("store", node)
    forms = {tuple(i.name for i in e.instructions) for e in events if e.instructions}
    if len(forms) != 1:
        raise NoRewriteError("a store that takes other instructions each time", node)
    (form,) = forms
    if isinstance(value, Plain):
        if form != ("memset", "dma_copy"):
            raise NoRewriteError("a number that takes several stores", node)
        target = cut.of(place)
        name = rewriter.fresh("filled")
        rewriter.allocate(name, target.shape, target.dtype, "sbuf")
        rewriter.call("nisa.memset", {"dst": name, "value": value.text})
        rewriter.call("nisa.dma_copy", {"dst": target.text, "src": name})
        return Plain("")
    if not isinstance(value, TensorValue):
        raise NoRewriteError("an index expression is stored", node)
    source = rewriter.bound(value, "stored")
    same = len(source.seen[-1].shape) == len(place.seen[-1].shape)
    if not cut.is_whole and not same:
        raise NoRewriteError("a store of a tile of another rank under a mask", node)
    source, place = cut.of(source), cut.of(place)
    if form == ("tensor_copy", "dma_copy"):
        name = rewriter.fresh("moved")
        rewriter.allocate(name, source.shape, source.dtype, "sbuf")
        rewriter.call("nisa.tensor_copy", {"dst": name, "src": source.text})
        source = TensorValue(name, source.seen, is_name=True)
    elif form != ("dma_copy",):
        raise NoRewriteError(f"a store that takes {' and '.join(form)}", node)
    rewriter.call("nisa.dma_copy", {"dst": place.text, "src": operators.fitted(source, place)})
    return Plain("")


def function(
    rewriter: Rewriter, node: ast.Call, name: str, into: TensorValue | str | None
) -> Value:
    """Rewrite a call of a function of `nl` for which there is no specific rewrite."""
    found = rewriter.api(node.func)
    assert found is not None
    classic_function = getattr(classic, found[1])
    events = [e for e in rewriter.events(node) if isinstance(e.result, Seen)]
    if not events:
        if any(
            isinstance(e.arguments.get(n), Seen) for e in rewriter.events(node) for n in e.arguments
        ):
            raise NoRewriteError(f"nl.{name}, for which no rewrite is known", node)
        return Plain(rewriter.spliced(node))
    seen = tuple(e.result for e in events)
    arguments = bounds.bind(classic_function, node)
    values = _arguments(rewriter, arguments, events)
    cut = bounds.crop(rewriter, arguments, events)
    is_isa = isinstance(into, TensorValue) or not cut.is_whole or _is_inner(name, values, arguments)
    if not is_isa:
        return _current_call(rewriter, node, name, values, arguments, events, seen)
    if isinstance(into, TensorValue):
        result = into
    else:
        if cut.ranges and name in ("matmul",):
            raise NoRewriteError(f"nl.{name} under a mask", node)
        base = into or rewriter.fresh(name)
        shape, dtype = _result(rewriter, name, values, arguments, seen)
        rewriter.allocate(base, shape, dtype, seen[-1].buffer)
        result = TensorValue(base, seen, is_name=True)
    return _computed(rewriter, node, name, values, arguments, events, cut, result)


def _is_inner(name: str, values: dict[str, Value], arguments: dict[str, ast.expr]) -> bool:
    """Whether reduced dimensions are not the last ones, which current functions require."""
    x = values.get("x")
    if _ALONG.get(name) != "kept" or not isinstance(x, TensorValue) or "axis" not in arguments:
        return False
    return bool(moved_last(x, arguments["axis"], False))


def _arguments(
    rewriter: Rewriter, arguments: dict[str, ast.expr], events: Sequence[ObservedEvent]
) -> dict[str, Value]:
    """Return the arguments except mask and dtype."""
    values: dict[str, Value] = {}
    for argument, value in arguments.items():
        if argument in ("mask", "dtype"):
            continue
        if argument == "axis":
            values[argument] = Plain(axes_text(rewriter, value))
            continue
        found = rewriter.value(value)
        if not isinstance(found, (Plain, TensorValue)):
            raise NoRewriteError("an index expression is an operand", value)
        values[argument] = found
    return values


def _current_call(
    rewriter: Rewriter,
    node: ast.Call,
    name: str,
    values: dict[str, Value],
    arguments: dict[str, ast.expr],
    events: Sequence[ObservedEvent],
    seen: tuple[Seen, ...],
) -> TensorValue:
    """Return a call of the current API's function that has the classic function's name."""
    rewriter.module.needed.add("nl")
    known = inspect.signature(getattr(today, name)).parameters
    renamed = {"src": "x", "a": "x"} if "x" in known and "src" not in known else {}
    parts: list[str] = []
    keywords = {str(k.arg) for k in node.keywords}
    for argument, value in values.items():
        today_name = renamed.get(argument, argument)
        if argument == "compute_dtype" and argument not in known:
            continue
        if today_name not in known and argument in keywords:
            raise NoRewriteError(f"nl.{name} has no '{argument}' any more", node)
        text = operators.text_of(value)
        parts.append(f"{today_name}={text}" if argument in keywords else text)
    first = next((v for v in values.values() if isinstance(v, TensorValue)), None)
    dtype = None
    if "dtype" in arguments and not _is_none(arguments["dtype"]):
        dtype = dtype_of(rewriter, arguments["dtype"])
    elif "dtype" in known and first is not None and first.seen[-1].dtype != seen[-1].dtype:
        tiles = [v for v in values.values() if isinstance(v, TensorValue)]
        dtype = operators.result_dtype(rewriter, seen, tiles)
    elif name == "rand":
        dtype = f"{rewriter.module.nl}.float32"
    if dtype is not None:
        parts.append(f"dtype={dtype}")
    callee = rewriter.source.segment(node.func)
    if rewriter.api(node.func) != ("nl", name) or not callee.endswith(name):
        callee = f"{rewriter.module.nl}.{name}"
    text = f"{callee}({', '.join(parts)})"
    spelled = rewriter.source.segment(node)
    if "\n" in spelled and ast.unparse(ast.parse(spelled)) == ast.unparse(ast.parse(text)):
        text = spelled
    sizes = None
    if name not in _ALONG:
        sizes = operators.sizes_of(list(values.values()), seen)
    return TensorValue(text, seen, sizes=sizes)


def _result(
    rewriter: Rewriter,
    name: str,
    values: dict[str, Value],
    arguments: dict[str, ast.expr],
    seen: tuple[Seen, ...],
) -> tuple[str, str]:
    """Return the shape and dtype of a result."""
    tiles = {n: v for n, v in values.items() if isinstance(v, TensorValue)}
    if "dtype" in arguments and not _is_none(arguments["dtype"]):
        dtype = dtype_of(rewriter, arguments["dtype"])
    else:
        dtype = operators.result_dtype(rewriter, seen, list(tiles.values()))
    if _ALONG.get(name) == "swapped":
        (tile,) = tiles.values()
        return f"({tile.size(1)}, {tile.size(0)})", dtype
    if _ALONG.get(name) == "kept" and isinstance(x := values.get("x"), TensorValue):
        shape = reduced_shape(x, arguments["axis"], seen)
        if shape is not None:
            return shape, dtype
    return shape_text(tiles, seen), dtype


def _computed(
    rewriter: Rewriter,
    node: ast.Call,
    name: str,
    values: dict[str, Value],
    arguments: dict[str, ast.expr],
    events: Sequence[ObservedEvent],
    cut: Crop,
    result: TensorValue,
) -> TensorValue:
    """Compute a function into the tile `result`, which is returned.

    A function that emits one instruction becomes this instruction. Otherwise, the current API's
    function is called, and its result is copied.
    """
    along = _ALONG.get(name)
    operands: dict[str, Value] = {}
    for argument, value in values.items():
        if isinstance(value, TensorValue) and not cut.is_whole:
            value = cut.of(rewriter.bound(value, argument))
        operands[argument] = value
    dst = cut.of(result) if along is None else result
    if along == "swapped" and not cut.is_whole:
        dst = cut.of(result, (-1, -2))
    if along == "kept" and not cut.is_whole:
        x = operands["x"]
        assert isinstance(x, TensorValue)
        dst = cut.of(result, (-x.rank, *(0,) * (result.rank - 1)))
    instructions = {tuple(i.name for i in e.instructions) for e in events if e.instructions}
    rewriter.note("function", node)
    if name == "matmul" and instructions == {("nc_matmul",)}:
        x, y = (operators.text_of(operands[n]) for n in ("x", "y"))
        rewriter.call("nisa.nc_matmul", {"dst": dst.text, "stationary": x, "moving": y})
        return result
    if along is None and len(instructions) == 1:
        try:
            tiles = {n: v for n, v in operands.items() if n in ("x", "y", "src")}
            if len(tiles) == len(operands):
                operators.emit(rewriter, name, dst, tiles, events)
                return result
        except NoRewriteError:
            pass
    if name in ("sum", "max", "min") and instructions == {("tensor_reduce",)}:
        word = {"sum": "add", "max": "maximum", "min": "minimum"}[name]
        x = operands["x"]
        if isinstance(x, TensorValue):
            x = rewriter.bound(x, "x")
        moved = moved_last(x, arguments["axis"], "keepdims" in operands)
        arguments_of = {
            "dst": dst.text,
            "op": f"{rewriter.module.nl}.{word}",
            "data": operators.text_of(moved.get("data", x)),
            "axis": operators.text_of(moved.get("axis", operands["axis"])),
        }
        if "keepdims" in operands:
            arguments_of["keepdims"] = operators.text_of(operands["keepdims"])
        rewriter.call("nisa.tensor_reduce", arguments_of)
        return result
    inner = _current_call(
        rewriter, node, name, operands, {**arguments, **_typed(arguments)}, events, result.seen
    )
    if result.seen[-1].buffer in ("hbm", "private_hbm", "shared_hbm"):
        raise NoRewriteError(f"nl.{name} into HBM", node)
    rewriter.call("nisa.tensor_copy", {"dst": dst.text, "src": inner.text})
    return result


def _typed(arguments: dict[str, ast.expr]) -> dict[str, ast.expr]:
    return {"dtype": arguments["dtype"]} if "dtype" in arguments else {}


__all__ = ["function", "load", "store"]
