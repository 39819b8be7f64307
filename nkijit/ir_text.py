"""IR as text: printing, parsing, and the kernels that a parsed module has."""

from __future__ import annotations

import re
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.scf import Scf
from xdsl.parser import Parser

from nkijit.dialects.engine import Engine
from nkijit.dialects.ncc import Ncc
from nkijit.dialects.nisa import Nisa
from nkijit.dialects.nki import Nki
from nkijit.dialects.nki.kernel import KernelOp, launches
from nkijit.passes.diagnostics.ir_printer import IrPrinter


def ir_text_of(module: ModuleOp, *, locations: bool = False, generic: bool = False) -> str:
    """IR as text; the arguments are those of `TracedKernel.text`."""
    stream = StringIO()
    printer = IrPrinter(stream, print_debuginfo=locations, print_generic_format=generic)
    printer.print_op(module)
    return stream.getvalue() + "\n"


def ir_context() -> Context:
    """An xDSL context with the dialects of traced kernels and lowered programs."""
    context = Context()
    for dialect in (Builtin, Arith, Scf, Nki, Nisa, Ncc, Engine):
        context.load_dialect(dialect)
    return context


def parse(text: str, name: str = "<text>") -> ModuleOp:
    """Parse IR text. Raises xDSL's ParseError (line and column) or VerifyException."""
    _check_strings(text, name)
    module = Parser(ir_context(), text, name).parse_module()
    module.verify()
    return module


_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')


def _check_strings(text: str, name: str) -> None:
    # xDSL's lexer takes exponential time for a string that is not closed on its line.
    for number, line in enumerate(text.splitlines(), 1):
        rest = _STRING.sub(lambda match: "_" * len(match[0]), line)
        column = rest.find('"')
        if column >= 0 and "//" not in rest[:column]:
            raise ValueError(f"{name}:{number}:{column + 1}: the string is not closed")


def launches_of(module: ModuleOp) -> dict[str, list[KernelOp]]:
    """The kernels of a module by name, each with its specialisation for every core.

    Raises ValueError when one for a core is missing.
    """
    found = {kernels[0].launch_name: kernels for kernels in launches(module)}
    for name, kernels in found.items():
        kernels.sort(key=lambda kernel: kernel.core)
        count = kernels[0].core[1]
        if [kernel.core for kernel in kernels] != [(index, count) for index in range(count)]:
            cores = ", ".join(str(kernel.core[0]) for kernel in kernels)
            raise ValueError(f"kernel '{name}' is launched on {count} cores, there is core {cores}")
    return found
