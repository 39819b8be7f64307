"""The kernels of `examples/`, with the inputs that they are tried on."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest
from support.paths import EXAMPLES as FOLDER

# As when one of them is run: its folder is where imports are looked up first.
sys.path.insert(0, str(FOLDER))

MODULES = {
    path.stem: module
    for path in sorted(FOLDER.glob("*.py"))
    if hasattr(module := importlib.import_module(path.stem), "EXAMPLES")
}
"""All modules with kernels, by their names."""


def examples(*modules: str) -> list[Any]:
    """The examples of some modules, of all if none are named."""
    return [example for name in modules or MODULES for example in MODULES[name].EXAMPLES]


def parameters(*modules: str) -> list[Any]:
    """`examples` as parameters of a test, called like the kernels."""
    return [pytest.param(example, id=example.name) for example in examples(*modules)]
