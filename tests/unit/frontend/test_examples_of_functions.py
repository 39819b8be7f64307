"""Each public function has an example in its docstring, and each example works.

Examples of functions for kernels run inside a kernel, in which the names below are defined; the
resulting IR is legal. Other examples are doctests.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.function_examples import IN_KERNELS, example_of, functions_of, traced_example

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
import nkijit.testing
from nkijit.dialects.rule_texts.text import ErrorKind


@nki.jit
def copied(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


@pytest.mark.parametrize(
    ("module", "name"), IN_KERNELS, ids=lambda value: getattr(value, "__name__", value)
)
def test_examples_of_functions_for_kernels(module: ModuleType, name: str):
    assert f"{name}(" in example_of(getattr(module, name))
    traced = traced_example(module, name)
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
def test_examples_of_functions_for_arrays(
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
