"""Dispatch of classic API calls to the functions that rewrite them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from nkijit.migrate import bounds, creation, instructions, language
from nkijit.migrate.amounts import Amount
from nkijit.migrate.api import TODAY
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.indices import Index
from nkijit.migrate.observing import AUTHOR, Seen
from nkijit.migrate.rewriting import Rewriter
from nkijit.migrate.values import Plain, TensorValue, Value

Handler = Callable[["Rewriter", ast.Call, "TensorValue | str | None"], Value]
"""Rewrites a call and returns its value.

The last argument is the place of the result: a tensor, the name of a new variable, or None.
"""


def call(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    """Rewrite a call of an API function, a method or another function. `into` as for `Handler`."""
    found = rewriter.api(node.func)
    if found is None:
        return _method(rewriter, node, into)
    module, name = found
    handler = _HANDLERS.get(f"{module}.{name}")
    if handler is not None:
        return handler(rewriter, node, into)
    if module == "nisa" and hasattr(TODAY["nisa"], name):
        return instructions.instruction(rewriter, node, name, into)
    if module == "nl" and hasattr(TODAY["nl"], name):
        return language.function(rewriter, node, name, into)
    raise NoRewriteError(f"{module}.{name} has no counterpart", node)


def _method(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    """Rewrite a method call of a tensor, or a call of a function outside the API."""
    if isinstance(node.func, ast.Attribute):
        method = node.func.attr
        events = [e for e in rewriter.events(node) if isinstance(e.arguments.get("self"), Seen)]
        if events and method in ("reshape", "view", "astype", "broadcast_to", "expand_dims"):
            owner = rewriter.tile(node.func.value)
            seen = tuple(e.result for e in events if isinstance(e.result, Seen))
            inner = ", ".join(
                [*(rewriter.text(a) for a in node.args)]
                + [f"{k.arg}={rewriter.text(k.value)}" for k in node.keywords]
            )
            if method in ("reshape", "view"):
                sizes = _shape_of(rewriter, node) if method == "reshape" else None
                source = owner.source or owner.base if method == "reshape" else ""
                return TensorValue(
                    f"{owner.text}.{method}({inner})", seen, sizes=sizes, source=source
                )
            rewriter.module.needed.add("nl")
            name = {"astype": "copy"}.get(method, method)
            rewriter.note("name", node)
            return TensorValue(f"{rewriter.module.nl}.{name}({owner.text}, {inner})", seen)
    results = [e.result for e in rewriter.events(node) if e.function == AUTHOR]
    text = rewriter.spliced(node)
    seen = tuple(r for r in results if isinstance(r, Seen) and not r.blocks)
    return TensorValue(text, seen) if seen and len(seen) == len(results) else Plain(text)


def _shape_of(rewriter: Rewriter, node: ast.Call) -> Any:
    shape = node.args[0] if node.args else None
    if isinstance(shape, (ast.Tuple, ast.List)):
        sizes = [Amount.of(rewriter.text(item)) for item in shape.elts]
        return None if any((s.number or 0) < 0 for s in sizes) else tuple(sizes)
    return None


def _arange(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    amounts = [rewriter.amount(a) for a in node.args]
    if len(amounts) == 1:
        return Index.arange(Amount.of(0), amounts[0])
    return Index.arange(*amounts)


def _range(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    rewriter.note("loop", node)
    if node.keywords:
        raise NoRewriteError("a loop with named arguments", node)
    return Plain(f"range({', '.join(rewriter.text(a) for a in node.args)})")


def _par_dim(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    rewriter.note("blocks", node)
    return Plain(rewriter.text(node.args[0]))


def _as_it_is(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    return Plain(rewriter.spliced(node))


def _constant(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    """Rewrite `nl.shared_constant(array, dtype)`: in the current API, the array has the dtype."""
    arguments = bounds.bind(language.classic.shared_constant, node)
    seen = tuple(e.result for e in rewriter.events(node) if isinstance(e.result, Seen))
    if not seen:
        raise NoRewriteError("nl.shared_constant, to which no run has come", node)
    text = rewriter.text(arguments["constant"])
    if "dtype" in arguments:
        dtype = rewriter.value_named(arguments["dtype"])
        name = getattr(dtype, "__name__", "")
        if getattr(np, name, None) is not dtype:
            raise NoRewriteError("a constant of a data type that is not NumPy's", node)
        text = f"{text}.astype({rewriter.text(arguments['dtype'])})"
    rewriter.module.needed.add("nl")
    return TensorValue(f"{rewriter.module.nl}.shared_constant({text})", seen)


def _program(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    if rewriter.grid is None:
        return Plain(rewriter.spliced(node))
    if rewriter.api(node.func) == ("nl", "program_ndim"):
        rewriter.note("grid", node)
        return Plain("len(grid)")
    axis = node.args[0] if node.args else node.keywords[0].value
    if not isinstance(axis, ast.Constant):
        raise NoRewriteError("a dimension of the grid that is no number", node)
    rewriter.note("grid", node)
    found = rewriter.api(node.func)
    assert found is not None
    if found[1] == "num_programs":
        return Plain(f"grid[{axis.value}]")
    return Plain(f"program_{axis.value}")


def _static_cast(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    if not any(isinstance(e.result, Seen) for e in rewriter.events(node)):
        raise NoRewriteError("nl.static_cast of what is no tile", node)
    renamed = ast.copy_location(ast.Call(node.func, node.args, node.keywords), node)
    return language.function(rewriter, renamed, "copy", into)


_HANDLERS: dict[str, Handler] = {
    "nl.arange": _arange,
    "nl.affine_range": _range,
    "nl.sequential_range": _range,
    "nl.static_range": _range,
    "nl.par_dim": _par_dim,
    "nl.ds": _as_it_is,
    "nl.program_id": _program,
    "nl.num_programs": _program,
    "nl.program_ndim": _program,
    "nl.static_cast": _static_cast,
    "nl.ndarray": creation.create,
    "nl.zeros": creation.create,
    "nl.ones": creation.create,
    "nl.full": creation.create,
    "nl.zeros_like": creation.create,
    "nl.empty_like": creation.create,
    "nl.shared_constant": _constant,
    "nl.load": language.load,
    "nl.store": language.store,
    "nl.device_print": _as_it_is,
    "nisa.memset": creation.memset,
    "nisa.iota": instructions.iota,
    "nisa.affine_select": instructions.affine_select,
    "nisa.get_nc_version": _as_it_is,
}


__all__ = ["call"]
