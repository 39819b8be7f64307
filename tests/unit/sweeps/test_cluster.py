"""Variants on the workers of a Dask scheduler: a real one, with workers that die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.sweeping import SHAPE, InTurn, tiled

import nkijit as nki
from nkijit.sweeps import cluster
from nkijit.sweeps.cluster import ClusterError
from nkijit.sweeps.evaluation import Evaluation, Question
from nkijit.sweeps.payload import MissingDependencyError
from nkijit.sweeps.space import Point


class Cluster:
    """A scheduler on this machine, and its workers, each a process with one thread."""

    def __init__(self, folder: Path):
        self._folder, self._file = folder, folder / "scheduler.json"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--port", "0", "--scheduler-file", str(self._file))
        while not self._file.exists():
            time.sleep(0.05)
        self.file = str(self._file)
        self.address: str = json.loads(self._file.read_text())["address"]

    def _start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        with open(self._folder / f"{len(self._processes)}.log", "wb") as log:
            started = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"],
                cwd=self._folder,
                env={**os.environ, **environment},
                stdout=log,
                stderr=log,
            )
        self._processes.append(started)
        return started

    def worker(self, **environment: str) -> subprocess.Popen[bytes]:
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny", **environment)

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    started = Cluster(tmp_path)
    yield started
    started.end()


def marking(x: Any, width: int, folder: str) -> Any:
    """Create a file at the start: the worker, the variant and the process."""
    (Path(folder) / f"{os.getppid()}.{width}.{os.getpid()}").touch()
    time.sleep(0.15)
    return tiled(x, width)


def test_a_worker_that_is_killed_loses_nothing(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = [dask.worker(), dask.worker()]
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    space = {"width": [0, 16, 32, 64, 128, 256, 512, 513, 100, 200, 300, 400]}
    kernel = nki.jit(marking)
    answers: list[Point] = []
    answered = Evaluation.answer

    def counted(self: Evaluation, question: Question, outcome: Any) -> Any:
        answers.append(question.candidate.point)
        return answered(self, question, outcome)

    monkeypatch.setattr(Evaluation, "answer", counted)

    over = threading.Event()

    def kill() -> None:
        # A busy machine may leave it little to do.
        while not any(there.glob(f"{workers[0].pid}.*")) and not over.wait(0.01):
            pass
        workers[0].send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = nki.sweep(
            kernel, space, arguments={**SHAPE, "folder": str(there)}, executor=dask.address
        )
    finally:
        over.set()
        killer.join()
    assert workers[0].wait() == -signal.SIGKILL
    assert sorted(point["width"] for point in answers) == sorted(space["width"])
    of_killed = {mark.name.split(".")[1] for mark in there.glob(f"{workers[0].pid}.*")}
    of_other = {mark.name.split(".")[1] for mark in there.glob(f"{workers[1].pid}.*")}
    assert of_killed, "it was to die at something"
    assert of_killed | of_other == set(map(str, space["width"]))
    assert of_killed & of_other  # its interrupted variant is evaluated again
    monkeypatch.undo()
    local = nki.sweep(kernel, space, arguments={**SHAPE, "folder": str(here)}, executor=InTurn())
    assert str(found) == str(local)
    assert found.to_json() == local.to_json()
    assert sum(each.is_valid for each in found.variants) == 10


def test_workers_that_cannot_be_used(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(match: str, *, executor: Any = dask.address) -> None:
        with pytest.raises(ClusterError, match=match):
            nki.sweep(tiled, {"width": [128]}, arguments=SHAPE, executor=executor)

    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    refused(f"no scheduler of Dask at tcp://127.0.0.1:{PORT_OF_NOBODY}: Timed out", executor=NOBODY)
    refused("no scheduler of Dask at nobody: missing port number", executor="nobody")
    refused(f"the scheduler at {dask.address} has no workers: start some with `dask worker tcp")
    monkeypatch.setattr(cluster, "PATIENCE", 30.0)
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(ANOTHER))
    for wrong, match in (
        ({"HAS": ""}, "has no nkijit: install nkijit.sweep. 0"),
        ({"HAS": "0.0.7"}, r"has nkijit 0\.0\.7, and this is 0\.1"),
        ({"PYTHON": "3.9.1"}, r"runs Python 3\.9, and this is 3"),
    ):
        worker = dask.worker(PYTHONPATH=str(tmp_path), **wrong)
        refused(match)
        worker.kill()
        worker.wait()


NOBODY = "tcp://127.0.0.1:9"  # the discard port
PORT_OF_NOBODY = 9

ANOTHER = """
    import importlib.metadata, os, platform

    real = importlib.metadata.version

    def version(name):
        if name != "nkijit" or "HAS" not in os.environ:
            return real(name)
        if not os.environ["HAS"]:
            raise importlib.metadata.PackageNotFoundError(name)
        return os.environ["HAS"]

    importlib.metadata.version = version
    if "PYTHON" in os.environ:
        platform.python_version_tuple = lambda: tuple(os.environ["PYTHON"].split("."))
"""


def test_a_client_whose_thread_starts_late(dask: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    # Distributed asserts that the thread of its event loop starts within 10 seconds.
    from distributed.utils import LoopRunner

    starts: list[LoopRunner] = []
    started = LoopRunner._start_unlocked

    def late(self: LoopRunner) -> None:
        starts.append(self)
        assert len(starts) > 2
        started(self)

    monkeypatch.setattr(LoopRunner, "_start_unlocked", late)
    dask.worker()
    found = nki.sweep(tiled, {"width": [64]}, arguments=SHAPE, executor=dask.address)
    assert len(starts) == 3
    assert [each.is_valid for each in found.variants] == [True]


def test_executors_of_clients_and_a_scheduler_that_goes(dask: Cluster, tmp_path: Path) -> None:
    from distributed import Client

    dask.worker()
    space = {"width": [0, 64, 512]}
    with Client(dask.address, set_as_default=False) as client:
        executor = client.get_executor()
        found = nki.sweep(
            tiled, space, arguments=SHAPE, run=True, executor=executor, workers=1, timeout=60.0
        )
    local = nki.sweep(tiled, space, arguments=SHAPE, run=True, executor=InTurn())
    assert found.to_json() == local.to_json()

    marks = tmp_path / "marks"
    marks.mkdir()

    def end() -> None:
        while not list(marks.iterdir()):
            time.sleep(0.01)
        dask.end()

    ending = threading.Thread(target=end)
    ending.start()
    with pytest.raises(ClusterError, match="has gone, and its tasks with it"):
        nki.sweep(
            nki.jit(marking),
            {"width": [128, 256]},
            arguments={**SHAPE, "folder": str(marks)},
            executor=dask.address,
        )
    ending.join()


def test_results_before_the_scheduler_went_are_in_the_store(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask.worker()
    store, space = tmp_path / "results.jsonl", {"width": list(range(16, 513, 16))}
    answered = Evaluation.answer

    def ending(self: Evaluation, question: Question, outcome: Any) -> Any:
        answer = answered(self, question, outcome)
        dask.end()
        return answer

    monkeypatch.setattr(Evaluation, "answer", ending)
    with pytest.raises(ClusterError, match="has gone"):
        nki.sweep(tiled, space, arguments=SHAPE, executor=dask.file, workers=1, store=store)
    known = len(store.read_text().splitlines()) - 1  # the first line names the format
    assert 0 < known < 32
    answers: list[Point] = []

    def counted(self: Evaluation, question: Question, outcome: Any) -> Any:
        answers.append(question.candidate.point)
        return answered(self, question, outcome)

    monkeypatch.setattr(Evaluation, "answer", counted)
    resumed = nki.sweep(tiled, space, arguments=SHAPE, executor=InTurn(), store=store)
    assert len(answers) == 32 - known
    assert (
        resumed.to_json() == nki.sweep(tiled, space, arguments=SHAPE, executor=InTurn()).to_json()
    )


def test_a_scheduler_file_that_is_missing_or_wrong(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    with pytest.raises(ClusterError, match=r"no such file|scheduler\.json"):
        nki.sweep(tiled, {"width": [64]}, arguments=SHAPE, executor=str(file))
    file.write_text("{}")
    with pytest.raises(ClusterError, match="is not a file of dask"):
        nki.sweep(tiled, {"width": [64]}, arguments=SHAPE, executor=str(file))


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'nkijit\[dask\]'"):
        nki.sweep(tiled, {"width": [128]}, arguments=SHAPE, executor=NOBODY)
