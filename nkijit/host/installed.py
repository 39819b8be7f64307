"""What comes with Python, with an installed package or with nkijit, and what of it is constant.

Tracing a kernel runs code of two kinds. The author's may change between calls: functions are
defined anew, values assigned. A library stays as it is, but some of it gives something else at
every call: time, random numbers, files. `varies` says which.
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
"""Where packages are installed for a user, or by a system beside Python's own folder."""


def is_library_file(path: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to nkijit."""
    return path.startswith(_OWN_OR_STDLIB) or _is_installed(path)


def _is_installed(path: str) -> bool:
    return path.startswith(_INSTALLED) or _INSTALLATION.search(path) is not None


def is_library(value: Any) -> bool:
    """Modules, classes and functions that come with Python, an installed package or nkijit."""
    if isinstance(value, ModuleType):
        return _is_builtin(value) or is_library_file(getattr(value, "__file__", None) or "")
    if isinstance(value, FunctionType):
        return is_library_code(value.__code__.co_filename)
    return isinstance(value, type) and _is_defined_in(value, is_library)


def _is_builtin(module: ModuleType) -> bool:
    spec = cast(Any, vars(module).get("__spec__"))
    return spec is not None and spec.origin in ("built-in", "frozen")


def is_library_code(file: str) -> bool:
    """`is_library_file` of what a code object says that it is from."""
    # Modules of Python that are frozen into it are named so.
    return is_library_file(file) or file.startswith("<frozen ")


def _is_defined_in(cls: type[Any], judge: Any) -> bool:
    """Whether a module that is judged so has the class under its name.

    What a class says of its origin may be copied from elsewhere: dataclasses and wrappers do so.
    """
    if not cls.__flags__ & _MADE_BY_CODE:
        return True
    module = sys.modules.get(text_of(cls, "__module__"))
    if module is None or module.__name__ == "__main__" or not judge(module):
        return False
    found = _named_in(module, text_of(cls, "__qualname__"))
    # Modules do not give out all of their classes that are made in C.
    return found is cls or (found is None and not _is_made_by_a_statement(cls))


def _is_made_by_a_statement(cls: type[Any]) -> bool:
    """Whether a class is Python's: its instances have a dictionary, or it says their slots."""
    return any("__dict__" in vars(base) or "__slots__" in vars(base) for base in cls.__mro__[:-1])


def _named_in(module: ModuleType, path: str) -> Any:
    """What a module has under a name such as `Class.method`; None for nothing."""
    found: Any = module
    for name in path.split("."):
        found = vars(found).get(name) if isinstance(found, (ModuleType, type)) else None
    return found


_MADE_BY_CODE = 1 << 9
"""The flag of classes that are made while a program runs (Py_TPFLAGS_HEAPTYPE)."""


PYTHONS_METACLASSES = frozenset((type, abc.ABCMeta, EnumMeta))
"""Metaclasses whose classes are compared by identity; others may say what is equal."""

_T = TypeVar("_T")


def per_class(function: Callable[[type[Any]], _T]) -> Callable[[type[Any]], _T]:
    """A function of classes, asked once for each: it gives the same at every call."""
    remembered = functools.lru_cache(maxsize=1024)(function)

    def ask(cls: type[Any]) -> _T:
        return (remembered if type(cls) in PYTHONS_METACLASSES else function)(cls)

    return ask


def text_of(cls: type[Any], name: str) -> str:
    """What a class has under a name such as `__module__`, if that is a text; else nothing."""
    found = type.__getattribute__(cls, name)
    return found if isinstance(found, str) else ""


# ------------------------------------------------------------------ for traces


def words(text: str) -> frozenset[str]:
    """Names that are written in one text."""
    return frozenset(text.split())


_ALL_CONSTANT = ("nkijit", "_pytest", "ml_dtypes", "typing_extensions", "xdsl")
"""Packages of which all is constant. Pytest puts its own calls into `assert` of tests."""
_PACKAGES = (*_ALL_CONSTANT, "jax", "jaxlib", "numpy", "scipy", "torch")
"""Packages whose code no author changes. All others may hold kernels and their settings."""


@functools.lru_cache(maxsize=4096)
def is_constant_module(module: ModuleType) -> bool:
    """Whether a module is Python's, nkijit's or of a package that holds no kernels."""
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
    """Whether the code of a function is of a module that `is_constant_module` knows."""
    module = sys.modules.get(function.__globals__.get("__name__", ""))
    return (
        module is not None
        and vars(module) is function.__globals__
        and is_library_code(function.__code__.co_filename)
        and is_constant_module(module)
    )


def is_constant_function(function: FunctionType) -> bool:
    """Whether such a module has the function itself, and did not make it of an author's.

    Decorators make functions that have in their closures what authors gave them.
    """
    return is_constant_code(function) and function is _named_in(
        sys.modules[function.__globals__["__name__"]], function.__qualname__
    )


def is_constant_object(value: Any) -> bool:
    """Whether a module that is constant has an object under the name that it says itself."""
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
    """Whether a class is of a module that `is_constant_module` knows."""
    return _is_defined_in(cls, is_constant_module)


_PURE = words(
    "__future__ abc array base64 binascii"
    " bisect builtins cmath collections collections.abc colorsys contextlib copy copyreg"
    " dataclasses difflib enum fractions functools graphlib hashlib heapq html itertools keyword"
    " logging math numbers operator pprint re string struct textwrap types typing unicodedata"
    " warnings zlib"
)
"""Modules of Python that give the same for the same arguments."""

_VARYING: dict[str, frozenset[str]] = {
    "builtins": words("__import__ breakpoint compile eval exec help id input open"),
    "logging": words("LogRecord getLevelName getLogger lastResort makeLogRecord root"),
    "numpy": words(
        "DataSource ctypeslib empty empty_like f2py fromfile fromregex genfromtxt geterr"
        " geterrcall get_printoptions lib load loadtxt memmap random show_config show_runtime"
        " testing"
    ),
}
"""Names of such modules that do not."""

_CONSTANT: dict[str, frozenset[str]] = {
    "argparse": frozenset(["Namespace"]),
    "sys": words("float_info getsizeof int_info version_info"),
}
"""Names of other modules of Python that do."""

_NUMERIC = ("scipy.linalg", "scipy.special")


def varies(module: str, name: str, value: Any) -> bool:
    """Whether what a library has under a name may give something else at every use.

    Args:
        module: the module, whose `is_constant_module` is true.
        name: the name in it.
        value: what is there.
    """
    root = module.partition(".")[0]
    if root in _ALL_CONSTANT or module in _NUMERIC:
        return False
    if root == "numpy":
        parts = {*module.split(".")[1:], name}
        return not parts.isdisjoint(_VARYING["numpy"])
    if isinstance(value, ModuleType):
        return False  # what is asked of it says so
    if root in ("torch", "jax", "jaxlib", "scipy"):
        return callable(value) and not isinstance(value, type)
    if module.lstrip("_") in _PURE:  # what is made in C is from `_bisect`, not from `bisect`
        return name in _VARYING.get(module, ())
    return not (name in _CONSTANT.get(module, ()) or is_scalar(value))


def has_varying(module: ModuleType) -> bool:
    """Whether a module of a library may have something that `varies`."""
    name = module.__name__
    root = name.partition(".")[0]
    return root not in _ALL_CONSTANT and (name not in _PURE or name in _VARYING)


def is_scalar(value: Any) -> bool:
    """Numbers, texts, words, and tuples of them."""
    kind = cast(type[Any], type(value))
    if kind is tuple:
        return all(map(is_scalar, cast(tuple[Any, ...], value)))
    return id(kind) in SCALARS or issubclass(kind, Enum)


BY_VALUE = frozenset(
    map(id, (int, str, bytes, bool, type(None), type(Ellipsis), type(NotImplemented)))
)
"""Classes whose objects compare as what they are. By `id`, as authors say how theirs compare."""
SCALARS = BY_VALUE | {id(float), id(complex)}
"""Classes of constants."""

BUILTINS = {
    name: value for name, value in vars(builtins).items() if name not in _VARYING["builtins"]
}
"""What every module can name without importing it, and is the same at every use."""


def varies_by_itself(value: Any) -> bool:
    """`varies` of a function or class of a library, by where it says that it is from."""
    if isinstance(value, FunctionType):
        module, name = value.__globals__.get("__name__", ""), value.__name__
    elif isinstance(value, type):
        module, name = text_of(value, "__module__"), text_of(value, "__qualname__").split(".")[0]
    else:
        builtin = cast(BuiltinFunctionType, value)
        module, name = cast(Any, builtin.__module__) or "", builtin.__name__
    return varies(module, name, value)
