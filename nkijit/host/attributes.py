"""The attributes of an object, read without asking it."""

from __future__ import annotations

from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, cast


def attributes_of(value: Any) -> dict[str, Any]:
    """What an object itself keeps, in its dictionary and its slots.

    Reads past `__getattr__`, `__getattribute__` and properties, so that no code of an author runs.
    """
    found: dict[str, Any] = {}
    for base in cast("type[Any]", type(value)).__mro__:
        for name, reader in vars(base).items():
            if type(reader) is GetSetDescriptorType and name == "__dict__":
                found |= reader.__get__(value)
            elif type(reader) is MemberDescriptorType:
                try:
                    content = reader.__get__(value)
                except AttributeError:  # a slot that is empty
                    continue
                if name == "__dict__":  # of classes that are made in C
                    found |= content
                else:
                    found[name] = content
    return found
