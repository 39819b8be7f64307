"""xDSL's printer of IR, whose text can always be written and read back."""

from __future__ import annotations

from xdsl.dialects.scf import WhileOp
from xdsl.ir import Operation
from xdsl.printer import Printer


class IrPrinter(Printer):
    """Prints IR with the locations of all operations where the parser wants them."""

    def print_operation_type(self, op: Operation) -> None:
        # `scf.while` prints its type with this, in the middle, and the location comes along; it is
        # printed at the end, where it belongs.
        if isinstance(op, WhileOp) and not self.print_generic_format:
            self.print_function_type(op.operand_types, op.result_types)
        else:
            super().print_operation_type(op)

    def print_string_literal(self, string: str) -> None:
        # Python names files that are not UTF-8 with lone surrogates, which UTF-8 does not have.
        self.print_bytes_literal(string.encode("utf-8", "backslashreplace"))
