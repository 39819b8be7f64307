"""Keeping an executor busy, and bearing that tasks end their processes, or do not end."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nkijit.host.processes.channels import EndedError, OutOfTimeError
from nkijit.sweeps.children import Children, in_child

Task = tuple[Any, ...]
"""Arguments of the function that is run for each."""

_OF_OTHERS = 64
"""Tasks that an executor of somebody else's has at a time."""


class ExecutorError(RuntimeError):
    """An executor that does not run tasks any more."""


@dataclass(frozen=True)
class Died:
    """What came of a task that has ended the process that ran it, or failed there, twice."""

    error: BaseException

    def __str__(self) -> str:
        if not isinstance(self.error, EndedError):
            return f"{type(self.error).__name__}: {self.error}"
        why = ": for want of memory?" if str(self.error).endswith("SIGKILL") else ""
        return f"the process that looked at it {self.error}, twice{why}"


@dataclass(frozen=True)
class Late:
    """What came of a task that was ended at the end of its time."""

    error: OutOfTimeError

    def __str__(self) -> str:
        return str(self.error)


@dataclass(frozen=True)
class Workers:
    """What runs tasks."""

    executor: Executor
    most: int
    """Tasks that it is given at a time."""
    at_once: int
    """Tasks that it works at, at a time."""
    submit: Callable[..., Future[Any]]
    """`executor.submit`, of a task that may be ended."""
    share: Callable[[Any], Any] = field(default=lambda value: value)
    """What a task takes in the place of a value that all tasks have."""


@contextmanager
def workers_of(
    executor: Executor | None, count: int | None, timeout: float | None
) -> Generator[Workers]:
    """An executor's workers, or processes of this machine.

    Args:
        executor: by default as many processes as there are processors.
        count: how many tasks are under way at a time.
        timeout: seconds that a task may take; then the task is in a process of its own.
    """
    if executor is not None:
        given, submit = count or _OF_OTHERS, _submitting(executor, timeout)
        yield Workers(executor, given, count or _processors(), submit)
        return
    count = count or _processors()
    children = Children()

    def submit(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return threads.submit(children.call, function, arguments, timeout)

    threads = ThreadPoolExecutor(count)
    try:
        yield Workers(threads, count, count, submit)
    finally:
        children.end()
        threads.shutdown(cancel_futures=True)


def _processors() -> int:
    """Those that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _submitting(executor: Executor, timeout: float | None) -> Callable[..., Future[Any]]:
    if timeout is None:
        return executor.submit

    def submit(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return executor.submit(in_child, function, timeout, *arguments)

    return submit


class Run:
    """Tasks on their way; more may be added while they are."""

    def __init__(self, workers: Workers):
        self._workers = workers
        self._tasks: list[tuple[Callable[..., Any], Task]] = []
        self._waiting: deque[int] = deque()
        self._suspects: deque[int] = deque()
        """Tasks that a process may have died of."""
        self._tried: set[int] = set()
        self._running: dict[Future[Any], int] = {}

    def add(self, function: Callable[..., Any], *task: Any) -> int:
        """Have a task run; returns its number, which `outcomes` names."""
        self._tasks.append((function, task))
        self._waiting.append(len(self._tasks) - 1)
        return len(self._tasks) - 1

    def outcomes(self) -> Iterator[tuple[int, Any]]:
        """`next` until nothing is left."""
        while (found := self.next()) is not None:
            yield found

    def next(self) -> tuple[int, Any] | None:
        """The number of a task that has ended and what came of it; None when none is left.

        That is what the function returned, or Died, or Late. Raises ExecutorError when the executor
        is broken.
        """
        while self._waiting or self._suspects or self._running:
            self._submit()
            future = wait(self._running, return_when=FIRST_COMPLETED).done.pop()
            index, error = self._running.pop(future), self._error_of(future)
            if error is None:
                return index, future.result()
            if isinstance(error, OutOfTimeError):
                return index, Late(error)
            if index in self._tried:
                return index, Died(error)
            self._tried.add(index)
            self._suspects.append(index)
        return None

    @staticmethod
    def _error_of(future: Future[Any]) -> BaseException | None:
        try:
            error = future.exception()
        except CancelledError:
            raise ExecutorError("the executor has given up its tasks") from None
        if isinstance(error, BrokenExecutor):
            raise error
        return error

    def _submit(self) -> None:
        """Submit what can run: a suspect alone, else as many as there may be."""
        if self._suspects and self._running:
            return
        source, most = (
            (self._suspects, 1) if self._suspects else (self._waiting, self._workers.most)
        )
        while source and len(self._running) < most:
            function, task = self._tasks[source[0]]
            self._running[self._workers.submit(function, *task)] = source.popleft()
