"""NKIObject: the base of classes that kernels use and take as arguments."""

from __future__ import annotations

import inspect
from typing import Any


class NKIObject:
    """Base class for kernel data classes (`nki.language.NKIObject`).

    Fields are the annotated names of the class and its bases. Without an own `__init__` (or
    `@dataclass`) they can be given by position or by name; a field that is not given takes its
    class attribute, else None. `__post_init__` runs afterwards. Objects are equal when their
    class and all fields are.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        names = _fields(type(self))
        if len(args) > len(names):
            raise TypeError(
                f"{type(self).__name__} has {len(names)} fields, got {len(args)} values"
            )
        values = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name in values:
                raise TypeError(f"{type(self).__name__} got two values for field '{name}'")
            if names and name not in names:
                raise TypeError(f"{type(self).__name__} has no field '{name}'; it has {names}")
            values[name] = value
        for name in dict.fromkeys((*names, *values)):
            setattr(self, name, values.get(name, getattr(type(self), name, None)))
        self.__post_init__()

    def __post_init__(self) -> None:
        """Called after the fields are set; for subclasses to override."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))


def _fields(cls: type) -> list[str]:
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        names.update(dict.fromkeys(inspect.get_annotations(base)))
    return list(names)
