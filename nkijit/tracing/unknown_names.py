"""Findings for undefined names: names of variables, and names after a dot (members)."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from dis import get_instructions
from types import FrameType, ModuleType
from typing import Any, cast

import numpy as np

from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.python import UNKNOWN_NAME
from nkijit.dialects.spelling import did_you_mean
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.tracing.api_names import MODULES, ApiName, api_module_of
from nkijit.tracing.dtype_words import word_of_nl
from nkijit.tracing.hints import INSTRUCTION_HINT
from nkijit.tracing.python_errors import reads_attribute
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracebacks import Raised


def finding_of(error: BaseException, raised: Raised, generation: str) -> Diagnostic | None:
    """Return the finding for a name that is not defined; None for other exceptions.

    Args:
        error: the exception that ended a trace.
        raised: the kernel's lines that led to the exception.
        generation: the package of the API that the kernel is written for.
    """
    if isinstance(error, NameError):
        texts = _of_variable(error, raised, generation)
    elif isinstance(error, AttributeError):
        texts = _of_member(error, raised)
    else:
        return None
    if texts is None:
        return None
    subject, message, help = texts
    # An error of the API is the message itself.
    notes = () if raised.by_nkijit else (f"Python: {error}",)
    where, marked = raised.where, raised.marked
    return Diagnostic(UNKNOWN_NAME, message, subject, where, notes, help=help, marked=marked)


def _of_variable(error: NameError, raised: Raised, generation: str) -> tuple[str, str, str] | None:
    """Return subject, message and help for a variable that has no value."""
    name = error.name or _name_in(raised.node)
    if not raised.is_direct or not name:
        return None
    subject = f"variable '{name}'"
    if isinstance(error, UnboundLocalError):
        message = "it has no value yet: no assignment to it has run before this line"
        help = "assign it on every path to this line, also if a condition fails or a loop is empty"
        return subject, message, help
    message = f"no variable, function or import is called '{name}'"
    known = [ApiName(generation, short, name) for short in MODULES]
    meant = next((each for each in known if each.value is not None), None)
    if meant is not None:
        return subject, message, f"write {meant.in_findings} if you mean the name of the API"
    hint = did_you_mean(name, _visible(raised.frame))
    return subject, message + hint, _IMPORTS.get(name, "").format(api=known[0])


_IMPORTS = {
    "nki": "write {api.as_import} at the top of the file",
    "nl": "write import {api.package}.language as nl at the top of the file",
    "nisa": "write import {api.package}.isa as nisa at the top of the file",
    "np": "write import numpy as np at the top of the file",
}
"""Advice for names that kernels usually import, by the name."""


def _visible(frame: FrameType) -> Iterable[str]:
    names = dict.fromkeys((*frame.f_locals, *frame.f_globals))
    return [*(name for name in names if not name.startswith("__")), *dir(builtins)]


def _name_in(node: ast.AST | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _of_member(error: AttributeError, raised: Raised) -> tuple[str, str, str] | None:
    """Return subject, message and help for a name that a module or an object does not have."""
    owner, name, node = error.obj, error.name or "", raised.node
    by_api = raised.by_nkijit
    is_read = by_api or raised.is_direct or _is_of_module(owner, raised)
    if not name or not reads_attribute(node, name) or not is_read:
        return None
    function = node.func if isinstance(node, ast.Call) else node
    assert isinstance(function, ast.Attribute)
    subject = ast.unparse(function)
    module = api_module_of(owner)
    if module is not None and not word_of_nl(name):
        there = ApiName(*module, name).other
        if there.value is not None:
            message = f"{str(error).partition('; did you mean')[0]}; {there.api} has it"
            help = f"for a kernel of {there.api}, write {there.as_import}"
            if there.is_classic:
                help += "; nkijit migrate rewrites such a kernel"
            return subject, message, help
    if by_api:  # the message of the API
        return subject, str(error), ""
    if isinstance(owner, ModuleType):
        message = f"module {owner.__name__} has no '{name}'{did_you_mean(name, dir(owner))}"
        return subject, message, ""
    kind = type(owner).__name__
    message = f"the object, of type {kind}, has no '{name}'"
    parameter = _parameter(function.value, raised, owner)
    if parameter and hasattr(NkiTensor, name) and not isinstance(owner, (list, tuple, dict)):
        message = f"argument '{parameter}' is {_shown(owner)}, and not a tensor"
        return subject, message, _help_for_argument(owner)
    if owner is None:
        help = "None is the result of a function that returns nothing, e.g. of nl.store"
        return subject, message.replace(f"the object, of type {kind},", "None"), help
    if isinstance(owner, (list, tuple)) and name in _OF_ARRAYS:
        numbers = cast(Sequence[Any], owner)
        return subject, message, _help_for_list(ast.unparse(function.value), numbers)
    if kind == "NkiInstruction":
        return subject, message, INSTRUCTION_HINT
    return subject, message + did_you_mean(name, _members(owner)), ""


_OF_ARRAYS = ("dtype", "ndim", "reshape", "shape", "size")
"""Members of arrays and tensors that lists do not have."""


def _help_for_list(name: str, numbers: Sequence[Any]) -> str:
    """Return the help for a list in the place of an array: the conversion, if it is of numbers."""
    try:
        array = np.array(numbers)
    except ValueError:  # rows of different lengths
        return ""
    if not array.size or array.dtype.kind not in "biuf":
        return ""
    dtype = "float32" if array.dtype.kind == "f" else "int32"
    spec = f"{'x'.join(map(str, array.shape))}:{dtype}"
    return (
        f"'{name}' is a list: pass an array, np.array({name}, np.{dtype}), or on the command line "
        f"-a {name}={spec}"
    )


def _parameter(node: ast.expr, raised: Raised, value: Any) -> str:
    """Return the name of the parameter of the innermost function that a node reads.

    The name is empty for other nodes, and for parameters to which the function assigns.
    """
    code, name = raised.code, ast.unparse(node)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    is_passed = name in parameters and raised.frame.f_locals.get(name) is value
    assigned = {each.argval for each in get_instructions(code) if each.opname.startswith("STORE_")}
    return name if is_passed and name not in assigned else ""


def _shown(value: Any) -> str:
    return "None" if value is None else f"{one_line(value)} ({type(value).__name__})"


def _help_for_argument(value: Any) -> str:
    """Return the help for a value in the place of a tensor among the arguments of a function."""
    if isinstance(value, str) and value.endswith(".npy"):
        return f"pass the array of the file: np.load({value!r})"
    return (
        "pass an array; a trace also takes a shape and a data type, "
        'nkijit.TensorSpec((128, 512), "float32")'
    )


def _is_of_module(owner: Any, raised: Raised) -> bool:
    """Return whether the `__getattr__` of a library's module has raised the exception."""
    names = [entry.tb_frame.f_code.co_name for entry in raised.inner]
    return isinstance(owner, ModuleType) and names == ["__getattr__"]


def _members(owner: Any) -> list[str]:
    """Return the public names of an object; Python's own hint suggests names from the same list."""
    try:
        return [name for name in dir(owner) if not name.startswith("_")]
    except Exception:  # a `__dir__` of the user's
        return []
