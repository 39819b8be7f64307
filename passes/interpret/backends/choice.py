"""Chooses the backend: NumPy, or native code if it is installed and worthwhile."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from nkijit.dialects.spelling import counted, numbered
from nkijit.passes.diagnostics.shown import ShownAsText
from nkijit.passes.interpret.records.errors import InterpretationError

BACKEND_VARIABLE = "NKIJIT_BACKEND"
AUTO, NUMPY, NATIVE = "auto", "numpy", "native"
WORTH_IT = 3
"""The run of a kernel, counted from 1, in which compilation to native code begins."""


def wanted() -> str:
    """Return the backend that `NKIJIT_BACKEND` selects. Raises InterpretationError if invalid."""
    name = os.environ.get(BACKEND_VARIABLE)
    if name is None:
        return AUTO
    if name not in (AUTO, NUMPY, NATIVE):
        raise InterpretationError(
            f"{BACKEND_VARIABLE} is '{name}', expected '{AUTO}', '{NUMPY}' or '{NATIVE}'"
        )
    if name == NATIVE and not is_installed():
        raise InterpretationError(
            f"{BACKEND_VARIABLE} is '{NATIVE}', which needs llvmlite: pip install 'nkijit[native]'"
        )
    return name


@cache
def is_installed() -> bool:
    """True if native code can be compiled."""
    return find_spec("llvmlite") is not None


def native() -> Any:
    """Return the module that compiles native code; importing it takes longer than most runs."""
    return import_module("nkijit.passes.interpret.backends.native.service")


@dataclass(frozen=True, slots=True, repr=False)
class BackendReport(ShownAsText):
    """The numbers of a kernel's instructions that each backend computes in the next run."""

    native: int
    """The number of instructions in native code."""
    numpy: int
    """The number of instructions that NumPy computes."""
    reasons: Mapping[str, int]
    """The number of instructions that NumPy computes, by the reason why native code cannot."""
    failure: str | None = None
    """The error of an attempt to compile native code; None without one."""

    def __repr__(self) -> str:
        native = counted(self.native, "instruction")
        return f"<backend: {native} in native code, {self.numpy} in NumPy>"

    def __str__(self) -> str:
        if not self.native:
            why = "" if self.failure is None else f": {self.failure}"
            return f"numpy: {counted(self.numpy, 'instruction')}{why}"
        lines = [f"native: {self.native} of {numbered(self.native + self.numpy, 'instruction')}"]
        lines += [f"  numpy: {count} × {reason}" for reason, count in sorted(self.reasons.items())]
        return "\n".join(lines)

    @staticmethod
    def together(reports: list[BackendReport]) -> BackendReport:
        """Combine the reports of all cores."""
        if len(reports) == 1:
            return reports[0]
        reasons: dict[str, int] = {}
        for report in reports:
            for reason, count in report.reasons.items():
                reasons[reason] = reasons.get(reason, 0) + count
        failures = [report.failure for report in reports if report.failure is not None]
        return BackendReport(
            sum(report.native for report in reports),
            sum(report.numpy for report in reports),
            reasons,
            failures[0] if failures else None,
        )


@contextmanager
def on_backend(name: str) -> Generator[None]:
    """Select the backend of runs inside the context, regardless of the environment variable."""
    before = os.environ.get(BACKEND_VARIABLE)
    os.environ[BACKEND_VARIABLE] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ[BACKEND_VARIABLE]
        else:
            os.environ[BACKEND_VARIABLE] = before
