"""The error for IR that cannot be exported."""

from __future__ import annotations

from xdsl.ir import Operation

from nkijit.passes.diagnostics.places import positions


class ExportError(ValueError):
    """IR that the public API cannot express. The message starts with the source line."""

    @staticmethod
    def at(op: Operation, message: str) -> ExportError:
        """Create the error for an operation, with its source position."""
        places = positions(op.location)
        at = f"{places[0]}: " if places else ""
        return ExportError(f"{at}{op.name} cannot be exported: {message}")
