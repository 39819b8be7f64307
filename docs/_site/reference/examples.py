"""The examples of docstrings as complete kernels, with their IR."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass
from typing import Any

from support.function_examples import example_of, names

import nkijit as nki
from nkijit.traced.kernel import TracedKernel
from nkijit.tracing.views import TensorView


@dataclass(frozen=True)
class Example:
    """A kernel with the example of a function."""

    source: str
    cores: int

    @property
    def traced(self) -> TracedKernel:
        """The traced kernel."""
        known: dict[str, Any] = {}
        exec(compile(self.source, "example.py", "exec"), known)
        return known["example"][self.cores].trace()

    def ir(self, op: str) -> list[str]:
        """Return the lines of the IR with an operation."""
        lines = self.traced.text().split("\n")
        return [line.strip() for line in lines if line.strip().split(" = ")[-1].startswith(op)]


_HEAD = """\
import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl
import nki.collectives as ncc


@nki.jit
def example():
"""
_BUFFERS = {"sbuf": "nl.sbuf", "psum": "nl.psum", "private_hbm": "nl.hbm"}


def example_kernel(function: Any) -> Example:
    """Return the example in a function's docstring as a file with a kernel.

    Raises AssertionError where it uses a name that is not defined for examples.
    """
    code = example_of(function)
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    allocated: list[str] = []

    @nki.jit
    def allocate():
        known = names()
        for name, value in known.items():
            if name in used and isinstance(value, TensorView):
                buffer = value.buffer.name
                where = _BUFFERS.get(buffer, f"nl.{buffer}")
                allocated.append(
                    f"{name} = nl.ndarray({value.shape}, nl.{value.dtype}, buffer={where})"
                )
        allocated.extend(f"{name} = {text}" for name, text in _OTHERS.items() if name in used)
        return nki.language.ndarray((128, 1), nki.language.float32, buffer=nki.language.shared_hbm)

    allocate.trace()
    body = "\n".join((*dict.fromkeys(allocated), code.strip()))
    head = "".join(
        line
        for line in _HEAD.splitlines(keepends=True)
        if not line.startswith("import") or line.split()[-1] in {*used, "nl", "nki"}
    )
    out = "return nl.ndarray((128, 1), nl.float32, buffer=nl.shared_hbm)"
    cores = 2 if any(w in code for w in ("barrier", "sendrecv", "_v(", "_v_prepare(")) else 1
    source = f"{head}{textwrap.indent(body, '    ')}\n    {out}\n"
    return Example(source, cores)


_OTHERS = {"register": "nisa.register_alloc(1)", "core": "nl.program_id(0)"}
