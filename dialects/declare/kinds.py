"""Kinds of fields: xDSL constraints that also encode and decode the values of arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from xdsl.dialects.builtin import Float32Type, MemRefType, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrConstraint, VerificationContext
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import MemorySpaceAttr
from nkijit.dialects.dtypes import dtype_of_type
from nkijit.dialects.operators import OPERATORS
from nkijit.dialects.other_names import operator_meant
from nkijit.dialects.python_values import described
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.tiles import MAX_RANK

f32 = Float32Type()


class ArgumentError(ValueError):
    """An argument's value is illegal for its field. The message names expected and actual value."""


class Role(Enum):
    """How an instruction accesses an operand."""

    read = "read"
    write = "write"
    update = "update"
    """The instruction reads and writes the operand: the result depends on its previous contents."""


@dataclass(frozen=True)
class OperandKind(AttrConstraint):
    """The type of operand that a field takes: a tile, a scalar, a register or a list of tiles."""

    role: Role
    accepts_scalar: bool = False
    required: bool = True
    default: float | None = None
    """The value of an optional operand that is omitted; None if it has no default."""
    accepts_tile: bool = True
    accepts_register: bool = False
    variadic: bool = False
    """True for an operand that is a list of any number of tiles."""
    indirections: tuple[Indirection, ...] = ()
    """The documented kinds of run-time addresses; `scalar` is always possible as well."""
    partial: bool = False
    """True when arguments or data decide which elements the instruction touches."""
    inside_quadrants: bool = False
    """True for a tile that may start inside a quadrant, not only at its first partition."""
    any_order: bool = False
    """True when the operand's elements are read in another order than the results are written."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if isinstance(attr, MemRefType) and self.accepts_tile:
            space = cast(MemRefType[Attribute], attr).memory_space
            if not isinstance(space, MemorySpaceAttr):
                raise VerifyException(f"expected a memory space of NKI, got {attr}")
            if dtype_of_type(cast(MemRefType[Attribute], attr).element_type) is None:
                raise VerifyException(f"expected an element type of NKI, got {attr}")
            rank = cast(MemRefType[Attribute], attr).get_num_dims()
            if rank > MAX_RANK:
                raise VerifyException(f"a tensor has at most {MAX_RANK} dimensions, not {rank}")
            return
        if self.accepts_register:
            # An i32 is a number or an induction variable: read-only.
            if isinstance(attr, RegisterType) or (attr == i32 and self.role is Role.read):
                return
        elif self.accepts_scalar and attr in (f32, i32, i64):
            return
        numbers = ["i32"] if self.accepts_register else ["f32", "i32", "i64"]
        expected = [
            *(["a memref"] if self.accepts_tile else []),
            *(numbers if self.accepts_scalar else []),
            *(["a register"] if self.accepts_register else []),
        ]
        raise VerifyException(f"expected {_either(expected)}, got {attr}")

    def mapping_type_vars(self, type_var_mapping: Any) -> AttrConstraint:
        return self

    @property
    def expected(self) -> str:
        """The values that the API accepts, in words, for messages."""
        if self.variadic:
            return "a list of tiles"
        number = "an int32" if self.accepts_register else "a number"
        accepted = [
            *(["a tile"] if self.accepts_tile else []),
            *([number] if self.accepts_scalar else []),
            *(["a register"] if self.accepts_register else []),
        ]
        return _either(accepted)


def _either(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


@dataclass(frozen=True)
class PropertyKind(AttrConstraint, ABC):
    """The type of a compile-time argument: converts between Python value, attribute and text."""

    required: bool = True
    default: Any = None

    @property
    @abstractmethod
    def expected(self) -> str:
        """The values that the API accepts, in words, for messages."""

    @abstractmethod
    def encode(self, value: Any) -> Attribute:
        """Return the attribute for a Python value. Raises ArgumentError if it has none."""

    @abstractmethod
    def decode(self, attr: Attribute) -> Any:
        """Return the Python value of an attribute that `verify` accepts."""

    @abstractmethod
    def source(self, value: Any) -> str:
        """Return a decoded value as Python source: `True`, `0.5`, `nl.add`, `(0, 1)`."""

    @abstractmethod
    def print(self, printer: Printer, attr: Attribute) -> None:
        """Print the attribute in the pretty form."""

    @abstractmethod
    def parse(self, parser: Parser) -> Attribute:
        """Parse the output of `print`."""

    def mapping_type_vars(self, type_var_mapping: Any) -> AttrConstraint:
        return self

    def reject(self, value: Any) -> ArgumentError:
        """Return the error for a value that is not `expected`."""
        return ArgumentError(f"expected {self.expected}, got {described(value)}")


def expect(attr: Attribute, ok: bool, expected: str) -> None:
    """Raise VerifyException unless `ok`; `expected` describes the legal attributes."""
    if not ok:
        raise VerifyException(f"expected {expected}, got {attr}")


def parse_defined_operand(parser: Parser) -> SSAValue:
    """Parse `%name`, without a type, of a value that is defined above."""
    operand = parser.parse_unresolved_operand()
    values = parser.ssa_values.get(operand.operand_name)
    if values is None or operand.index >= len(values):
        parser.raise_error(f"%{operand.operand_name} is not defined above", operand.span)
    return values[operand.index]


def _is_numpy_function(value: Any) -> bool:
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module).partition(".")[0] == "numpy" and isinstance(
        getattr(value, "__name__", None), str
    )


def operator_word(value: Any) -> str | None:
    """Return the name of an nki.language operator or NumPy function in `OPERATORS`, or None."""
    name = getattr(value, "nki_operator", None)
    if name is None and _is_numpy_function(value):
        name = operator_meant(value.__name__, OPERATORS) or value.__name__
    return name
