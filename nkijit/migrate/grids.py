"""Launch grids: loops in the kernel replace the instances of the classic launch."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from nkijit.export.layout import INDENT
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.rewriting import Rewriter
from nkijit.migrate.sources import Edit

PARAMETER = "grid"
_SHARED = "shared_hbm"


def loop_over(rewriter: Rewriter, grid: Sequence[int]) -> None:
    """Put the body of a rewritten kernel into loops over a grid, which becomes a parameter.

    Statements that all instances share, and the return, remain outside.
    """
    node, source = rewriter.node, rewriter.source
    body = list(node.body)
    while body and _is_end(body[-1]):
        body.pop()
    if any(isinstance(n, ast.Return) for s in body for n in ast.walk(s)):
        raise NoRewriteError("a return inside of the body of a kernel with a grid", node)
    if not body:
        return
    first = next((at for at, s in enumerate(body) if not _is_before(rewriter, s)), len(body))
    inside = body[first:]
    if not inside:
        return
    start, end = source.lines_of(inside[0])[0], source.lines_of(inside[-1])[1]
    mine = [e for e in rewriter.edits if start <= e.start and e.end <= end]
    rewriter.edits = [e for e in rewriter.edits if e not in mine]
    indentation = source.indentation(inside[0])
    text = source.changed(mine).encode()
    length = end - start + sum(len(e.text.encode()) - (e.end - e.start) for e in mine)
    block = text[start : start + length].decode()
    lines: list[str] = []
    for axis in range(len(grid)):
        count = f"{PARAMETER}[{axis}]"
        if axis == rewriter.spread:
            nl = rewriter.module.nl
            rewriter.module.needed.add("nl")
            count = f"{nl}.program_id(0), {count}, {nl}.num_programs(0)"
        lines.append(f"{indentation}{INDENT * axis}for program_{axis} in range({count}):")
    deeper = INDENT * len(grid)
    body_lines = block.rstrip("\n").split("\n")
    lines += [f"{deeper}{line}" if line.strip() else line for line in body_lines]
    rewriter.edits.append(Edit(start, end, "\n".join(lines) + "\n"))
    _add_parameter(rewriter, grid)


def _is_end(node: ast.stmt) -> bool:
    """Whether a statement does nothing but return."""
    if isinstance(node, ast.If):
        return all(map(_is_end, [*node.body, *node.orelse]))
    return isinstance(node, (ast.Return, ast.Pass))


def _is_before(rewriter: Rewriter, node: ast.stmt) -> bool:
    """Whether a statement remains before the loops, because all instances share it."""
    if isinstance(node, (ast.For, ast.While, ast.If, ast.With, ast.AugAssign)):
        return False
    for part in ast.walk(node):
        if not isinstance(part, ast.Call):
            continue
        found = rewriter.api(part.func)
        if found is None:
            continue
        if found == ("nl", "ndarray") and f".{_SHARED}" in rewriter.source.segment(part):
            continue
        if found[1] in ("arange", "ds", "par_dim"):
            continue
        return False
    return True


def _add_parameter(rewriter: Rewriter, grid: Sequence[int]) -> None:
    arguments = rewriter.node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise NoRewriteError("a kernel with a grid and with * in its parameters", rewriter.node)
    if PARAMETER in {a.arg for a in arguments.args}:
        raise NoRewriteError(f"a kernel with a grid and a parameter '{PARAMETER}'", rewriter.node)
    last: list[ast.AST] = [*arguments.args[-1:], *arguments.defaults[-1:]]
    last += [a.annotation for a in arguments.args[-1:] if a.annotation is not None]
    if not last:
        raise NoRewriteError("a kernel with a grid and without parameters", rewriter.node)
    end = max(rewriter.source.span(each)[1] for each in last)
    text = f"({', '.join(map(str, grid))}{',' if len(grid) == 1 else ''})"
    rewriter.edits.append(Edit(end, end, f", {PARAMETER}={text}"))


__all__ = ["PARAMETER", "loop_over"]
