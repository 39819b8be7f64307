"""Rewrites of allocations: `nl.ndarray`, filled tiles, block dimensions."""

from __future__ import annotations

import ast

from nkijit.classic import isa, language
from nkijit.migrate import bounds
from nkijit.migrate.api import UNKNOWN, dtype_text
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.observing import Seen
from nkijit.migrate.rewriting import Rewriter
from nkijit.migrate.values import TensorValue, Value

_DROPPED = ("lazy_initialization",)


def dtype_of(rewriter: Rewriter, node: ast.expr) -> str:
    """Return the text of a dtype."""
    value = rewriter.value_named(node)
    text = None if value is UNKNOWN else dtype_text(value, rewriter.module.nl)
    if text is not None:
        spelled = rewriter.source.segment(node)
        same = spelled == text or rewriter.api(node) is not None
        return spelled if same and _is_spelled_so(rewriter, node) else text
    return rewriter.text(node)


def _is_spelled_so(rewriter: Rewriter, node: ast.expr) -> bool:
    """Whether a dtype is written as a member of the language's module, e.g. `nl.float32`."""
    return rewriter.source.segment(node).startswith(f"{rewriter.module.nl}.")


def buffer_of(rewriter: Rewriter, node: ast.expr) -> str:
    """Return the text of a buffer. An address such as `nl.sbuf.alloc(…)` is dropped."""
    if isinstance(node, ast.Call):
        found = rewriter.source.segment(node.func)
        for region in ("sbuf", "psum"):
            if f".{region}." in found or found.startswith(f"{region}."):
                rewriter.note("placement", node)
                return f"{rewriter.module.nl}.{region}"
        raise NoRewriteError("a buffer that a call makes", node)
    return rewriter.text(node)


def create(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    """Rewrite `nl.ndarray`, `nl.zeros` and similar calls. Block dimensions become nested lists."""
    found = rewriter.api(node.func)
    assert found is not None
    name = found[1]
    arguments = bounds.bind(getattr(language, name), node)
    for dropped in _DROPPED:
        arguments.pop(dropped, None)
    events = [e for e in rewriter.events(node) if isinstance(e.result, Seen)]
    seen = tuple(e.result for e in events)
    if not seen:
        raise NoRewriteError(f"nl.{name}, to which no run has come", node)
    nl = rewriter.module.nl
    callee = f"{nl}.{name}"
    rewriter.module.needed.add("nl")
    texts: list[str] = []
    blocks = ""
    is_keyword = {str(k.arg) for k in node.keywords}
    for argument, value in arguments.items():
        if argument == "shape":
            text, blocks = _shape(rewriter, value, seen)
        elif argument == "dtype":
            text = dtype_of(rewriter, value)
        elif argument == "buffer":
            text = buffer_of(rewriter, value)
        else:
            text = rewriter.text(value)
        as_keyword = argument in is_keyword and argument != "a"
        texts.append(f"{argument}={text}" if as_keyword else text)
    # The first of several accumulating matmuls overwrites zeros.
    if name == "zeros" and all(s.buffer == "psum" for s in seen) and not blocks:
        callee = f"{nl}.ndarray" if _is_accumulated(rewriter, node) else callee
    text = f"{callee}({', '.join(texts)})"
    if blocks:
        return TensorValue(_nested(text, blocks), seen)
    spelled = rewriter.source.segment(node)
    if " ".join(spelled.split()) == " ".join(text.split()):
        return TensorValue(spelled, seen)
    return TensorValue(text, seen)


def _nested(text: str, blocks: str) -> str:
    """Return the text of nested lists of the tile `text`; `blocks` has the lengths of the lists."""
    for size in reversed(blocks.split("\0")):
        text = f"[{text} for _ in range({size})]"
    return text


def _is_accumulated(rewriter: Rewriter, node: ast.Call) -> bool:
    """Whether matmuls accumulate into the variable that the statement assigns, with `+=`."""
    statement = rewriter.statement
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    for other in ast.walk(rewriter.node):
        if isinstance(other, ast.AugAssign) and isinstance(other.op, ast.Add):
            target = other.target
            root = target.value if isinstance(target, ast.Subscript) else target
            if isinstance(root, ast.Name) and root.id == name:
                events = [e for e in rewriter.events(other) if "self" in e.arguments]
                if events and all(not e.instructions for e in events):
                    return True
    return False


def _shape(rewriter: Rewriter, node: ast.expr, seen: tuple[Seen, ...]) -> tuple[str, str]:
    """Return the text of a tile's shape, and the block dimensions as texts separated by NUL."""
    blocks = seen[-1].blocks
    if not blocks:
        return rewriter.text(node), ""
    rewriter.note("blocks", node)
    if not isinstance(node, (ast.Tuple, ast.List)):
        raise NoRewriteError("block dimensions of a shape that is not written out", node)
    dims = [rewriter.text(item) for item in node.elts]
    inner = dims[blocks:]
    return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})", "\0".join(dims[:blocks])


def memset(rewriter: Rewriter, node: ast.Call, into: TensorValue | str | None) -> Value:
    """Rewrite `nisa.memset(shape, value, dtype)`."""
    arguments = bounds.bind(isa.memset, node)
    events = [e for e in rewriter.events(node) if isinstance(e.result, Seen)]
    seen = tuple(e.result for e in events)
    if not seen:
        raise NoRewriteError("nisa.memset, to which no run has come", node)
    crop = bounds.crop(rewriter, arguments, events)
    if isinstance(into, TensorValue):
        result = into
    else:
        name = into or rewriter.fresh("filled")
        shape = rewriter.text(arguments["shape"])
        rewriter.allocate(name, shape, dtype_of(rewriter, arguments["dtype"]), "sbuf")
        result = TensorValue(name, seen, is_name=True)
    call = {"dst": crop.of(result).text, "value": rewriter.text(arguments["value"])}
    if "engine" in arguments:
        call["engine"] = rewriter.text(arguments["engine"])
    rewriter.note("instruction", node)
    rewriter.call("nisa.memset", call)
    return result


__all__ = ["buffer_of", "create", "dtype_of", "memset"]
