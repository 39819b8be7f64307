"""The error of an operation that has no term."""

from __future__ import annotations

from xdsl.ir import Operation

from nkijit.passes.diagnostics.places import Position, positions


class NotProvableError(Exception):
    """An operation has no term, or a term that depends on data in a way that is not modelled."""

    def __init__(self, reason: str, op: Operation | None = None):
        super().__init__(reason)
        self.reason = reason
        self.op = op

    @property
    def place(self) -> Position | None:
        """The operation's position in the kernel's source; None if unknown."""
        places = [] if self.op is None else positions(self.op.location)
        return places[0] if places else None
