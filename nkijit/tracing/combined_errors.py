"""Exceptions that carry findings and have the class of another exception."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, cast

from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import Findings, render


def error_with(error: Exception, found: Iterable[Diagnostic]) -> Exception:
    """Return findings as an exception that is also an instance of the class of `error`.

    `except` and `pytest.raises` catch it by either class. It has the arguments, attributes and
    traceback of `error`. If the class of `error` cannot be combined with `NkiValidationError`,
    returns `error` with the findings as a note.
    """
    found = Findings(found)
    try:
        combined = _combined(type(error), found, error.args, _attributes(error))
    except Exception:  # of a metaclass or `__init_subclass__` of the user's
        error.add_note(render(found))
        return error
    return combined.with_traceback(error.__traceback__)


def _combined(
    kind: type[BaseException],
    found: Findings,
    args: tuple[Any, ...],
    attributes: Mapping[str, Any],
) -> NkiValidationError:
    def reduced(error: NkiValidationError) -> tuple[Any, ...]:
        own = {name: value for name, value in vars(error).items() if name != "diagnostics"}
        return _combined, (kind, error.diagnostics, error.args, own)

    about = {"__module__": NkiValidationError.__module__, "__reduce__": reduced}
    combined: Any = type(kind.__name__, (NkiValidationError, kind), about)
    # Without the constructors of the user's classes, whose arguments are not known.
    base: Any = next(each for each in kind.__mro__ if not each.__flags__ & _HEAP_TYPE)
    raised = cast(NkiValidationError, base.__new__(combined, *args))
    raised.args = args
    for name, value in attributes.items():
        with suppress(AttributeError, TypeError):  # it cannot be written
            object.__setattr__(raised, name, value)
    raised.diagnostics = found
    return raised


_HEAP_TYPE = 1 << 9
"""The flag of classes that are allocated at run time (Py_TPFLAGS_HEAPTYPE)."""


def _attributes(error: BaseException) -> dict[str, Any]:
    """Return the attributes of an exception, also those outside of its `__dict__`."""
    fields = (MemberDescriptorType, GetSetDescriptorType)
    found: dict[str, Any] = {}
    for base in type(error).__mro__:
        for name, value in vars(base).items():
            if isinstance(value, fields) and not name.startswith("__") and name != "args":
                with suppress(AttributeError):
                    found[name] = value.__get__(error)
    # The findings have the notes.
    return {**found, **{name: v for name, v in vars(error).items() if name != "__notes__"}}
