"""Python's errors about arguments name the parameters of the function that was called."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from nkijit import classic
from nkijit.discovery.python_files import run_file
from nkijit.tracing.tensor import NkiTensor

MODULES = {
    "nkijit": {"nl": "nkijit.language", "nisa": "nkijit.isa", "ncc": "nkijit.collectives"},
    "nkijit.classic": {"nl": "nkijit.classic.language", "nisa": "nkijit.classic.isa"},
}

NOT_OF_THE_API = ("missing", "all_reduce", "builtin_custom_op")
"""Functions that modules import, and functions that are always refused."""

VALUES = {"shape": "(128, 64)", "axis": "1", "pred": "nl.arange(2)[:, None] < 1"}
VALUES |= {"expr": "nl.arange(2)[:, None]", "dtype": "nl.float32"}
"""Values of required parameters that are checked first; the others get a tensor."""


def _functions() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for package, modules in MODULES.items():
        for short, path in modules.items():
            module = import_module(path)
            for name in getattr(module, "__all__", vars(module)):
                if name.startswith("_"):
                    continue
                function = getattr(module, name)
                is_function = callable(function) and not isinstance(function, (type, ModuleType))
                if is_function and name not in NOT_OF_THE_API and _parameters(function):
                    found.append((package, f"{short}.{name}"))
    return found


def _parameters(function: Any) -> list[str]:
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind not in variable and p.name != "self"]


def _required(function: Any) -> list[str]:
    parameters = inspect.signature(function).parameters
    return [name for name in _parameters(function) if parameters[name].default is inspect._empty]


def _function(package: str, call: str) -> Any:
    short, _, name = call.partition(".")
    return getattr(import_module(MODULES[package][short]), name)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleType]:
    """Return a module for each package, with a kernel for each of its functions."""
    found: dict[str, ModuleType] = {}
    for package, modules in MODULES.items():
        # Modules of commands have functions of the same names.
        import_module("nkijit.ir.text")
        lines = [f"import {package} as nki"]
        lines += [f"import {path} as {short}" for short, path in modules.items()]
        for of, call in _functions():
            if of == package:
                name, required = call.replace(".", "_"), _required(_function(package, call))
                given = "".join(
                    f"{parameter}={VALUES.get(parameter, 'x')}, " for parameter in required
                )
                lines += ["@nki.jit", f"def {name}(x):"]
                lines += [f"    return {call}({given}no_such_argument=1)"]
                if required:
                    lines += ["@nki.jit", f"def {name}_alone(x):", f"    return {call}()"]
        lines += ["@nki.jit", "def member(x):", "    return x.reshape(no_such_argument=1)"]
        path = Path(tmp_path_factory.mktemp("calls")) / f"{package.replace('.', '_')}_calls.py"
        path.write_text("\n".join(lines) + "\n")
        found[package] = run_file(path)
    return found


def _message(kernel: Any) -> str:
    with pytest.raises(Exception) as raised:  # noqa: PT011
        kernel.trace(np.zeros((128, 64), np.float32))
    error = raised.value
    return "\n".join([str(error), *getattr(error, "__notes__", ())])


@pytest.mark.parametrize(("package", "call"), _functions())
def test_the_parameters_of_the_called_function_are_listed(
    kernels: dict[str, ModuleType], package: str, call: str
):
    message = _message(getattr(kernels[package], call.replace(".", "_")))
    assert "no_such_argument" in message
    assert f" {', '.join(_parameters(_function(package, call)))}" in message


@pytest.mark.parametrize(("package", "call"), _functions())
def test_the_parameters_are_listed_when_one_is_missing(
    kernels: dict[str, ModuleType], package: str, call: str
):
    function = _function(package, call)
    if not _required(function):
        return
    message = _message(getattr(kernels[package], f"{call.replace('.', '_')}_alone"))
    assert f" {', '.join(_parameters(function))}" in message


@pytest.mark.parametrize("package", list(MODULES))
def test_the_parameters_of_a_method_are_listed(kernels: dict[str, ModuleType], package: str):
    tensors = {"nkijit": NkiTensor, "nkijit.classic": classic.tensor}
    reshape = tensors[package].reshape
    assert f" {', '.join(_parameters(reshape))}" in _message(kernels[package].member)
