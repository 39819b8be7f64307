"""Whose text is shown beside findings, in listings and reports."""

from __future__ import annotations

import json
import linecache
import os
import threading
import warnings
from pathlib import Path

import pytest
from support.report_pages import text_of

import nkijit as nki
from nkijit.cli import app
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.diagnostics.source_text import (
    MAX_SOURCE_BYTES,
    source_line,
    source_lines,
    source_text,
)

SECRET = "hunter2"


def ir(*files: str) -> str:
    """A kernel with a warning at line 1 of each file."""
    allocations = [
        f'  %t{n} = nki.alloc : memref<8x4xf32, #nki.sbuf> loc("{file}":1:1)'
        for n, file in enumerate(files)
    ]
    return "\n".join(["nki.kernel @k() target=trn3 {", *allocations, "  nki.return", "}", ""])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of IR, which is not the working directory."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "got").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "got"


def shown(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """All that commands write of a file of IR."""
    page = path.with_suffix(".html")
    texts: list[str] = []
    for arguments in (
        ["verify"],
        ["verify", "--json"],
        ["verify", "--sarif"],
        ["trace", "--locations"],
        ["list"],
        ["report", "-o", str(page)],
    ):
        with pytest.raises(SystemExit):
            app([arguments[0], str(path), *arguments[1:]])
        texts += capsys.readouterr()
    html = page.read_text(encoding="utf-8")
    return "\n".join([*texts, html, text_of(html)])


@pytest.mark.posix
def test_ir_from_elsewhere_quotes_nothing_else(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = folder.parent / "elsewhere"
    (elsewhere / "settings.py").write_text(SECRET)
    (folder.parent / "work" / ".env").write_text(SECRET)
    (folder / "id_rsa").write_text(SECRET)
    (folder / "link.py").symlink_to(elsewhere / "settings.py")
    (folder / "large.py").write_text(SECRET + " " * MAX_SOURCE_BYTES)
    os.mkfifo(folder / "fifo.py")
    (folder / "device.py").symlink_to("/dev/zero")
    files = [
        str(elsewhere / "settings.py"),
        "../elsewhere/settings.py",
        ".env",
        *(str(folder / name) for name in ("id_rsa", "link.py", "large.py", "fifo.py", "device.py")),
        *("/etc/passwd", "/dev/zero", "/dev/stdin", "/proc/self/environ", str(folder)),
        *("a\\00b.py", "x" * 300 + ".py", "/etc/passwd/x.py", ""),
    ]
    (folder / "k.mlir").write_text(ir(*files))
    text = shown(folder / "k.mlir", capsys)
    assert SECRET not in text
    assert "root:x" not in text
    assert "settings.py:1:1" in text


def test_files_next_to_ir_or_below_the_working_directory_are_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "kernel.py").write_text("beside = 1\n")
    (folder.parent / "work" / "mine.py").write_text("below = 1\n")
    (folder / "k.mlir").write_text(ir(str(folder / "kernel.py"), "mine.py"))
    text = shown(folder / "k.mlir", capsys)
    findings, _, page = text.partition("<html")
    for part in (findings, page):
        assert "beside = 1" in part
        assert "below = 1" in part


def test_text_that_is_none_is_shown_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_bytes(b"a = '\xff\0'\r\nb = '\xe2\x80\xa8'\rc\x0c = 1\nd")
    assert source_lines(str(path)) == ("a = '\ufffd\ufffd'", "b = '\u2028'", "c\x0c = 1", "d")
    assert source_line(str(path), 2) == "b = '\u2028'"
    assert [source_line(str(path), n) for n in (-1, 0, 5, 10**30)] == [""] * 4
    assert source_text(str(path)).count("\n") == 4
    path.write_bytes("# coding: latin-1\né".encode("latin-1"))
    assert source_line(str(path), 2) == "é"
    for name in ("none", "hex", "undefined"):
        path.write_text(f"# coding: {name}\né", encoding="utf-8")
        assert source_line(str(path), 2) == "é"


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text("one\n")
    assert source_line(str(path), 1) == "one"
    path.write_text("three\n")
    assert source_line(str(path), 1) == "three"
    path.unlink()
    assert source_line(str(path), 1) == ""


def test_text_that_is_in_no_file() -> None:
    linecache.cache["<cell 1>"] = (5, None, ["typed\n"], "<cell 1>")
    try:
        assert source_line("<cell 1>", 1) == "typed"
    finally:
        del linecache.cache["<cell 1>"]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "k.py")
    found: list[str] = []
    reading = threading.Thread(
        target=lambda: found.append(Position(str(tmp_path / "k.py"), 1, 1).source_line()),
        daemon=True,
    )
    reading.start()
    reading.join(5)
    assert found == [""]


def test_warnings_of_a_run_do_not_make_python_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "k.py")
    path = tmp_path / "k.mlir"
    text = ir(str(tmp_path / "k.py")).replace(
        "  nki.return",
        f"  %u = nki.alloc : memref<8x4xf32, #nki.sbuf>\n"
        f'  nisa.tensor_copy dst=%u, src=%t0 loc("{tmp_path / "k.py"}":1:1)\n  nki.return',
    )
    path.write_text(text)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        nki.load(path).run(strict=False)
    assert issued
    for warning in issued:
        assert warnings.formatwarning(
            warning.message, warning.category, warning.filename, warning.lineno
        )


def test_control_characters_do_not_reach_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "kernel.py").write_text("a = '\x1b]0;title\x07'\n")
    (folder / "k.mlir").write_text(ir(str(folder / "kernel.py"), "\\1B[2J.py"))
    with pytest.raises(SystemExit):
        app(["verify", str(folder / "k.mlir")])
    (folder / "bad.mlir").write_text("\x1b[31mnki.kernel")
    with pytest.raises(SystemExit):
        app(["verify", str(folder / "bad.mlir")])
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "a = '\ufffd]0;title\ufffd'" in out


def test_positions_that_no_source_has(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "kernel.py").write_text("a = 1\n")
    text = ir(*[str(folder / "kernel.py")] * 3)
    for place in ("0:0", "4294967295:1", "1:4294967295"):
        text = text.replace('":1:1)', f'":{place})', 1)
    (folder / "k.mlir").write_text(text)
    assert "unused-tile" in shown(folder / "k.mlir", capsys)
    with pytest.raises(SystemExit):
        app(["verify", "--sarif", str(folder / "k.mlir")])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    for result in run["results"]:
        (location,) = result["locations"]
        region = location["physicalLocation"].get("region")
        assert region is None or min(region.values()) >= 1
