"""Analyses of files in separate processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from nkijit.host.processes.channels import EndedError, OutOfTimeError
from nkijit.host.processes.isolated import Isolated, Limits, OutOfTime, preload
from nkijit.lsp.facts import Analysis, Problem
from nkijit.lsp.settings import Settings
from nkijit.passes.diagnostics.places import Position, Span

preload(["nkijit.lsp.analysis"])


class Run:
    """An analysis that runs in a separate process, with the editor's settings."""

    def __init__(self, path: str, text: str, folder: Path, settings: Settings):
        limits = Limits(settings.timeLimit, int(settings.memoryLimit))
        self._path, self._limits = path, limits
        self._last = Analysis(complete=False)
        self._process = Isolated(_analysed, (path, text, folder, settings), limits)

    def next(self) -> Analysis | None:
        """Wait for the next analysis and return it; None after the last one.

        If the process dies or exceeds its time limit, the last analysis has a problem or a note
        about this.
        """
        try:
            found = self._process.next()
        except OutOfTimeError as error:
            return self._ended(str(error))
        except EndedError as error:
            return self._ended(f"the process that ran this file {error}")
        if found is None:
            return None
        (self._last,) = found
        return self._last

    def kill(self) -> None:
        """End the process and its children. `next` then reports that the process has ended."""
        self._process.kill()

    def _ended(self, message: str) -> Analysis:
        span = Span(Position(self._path, 1, 1), 1, 2)
        problem = Problem(span, "error", message)
        return self._last.ended(problem, self._limits.seconds)


def _analysed(path: str, text: str, folder: Path, settings: Settings) -> Iterator[Analysis]:
    # Preloaded in the processes; the server itself does not need it.
    from nkijit.lsp.analysis import analyse, out_of_time

    sys.argv = [path]
    last = Analysis(complete=False)
    try:
        for found in analyse(path, text, folder, settings.portable, settings.nki):
            last = found
            yield found
    except OutOfTime as error:
        seconds = settings.timeLimit
        yield last.ended(out_of_time(path, error, seconds), seconds)
