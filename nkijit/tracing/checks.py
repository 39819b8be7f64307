"""Checks of arguments that the functions of both APIs share.

Each returns the value that an argument means; any other value ends the trace with a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nkijit.dialects.access import MAX_ELEMENTS
from nkijit.dialects.dtypes import DType
from nkijit.dialects.python_values import as_index
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.hints import DTYPE_HINT
from nkijit.tracing.tracer import active_tracer, tracer_for


def dtype_named(call: str, argument: str, dtype: Any) -> DType:
    """Return the data type that an argument names. Raises ValueError outside a kernel."""
    try:
        return as_dtype(dtype)
    except ValueError as error:
        tracer = active_tracer()
        if tracer is None:
            raise
        tracer.fail(ARGUMENT, call, f"'{argument}': {error}", DTYPE_HINT)


def integer(call: str, argument: str, value: Any, least: int = 0) -> int:
    """Return an integer from `least` on, at most the number of elements that a tensor can have."""
    number = as_index(value)
    if number is None or not least <= number <= MAX_ELEMENTS:
        tracer_for(call).wrong_argument(call, argument, f"an integer from {least} on", value)
    return number


def flag(call: str, argument: str, value: Any) -> bool:
    """Return a truth value: a bool of Python or NumPy, 0 or 1."""
    if isinstance(value, (bool, np.bool_)) or (type(value) is int and value in (0, 1)):
        return bool(value)
    tracer_for(call).wrong_argument(call, argument, "True or False", value)


def function(call: str, argument: str, value: Any) -> Callable[..., Any]:
    """Return a function of the user's."""
    if not callable(value):
        tracer_for(call).wrong_argument(call, argument, "a function", value)
    return value
