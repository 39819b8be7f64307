"""The IR as text, with the lines of each operation."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from nkijit.passes.diagnostics.ir_printer import IrPrinter


@dataclass(frozen=True, slots=True)
class Printed:
    """The text of a module."""

    text: str
    lines: dict[Operation, tuple[int, int]]
    """The first and the last line of each operation, counted from 0, in the order of the text.

    An operation with regions ends on the line of its last brace. Terminators that the text omits
    are not included.
    """


class _CountingPrinter(IrPrinter):
    """A printer that records the first and last line of each operation."""

    def __init__(self, stream: StringIO):
        super().__init__(stream)
        self.lines: dict[Operation, tuple[int, int]] = {}

    def print_op(self, op: Operation) -> None:
        first = self._current_line
        # The entry is added first, so that an operation is before those inside it.
        self.lines[op] = (first, first)
        super().print_op(op)
        self.lines[op] = (first, self._current_line)


def printed(module: ModuleOp) -> Printed:
    """Print a module as `TracedKernel.text()` does."""
    stream = StringIO()
    printer = _CountingPrinter(stream)
    printer.print_op(module)
    return Printed(stream.getvalue() + "\n", printer.lines)
