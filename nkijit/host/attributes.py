"""Attributes of an object, read without running its code."""

from __future__ import annotations

from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, cast


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes that an object stores in its `__dict__` and `__slots__`.

    Bypasses `__getattr__`, `__getattribute__` and properties, so that no user code runs.
    """
    found: dict[str, Any] = {}
    for base in cast("type[Any]", type(value)).__mro__:
        for name, reader in vars(base).items():
            if type(reader) is GetSetDescriptorType and name == "__dict__":
                found |= reader.__get__(value)
            elif type(reader) is MemberDescriptorType:
                try:
                    content = reader.__get__(value)
                except AttributeError:  # an empty slot
                    continue
                if name == "__dict__":  # of classes implemented in C
                    found |= content
                else:
                    found[name] = content
    return found
