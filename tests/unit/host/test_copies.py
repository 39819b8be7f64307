"""Copies of this process that run tasks."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

import pytest

from nkijit.host.processes.channels import EndedError, OutOfTimeError, Send
from nkijit.host.processes.copies import can_copy, copies

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="copies exist on Linux only")

STATE: dict[str, int] = {"value": 1}


def answer(send: Send, value: Any) -> None:
    send((os.getpid(), STATE["value"], value))


def die(send: Send) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang(send: Send) -> None:
    threading.Event().wait()


def exits(send: Send) -> None:
    sys.exit(3)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests have left threads and imported frameworks."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr("nkijit.host.processes.copies._THREADED", ())


@pytest.mark.usefixtures("alone")
def test_copies_have_the_state_of_this_process_and_run_several_tasks() -> None:
    STATE["value"] = 7
    made = copies(2, 60.0)
    try:
        found = set[int]()
        for child in made:
            for value in range(3):
                child.do(answer, value)
                pid, state, result = child.recv(30.0)
                assert (state, result) == (7, value)
                found.add(pid)
            assert child.is_alive
        assert len(found) == 2
        assert os.getpid() not in found
    finally:
        for child in made:
            child.end()
    assert not any(child.is_alive for child in made)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("task", "message"), [(die, "SIGKILL"), (exits, "has ended with exit code 1")]
)
def test_a_copy_that_ends_is_reported_and_the_others_go_on(task: Any, message: str) -> None:
    first, second = copies(2, 60.0)
    try:
        first.do(task)
        with pytest.raises(EndedError, match=message):
            first.recv(30.0)
        second.do(answer, 5)
        assert second.recv(30.0)[2] == 5
    finally:
        first.end()
        second.end()


@pytest.mark.usefixtures("alone")
def test_a_copy_that_hangs_can_be_ended() -> None:
    (child,) = copies(1, 60.0)
    child.do(hang)
    with pytest.raises(OutOfTimeError):
        child.recv(0.2)
    child.end()
    assert not child.is_alive


def test_a_process_with_threads_is_not_copied() -> None:
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    try:
        assert not can_copy()
        assert copies(2, 60.0) == []
    finally:
        release.set()
        thread.join()


@pytest.mark.usefixtures("alone")
def test_copies_end_with_this_process() -> None:
    """A copy reads the end of its tasks when the process that writes them has ended."""
    outer, inner_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(outer)
        copies(2, 600.0)
        os._exit(0)
    os.close(inner_end)
    os.waitpid(pid, 0)
    # The copies hold the pipe open until they end.
    assert os.read(outer, 1) == b""
    os.close(outer)
