"""What the terminal shows: findings, in colours where it has some, and progress."""

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
"""Characters that are written together: less than what a pipe holds."""


def show(text: str) -> None:
    """Print a text on standard output as it is.

    In pieces: a stream without a buffer (PYTHONUNBUFFERED) says nothing when a pipe that is closed
    has taken only the first part of one.
    """
    for start in range(0, len(text), _CHUNK):
        sys.stdout.write(text[start : start + _CHUNK])


def show_findings(findings: Findings, stream: IO[str], of: str = "") -> None:
    """Print findings; `of` stands behind their count: what has been judged."""
    lines = findings.lines(of)
    print(as_ansi(lines) if has_colours(stream) else as_text(lines), file=stream)


def has_colours(stream: IO[str]) -> bool:
    """Whether a stream is a terminal with colours; NO_COLOR and FORCE_COLOR are respected."""
    console = _console(file=stream, force_jupyter=False)
    return console.color_system is not None and not console.no_color


def _console(**options: Any) -> Console:
    from rich.console import Console  # takes longer than many commands

    return Console(**options)


PATIENCE = 1.0
"""Seconds after which something that takes long is shown to make progress."""


@contextmanager
def progress_bar(what: str) -> Generator[Callable[[float], None]]:
    """A bar on standard error, where that is a terminal and the work takes long.

    Gives a function that takes which part of the work is done, from 0 to 1.
    """
    started = time.monotonic()
    with ExitStack() as shown:
        update: Callable[[float], None] | None = None

        def tell_part(part: float) -> None:
            nonlocal update
            if update is None and time.monotonic() - started >= PATIENCE:
                update = _shown_bar(what, shown)
            if update is not None:
                update(part)

        yield tell_part


def _shown_bar(what: str, shown: ExitStack) -> Callable[[float], None]:
    """Show a bar, where there is a terminal; gives what updates it."""
    console = _console(stderr=True)
    if not console.is_terminal:
        return lambda part: None
    from rich.progress import Progress

    bar = shown.enter_context(Progress(console=console, transient=True))
    task = bar.add_task(what, total=1.0)
    return lambda part: bar.update(task, completed=part)


@contextmanager
def waiting(what: str) -> Generator[None]:
    """Something that may take long and cannot tell how far it is: a spinner on a terminal."""
    with ExitStack() as shown:
        timer = threading.Timer(PATIENCE, _show_spinner, (what, shown))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


def _show_spinner(what: str, shown: ExitStack) -> None:
    console = _console(stderr=True)
    if console.is_terminal:
        shown.enter_context(console.status(what))
