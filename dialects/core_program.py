"""Base class of a core's program: a symbol with HBM arguments and a target.

`nki.kernel` (a traced kernel) and `engine.program` (its instruction queues) are the two subclasses.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, opt_prop_def, prop_def, region_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.declare.kinds import OperandKind, Role
from nkijit.dialects.declare.properties import IntegersKind
from nkijit.dialects.hardware.targets import Target, target_named
from nkijit.dialects.hardware.words import nc_version
from nkijit.dialects.tiles import info_of
from nkijit.dialects.walks import all_in

MAX_CORES = 2
"""Largest number of cores that a kernel can be launched on."""


class IllFormedInside(VerifyException):
    """Error for an operation, `op`, that a program must not contain."""

    def __init__(self, message: str, op: Operation):
        super().__init__(message)
        self.op = op


class CoreProgram(IRDLOperation, ABC):
    """The program of one core, specialised for shapes, data types, static arguments and target."""

    sym_name = prop_def(StringAttr)
    target_name = prop_def(StringAttr, prop_name="target")
    program = opt_prop_def(IntegersKind(required=False))
    body = region_def("single_block")

    KEYWORDS: ClassVar[tuple[str, ...]] = ()
    """Names of unit properties that are printed as keywords before the body if they are set."""

    def __init__(
        self, name: str, target: str, body: Region, program: tuple[int, int] | None = None
    ):
        """Create a program. `program` is (core, number of cores) for a launch on several cores."""
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "target": StringAttr(target),
        }
        if program is not None:
            properties["program"] = DenseArrayBase.from_list(i64, program)
        super().__init__(properties=properties, regions=[body])

    @property
    def core(self) -> tuple[int, int]:
        """The core that the kernel is specialised for, and the number of cores of the launch.

        (0, 1) without a launch grid.
        """
        if self.program is None:
            return 0, 1
        index, count = IntegersKind().decode(self.program)
        return index, count

    @property
    def launch_name(self) -> str:
        """The kernel's name without the suffix of its core."""
        name, (index, count) = self.sym_name.data, self.core
        return name if count == 1 else name.removesuffix(core_suffix(index))

    @property
    def target(self) -> Target:
        """The hardware that the kernel is specialised for."""
        return target_named(self.target_name.data)

    @property
    def arguments(self) -> Sequence[SSAValue]:
        """The HBM tensors that the kernel is called with."""
        return self.body.block.args

    @property
    def operations(self) -> Iterable[Operation]:
        """All operations of the body, including those in loops, in program order."""
        return all_in(self)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.arguments, lambda value: _print_argument(printer, value))
        printer.print_string(f" target={self.target_name.data}")
        if self.program is not None:
            printer.print_string(" program=")
            IntegersKind().print(printer, self.program)
        for word in self.KEYWORDS:
            if word in self.properties:
                printer.print_string(f" {word}")
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        parser.parse_keyword("target")
        parser.parse_punctuation("=")
        target = _parse_target(parser)
        program = None
        if parser.parse_optional_keyword("program"):
            parser.parse_punctuation("=")
            program = IntegersKind().parse(parser)
        words = [word for word in cls.KEYWORDS if parser.parse_optional_keyword(word)]
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region(arguments)
        program_op = cls(name, target, region)
        if program is not None:
            program_op.properties["program"] = program
        program_op.properties.update(dict.fromkeys(words, UnitAttr()))
        if attributes is not None:
            program_op.attributes.update(attributes.data)
        return program_op

    def verify_signature(self) -> None:
        """Verify target, core and arguments. Raises VerifyException."""
        try:
            target_named(self.target_name.data)
        except ValueError as error:
            raise VerifyException(str(error)) from error
        if self.program is not None:
            given = IntegersKind().decode(self.program)
            if len(given) != 2 or not 0 <= given[0] < given[1] <= MAX_CORES:
                raise VerifyException(
                    f"expected a core and how many there are, at most {MAX_CORES}, got {[*given]}"
                )
            if given[1] > 1 and self.target.version < nc_version.gen3:
                raise VerifyException(f"{self.target_name.data} runs a kernel on one core")
        for argument in self.arguments:
            OperandKind(Role.read).verify(argument.type, cast(Any, None))
            if info_of(argument).region.on_chip:
                raise VerifyException(f"a kernel's argument lives in HBM, got {argument.type}")


def core_suffix(index: int) -> str:
    """Return the suffix of a kernel's name for one core of a launch on several cores."""
    return f"_core{index}"


def _print_argument(printer: Printer, value: SSAValue) -> None:
    # Without a location: xDSL prints one after an argument but does not read it back.
    printer.print_ssa_value(value)
    printer.print_string(": ")
    printer.print_attribute(value.type)


def _parse_target(parser: Parser) -> str:
    pos = parser.pos
    name = parser.parse_identifier(" (a platform target)")
    try:
        target_named(name)
    except ValueError as error:
        parser.raise_error(str(error), pos)
    return name
