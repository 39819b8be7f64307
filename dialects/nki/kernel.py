"""`nki.kernel` and operations of its body that are not instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i32,
)
from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from nkijit.dialects.core_program import CoreProgram, IllFormedInside
from nkijit.dialects.declare.kinds import OperandKind, Role, parse_defined_operand
from nkijit.dialects.declare.spec import Rule, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.loops import verify_step
from nkijit.dialects.rule_texts.cores import RETURN_SHARED
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import NkiMemRef, info_of
from nkijit.dialects.walks import found_once, operations

_BODY = (
    *("nki.", "nisa.", "ncc.", "arith.constant", "arith.cmpi"),
    *("scf.for", "scf.while", "scf.condition", "scf.yield"),
)
"""Name prefixes of the operations that a kernel may contain; other operations are refused."""
_NOT_EQUAL = 1
"""The predicate of `arith.cmpi ne`, the condition of a loop."""


def _verify_control(op: Operation) -> None:
    """Verify a loop or its condition. Loops carry no values: state is in registers and tensors."""
    if isinstance(op, CmpiOp):
        if cast(IntegerAttr[IntegerType], op.predicate).value.data != _NOT_EQUAL:
            raise VerifyException("expected arith.cmpi with the predicate ne")
    elif isinstance(op, (ForOp, WhileOp)):
        if op.results or op.operands[3 if isinstance(op, ForOp) else 0 :]:
            raise VerifyException(f"expected {op.name} without values that it carries along")
        if isinstance(op, ForOp) and op.lb.type != i32:
            raise VerifyException(f"expected bounds of type i32, got {op.lb.type}")
        if isinstance(op, ForOp):
            verify_step(op.step)


@irdl_op_definition
class KernelOp(CoreProgram):
    """A traced kernel, specialised for shapes, data types, static arguments and a target."""

    name = "nki.kernel"

    classic = opt_prop_def(UnitAttr)
    """Set for kernels of the classic API, whose compiler may change more of the kernel."""

    KEYWORDS: ClassVar[tuple[str, ...]] = ("classic",)

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @property
    def return_op(self) -> ReturnOp:
        """The kernel's terminator; its operands are the results."""
        return cast(ReturnOp, self.body.block.last_op)

    def verify_(self) -> None:
        self.verify_signature()
        for op in self.operations:
            if not op.name.startswith(_BODY) or isinstance(op, KernelOp):
                raise IllFormedInside(f"{op.name} is not an operation of a kernel", op)
            try:
                _verify_control(op)
            except VerifyException as error:
                raise IllFormedInside(str(error), op) from None
        if not isinstance(self.body.block.last_op, ReturnOp):
            raise VerifyException("expected a kernel to end with nki.return")


def cores_of(op: Operation) -> int:
    """The number of cores that the kernel of an operation is launched on."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, CoreProgram):
        parent = parent.parent_op()
    return 1 if parent is None else parent.core[1]


def shared_tensors(kernel: KernelOp) -> list[SSAValue]:
    """Return the tensors that all cores can access: arguments, and allocations in shared HBM."""
    return [*kernel.arguments, *found_once(kernel, _allocated_in_shared_hbm)]


def _allocated_in_shared_hbm(kernel: KernelOp) -> list[SSAValue]:
    return [
        op.result
        for op in kernel.operations
        if type(op) is AllocOp and info_of(op.result).region is MemoryRegion.shared_hbm
    ]


def _return_shared(op: ReturnOp, target: Target) -> Violation | None:
    if cores_of(op) == 1:
        return None
    for index, value in enumerate(op.values):
        region = info_of(value).region
        if region is not MemoryRegion.shared_hbm:
            return Violation(f"result {index} lives in {region.value}", (f"result {index}",))
    return None


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """End a kernel and name its results.

    The result is nothing, one tensor, a tuple `(%a, %b)`, a list `[%a, %b]` or a dict
    `{"a": %a, "b": %b}`.
    """

    name = "nki.return"

    values = var_operand_def(OperandKind(Role.read))
    container = opt_prop_def(StringAttr)
    keys = opt_prop_def(ArrayAttr[StringAttr])

    traits = traits_def(IsTerminator())

    RULES: ClassVar[tuple[Rule, ...]] = (Rule(RETURN_SHARED, _return_shared),)

    @staticmethod
    def of(
        values: Sequence[SSAValue], container: str | None = None, keys: Sequence[str] | None = None
    ) -> ReturnOp:
        """Create a return. `container` is None, "tuple", "list" or "dict"; a dict has `keys`."""
        properties: dict[str, Attribute] = {}
        if container is not None:
            properties["container"] = StringAttr(container)
        if keys is not None:
            properties["keys"] = ArrayAttr([StringAttr(key) for key in keys])
        return ReturnOp.create(operands=values, properties=properties)

    def print(self, printer: Printer) -> None:
        container = None if self.container is None else self.container.data
        printer.print_string(" " if self.values or container else "")
        if container is None:
            printer.print_list(self.values, printer.print_ssa_value)
        elif container == "dict":

            def print_entry(entry: tuple[StringAttr, SSAValue]) -> None:
                printer.print_string_literal(entry[0].data)
                printer.print_string(": ")
                printer.print_ssa_value(entry[1])

            keys = cast(ArrayAttr[StringAttr], self.keys)
            with printer.in_braces():
                printer.print_list(list(zip(keys, self.values, strict=True)), print_entry)
        elif container == "tuple":
            with printer.in_parens():
                printer.print_list(self.values, printer.print_ssa_value)
        else:
            with printer.in_square_brackets():
                printer.print_list(self.values, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes, print_keyword=True)

    @classmethod
    def parse(cls, parser: Parser) -> ReturnOp:
        op = cls._parse_values(parser)
        # After a keyword, as braces alone would be a dict of results.
        attributes = parser.parse_optional_attr_dict_with_keyword()
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    @classmethod
    def _parse_values(cls, parser: Parser) -> ReturnOp:
        delimiter = parser.Delimiter

        def parse_operand() -> SSAValue:
            return parse_defined_operand(parser)

        values = parser.parse_optional_comma_separated_list(delimiter.PAREN, parse_operand)
        if values is not None:
            return cls.of(values, "tuple")
        values = parser.parse_optional_comma_separated_list(delimiter.SQUARE, parse_operand)
        if values is not None:
            return cls.of(values, "list")

        def parse_entry() -> tuple[str, SSAValue]:
            key = parser.parse_str_literal()
            parser.parse_punctuation(":")
            return key, parse_defined_operand(parser)

        entries = parser.parse_optional_comma_separated_list(delimiter.BRACES, parse_entry)
        if entries is not None:
            return cls.of([v for _, v in entries], "dict", [k for k, _ in entries])
        if parser._current_token.kind != MLIRTokenKind.PERCENT_IDENT:  # pyright: ignore[reportPrivateUsage]
            return cls.of([])
        return cls.of([parse_operand()])

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is not None and not isinstance(parent, CoreProgram):
            raise VerifyException("'nki.return' ends a nki.kernel or an engine.program")
        container = None if self.container is None else self.container.data
        if container not in (None, "tuple", "list", "dict"):
            raise VerifyException(f"expected a container tuple, list or dict, got {container}")
        if (container == "dict") != (self.keys is not None):
            raise VerifyException("keys go with a dict, and a dict with keys")
        if self.keys is not None and len(self.keys) != len(self.values):
            raise VerifyException(
                f"expected {numbered(len(self.values), 'key')}, got {len(self.keys)}"
            )
        if container is None and len(self.values) > 1:
            raise VerifyException(f"expected at most one value, got {len(self.values)}")
        for value in self.values:
            if info_of(value).region.on_chip:
                raise VerifyException(f"a kernel returns tensors in HBM, got {value.type}")
            _verify_static(value)


@irdl_op_definition
class NoReorderOp(IRDLOperation):
    """A region of instructions that keep their order (`nl.no_reorder`)."""

    name = "nki.no_reorder"

    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> NoReorderOp:
        op = cls.create(regions=[parser.parse_region()])
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def verify_(self) -> None:
        for op in operations(self.body.block):
            if isinstance(op, (ForOp, WhileOp)):
                raise VerifyException("a loop on the device is not inside nki.no_reorder")


@irdl_op_definition
class DevicePrintOp(IRDLOperation):
    """Print a tensor while the kernel runs (`nl.device_print`)."""

    name = "nki.device_print"

    prefix = prop_def(StringAttr)
    tensor = operand_def(OperandKind(Role.read))

    @staticmethod
    def of(prefix: str, tensor: SSAValue) -> DevicePrintOp:
        return DevicePrintOp.create(operands=(tensor,), properties={"prefix": StringAttr(prefix)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.prefix.data)
        printer.print_string(", ")
        printer.print_ssa_value(self.tensor)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> DevicePrintOp:
        prefix = parser.parse_str_literal()
        parser.parse_punctuation(",")
        op = cls.of(prefix, parse_defined_operand(parser))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def verify_(self) -> None:
        _verify_static(self.tensor)


def _verify_static(value: SSAValue) -> None:
    if info_of(value).indirection is not None:
        raise VerifyException(f"the address of {value.type} is known at run time only")


def kernels_of(module: Operation) -> list[KernelOp]:
    """The kernels of a module, in textual order."""
    return [op for op in module.walk() if isinstance(op, KernelOp)]


def launches(module: Operation) -> list[list[KernelOp]]:
    """Return the kernels of a module, grouped by launch: each list has one kernel per core."""
    found: dict[str, list[KernelOp]] = {}
    for kernel in kernels_of(module):
        found.setdefault(kernel.launch_name, []).append(kernel)
    return list(found.values())


def new_body(argument_types: Sequence[NkiMemRef]) -> tuple[Region, Block]:
    """Create an empty kernel body with arguments of these types."""
    block = Block(arg_types=argument_types)
    return Region(block), block
