"""The classic NKI API (`neuronxcc.nki`): a second face on the same house."""

from __future__ import annotations

import functools
from typing import Any

from nkijit.classic import isa as isa
from nkijit.classic import language as language
from nkijit.classic.kernel import ClassicKernel
from nkijit.classic.tensors import Tensor

tensor = Tensor


def jit(func: Any = None, mode: str = "auto", **kwargs: Any) -> Any:
    """Make a kernel of a function (`neuronxcc.nki.jit`)."""
    if func is None:
        return functools.partial(jit, mode=mode, **kwargs)
    return ClassicKernel(func, kwargs.get("platform_target"), None)
