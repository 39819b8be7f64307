"""The `engine` dialect: a kernel as instruction queues of one core.

    engine.program @softmax(%x: memref<...>) target=trn3 scheduled {
      %tile = nki.alloc address=[0, 0] : memref<128x512xf32, #nki.sbuf>
      %max = nki.alloc address=[0, 2048] : memref<128x1xf32, #nki.sbuf>
      engine.queue sync {
        engine.trigger 0 of 1
      }
      engine.queue dma_load {
        engine.issue 1 signal=1 do nisa.dma_copy dst=%tile, src=%x
      }
      engine.queue vector {
        engine.issue 2 wait=[dma_load>=1 true data] do nisa.tensor_reduce dst=%max, ...
      }
      nki.return %out
    }

An engine, or a DMA ring, runs the instructions of its queue in order. Instructions are numbered in
program order over all queues. An NKI instruction can become several engine instructions. The last
one (`engine.issue`) contains the NKI instruction; the others (a DMA's trigger, the load of a table,
further stages and parts) refer to the last one by number. A loop is in every queue that has
instructions of its body, each time with a separate induction variable.

Each queue counts signals, and waits compare these counts. Before scheduling, `after` lists the
predecessors of an instruction. After scheduling, `wait` lists queues, each with the count that it
must have reached in the same block, and `signal` is the count of the instruction's own queue when
the instruction has ended. `previous` refers to the previous iteration of the loop. `after` and
`wait` end with their reason: a kind of dependence and an operand. When a loop waits, `of` is the
number of the instruction inside the loop that has the operand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, StringAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.declare.kinds import parse_defined_operand
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.engine.attributes import (
    EdgeAttr,
    Predecessor,
    QueueAttr,
    Semaphore,
    WaitAttr,
    parse_int,
)
from nkijit.dialects.engine.queues import Queue
from nkijit.dialects.nki.kernel import DevicePrintOp
from nkijit.dialects.nki.loops import verify_step
from nkijit.dialects.nki.views import index_of
from nkijit.dialects.register_type import RegisterType


def _parse_number(parser: AttrParser) -> IntegerAttr[IntegerType]:
    return _number_attr(parse_int(parser))


def _parse_optional(parser: Parser, parsed: Parsed, word: str) -> None:
    """Parse `word=number` if the next keyword is `word`."""
    if parser.parse_optional_keyword(word):
        parser.parse_punctuation("=")
        parsed.properties[word] = _parse_number(parser)


def _number_attr(value: int) -> IntegerAttr[IntegerType]:
    return IntegerAttr(value, i64)


def _number(attr: IntegerAttr | None) -> int | None:
    return None if attr is None else attr.value.data


# ------------------------------------------------------------------ items of a queue


@dataclass
class Parsed:
    """The parsed parts of an operation."""

    properties: dict[str, Attribute]
    operands: list[SSAValue] = field(default_factory=list[SSAValue])
    regions: list[Region] = field(default_factory=list[Region])
    arguments: list[Parser.Argument] = field(default_factory=list[Parser.Argument])
    """The arguments of the block in the operation's body."""


class ItemOp(IRDLOperation, ABC):
    """An item of a queue: an instruction or a loop, with its number."""

    number_attr = prop_def(IntegerAttr, prop_name="number")
    edges_attr = opt_prop_def(ArrayAttr[EdgeAttr], prop_name="after")
    waits_attr = opt_prop_def(ArrayAttr[WaitAttr], prop_name="wait")
    signal_attr = opt_prop_def(IntegerAttr, prop_name="signal")

    @property
    def number(self) -> int:
        """The position of an instruction in program order, or a loop's number among the loops."""
        return self.number_attr.value.data

    @property
    def edges(self) -> Sequence[Predecessor]:
        """The predecessors that the item must wait for, before scheduling."""
        return [attr.data for attr in self.edges_attr or ()]

    @property
    def waits(self) -> Sequence[Semaphore]:
        """The semaphores that the item waits for, after scheduling."""
        return [attr.data for attr in self.waits_attr or ()]

    @property
    def signal(self) -> int:
        """The count of the item's queue when the item has ended; 0 if the item does not signal."""
        return _number(self.signal_attr) or 0

    @property
    def queue(self) -> Queue:
        """The queue that contains the item."""
        parent = self.parent_op()
        while not isinstance(parent, QueueOp):
            assert parent is not None, "an item stands in a queue"
            parent = parent.parent_op()
        return parent.queue

    def synchronise(
        self,
        edges: Sequence[Predecessor] = (),
        waits: Sequence[Semaphore] = (),
        signal: int = 0,
    ) -> None:
        """Set the edges, waits and signal of the item."""
        if edges:
            self.properties["after"] = ArrayAttr(map(EdgeAttr, edges))
        if waits:
            self.properties["wait"] = ArrayAttr(map(WaitAttr, waits))
        if signal:
            self.properties["signal"] = _number_attr(signal)

    @abstractmethod
    def print_own(self, printer: Printer) -> None:
        """Print the text of the item between its number and its waits."""

    @classmethod
    @abstractmethod
    def parse_own(cls, parser: Parser, parsed: Parsed) -> None:
        """Parse the text of an item between its number and its waits."""

    def print_body(self, printer: Printer) -> None:
        """Print the text of the item after its waits and signal."""

    @classmethod
    def parse_body(cls, parser: Parser, parsed: Parsed) -> None:
        """Parse the text of an item after its waits and signal."""

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.number}")
        self.print_own(printer)
        for word, attrs in (("after", self.edges_attr), ("wait", self.waits_attr)):
            if attrs is not None:
                printer.print_string(f" {word}=")
                with printer.in_square_brackets():
                    printer.print_list(attrs, lambda attr: attr.print_text(printer))
        if self.signal_attr is not None:
            printer.print_string(f" signal={self.signal}")
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        self.print_body(printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parsed = Parsed({"number": _parse_number(parser)})
        cls.parse_own(parser, parsed)
        square = parser.Delimiter.SQUARE
        for word, kind in (("after", EdgeAttr), ("wait", WaitAttr)):
            if parser.parse_optional_keyword(word):
                parser.parse_punctuation("=")
                given = parser.parse_comma_separated_list(square, partial(kind.parse_text, parser))
                parsed.properties[word] = ArrayAttr(given)
        _parse_optional(parser, parsed, "signal")
        attributes = parser.parse_optional_attr_dict_with_keyword()
        cls.parse_body(parser, parsed)
        return cls.create(
            operands=parsed.operands,
            properties=parsed.properties,
            attributes={} if attributes is None else attributes.data,
            regions=parsed.regions,
        )


@irdl_op_definition
class IssueOp(ItemOp):
    """The queue item with an NKI instruction; the instruction's other stages refer to it by number.

    It is the last stage that always runs or, if that stage has several parts, the last part.
    `weights` is the number of the instruction that loads the stationary tile of a matrix
    multiplication. Instructions with the same `no_reorder` keep their order.
    """

    name = "engine.issue"

    weights_attr = opt_prop_def(IntegerAttr, prop_name="weights")
    group_attr = opt_prop_def(IntegerAttr, prop_name="no_reorder")
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    @staticmethod
    def of(
        number: int, payload: Operation, weights: int | None = None, group: int | None = None
    ) -> IssueOp:
        properties: dict[str, Attribute] = {"number": _number_attr(number)}
        if weights is not None:
            properties["weights"] = _number_attr(weights)
        if group is not None:
            properties["no_reorder"] = _number_attr(group)
        return IssueOp.create(properties=properties, regions=[Region(Block([payload]))])

    @property
    def payload(self) -> Operation:
        """The NKI instruction, or the `nki.device_print`, that is run."""
        op = self.body.block.first_op
        assert op is not None, "an instruction is issued"
        return op

    @property
    def weights(self) -> int | None:
        """For a multiplication, the number of the instruction that loads its stationary tile."""
        return _number(self.weights_attr)

    @property
    def group(self) -> int | None:
        """The number of the `nl.no_reorder` region around the instruction; None without one."""
        return _number(self.group_attr)

    def print_own(self, printer: Printer) -> None:
        if self.weights is not None:
            printer.print_string(f" weights={self.weights}")
        if self.group is not None:
            printer.print_string(f" no_reorder={self.group}")

    @classmethod
    def parse_own(cls, parser: Parser, parsed: Parsed) -> None:
        _parse_optional(parser, parsed, "weights")
        _parse_optional(parser, parsed, "no_reorder")

    def print_body(self, printer: Printer) -> None:
        printer.print_string(" do ")
        printer.print_op(self.payload)

    @classmethod
    def parse_body(cls, parser: Parser, parsed: Parsed) -> None:
        parser.parse_keyword("do")
        parsed.regions.append(Region(Block([parser.parse_operation()])))

    def verify_(self) -> None:
        ops = list(self.body.block.ops)
        if len(ops) != 1 or not (is_instruction(ops[0]) or isinstance(ops[0], DevicePrintOp)):
            names = ", ".join(op.name for op in ops) or "nothing"
            raise VerifyException(f"expected one instruction to issue, got {names}")


class PartOp(ItemOp):
    """An instruction that belongs to an `engine.issue` or to a loop."""

    of_attr = prop_def(IntegerAttr, prop_name="of")

    @property
    def of_number(self) -> int:
        """The number of the `engine.issue` or loop that the instruction belongs to."""
        return self.of_attr.value.data


@irdl_op_definition
class StageOp(PartOp):
    """A further stage of an NKI instruction, or a further part of a stage, with a mnemonic."""

    name = "engine.stage"

    mnemonic_attr = prop_def(StringAttr, prop_name="mnemonic")
    part_attr = opt_prop_def(IntegerAttr, prop_name="part")

    @staticmethod
    def of(number: int, mnemonic: str, of: int, part: int | None = None) -> StageOp:
        properties: dict[str, Attribute] = {
            "number": _number_attr(number),
            "of": _number_attr(of),
            "mnemonic": StringAttr(mnemonic),
        }
        if part is not None:
            properties["part"] = _number_attr(part)
        return StageOp.create(properties=properties)

    @property
    def mnemonic(self) -> str:
        """The mnemonic of the stage."""
        return self.mnemonic_attr.data

    @property
    def part(self) -> int:
        """The index of this part among the equal parts of the stage's work, from 0."""
        return _number(self.part_attr) or 0

    def print_own(self, printer: Printer) -> None:
        printer.print_string(f" {self.mnemonic} of {self.of_number}")
        if self.part_attr is not None:
            printer.print_string(f" part={self.part}")

    @classmethod
    def parse_own(cls, parser: Parser, parsed: Parsed) -> None:
        mnemonic = parser.parse_identifier(" (a mnemonic)")
        parsed.properties["mnemonic"] = StringAttr(mnemonic)
        parser.parse_keyword("of")
        parsed.properties["of"] = _parse_number(parser)
        _parse_optional(parser, parsed, "part")


@irdl_op_definition
class TriggerOp(PartOp):
    """Start a DMA. The DMA itself is an `engine.issue` in the queue of a ring."""

    name = "engine.trigger"

    @staticmethod
    def of(number: int, of: int) -> TriggerOp:
        return TriggerOp.create(properties={"number": _number_attr(number), "of": _number_attr(of)})

    def print_own(self, printer: Printer) -> None:
        printer.print_string(f" of {self.of_number}")

    @classmethod
    def parse_own(cls, parser: Parser, parsed: Parsed) -> None:
        parser.parse_keyword("of")
        parsed.properties["of"] = _parse_number(parser)


@irdl_op_definition
class LoadTableOp(PartOp):
    """Load the table of an activation function for an issued instruction."""

    name = "engine.load_table"

    table_attr = prop_def(StringAttr, prop_name="table")

    @staticmethod
    def of(number: int, table: str, of: int) -> LoadTableOp:
        return LoadTableOp.create(
            properties={
                "number": _number_attr(number),
                "of": _number_attr(of),
                "table": StringAttr(table),
            }
        )

    @property
    def table(self) -> str:
        """The name of the table."""
        return self.table_attr.data

    def print_own(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.table)
        printer.print_string(f" of {self.of_number}")

    @classmethod
    def parse_own(cls, parser: Parser, parsed: Parsed) -> None:
        parsed.properties["table"] = StringAttr(parser.parse_str_literal())
        parser.parse_keyword("of")
        parsed.properties["of"] = _parse_number(parser)


@irdl_op_definition
class TestOp(PartOp):
    """Read the registers that control a loop: its bounds, or the operands of its condition.

    The test precedes a counted loop. In a loop that runs while two numbers differ, the test is in
    the body.
    """

    name = "engine.test"

    @staticmethod
    def of(number: int, loop: int) -> TestOp:
        return TestOp.create(properties={"number": _number_attr(number), "of": _number_attr(loop)})

    def print_own(self, printer: Printer) -> None:
        printer.print_string(f" of loop {self.of_number}")

    @classmethod
    def parse_own(cls, parser: Parser, parsed: Parsed) -> None:
        parser.parse_keyword("of")
        parser.parse_keyword("loop")
        parsed.properties["of"] = _parse_number(parser)


# ------------------------------------------------------------------ loops


class AnyLoopOp(ItemOp):
    """A loop in one queue. Equal numbers in several queues mean the same loop of the kernel."""

    body = region_def("single_block")

    def print_body(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    @classmethod
    def parse_body(cls, parser: Parser, parsed: Parsed) -> None:
        parsed.regions.append(parser.parse_region(parsed.arguments))

    def verify_(self) -> None:
        for value in self.operands:
            if value.type != i32 and not isinstance(value.type, RegisterType):
                raise VerifyException(f"expected an i32 or a register, got {value.type}")


@irdl_op_definition
class LoopOp(AnyLoopOp):
    """A loop that counts. An `engine.test` before it reads the registers among its bounds."""

    name = "engine.loop"

    lower = operand_def(AnyAttr())
    upper = operand_def(AnyAttr())
    step = operand_def(AnyAttr())

    traits = traits_def(NoTerminator())

    @staticmethod
    def of(number: int, bounds: Sequence[SSAValue]) -> LoopOp:
        return LoopOp.create(
            operands=bounds,
            properties={"number": _number_attr(number)},
            regions=[Region(Block(arg_types=[i32]))],
        )

    @property
    def variable(self) -> SSAValue:
        """The induction variable."""
        return self.body.block.args[0]

    def print_own(self, printer: Printer) -> None:
        for word, value in zip(
            ("", " = ", " to ", " step "), (self.variable, *self.operands), strict=True
        ):
            printer.print_string(word or " ")
            printer.print_ssa_value(value)

    @classmethod
    def parse_own(cls, parser: Parser, parsed: Parsed) -> None:
        variable = parser.parse_argument(expect_type=False)
        parsed.arguments.append(parser.Argument(variable.name, i32))
        parser.parse_punctuation("=")
        parsed.operands.append(parse_defined_operand(parser))
        for word in ("to", "step"):
            parser.parse_keyword(word)
            parsed.operands.append(parse_defined_operand(parser))

    def verify_(self) -> None:
        super().verify_()
        if [arg.type for arg in self.body.block.args] != [i32]:
            raise VerifyException("expected one induction variable of type i32")
        verify_step(self.step)


@irdl_op_definition
class WhileOp(AnyLoopOp):
    """A loop that runs while two numbers differ. Its `engine.test` reads these numbers."""

    name = "engine.while"

    left = operand_def(AnyAttr())
    right = operand_def(AnyAttr())

    traits = traits_def(NoTerminator())

    @staticmethod
    def of(number: int, left: SSAValue, right: SSAValue) -> WhileOp:
        return WhileOp.create(
            operands=(left, right),
            properties={"number": _number_attr(number)},
            regions=[Region(Block())],
        )

    def print_own(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.left)
        printer.print_string(" ne ")
        printer.print_ssa_value(self.right)

    @classmethod
    def parse_own(cls, parser: Parser, parsed: Parsed) -> None:
        parsed.operands.append(parse_defined_operand(parser))
        parser.parse_keyword("ne")
        parsed.operands.append(parse_defined_operand(parser))


# ------------------------------------------------------------------ queues and programs


@irdl_op_definition
class QueueOp(IRDLOperation):
    """The instructions that an engine, or a DMA ring, runs in order."""

    name = "engine.queue"

    queue_attr = prop_def(QueueAttr, prop_name="queue")
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    @staticmethod
    def of(queue: Queue) -> QueueOp:
        properties = {"queue": QueueAttr.of(queue)}
        return QueueOp.create(properties=properties, regions=[Region(Block())])

    @property
    def queue(self) -> Queue:
        """The engine or DMA ring that runs the instructions."""
        return self.queue_attr.data

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.queue.name} ")
        printer.print_region(self.body)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> QueueOp:
        queue = QueueAttr.of(QueueAttr.parse_word(parser))
        op = cls.create(properties={"queue": queue}, regions=[parser.parse_region()])
        op.attributes.update(parser.parse_optional_attr_dict())
        return op


def named_values(op: Operation) -> dict[str, SSAValue]:
    """Return the values that can be the reason for a wait: operands, their indices, loop bounds.

    Keys are operand names. The values of a list are numbered: `srcs.0`; the index of `src` is
    `src.index`.
    """
    found: dict[str, SSAValue] = {}
    for name, value in _operands(op):
        found[name] = value
        index = index_of(value)
        if index is not None:
            found[f"{name}.index"] = index
    return found


def _operands(op: Operation) -> Iterator[tuple[str, SSAValue]]:
    if isinstance(op, DevicePrintOp):
        yield "tensor", op.tensor
    elif isinstance(op, LoopOp):
        yield from zip(("lower", "upper", "step"), op.operands, strict=True)
    elif isinstance(op, WhileOp):
        yield from zip(("left", "right"), op.operands, strict=True)
    elif is_instruction(op):
        for f in op.SPEC.operand_fields:
            values = op.operands_named(f.name)
            for number, value in enumerate(values):
                yield f"{f.name}.{number}" if f.variadic else f.name, value
