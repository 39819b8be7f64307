"""What cannot be exported."""

from __future__ import annotations

from xdsl.ir import Operation

from nkijit.passes.diagnostics.places import positions


class ExportError(ValueError):
    """IR that the public API cannot say. The message begins with the author's line."""

    @staticmethod
    def at(op: Operation, message: str) -> ExportError:
        """The error for an operation, with the place that it comes from."""
        places = positions(op.location)
        at = f"{places[0]}: " if places else ""
        return ExportError(f"{at}{op.name} cannot be exported: {message}")
