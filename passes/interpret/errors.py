"""What can go wrong while a kernel runs, told at the author's line."""

from __future__ import annotations

from xdsl.ir import Operation

from nkijit.passes.verify.diagnostics import positions


class InterpretationError(Exception):
    """A kernel cannot be interpreted, or not with these inputs."""


class UnwrittenError(InterpretationError):
    """A kernel has read, or returned, what it never wrote."""


def failure(op: Operation, message: str) -> InterpretationError:
    """The error for an operation that cannot go on, with the place it comes from."""
    places = positions(op.location)
    at = f"{places[0]}: " if places else ""
    return InterpretationError(f"{at}{op.name}: {message}")
