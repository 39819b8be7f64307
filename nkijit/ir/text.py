"""Printing and parsing of IR, and the kernels of a parsed module."""

from __future__ import annotations

import os
from io import StringIO
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.scf import Scf

from nkijit.dialects.engine import Engine
from nkijit.dialects.ncc import Ncc
from nkijit.dialects.nisa import Nisa
from nkijit.dialects.nki import Nki
from nkijit.dialects.nki.kernel import KernelOp, launches
from nkijit.dialects.spelling import numbered
from nkijit.ir.parser import parse_ir, read_ir
from nkijit.passes.diagnostics.ir_printer import IrPrinter
from nkijit.passes.diagnostics.source_text import show_source_below
from nkijit.passes.transform.reroll import rolled_module


def ir_text_of(
    module: ModuleOp, *, locations: bool = False, generic: bool = False, rolled: bool = False
) -> str:
    """Return IR as text; the options are the same as for `TracedKernel.text`."""
    if rolled:
        module = rolled_module(module)
    stream = StringIO()
    printer = IrPrinter(stream, print_debuginfo=locations, print_generic_format=generic)
    printer.print_op(module)
    return stream.getvalue() + "\n"


def ir_context() -> Context:
    """Return an xDSL context with the dialects of traced kernels and lowered programs."""
    context = Context()
    for dialect in (Builtin, Arith, Scf, Nki, Nisa, Ncc, Engine):
        context.load_dialect(dialect)
    return context


def parse(text: str, name: str | None = None, *, rolled: bool = False) -> ModuleOp:
    """Parse IR text. Raises xDSL's ParseError or `InvalidOperation`, both with line and column.

    Args:
        text: the IR.
        name: the name of the file that the text comes from, for the locations of operations without
            `loc`.
        rolled: retain `nki.repeat`, which only `reroll` and `unroll` accept. By default it is
            unrolled.
    """
    return parse_ir(ir_context(), text, name, rolled=rolled)


def load_module(path: str | os.PathLike[str]) -> ModuleOp:
    """Parse a `.mlir` file.

    Findings may quote the source files that the file's locations name, if these are below the
    file's folder.

    Raises the exceptions of `parse` and `read_ir`.
    """
    text = read_ir(path)
    show_source_below(Path(path).parent)
    return parse(text, os.fspath(path))


def launches_of(module: ModuleOp) -> dict[str, list[KernelOp]]:
    """Return the programs of each kernel in a module, by the kernel's name, in the order of cores.

    Raises ValueError when the program of a core is missing.
    """
    found = {kernels[0].launch_name: kernels for kernels in launches(module)}
    for name, kernels in found.items():
        kernels.sort(key=lambda kernel: kernel.core)
        count = kernels[0].core[1]
        if [kernel.core for kernel in kernels] != [(index, count) for index in range(count)]:
            cores = ", ".join(str(kernel.core[0]) for kernel in kernels)
            raise ValueError(
                f"kernel '{name}' is launched on {numbered(count, 'core')}, there is core {cores}"
            )
    return found


def looks_like_ir(text: str) -> bool:
    """Whether a text is IR rather than Python."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("//")), "")
    return first.startswith(("builtin.module", '"builtin.module"', "module", "nki.", '"nki.'))
