"""`nki.alloc`: allocations of tensors and tiles, and their rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    DenseArrayBase,
    IntegerType,
    LocationAttr,
    NoneAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.declare.accessors import with_direct_accessors
from nkijit.dialects.declare.creation import created
from nkijit.dialects.declare.kinds import OperandKind, Role
from nkijit.dialects.declare.properties import IntegersKind
from nkijit.dialects.declare.spec import Rule, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.affine import (
    Affine,
    add_inline,
    parse_affine,
    print_attributes,
    varying,
    written,
)
from nkijit.dialects.nki.views import ViewOp
from nkijit.dialects.rule_texts.operands import (
    ADDRESS_CAPACITY,
    ALLOC_ADDRESS,
    ALLOC_PARTITIONS,
    ALLOC_SIZE,
    PSUM_ADDRESS,
)
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import NkiMemRef, TileInfo, info_of

MAX_ADDRESS = 1 << 24
"""The bound of the partition and of the byte of an address.

It is beyond every partition, and small enough for the analyses of bytes.
"""
MASKED = "masked"
"""Name of the attribute of an allocation that a mask leaves partly undefined."""

_ADDRESS = IntegersKind(required=False)


@lru_cache(1 << 14)
def _address_attribute(*address: int) -> DenseArrayBase[IntegerType]:
    """Return an address as an attribute; tiles of a large kernel share few thousand addresses."""
    return DenseArrayBase.from_list(i64, address)


@with_direct_accessors
@irdl_op_definition
class AllocOp(IRDLOperation):
    """Allocate a tile or an HBM tensor (`nl.ndarray`). Its contents are undefined.

    `name` is the user's `name=`; `address` is a fixed `[partition, byte]` address. The attribute
    `masked` is set when an instruction with a mask (classic API) writes only part of it.
    """

    name = "nki.alloc"

    tensor_name = opt_prop_def(StringAttr, prop_name="name")
    address = opt_prop_def(_ADDRESS)
    result = result_def(OperandKind(Role.write))

    RULES: ClassVar[tuple[Rule, ...]]

    @staticmethod
    def of(
        memref: NkiMemRef,
        name: str | None = None,
        address: Sequence[int] | None = None,
        location: LocationAttr = UNKNOWN_LOC,
    ) -> AllocOp:
        """Create an allocation; `address` is (partition, byte in the partition)."""
        properties: dict[str, Attribute] = {}
        if name is not None:
            properties["name"] = StringAttr(name)
        if address is not None:
            properties["address"] = _address_attribute(*address)
        return created(AllocOp, (), (memref,), properties, location)

    @property
    def masked(self) -> bool:
        """True when a mask intentionally leaves elements of the tile undefined."""
        return MASKED in self.attributes

    @property
    def fixed_address(self) -> tuple[int, int] | None:
        """The (partition, byte) that the user fixed as the address; None if the user set none."""
        address = self.properties.get("address")
        return None if address is None else cast(tuple[int, int], _ADDRESS.decode(address))

    def print(self, printer: Printer) -> None:
        if self.tensor_name is not None:
            printer.print_string(" name=")
            printer.print_string_literal(self.tensor_name.data)
        if self.address is not None:
            address = varying(self).get("address", _ADDRESS.decode(self.address))
            printer.print_string(f" address={written(address)}")
        print_attributes(printer, self, ("address",))
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> AllocOp:
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("name"):
            parser.parse_punctuation("=")
            properties["name"] = StringAttr(parser.parse_str_literal())
        inline: dict[str, tuple[Affine, ...]] = {}
        if parser.parse_optional_keyword("address"):
            parser.parse_punctuation("=")
            address = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parse_affine(parser)
            )
            inline["address"] = tuple(address)
            numbers = [number.constant for number in address]
            properties["address"] = DenseArrayBase.from_list(i64, numbers)
        attributes = add_inline(parser.parse_optional_attr_dict(), inline)
        parser.parse_punctuation(":")
        memref = parser.parse_type()
        return cls.create(result_types=[memref], properties=properties, attributes=attributes)

    def verify_(self) -> None:
        if not isinstance(cast(NkiMemRef, self.result.type).layout, NoneAttr):
            raise VerifyException("an allocation is contiguous, it has no layout")
        shape = cast(NkiMemRef, self.result.type).get_shape()
        if not shape or min(shape) < 1:
            raise VerifyException(f"expected positive dimensions, got {self.result.type}")
        address = () if self.address is None else IntegersKind().decode(self.address)
        if self.address is not None and (len(address) != 2 or min(address) < 0):
            raise VerifyException(f"expected an address of two numbers from 0 on, got {address}")
        if address and max(address) >= MAX_ADDRESS:
            raise VerifyException(f"expected an address below {MAX_ADDRESS}, got {address}")


def _alloc_partitions(op: AllocOp, target: Target) -> Violation | None:
    info = info_of(op.result)
    if not info.region.on_chip or info.partitions <= target.pmax:
        return None
    return Violation(
        f"a tile in {info.region.value} has at most {target.pmax} partitions, "
        f"this one has {info.partitions}",
        ("result",),
        _fewer_partitions(info, target.pmax),
    )


def _fewer_partitions(info: TileInfo, most: int) -> str | None:
    """Return the help for a tile with too many partitions; None if the rule's own help applies."""
    rows, free = info.partitions, info.shape[1:]
    if prod(free) == 1:
        column = f", or ({most}, {rows // most}) in rows" if rows % most == 0 else ""
        return (
            f"give a row of {numbered(rows, 'element')} the shape (1, {rows}){column}: dim 0 is "
            "partitions"
        )
    if rows % most:
        return None
    count = rows // most
    shape = ", ".join(map(str, (most, count, *free)))
    return (
        f"loop over {numbered(count, 'tile')} of {numbered(most, 'row')}; or allocate ({shape}), "
        "and let a "
        "tile have "
        f"{numbered(count, 'row')} in each partition"
    )


def _partition_bytes(region: MemoryRegion, target: Target) -> int:
    if region is MemoryRegion.sbuf:
        return target.sbuf_usable_bytes
    return target.psum_partition_bytes


def _alloc_size(op: AllocOp, target: Target) -> Violation | None:
    info = info_of(op.result)
    if not info.region.on_chip:
        return None
    limit = _partition_bytes(info.region, target)
    needed = info.partition_bytes
    if needed <= limit:
        return None
    return Violation(
        f"a partition of {info.region.value} holds {limit} bytes on {target.platform}, "
        f"this tile needs {needed}",
        ("result",),
    )


def _alloc_address(op: AllocOp, target: Target) -> Violation | None:
    address, info = op.fixed_address, info_of(op.result)
    if address is None:
        return None
    if not info.region.on_chip:
        return Violation(
            f"a tensor in {info.region.value} has no fixed address",
            ("result",),
            "leave address= out, or allocate the tile with buffer=nl.sbuf",
        )
    partition, byte = address
    if partition + info.partitions <= target.pmax:
        return None
    return Violation(
        f"at address ({partition}, {byte}) the tile reaches partition "
        f"{partition + info.partitions} of {target.pmax}",
        ("result",),
        None
        if info.partitions > target.pmax
        else f"write address=({target.pmax - info.partitions}, {byte}) or a smaller partition",
    )


def _address_capacity(op: AllocOp, target: Target) -> Violation | None:
    address, info = op.fixed_address, info_of(op.result)
    if address is None or not info.region.on_chip:
        return None
    partition, byte = address
    limit = _partition_bytes(info.region, target)
    if byte + info.partition_bytes <= limit:
        return None
    return Violation(
        f"at address ({partition}, {byte}) the tile reaches byte {byte + info.partition_bytes} of "
        f"{limit}",
        ("result",),
        None
        if info.partition_bytes > limit
        else f"begin at byte {limit - info.partition_bytes} or before, or leave address= out",
    )


def _psum_address(op: AllocOp, target: Target) -> Violation | None:
    address = op.fixed_address
    if address is None or info_of(op.result).region is not MemoryRegion.psum:
        return None
    bank, byte = divmod(address[1], target.psum_bank_bytes)
    if byte == 0:
        return None
    start = address[1] - byte
    return Violation(
        f"the tile is at byte {byte} of PSUM bank {bank}",
        ("result",),
        f"begin at a bank, e.g. address=({address[0]}, {start}); a bank has "
        f"{numbered(target.psum_bank_bytes, 'byte')} (nl.tile_size.psum_bank_fmax_bytes)",
    )


AllocOp.RULES = (
    Rule(ALLOC_PARTITIONS, _alloc_partitions),
    Rule(ALLOC_SIZE, _alloc_size),
    Rule(ALLOC_ADDRESS, _alloc_address, by_offset=True),
    Rule(ADDRESS_CAPACITY, _address_capacity, by_offset=True),
    Rule(PSUM_ADDRESS, _psum_address, by_offset=True),
)


DECLARATIONS = (AllocOp, ViewOp)
"""Operations that do nothing at run time. A kernel has about as many of them as instructions."""
