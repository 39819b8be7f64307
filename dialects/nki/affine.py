"""Numbers that vary with the iterations of `nki.repeat`: affine expressions of the index.

An operation inside repeats is written as in the first iterations, in which all indices are 0. The
attribute `varies` contains the varying numbers, by the name of the property that contains them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.ir import Attribute, Data, Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

VARIES = "varies"
"""Name of the attribute that holds the varying numbers of an operation."""
TYPE = "type"
"""Key in `VariesAttr` for the numbers in the type of an operation's only result."""
HINT = "hint"
"""Key in `VariesAttr` for the numbers in the name hint of an operation's only result."""


@dataclass(frozen=True, slots=True)
class Affine:
    """An affine expression: a constant plus indices times their steps."""

    constant: int
    terms: tuple[tuple[str, int], ...] = ()
    """(index, step) for each surrounding repeat with a nonzero step, outermost first."""

    @staticmethod
    def of(constant: int, steps: Iterable[tuple[str, int]]) -> Affine:
        """Return the expression with these steps; steps of 0 are dropped.

        Example:
            >>> str(Affine.of(64, [("m", 512), ("k", 0)]))
            'm*512+64'
        """
        return Affine(constant, tuple((name, step) for name, step in steps if step))

    def at(self, indices: Mapping[str, int]) -> int:
        """Return the value for these values of the indices.

        Raises KeyError when an index is missing.
        """
        return self.constant + sum(indices[name] * step for name, step in self.terms)

    def __str__(self) -> str:
        text = ""
        for name, step in self.terms:
            factor = "" if abs(step) == 1 else f"*{abs(step)}"
            text += ("-" if step < 0 else "+" if text else "") + name + factor
        if self.constant or not text:
            text += f"+{self.constant}" if text and self.constant > 0 else str(self.constant)
        return text


def parse_affine(parser: AttrParser) -> Affine:
    """Parse the output of `str`: `m*512+k+64`."""
    constant = 0
    steps: dict[str, int] = {}
    sign = -1 if parser.parse_optional_punctuation("-") else 1
    while True:
        name = parser.parse_optional_identifier()
        if name is None:
            constant += sign * parser.parse_integer(allow_boolean=False, allow_negative=False)
        else:
            step = 1
            if parser.parse_optional_punctuation("*"):
                step = parser.parse_integer(allow_boolean=False, allow_negative=False)
            steps[name] = steps.get(name, 0) + sign * step
        if parser.parse_optional_punctuation("+"):
            sign = 1
        elif parser.parse_optional_punctuation("-"):
            sign = -1
        else:
            return Affine.of(constant, steps.items())


@irdl_attr_definition
class AffineAttr(Data[Affine]):
    """A number that depends on the indices of surrounding repeats: `#nki.affine<m*512+64>`."""

    name = "nki.affine"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Affine:
        with parser.in_angle_brackets():
            return parse_affine(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


Varying = tuple[tuple[str, tuple[Affine, ...]], ...]
"""(name, integers) of each property that varies: the integers of the property in printed order."""


@irdl_attr_definition
class VariesAttr(Data[Varying]):
    """The varying numbers of an operation: `#nki.varies<address = [0, m*2048]>`.

    Maps each property that varies to its integers in printed order; for a string, these are its
    decimal numbers. The key `type` is for the result's type, and `hint` for the result's name. A
    `?` after the name of a property means that iterations omit the property when it has its
    default.
    """

    name = "nki.varies"

    @property
    def by_name(self) -> dict[str, tuple[Affine, ...]]:
        """The integers of each property, by the property's name."""
        return dict(self.data)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Varying:
        square = parser.Delimiter.SQUARE

        def entry() -> tuple[str, tuple[Affine, ...]]:
            name = parser.parse_identifier(" (the name of a property)")
            name += parser.parse_optional_punctuation("?") or ""
            parser.parse_punctuation("=")
            numbers = parser.parse_comma_separated_list(square, lambda: parse_affine(parser))
            return name, tuple(numbers)

        entries = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
        return tuple(entries)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            entries = [f"{name} = {written(numbers)}" for name, numbers in self.data]
            printer.print_string(", ".join(entries))


def written(numbers: Iterable[Affine | int]) -> str:
    """Format a list of numbers: `[0, m*2048]`."""
    return f"[{', '.join(map(str, numbers))}]"


def varying(op: Operation) -> dict[str, tuple[Affine, ...]]:
    """Return the varying numbers of each property of an operation; see `VariesAttr`."""
    attr = op.attributes.get(VARIES)
    return attr.by_name if isinstance(attr, VariesAttr) else {}


def set_varying(op: Operation, numbers: Mapping[str, tuple[Affine, ...]]) -> None:
    """Set or remove the attribute with the varying numbers of an operation."""
    if numbers:
        op.attributes[VARIES] = VariesAttr(tuple(numbers.items()))
    else:
        op.attributes.pop(VARIES, None)


def print_attributes(printer: Printer, op: Operation, inline: tuple[str, ...]) -> None:
    """Print attributes without the varying numbers of properties that are printed inline."""
    attributes = op.attributes
    if VARIES in attributes and any(name in varying(op) for name in inline):
        left = [entry for entry in cast(VariesAttr, attributes[VARIES]).data]
        left = tuple((name, numbers) for name, numbers in left if name not in inline)
        attributes = {name: attr for name, attr in attributes.items() if name != VARIES}
        if left:
            attributes[VARIES] = VariesAttr(left)
    printer.print_op_attributes(attributes)


def add_inline(
    attributes: Mapping[str, Attribute], inline: Mapping[str, tuple[Affine, ...]]
) -> dict[str, Attribute]:
    """Return parsed attributes with the varying numbers of inline properties added.

    Example:
        >>> add_inline({}, {"offset": (Affine(0, (("m", 512),)),)})
        {'varies': VariesAttr(data=(('offset', (Affine(constant=0, terms=(('m', 512),)),)),))}
    """
    result = dict(attributes)
    differing = {name: numbers for name, numbers in inline.items() if any(n.terms for n in numbers)}
    if differing:
        attr = result.get(VARIES)
        differing.update(attr.by_name if isinstance(attr, VariesAttr) else {})
        result[VARIES] = VariesAttr(tuple(differing.items()))
    return result
