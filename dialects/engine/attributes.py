"""Attributes of the `engine` dialect: queues, waits, edges."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from nkijit.dialects.attributes import WordAttr
from nkijit.dialects.effects import DependenceKind
from nkijit.dialects.engine.queues import Queue

# ------------------------------------------------------------------ attributes


@irdl_attr_definition
class QueueAttr(WordAttr[Queue]):
    """A queue of a core."""

    name = "engine.queue"
    ENUM = Queue


QueueAttr.INTERNED = {queue: QueueAttr(queue) for queue in Queue}


class Reason(NamedTuple):
    """The reason for a wait: the type of dependence and the operand, as far as known."""

    kind: DependenceKind | None = None
    operand: str | None = None
    """The operand, as a key of `named_values`; None if unknown."""
    of: int | None = None
    """For a waiting loop, the number of the instruction in the loop that has the operand."""


class Semaphore(NamedTuple):
    """A wait for another queue: the queue's count of signals must have reached a level.

    The count belongs to the block that contains the waiting item.
    """

    queue: Queue
    level: int
    previous: bool
    """True when the wait is for the count of the previous iteration of the loop."""
    reason: Reason


class Predecessor(NamedTuple):
    """An edge from an instruction or loop in the same block that must end first."""

    number: int
    queue: Queue | None
    """The queue of a loop, with `number` as the loop's number; None for an instruction."""
    previous: bool
    """True when the predecessor is in the previous iteration of the loop."""
    reason: Reason


def _print_reason(printer: Printer, reason: Reason) -> None:
    if reason.kind is not None:
        printer.print_string(f" {reason.kind.value}")
    if reason.operand is not None:
        printer.print_string(f" {reason.operand}")
    if reason.of is not None:
        printer.print_string(f" of {reason.of}")


def _parse_reason(parser: AttrParser) -> Reason:
    kind = next((k for k in DependenceKind if parser.parse_optional_keyword(k.value)), None)
    operand = parser.parse_optional_identifier()
    of = parse_int(parser) if operand and parser.parse_optional_keyword("of") else None
    return Reason(kind, operand, of)


def parse_int(parser: AttrParser) -> int:
    return parser.parse_integer(allow_boolean=False, allow_negative=False)


@irdl_attr_definition
class WaitAttr(Data[Semaphore]):
    """A wait: `previous vector>=3 true data`."""

    name = "engine.wait"

    @classmethod
    def parse_text(cls, parser: AttrParser) -> WaitAttr:
        """Parse a wait without its angle brackets."""
        previous = parser.parse_optional_keyword("previous") is not None
        queue = QueueAttr.parse_word(parser)
        parser.parse_punctuation(">")
        parser.parse_punctuation("=")
        level = parse_int(parser)
        return cls(Semaphore(queue, level, previous, _parse_reason(parser)))

    def print_text(self, printer: Printer) -> None:
        """Print the wait without its angle brackets."""
        previous = "previous " if self.data.previous else ""
        printer.print_string(f"{previous}{self.data.queue.name}>={self.data.level}")
        _print_reason(printer, self.data.reason)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Semaphore:
        with parser.in_angle_brackets():
            return cls.parse_text(parser).data

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_text(printer)


@irdl_attr_definition
class EdgeAttr(Data[Predecessor]):
    """An edge: `previous 3 true data`, `loop 0 in vector anti dst`."""

    name = "engine.edge"

    @classmethod
    def parse_text(cls, parser: AttrParser) -> EdgeAttr:
        """Parse an edge without its angle brackets."""
        previous = parser.parse_optional_keyword("previous") is not None
        loop = parser.parse_optional_keyword("loop") is not None
        number, queue = parse_int(parser), None
        if loop:
            parser.parse_keyword("in")
            queue = QueueAttr.parse_word(parser)
        return cls(Predecessor(number, queue, previous, _parse_reason(parser)))

    def print_text(self, printer: Printer) -> None:
        """Print the edge without its angle brackets."""
        number, queue, previous, reason = self.data
        item = str(number) if queue is None else f"loop {number} in {queue.name}"
        printer.print_string(f"{'previous ' if previous else ''}{item}")
        _print_reason(printer, reason)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Predecessor:
        with parser.in_angle_brackets():
            return cls.parse_text(parser).data

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_text(printer)
