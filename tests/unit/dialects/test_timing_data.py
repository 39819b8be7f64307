"""The data files of `timing.py`: errors in them are reported, and every number has a source."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from nkijit.dialects.hardware.targets import TARGETS, target_named, with_timing
from nkijit.dialects.hardware.timing import TIMINGS, End, Timing, TimingError, load_timing
from nkijit.dialects.hardware.words import nc_version

FOLDER = TIMINGS
PLATFORMS = [target.platform for target in TARGETS.values()]
TEXT = (FOLDER / "trn2.toml").read_text()
KINDS = ("documented", "chart", "measured", "inferred", "unknown")


def keys(text: str) -> Iterator[tuple[str, str]]:
    """Every key of a data file, with its section, and the comment above it."""
    section, comment = "", ""
    for line in text.splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            section, comment = match[1], ""
        elif line.startswith("#"):
            comment += line[1:]
        elif match := re.match(r"(\w+) = ", line):
            yield f"{section}.{match[1]}", comment.strip()
            comment = ""
        else:
            assert not line, f"a line that this test does not know: {line!r}"


def declared() -> set[str]:
    timing = TARGETS[nc_version.gen3].timing
    sections = [(f.name, getattr(timing, f.name)) for f in fields(Timing) if f.name != "spreads"]
    assert all(is_dataclass(section) for _, section in sections)
    return {f"{name}.{f.name}" for name, section in sections for f in fields(section)}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_constant_is_there_and_says_where_it_comes_from(platform: str) -> None:
    found = dict(keys((FOLDER / f"{platform}.toml").read_text()))
    assert set(found) == declared()
    for key, comment in found.items():
        assert comment.startswith(KINDS), f"{key} of {platform}: {comment!r}"
        assert len(comment) > len("documented: x"), key


def test_there_is_a_file_for_every_target_and_no_other() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(PLATFORMS)


def test_the_constants_of_another_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TEXT.replace("table_load_ns = 1280", "table_load_ns = 5.5"))
    target = target_named("trn2")
    changed = with_timing(target, path)
    assert changed.timing.scalar.table_load_ns == 5.5
    assert changed.timing.vector == target.timing.vector
    assert target.timing.scalar.table_load_ns == 1280
    assert (changed.platform, changed.pmax) == (target.platform, target.pmax)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("engines = 16\n", "", "key 'dma.engines' is missing"),
        ("[collectives]", "[collective]", "unknown key 'collective'; known: clocks, "),
        ("engines = 16\n", "engines = 16\nspeed = 1\n", "unknown key 'dma.speed'; known: engines,"),
        ("engines = 16\n", "engines = 16.5\n", "'dma.engines' must be an integer above 0, it is"),
        ("engines = 16\n", "engines = true\n", "'dma.engines' must be an integer above 0"),
        ("engines = 16\n", "engines = 0\n", "'dma.engines' must be an integer above 0, it is 0"),
        ("hop_ns = 1500", "hop_ns = -1.0", "'collectives.hop_ns' must be a number above 0, it is"),
        ("hop_ns = 1500", "hop_ns = nan", "'collectives.hop_ns' must be a number above 0"),
        ("hop_ns = 1500", "hop_ns = inf", "'collectives.hop_ns' must be a number above 0"),
        ("hop_ns = 1500", "hop_ns = true", "'collectives.hop_ns' must be a number above 0"),
        ("hop_ns = 1500", "hop_ns = '1500'", "'collectives.hop_ns' must be a number above 0"),
        ("throttle = true", "throttle = 0", "'tensor.throttle' must be true or false, it is 0"),
        (
            "stride_factors = [[8, 1.0], [16, 2.0]]\n",
            "stride_factors = []\n",
            r"'tensor.stride_factors' must be a list of \[bytes, factor\], numbers above 0",
        ),
        (
            "stride_factors = [[8, 1.0], [16, 2.0]]\n",
            "stride_factors = [[8, 1.0], 16]\n",
            r"'tensor.stride_factors' must be a list of \[bytes, factor\], numbers above 0",
        ),
        (
            "stride_factors = [[8, 1.0], [16, 2.0]]\n",
            "stride_factors = [[16, 1.0], [8, 2.0]]\n",
            "the bytes of 'tensor.stride_factors' must ascend",
        ),
        ("hop_ns = 1500", "hop_ns = 1e13", r"'collectives.hop_ns' must .*; legal: 1e-12 to 1e\+12"),
        ("hop_ns = 1500", "hop_ns = 1e-300", "'collectives.hop_ns' must be a number above 0, it"),
        ("hop_ns = 1500", f"hop_ns = {10**400}", "'collectives.hop_ns' must be a number above 0"),
        ("engines = 16\n", f"engines = {10**400}\n", "'dma.engines' must be an integer above 0"),
        ("hop_ns = 1500", f"hop_ns = {'9' * 5000}", "is not TOML: "),
        ("hop_ns = 1500", "hop_ns = 1500 # \0", "is not TOML: "),
        ("hop_ns = 1500", f"hop_ns = {'[' * 5000}{']' * 5000}", "is not TOML: it is nested"),
        (
            "hop_ns = 1500",
            "hop_ns = {likely = 1, fast = 1}",
            "key 'collectives.hop_ns.slow' is missing",
        ),
        (
            "hop_ns = 1500",
            "hop_ns = {likely = 1, fast = 1, slow = 0}",
            "'collectives.hop_ns.slow' must be a number above 0, it is 0",
        ),
        (
            "hop_ns = 1500",
            f"hop_ns = {'[' * 50}{']' * 50}",
            "'collectives.hop_ns' must be a number",
        ),
        ("hop_ns = 1500", "hop_ns = {a = 1}", "unknown key 'collectives.hop_ns.a'; known: likely,"),
        ("hop_ns = 1500", f"hop_ns = '{'a' * 9999}'", "'collectives.hop_ns' must be .{,120}$"),
        ("[clocks]", "[clocks", "is not TOML: "),
        ("engines = 16\n", "engines = 16\nengines = 16\n", "is not TOML: "),
    ],
)
def test_a_mistake_names_the_file_and_the_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "mine.toml"
    assert TEXT.count(old) == 1
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(TimingError, match=f"^{re.escape(str(path))}: {message}"):
        load_timing(path)


def test_constants_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"a = '\xc8'\n")
    with pytest.raises(TimingError, match=r"is not TOML: byte 5 is not UTF-8$"):
        load_timing(path)


def test_the_ends_of_constants(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        TEXT.replace("hop_ns = 1500", "hop_ns = {likely = 1500, fast = 1000, slow = 3e3}")
    )
    timing = load_timing(path)
    assert timing.collectives.hop_ns == 1500
    assert timing.at(End.fast).collectives.hop_ns == pytest.approx(1000)
    assert timing.at(End.slow).collectives.hop_ns == pytest.approx(3000)
    assert timing.at(End.slow).vector == timing.vector


@pytest.mark.parametrize("platform", PLATFORMS)
def test_likely_values_are_between_the_ends(platform: str) -> None:
    timing = load_timing(FOLDER / f"{platform}.toml")
    assert timing.spreads
    for spread in timing.spreads:
        assert (spread.fast - 1) * (spread.slow - 1) <= 0, spread
        assert 0.25 <= spread.fast / spread.slow <= 4 or spread.key == "overhead_cycles"


def test_a_section_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    start = TEXT.index("[semaphores]")
    path.write_text("semaphores = 3\n" + TEXT[:start] + TEXT[TEXT.index("[sequencer]") :])
    with pytest.raises(TimingError, match="'semaphores' must be a table, it is 3"):
        load_timing(path)


@pytest.mark.posix
def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TimingError, match=r"none\.toml: cannot be read: No such file"):
        load_timing(tmp_path / "none.toml")
    with pytest.raises(TimingError, match="cannot be read: is not a regular file"):
        load_timing("/dev/zero")
    os.mkfifo(tmp_path / "fifo.toml")
    with pytest.raises(TimingError, match="cannot be read: is not a regular file"):
        load_timing(tmp_path / "fifo.toml")
    (tmp_path / "large.toml").write_text("#" * (1 << 21))
    with pytest.raises(TimingError, match="cannot be read: has more than 1048576 bytes"):
        load_timing(tmp_path / "large.toml")
    with pytest.raises(TimingError, match="cannot be read: Is a directory"):
        load_timing(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(TimingError, match=r"binary\.toml: is not TOML"):
        load_timing(binary)
