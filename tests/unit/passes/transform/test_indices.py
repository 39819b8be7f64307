"""The names of the indices of rerolled loops."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

X = np.zeros((8, 8), np.float32)


def indices(kernel: Any, *args: Any) -> list[str]:
    text = kernel.trace(X, *args).text(rolled=True)
    return re.findall(r"nki.repeat (\w+) = ", text)


def copy(x: Any, out: Any, row: int, column: int = 0) -> None:
    tile = nl.ndarray((1, 1), x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[row : row + 1, column : column + 1])
    nisa.dma_copy(dst=out[row : row + 1, column : column + 1], src=tile)


def copy_column(x: Any, out: Any, column: int) -> None:
    for part in range(8):
        copy(x, out, part, column)


def out_of(x: Any) -> Any:
    return nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)


def test_nested_loops_and_helpers():
    @nki.jit
    def kernel(x):
        out = out_of(x)
        for m in range(8):
            tile = nl.ndarray((1, 8), x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[m : m + 1])
            for n in range(4):
                nisa.activation(dst=tile[:, n : n + 1], op=nl.exp, data=tile[:, n : n + 1])
            nisa.dma_copy(dst=out[m : m + 1], src=tile)
        for column in range(4):
            nisa.memset(dst=nl.ndarray((1, 1), x.dtype, buffer=nl.sbuf), value=0)
            copy_column(x, out, column)
        return out

    assert indices(kernel) == ["m", "n", "column", "part"]


def test_loops_that_do_nothing_but_a_loop():
    @nki.jit
    def kernel(x):
        out = out_of(x)
        for once in range(1):
            for row in range(3):
                for column in range(5):
                    copy(x, out, row + once, column)
        return out

    assert indices(kernel) == ["row", "column"]


def test_targets_that_are_no_names():
    @nki.jit
    def kernel(x):
        out = out_of(x)
        for block, _row in enumerate(range(8)):
            copy(x, out, block)
        for _ in range(3):
            copy(x, out, 0)
        row = 0
        while row < 8:
            copy(x, out, row, 1)
            row += 1
        for first, second in ((0, 1), (1, 2), (2, 3)):
            copy(x, out, first, second)
        [copy(x, out, part, 3) for part in range(4)]
        for größe in range(4):
            copy(x, out, größe, 2)
        return out

    assert indices(kernel) == ["block", "i", "i", "i", "part", "i"]


def test_a_name_is_taken_once():
    @nki.jit
    def kernel(x):
        out = out_of(x)
        for part in range(3):
            nisa.memset(dst=nl.ndarray((1, 1), x.dtype, buffer=nl.sbuf), value=0)
            copy_column(x, out, part)
        return out

    assert indices(kernel) == ["part", "i"]


def test_a_loop_around_a_function_does_not_run_it():
    @nki.jit
    def kernel(x):
        out = out_of(x)
        functions = []
        for made in range(1):

            def inner(row, made=made):
                copy(x, out, row + made)

            functions.append(inner)
        row = 0
        while row < 4:
            functions[0](row)
            row += 1
        return out

    assert indices(kernel) == ["i"]


HEAD = """import nki, nki.isa as nisa, nki.language as nl

@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
"""


def traced_from(path: Path, text: str) -> Any:
    path.write_text(text, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)
    return names["kernel"].trace(X)


def test_a_loop_on_one_line(tmp_path: Path):
    loop = "    for m in range(8): nisa.dma_copy(dst=out[m:m + 1], src=x[m:m + 1])\n"
    traced = traced_from(tmp_path / "kernel.py", HEAD + loop + "    return out\n")
    assert "nki.repeat m = 0 to 8" in traced.text(rolled=True)


@pytest.mark.parametrize(
    "text", ["", "def f(:\n", "\n" * 5 + "x = " + "1+" * 3000 + "1\n", "for m in x:\n", "\0"]
)
def test_source_that_has_changed_into_something_else(text: str, tmp_path: Path):
    loop = "    for m in range(8):\n        nisa.dma_copy(dst=out[m:m + 1], src=x[m:m + 1])\n"
    path = tmp_path / "kernel.py"
    traced = traced_from(path, HEAD + loop + "    return out\n")
    path.write_text(text)
    assert "nki.repeat i = 0 to 8" in traced.text(rolled=True)
