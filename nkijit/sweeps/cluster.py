"""Evaluation of variants on other machines: the workers of a Dask scheduler.

Submitted tasks are the scheduler's responsibility: if a worker dies, another worker gets its tasks.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import platform
import sys
import warnings
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from nkijit.host.missing_files import missing_file
from nkijit.sweeps.children import in_child
from nkijit.sweeps.payload import MissingDependencyError
from nkijit.sweeps.pool import ExecutorError, Workers

PATIENCE = 10.0
"""The time limit for reaching a scheduler and its first worker, in seconds."""
_AHEAD = 4
"""The number of tasks per worker thread that are submitted at a time."""
_STARTS = 3
"""The number of attempts to start a client's thread."""


class ClusterError(RuntimeError):
    """The scheduler is unreachable, or its workers are incompatible."""


def is_of_dask(executor: Executor | None) -> bool:
    """Whether an executor belongs to a Dask client."""
    module = sys.modules.get("distributed.cfexecutor")
    return module is not None and isinstance(executor, module.ClientExecutor)


@contextmanager
def workers_of_dask(scheduler: Any, count: int | None, timeout: float | None) -> Generator[Workers]:
    """Provide the workers of a scheduler.

    Args:
        scheduler: the scheduler's address, the path of the file that Dask's `--scheduler-file`
            writes (`*.json`), or the executor of a client.
        count: the number of concurrent tasks.
        timeout: the time limit of a task, in seconds.

    Raises:
        ClusterError: the scheduler is unreachable, or its workers lack nkijit, or they have other
            versions of nkijit or Python.
    """
    if isinstance(scheduler, str):
        with (
            _client(scheduler) as client,
            workers_of_dask(client.get_executor(), count, timeout) as w,
        ):
            yield w
        return
    client: Any = scheduler._client
    address, threads = client.scheduler.address, _checked(client)

    def submit(function: Callable[..., Any], *arguments: Any) -> Any:
        # A worker's threads share one interpreter, and a dying variant must not kill the worker.
        return scheduler.submit(in_child, function, timeout, *arguments)

    @cache
    def share(value: bytes) -> Any:
        # As a task rather than data, it is repeated if the worker that has its result is lost.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return client.submit(bytes, value, pure=False)

    try:
        yield Workers(scheduler, count or _AHEAD * threads, count or threads, submit, share)
    except ExecutorError:
        raise ClusterError(f"the scheduler at {address} has gone, and its tasks with it") from None
    finally:
        share.cache_clear()


@contextmanager
def _client(address: str) -> Generator[Any]:
    address = _address(address)
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise MissingDependencyError(
            "a scheduler of Dask needs distributed: pip install 'nkijit[dask]'"
        ) from None
    try:
        client = _connected(distributed, address)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "no answer"
        raise ClusterError(f"there is no scheduler of Dask at {address}: {reason}") from None
    try:
        yield client
    finally:
        client.close()


def _connected(distributed: Any, address: str) -> Any:
    """Return a client. Its thread must start in 10 seconds, which a paused machine can miss."""
    connect = partial(distributed.Client, address, timeout=PATIENCE, set_as_default=False)
    for _ in range(_STARTS - 1):
        with suppress(AssertionError):
            return connect()
    return connect()


def _address(scheduler: str) -> str:
    """Return the address of a scheduler, which is given by its address or its file."""
    if not scheduler.endswith(".json"):
        return scheduler
    if not Path(scheduler).is_file():
        raise ClusterError(missing_file(scheduler))
    try:
        return str(json.loads(Path(scheduler).read_text(encoding="utf-8"))["address"])
    except (ValueError, KeyError, TypeError):
        raise ClusterError(
            f"{scheduler} is not a file of dask scheduler --scheduler-file"
        ) from None


def _checked(client: Any) -> int:
    """Return the number of worker threads. Raises ClusterError for incompatible workers."""
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ClusterError(
            f"the scheduler at {address} has no workers: start some with `dask worker {address}`"
        ) from None
    # Functions of the standard library, which all workers have.
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
