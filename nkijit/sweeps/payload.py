"""Serialization of a kernel and its arguments for other processes: by value, as bytes.

A kernel may be defined in a notebook, a script or on standard input, from where other processes
cannot import it. The modules that the kernel uses are not sent: other processes import them.
"""

from __future__ import annotations

import importlib
import io
import pickle
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from nkijit.host.installed import is_library_file
from nkijit.kernels.kernel import Kernel
from nkijit.passes.diagnostics.source_text import hold_text, source_text


class MissingDependencyError(ImportError):
    """An optional package is not installed."""


@dataclass(frozen=True)
class Payload:
    """The data that all variants of a sweep share."""

    kernel: Kernel[...]
    arguments: Mapping[str, Any]
    schedule: str
    seed: int
    texts: Mapping[str, str]
    """The sources of files that are not on disk, by file name: notebook cells, standard input."""


def payload_of(
    kernel: Kernel[...], arguments: Mapping[str, Any], schedule: str, seed: int
) -> Payload:
    """Return the data that all variants share. The kernel keeps its current target."""
    file = kernel.__code__.co_filename
    texts = {} if Path(file).is_file() else {file: source_text(file)}
    return Payload(kernel.for_target(kernel.target.platform), arguments, schedule, seed, texts)


def packed(value: Any, kernel: Kernel[...]) -> bytes:
    """Serialize a payload or point of a kernel.

    Raises:
        MissingDependencyError: cloudpickle is not installed.
        Exception: a value cannot be pickled (open files, locks).
    """
    cloudpickle = _cloudpickle()
    base: Any = cloudpickle.CloudPickler

    class Pickler(base):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, Kernel):
                return obj.by_value()
            return base.reducer_override(self, obj)

    module = _own_module(kernel)
    by_value = module is not None and (
        module.__name__ not in cloudpickle.list_registry_pickle_by_value()
    )
    with io.BytesIO() as written:
        if by_value:
            cloudpickle.register_pickle_by_value(module)
        try:
            Pickler(written).dump(value)
        finally:
            if by_value:
                cloudpickle.unregister_pickle_by_value(module)
        return written.getvalue()


def _own_module(kernel: Kernel[...]) -> ModuleType | None:
    """Return the module that defines a kernel; None if it is installed for other processes."""
    module = sys.modules.get(getattr(kernel.func, "__module__", ""))
    file = getattr(module, "__file__", None)
    return None if file and is_library_file(file) else module


def _cloudpickle() -> Any:
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:
        raise MissingDependencyError(
            "sweeps take kernels to other processes with cloudpickle: pip install 'nkijit[sweep]'"
        ) from None


@lru_cache(maxsize=2)
def unpacked(data: bytes) -> Payload:
    """Restore a payload. A process gets the same object for all tasks of a sweep."""
    payload: Payload = value_of(data)
    for file, text in payload.texts.items():
        hold_text(file, text)
    return payload


def value_of(data: bytes) -> Any:
    """Restore a value from `packed`."""
    return pickle.loads(data)
