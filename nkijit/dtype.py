"""`nki.dtype`: data types (`nki.dtype.bfloat16`), and their annotation (`x: nki.dtype`).

The names are those of `nki.language`. The module can be used like a type: `isinstance(x,
nki.dtype)` and `nki.dtype | None` work. Source: signatures of kernels in the Neuron documentation.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, NoReturn

from nkijit.dialects.dtypes import DTYPES
from nkijit.language.dtypes import *  # noqa: F403
from nkijit.language.dtypes import __all__ as __all__
from nkijit.tracing.dtype_names import as_dtype, missing
from nkijit.tracing.tracebacks import without_own_frames


class _Dtype(ModuleType):
    """A module that can also be used as the type of data types."""

    @without_own_frames
    def __call__(self, value: Any) -> str:
        """Return the name of a data type (see `as_dtype`). Raises ValueError."""
        return as_dtype(value).name

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, str) and value in DTYPES

    def __or__(self, other: Any) -> Any:
        return str | other

    __ror__ = __or__


sys.modules[__name__].__class__ = _Dtype


def __getattr__(name: str) -> NoReturn:
    raise missing("nki.dtype", name, globals())
