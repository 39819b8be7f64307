"""Keeping processes busy, and bearing that some of them die.

A process that dies (the system kills those that take too much memory) takes down all that a
`ProcessPoolExecutor` has under way, and nobody knows which of these tasks it was. Each of them is
tried once more, alone: the one that dies again is the one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

Task = tuple[Any, ...]
"""Arguments of the function that is run for each."""

_MOST_PROCESSES = 61
"""More than these Windows cannot wait for."""
_OF_OTHERS = 64
"""Tasks that an executor of somebody else's has at a time."""


class DiedError(Exception):
    """A task has ended the process that ran it, or failed there, twice."""

    def __init__(self, error: BaseException):
        ended = isinstance(error, BrokenExecutor)
        super().__init__(_ENDED if ended else f"{type(error).__name__}: {error}")


_ENDED = "the process that looked at it was ended, twice: for want of memory?"


def outcomes(
    function: Callable[..., Any],
    tasks: Sequence[Task],
    executor: Executor | None,
    workers: int | None,
) -> Iterator[tuple[int, Any]]:
    """The place of each task and what came of it, in the order in which they end.

    That is what the function returned, or a DiedError. Without an executor the tasks run in
    `workers` processes, by default as many as there are processors.
    """
    if not tasks:
        return
    if executor is not None:
        yield from _Run(function, tasks, _Foreign(executor), workers or _OF_OTHERS).outcomes()
        return
    count = min(workers or _processors(), len(tasks), _MOST_PROCESSES)
    with _processes(count) as own:
        yield from _Run(function, tasks, own, count).outcomes()


def _processors() -> int:
    """Those that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Foreign:
    """An executor of somebody else's: when it is broken, nobody can make another one."""

    def __init__(self, executor: Executor):
        self._executor = executor

    def submit(self, function: Callable[..., Any], task: Task) -> Future[Any]:
        return self._executor.submit(function, *task)

    def renew(self, error: BrokenExecutor) -> None:
        raise error


class _Processes:
    """Processes of our own, started anew when one of them has died."""

    def __init__(self, count: int):
        self._count = count
        self._children: set[BaseProcess] = set()
        self._pool = self._made()

    def _made(self) -> ProcessPoolExecutor:
        # Threads, which authors may have, do not survive a fork.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._count, context, initializer=_leave_interrupts)

    def submit(self, function: Callable[..., Any], task: Task) -> Future[Any]:
        before = set(multiprocessing.active_children())
        with _without_main():
            made = self._pool.submit(function, *task)
        self._children |= set(multiprocessing.active_children()) - before
        return made

    def renew(self, error: BrokenExecutor) -> None:
        del error
        self.end()
        self._pool = self._made()

    def end(self) -> None:
        """End all processes, whatever they are at."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in self._children:
            child.kill()
        self._children.clear()


@contextmanager
def _processes(count: int) -> Generator[_Processes]:
    pool = _Processes(count)
    try:
        yield pool
    finally:
        pool.end()


def _leave_interrupts() -> None:
    """Ctrl-C goes to all processes of a terminal; the one that was started ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _without_main() -> Generator[None]:
    """Start processes that do not run the author's script: kernels come by value.

    Else a script that sweeps would need `if __name__ == "__main__"`, or start itself again.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class _Run:
    """The tasks of one sweep on their way."""

    def __init__(
        self,
        function: Callable[..., Any],
        tasks: Sequence[Task],
        pool: _Foreign | _Processes,
        most: int,
    ):
        self._function, self._tasks, self._pool, self._most = function, tasks, pool, most
        self._waiting = deque(range(len(tasks)))
        self._suspects: deque[int] = deque()
        """Tasks that a process may have died of."""
        self._tried: set[int] = set()
        self._running: dict[Future[Any], int] = {}

    def outcomes(self) -> Iterator[tuple[int, Any]]:
        while self._waiting or self._suspects or self._running:
            broken = self._submit()
            done = wait(self._running, return_when=FIRST_COMPLETED).done if self._running else ()
            if any(isinstance(future.exception(), BrokenExecutor) for future in done):
                done = wait(self._running).done
            for future in done:
                index, error = self._running.pop(future), future.exception()
                if error is None:
                    yield index, future.result()
                    continue
                broken = error if isinstance(error, BrokenExecutor) else broken
                if index in self._tried:
                    yield index, DiedError(error)
                else:
                    self._tried.add(index)
                    self._suspects.append(index)
            if broken is not None:
                self._pool.renew(broken)

    def _submit(self) -> BrokenExecutor | None:
        """Submit what can run: a suspect alone, else as many as there may be."""
        source, most = (self._suspects, 1) if self._suspects else (self._waiting, self._most)
        if self._suspects and self._running:
            return None
        while source and len(self._running) < most:
            try:
                future = self._pool.submit(self._function, self._tasks[source[0]])
            except BrokenExecutor as error:  # a process died that had nothing to do
                return None if self._running else error
            self._running[future] = source.popleft()
        return None
