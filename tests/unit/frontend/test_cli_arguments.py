"""Values of `-a` and `-i`: invalid values, shapes and arrays of every kind."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report_pages import text_of

from nkijit.cli import app
from nkijit.cli.arguments import arrays_in_order, named_arrays
from nkijit.discovery.errors import UsageError
from nkijit.discovery.option_values import argument, argument_values
from nkijit.host.array_files import load_array

KERNEL = """
import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

@nki.jit
def kernel(x, scale=1.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=-128x64:float32", "expected SHAPE:DTYPE"),
        ("x=128x-64:float32", "expected SHAPE:DTYPE"),
        ("x=128xx64:float32", "expected SHAPE:DTYPE"),
        ("x=0x64:float32", "expected positive dimensions"),
        ("x=128x:float32", "expected SHAPE:DTYPE"),
        ("x=²x4:float32", "expected SHAPE:DTYPE"),
        ("x=1e3x4:float32", "expected SHAPE:DTYPE"),
        ("x=999999999999999999x4:float32", "larger than the HBM of every device, 144 GiB"),
        (f"x={'9' * 5000}:float32", "expected SHAPE:DTYPE"),
        (f"x={'2x' * 50}2:float32", "larger than the HBM of every device, 144 GiB"),
        (f"x={'1x' * 100}1:float32", "at most 60 dimensions"),
        ("x=4x4:flaot32", "unknown data type"),
        ("x={[]: 1}", "a key is a name or a number"),
        ("x=" + "[" * 1000, "too many nested lists"),
        ("x=fals", "'fals' is not a value; did you mean 'false'"),
        ("x=two", "a string needs quotes"),
        ("x=bfloat16", "did you mean nl.bfloat16"),
        ("x=nl.bfloat17", "has no 'bfloat17'; did you mean 'bfloat16'"),
        ("x=nl._made", "do not begin with '_'"),
        ("x=[1, 2", "is not closed"),
        ("x=[1 2]", "expected ',' or '\\]'"),
        ("x={a: 1, a: 2}", "the key 'a' is given twice"),
        ("x={a 1}", "expected ':'"),
        ("x='a", "the string is not closed"),
        ("x=1 2", "there is more after the value"),
        ("x=", "there is no value"),
        ("x=2j", "'2j' is not a value"),
        ("x=@nowhere.npy", "no such file: nowhere.npy"),
        ("x=@nowhere.py:name", "no such file: nowhere.py"),
        ("x=@nowhere", "expected @FILE.npy, or @FILE.py:NAME"),
        ("x=__import__('os')", "is not a value"),
        ("x=" + "-" * 100_000 + "1", "is not a value"),
        ("=4", "expected NAME=VALUE"),
        ("x", "expected NAME=VALUE"),
    ],
)
def test_arguments_that_are_none(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        argument(text)
    assert len(str(raised.value)) < 6000


def test_arguments_that_are_given_twice(tmp_path: Path) -> None:
    assert argument_values(["x=1", "y='relu'"]) == {"x": 1, "y": "relu"}
    with pytest.raises(UsageError, match="-a x=2: argument 'x' is given twice"):
        argument_values(["x=1", "y=1", "x=2"])
    np.save(tmp_path / "x.npy", np.zeros(2))
    given = str(tmp_path / "x.npy")
    with pytest.raises(UsageError, match="input 'x' is given twice"):
        list(named_arrays([f"x={given}", f"y={given}", f"x={given}"]))
    assert [name for name, _ in named_arrays([given, given])] == ["#0", "#1"]
    for text in (f"#1={given}", f"={given}"):
        with pytest.raises(UsageError, match="expected NAME=FILE"):
            list(named_arrays([given, text]))
    # Both are names of one tensor.
    with pytest.raises(UsageError, match=r"an input is given twice: x_1, x\.1"):
        arrays_in_order({"x_1": np.zeros(1), "x.1": np.zeros(1)}, ["x.1"])


def header(text: str) -> bytes:
    data = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(data).to_bytes(2, "little") + data


def archive() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, a=np.zeros(3))
    return stream.getvalue()


def saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not an array in NumPy's format"),
        (b"hello", "is not an array in NumPy's format"),
        (b"PK\x03\x04", "is not an array in NumPy's format"),
        (archive(), "is an archive of arrays"),
        (saved(np.array([{}, []], object)), "Object arrays cannot be loaded"),
        (saved(np.array(["a"])), "holds <U1, expected numbers"),
        (saved(np.array(["2020"], "M8[D]")), "expected numbers"),
        (saved(np.zeros(2, [("a", "f4"), ("b", "i4")])), "expected numbers"),
        (saved(np.zeros(2, np.complex64)), "expected numbers"),
        (saved(np.zeros(8))[:-5], "is not an array in NumPy's format"),
        pytest.param(
            *(header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"), "NumPy's format"),
            marks=pytest.mark.skipif(
                np.lib.NumpyVersion(np.__version__) < "2.3.0",
                reason="NumPy before 2.3 takes it for all that there is",
            ),
        ),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (9**9,)}"), "NumPy's format"),
        (header("[" * 100), "is not an array in NumPy's format"),
        (header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({10**14},)}}"), "."),
        (header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({10**30},)}}"), "."),
        (b"\x93NUMPY\x09\x00", "is not an array in NumPy's format"),
    ],
)
def test_files_that_are_no_arrays(
    data: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        load_array(path)
    (tmp_path / "kernel.py").write_text(KERNEL)
    with pytest.raises(SystemExit) as end:
        app(["run", str(tmp_path / "kernel.py"), "-i", f"x={path}"])
    assert end.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: -i x={path}: cannot read {path}: ")
    assert "Traceback" not in err


@pytest.mark.posix
def test_arrays_are_read_from_files_only(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, message in (
        (str(tmp_path / "fifo"), "is not a regular file"),
        ("/dev/zero", "is not a regular file"),
        (str(tmp_path), "Is a directory"),
        (str(tmp_path / "none.npy"), "no such file"),
    ):
        with pytest.raises(UsageError, match=message):
            list(named_arrays([path]))


@pytest.mark.parametrize("array", [np.float32([1]), np.zeros((2, 0)), np.zeros(2, bool)])
def test_arrays_of_numbers(array: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", array)
    found = load_array(tmp_path / "x.npy")
    assert found.dtype == array.dtype
    assert found.shape == array.shape


def test_every_command_works_in_folders_of_all_languages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nki jït é 日"
    folder.mkdir()
    monkeypatch.chdir(folder)
    path, text = folder / "kérnel 1.py", folder / "kérnel.mlir"
    path.write_text(KERNEL.replace("kernel", "kérnel").replace("out", "öut"), encoding="utf-8")
    np.save(folder / "x ü.npy", np.ones((8, 4), np.float32))

    def run(*words: str) -> str:
        with pytest.raises(SystemExit) as end:
            app([*words])
        out, err = capsys.readouterr()
        assert end.value.code == 0, err
        return out

    given = ("-a", "x=8x4:float32")
    run("trace", str(path), *given, "--locations", "-o", str(text))
    assert text.read_text(encoding="utf-8").isascii()
    for file, words in ((path, given), (text, ())):
        for command in ("verify", "list", "lower", "memory", "profile"):
            run(command, str(file), *words)
        run("verify", "--json", str(file), *words)
        run("verify", "--sarif", str(file), *words)
        run("report", str(file), *words, "-o", str(folder / "päge.html"))
        assert "rnel 1.py" in text_of((folder / "päge.html").read_text(encoding="utf-8"))
        run("run", str(file), "-i", "x=x ü.npy", "-o", "öut.npy")
        assert (np.load(folder / "öut.npy") == 1).all()
    assert "kérnel" in run("list", str(text))
