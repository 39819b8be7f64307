"""The parts of the pytest plugin that import nkijit; see `pytest_nkijit`."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from nkijit.dialects.spelling import numbered
from nkijit.host.output_files import write_text
from nkijit.kernels.hooks import WATCHERS
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import render
from nkijit.passes.diagnostics.places import shown_path
from nkijit.testing.goldens import plain_name
from nkijit.testing.inputs import random_inputs
from nkijit.testing.kernels import label_of
from nkijit.traced.kernel import TracedKernel
from nkijit.tracing.target import TARGET_VARIABLE, resolve_target

MOST_KERNELS = 3
"""The maximum number of kernels that are shown for a failing test: the last kernels."""
MOST_LINES = 30
"""The maximum number of lines of findings, and of lines of IR, that are shown for each kernel."""


@contextmanager
def target_of_test(name: str | None) -> Generator[str]:
    """Trace kernels for a target within a `with` block; None is the default target.

    Yields the name of the target.
    """
    with pytest.MonkeyPatch.context() as patch:
        if name is not None:
            patch.setenv(TARGET_VARIABLE, name)
        yield resolve_target().platform if name is None else name


class RandomInputs:
    """`random_inputs` with a test's own seed."""

    def __init__(self, item: pytest.Item):
        name = getattr(item, "originalname", None) or item.name
        self.seed = zlib.crc32(f"{item.path.name}::{name}".encode())
        """The test's own seed: a hash of the names of its file and function."""

    def __call__(
        self, specs: Any, *, ranges: Mapping[Any, tuple[float, float]] | None = None
    ) -> Any:
        """Return the arrays of `random_inputs(specs, seed, ranges=...)`."""
        return cast("Callable[..., Any]", random_inputs)(specs, self.seed, ranges=ranges)


_noted = pytest.StashKey[deque[TracedKernel]]()


@contextmanager
def noting_kernels(item: pytest.Item) -> Generator[None]:
    """Record the last kernels that a test traces."""
    kernels: deque[TracedKernel] = deque(maxlen=MOST_KERNELS)

    def note(traced: TracedKernel) -> None:
        if not any(traced is known for known in kernels):
            kernels.append(traced)

    item.stash[_noted] = kernels
    WATCHERS.append(note)
    try:
        yield
    finally:
        WATCHERS.remove(note)
        del item.stash[_noted]


def add_sections(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Add the kernels of a failing test to its report."""
    kernels: Sequence[TracedKernel] = item.stash.get(_noted, deque[TracedKernel]())
    folder = item.config.getoption("--nki-report")
    error = None if call.excinfo is None else call.excinfo.value
    for traced in kernels:
        try:
            text = _shown(traced, findings_shown=isinstance(error, NkiValidationError))
            if folder is None:
                text += "\n(--nki-report DIR writes a page with source, IR, timeline and profile)"
            else:
                text += f"\nreport: {_write_report(traced, item, Path(folder))}"
        except Exception as reason:  # raising would hide the test's failure
            text = f"cannot be shown: {type(reason).__name__}: {reason}"
        report.sections.append((f"nki kernel {label_of(traced)}", text))


def _shown(traced: TracedKernel, *, findings_shown: bool) -> str:
    """Describe a kernel. `findings_shown`: the report already contains its findings."""
    arguments = ", ".join(
        f"{name}: {'x'.join(map(str, shape))}:{dtype}"
        for name, shape, dtype in traced.argument_types
    )
    parts = [f"arguments: {arguments}"] if arguments else []
    if not findings_shown:
        found = traced.diagnostics
        errors = [d for d in found if d.severity == "error"]
        if errors:
            parts.append(_first_lines(render(errors), "findings"))
        parts += [_in_a_line(d) for d in found if d.severity != "error"]
    parts.append(_first_lines(traced.text(), "IR"))
    return "\n".join(parts)


def _in_a_line(found: Diagnostic) -> str:
    place = f"{found.where[0]}: " if found.where else ""
    return f"{found.severity}[{found.rule.id}]: {place}{found.subject}: {found.message}"


def _first_lines(text: str, noun: str) -> str:
    lines = text.rstrip().split("\n")
    if len(lines) <= MOST_LINES:
        return "\n".join(lines)
    more = numbered(len(lines) - MOST_LINES, "more line")
    return "\n".join([*lines[:MOST_LINES], f"… {more} of {noun}"])


def _write_report(traced: TracedKernel, item: pytest.Item, folder: Path) -> str:
    """Write the page of a kernel to a file of its own. Returns the path, or an error message."""
    name = f"{plain_name(item.nodeid)}.{traced.name}.{traced.target.platform}.html"
    path = item.config.invocation_params.dir / folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, traced.report())
    except OSError as error:
        return f"cannot be written: {error}"
    return shown_path(str(path))
