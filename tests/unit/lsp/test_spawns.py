"""The server where there are no forks, as on Windows: made to do without them here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

types = pytest.importorskip("lsprotocol.types")
from support.editor import Editor  # noqa: E402

KERNEL = """\
import nkijit as nki
import nkijit.language as nl


@nki.example(x="128x512:bfloat16")
@nki.jit
def copied(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out
"""
WRONG = KERNEL.replace("nl.load(x)", "nl.load(x[0:64])")
SERVER = """\
import nkijit.host.processes.isolated
import nkijit.host.processes.spawns

nkijit.host.processes.isolated.system = nkijit.host.processes.spawns
from nkijit.lsp.server import serve
serve(None)
"""


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    server = tmp_path / "server.py"
    server.write_text(SERVER, encoding="utf-8")
    with Editor({"timeLimit": 2}, command=[str(server)]) as made:
        yield made


def test_findings_as_elsewhere_and_missing_features(editor: Editor, tmp_path: Path):
    editor.wait(lambda: editor.logged)
    assert "memoryLimit has no effect" in editor.logged[0]
    uri = editor.open(tmp_path / "kernel.py", KERNEL)
    assert editor.problems(uri) == []
    editor.change(uri, WRONG)
    (found,) = editor.problems(uri)
    assert found.range.start.line == 8


@pytest.mark.slow
def test_a_file_that_hangs_is_ended_where_it_is(editor: Editor, tmp_path: Path):
    hanging = KERNEL.replace("    nl.store", "    while True: nl.store")
    uri = editor.open(tmp_path / "hangs.py", hanging)
    (found,) = editor.problems(uri)
    assert found.message == "still running after 2 s"
    assert found.range.start.line == 8
    # One that does not get to run Python is ended all the same.
    editor.change(uri, f"import time\ntime.sleep(1000)\n{KERNEL}")
    (found,) = editor.problems(uri)
    assert "still running after 2 s; it was ended" in found.message


@pytest.mark.slow
def test_a_crash_is_survived(editor: Editor, tmp_path: Path):
    uri = editor.open(tmp_path / "crash.py", f"{KERNEL}\nimport os\nos._exit(7)\n")
    (found,) = editor.problems(uri)
    assert "has ended with exit code 7" in found.message
    editor.change(uri, KERNEL)
    assert editor.problems(uri) == []


@pytest.mark.slow
def test_nothing_that_waits_keeps_python_from_ending(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        "from nkijit.host.processes import spawns\n"
        "from nkijit.sweeps.children import _call\n"
        "spawns.prepare()\n"
        "spawns._waiting[0].end()\n"
        "process = spawns.start(_call, pow, (2, 3))\n"
        "print(process.recv(60), process.recv(60))\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "None (True, 8)\n"
