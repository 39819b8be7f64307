"""Images (cache key descriptions) of functions, modules, classes and the values that they use."""

from __future__ import annotations

import builtins
import functools
import gc
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import Field
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple, cast

import numpy as np

from nkijit.host.installed import (
    BUILTINS,
    PYTHONS_METACLASSES,
    has_varying,
    is_constant_class,
    is_constant_code,
    is_constant_function,
    is_constant_module,
    is_scalar,
    varies,
    varies_by_itself,
    words,
)
from nkijit.kernels.cache_key.imaging import ABSENT, Imaging, Same, UnkeyableError, images, may_vary
from nkijit.kernels.cache_key.reads import Chain, Reads, reads_of

# ------------------------------------------------------------------ functions


@images(FunctionType)
def _function(imaging: Imaging, function: FunctionType) -> Any:
    """Return the image of a function: all values that the function uses besides its arguments.

    These are defaults, attributes, closures, globals and imports.
    """
    reads = reads_of(function.__code__)
    if reads.is_library and is_constant_function(function):
        if function is os.getenv:
            imaging.reads_environment = True
            return Same(function)
        if varies_by_itself(function):
            raise may_vary(function.__name__)
        return imaging.constant(function)
    parts: list[Any] = [FunctionType, reads, function.__name__, function.__doc__]
    try:
        if function.__defaults__:
            parts.append(("defaults", imaging.all(function.__defaults__)))
        if function.__kwdefaults__:
            parts.append(("keyword defaults", imaging.items(function.__kwdefaults__)))
        if function.__dict__:
            parts.append(("attributes", imaging.items(function.__dict__)))
        if function.__closure__:
            _add_closure(imaging, function, reads, parts)
        if not (reads.is_library and is_constant_code(function)):
            if reads.door:
                raise UnkeyableError(f"'{reads.door}' may give anything that there is")
            _add_globals(imaging, function, reads, parts)
            if reads.imports:
                _add_imports(imaging, function, reads, parts)
    except UnkeyableError as error:
        raise UnkeyableError(error.why, reads.where, *error.path) from None
    return tuple(parts)


def _add_closure(imaging: Imaging, function: FunctionType, reads: Reads, parts: list[Any]) -> None:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            content = cell.cell_contents
        except ValueError:  # assigned after the kernel was defined, if ever
            parts.append((name, ABSENT))
            continue
        if issubclass(type(content), ModuleType):
            _add_chains(imaging, name, content, reads.free.get(name, [()]), parts)
        else:
            parts.append(imaging.named(name, content))


def _add_globals(imaging: Imaging, function: FunctionType, reads: Reads, parts: list[Any]) -> None:
    names = function.__globals__
    of_python = cast("dict[str, Any]", cast(Any, function).__builtins__)
    for name, chains in reads.names.items():
        value = names.get(name, ABSENT)
        if value is ABSENT:
            value = of_python.get(name, ABSENT)
            if value is builtins.globals:
                parts.append(("globals()", _namespace(imaging, names)))
            if value is ABSENT or BUILTINS.get(name, ABSENT) is value:
                continue
        if issubclass(type(value), ModuleType):
            _add_chains(imaging, name, value, chains, parts)
        else:
            parts.append(imaging.named(name, value))


def _add_imports(imaging: Imaging, function: FunctionType, reads: Reads, parts: list[Any]) -> None:
    for (name, level, taken), chains in reads.imports.items():
        package = str(function.__globals__.get("__package__") or "").split(".")
        parents = package[: len(package) - level + 1] if level else []
        full = ".".join([*parents, *([name] if name else [])])
        module = sys.modules.get(full)
        if module is None:
            parts.append((full, ABSENT))
        else:
            own = (taken,) if taken else ()
            _add_chains(imaging, full, module, [(*own, *chain) for chain in chains], parts)


_usual: dict[tuple[int, str], Any] = {}
"""The original values of names in library modules, by (`id` of the module, name).

An image omits a name that still has its original value, and contains values that the user assigned.
"""


def _add_chains(
    imaging: Imaging, name: str, module: ModuleType, chains: Iterable[Chain], parts: list[Any]
) -> None:
    """Add the images of the module attributes that code reads, e.g. `settings.cfg.TILE`."""
    for chain in chains:
        value: Any = module
        for depth, attribute in enumerate(chain):
            if type(value) is not ModuleType or attribute.startswith("__"):
                parts.append(imaging.named(".".join((name, *chain[:depth])), value))
                break
            found = vars(value).get(attribute, ABSENT)
            if _usual.get((id(value), attribute), _usual) is found:
                break
            path = ".".join((name, *chain[: depth + 1]))
            if is_constant_module(value):
                if value is os and attribute in _ENVIRONMENT:
                    imaging.reads_environment = True
                    break
                if varies(value.__name__, attribute, found):
                    raise may_vary(path)
                if not issubclass(type(found), ModuleType):
                    image = _of_library(imaging, value, attribute, found)
                    if image is not None:
                        parts.append((path, image))
                    break
            elif found is ABSENT:
                asked = vars(value).get("__getattr__")
                parts.append(imaging.named(path, (ABSENT, asked, *chain[depth + 1 :])))
                break
            value = found
        else:
            parts.append(imaging.named(".".join((name, *chain)), value))


_ENVIRONMENT = ("environ", "environb", "getenv", "getenvb")


def _of_library(imaging: Imaging, module: ModuleType, name: str, value: Any) -> Any:
    """Return the image of a value in a library module; None if the value is the original one."""
    kind = cast("type[Any]", type(value))
    if not _is_of_library(module, kind, value):
        return imaging.of(value)
    if _usual.setdefault((id(module), name), value) is value:
        return None
    return Same(value)


def _is_of_library(module: ModuleType, kind: type[Any], value: Any) -> bool:
    """Return whether a value belongs to the library, rather than being assigned by user code."""
    if kind is FunctionType:
        return is_constant_function(value)
    if kind is BuiltinFunctionType:
        return _has_no_object(value)
    if issubclass(kind, type):
        return is_constant_class(value)
    root = module.__name__.partition(".")[0]
    return kind.__module__.partition(".")[0] == root and is_constant_class(kind)


@images(BuiltinFunctionType)
def _builtin(imaging: Imaging, function: BuiltinFunctionType) -> Any:
    """Return the cache key image of a C function, or of a C method with its object."""
    if not _has_no_object(function):
        return (BuiltinFunctionType, function.__name__, imaging.of(function.__self__))
    module = sys.modules.get(cast(Any, function.__module__) or "")
    if module is None or not is_constant_module(module):
        raise UnkeyableError(f"nobody knows what '{function.__name__}' reads")
    if varies_by_itself(function):
        raise may_vary(function.__name__)
    return imaging.constant(function)


class _Named(NamedTuple):
    field: int


def _has_no_object(function: BuiltinFunctionType) -> bool:
    """Return whether this is a function rather than a method of an object."""
    owner = cast(Any, function.__self__)
    return owner is None or isinstance(owner, ModuleType)


@images(MethodDescriptorType, WrapperDescriptorType, type(vars(_Named)["field"]))
def _method_of_c(imaging: Imaging, value: Any) -> Any:
    del imaging
    return Same(value)


@images(MethodWrapperType)
def _wrapper(imaging: Imaging, wrapper: Any) -> Any:
    return (MethodWrapperType, wrapper.__name__, imaging.of(wrapper.__self__))


@images(MethodType)
def _method(imaging: Imaging, method: MethodType) -> Any:
    return (MethodType, *imaging.all((method.__func__, method.__self__)))


@images(classmethod, staticmethod)
def _wrapping(imaging: Imaging, value: Any) -> Any:
    return (type(value), imaging.of(value.__func__))


@images(functools.cached_property)
def _cached_property(imaging: Imaging, value: Any) -> Any:
    return (type(value), imaging.of(value.func))


@images(property)
def _property(imaging: Imaging, value: property) -> Any:
    return (property, *imaging.all((value.fget, value.fset, value.fdel)))


@images(functools.partial)
def _partial(imaging: Imaging, value: Any) -> Any:
    attributes = cast("dict[str, Any]", vars(value))
    return (
        functools.partial,
        *imaging.all((value.func, value.args, value.keywords)),
        imaging.items(attributes),
    )


@images(type(functools.lru_cache(lambda: None)))
def _cached_function(imaging: Imaging, value: Any) -> Any:
    """Return the image of a function with a `functools.cache`, including the cached results.

    The garbage collector lists these results; Python has no other access to them.
    """
    state = cast("dict[str, Any]", vars(value))
    answers = [
        part for part in gc.get_referents(value) if part is not state and not _is_machinery(part)
    ]
    return (type(value), imaging.items(state), *imaging.all(answers))


def _is_machinery(value: Any) -> bool:
    """Return whether an object that belongs to a function's cache contains no results."""
    if type(value) is dict:
        value = next(iter(cast("dict[Any, Any]", value).values()), None)
    return isinstance(value, type) or type(value).__name__ == "_lru_list_elem"


@images(np.ufunc)
def _ufunc(imaging: Imaging, value: np.ufunc) -> Any:
    del imaging
    if vars(np).get(value.__name__) is value:
        return Same(value)
    raise UnkeyableError(f"nobody knows what '{value.__name__}' reads")


# ------------------------------------------------------------------ modules


@images(ModuleType, derived=True)
def _module(imaging: Imaging, module: ModuleType) -> Any:
    """Return the image of a module that is used as a value: all names of a user module."""
    if is_constant_module(module):
        if has_varying(module):
            raise UnkeyableError(f"any attribute of module '{module.__name__}' may be read")
        return module
    kind = cast("type[Any]", type(module))
    own = () if kind is ModuleType else (imaging.of(kind),)
    return (kind, *own, _namespace(imaging, vars(module)))


def _namespace(imaging: Imaging, names: Mapping[str, Any]) -> Any:
    """Return the images of all names of a module, including `__getattr__` for further names."""
    found: list[Any] = []
    for name, value in names.items():
        if not name.startswith("__") or name == "__getattr__" or is_scalar(value):
            found.append(imaging.named(name, value))
    return tuple(found)


# ------------------------------------------------------------------ classes

_SKIPPED = words(
    "__annotate__ __annotate_func__ __annotations__ __annotations_cache__"
    " __abstractmethods__ __dataclass_params__ __dict__ __firstlineno__"
    " __orig_bases__ __parameters__ __static_attributes__ __weakref__"
    " _abc_impl"
)
"""Names of a class that tracing does not read."""
_TRACED_DUNDERS = words("__dataclass_fields__ __slots__ __match_args__")
_ACCESSORS = (GetSetDescriptorType, MemberDescriptorType)
_CODE = (FunctionType, classmethod, staticmethod, property)


@images(type, derived=True)
def _class(imaging: Imaging, cls: type[Any]) -> Any:
    """Return the cache key image of a class.

    The image of a user's class includes its attributes and the images of its bases; other classes
    are constants.
    """
    meta = cast("type[Any]", type(cls))
    if is_constant_class(cls):
        if varies_by_itself(cls):
            raise may_vary(cls.__name__)
        return imaging.constant(cls) if meta in PYTHONS_METACLASSES else Same(cls)
    # Other metaclasses may define which classes are equal.
    name = type.__getattribute__(cls, "__name__")
    itself = (cls, name) if meta in PYTHONS_METACLASSES else (Same(cls), name, imaging.of(meta))
    bases = imaging.all(cls.__mro__[1:-1])
    items = [
        imaging.named(name, item) for name, item in vars(cls).items() if _is_traced(name, item)
    ]
    return (*itself, bases, *items)


def _is_traced(name: str, value: Any) -> bool:
    """Return whether the value of a name in a class can affect a trace."""
    if name in _SKIPPED or issubclass(type(value), _ACCESSORS):
        return False
    return (
        not name.startswith("__")
        or name in _TRACED_DUNDERS
        or issubclass(type(value), _CODE)
        or is_scalar(value)
    )


@images(Field)
def _field(imaging: Imaging, value: Any) -> Any:
    return (Field, value.name, *imaging.all((value.default, value.default_factory)))
