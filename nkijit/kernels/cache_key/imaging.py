"""Images of values: what a trace can find out about them, as data that keys are made of.

An `Imaging` goes through what can be reached from some values. How values of a class are read is
said by functions that `images` registers, in `code.py` (functions, modules, classes) and
`values.py` (all other). Types decide how a value is read, so that no code of an author runs
(`__getattr__`, properties, `__eq__`).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from nkijit.host.installed import BY_VALUE, per_class
from nkijit.kernels.arguments import TensorSpec


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
    """A place in an image for the author: `kernel 'scaled', cfg, TILE`."""
    return ", ".join(path)


def may_vary(name: str) -> UnkeyableError:
    """The error for what a library has under a name and is different at every use."""
    return UnkeyableError(f"'{name}' may give something else at every call")


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
    parts = cast("tuple[Any, ...]", image)
    return type(image) is tuple and len(parts) == 2 and type(parts[0]) is str


class Same:
    """A value that stands for itself: equal only where it is the same object."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


_AGAIN = Same
"""Begins the image of an object that has been imaged before; its number follows."""
_LARGEST = 50_000
"""Objects in one image. A look at them takes as long as the trace of a small kernel."""
ABSENT = ("absent",)
"""In the place of the image of what is not there."""

_constants: dict[int, Any] = {}
"""Modules, functions and classes of libraries that are constant, by their `id`."""


class Imaging:
    """One image, with what has been seen on the way."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        """What has a number, so that nothing else gets its `id`."""
        self.reads_environment = False

    def of(self, value: Any) -> Any:
        """The image of a value."""
        kind = cast("type[Any]", type(value))
        if id(kind) in BY_VALUE:
            return (kind, value)
        if kind is float:
            return (kind, struct.pack("<d", value))  # by bits: zeros and NaNs of all kinds
        if kind is TensorSpec:
            return (kind, value.shape, value.dtype)
        if kind is tuple:
            return (kind, *map(self.of, value))
        number = id(value)
        if _constants.get(number, ABSENT) is value:
            return value
        seen = self._numbers.get(number)
        if seen is not None:
            return (_AGAIN, seen)
        read = _readers.get(id(kind)) or reader_of(kind)
        self._numbers[number] = len(self._numbers)
        self._kept.append(value)
        if len(self._kept) > _LARGEST:
            raise UnkeyableError("what can be reached from it is too much to be compared")
        return read(self, value)

    def constant(self, value: Any) -> Any:
        """A value of a library that is its own image. It has no number, next time either."""
        _constants[id(value)] = value
        del self._numbers[id(value)]
        self._kept.pop()
        return value

    def rest(self) -> tuple[Any, ...]:
        """What has become part of the image on the way."""
        return (("environment", tuple(os.environ.items())),) if self.reads_environment else ()

    def named(self, name: str, value: Any) -> tuple[str, Any]:
        try:
            return (name, self.of(value))
        except UnkeyableError as error:
            raise UnkeyableError(error.why, name, *error.path) from None

    def items(self, value: Mapping[Any, Any]) -> Any:
        """Items of a dictionary in their order."""
        items = cast(Any, dict).items if isinstance(value, dict) else type(value).items
        return tuple(
            self.named(key, item) if type(key) is str else (self.of(key), self.of(item))
            for key, item in items(value)
        )

    def all(self, values: Iterable[Any]) -> tuple[Any, ...]:
        """Images of some values."""
        return tuple(map(self.of, values))


Reader = Callable[[Imaging, Any], Any]
"""How a value is read: it gives the image."""
_readers: dict[int, Reader] = {}
"""By the `id` of a class: the hash of a class may be an author's code."""
_readers_of_bases: dict[Any, Reader] = {}


def images(*kinds: Any, derived: bool = False) -> Callable[[Reader], Reader]:
    """Say how values of some classes are read, also of classes that derive from them."""

    def register(reader: Reader) -> Reader:
        for kind in kinds:
            if derived:
                _readers_of_bases[kind] = reader
            else:
                _readers[id(kind)] = reader
        return reader

    return register


@per_class
def reader_of(kind: type[Any]) -> Reader:
    """How values of a class are read that has no reader of its own."""
    return next(reader for base, reader in _readers_of_bases.items() if issubclass(kind, base))


def named_images(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Images of some values with their names, for `difference`.

    They share what can be reached from several of them: which objects are the same one is part of
    an image, and so are types (1, 1.0 and True trace differently). Raises UnkeyableError.
    """
    imaging = Imaging()
    try:
        images = tuple(imaging.named(name, value) for name, value in values.items())
        return (*images, *imaging.rest())
    except RecursionError:
        raise UnkeyableError("it is nested too deep to be compared") from None
    except RuntimeError as error:  # another thread changes it
        raise UnkeyableError(f"it cannot be compared: {error}") from None


def image_of(value: Any) -> tuple[Any, ...]:
    """The image of a value. Raises UnkeyableError."""
    return named_images({"": value})
