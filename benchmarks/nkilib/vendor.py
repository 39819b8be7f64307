"""The modules that the test framework of nki-library imports and that have no public release.

The framework has a mode "simulation": it runs kernels with the package `nki_cpu_simulator` in place
of a device. `install` provides this package from nkijit, data types as `neuron_dtypes`, and empty
modules in place of the packages that only tests on remote hosts use.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar
from unittest.mock import MagicMock

import ml_dtypes
import numpy as np

import nkijit
from nkijit.dialects.dtypes import DTYPES

REMOTE = (
    "boto3",
    "botocore",
    "fabric2",
    "paramiko",
    "aws_embedded_metrics",
    "plotext",
    "test.utils.scripts",
    "test.utils.perf_analysis_private",
)
"""Packages for remote hosts, metrics and plots in a terminal; the last two are not published."""
SIMULATOR = "nki_cpu_simulator"


class _Placeholder(MagicMock):
    """A module of which every attribute exists and is a class that can be raised or called."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.endswith(("Error", "Exception")):
            return type(name, (Exception,), {})
        return super().__getattr__(name)


class _Finder:
    """Finds the packages of REMOTE that are not installed, and their modules."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if not any(name == package or name.startswith(f"{package}.") for package in REMOTE):
            return None
        return importlib.util.spec_from_loader(name, self)  # pyright: ignore[reportArgumentType]

    def create_module(self, spec: Any) -> Any:
        return _Placeholder(name=spec.name)

    def exec_module(self, module: Any) -> None:
        """Placeholders need no code."""


_ELEMENTS = {
    "float8_e5m2_x4": np.dtype(ml_dtypes.float8_e5m2),
    "float8_e4m3fn_x4": np.dtype(ml_dtypes.float8_e4m3fn),
    "float4_e2m1fn_x4": np.dtype(ml_dtypes.float4_e2m1fn),
}
"""The element of each packed data type."""
_PACKED = {
    name: np.dtype((type(name, (np.void,), {}), DTYPES[name].itemsize)) for name in _ELEMENTS
}


def static_cast(value: Any, dtype: Any, *_: Any, **__: Any) -> Any:
    """Convert an array; a packed data type holds four elements of the last dimension."""
    array = np.asarray(value)
    name = dtype if isinstance(dtype, str) else np.dtype(dtype).type.__name__
    if name in _PACKED:
        elements = array.astype(_ELEMENTS[name]).view(np.uint8)
        if name == "float4_e2m1fn_x4":
            elements = elements[..., ::2] | elements[..., 1::2] << 4
        return np.ascontiguousarray(elements).view(_PACKED[name])
    packed = array.dtype.type.__name__
    if packed in _PACKED:
        array = np.ascontiguousarray(array).view(np.uint8)
        if packed == "float4_e2m1fn_x4":
            array = np.stack((array & 15, array >> 4), axis=-1).reshape(*array.shape[:-1], -1)
        array = array.view(_ELEMENTS[packed])
    return array.astype(dtype)


def _data_types() -> ModuleType:
    """Return the module `neuron_dtypes`: data types, casts and sizes."""
    module: Any = ModuleType("neuron_dtypes")
    for name in ("bfloat16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"):
        setattr(module, name, np.dtype(getattr(ml_dtypes, name)))
    for name, dtype in _PACKED.items():
        setattr(module, name, dtype)
    module.static_cast = static_cast
    module.sizeinbytes = lambda dtype: np.dtype(dtype).itemsize
    module.finfo = ml_dtypes.finfo
    module.is_float_type = _is_float
    return module


def _is_float(dtype: Any) -> bool:
    try:
        ml_dtypes.finfo(np.dtype(dtype))
    except ValueError:
        return False
    return True


def install(simulate: Callable[[Any], Any]) -> None:
    """Make the vendor's modules importable.

    Args:
        simulate: called as `simulate(kernel)[cores](**inputs)`; it returns the kernel's results.
    """
    simulator: Any = ModuleType("nki")
    vars(simulator).update(vars(nkijit))
    simulator.cpu_simulate = simulate
    for name in ("isa", "isa.constants", "language", "language.dtypes", "typing", "compiler"):
        sys.modules[f"{SIMULATOR}.nki.{name}"] = importlib.import_module(f"nki.{name}")
    for name in ("typing", "compiler"):
        setattr(simulator, name, sys.modules[f"{SIMULATOR}.nki.{name}"])
    for name in ("builtin", "tensor"):
        module = ModuleType(f"nki.{name}")
        setattr(simulator, name, module)
        sys.modules[f"{SIMULATOR}.nki.{name}"] = module
    package: Any = ModuleType(SIMULATOR)
    package.nki = simulator
    sys.modules[SIMULATOR] = package
    sys.modules[f"{SIMULATOR}.nki"] = simulator
    sys.modules["neuron_dtypes"] = _data_types()
    sys.meta_path.append(_Finder())  # pyright: ignore[reportArgumentType]
