"""Errors of a kernel's run, reported at the kernel's source line."""

from __future__ import annotations

from xdsl.ir import Operation

from nkijit.passes.diagnostics.places import positions


class InterpretationError(Exception):
    """A kernel cannot be interpreted, or not with these inputs."""


class UnwrittenError(InterpretationError):
    """A kernel has read or returned data that the kernel never wrote."""


class OutOfBoundsError(InterpretationError):
    """An index that is known only at run time is out of bounds of its tensor.

    Attributes:
        element: the number of the first selected element, among the elements that the index can
            address.
        elements: the number of elements that the index can address.
    """

    def __init__(self, message: str, element: int, elements: int):
        super().__init__(message)
        self.element = element
        self.elements = elements


def failure(op: Operation, message: str) -> InterpretationError:
    """Return the error for an operation that cannot continue, with its source location."""
    return InterpretationError(described(op, message))


def described(op: Operation, message: str) -> str:
    """Return a message about an operation, with its source location."""
    places = positions(op.location)
    at = f"{places[0]}: " if places else ""
    return f"{at}{op.name}: {message}"
