"""Registers: 32-bit integers in an engine's sequencer at run time.

A register is storage, like a tile: `nki.register` allocates a register, instructions write it, and
every use reads the current value. `nki.read` reads the value for the bounds of a loop. The
induction variable of a loop is an `i32` and can be used like a read-only register.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from nkijit.dialects.register_type import REGISTER, RegisterType


@irdl_op_definition
class RegisterOp(IRDLOperation):
    """Allocate a register (`nisa.register_alloc`). Its value is undefined until it is written."""

    name = "nki.register"

    result = result_def(RegisterType)

    @staticmethod
    def of() -> RegisterOp:
        return RegisterOp.create(result_types=(REGISTER,))

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> RegisterOp:
        op = cls.of()
        op.attributes.update(parser.parse_optional_attr_dict())
        return op


@irdl_op_definition
class ReadRegisterOp(IRDLOperation):
    """Read the value of a register at this point of the program."""

    name = "nki.read"

    source = operand_def(RegisterType)
    result = result_def(i32)

    @staticmethod
    def of(source: SSAValue) -> ReadRegisterOp:
        return ReadRegisterOp.create(operands=(source,), result_types=(i32,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> ReadRegisterOp:
        op = cls.of(parser.resolve_operand(parser.parse_unresolved_operand(), REGISTER))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op
