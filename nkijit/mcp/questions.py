"""The kernel of a request to a tool, from a file or a text, with its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from nkijit.dialects.spelling import did_you_mean
from nkijit.discovery.argument_text import ArgumentTextError, written_argument
from nkijit.discovery.config import split_kernel
from nkijit.discovery.errors import UsageError
from nkijit.discovery.option_values import argument_values
from nkijit.discovery.python_files import run_file, run_text
from nkijit.discovery.selection import Chosen, KernelRequest, chosen_of, the_only
from nkijit.host.missing_files import missing_file
from nkijit.ir.text import launches_of, load_module, looks_like_ir, parse
from nkijit.passes.diagnostics.source_text import hold_text
from nkijit.traced.kernel import TracedKernel

SOURCE = "<source>"
"""The file name of a request's `source`."""


@dataclass(frozen=True)
class Question:
    """The kernels of a request, and the options for tracing them."""

    file: str | None = None
    """The path of the file: FILE.py, FILE.py:KERNEL, or FILE.mlir."""
    source: str | None = None
    """The text of a Python or IR file, instead of `file`."""
    kernel: str | None = None
    arguments: tuple[str, ...] | Mapping[str, Any] = ()
    """NAME=VALUE, in the syntax of `-a`, or values by name with strings in that syntax."""
    target: str | None = None
    cores: int | None = None

    @property
    def path(self) -> str:
        """The name of the file in findings."""
        return SOURCE if self.file is None else split_kernel(self.file)[0]

    @property
    def _name(self) -> str | None:
        return self.kernel or (split_kernel(self.file)[1] if self.file is not None else None)

    @property
    def is_ir(self) -> bool:
        """Whether the file or text is IR, so its kernels are traced already."""
        if self.source is not None:
            return looks_like_ir(self.source)
        return self.path.endswith(".mlir")

    def all_chosen(self) -> list[Chosen]:
        """Return the kernels of the Python file, or the one in the request. Raises UsageError."""
        request = KernelRequest(_values(self.arguments), self.target, self.cores)
        return chosen_of(self._module, self.path, self._name, request)

    @cached_property
    def _module(self) -> ModuleType:
        """The executed Python file or text."""
        if (self.file is None) == (self.source is None):
            raise UsageError("give exactly one of `file` and `source`")
        if self.is_ir:
            raise UsageError("this is IR, which is traced already; the tool needs a Python kernel")
        if self.source is not None:
            return run_text(self.source, SOURCE)
        if not Path(self.path).is_file():
            raise UsageError(f"{missing_file(self.path)} (in {Path.cwd()})")
        if not self.path.endswith(".py"):
            raise UsageError(f"{self.path} is neither a Python file nor IR (.mlir)")
        return run_file(Path(self.path))

    def chosen(self) -> Chosen:
        """Return the only kernel. Raises UsageError for none or several."""
        return the_only(self.all_chosen(), self.path, self._module)

    def traced(self) -> TracedKernel:
        """Return the traced kernel. Raises UsageError and the exceptions of tracing and parsing."""
        if not self.is_ir:
            chosen = self.chosen()
            return chosen.kernel.trace(**chosen.checked())
        if self.arguments or self.target or self.cores:
            raise UsageError("IR is traced already: arguments, target and cores do not apply")
        if self.source is not None:
            hold_text(SOURCE, self.source)
            module = parse(self.source, SOURCE)
        else:
            module = load_module(self.path)
        found = {name: TracedKernel(module, kernels=k) for name, k in launches_of(module).items()}
        if self._name is None and len(found) == 1:
            return next(iter(found.values()))
        if self._name not in found:
            near = did_you_mean(self._name, found) if self._name else ""
            raise UsageError(f"{self.path} has the kernels {', '.join(found)}: name one{near}")
        return found[self._name]


def _values(arguments: tuple[str, ...] | Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a request by name. Raises UsageError for invalid values."""
    if isinstance(arguments, tuple):
        return argument_values(arguments)
    values: dict[str, Any] = {}
    for name, value in arguments.items():
        try:
            values[name] = written_argument(value, Path())
        except ArgumentTextError as error:
            raise UsageError(f"arguments {name}: {error}") from None
    return values
