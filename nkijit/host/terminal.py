"""What the terminal shows: findings, in colours where it has some, and progress."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import IO

from rich.console import Console
from rich.progress import Progress

from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.styled import as_ansi, as_text

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
    console = Console(file=stream, force_jupyter=False)
    return console.color_system is not None and not console.no_color


PATIENCE = 1.0
"""Seconds after which something that takes long is shown to make progress."""


@contextmanager
def progress_bar(what: str) -> Generator[Callable[[float], None]]:
    """A bar on standard error, where that is a terminal and the work takes long.

    Gives a function that takes which part of the work is done, from 0 to 1.
    """
    console = Console(stderr=True)
    started = time.monotonic()
    bar = Progress(console=console, transient=True)
    task = bar.add_task(what, total=1.0)

    def tell_part(part: float) -> None:
        if not bar.live.is_started:
            if time.monotonic() - started < PATIENCE or not console.is_terminal:
                return
            bar.start()
        bar.update(task, completed=part)

    try:
        yield tell_part
    finally:
        # Stopping prints a line where it is no terminal, also when nothing was shown.
        if bar.live.is_started:
            bar.stop()


@contextmanager
def waiting(what: str) -> Generator[None]:
    """Something that may take long and cannot tell how far it is: a spinner on a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    status = console.status(what)
    timer = threading.Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()
