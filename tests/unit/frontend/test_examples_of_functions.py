"""Each public function has an example in its docstring, and each example works.

Examples of what kernels call run inside of a kernel, in which the names below are known; what they
make is legal. Other examples are doctests.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
import nkijit.testing
from nkijit.dialects.rule_texts.text import ErrorKind

EXAMPLE = re.compile(r"^Example:\n\n((?:    .*\n|\n)+)", re.M)


def example_of(function: Any) -> str:
    """The code of an example; empty if there is none."""
    found = EXAMPLE.search(inspect.cleandoc(function.__doc__ or "") + "\n")
    return "" if found is None else textwrap.dedent(found[1])


def functions_of(module: ModuleType) -> list[tuple[ModuleType, str]]:
    return [(module, n) for n in dir(module) if inspect.isfunction(getattr(module, n))]


def names() -> dict[str, Any]:
    """What examples take for granted."""

    def tile(rows: int, *columns: int, dtype: str = nl.float32, buffer: Any = nl.sbuf) -> Any:
        return nl.ndarray((rows, *columns), dtype, buffer=buffer)

    def hbm(rows: int, columns: int = 512, dtype: str = nl.float32) -> Any:
        return tile(rows, columns, dtype=dtype, buffer=nl.hbm)

    return {
        **{name: tile(128, 512) for name in ("x", "y", "out", "factors")},
        **{name: tile(128, 1) for name in ("column", "low", "high", "total")},
        "row": tile(1, 512),
        "bf16": tile(128, 512, dtype=nl.bfloat16),
        "weights": tile(128, 128, dtype=nl.bfloat16),
        "transposed": tile(128, 128, dtype=nl.bfloat16),
        "psum": tile(128, 512, buffer=nl.psum),
        "psum_bf16": tile(128, 512, dtype=nl.bfloat16, buffer=nl.psum),
        "mask": tile(128, 512, dtype=nl.uint8),
        "positions": tile(128, 512, dtype=nl.uint32),
        "position": tile(1, 1, dtype=nl.int32),
        "largest": tile(128, 8),
        "places": tile(128, 8, dtype=nl.uint32),
        "statistics": tile(128, 6),
        "mean_and_variance": tile(128, 2),
        "short_indices": tile(128, 16, dtype=nl.uint16),
        "gathered": tile(128, 256),
        "counted": tile(128, 513, dtype=nl.int32),
        "quantized": tile(128, 128, dtype=nl.float8_e4m3fn_x4),
        "scales": tile(128, 128, dtype=nl.float8_e8m0fnu),
        "state": tile(128, 24, dtype=nl.uint32),
        "bounds": tile(1, 2, 512),
        "segments": tile(1, 512),
        "seed": tile(1, 1, dtype=nl.uint32),
        "register": nisa.register_alloc(1),
        **{name: hbm(256) for name in ("hbm", "other_hbm", "third_hbm")},
        "shared": nl.ndarray((128, 512), nl.float32, buffer=nl.shared_hbm),
        "twice": hbm(512),
        "four": hbm(1024),
        "other_four": hbm(1024),
        "metadata": hbm(3, 4, nl.uint32),
        "metadata_of_parts": hbm(4, 4, nl.uint32),
        "core": nl.program_id(0),
        **{"nki": nki, "nisa": nisa, "nl": nl, "ncc": ncc, "np": np},
    }


@nki.jit
def copied(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


IN_KERNELS = [*functions_of(nisa), *functions_of(nl), *functions_of(ncc)]


@pytest.mark.parametrize(
    ("module", "name"), IN_KERNELS, ids=lambda value: getattr(value, "__name__", value)
)
def test_examples_of_what_kernels_call(module: ModuleType, name: str):
    code = example_of(getattr(module, name))
    assert f"{name}(" in code

    @nki.jit
    def kernel():
        exec(compile(code, f"<example of {name}>", "exec"), names())
        return nl.ndarray((128, 1), nl.float32, buffer=nl.shared_hbm)

    needs_two = any(word in code for word in ("barrier", "sendrecv", "_v(", "_v_prepare("))
    traced = kernel[2 if needs_two else 1].trace()
    # Nothing has written the tiles.
    assert [d for d in traced.diagnostics if d.kind is ErrorKind.illegal] == []


DOCTESTED = [
    nkijit.testing,
    *(
        importlib.import_module(found.name)
        for found in pkgutil.iter_modules(nkijit.testing.__path__, "nkijit.testing.")
    ),
]


@pytest.mark.parametrize("module", DOCTESTED, ids=lambda module: module.__name__)
def test_doctests(module: ModuleType):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", [name for _, name in functions_of(nki)])
def test_examples_of_what_is_called_with_arrays(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    x = np.ones((256, 512), np.float32)
    (tmp_path / "kernel.mlir").write_text(copied.trace(x[:128]).text())
    monkeypatch.chdir(tmp_path)
    code = example_of(getattr(nki, name))
    assert f"nki.{name}(" in code
    # A kernel's source is found where its code says that it is.
    file = tmp_path / "example.py"
    file.write_text(code)
    known = {"nki": nki, "nl": nl, "nisa": nisa, "x": x, "kernel": copied}
    exec(compile(code, str(file), "exec"), known)
    results = [known[key] for key in ("out", "first", "second") if key in known]
    assert results
    for out in results:
        np.testing.assert_array_equal(out, x[:128])


@pytest.mark.parametrize("name", nkijit.testing.__all__)
def test_functions_for_tests_have_examples(name: str):
    text = getattr(nkijit.testing, name).__doc__
    assert ">>>" in text or f"Example: `{name}(" in text
