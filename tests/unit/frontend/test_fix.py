"""`nkijit verify --fix`: files keep their encoding and line ends, and are written completely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nkijit.cli import fixing
from nkijit.cli.app import app
from nkijit.cli.fixing import edited
from nkijit.passes.diagnostics.diagnostic import Fix
from nkijit.passes.diagnostics.places import Position, Span

HEAD = "import nkijit as nki\nimport nkijit.language as nl\n"
KERNEL = """\
@nki.example(x="128x64:float32")
@nki.jit
def kernel(x):
    out = nl.ndarray((128, x.shape[1] / 2), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x[:, 0:32]))  # ä
    return out
"""


def verify(path: Path, *options: str) -> Any:
    return CliRunner().invoke(app, ["verify", str(path), *options])


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("encoding", "cookie"), [("utf-8", ""), ("utf-8-sig", ""), ("latin-1", "# coding: latin-1\n")]
)
def test_all_other_bytes_stay(tmp_path: Path, newline: str, encoding: str, cookie: str) -> None:
    if cookie and newline == "\r":
        pytest.skip("tokenize reads no declaration that ends with a carriage return")
    text = f"{cookie}{HEAD}X = 'a \\\nb'\f\n\n{KERNEL}".replace("\n", newline)
    path = tmp_path / "kernels.py"
    path.write_bytes(text.encode(encoding))
    result = verify(path, "--fix")
    assert result.exit_code == 0, result.output
    assert path.read_bytes() == text.replace("] / 2", "] // 2").encode(encoding)


def test_mixed_line_ends_stay(tmp_path: Path) -> None:
    text = f"{HEAD}\r\n\n" + KERNEL.replace("\n", "\r\n")
    path = tmp_path / "kernels.py"
    path.write_bytes(text.encode())
    assert verify(path, "--fix").exit_code == 0
    assert path.read_bytes() == text.replace("] / 2", "] // 2").encode()


def test_without_a_fix_the_file_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(HEAD + KERNEL.replace("/ 2", "// 2"), encoding="utf-8")
    before = path.stat()
    assert verify(path, "--fix").exit_code == 0
    after = path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_failed_write_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(HEAD + KERNEL, encoding="utf-8")

    def fails(*_: object) -> Any:
        raise OSError("no space left on device")

    monkeypatch.setattr(fixing, "writing", fails)
    result = verify(path, "--fix")
    assert result.exit_code == 2
    assert path.read_text(encoding="utf-8") == HEAD + KERNEL


def test_a_file_that_changes_in_the_meantime_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    write = f"with open({str(path)!r}, 'a') as file:\n    file.write('# more\\n')\n"
    text = HEAD + write + KERNEL
    path.write_text(text, encoding="utf-8")
    result = verify(path, "--fix")
    assert "was changed by another program; nothing is written" in result.output
    assert path.read_text(encoding="utf-8").startswith(text)


def test_a_kernel_that_fails_does_not_hinder_others(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    other = "@nki.jit\ndef other():\n    raise KeyError('own')\n"
    path.write_text(HEAD + KERNEL + other, encoding="utf-8")
    result = verify(path, "--fix")
    assert "fixed " in result.output
    assert "] // 2" in path.read_text(encoding="utf-8")


def test_documents_stay_whole_and_edits_go_to_standard_error(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(HEAD + KERNEL, encoding="utf-8")
    result = verify(path, "--fix", "--json")
    assert result.stdout.startswith("{")
    assert "fixed " in result.stderr


def test_an_edit_of_another_text_is_refused() -> None:
    span = Span(Position("a.py", 2, 3), 2, 5)
    assert edited("ab\ncdef\n", Fix(span, "ef", "x")) == "ab\ncdx\n"
    assert edited("ab\ncdfe\n", Fix(span, "ef", "x")) is None
    assert edited("ab", Fix(span, "ef", "x")) is None
