"""Options with a name and a value: `-a x=128x512:float32`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nkijit.discovery.argument_text import ArgumentTextError, argument_of
from nkijit.discovery.errors import UsageError


def argument_values(texts: Sequence[str]) -> dict[str, Any]:
    """Parse the values of `-a`. Raises UsageError for invalid values and duplicate names."""
    return each_once("-a", texts, argument, "argument ")


def each_once(
    option: str, texts: Sequence[str], read: Callable[[str], tuple[str, Any]], prefix: str = ""
) -> dict[str, Any]:
    """Parse the values of an option that may be given once per name.

    Args:
        option: the option's name, for messages.
        texts: the option's values.
        read: parses a value into a name and its value.
        prefix: text before the name in messages, with a space at the end.

    Raises UsageError when a name is given twice.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, value = read(text)
        if name in values:
            raise UsageError(f"{option} {text}: {prefix}'{name}' is given twice")
        values[name] = value
    return values


def argument(text: str) -> tuple[str, Any]:
    """Parse one NAME=VALUE of `-a` (see `nkijit.discovery.argument_text`). Raises UsageError."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"-a {text}: expected NAME=VALUE, e.g. x=128x512:float32 or scale=2.0")
    try:
        return name, argument_of(value)
    except ArgumentTextError as error:
        raise UsageError(f"-a {name}: {error}") from None
