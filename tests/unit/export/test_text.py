"""Names, lines and comments of exported files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from support.exports import canonical, check_round_trip, retraced

from nkijit.export.errors import ExportError
from nkijit.export.layout import wrapped
from nkijit.export.names import Names
from nkijit.ir.text import launches_of, parse
from nkijit.traced.kernel import TracedKernel


def traced(text: str) -> TracedKernel:
    (kernels,) = launches_of(parse(text)).values()
    return TracedKernel(kernels[0].get_toplevel_object(), kernels=kernels)


def kernel(*lines: str, arguments: str = "") -> TracedKernel:
    body = "\n".join(lines)
    return traced(f"nki.kernel @k({arguments}) target=trn2 {{\n{body}\nnki.return\n}}")


def test_names():
    names = Names("taken")
    hints = ["x", "x", "x", "taken", "for", "print", "nl", "l", "a.b-c", "0", None, "match", "ünit"]
    assert [names.of(hint, "tile") for hint in hints] == [
        *("x", "x_1", "x_2", "taken_1", "for_", "print_", "nl_", "l_", "a_b_c", "tile_0", "tile"),
        *("match_", "ünit"),
    ]


def test_lines_that_are_too_long():
    call = f"result = function({', '.join(f'argument_{i}=value[{i}:128]' for i in range(8))})"
    lines = wrapped(call, 1)
    assert lines[0] == "    result = function("
    assert lines[1] == "        argument_0=value[0:128],"
    assert lines[-1] == "    )"
    assert wrapped("short(1)", 1) == ["    short(1)"]


def test_brackets_around_a_sum_make_no_tuple():
    term = " + ".join(f"summand_{i}" for i in range(9))
    for text in (f"x = ({term}) * 2", f"x = y[({term}) * 128 : ({term}) * 128 + 128]"):
        lines = wrapped(text, 0)
        assert len(lines) > 1
        assert ast.dump(ast.parse("\n".join(lines))) == ast.dump(ast.parse(text))


def test_tiles_named_like_words_of_python():
    text = kernel(
        "%for = nki.alloc : memref<128x64xf32, #nki.sbuf>",
        "nisa.memset dst=%for, value=0",
        "%nisa = nki.alloc : memref<128x64xf32, #nki.sbuf>",
        "nisa.memset dst=%nisa, value=0",
    )
    assert "for_ = nl.ndarray" in check_round_trip(text)


def test_unused_values_have_no_name():
    text = kernel("%x = nki.alloc : memref<128x64xf32, #nki.sbuf>").source()
    assert "    nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)\n" in text


def test_a_location_cannot_leave_its_comment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("tile = 1\x0c\u202e\x00\n")
    hostile = r'"b.py\0Aimport os\0Dos.abort()"'
    text = kernel(
        '%x = nki.alloc : memref<128x64xf32, #nki.sbuf> loc("a.py":1:1)',
        f"nisa.memset dst=%x, value=0 loc({hostile}:1:1)",
    ).source()
    assert "    # a.py:1: tile = 1" in text
    assert all(line.isprintable() for line in text.split("\n"))
    imports = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.Import, ast.ImportFrom))]
    assert {alias.name for n in imports for alias in n.names} == {
        *("nki", "nki.isa", "nki.language"),
    }


def test_names_of_tensors_and_instructions_are_quoted():
    text = kernel(
        r'%x = nki.alloc name="a\22b\0Ac" : memref<128x64xf32, #nki.sbuf>',
        r'nisa.memset dst=%x, value=0, name="it\27s"',
    )
    found = check_round_trip(text)
    assert "name='a\"b\\nc'" in found
    assert 'name="it\'s"' in found


def test_a_register_that_is_no_scalar():
    text = kernel(
        "%c1 = arith.constant 1 : i32",
        "%r = nki.register",
        "%s = nki.register",
        "nisa.register_move dst=%r, src=%c1",
        'nisa.register_compute dst=%s, data1=%r, data2=%c1, op=add loc("kernel.py":7:5)',
        'nisa.register_move dst=%s, src=%c1 loc("kernel.py":8:5)',
    )
    with pytest.raises(ExportError, match="computes with scalars"):
        text.source()


def test_an_error_names_the_authors_line():
    text = kernel(
        '%x = nki.alloc : memref<128xf32, #nki.sbuf> loc("kernel.py":5:9)',
        "nisa.memset dst=%x, value=0",
    )
    message = "kernel.py:5:9: nki.alloc cannot be exported: a tile has at least two dimensions"
    with pytest.raises(ExportError, match=message):
        text.source()


def test_a_trigger_without_its_prepare():
    text = kernel(
        "%m = nki.alloc : memref<3x4xui32, #nki.private_hbm>",
        "%y = nki.alloc : memref<4x64xf32, #nki.private_hbm>",
        "ncc.all_gather_v_trigger srcs=[%x], dsts=[%y], metadata_tensor=%m, replica_group=[[0, 1]]",
        arguments="%x: memref<4x64xf32, #nki.private_hbm>",
    )
    with pytest.raises(ExportError, match="no prepare"):
        text.source()


def test_a_loop_of_python_becomes_one_of_the_api():
    text = kernel(
        "%c0 = arith.constant 0 : i32",
        "%c1 = arith.constant 1 : i32",
        "%r = nki.register",
        "nisa.register_move dst=%r, src=%c1",
        "scf.while () : () -> () {",
        "%v = nki.read %r",
        "%t = arith.cmpi ne, %v, %c0 : i32",
        "scf.condition(%t)",
        "} do {",
        "nisa.register_move dst=%r, src=%c0",
        "scf.yield",
        "}",
    )
    found = check_round_trip(text)
    assert "nl.while_loop(r, body)" in found
    # The traced form of an exported kernel is exported unchanged.
    again = retraced(text)
    assert canonical(again.cores()[0]) == canonical(retraced(again).cores()[0])
