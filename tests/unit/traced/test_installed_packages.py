"""Warnings about code of an installed package: at the user's call of it, or not reported."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import nkijit
from nkijit.host.installed import is_library_file
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.reference.portability import portability

LIBRARY = """
import nki
import nki.isa as nisa
import nki.language as nl


class Config(nl.NKIObject):
    rows: int


def doubled(x):
    # nkijit: ignore[no-such-rule]
    Config()
    unused = nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)
    tile = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(tile, x, dge_mode=1)
    nisa.memset(tile[:, 0:4], 2)  # nkijit: ignore[small-dma]
    try:
        pass
    finally:
        pass
    return tile


def broken(x):
    tile = nl.ndarray((128, 512), nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(tile, x)


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, doubled(x))
    return out
"""
USER = """
import nki
import nki.isa as nisa
import nki.language as nl
from {library} import broken, doubled


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, doubled(x))
    return out


@nki.jit
def wrong(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    broken(x)
    return out
"""
X = np.zeros((128, 512), np.float32)


@pytest.fixture(params=["site-packages", "dist-packages", "mine"])
def modules(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library in a folder, and the user's module that imports it."""
    folder = tmp_path / "lib" / request.param
    folder.mkdir(parents=True)
    name = f"library_{request.param.replace('-', '_')}"
    (folder / f"{name}.py").write_text(LIBRARY)
    (tmp_path / f"user_of_{name}.py").write_text(USER.format(library=name))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = importlib.import_module(name), importlib.import_module(f"user_of_{name}")
    yield request.param != "mine", *modules
    for module in modules:
        del sys.modules[module.__name__]


def _found(module: ModuleType) -> list[Diagnostic]:
    kernel: Any = vars(module)["kernel"]
    return [*kernel.trace(X).diagnostics, *portability(kernel.func, {"x": X}, "0.5")]


def test_warnings_are_at_the_users_lines(modules: Any) -> None:
    installed, library, user = modules
    found = _found(user)
    rules = {finding.rule.id for finding in found}
    assert "output-dependence" in rules
    about_files = {"portable-enum-number", "portable-field", "portable-try", "unused-tile"}
    about_comments = {"unknown-rule", "unused-suppression"}
    if not installed:  # the user's own files
        assert about_files | about_comments <= rules
        return
    for finding in found:
        assert all(place.file == user.__file__ for place in finding.where), finding
        assert not any(is_library_file(span.file) for span in finding.marked)
    assert not (about_files | about_comments) & rules
    (moved,) = [finding for finding in found if finding.rule.id == "output-dependence"]
    assert f"found in an installed package, at {library.__file__}:17:" in str(moved)
    assert "doubled(x)" in str(moved)


def test_errors_keep_their_place(modules: Any) -> None:
    _, library, user = modules
    with pytest.raises(nkijit.NkiValidationError) as raised:
        user.wrong(X)
    errors = [d for d in raised.value.diagnostics if d.severity == "error"]
    places = [[place.file for place in error.where] for error in errors]
    assert [library.__file__, user.__file__] in places


def test_a_kernel_of_the_package_itself(modules: Any) -> None:
    installed, library, _ = modules
    rules = {finding.rule.id for finding in _found(library)}
    assert {"output-dependence", "unused-tile"} <= rules
    assert ("portable-enum-number" in rules) is not installed
    assert ("unknown-rule" in rules) is not installed
