"""Variants on other machines: the workers of a Dask scheduler.

Tasks that are on their way are the scheduler's: it gives those of a worker that dies to another.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
import sys
import warnings
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import cache
from typing import Any

from nkijit.sweeps.children import in_child
from nkijit.sweeps.payload import MissingDependencyError
from nkijit.sweeps.pool import ExecutorError, Workers

PATIENCE = 10.0
"""Seconds for reaching a scheduler, and for its first worker."""
_AHEAD = 4
"""Tasks for each thread of a worker that the scheduler has at a time."""


class ClusterError(RuntimeError):
    """A scheduler that cannot be used: it is not there, or its workers are not fit."""


def is_of_dask(executor: Executor | None) -> bool:
    """Whether an executor is that of a client of Dask."""
    module = sys.modules.get("distributed.cfexecutor")
    return module is not None and isinstance(executor, module.ClientExecutor)


@contextmanager
def workers_of_dask(given: Any, count: int | None, timeout: float | None) -> Generator[Workers]:
    """The workers of a scheduler.

    Args:
        given: the scheduler's address, or the executor of a client.
        count: how many tasks are under way at a time.
        timeout: seconds that a task may take.

    Raises ClusterError for a scheduler that is not there, and for workers that have no nkijit, or
    another version of it or of Python.
    """
    if isinstance(given, str):
        with _client(given) as client, workers_of_dask(client.get_executor(), count, timeout) as w:
            yield w
        return
    client: Any = given._client
    address, threads = client.scheduler.address, _checked(client)

    def submit(function: Callable[..., Any], *arguments: Any) -> Any:
        # Threads of a worker have one interpreter; and a variant that dies is not the worker's end.
        return given.submit(in_child, function, timeout, *arguments)

    @cache
    def share(value: bytes) -> Any:
        # A task, and not data: it is done again when the worker that has its result is lost.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return client.submit(bytes, value, pure=False)

    try:
        yield Workers(given, count or _AHEAD * threads, count or threads, submit, share)
    except ExecutorError:
        raise ClusterError(f"the scheduler at {address} has gone, and its tasks with it") from None
    finally:
        share.cache_clear()


@contextmanager
def _client(address: str) -> Generator[Any]:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise MissingDependencyError(
            "a scheduler of Dask needs distributed: pip install nkijit[dask]"
        ) from None
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "no answer"
        raise ClusterError(f"there is no scheduler of Dask at {address}: {reason}") from None
    try:
        yield client
    finally:
        client.close()


def _checked(client: Any) -> int:
    """How many threads the workers have. Raises ClusterError for workers that are not fit."""
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ClusterError(
            f"the scheduler at {address} has no workers: start some with `dask worker {address}`"
        ) from None
    # Functions of the standard library, which workers have in any case.
    versions: Mapping[str, Any] = client.run(
        importlib.metadata.version, "nkijit", on_error="return"
    )
    pythons: Mapping[str, Any] = client.run(platform.python_version_tuple, on_error="return")
    mine = importlib.metadata.version("nkijit")
    major = ".".join(platform.python_version_tuple()[:2])
    for worker, found in versions.items():
        if isinstance(found, importlib.metadata.PackageNotFoundError):
            raise ClusterError(
                f"worker {worker} has no nkijit: install nkijit[sweep] {mine} where it runs"
            )
        if found != mine:
            raise ClusterError(
                f"worker {worker} has nkijit {found}, and this is {mine}: results would differ"
            )
    for worker, found in pythons.items():
        theirs = found if isinstance(found, Exception) else ".".join(found[:2])
        if theirs != major:
            raise ClusterError(
                f"worker {worker} runs Python {theirs}, and this is {major}: kernels travel as "
                "bytecode"
            )
    return sum(client.nthreads().values())
