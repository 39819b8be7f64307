"""Images of values: what a trace can find out about them, as data that keys are made of.

Equal images mean an equal trace. An image follows everything that can be reached from a value:
items, attributes, the globals and closures that functions name, methods of classes. Types decide
how a value is read, so that no code of an author runs (`__getattr__`, properties, `__eq__`).
What cannot be read that way, or is different at every look (time, files, random numbers), has no
image: UnkeyableError says why.
"""

from __future__ import annotations

import abc
import functools
import gc
import hashlib
import logging
import os
import struct
import sys
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, is_dataclass
from enum import Enum, EnumMeta
from fractions import Fraction
from numbers import Complex, Number, Rational, Real
from re import Pattern
from types import (
    BuiltinFunctionType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, Generic, Protocol, cast

import numpy as np
import numpy.typing as npt

from nkijit.attributes import attributes_of
from nkijit.code_reads import Chain, Reads, reads_of
from nkijit.library import (
    BUILTINS,
    is_constant_class,
    is_constant_code,
    is_constant_function,
    is_constant_module,
    is_constant_object,
    is_scalar,
    varies,
    varies_by_itself,
    words,
)
from nkijit.objects import NKIObject
from nkijit.spec import TensorSpec


class UnkeyableError(Exception):
    """A value without an image; the kernel is traced at every call. The text says why."""

    def __init__(self, why: str, *path: str):
        super().__init__(why)
        self.why = why
        self.path = path
        """How an author gets to the value, from the outside in."""

    def __str__(self) -> str:
        return f"{where(self.path)}: {self.why}" if self.path else self.why


def where(path: Sequence[str]) -> str:
    """A place in an image for the author: `global 'cfg', 'TILE'`."""
    return ", ".join(path)


def named_images(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Images of some values with their names, for `difference`.

    They share what can be reached from several of them: which objects are the same one is part of
    an image, and so are types (1, 1.0 and True trace differently). Raises UnkeyableError.
    """
    imaging = _Imaging()
    try:
        images = tuple(imaging.named(name, value) for name, value in values.items())
        found = (*images, *imaging.rest())
        hash(found)
    except RecursionError:
        raise UnkeyableError("it is nested too deep to be compared") from None
    except (RuntimeError, TypeError) as error:  # another thread changes it; no hash
        raise UnkeyableError(f"it cannot be compared: {error}") from None
    return found


def image_of(value: Any) -> tuple[Any, ...]:
    """The image of a value. Raises UnkeyableError."""
    return named_images({"": value})


def difference(one: Any, two: Any) -> tuple[str, ...]:
    """The names on the way to the first difference of two images."""
    path: list[str] = []
    while type(one) is tuple and type(two) is tuple:
        if len(cast("tuple[Any, ...]", one)) != len(cast("tuple[Any, ...]", two)):
            break
        pairs = zip(cast("tuple[Any, ...]", one), cast("tuple[Any, ...]", two), strict=True)
        differing = next(((a, b) for a, b in pairs if a != b), None)
        if differing is None:
            break
        one, two = differing
        if _is_named(one) and _is_named(two) and one[0] == two[0]:
            path.append(one[0])
            one, two = one[1], two[1]
    return tuple(path)


def _is_named(image: Any) -> bool:
    """Whether a part of an image begins with its name; others begin with a class."""
    return type(image) is tuple and len(image) == 2 and type(image[0]) is str


class _Same:
    """A value that stands for itself: equal only where it is the same object."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


_AGAIN = _Same
"""Begins the image of an object that has been imaged before; its number follows."""
_LARGEST = 50_000
"""Objects in one image. A look at them takes as long as the trace of a small kernel."""
_KEPT_BYTES = 4096
"""Larger contents are kept as a digest."""
_BY_VALUE = frozenset((int, str, bytes, bool, type(None), type(Ellipsis), type(NotImplemented)))
_METACLASSES = frozenset((type, abc.ABCMeta, EnumMeta))
"""Those whose classes are compared by identity."""
_SKIPPED = words(
    "__annotate__ __annotate_func__ __annotations__ __annotations_cache__"
    " __abstractmethods__ __dataclass_params__ __dict__ __doc__ __firstlineno__ __module__"
    " __orig_bases__ __parameters__ __qualname__ __static_attributes__ __weakref__"
    " _abc_impl"
)
"""What a class has that tracing does not read."""
_ABSENT = ("absent",)

_constants: dict[int, Any] = {}
"""Modules, functions and classes of libraries that are constant, by their `id`."""


class _Imaging:
    """One image, with what has been seen on the way."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        """What has a number, so that nothing else gets its `id`."""
        self._functions: list[Reads] = []
        """What the functions on the way read."""
        self._passed_on: list[tuple[str, ModuleType]] = []
        """Modules of libraries that are used as values, and the names by which author's modules
        have them."""
        self._reads_environment = False

    def of(self, value: Any) -> Any:
        """The image of a value."""
        kind = cast("type[Any]", type(value))
        if kind in _BY_VALUE:
            return (kind, value)
        if kind is float:
            return (kind, struct.pack("<d", value))  # by bits: zeros and NaNs of all kinds
        if kind is tuple:
            return (kind, *map(self.of, value))
        number = id(value)
        if _constants.get(number, _ABSENT) is value:
            return value
        seen = self._numbers.get(number)
        if seen is not None:
            return (_AGAIN, seen)
        handler = _HANDLERS.get(kind) or _handler_of_subclass(kind)
        self._numbers[number] = len(self._numbers)
        self._kept.append(value)
        if len(self._kept) > _LARGEST:
            raise UnkeyableError("what can be reached from it is too much to be compared")
        return handler(self, value)

    def _constant(self, value: Any) -> Any:
        """A value of a library that is its own image. It has no number, next time either."""
        _constants[id(value)] = value
        del self._numbers[id(value)]
        self._kept.pop()
        return value

    def rest(self) -> tuple[Any, ...]:
        """What has become part of the image on the way."""
        for name, module in self._passed_on:
            self._check_uses(name, module)
        return (("environment", tuple(os.environ.items())),) if self._reads_environment else ()

    def named(self, name: str, value: Any) -> tuple[str, Any]:
        try:
            return (name, self.of(value))
        except UnkeyableError as error:
            raise UnkeyableError(error.why, name, *error.path) from None

    def _check_uses(self, name: str, module: ModuleType) -> None:
        """No function asks a module that is used as a value for what varies."""
        names = vars(module)
        for reads in self._functions:
            if name and name not in reads.attributes:
                continue
            for asked in sorted(reads.attributes & names.keys()):
                if not asked.startswith("__") and varies(module.__name__, asked, names[asked]):
                    raise UnkeyableError(_may_vary(f"{module.__name__}.{asked}"), _function(reads))
            if not (name or _REFLECTING.isdisjoint(reads.attributes)):
                raise UnkeyableError(
                    f"any attribute of module '{module.__name__}' may be asked for",
                    _function(reads),
                )

    # ------------------------------------------------------------------ functions

    def function(self, function: FunctionType) -> Any:
        """What a function uses besides its arguments: defaults, closure, globals, attributes."""
        if is_constant_function(function):
            if function is os.getenv:
                self._reads_environment = True
            elif varies_by_itself(function):
                raise UnkeyableError(_may_vary(function.__name__))
            return function if function is os.getenv else self._constant(function)
        reads = reads_of(function.__code__)
        parts: list[Any] = [FunctionType, reads]
        try:
            if function.__defaults__:
                parts.append(("defaults", tuple(map(self.of, function.__defaults__))))
            if function.__kwdefaults__:
                parts.append(("keyword defaults", self.items(function.__kwdefaults__)))
            if function.__dict__:
                parts.append(("attributes", self.items(function.__dict__)))
            if function.__closure__:
                parts += self._closure(function, reads)
            if is_constant_code(function):
                return tuple(parts)
            self._functions.append(reads)
            self._globals(function, reads, parts)
            if reads.imports:
                parts += self._imports(function, reads)
        except UnkeyableError as error:
            raise UnkeyableError(error.why, _function(reads), *error.path) from None
        return tuple(parts)

    def _closure(self, function: FunctionType, reads: Reads) -> Iterable[Any]:
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            try:
                content = cell.cell_contents
            except ValueError:  # assigned after the kernel was defined, if ever
                yield (name, _ABSENT)
                continue
            if isinstance(content, ModuleType):
                yield from self._chains(name, content, reads.free.get(name, [()]))
            else:
                yield self.named(name, content)

    def _globals(self, function: FunctionType, reads: Reads, parts: list[Any]) -> None:
        names = function.__globals__
        builtins = cast("dict[str, Any]", cast(Any, function).__builtins__)
        for name, chains in reads.names.items():
            value = names.get(name, _ABSENT)
            if value is _ABSENT:
                value = builtins.get(name, _ABSENT)
                if value is _ABSENT or BUILTINS.get(name, _ABSENT) is value:
                    continue
                if name == "globals":
                    parts.append(("globals()", self.namespace(names)))
                    continue
            if isinstance(value, ModuleType):
                parts += self._chains(name, value, chains)
            else:
                parts.append(self.named(name, value))

    def _chains(self, root: str, module: ModuleType, chains: Iterable[Chain]) -> Iterable[Any]:
        """What of a module is used, where attributes follow its name directly."""
        for chain in chains:
            yield from self._chain(root, module, chain)

    def _chain(self, name: str, module: ModuleType, chain: Chain) -> tuple[Any, ...]:
        value: Any = module
        for index, attribute in enumerate(chain):
            if type(value) is not ModuleType or attribute.startswith("__"):
                break
            found = vars(value).get(attribute, _ABSENT)
            name = f"{name}.{attribute}"
            if is_constant_module(value):
                if self._is_environment(value, attribute):
                    return ()
                if varies(value.__name__, attribute, found):
                    raise UnkeyableError(_may_vary(name))
                if not isinstance(found, ModuleType):
                    return ((name, _of_library(found)),)
            elif found is _ABSENT:
                asked = vars(value).get("__getattr__")
                return (self.named(name, (_ABSENT, asked, *chain[index + 1 :])),)
            value = found
            if not isinstance(value, ModuleType):
                break
        return (self.named(name, value),)

    def _is_environment(self, module: ModuleType, name: str) -> bool:
        if module is os and name in ("environ", "environb", "getenv", "getenvb"):
            self._reads_environment = True
            return True
        return False

    def _imports(self, function: FunctionType, reads: Reads) -> Iterable[Any]:
        package = str(function.__globals__.get("__package__") or "").split(".")
        for (name, level, taken), chains in reads.imports.items():
            parents = package[: len(package) - level + 1] if level else []
            full = ".".join([*parents, *([name] if name else [])])
            module = sys.modules.get(full)
            if module is None:
                yield (full, _ABSENT)
            else:
                own = (taken,) if taken else ()
                yield from self._chains(full, module, [(*own, *chain) for chain in chains])

    def builtin(self, function: BuiltinFunctionType) -> Any:
        """A function of C, or a method of C with its object."""
        owner = cast(Any, function.__self__)
        if owner is None or isinstance(owner, ModuleType):
            module = sys.modules.get(cast(Any, function.__module__) or "")
            if module is not None and not is_constant_module(module):
                raise UnkeyableError(f"nobody knows what '{function.__name__}' reads")
            if varies_by_itself(function) or (module is None and owner is None):
                raise UnkeyableError(_may_vary(function.__name__))
            return self._constant(function)
        return (BuiltinFunctionType, function.__name__, self.of(owner))

    def method(self, method: MethodType) -> Any:
        return (MethodType, self.of(method.__func__), self.of(method.__self__))

    def wrapping(self, value: Any) -> Any:
        """A static or class method, and a property that is computed once."""
        function = value.func if type(value) is functools.cached_property else value.__func__
        return (type(value), self.of(function))

    def property(self, value: property) -> Any:
        return (property, *map(self.of, (value.fget, value.fset, value.fdel)))

    def partial(self, value: Any) -> Any:
        parts = (value.func, value.args, value.keywords)
        return (functools.partial, *map(self.of, parts), self.items(vars(value)))

    def cached_function(self, value: Any) -> Any:
        """A function with what it has been asked before, which it may answer from."""
        answers = gc.get_referents(value)
        state = vars(value)
        ours = [a for a in answers if a is not state and not _is_machinery(a)]
        return (type(value), self.items(state), *map(self.of, ours))

    # ------------------------------------------------------------------ modules and classes

    def module(self, module: ModuleType) -> Any:
        """A module that is used as a value: of an author's, all that it has."""
        if is_constant_module(module):
            if varies(module.__name__, "", module):
                raise UnkeyableError(_may_vary(module.__name__))
            self._passed_on.append(("", module))
            return module
        kind = cast("type[Any]", type(module))
        own = () if kind is ModuleType else (self.of(kind),)
        return (kind, *own, self.namespace(vars(module)))

    def namespace(self, names: Mapping[str, Any]) -> Any:
        """All names of a module; `__getattr__` answers for those that it does not have."""
        found: list[Any] = []
        for name, value in names.items():
            if isinstance(value, ModuleType) and is_constant_module(value):
                self._passed_on.append((name, value))
                found.append((name, value))
            elif not name.startswith("__") or name == "__getattr__" or is_scalar(value):
                found.append(self.named(name, value))
        return tuple(found)

    def cls(self, cls: type[Any]) -> Any:
        """A class: of an author's, all that it and its bases have."""
        if is_constant_class(cls):
            if varies_by_itself(cls):
                raise UnkeyableError(_may_vary(cls.__name__))
            return self._constant(cls) if type(cls) in _METACLASSES else _Same(cls)
        meta = cast("type[Any]", type(cls))
        itself = (cls,) if meta in _METACLASSES else (_Same(cls), self.of(meta))
        bases = tuple(map(self.of, cls.__mro__[1:-1]))
        items = tuple(
            self.named(name, value)
            for name, value in vars(cls).items()
            if name not in _SKIPPED
            and type(value) not in _ACCESSORS
            and (not name.startswith("__") or name in _ASKED or _is_code(value) or is_scalar(value))
        )
        return (*itself, bases, *items)

    def fields(self, value: Any) -> Any:
        """What `dataclasses.field` says."""
        return (type(value), value.name, *map(self.of, (value.default, value.default_factory)))

    # ------------------------------------------------------------------ values

    def items(self, value: Mapping[Any, Any]) -> Any:
        """Items of a dictionary in their order."""
        pairs = dict.items(value) if isinstance(value, dict) else value.items()
        return tuple(
            self.named(key, item) if type(key) is str else (self.of(key), self.of(item))
            for key, item in pairs
        )

    def mapping(self, value: Any) -> Any:
        return (type(value), *self.items(value))

    def sequence(self, value: Iterable[Any]) -> Any:
        # Of sets as well: a trace can see their order.
        return (type(value), *map(self.of, value))

    def parts(self, value: slice | range) -> Any:
        return (type(value), *map(self.of, (value.start, value.stop, value.step)))

    def content(self, value: bytearray) -> Any:
        return (bytearray, bytes(value))

    def complex(self, value: complex) -> Any:
        return (complex, struct.pack("<dd", value.real, value.imag))

    def itself(self, value: Any) -> Any:
        return value

    def same(self, value: Any) -> Any:
        return _Same(value)

    def enum_member(self, value: Enum) -> Any:
        kind = type(value)
        name = object.__getattribute__(value, "_name_")
        if is_constant_class(kind):
            return (kind, name)
        return (self.of(kind), name, self._state(value))

    def dtype(self, value: np.dtype[Any]) -> Any:
        if value.isbuiltin and value.metadata is None:
            return (np.dtype, value.num)
        parts = (value.names, value.fields and dict(value.fields), dict(value.metadata or {}))
        base = value.base if value.base is not value else None
        layout = (value.str, value.isalignedstruct, value.itemsize, value.shape)
        return (np.dtype, *layout, *map(self.of, (value.type, base, *parts)))

    def number(self, value: np.generic) -> Any:
        kind = cast("type[Any]", type(value))
        if value.dtype.hasobject:
            raise UnkeyableError("an element is a Python object")
        own = () if is_constant_class(kind) else (self._state(value),)
        return (self._class_of(kind), self.of(value.dtype), value.tobytes(), *own)

    def array(self, value: npt.NDArray[Any]) -> Any:
        """An array by its content; by a digest where that is long."""
        kind = cast("type[Any]", type(value))
        plain = value if kind is np.ndarray else np.asarray(value)
        if plain.dtype.hasobject:
            raise UnkeyableError("an array of Python objects")
        data = plain.tobytes()
        content = data if len(data) <= _KEPT_BYTES else hashlib.blake2b(data).digest()
        layout = (self.of(plain.dtype), plain.shape, plain.strides, plain.flags.writeable)
        own = () if kind is np.ndarray else (self._class_of(kind), self._state(value))
        return (np.ndarray, *layout, content, *own)

    def function_of_numpy(self, value: np.ufunc) -> Any:
        if vars(np).get(value.__name__) is value:
            return value
        raise UnkeyableError(f"nobody knows what '{value.__name__}' reads")

    def logger(self, value: logging.Logger) -> Any:
        return (logging.Logger, value.name, value.getEffectiveLevel(), value.disabled)

    def environment(self, value: Any) -> Any:
        if value is not os.environ:
            raise UnkeyableError("a copy of the environment cannot be compared")
        self._reads_environment = True
        return os._Environ  # pyright: ignore[reportPrivateUsage]

    def described(self, value: Any) -> Any:
        """What nkijit's own classes say of themselves."""
        parts = value.__trace_image__()
        return _Same(value) if parts is value else (type(value), *map(self.of, parts))

    def instance(self, value: Any) -> Any:
        """An object of an author's class: its class, its attributes and the items that it has.

        What it does not have itself it finds in its class.
        """
        kind = cast("type[Any]", type(value))
        own: tuple[Any, ...] = ()
        for base, read in _ITEMS.items():
            if issubclass(kind, base):
                own = (base, read(self, value))
                break
        return (self._class_of(kind), *own, self._state(value))

    def _class_of(self, kind: type[Any]) -> Any:
        return kind if is_constant_class(kind) else self.of(kind)

    def _state(self, value: Any) -> Any:
        """The attributes of an object itself."""
        return self.items(attributes_of(value))

    def of_library(self, value: Any) -> Any:
        """Objects of libraries: sentinels, and those that a module has under their name."""
        kind = cast("type[Any]", type(value))
        is_sentinel = kind.__bases__ == (object,) and "__dict__" in vars(kind)
        if (is_sentinel and not self._state(value)) or is_constant_object(value):
            return _Same(value)
        return self.none(value)

    def none(self, value: Any) -> Any:
        """Objects whose state is hidden."""
        kind = cast("type[Any]", type(value))
        raise UnkeyableError(
            f"the state of a {kind.__module__}.{kind.__qualname__} cannot be compared"
        )


def _may_vary(name: str) -> str:
    return f"'{name}' may give something else at every call"


def _of_library(value: Any) -> Any:
    """What a module of a library has under a name: constant, unless it is assigned."""
    kind = cast("type[Any]", type(value))
    return (kind, value) if kind in _BY_VALUE else _Same(value)


def _is_code(value: Any) -> bool:
    return isinstance(value, (FunctionType, classmethod, staticmethod, property))


def _is_machinery(value: Any) -> bool:
    """Parts of a function's cache that hold no answers themselves."""
    if isinstance(value, dict):
        value = next(iter(cast("dict[Any, Any]", value).values()), None)
    return isinstance(value, type) or type(value).__name__ == "_lru_list_elem"


def _function(reads: Reads) -> str:
    return f"function '{reads.code_name}'"


_REFLECTING = words("__dict__ __getattribute__ attrgetter getattr methodcaller vars")
"""Names of what asks a value for attributes whose names are not in the code."""
_ASKED = frozenset(("__dataclass_fields__", "__slots__", "__match_args__", "__getattr__"))
_ACCESSORS = (GetSetDescriptorType, MemberDescriptorType)

_Handler = Callable[[_Imaging, Any], Any]
_CACHED_FUNCTION = type(functools.lru_cache(lambda: None))
_HANDLERS: dict[type[Any], _Handler] = {
    BuiltinFunctionType: _Imaging.builtin,
    Field: _Imaging.fields,
    FunctionType: _Imaging.function,
    GenericAlias: _Imaging.same,
    MappingProxyType: _Imaging.mapping,
    MethodDescriptorType: _Imaging.same,
    MethodType: _Imaging.method,
    ModuleType: _Imaging.module,
    Pattern: _Imaging.same,
    TensorSpec: _Imaging.itself,
    UnionType: _Imaging.same,
    WrapperDescriptorType: _Imaging.same,
    _CACHED_FUNCTION: _Imaging.cached_function,
    bytearray: _Imaging.content,
    classmethod: _Imaging.wrapping,
    complex: _Imaging.complex,
    dict: _Imaging.mapping,
    frozenset: _Imaging.sequence,
    functools.cached_property: _Imaging.wrapping,
    functools.partial: _Imaging.partial,
    list: _Imaging.sequence,
    np.ndarray: _Imaging.array,
    np.ufunc: _Imaging.function_of_numpy,
    object: _Imaging.same,
    property: _Imaging.property,
    range: _Imaging.parts,
    set: _Imaging.sequence,
    slice: _Imaging.parts,
    staticmethod: _Imaging.wrapping,
    type: _Imaging.cls,
    type(os.environ): _Imaging.environment,
}
_HANDLERS_OF_BASES: dict[type[Any], _Handler] = {
    ModuleType: _Imaging.module,
    type: _Imaging.cls,
    Enum: _Imaging.enum_member,
    np.dtype: _Imaging.dtype,
    np.generic: _Imaging.number,
    np.ndarray: _Imaging.array,
    logging.Logger: _Imaging.logger,
}
_ITEMS: dict[type[Any], _Handler] = {
    int: lambda imaging, value: imaging.of(int.__index__(value)),
    float: lambda imaging, value: imaging.of(float.__pos__(value)),
    complex: lambda imaging, value: imaging.of(complex.__pos__(value)),
    str: lambda imaging, value: imaging.of(str.__str__(value)),
    bytes: lambda imaging, value: imaging.of(bytes.__getitem__(value, slice(None))),
    tuple: lambda imaging, value: tuple(map(imaging.of, tuple.__iter__(value))),
    list: lambda imaging, value: tuple(map(imaging.of, list.__iter__(value))),
    dict: lambda imaging, value: imaging.items(value),
    set: lambda imaging, value: tuple(map(imaging.of, set.__iter__(value))),
    frozenset: lambda imaging, value: tuple(map(imaging.of, frozenset.__iter__(value))),
}
"""How the items of an object are read whose class derives from one of Python's."""
_BASES: frozenset[Any] = frozenset(
    (
        *_ITEMS,
        *(object, abc.ABC, Generic, Protocol, Namespace, SimpleNamespace),
        *(Counter, OrderedDict, defaultdict),
        *(Complex, Fraction, Number, Rational, Real),
    )
)
"""Classes of Python whose objects keep all that they know in items and attributes."""
_OPAQUE_CONSTANTS = frozenset((("torch", "dtype"), ("torch", "device"), ("torch", "layout")))


@functools.lru_cache(maxsize=4096)
def _handler_of_subclass(kind: type[Any]) -> _Handler:
    """How values of a class are read, by what the class is."""
    for base, handler in _HANDLERS_OF_BASES.items():
        if issubclass(kind, base):
            return handler
    if any("__trace_image__" in vars(base) for base in kind.__mro__):
        return _Imaging.described
    if all(map(_keeps_nothing_hidden, kind.__mro__)):
        return _Imaging.instance
    if not is_constant_class(kind):
        return _Imaging.none
    if kind.__module__ == "typing" or (kind.__module__, kind.__qualname__) in _OPAQUE_CONSTANTS:
        return _Imaging.same
    return _Imaging.of_library


def _keeps_nothing_hidden(base: type[Any]) -> bool:
    """Whether all that objects know by this class are their items and attributes."""
    if is_constant_class(base):
        of_nkijit = base.__module__.startswith("nkijit.")
        return (
            base in _BASES
            or issubclass(base, (tuple, NKIObject))
            or base.__module__ == "collections.abc"
            or (of_nkijit and is_dataclass(base))
        )
    # A class that is made in C has room for what Python does not see.
    visible = [name for name, value in vars(base).items() if type(value) in _ACCESSORS]
    layout = base.__base__ or object
    return base.__basicsize__ - layout.__basicsize__ <= _POINTER * len(visible)


_POINTER = struct.calcsize("P")
