"""`nki.repeat`: a Python loop of the user's kernel, whose iterations are all in the trace.

A repeat shortens the text of a kernel. It is not a loop on the device, but an abbreviation of its
iterations in sequence. Execution, verification and lowering work on the unrolled kernel (`unroll`).
Inside a repeat, an operation is written as in the first iteration, with numbers that vary
(`nki.affine`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard, cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr
from xdsl.ir import (
    Attribute,
    Block,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.declare.kinds import parse_defined_operand
from nkijit.dialects.nki.affine import VARIES, Affine, AffineAttr, parse_affine, varying
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import is_tile
from nkijit.dialects.walks import operations


@irdl_attr_definition
class TilesType(ParametrizedAttribute, TypeAttribute):
    """A list of tiles from all iterations of a repeat: `!nki.tiles<memref<…>>`.

    The element type is the type of the first tile; other tiles may have other sizes.
    """

    name = "nki.tiles"

    element: Attribute


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Yield the tiles of an iteration that are used after the repeat; ends its body."""

    name = "nki.yield"

    values = var_operand_def(AnyAttr())

    traits = traits_def(IsTerminator())

    @staticmethod
    def of(values: Sequence[SSAValue]) -> YieldOp:
        return YieldOp.create(operands=values)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.values, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> YieldOp:
        values = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, lambda: parse_defined_operand(parser)
        )
        op = cls.of(values)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def verify_(self) -> None:
        if not isinstance(self.parent_op(), RepeatOp):
            raise VerifyException("'nki.yield' ends an nki.repeat")
        if len(set(self.values)) != len(self.values):
            raise VerifyException("a repeat yields a value once")
        for value in self.values:
            kept = is_tile(value) or isinstance(value.type, (RegisterType, TilesType))
            if not kept:
                raise VerifyException(f"expected a tile, a register or a list, got {value.type}")
            # A list from outside would be repeated by each iteration, and grow exponentially.
            if value.owner is self.parent or not isinstance(value.owner, Operation):
                raise VerifyException("a repeat yields what its body makes")
            if value.owner.parent is not self.parent:
                raise VerifyException("a repeat yields what its body makes")


@irdl_op_definition
class RepeatOp(IRDLOperation):
    """Iterations in sequence: `%tiles = nki.repeat m = 0 to 16 { … nki.yield %tile }`.

    `m` is the name of the index, which counts from 0. The end may depend on the indices of
    surrounding repeats (`0 to g+1`). Each result is the list of a yielded value from all
    iterations, in order; yielded lists are concatenated. `nki.element` selects an element.

    The body is written as in the first iteration. Numbers that vary are affine in the indices of
    the surrounding repeats: offsets of views and addresses are written in place
    (`offset=m*512+64`), scalar operands are `nki.number`, and all other numbers are in the
    attribute `varies` (`VariesAttr`). Unrolling creates equal views of a block and of its
    surrounding blocks only once.
    """

    name = "nki.repeat"

    index = prop_def(StringAttr)
    end = prop_def(AffineAttr)
    body = region_def("single_block")
    lists = var_result_def(TilesType)

    traits = traits_def(NoTerminator())

    @staticmethod
    def of(index: str, end: Affine, body: Block) -> RepeatOp:
        """Create a repeat with a body; the results are the values of the `nki.yield`, if any."""
        last = body.last_op
        values = last.values if isinstance(last, YieldOp) else ()
        return RepeatOp.create(
            properties={"index": StringAttr(index), "end": AffineAttr(end)},
            regions=[Region(body)],
            result_types=[list_type(value) for value in values],
        )

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The values that each iteration adds to the results."""
        last = self.body.block.last_op
        return last.values if isinstance(last, YieldOp) else ()

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.index.data} = 0 to {self.end.data} ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> RepeatOp:
        index = parser.parse_identifier(" (the name of an index)")
        parser.parse_punctuation("=")
        pos = parser.pos
        if parser.parse_integer(allow_boolean=False) != 0:
            parser.raise_error("an index counts from 0", pos)
        parser.parse_keyword("to")
        end = parse_affine(parser)
        region = parser.parse_region([])
        block = region.blocks.first
        if block is None:
            block = Block()
            region.add_block(block)
        region.detach_block(block)
        op = cls.of(index, end, block)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def verify_(self) -> None:
        around = [repeat.index.data for repeat in repeats_around(self)]
        if self.index.data in around:
            raise VerifyException(
                f"the repeat is inside of another one with index {self.index.data}"
            )
        _verify_indices(self, self.end.data, around)
        expected = [list_type(value) for value in self.yielded]
        if [*self.result_types] != expected:
            raise VerifyException("the results are not the lists of what the body yields")
        within = [*around, self.index.data]
        for op in self.body.block.ops:
            for numbers in varying(op).values():
                for number in numbers:
                    _verify_indices(op, number, within)


@irdl_op_definition
class ElementOp(IRDLOperation):
    """Select an element of a list: `%q = nki.element %q_tiles[m+1]`.

    Several lists and tiles are concatenated: `nki.element %first, %others[m]`.
    """

    name = "nki.element"

    lists = var_operand_def(AnyAttr())
    position = prop_def(AffineAttr)
    result = result_def(AnyAttr())

    @staticmethod
    def of(lists: Sequence[SSAValue], position: Affine, kind: Attribute | None = None) -> ElementOp:
        """Create a selection. `kind` is the element's type in the first iteration.

        By default, this is the type of element 0.
        """
        return ElementOp.create(
            operands=lists,
            properties={"position": AffineAttr(position)},
            result_types=(element_type(lists[0]) if kind is None else kind,),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.lists, printer.print_ssa_value)
        printer.print_string(f"[{self.position.data}]")
        if self.result.type != element_type(self.lists[0]):
            printer.print_string(" : ")
            printer.print_attribute(self.result.type)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> ElementOp:
        lists = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, lambda: parse_defined_operand(parser)
        )
        with parser.in_square_brackets():
            position = parse_affine(parser)
        kind = parser.parse_type() if parser.parse_optional_punctuation(":") else None
        op = cls.of(lists, position, kind)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def verify_(self) -> None:
        if not self.lists:
            raise VerifyException("expected a list")
        _verify_indices(self, self.position.data, indices_of(self))


@irdl_op_definition
class NumberOp(IRDLOperation):
    """A scalar operand that varies: `%n = nki.number m*128 : i32`.

    With `unless 0`, iterations in which the number is 0 omit the operand, as tracing does for an
    argument that equals its default.
    """

    name = "nki.number"

    value = prop_def(AffineAttr)
    left_out = opt_prop_def(IntegerAttr)
    """The value for which the operand is omitted, if any."""
    result = result_def(IntegerType)

    @staticmethod
    def of(value: Affine, kind: IntegerType, left_out: int | None = None) -> NumberOp:
        """Create a number; for the value `left_out`, the operand is omitted."""
        properties: dict[str, Attribute] = {"value": AffineAttr(value)}
        if left_out is not None:
            properties["left_out"] = IntegerAttr(left_out, kind)
        return NumberOp.create(properties=properties, result_types=(kind,))

    @property
    def omitted(self) -> int | None:
        """The value for which the operand is omitted; None if it is never omitted."""
        attr = self.left_out
        return None if attr is None else cast(IntegerAttr[IntegerType], attr).value.data

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.value.data}")
        if self.omitted is not None:
            printer.print_string(f" unless {self.omitted}")
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> NumberOp:
        value = parse_affine(parser)
        left_out = None
        if parser.parse_optional_keyword("unless"):
            left_out = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation(":")
        pos = parser.pos
        kind = parser.parse_type()
        if not _is_integer(kind):
            parser.raise_error(f"expected an integer type, got {kind}", pos)
        op = cls.of(value, kind, left_out)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def verify_(self) -> None:
        _verify_indices(self, self.value.data, indices_of(self))


def _is_integer(kind: Attribute) -> TypeGuard[IntegerType]:
    return isinstance(kind, IntegerType)


def list_type(value: SSAValue) -> TilesType:
    """Return the type of the list of a yielded value; a yielded list keeps its type."""
    return value.type if isinstance(value.type, TilesType) else TilesType(value.type)


def element_type(value: SSAValue) -> Attribute:
    """Return the type of a list's first element; for a value that is no list, the value's type."""
    return value.type.element if isinstance(value.type, TilesType) else value.type


def repeats_around(op: Operation) -> list[RepeatOp]:
    """Return the repeats around an operation, outermost first."""
    found: list[RepeatOp] = []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, RepeatOp):
            found.append(parent)
        parent = parent.parent_op()
    return found[::-1]


def indices_of(op: Operation) -> list[str]:
    """Return the names of the repeat indices that an operation may depend on, outermost first."""
    return [repeat.index.data for repeat in repeats_around(op)]


def is_written_once(op: Operation) -> bool:
    """Return True for an operation that unrolling expands, replaces or changes."""
    return isinstance(op, (RepeatOp, YieldOp, ElementOp, NumberOp)) or VARIES in op.attributes


def has_repeats(op: Operation) -> bool:
    """Return True if unrolling expands, replaces or changes an operation in the regions of `op`."""
    return any(
        is_written_once(inner)
        for region in op.regions
        for block in region.blocks
        for inner in operations(block)
    )


def _verify_indices(op: Operation, number: Affine, known: Sequence[str]) -> None:
    for name, _ in number.terms:
        if name not in known:
            raise VerifyException(f"{op.name} depends on '{name}', which is no index of a repeat")
