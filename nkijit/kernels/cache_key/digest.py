"""Digests of images (`imaging.py`), which identify a kernel across processes and over time."""

from __future__ import annotations

import hashlib
from types import ModuleType
from typing import Any, cast

import numpy as np

from nkijit.kernels.cache_key.imaging import Same
from nkijit.kernels.cache_key.reads import Reads


def digest_of(image: Any) -> bytes:
    """Return a digest of an image that is equal across processes for equal values.

    Values that are compared by identity (sentinels, functions of libraries) are represented by
    name.
    """
    return hashlib.blake2b(_text(image), digest_size=16).digest()


def _text(image: Any) -> bytes:
    if isinstance(image, Same):
        image = image.value
    if type(image) is tuple:
        parts = [_text(part) for part in cast("tuple[Any, ...]", image)]
        if parts and image[0] in (set, frozenset):
            parts[1:] = sorted(parts[1:])  # their order differs by process
        return b"(%s)" % b",".join(b"%d:%s" % (len(part), part) for part in parts)
    if isinstance(image, Reads):
        return b"code " + image.digest + image.code_name.encode()
    if isinstance(image, (str, bytes, int, float, bool, type(None), type(...))):
        return repr(image).encode()
    if isinstance(image, np.dtype):
        return cast("np.dtype[Any]", image).str.encode()
    if isinstance(image, ModuleType):
        return b"module " + image.__name__.encode()
    named: Any = image if hasattr(image, "__qualname__") else cast("type[Any]", type(image))
    module = getattr(named, "__module__", None) or ""
    name = getattr(named, "__qualname__", getattr(image, "__name__", ""))
    return f"{module}.{name}".encode()
