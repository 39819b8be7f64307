"""Output to the terminal: findings, in colours if the terminal has them, and progress."""

from __future__ import annotations

import sys
import threading
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
def waiting(label: str) -> Generator[None]:
    """Show a spinner on standard error, if that is a terminal and the work takes long.

    Within other work, the label replaces the label of that work until the block ends.
    """
    with _display.work(label):
        yield


@contextmanager
def progress_bar(label: str) -> Generator[Callable[[float], None]]:
    """Show a progress bar as `waiting` shows a spinner.

    Yields a function that takes the completed part of the work, from 0 to 1.
    """
    with _display.work(label):
        yield _display.update


def is_progress_shown() -> bool:
    """Whether the running code is inside of `waiting` or `progress_bar`."""
    return bool(_display.labels)


class _Display:
    """The line that shows the progress of this process: the innermost work, and its bar."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self._lock = threading.RLock()
        self._shown = ExitStack()
        self._show: Callable[[str, float | None], None] | None = None

    @contextmanager
    def work(self, label: str) -> Generator[None]:
        if not _is_main_thread():
            yield  # work that the main thread waits for, or that a server does
            return
        timer = threading.Timer(PATIENCE, self._open) if not self.labels else None
        self.labels.append(label)
        self.update(None)
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            self.labels.pop()
            if timer is None:
                self.update(None)
            else:
                timer.cancel()
                timer.join()
                self._show = None
                self._shown.close()

    def update(self, part: float | None) -> None:
        """Show the completed part of the innermost work; None if it is unknown."""
        if not _is_main_thread():
            return
        with self._lock:
            if self._show is not None and self.labels:
                self._show(self.labels[-1], part)

    def _open(self) -> None:
        console = _console(stderr=True)
        if not console.is_terminal:
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        # Output of the command must not be redirected to standard error.
        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
        )
        with self._lock:
            self._shown.enter_context(bar)
            task = bar.add_task(self.labels[-1], total=None)

            def show(label: str, part: float | None) -> None:
                # `update` cannot make a known total unknown again.
                bar.tasks[0].total = None if part is None else 1.0
                bar.update(task, description=label, completed=part or 0.0)

            self._show = show


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


_display = _Display()
