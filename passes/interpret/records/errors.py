"""Errors of a kernel's run, reported at the kernel's source line."""

from __future__ import annotations

from xdsl.ir import Operation

from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import positions


class InterpretationError(Exception):
    """A kernel cannot be interpreted, or not with these inputs."""


class FoundError(InterpretationError):
    """An error whose text is a finding, the first entry of `args`."""

    def __init__(self, finding: Diagnostic, *others: object):
        super().__init__(finding, *others)

    @property
    def finding(self) -> Diagnostic:
        """The finding that is the text of the error."""
        return self.args[0]

    def reword(self, finding: Diagnostic) -> None:
        """Replace the finding by `finding`, which reports the same error in other words."""
        self.args = (finding, *self.args[1:])

    def __str__(self) -> str:
        return str(self.finding)


class UnwrittenError(FoundError):
    """A kernel has read or returned data that the kernel never wrote."""


class OutOfBoundsError(FoundError):
    """An index that is known only at run time is out of bounds of its tensor."""

    def __init__(self, finding: Diagnostic, element: int, elements: int):
        super().__init__(finding, element, elements)

    @property
    def element(self) -> int:
        """The number of the first element that the wrong index selects; see `elements`."""
        return self.args[1]

    @property
    def elements(self) -> int:
        """The number of elements that the index can address, which are numbered from 0."""
        return self.args[2]


def failure(op: Operation, message: str) -> InterpretationError:
    """Return the error for an operation that cannot continue, with its source location."""
    places = positions(op.location)
    at = f"{places[0]}: " if places else ""
    return InterpretationError(f"{at}{op.name}: {message}")
