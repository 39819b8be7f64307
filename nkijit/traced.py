"""A traced kernel: its IR as text, its findings, its numbers and its listing."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import ArrayAttr, Builtin, ModuleOp, StringAttr
from xdsl.parser import Parser
from xdsl.printer import Printer

from nkijit.dialects.hardware import Target
from nkijit.dialects.nisa import Nisa
from nkijit.dialects.nki import KernelOp, Nki, kernels_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret import InterpretationError, Listener, Plan
from nkijit.passes.interpret.binding import Array
from nkijit.passes.lower.listing import listing
from nkijit.passes.verify.diagnostics import (
    Diagnostic,
    NkiValidationError,
    collapse,
    in_source_order,
)
from nkijit.passes.verify.passes import find_all

PRECISE_VARIABLE = "NKI_PRECISE_FP"


class TracedKernel:
    """One specialisation of a kernel.

    Everything here works on the IR alone, so it is the same for a kernel that was just traced
    and for one loaded from text.
    """

    def __init__(
        self,
        module: ModuleOp,
        trace_diagnostics: Sequence[Diagnostic] = (),
        kernel: KernelOp | None = None,
        files: Mapping[Path, int] | None = None,
    ):
        self.module = module
        self._kernel = kernels_of(module)[0] if kernel is None else kernel
        self._trace_diagnostics = tuple(trace_diagnostics)
        self._found: tuple[Diagnostic, ...] | None = None
        self._files = dict(files or {})
        self._plans: dict[bool, Plan] = {}
        self._lock = threading.Lock()

    def is_current(self) -> bool:
        """False when a file that was read while tracing has changed since, or is gone."""
        try:
            return all(path.stat().st_mtime_ns == time for path, time in self._files.items())
        except OSError:
            return False

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._kernel.sym_name.data

    @property
    def target(self) -> Target:
        """The hardware that the kernel was traced for."""
        return self._kernel.target

    @property
    def argument_types(self) -> list[tuple[str, tuple[int, ...], str]]:
        """Name, shape and data type of every tensor argument."""
        result: list[tuple[str, tuple[int, ...], str]] = []
        for index, value in enumerate(self._kernel.arguments):
            info = info_of(value)
            result.append((value.name_hint or f"arg{index}", info.shape, info.dtype.name))
        return result

    def __str__(self) -> str:
        return self.text()

    def text(self, *, locations: bool = False, generic: bool = False) -> str:
        """The IR as text.

        Args:
            locations: print the author's `file:line:column` behind every operation.
            generic: print MLIR's generic form.
        """
        stream = StringIO()
        printer = Printer(stream, print_debuginfo=locations, print_generic_format=generic)
        printer.print_op(self.module)
        return stream.getvalue() + "\n"

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every finding of tracing and of the verification passes."""
        if self._found is None:
            self._found = tuple(findings(self._kernel, self._trace_diagnostics))
        return self._found

    def verify(self) -> None:
        """Raise one NkiValidationError with all findings if any of them is an error."""
        if any(d.severity == "error" for d in self.diagnostics):
            raise NkiValidationError(self.diagnostics)

    def run(self, *inputs: Array, listener: Listener | None = None) -> Any:
        """Verify once, then interpret.

        Args:
            inputs: one array per tensor argument, in order.
            listener: told of every operation that has run, with what it wrote.

        Returns arrays in the container that the kernel returned. `NKI_PRECISE_FP=0` in the
        environment keeps low-precision tensors in float32.
        """
        precise = os.environ.get(PRECISE_VARIABLE, "1") != "0"
        plan = self._plans.get(precise)
        if plan is None:
            self.verify()
            with self._lock:
                plan = self._plans.get(precise)
                if plan is None:
                    plan = self._plans[precise] = Plan(self._kernel, precise=precise)
        return self._packed(plan.run(inputs, listener))

    def listing(self) -> str:
        """The instructions of each engine, as text."""
        self.verify()
        return listing(self._kernel)

    def _packed(self, results: list[Array]) -> Any:
        end = self._kernel.return_op
        container = None if end.container is None else end.container.data
        if container is None:
            return results[0] if results else None
        if container == "dict":
            keys = cast(ArrayAttr[StringAttr], end.keys)
            return {key.data: result for key, result in zip(keys, results, strict=True)}
        return tuple(results) if container == "tuple" else results


def findings(kernel: KernelOp, recorded: Sequence[Diagnostic]) -> list[Diagnostic]:
    """What tracing recorded and what the passes find, in the order of the source."""
    return in_source_order([*collapse(recorded), *find_all(kernel)])


def ir_context() -> Context:
    """An xDSL context with the dialects of a traced kernel."""
    context = Context()
    for dialect in (Builtin, Arith, Nki, Nisa):
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


def load(path: str | os.PathLike[str], kernel: str | None = None) -> TracedKernel:
    """Load a traced kernel from a `.mlir` file.

    Args:
        path: the file.
        kernel: the kernel's name; needed when the file has several.

    Raises ParseError for malformed text and ValueError when there is no such kernel.
    """
    module = parse(Path(path).read_text(encoding="utf-8"), os.fspath(path))
    found = {k.sym_name.data: k for k in kernels_of(module)}
    if kernel is None:
        if len(found) != 1:
            raise ValueError(
                f"{os.fspath(path)} has {len(found)} kernels"
                + (f" ({', '.join(found)}); name one" if found else "")
            )
        return TracedKernel(module)
    if kernel not in found:
        raise ValueError(f"{os.fspath(path)} has no kernel '{kernel}'; it has {', '.join(found)}")
    return TracedKernel(module, kernel=found[kernel])


__all__ = ["InterpretationError", "TracedKernel", "ir_context", "load", "parse"]
