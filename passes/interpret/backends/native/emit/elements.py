"""Emits the conversion of elements of each stored data type to float32 and back.

The conversions work on vectors of any number of lanes, and on scalars. Stored values have the same
bits as in `numerics/storage.py`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from nkijit.passes.interpret.backends.native.emit.lanes import F16, F32, I8, I16, I32, I64, Lanes
from nkijit.passes.interpret.backends.native.forms import CONVERTED, size_of
from nkijit.passes.interpret.backends.native.llvm import building
from nkijit.passes.numerics.storage import STORAGE

ir = building()


_FLOATS = {np.dtype(np.float16): F16, np.dtype(np.float32): F32}


def _stored(name: str) -> Any:
    """Return the LLVM type of a stored element: a float that LLVM supports, or bits."""
    held = STORAGE[name]
    return _FLOATS.get(held) or _bits_of(name)


def _bits_of(name: str) -> Any:
    """Return the integer type with the width of a data type."""
    return ir.IntType(8 * size_of(name))


@dataclass(frozen=True)
class Float8:
    """The format of a one-byte float.

    The code after the code of the largest finite number is infinity, and later codes are NaN. The
    exception is e4m3fn, which has only NaN.
    """

    mantissa: int
    """The number of mantissa bits."""
    bias: int
    largest: int
    """The code of the largest finite number."""

    @property
    def beyond(self) -> int:
        """The code of results that are out of range: infinity, or NaN for e4m3fn."""
        return self.largest + 1

    @property
    def shift(self) -> int:
        """The number of mantissa bits of float32 that the format does not have."""
        return 23 - self.mantissa

    @classmethod
    def of(cls, found: Any) -> Float8:
        """Return the format that a `finfo` of ml_dtypes describes."""
        return cls(found.nmant, 1 - found.minexp, int(found.max.view(np.uint8)))


FLOAT8 = {
    name: Float8.of(ml_dtypes.finfo(STORAGE[name]))
    for name in CONVERTED
    if name.startswith("float8")
}


def load_as_float32(lanes: Lanes, name: str, pointer: Any, stride: Any = None) -> Any:
    """Load elements as float32."""
    return _as_float32(lanes, name, lanes.load(pointer, _stored(name), stride))


def load_bits(lanes: Lanes, name: str, pointer: Any, stride: Any = None) -> Any:
    """Load stored elements as unsigned integers of their width."""
    return lanes.load(pointer, _bits_of(name), stride)


def load_integer(lanes: Lanes, name: str, pointer: Any, stride: Any = None) -> Any:
    """Load integers as 64-bit integers."""
    stored = load_bits(lanes, name, pointer, stride)
    wide = lanes.type(I64)
    return lanes.b.zext(stored, wide) if name.startswith("u") else lanes.b.sext(stored, wide)


def store_bits(lanes: Lanes, name: str, value: Any, pointer: Any, stride: Any = None) -> None:
    """Store the low bits of integers."""
    kind = _bits_of(name)
    narrow = value if lanes.element(value) == kind else lanes.b.trunc(value, lanes.type(kind))
    lanes.store(narrow, pointer, kind, stride)


def as_if_stored(lanes: Lanes, name: str, value: Any) -> Any:
    """Return float32 values as they are after storing and loading them in a data type."""
    return _as_float32(lanes, name, _rounded(lanes, name, value))


def _as_float32(lanes: Lanes, name: str, stored: Any) -> Any:
    b, f32 = lanes.b, lanes.type(F32)
    if name in ("float32", "tfloat32"):
        return stored
    if name == "bfloat16":
        wide = b.shl(b.zext(stored, lanes.type(I32)), lanes.constant(I32, 16))
        return b.bitcast(wide, f32)
    if name == "float16":
        return b.fpext(stored, f32)
    if name in FLOAT8:
        return _float8_as_float32(lanes, FLOAT8[name], stored)
    if name == "bool_":
        return b.uitofp(b.icmp_unsigned("!=", stored, lanes.constant(I8, 0)), f32)
    return b.uitofp(stored, f32) if name.startswith("u") else b.sitofp(stored, f32)


def store_float32(lanes: Lanes, name: str, value: Any, pointer: Any, stride: Any = None) -> None:
    """Round float32 once to a data type, and store it."""
    lanes.store(_rounded(lanes, name, value), pointer, _stored(name), stride)


def _rounded(lanes: Lanes, name: str, value: Any) -> Any:
    b = lanes.b
    if name == "float32":
        return value
    if name == "float16":
        return b.fptrunc(value, lanes.type(F16))
    if name == "bool_":
        truth = b.fcmp_unordered("!=", value, lanes.constant(F32, 0.0))
        return b.zext(truth, lanes.type(I8))
    if name in ("bfloat16", "tfloat32"):
        return _round_to_high_bits(lanes, name, value)
    if name in FLOAT8:
        return _to_float8(lanes, FLOAT8[name], value)
    return _to_integer(lanes, name, value)


def _round_to_high_bits(lanes: Lanes, name: str, value: Any) -> Any:
    """Round a float32 to the data type of its high bits (bfloat16), to nearest, ties to even."""
    b = lanes.b
    dropped = 16 if name == "bfloat16" else 13
    bits = lanes.bits(value, I32)
    odd = b.and_(b.lshr(bits, lanes.constant(I32, dropped)), lanes.constant(I32, 1))
    half = lanes.constant(I32, (1 << (dropped - 1)) - 1)
    rounded = b.add(b.add(bits, odd), half)
    nan = b.fcmp_unordered("uno", value, value)
    if name == "bfloat16":
        # ml_dtypes preserves only the sign of a NaN.
        sign = b.and_(bits, lanes.constant(I32, 0x8000_0000))
        quiet = b.or_(sign, lanes.constant(I32, 0x7FC0_0000))
        chosen = b.select(nan, quiet, rounded)
        return b.trunc(b.lshr(chosen, lanes.constant(I32, 16)), lanes.type(I16))
    quiet = b.or_(bits, lanes.constant(I32, 0x40_0000))
    chosen = b.and_(b.select(nan, quiet, rounded), lanes.constant(I32, 0xFFFF_E000))
    return lanes.bits(chosen, F32)


def _to_integer(lanes: Lanes, name: str, value: Any) -> Any:
    """Round a float32 to an integer, to nearest, ties to even, saturating; NaN gives 0."""
    b, signed = lanes.b, not name.startswith("u")
    width = int(name.lstrip("uint"))
    low = -(1 << (width - 1)) if signed else 0
    high = (1 << (width - 1)) - 1 if signed else (1 << width) - 1
    largest = float(high) if width < 32 else float(high + 1 - (1 << (width - 24 - signed)))
    largest = struct.unpack("f", struct.pack("f", largest))[0]
    rounded = lanes.intrinsic("rint", F32, value)
    above = b.fcmp_ordered(">", rounded, lanes.constant(F32, largest))
    below = b.fcmp_ordered("<", rounded, lanes.constant(F32, float(low)))
    nan = b.fcmp_unordered("uno", rounded, rounded)
    clamped = b.select(above, lanes.constant(F32, largest), rounded)
    clamped = b.select(below, lanes.constant(F32, float(low)), clamped)
    clamped = b.select(nan, lanes.constant(F32, 0.0), clamped)
    wide = lanes.type(I32)
    number = b.fptosi(clamped, wide) if signed or width < 32 else b.fptoui(clamped, wide)
    if width == 32:
        return b.select(above, lanes.constant(I32, high), number)
    return b.trunc(number, lanes.type(ir.IntType(width)))


def _float8_as_float32(lanes: Lanes, form: Float8, stored: Any) -> Any:
    """Convert a one-byte float to float32, exactly.

    Exponent and mantissa are shifted to float32's positions, and the difference of the biases is a
    scale factor.
    """
    b = lanes.b
    bits = b.zext(stored, lanes.type(I32))
    magnitude = b.and_(bits, lanes.constant(I32, 0x7F))
    sign = b.shl(b.and_(bits, lanes.constant(I32, 0x80)), lanes.constant(I32, 24))
    placed = lanes.bits(b.shl(magnitude, lanes.constant(I32, form.shift)), F32)
    number = b.fmul(placed, lanes.constant(F32, 2.0 ** (127 - form.bias)))
    infinite = b.icmp_unsigned("==", magnitude, lanes.constant(I32, form.beyond))
    finite = b.icmp_unsigned("<=", magnitude, lanes.constant(I32, form.largest))
    nan = lanes.constant(I32, 0x7FC0_0000)
    infinity = lanes.constant(I32, 0x7F80_0000)
    special = nan if form.beyond == 0x7F else b.select(infinite, infinity, nan)
    found = b.select(finite, lanes.bits(number, I32), special)
    return lanes.bits(b.or_(found, sign), F32)


def _to_float8(lanes: Lanes, form: Float8, value: Any) -> Any:
    """Round a float32 to a one-byte float, to nearest, ties to even.

    For denormal results, an addition drops the lower bits.
    """
    b = lanes.b
    bits = lanes.bits(value, I32)
    magnitude = b.and_(bits, lanes.constant(I32, 0x7FFF_FFFF))
    sign = b.lshr(b.and_(bits, lanes.constant(I32, 0x8000_0000)), lanes.constant(I32, 24))
    odd = b.and_(b.lshr(magnitude, lanes.constant(I32, form.shift)), lanes.constant(I32, 1))
    half = lanes.constant(I32, (1 << (form.shift - 1)) - 1)
    rounded = b.lshr(b.add(b.add(magnitude, odd), half), lanes.constant(I32, form.shift))
    normal = b.sub(rounded, lanes.constant(I32, (127 - form.bias) << form.mantissa))
    # The lowest mantissa bit of this number has the weight of a denormal result's lowest bit.
    adding = 2.0 ** (1 - form.bias - form.mantissa + 23)
    summed = b.fadd(lanes.bits(magnitude, F32), lanes.constant(F32, adding))
    (dropped,) = struct.unpack("I", struct.pack("f", adding))
    denormal = b.sub(lanes.bits(summed, I32), lanes.constant(I32, dropped))
    smallest = lanes.constant(I32, (127 + 1 - form.bias) << 23)
    result = b.select(b.icmp_unsigned("<", magnitude, smallest), denormal, normal)
    above = b.icmp_unsigned(">", magnitude, lanes.constant(I32, 0x7F00_0000))
    large = b.or_(above, b.icmp_signed(">", result, lanes.constant(I32, form.largest)))
    result = b.select(large, lanes.constant(I32, form.beyond), result)
    nan = b.fcmp_unordered("uno", value, value)
    result = b.select(nan, lanes.constant(I32, 0x7F), result)
    return b.trunc(b.or_(result, sign), lanes.type(I8))
