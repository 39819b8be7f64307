"""A variant of xDSL's IR printer that writes any IR in a form that can be parsed again."""

from __future__ import annotations

from xdsl.dialects.scf import WhileOp
from xdsl.ir import Operation
from xdsl.printer import Printer


class IrPrinter(Printer):
    """Prints IR with locations where the parser expects them."""

    def print_operation_type(self, op: Operation) -> None:
        # xDSL prints the type of `scf.while` with this method, before the regions, including the
        # location. The location belongs at the end, where it is printed anyway.
        if isinstance(op, WhileOp) and not self.print_generic_format:
            self.print_function_type(op.operand_types, op.result_types)
        else:
            super().print_operation_type(op)

    def print_string_literal(self, string: str) -> None:
        # Python uses lone surrogates for file names that are not UTF-8, and UTF-8 cannot encode
        # these.
        self.print_bytes_literal(string.encode("utf-8", "backslashreplace"))
