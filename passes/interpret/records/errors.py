"""What can go wrong while a kernel runs, reported at the author's line."""

from __future__ import annotations

from xdsl.ir import Operation

from nkijit.passes.diagnostics.places import positions


class InterpretationError(Exception):
    """A kernel cannot be interpreted, or not with these inputs."""


class UnwrittenError(InterpretationError):
    """A kernel has read, or returned, what it never wrote."""


class OutOfBoundsError(InterpretationError):
    """An index that is known at run time only leads out of its tensor.

    Attributes:
        element: the first element that it leads to, counted in the part that it selects from.
        elements: how many that part has.
    """

    def __init__(self, message: str, element: int, elements: int):
        super().__init__(message)
        self.element = element
        self.elements = elements


def failure(op: Operation, message: str) -> InterpretationError:
    """The error for an operation that cannot go on, with the place it comes from."""
    return InterpretationError(described(op, message))


def described(op: Operation, message: str) -> str:
    """A message about an operation, with the place it comes from."""
    places = positions(op.location)
    at = f"{places[0]}: " if places else ""
    return f"{at}{op.name}: {message}"
