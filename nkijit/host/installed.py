"""Recognises code of Python, installed packages and nkijit, and functions with constant results.

Tracing a kernel runs code of two kinds. User code may change between calls: functions are
redefined and values assigned. Library code does not change, but some of its functions return
different results at every call: time, random numbers, files. `varies` recognises these functions.
"""

from __future__ import annotations

import abc
import builtins
import functools
import re
import sys
import sysconfig
from collections.abc import Callable
from enum import Enum, EnumMeta
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

from nkijit.host.folders import OWN, prefixes

_STDLIB = prefixes(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
_INSTALLED = prefixes(sysconfig.get_path(name) for name in ("purelib", "platlib"))
_OWN_OR_STDLIB = (*OWN, *_STDLIB)
_INSTALLATION = re.compile(r"[\\/](site|dist)-packages[\\/]")
"""Matches paths in folders of packages that are installed outside of Python's own folder."""


def is_library_file(path: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to nkijit."""
    return path.startswith(_OWN_OR_STDLIB) or _is_installed(path)


def _is_installed(path: str) -> bool:
    return path.startswith(_INSTALLED) or _INSTALLATION.search(path) is not None


def is_library(value: Any) -> bool:
    """Whether a value is a module, class or function of Python, an installed package or nkijit."""
    if isinstance(value, ModuleType):
        return _is_builtin(value) or is_library_file(getattr(value, "__file__", None) or "")
    if isinstance(value, FunctionType):
        return is_library_code(value.__code__.co_filename)
    return isinstance(value, type) and _is_defined_in(value, is_library)


def _is_builtin(module: ModuleType) -> bool:
    spec = cast(Any, vars(module).get("__spec__"))
    return spec is not None and spec.origin in ("built-in", "frozen")


def is_library_code(file: str) -> bool:
    """Return `is_library_file` for the file name of a code object (`co_filename`), cached."""
    # The file name of Python's frozen modules.
    return is_library_file(file) or file.startswith("<frozen ")


def _is_defined_in(cls: type[Any], is_origin: Any) -> bool:
    """Whether the module named by `cls.__module__` contains the class and satisfies `is_origin`.

    `__module__` alone is no proof, because dataclasses and wrappers copy it from another class.
    """
    if not cls.__flags__ & _HEAP_TYPE:
        return True
    module = sys.modules.get(text_of(cls, "__module__"))
    if module is None or module.__name__ == "__main__" or not is_origin(module):
        return False
    found = _named_in(module, text_of(cls, "__qualname__"))
    # Modules do not export all of their classes that are implemented in C.
    return found is cls or (found is None and not _has_class_statement(cls))


def _has_class_statement(cls: type[Any]) -> bool:
    """Whether a class comes from a `class` statement: instances have a `__dict__` or slots."""
    return any("__dict__" in vars(base) or "__slots__" in vars(base) for base in cls.__mro__[:-1])


def _named_in(module: ModuleType, path: str) -> Any:
    """Return a module's member by a name such as `Class.method`; None if it has none."""
    found: Any = module
    for name in path.split("."):
        found = vars(found).get(name) if isinstance(found, (ModuleType, type)) else None
    return found


_HEAP_TYPE = 1 << 9
"""The flag of classes that are allocated at run time (Py_TPFLAGS_HEAPTYPE)."""


PYTHONS_METACLASSES = frozenset((type, abc.ABCMeta, EnumMeta))
"""Python's metaclasses, which compare classes by identity. Others may define `__eq__`."""

_T = TypeVar("_T")


def per_class(function: Callable[[type[Any]], _T]) -> Callable[[type[Any]], _T]:
    """Cache a pure function of classes.

    A class whose metaclass is not in `PYTHONS_METACLASSES` may equal another class, so its result
    is not cached.
    """
    remembered = functools.lru_cache(maxsize=1024)(function)

    def cached(cls: type[Any]) -> _T:
        return (remembered if type(cls) in PYTHONS_METACLASSES else function)(cls)

    return cached


def text_of(cls: type[Any], name: str) -> str:
    """Return a string attribute of a class, such as `__module__`; "" if it is no string."""
    found = type.__getattribute__(cls, name)
    return found if isinstance(found, str) else ""


# ------------------------------------------------------------------ for traces


def words(text: str) -> frozenset[str]:
    """Return the names in a text that separates them by spaces."""
    return frozenset(text.split())


_ALL_CONSTANT = ("nkijit", "_pytest", "ml_dtypes", "typing_extensions", "xdsl")
"""Packages whose members do not vary (see `varies`). Pytest inserts calls of `_pytest` in asserts.
"""
_PACKAGES = (*_ALL_CONSTANT, "jax", "jaxlib", "numpy", "scipy", "torch")
"""Packages whose code users do not change; all other packages may contain kernels and settings."""


@functools.lru_cache(maxsize=4096)
def is_constant_module(module: ModuleType) -> bool:
    """Whether a module is one that users do not change: of Python, nkijit or `_PACKAGES`."""
    name = vars(module).get("__name__")
    if not isinstance(name, str) or sys.modules.get(name) is not module:
        return False
    file = cast(Any, vars(module).get("__file__")) or ""
    root = name.partition(".")[0]
    if root == "nkijit":
        return file.startswith(OWN)
    if root in _PACKAGES:
        return _is_installed(file)
    return root in sys.stdlib_module_names and (
        _is_builtin(module) or (file.startswith(_STDLIB) and not _is_installed(file))
    )


def is_constant_code(function: FunctionType) -> bool:
    """Whether a function's code is from a constant module (`is_constant_module`)."""
    module = sys.modules.get(function.__globals__.get("__name__", ""))
    return (
        module is not None
        and vars(module) is function.__globals__
        and is_library_code(function.__code__.co_filename)
        and is_constant_module(module)
    )


def is_constant_function(function: FunctionType) -> bool:
    """Whether a constant module contains the function under its own name.

    Functions created by a library's decorator are not constant, because their closures contain user
    code.
    """
    return is_constant_code(function) and function is _named_in(
        sys.modules[function.__globals__["__name__"]], function.__qualname__
    )


def is_constant_object(value: Any) -> bool:
    """Whether an object is a member of a constant module and returns constant results.

    The module and the member's name are the object's `__module__` and `__name__`.
    """
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    name = getattr(value, "__name__", None)
    return (
        module is not None
        and isinstance(name, str)
        and vars(module).get(name) is value
        and is_constant_module(module)
        and not varies(module.__name__, name, value)
    )


@per_class
def is_constant_class(cls: type[Any]) -> bool:
    """Whether a class is from a constant module (`is_constant_module`)."""
    return _is_defined_in(cls, is_constant_module)


_PURE = words(
    "__future__ abc array base64 binascii"
    " bisect builtins cmath collections collections.abc colorsys contextlib copy copyreg"
    " dataclasses difflib enum fractions functools graphlib hashlib heapq html itertools keyword"
    " logging math numbers operator pprint re string struct textwrap types typing unicodedata"
    " warnings zlib"
)
"""Modules of Python whose functions are pure, except for those in `_VARYING`."""

_VARYING: dict[str, frozenset[str]] = {
    "builtins": words("__import__ breakpoint compile eval exec help id input open"),
    "logging": words("LogRecord getLevelName getLogger lastResort makeLogRecord root"),
    "numpy": words(
        "DataSource ctypeslib empty empty_like f2py fromfile fromregex genfromtxt geterr"
        " geterrcall get_printoptions lib load loadtxt memmap random show_config show_runtime"
        " testing"
    ),
}
"""Maps modules in `_PURE`, and numpy, to their members that are not pure."""

_CONSTANT: dict[str, frozenset[str]] = {
    "argparse": frozenset(["Namespace"]),
    "sys": words("float_info getsizeof int_info version_info"),
}
"""Maps modules of Python that are not in `_PURE` to their members that are pure."""

_NUMERIC = ("scipy.linalg", "scipy.special")


def varies(module: str, name: str, value: Any) -> bool:
    """Whether a member of a library may give different results at every use.

    Args:
        module: the name of a module that `is_constant_module` accepts.
        name: the member's name.
        value: the member.
    """
    root = module.partition(".")[0]
    if root in _ALL_CONSTANT or module in _NUMERIC:
        return False
    if root == "numpy":
        parts = {*module.split(".")[1:], name}
        return not parts.isdisjoint(_VARYING["numpy"])
    if isinstance(value, ModuleType):
        return False  # its members are checked when they are used
    if root in ("torch", "jax", "jaxlib", "scipy"):
        return callable(value) and not isinstance(value, type)
    if module.lstrip("_") in _PURE:  # C functions of `bisect` are from `_bisect`
        return name in _VARYING.get(module, ())
    return not (name in _CONSTANT.get(module, ()) or is_scalar(value))


def has_varying(module: ModuleType) -> bool:
    """Whether a constant library module may have members that return varying results."""
    name = module.__name__
    root = name.partition(".")[0]
    return root not in _ALL_CONSTANT and (name not in _PURE or name in _VARYING)


def is_scalar(value: Any) -> bool:
    """Whether a value is a number, text, None, an enum member, or a tuple of such values."""
    kind = cast(type[Any], type(value))
    if kind is tuple:
        return all(map(is_scalar, cast(tuple[Any, ...], value)))
    return id(kind) in SCALARS or issubclass(kind, Enum)


BY_VALUE = frozenset(
    map(id, (int, str, bytes, bool, type(None), type(Ellipsis), type(NotImplemented)))
)
"""The `id` of each class whose objects are compared by value.

A set of classes could not be used: look-ups would call `__eq__` of users' metaclasses.
"""
SCALARS = BY_VALUE | {id(float), id(complex)}
"""The `id` of each class whose objects are constants: `BY_VALUE`, float and complex."""

BUILTINS = {
    name: value for name, value in vars(builtins).items() if name not in _VARYING["builtins"]
}
"""The builtins with constant results (see `varies`), by name."""


def varies_by_itself(value: Any) -> bool:
    """Return `varies` for a library's function or class, by its own `__module__` and name."""
    if isinstance(value, FunctionType):
        module, name = value.__globals__.get("__name__", ""), value.__name__
    elif isinstance(value, type):
        module, name = text_of(value, "__module__"), text_of(value, "__qualname__").split(".")[0]
    else:
        builtin = cast(BuiltinFunctionType, value)
        module, name = cast(Any, builtin.__module__) or "", builtin.__name__
    return varies(module, name, value)
