"""Files that are written: whole or not at all, and otherwise as a plain write leaves them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from nkijit.host.output_files import write_text, writing

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def _only(folder, *names):
    return sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_a_new_file_is_like_one_that_is_opened(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "text\nä")
        (tmp_path / "b").write_text("", encoding="utf-8")
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == "text\nä".encode()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode
    assert _only(tmp_path, "a", "b")


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o666])
@pytest.mark.posix
def test_permissions_are_kept(tmp_path, mode):
    path = tmp_path / "a"
    path.write_text("before", encoding="utf-8")
    path.chmod(mode)
    write_text(path, "after")
    assert path.read_text(encoding="utf-8") == "after"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.posix
def test_links_are_followed(tmp_path, relative):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target, link = folder / "target", tmp_path / "link"
    target.write_text("before", encoding="utf-8")
    link.symlink_to("elsewhere/target" if relative else target)
    write_text(link, "after")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "after"
    assert _only(folder, "target")


@pytest.mark.posix
def test_a_link_to_nothing_makes_its_target(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text(encoding="utf-8") == "text"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("exists", [False, True])
def test_failed_writes_preserve_the_file(tmp_path, exists, error):
    path = tmp_path / "a"
    if exists:
        path.write_text("before", encoding="utf-8")

    def fail():
        with writing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert _only(tmp_path, *["a"] * exists)
    if exists:
        assert path.read_text(encoding="utf-8") == "before"


def test_a_folder_is_refused_as_by_open(tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        write_text(tmp_path, "text")
    assert str(caught.value.filename) == str(tmp_path)
    assert _only(tmp_path)


def test_a_missing_folder_is_named_as_requested(tmp_path):
    path = tmp_path / "missing" / "a"
    with pytest.raises(FileNotFoundError) as caught:
        write_text(path, "text")
    assert caught.value.filename == str(path)
    below_a_file = tmp_path / "file" / "a"
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(NotADirectoryError):
        write_text(below_a_file, "text")


def test_names_of_any_length(tmp_path):
    path = tmp_path / ("n" * 255)
    write_text(path, "text")
    assert path.read_text(encoding="utf-8") == "text"


@pytest.mark.skipif(AS_ROOT, reason="root may write everything")
@pytest.mark.posix
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path):
    path = tmp_path / "a"
    path.write_text("before", encoding="utf-8")
    path.chmod(0o444)
    with pytest.raises(PermissionError):
        write_text(path, "after")
    assert path.read_text(encoding="utf-8") == "before"


@pytest.mark.skipif(AS_ROOT, reason="root may write everything")
@pytest.mark.posix
def test_a_file_in_a_folder_where_none_can_be_made_is_written(tmp_path):
    path = tmp_path / "a"
    path.write_text("before, and longer", encoding="utf-8")
    tmp_path.chmod(0o555)
    try:
        write_text(path, "after")
    finally:
        tmp_path.chmod(0o755)
    assert path.read_text(encoding="utf-8") == "after"


def test_a_file_where_none_can_be_made_beside_it_is_written(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("before, and longer", encoding="utf-8")
    monkeypatch.setattr("nkijit.host.output_files.secrets.token_hex", lambda n: "missing/name")
    write_text(path, "after")
    assert path.read_text(encoding="utf-8") == "after"
    with pytest.raises(FileNotFoundError, match="new"):
        write_text(tmp_path / "new", "text")


def test_a_mount_point_is_written_where_it_is(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("before, and longer", encoding="utf-8")
    inode = path.stat().st_ino

    def busy(made, target):
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr("pathlib.Path.replace", busy)
    write_text(path, "after")
    assert path.read_text(encoding="utf-8") == "after"
    assert path.stat().st_ino == inode
    assert _only(tmp_path, "a")


@pytest.mark.parametrize("content", ["text", "array"])
@pytest.mark.posix
def test_a_pipe_gets_the_output(tmp_path, content):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    array = np.arange(12, dtype=np.float32)
    if content == "text":
        write_text(path, "text")
    else:
        with writing(path) as file:
            np.save(file, array)
    reader.join()
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert got == [b"text"] if content == "text" else got[0].endswith(array.tobytes())


_PRINTS = """
import sys
from nkijit.host.output_files import write_text
print("before")
write_text(sys.argv[1], "written\\n")
print("after")
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "itself"])
@pytest.mark.parametrize("mode", ["wb", "ab"])
@pytest.mark.posix
def test_standard_output_by_its_name(tmp_path, name, mode):
    """In order with printed text, also if it is a file, whose earlier contents remain."""
    path = tmp_path / "out"
    path.write_bytes(b"first\n")
    with path.open(mode) as out:
        target = str(path) if name == "itself" else name
        subprocess.run([sys.executable, "-c", _PRINTS, target], stdout=out, check=True)
    kept = b"first\n" if mode == "ab" else b""
    assert path.read_bytes() == kept + b"before\nwritten\nafter\n"
    assert _only(tmp_path, "out")


@pytest.mark.posix
def test_standard_output_as_a_pipe():
    done = subprocess.run(
        [sys.executable, "-c", _PRINTS, "/dev/stdout"], capture_output=True, check=True
    )
    assert done.stdout == b"before\nwritten\nafter\n"


@pytest.mark.posix
def test_a_file_that_the_shell_has_opened(tmp_path):
    """`3>out nkijit … -o /dev/fd/3`: the shell goes on with the same file."""
    path = tmp_path / "out"
    with path.open("wb") as out:
        inode = path.stat().st_ino
        write_text(f"/dev/fd/{out.fileno()}", "text")
    assert path.read_text(encoding="utf-8") == "text"
    assert path.stat().st_ino == inode


@pytest.mark.posix
def test_devices_stay():
    before = os.stat("/dev/null")
    write_text("/dev/null", "text")
    assert os.stat("/dev/null").st_ino == before.st_ino
