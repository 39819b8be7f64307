"""`nki.constant`: a tensor whose elements are known at trace time."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.ir import Attribute, Data
from xdsl.irdl import IRDLOperation, irdl_attr_definition, irdl_op_definition, prop_def, result_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from nkijit.dialects.declare.kinds import OperandKind, Role
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import NkiMemRef, info_of, tile_info

SHOWN_BYTES = 64
"""Data of more bytes than this are compressed in the text."""

MAX_CONSTANT_BYTES = 1 << 28
"""Limit for the decompressed bytes of a constant; applies even if its type gives no size."""


@irdl_attr_definition
class DataAttr(Data[bytes]):
    """Bytes of elements, little-endian and row-major: in hexadecimal, or compressed.

    `#nki.data<"0000803F">`, `#nki.data<zlib "eJxj…">`. The text reads back exactly for every
    data type, NaN included.
    """

    name = "nki.data"

    def print_bytes(self, printer: Printer) -> None:
        """Print the data without the angle brackets."""
        if len(self.data) <= SHOWN_BYTES:
            printer.print_string_literal(self.data.hex().upper())
            return
        printer.print_string("zlib ")
        printer.print_string_literal(base64.b64encode(zlib.compress(self.data, 9)).decode())

    @staticmethod
    def parse_bytes(parser: AttrParser) -> Callable[[int], bytes]:
        """Parse the output of `print_bytes`.

        Returns a function that takes a limit and returns the bytes. The function raises ParseError
        for more bytes than the limit, without decompressing them.
        """
        compressed = parser.parse_optional_keyword("zlib") is not None
        pos = parser.pos
        text = parser.parse_str_literal()

        def decoded(limit: int) -> bytes:
            try:
                return _inflated(text, limit) if compressed else bytes.fromhex(text)
            except (ValueError, binascii.Error, zlib.error) as error:
                parser.raise_error(f"expected the bytes of a constant: {error}", pos)

        return decoded

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> bytes:
        with parser.in_angle_brackets():
            return cls.parse_bytes(parser)(MAX_CONSTANT_BYTES)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_bytes(printer)


def _inflated(text: str, limit: int) -> bytes:
    stream = zlib.decompressobj()
    # At most one byte more than the limit, as a short text can expand to any number of bytes.
    data = stream.decompress(base64.b64decode(text, validate=True), limit + 1)
    if len(data) > limit:
        raise ValueError(f"there are more than {limit}")
    if not stream.eof:
        raise ValueError("the compressed data end too early")
    if stream.unused_data:
        raise ValueError("more follows the compressed data")
    return data


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """A tensor in shared HBM that contains constant data (`nl.shared_constant`); never written."""

    name = "nki.constant"

    data = prop_def(DataAttr)
    result = result_def(OperandKind(Role.read))

    @staticmethod
    def of(data: bytes, memref: NkiMemRef) -> ConstantOp:
        """Create a constant. `data` are its bytes, little-endian and row-major."""
        return ConstantOp.create(result_types=[memref], properties={"data": DataAttr(data)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.data.print_bytes(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        decoded = DataAttr.parse_bytes(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        data: Attribute = DataAttr(decoded(_limit(type)))
        return cls.create(result_types=[type], properties={"data": data}, attributes=attributes)

    def verify_(self) -> None:
        info = info_of(self.result)
        if info.region is not MemoryRegion.shared_hbm:
            raise VerifyException(f"a constant lives in shared HBM, got {self.result.type}")
        if not isinstance(cast(NkiMemRef, self.result.type).layout, NoneAttr):
            raise VerifyException("a constant is contiguous, it has no layout")
        size = info.size * info.dtype.itemsize
        if len(self.data.data) != size:
            raise VerifyException(
                f"expected {numbered(size, 'byte')} for {self.result.type}, got "
                f"{len(self.data.data)}"
            )


def _limit(type: Attribute) -> int:
    """Return the largest legal number of bytes of a constant, from its type.

    An invalid type gets `MAX_CONSTANT_BYTES`; `verify_` reports it later.
    """
    if not isinstance(type, MemRefType):
        return MAX_CONSTANT_BYTES
    try:
        info = tile_info(cast(NkiMemRef, type))
    except ValueError:
        return MAX_CONSTANT_BYTES
    return min(max(0, info.size * info.dtype.itemsize), MAX_CONSTANT_BYTES)
