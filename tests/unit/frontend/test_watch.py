"""`nkijit watch`, in a session that edits a kernel."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

KERNEL = """
import nkijit as nki
import nkijit.language as nl

@nki.jit
def double(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.multiply(nl.load(x), 2.0))
    return out
"""


class Session:
    """A command in a terminal."""

    def __init__(self, *command: str):
        self.end, inner = pty.openpty()
        self.process = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner)
        os.close(inner)
        self.said = ""

    def until(self, pattern: str) -> re.Match[str]:
        """Read until the output matches; a time limit catches hangs."""
        started = time.monotonic()
        while (found := re.search(pattern, self.said)) is None:
            assert time.monotonic() - started < 120, self.said
            self.said += os.read(self.end, 4096).decode(errors="replace")
        self.said = self.said[found.end() :]
        return found

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.end)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    (tmp_path / "k.py").write_text(KERNEL)
    command = [sys.executable, "-m", "nkijit", "watch", str(tmp_path / "k.py"), "--no-open"]
    made = Session(*command, "-a", "x=128x64:float32")
    yield made
    made.close()


def get(address: str, host: str | None = None) -> str:
    request = urllib.request.Request(address, headers={"Host": host} if host else {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def refusal(address: str, host: str | None = None) -> int:
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(address, host)
    refused.value.close()
    return refused.value.code


@pytest.mark.posix
def test_each_save_is_looked_at(session: Session, tmp_path: Path) -> None:
    address = session.until(r"watching \S+: (http://127\.0\.0\.1:\d+/)\r")[1]
    session.until("no findings")
    assert "/status" in get(address)
    assert json.loads(get(address + "status")) == {"version": 1, "text": "no findings", "ok": True}
    first = get(address + "report?1")
    assert "double" in first

    (tmp_path / "k.py").write_text(KERNEL.replace("return out", "return ("))
    session.until("SyntaxError")
    assert json.loads(get(address + "status"))["ok"] is False
    assert get(address + "report") == first  # the last page that there was

    (tmp_path / "k.py").write_text(KERNEL.replace("return out", "return nl.load(x)"))
    session.until(r"error\[return-value\]")
    (tmp_path / "k.py").write_text(KERNEL.replace("2.0", "3.0"))
    session.until("no findings")
    assert get(address + "report") != first

    for path in ("nothing", "../etc/passwd"):
        assert refusal(address + path) == 404
    assert refusal(address + "status", host="elsewhere.example:80") == 403

    session.process.send_signal(signal.SIGINT)
    session.until("interrupted")
    assert session.process.wait(60) == 130


@pytest.mark.posix
def test_settings_of_the_project_apply(session: Session, tmp_path: Path) -> None:
    """Findings are those of `nkijit verify`: portability, its release, suppressed rules."""
    session.until("no findings")
    release = tmp_path / "pyproject.toml"
    # NKI 0.6 does not accept `is`.
    kernel = KERNEL.replace("    out =", "    scale = 1 if x is None else 2\n    out =")
    (tmp_path / "k.py").write_text(kernel)
    session.until("no findings")
    release.write_text('[tool.nkijit]\nportable = true\nnki = "0.6"\n')
    session.until(r"portable-identity")
    release.write_text("[tool.nkijit]\nportable = true\n")
    session.until("no findings")
    release.write_text(
        '[tool.nkijit]\nportable = true\nnki = "0.6"\nsuppress = ["portable-identity"]\n'
    )
    session.until("no findings")
