"""What options give by name: `-a x=128x512:float32`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nkijit.discovery.argument_text import ArgumentTextError, argument_of
from nkijit.discovery.errors import UsageError


def argument_values(texts: Sequence[str]) -> dict[str, Any]:
    """The arguments of a kernel as `-a` gives them, each once."""
    return each_once("-a", texts, argument, "argument ")


def each_once(
    option: str, texts: Sequence[str], read: Callable[[str], tuple[str, Any]], what: str = ""
) -> dict[str, Any]:
    """What an option gives by name, which may be given for each name once.

    Args:
        option: the option, for messages.
        texts: what it was given.
        read: the name and the value that a text says.
        what: what is named, for messages.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, value = read(text)
        if name in values:
            raise UsageError(f"{option} {text}: {what}'{name}' is given twice")
        values[name] = value
    return values


def argument(text: str) -> tuple[str, Any]:
    """NAME=VALUE as `-a` takes it; values are what `nkijit.discovery.argument_text` reads."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"-a {text}: expected NAME=VALUE, e.g. x=128x512:float32 or scale=2.0")
    try:
        return name, argument_of(value)
    except ArgumentTextError as error:
        raise UsageError(f"-a {name}: {error}") from None
