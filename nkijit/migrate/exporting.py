"""Replacement of kernels by the export of their trace."""

from __future__ import annotations

import ast
import re

from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.rewriting import Module
from nkijit.migrate.sources import Source
from nkijit.traced.kernel import TracedKernel


def exported(
    traced: TracedKernel,
    name: str,
    source: Source,
    node: ast.FunctionDef,
    problem: NoRewriteError,
    arguments: str,
    module: Module,
) -> tuple[str, set[str]]:
    """Return the definition that replaces a kernel, and the modules that it needs.

    Raises:
        ExportError: the API cannot express the kernel.
    """
    text = traced.source(comments=False)
    tree = ast.parse(text)
    lines = text.split("\n")
    kernels = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    first = kernels[0].decorator_list[0].lineno
    before = [n for n in tree.body if isinstance(n, (ast.Assign, ast.AnnAssign))]
    start = min([first, *(n.lineno for n in before)])
    body = "\n".join(lines[start - 1 :]).rstrip("\n")
    body = re.sub(rf"^def {re.escape(kernels[0].name)}\(", f"def {name}(", body, flags=re.M)
    imports = {
        alias.asname or alias.name
        for n in tree.body
        if isinstance(n, ast.Import)
        for alias in n.names
    }
    others = [
        f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
        for n in tree.body
        if isinstance(n, ast.Import)
        for alias in n.names
        if not alias.name.startswith("nki")
    ]
    if module.nl != "nl" or module.nisa != "nisa":
        body = re.sub(r"\bnl\.", f"{module.nl}.", body)
        body = re.sub(r"\bnisa\.", f"{module.nisa}.", body)
    line = problem.line or node.lineno
    comments = [
        "# Written by `nkijit migrate` from a trace: no rewrite is known for what the kernel had,",
        f"# {problem.message} (line {line}).",
        f"# It is for these arguments only: {arguments}",
    ]
    indentation = source.indentation(node)
    whole = [*(f"{indentation}{i}" for i in others), *comments, *body.split("\n")]
    definition = "\n".join(
        f"{indentation}{each}" if each and indentation else each for each in whole
    )
    return f"{definition}\n", imports & {"nl", "nisa"}


__all__ = ["exported"]
