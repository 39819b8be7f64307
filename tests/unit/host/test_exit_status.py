"""Commands whose reader closes, or that are interrupted: output, files, and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("signals are those of POSIX", allow_module_level=True)

SCRIPTS = Path(sys.executable).parent

_KERNEL = """
import time
import nkijit as nki, nkijit.isa as nisa, nkijit.language as nl

@nki.jit
def long(x, wait=False):
    tile = nl.ndarray((128, 8), nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    for _ in range(1500):
        nisa.tensor_scalar(tile, tile, op0=nl.add, operand0=1.0)
    result = nl.ndarray((128, 8), nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(result, tile)
    if wait:
        print("waiting", flush=True), time.sleep(60)
    return result
"""


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "long.py"
    path.write_text(_KERNEL, encoding="utf-8")
    return path


def _environment(buffered):
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    return kept if buffered else {**kept, "PYTHONUNBUFFERED": "1"}


@pytest.mark.parametrize(
    ("command", "buffered"), [("list", True), ("trace", False), ("opt", True), ("opt", False)]
)
def test_a_reader_that_leaves_ends_a_command_quietly(command, buffered, kernel, tmp_path):
    words = [SCRIPTS / "nkijit", command, kernel, "-a", "x=128x8:float32"]
    if command == "opt":
        ir = tmp_path / "long.mlir"
        subprocess.run([words[0], "trace", *words[2:], "-o", ir], check=True)
        words = [SCRIPTS / "nkijit-opt", ir]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment(buffered)
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        errors = process.stderr.read()
    assert (errors, process.returncode) == (b"", 128 + signal.SIGPIPE)


def test_help_with_a_closed_reader():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [SCRIPTS / "nkijit", "--help"], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.stderr, done.returncode) == (b"", 128 + signal.SIGPIPE)


def test_errors_with_a_closed_reader(kernel):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [SCRIPTS / "nkijit", "list", kernel], stdout=subprocess.PIPE, stderr=write, check=False
    )
    os.close(write)
    assert (done.stdout, done.returncode) == (b"", 128 + signal.SIGPIPE)


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        (signal.SIGINT, 130, "interrupted at {file}:{line}\n"),
        (signal.SIGTERM, 143, ""),
        (signal.SIGHUP, 129, ""),
    ],
)
def test_a_command_that_is_stopped(number, status, said, kernel, tmp_path):
    output = tmp_path / "out.mlir"
    output.write_text("before", encoding="utf-8")
    words = ["trace", str(kernel), "-a", "x=128x8:float32", "-a", "wait=True", "-o", str(output)]
    with subprocess.Popen(
        [SCRIPTS / "nkijit", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(number)
        printed, errors = process.communicate()
    lines = kernel.read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "sleep(" in text)
    said = said.format(file=kernel, line=line)
    assert (printed, errors, process.returncode) == ("", said, status)
    assert output.read_text(encoding="utf-8") == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.py", "out.mlir"]


_WRITES = """
import sys, time
from nkijit.host.exit_status import ended_by_signals
from nkijit.host.output_files import writing

@ended_by_signals
def main():
    with writing(sys.argv[1]) as file:
        file.write(b"half")
        print("writing", flush=True)
        time.sleep(60)

sys.exit(main())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_file_that_is_being_written_is_taken_away(number, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", _WRITES, tmp_path / "out"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
        process.communicate()
    assert process.returncode == 128 + number
    assert list(tmp_path.iterdir()) == []


def test_signals_that_are_ignored_stay_so(tmp_path):
    """As under nohup."""
    with subprocess.Popen(
        [
            "sh",
            "-c",
            'trap "" HUP; exec "$0" "$@"',
            sys.executable,
            "-c",
            _WRITES,
            tmp_path / "out",
        ],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
    assert process.returncode == 143


@pytest.mark.parametrize("locale", ["C.UTF-8", "POSIX"])
@pytest.mark.parametrize("form", ["--json", "--sarif", ""])
@pytest.mark.parametrize("to_file", [True, False])
def test_file_names_that_are_no_text(locale, form, to_file, tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xe9 \xc3\xa9.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(_KERNEL.replace("operand0=1.0", "operand0=[1]"))
    words = [SCRIPTS / "nkijit", "verify", os.fsdecode(path), "-a", "x=128x8:float32"]
    output = tmp_path / "out"
    words += [form] if form else []
    words += ["-o", output] if to_file and form else []
    environment = {**os.environ, "LC_ALL": locale}
    done = subprocess.run(words, capture_output=True, env=environment, timeout=120, check=False)
    assert done.returncode == 1
    text = output.read_bytes() if to_file and form else done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
    assert b"UnicodeEncodeError" not in text
    if form:
        json.loads(text)
