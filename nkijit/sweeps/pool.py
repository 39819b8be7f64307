"""Scheduling of tasks on an executor; a task may kill its process or hang."""

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
"""The arguments of a task's function."""

_OF_OTHERS = 64
"""The number of tasks that are submitted to a user's executor at a time."""


class ExecutorError(RuntimeError):
    """The executor has stopped running tasks."""


@dataclass(frozen=True)
class Died:
    """The outcome of a task that failed twice: it raised an exception or killed its process."""

    error: BaseException

    def __str__(self) -> str:
        if not isinstance(self.error, EndedError):
            return f"{type(self.error).__name__}: {self.error}"
        why = ": for want of memory?" if str(self.error).endswith("SIGKILL") else ""
        return f"the process that looked at it {self.error}, twice{why}"


@dataclass(frozen=True)
class Late:
    """The outcome of a task that exceeded its time limit."""

    error: OutOfTimeError

    def __str__(self) -> str:
        return str(self.error)


@dataclass(frozen=True)
class Workers:
    """An executor that runs tasks, and its limits."""

    executor: Executor
    most: int
    """The number of tasks that are submitted at a time."""
    at_once: int
    """The number of tasks that run at a time."""
    submit: Callable[..., Future[Any]]
    """Submits a task like `executor.submit`, but so that the task can be killed."""
    share: Callable[[Any], Any] = field(default=lambda value: value)
    """Converts a value that all tasks share to an argument of tasks, e.g. to a Dask future."""


@contextmanager
def workers_of(
    executor: Executor | None, count: int | None, timeout: float | None
) -> Generator[Workers]:
    """Provide an executor's workers, or processes of this machine.

    Args:
        executor: the executor; by default, one process per processor.
        count: the number of concurrent tasks.
        timeout: the time limit of a task in seconds. With a limit, an executor's tasks run in
            processes of their own.
    """
    if executor is not None:
        most, submit = count or _OF_OTHERS, _submitting(executor, timeout)
        yield Workers(executor, most, count or _processors(), submit)
        return
    count = count or _processors()
    children = Children()
    children.prepare(count)

    def submit(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return threads.submit(children.call, function, arguments, timeout)

    threads = ThreadPoolExecutor(count)
    try:
        yield Workers(threads, count, count, submit)
    finally:
        children.end()
        threads.shutdown(cancel_futures=True)


def _processors() -> int:
    """Return the number of processors that this process may use."""
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
    """A set of submitted tasks. Further tasks can be added at any time."""

    def __init__(self, workers: Workers):
        self._workers = workers
        self._tasks: list[tuple[Callable[..., Any], Task]] = []
        self._waiting: deque[int] = deque()
        self._suspects: deque[int] = deque()
        """The numbers of tasks that may have killed a process; they are retried one by one."""
        self._tried: set[int] = set()
        self._running: dict[Future[Any], int] = {}

    def add(self, function: Callable[..., Any], *task: Any) -> int:
        """Add a task and return its number, by which `outcomes` refers to it."""
        self._tasks.append((function, task))
        self._waiting.append(len(self._tasks) - 1)
        return len(self._tasks) - 1

    def outcomes(self) -> Iterator[tuple[int, Any]]:
        """Yield the results of `next` until no task is left."""
        while (found := self.next()) is not None:
            yield found

    def next(self) -> tuple[int, Any] | None:
        """Return the number and outcome of the next finished task; None if no task is left.

        The outcome is the function's result, Died or Late.

        Raises:
            ExecutorError: the executor is broken.
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
        """Submit as many waiting tasks as allowed; a suspect only when no other task runs."""
        if self._suspects and self._running:
            return
        source, most = (
            (self._suspects, 1) if self._suspects else (self._waiting, self._workers.most)
        )
        while source and len(self._running) < most:
            function, task = self._tasks[source[0]]
            self._running[self._workers.submit(function, *task)] = source.popleft()
