"""IR from other sources: every command answers quickly and equally, for any contents."""

from __future__ import annotations

import base64
import os
import re
import time
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError

import nkijit
from nkijit.cli import app, opt
from nkijit.ir.parser import InvalidOperation
from nkijit.ir.text import ir_text_of, parse
from nkijit.passes.diagnostics.places import positions

ALLOC = "%t = nki.alloc : memref<128x64xf32, #nki.sbuf>"
COMMANDS = ("trace", "verify", "list", "lower", "memory", "profile", "run", "diff")


def kernel(*lines: str) -> str:
    """A kernel; the first line is line 2."""
    body = "\n".join(lines)
    return f"nki.kernel @k() target=trn3 {{\n{body}\nnki.return\n}}\n"


def with_attribute(text: str) -> str:
    """A module with an attribute, from column 31 on."""
    return f"builtin.module attributes {{ a = {text}}} {{\n{kernel(ALLOC)}}}\n"


def aliases(count: int, uses: int) -> str:
    lines = ["#a0 = [1]"]
    lines += [f"#a{n} = [{', '.join([f'#a{n - 1}'] * uses)}]" for n in range(1, count)]
    return "\n".join([*lines, with_attribute(f"#a{count - 1}")])


def loops(depth: int) -> str:
    heads = [f"scf.for %i{n} = %a to %b step %b : i32 {{" for n in range(depth)]
    numbers = ["%a = arith.constant 0 : i32", "%b = arith.constant 1 : i32"]
    return kernel(*numbers, *heads, *["}"] * depth)


@cache
def bomb(bytes_inside: int) -> str:
    return base64.b64encode(zlib.compress(bytes(bytes_inside), 9)).decode()


NOT_CLOSED = "the string is not closed on its line"
TOO_DEEP = "this is nested too deeply"
BAD: dict[str, tuple[str | Callable[[], str], str, str]] = {
    "unclosed": (with_attribute('"' + "a" * 5000), "1:33", NOT_CLOSED),
    "unclosed-in-symbol": ('nki.kernel @"' + "a" * 5000, "1:13", NOT_CLOSED),
    "escape": (with_attribute('"' + "a" * 50 + '\\q"'), "1:84", "has an unknown escape, \\q"),
    "escape-at-end": (with_attribute('"' + "a" * 50 + "\\4"), "1:84", "unknown escape, \\4"),
    "vertical-tab": (with_attribute('"a\vb"'), "1:33", NOT_CLOSED),
    "nul": (kernel(ALLOC + "\0"), "2:47", "Unexpected character"),
    "brackets": (with_attribute("[" * 2000 + "]" * 2000), "1:96", TOO_DEEP),
    "dictionaries": (with_attribute("{a=" * 2000 + "1" + "}" * 2000), "1:", TOO_DEEP),
    "types": (kernel("%t = nki.alloc : " + "tuple<" * 2000), "2:", TOO_DEEP),
    "regions": (loops(2000), "66:", TOO_DEEP),
    "modules": ("builtin.module {\n" * 2000 + "}\n" * 2000, "65:1", TOO_DEEP),
    "calls": (
        kernel(ALLOC + " loc(" + 'callsite("a":1:1 at ' * 2000 + '"b":1:1' + ")" * 2001),
        "2:",
        TOO_DEEP,
    ),
    "line": (kernel(ALLOC + ' loc("a":4294967296:1)'), "2:52", "lines and columns have 32 bits"),
    "signs": (with_attribute("affine_map<(d0) -> (" + "-" * 3000 + "d0)>"), "1:", TOO_DEEP),
    "sum": (with_attribute("affine_map<(d0) -> (" + "d0 + " * 3000 + "d0)>"), "1:43", TOO_DEEP),
    "aliases": (aliases(30, 10), "8:11", "aliases stand for more than"),
    "deep-aliases": (aliases(3000, 1), "", TOO_DEEP),
    "rank": (kernel(f"%t = nki.alloc : memref<{'1x' * 2000}f32, #nki.sbuf>"), "2:1", "at most 60"),
    "view": (
        kernel(ALLOC, f"%v = nki.view %t offset=0 pattern=[{', '.join(['[1, 1]'] * 2000)}]"),
        "3:1",
        "at most 60 dimensions",
    ),
    "digits of a type": (
        kernel(f"%t = nki.alloc : memref<1x1xi{'9' * 5000}, #nki.sbuf>"),
        "2:5030",
        "the number has too many digits",
    ),
    "digits of a value": (kernel(f"nki.return %0#{'9' * 5000}"), "3:1", "too many digits"),
    "digits": (kernel(f"%c = arith.constant {'9' * 5000} : i32"), "2:21", "more than 1000 digits"),
    "numeral": (kernel("%c = arith.constant ² : i32"), "2:21", "unexpected character"),
    "bits": (kernel("%c = arith.constant -1 : i9999999999999"), "2:", "at most 16777215 bits"),
    "dense": (
        with_attribute("dense<1> : tensor<999999999999xi32>"),
        "1:",
        "a dense literal has at most",
    ),
    "inflated": (
        lambda: kernel(
            f'%c = nki.constant zlib "{bomb(1 << 28)}" : memref<4x8xf32, #nki.shared_hbm>'
        ),
        "2:24",
        "there are more than 128",
    ),
    "long-line": (kernel(ALLOC + " " * 1_000_000 + "!"), "2:1000047", "xpected"),
    "not-verified": (kernel(ALLOC, "%u = nki.alloc : memref<0x4xf32, #nki.sbuf>"), "3:1", "got"),
    "empty": ("", "1:1", "Could not parse"),
}


@pytest.fixture(autouse=True)
def soon() -> object:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 60


def said(
    arguments: list[str], capsys: pytest.CaptureFixture[str], program: object = app
) -> tuple[int, str]:
    """Exit code and messages of a command."""
    if program is app:
        with pytest.raises(SystemExit) as end:
            app(arguments)
        code = end.value.code
    else:
        code = opt.main(arguments)
    out, err = capsys.readouterr()
    assert out == ""
    assert isinstance(code, int)
    return code, err


@pytest.mark.parametrize(("text", "place", "message"), BAD.values(), ids=BAD)
def test_every_command_says_the_same(
    text: str | Callable[[], str],
    place: str,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "bad.mlir"
    written = text if isinstance(text, str) else text()
    path.write_text(written, encoding="utf-8", newline="")
    page = str(tmp_path / "page")
    answers = [
        *(
            said([command, str(path), *([str(path)] if command == "diff" else [])], capsys)
            for command in COMMANDS
        ),
        said(["report", str(path), "-o", page], capsys),
        said([str(path)], capsys, opt),
        said([str(path), "-p", "verify-init"], capsys, opt),
    ]
    *of_commands, _, _ = answers
    assert {code for code, _ in of_commands} == {2}
    for code, err in answers:
        assert code
        # The parser's depth when Python's stack was full depends on the caller.
        assert re.sub(r":\d+:\d+", "", err) == re.sub(r":\d+:\d+", "", answers[0][1])
        assert err.startswith(f"{path}:{place}")
        assert re.match(re.escape(str(path)) + r":\d+:\d+\n", err)
        assert message in err
        assert "Traceback" not in err
        assert "internal error" not in err
        assert len(err) < 20_000
    assert not Path(page).exists()


@pytest.mark.posix
def test_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fifo, device, latin = (tmp_path / f"{name}.mlir" for name in ("fifo", "zero", "latin"))
    os.mkfifo(fifo)
    device.symlink_to("/dev/zero")
    latin.write_bytes(b'module attributes {\n  a = "\xe9"}\n')
    for path, message in (
        (fifo, "is not a regular file"),
        (device, "is not a regular file"),
        (tmp_path, "Is a directory"),
        (tmp_path / "none.mlir", "no such file"),
        (latin, "latin.mlir:2:8"),
        (latin, "the text is not UTF-8: invalid continuation byte"),
    ):
        shown = str(path) if path != tmp_path else f"{tmp_path}/../x.mlir"
        if path == tmp_path:
            (tmp_path.parent / "x.mlir").mkdir(exist_ok=True)
        for arguments, program in ((["trace", shown], app), ([shown], opt)):
            code, err = said(arguments, capsys, program)
            assert code == (2 if program is app else 1)
            assert message in err
            assert "Traceback" not in err


def test_legal_strings() -> None:
    # Only a line feed, a vertical tab and a form feed end a line for MLIR.
    for inside, value in (
        ("\r", "\r"),
        ("\x85\u2028\u2029\x1c", "\x85\u2028\u2029\x1c"),
        (r"\0A\22\\\n\t\"", '\n"\\\n\t"'),
        ("// no comment", "// no comment"),
        (r"\C3\A9\F0\9F\98\80é", "é😀é"),
        ("\0", "\0"),
        ("", ""),
    ):
        module = parse(f'builtin.module attributes {{a = "{inside}"}} {{\n}} // "open\n')
        assert module.attributes["a"].data == value  # pyright: ignore[reportAttributeAccessIssue]
        text = ir_text_of(module)
        assert text.isascii()
        assert ir_text_of(parse(text)) == text


def test_bytes_that_are_no_text() -> None:
    module = parse('builtin.module attributes {a = "\\FF"} {\n}')
    assert module.attributes["a"].name == "bytes" or module.attributes["a"].data == b"\xff"  # pyright: ignore
    with pytest.raises(ParseError, match="<text>:2:"):
        parse(kernel(ALLOC + ' loc("\\FF":1:1)'))


def test_the_inflated_size_of_all_constants_is_bounded() -> None:
    constant = f'"nki.constant"() <{{data = #nki.data<zlib "{bomb(1 << 28)}">}}> : () -> i32\n'
    with pytest.raises(ParseError, match="the constants have more than 268435456 bytes"):
        parse('"builtin.module"() ({\n' + constant * 3 + "}) : () -> ()")


@pytest.mark.parametrize("length", [1000, 100_000])
def test_literals_take_linear_time(length: int) -> None:
    started = time.perf_counter()
    for text in ('"' + "a" * length, '"' + "\\41" * length + "\\4", '"' + "\\" * (2 * length + 1)):
        with pytest.raises(ParseError):
            parse(text)
    assert time.perf_counter() - started < 60


def test_depth_that_is_legal() -> None:
    # The module and the kernel are two levels.
    assert ir_text_of(parse(loops(61))).count("scf.for") == 61
    with pytest.raises(ParseError, match=TOO_DEEP):
        parse(loops(63))


def test_names_and_paths_in_all_languages() -> None:
    text = kernel(ALLOC + ' loc("k\\C3\\A9 \\E6\\97\\A5.py":3:4)').replace("@k", '@"k\\C3\\A9"')
    again = ir_text_of(parse(text), locations=True)
    assert '@"k\\C3\\A9"' in again
    assert 'loc("k\\C3\\A9 \\E6\\97\\A5.py":3:4)' in again
    assert ir_text_of(parse(again), locations=True) == again


def test_the_first_operation_that_means_nothing_is_named() -> None:
    text = kernel(ALLOC, "%u = nki.alloc : memref<0x4xf32, #nki.sbuf>", ALLOC.replace("128", "0"))
    with pytest.raises(InvalidOperation, match=r"^<text>:3:1\n"):
        parse(text.replace("%t = nki.alloc : memref<0", "%v = nki.alloc : memref<0"))


def test_parts_of_a_split_file_keep_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "parts.mlir"
    wrong = kernel("%u = nki.alloc : memref<0x4xf32, #nki.sbuf>")
    path.write_text(f"{kernel(ALLOC)}// -----\n{wrong}")
    assert opt.main(["--split-input-file", str(path)]) == 1
    assert f"{path}:7:1\n" in capsys.readouterr().err


def test_operations_have_the_place_of_their_name(tmp_path: Path) -> None:
    path = tmp_path / "placed.mlir"
    path.write_text(
        "nki.kernel @k() target=trn3 {\n"
        "  %a = nki.alloc : memref<4x8xf32, #nki.sbuf>\n"
        "  %b =  // in two lines\n"
        "\t nki.alloc : memref<4x8xf32, #nki.sbuf>\r\n"
        '  nisa.memset dst=%a, value=0 loc("made.py":7:3)\n'
        "  nisa.memset dst=%b, value=0 loc(unknown)\n"
        "  nki.return\n}\n",
        newline="",
    )
    kernel = nkijit.load(path)
    found = [[str(p) for p in positions(op.location)] for op in kernel.module.walk()][1:]
    places = [f"{path}:{place}" for place in ("1:1", "2:8", "4:3", "7:3")]
    assert found == [places[:1], places[1:2], places[2:3], ["made.py:7:3"], [], places[3:]]
    # The text itself has locations only on request.
    assert "loc(" not in kernel.text()
    again = parse(kernel.text(locations=True), str(tmp_path / "again.mlir"))
    assert [op.location for op in again.walk()][1:] == [op.location for op in kernel.module.walk()][
        1:
    ]
