"""Output to the terminal: findings, in colours if the terminal has them, and progress."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, Any

from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.styled import as_ansi, as_text

if TYPE_CHECKING:
    from rich.console import Console

_CHUNK = 1 << 15
"""The maximum number of characters per write: less than the capacity of a pipe."""


def show(text: str) -> None:
    """Write a text to standard output, in pieces that are smaller than the capacity of a pipe.

    If a pipe accepts only a part of a write and is then closed, an unbuffered stream
    (PYTHONUNBUFFERED) reports no error.
    """
    for start in range(0, len(text), _CHUNK):
        sys.stdout.write(text[start : start + _CHUNK])


def show_findings(findings: Findings, stream: IO[str], of: str = "") -> None:
    """Print findings; `of`, e.g. `for trn3 (default)`, is added to the line that counts them."""
    lines = findings.lines(of)
    print(as_ansi(lines) if has_colours(stream) else as_text(lines), file=stream)


def has_colours(stream: IO[str]) -> bool:
    """Whether to write colours to a stream. Respects NO_COLOR and FORCE_COLOR."""
    console = _console(file=stream, force_jupyter=False)
    return console.color_system is not None and not console.no_color


def _console(**options: Any) -> Console:
    from rich.console import Console  # importing it takes longer than many commands

    return Console(**options)


PATIENCE = 1.0
"""The time after which the progress of an operation is shown, in seconds."""


@contextmanager
def progress_bar(label: str) -> Generator[Callable[[float], None]]:
    """Show a progress bar on standard error if that is a terminal and the work takes long.

    Yields a function that takes the completed part of the work, from 0 to 1.
    """
    started = time.monotonic()
    with ExitStack() as shown:
        update: Callable[[float], None] | None = None

        def report_part(part: float) -> None:
            nonlocal update
            if update is None and time.monotonic() - started >= PATIENCE:
                update = _shown_bar(label, shown)
            if update is not None:
                update(part)

        yield report_part


def _shown_bar(label: str, shown: ExitStack) -> Callable[[float], None]:
    """Show a progress bar if there is a terminal. Returns the function that updates the bar."""
    console = _console(stderr=True)
    if not console.is_terminal:
        return lambda part: None
    from rich.progress import Progress

    bar = shown.enter_context(Progress(console=console, transient=True))
    task = bar.add_task(label, total=1.0)
    return lambda part: bar.update(task, completed=part)


@contextmanager
def waiting(label: str) -> Generator[None]:
    """Show a spinner on a terminal during long work whose progress is unknown."""
    with ExitStack() as shown:
        timer = threading.Timer(PATIENCE, _show_spinner, (label, shown))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


def _show_spinner(label: str, shown: ExitStack) -> None:
    console = _console(stderr=True)
    if console.is_terminal:
        shown.enter_context(console.status(label))
