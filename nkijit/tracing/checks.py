"""Checks of arguments that the functions of both APIs share.

Each check returns the argument's value; an illegal value ends the trace with a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NoReturn, cast

import numpy as np

from nkijit.dialects.dtypes import DType
from nkijit.dialects.python_values import as_index
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import finding_as
from nkijit.passes.diagnostics.places import positions
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.dtype_words import UnknownDTypeError
from nkijit.tracing.tracer import active_tracer, tracer_for


def dtype_named(call: str, argument: str, dtype: Any) -> DType:
    """Return the data type that an argument names. Raises ValueError outside a kernel."""
    try:
        return as_dtype(dtype)
    except UnknownDTypeError as error:
        tracer = active_tracer()
        if tracer is None:
            raise
        tracer.fail(ARGUMENT, call, f"'{argument}': {error}", error.help)


def refuse(
    call: str, message: str, help: str = "", error: type[Exception] = ValueError
) -> NoReturn:
    """End the trace with a finding whose exception has the class `error` as well.

    `error` is the class that the reference documents; the kernel may catch the exception and
    continue. Outside a kernel, only `error` is raised.
    """
    tracer = active_tracer()
    if tracer is None:
        raise error(f"{call}: {message}")
    where = tuple(positions(tracer.location()))
    found = Diagnostic(ARGUMENT, message, call, where, help=help)
    raise finding_as(error)([*tracer.diagnostics, found])


def integer(call: str, argument: str, value: Any, least: int, most: int) -> int:
    """Return an integer from `least` to `most`, both inclusive."""
    number = as_index(value)
    if number is None or not least <= number <= most:
        tracer_for(call).wrong_argument(call, argument, f"an integer from {least} to {most}", value)
    return number


def flag(call: str, argument: str, value: Any) -> bool:
    """Return a truth value: a bool of Python or NumPy, 0 or 1."""
    if isinstance(value, (bool, np.bool_)) or (type(value) is int and value in (0, 1)):
        return bool(cast(Any, value))
    tracer_for(call).wrong_argument(call, argument, "True or False", value)


def function(call: str, argument: str, value: Any) -> Callable[..., Any]:
    """Return a user function; a class, such as an enumeration, is refused."""
    if not callable(value) or isinstance(value, type):
        tracer_for(call).wrong_argument(call, argument, "a function", value)
    return value


def result_of(call: str, argument: str, function: Callable[..., Any], *values: Any) -> Any:
    """Call a user function; the trace ends if the function does not accept the values."""
    try:
        return function(*values)
    except TypeError as error:
        trace = error.__traceback__
        if trace is None or trace.tb_next is not None:  # raised inside the function
            raise
        message = f"'{argument}' is called with {len(values)} argument(s), but: {error}"
        tracer_for(call).fail(ARGUMENT, call, message, "change the parameters of this function")


def sequence(call: str, argument: str, value: Any, expected: str) -> list[Any]:
    """Return the items of a list, a tuple, a range or an array of one dimension."""
    is_array = isinstance(value, np.ndarray) and value.ndim == 1
    if not is_array and not isinstance(value, (tuple, list, range)):
        tracer_for(call).wrong_argument(call, argument, expected, value)
    return list(islice(cast("Sequence[Any]", value), _MOST_ITEMS))


_MOST_ITEMS = 1024
"""The maximum number of items that `sequence` returns: more than any argument has."""
