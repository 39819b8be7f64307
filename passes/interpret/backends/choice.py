"""Which backend computes: NumPy, or native code where it is installed and worth it."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from nkijit.passes.interpret.errors import InterpretationError

if TYPE_CHECKING:
    pass

BACKEND_VARIABLE = "NKIJIT_BACKEND"
AUTO, NUMPY, NATIVE = "auto", "numpy", "native"
WORTH_IT = 3
"""The run of a plan from which on native code is made for it."""

_NATIVE = "nkijit.passes.interpret.backends.native.service"


def wanted() -> str:
    """The backend that NKIJIT_BACKEND asks for; 'auto' by default."""
    name = os.environ.get(BACKEND_VARIABLE, AUTO)
    if name not in (AUTO, NUMPY, NATIVE):
        raise InterpretationError(
            f"{BACKEND_VARIABLE} is '{name}', expected '{AUTO}', '{NUMPY}' or '{NATIVE}'"
        )
    return name


@cache
def is_installed() -> bool:
    """True where `nkijit[native]` is."""
    return find_spec("llvmlite") is not None


def native() -> Any:
    """The module that makes native code."""
    return import_module(_NATIVE)
