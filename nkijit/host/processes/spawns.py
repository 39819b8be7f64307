"""Processes for authors' files on every system: new ones, of which one waits for the next file.

It has imported nkijit by then, so that a file begins at once unless the one before has just begun.
"""

from __future__ import annotations

import importlib
import signal
import threading
from _thread import interrupt_main
from collections.abc import Callable, Sequence
from multiprocessing import get_context, util
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

from nkijit.host.processes.channels import Channel

MISSING: str | None = (
    "on this system the memory of a file is not bounded (memoryLimit), and processes that it "
    "starts are not ended with it"
)
"""What these processes cannot do, for the author to know."""

_SPAWNS = get_context("spawn")
_Started = tuple[BaseProcess, Channel]
LATE: int | None = None
"""The exit code of a process that has caught what `over` raises."""
_modules: list[str] = []
"""What processes need."""
_waiting: list[_Started] = []
"""At most one process that has nothing to do yet."""


def preload(modules: Sequence[str]) -> None:
    """Say what processes need, so that one that waits has it."""
    _modules[:] = modules


def prepare() -> None:
    """Have a process ready."""
    if not _waiting:
        ours, theirs = _SPAWNS.Pipe()
        process = _SPAWNS.Process(target=_wait, args=(theirs, _modules))
        process.start()
        theirs.close()
        _waiting.append((process, ours))


def start(target: Callable[..., None], *args: Any) -> _Started:
    """A process that runs `target(connection, *args)`, and the other end of that connection."""
    while True:
        prepare()
        process, connection = _waiting.pop()
        try:
            connection.send((target, args))
        except OSError:  # somebody has ended it while it waited
            connection.close()
            continue
        prepare()
        return process, connection


def begin(seconds: float, grace: float, bytes_more: int, over: Callable[[], None]) -> None:
    """Bound the time of the process that calls this.

    Args:
        seconds: after them `over` is called in the main thread, when it gets to run Python.
        grace: nothing here; whoever started the process ends it.
        bytes_more: nothing here.
        over: raises what unwinds the file.
    """
    del grace, bytes_more

    def on_interrupt(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        over()

    signal.signal(signal.SIGINT, on_interrupt)
    timer = threading.Timer(seconds, interrupt_main)
    timer.daemon = True
    timer.start()


def end(process: BaseProcess) -> None:
    """End a process at once."""
    process.kill()


def _wait(connection: Channel, modules: Sequence[str]) -> None:
    """What a process does: import what it will need, and wait for what to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal; the server ends it
    for module in modules:
        importlib.import_module(module)
    try:
        target, args = connection.recv()
    except EOFError:  # there is no server any more
        return
    target(connection, *args)


def _dismiss() -> None:
    """Let the process go that waits, before `multiprocessing` waits for it."""
    for _, connection in _waiting:
        connection.close()
    _waiting.clear()


util.Finalize(None, _dismiss, exitpriority=0)
