"""Images: descriptions of everything that a trace can observe of values, for cache keys.

An `Imaging` visits all objects that are reachable from some values. Each class has a reader: a
function, registered with `@images`, that returns the image of an object. The readers are in
`code.py` (functions, modules, classes) and `values.py` (all other classes). The type of a value
selects its reader, so imaging runs no user code (`__getattr__`, properties, `__eq__`).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from nkijit.host.installed import BY_VALUE, per_class
from nkijit.kernels.arguments import TensorSpec


class UnkeyableError(Exception):
    """A value has no image, so the kernel is traced at every call. The text gives the reason."""

    def __init__(self, why: str, *path: str):
        super().__init__(why)
        self.why = why
        self.path = path
        """The names that lead to the value, the outermost first: `kernel 'scaled'`, `cfg`."""

    def __str__(self) -> str:
        return f"{where(self.path)}: {self.why}" if self.path else self.why


def where(path: Sequence[str]) -> str:
    """Return a path to a value as text: `kernel 'scaled', cfg, TILE`."""
    return ", ".join(path)


def may_vary(name: str) -> UnkeyableError:
    """Return the error for a library name with a result that may differ at every use."""
    return UnkeyableError(f"'{name}' may give something else at every call")


def difference(one: Any, two: Any) -> tuple[str, ...]:
    """Return the path to the first difference between two images, as names, outermost first."""
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
    """Return whether a part of an image is a pair (name, image); other parts begin with a class."""
    parts = cast("tuple[Any, ...]", image)
    return type(image) is tuple and len(parts) == 2 and type(parts[0]) is str


class Same:
    """The cache key image of a value that is compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


_AGAIN = Same
"""The first element of the image of an object that occurred before in the same image.

The second element is the object's number.
"""
_LARGEST = 50_000
"""The maximum number of objects in an image; larger images would take as long as a small trace."""
ABSENT = ("absent",)
"""The cache key image of a missing value."""

_constants: dict[int, Any] = {}
"""Library constants (modules, functions, classes) that represent themselves in images, by `id`."""


class Imaging:
    """Creates one image; objects that occur repeatedly are numbered."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        """The numbered objects; a reference keeps Python from reusing their `id`."""
        self.reads_environment = False

    def of(self, value: Any) -> Any:
        """Return the cache key image of a value."""
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
        """Register a library constant, which represents itself in images and gets no number."""
        _constants[id(value)] = value
        del self._numbers[id(value)]
        self._kept.pop()
        return value

    def rest(self) -> tuple[Any, ...]:
        """Return the last part of the image: the environment variables if values depend on them."""
        return (("environment", tuple(os.environ.items())),) if self.reads_environment else ()

    def named(self, name: str, value: Any) -> tuple[str, Any]:
        try:
            return (name, self.of(value))
        except UnkeyableError as error:
            raise UnkeyableError(error.why, name, *error.path) from None

    def items(self, value: Mapping[Any, Any]) -> Any:
        """Return the images of the items of a dictionary, in order."""
        items = cast(Any, dict).items if isinstance(value, dict) else type(value).items
        return tuple(
            self.named(key, item) if type(key) is str else (self.of(key), self.of(item))
            for key, item in items(value)
        )

    def all(self, values: Iterable[Any]) -> tuple[Any, ...]:
        """Return the images of several values."""
        return tuple(map(self.of, values))


Reader = Callable[[Imaging, Any], Any]
"""A function that returns the image of a value."""
_readers: dict[int, Reader] = {}
"""The reader of each class, by the `id` of the class: hashing a class may run user code."""
_readers_of_bases: dict[Any, Reader] = {}


def images(*kinds: Any, derived: bool = False) -> Callable[[Reader], Reader]:
    """Register the decorated function as reader for some classes.

    With `derived`, the reader is also for classes that derive from these classes.
    """

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
    """Return the reader that a class without its own reader inherits from its bases."""
    return next(reader for base, reader in _readers_of_bases.items() if issubclass(kind, base))


def named_images(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the cache key images of named values, for `difference`.

    An image also describes which objects are shared, and the types (1, 1.0 and True trace
    differently).

    Raises:
        UnkeyableError: a value has no image.
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
    """Return the image of a value, or raise UnkeyableError."""
    return named_images({"": value})
