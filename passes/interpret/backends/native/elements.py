"""How elements of each stored data type become float32 and back, as LLVM instructions.

All of it works on a vector of any number of lanes, and on a scalar. What is stored is bit for bit
what `interpret/numerics.py` stores.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from nkijit.passes.interpret.backends.native.llvm import building

ir = building()
I1, I8, I16, I32, I64 = (ir.IntType(n) for n in (1, 8, 16, 32, 64))
F16, F32, F64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()
BYTES = ir.PointerType(I8)


@dataclass(frozen=True)
class Lanes:
    """A builder of instructions on so many lanes; 1 is a scalar."""

    b: Any
    count: int

    def type(self, element: Any) -> Any:
        """A vector of an element, or the element."""
        return element if self.count == 1 else ir.VectorType(element, self.count)

    def constant(self, element: Any, value: Any) -> Any:
        """The same value in all lanes."""
        if self.count == 1:
            return ir.Constant(element, value)
        return ir.Constant(self.type(element), [value] * self.count)

    def splat(self, value: Any) -> Any:
        """A scalar in all lanes."""
        if self.count == 1:
            return value
        vector = self.type(value.type)
        one = self.b.insert_element(ir.Constant(vector, ir.Undefined), value, I32(0))
        zeros = ir.Constant(ir.VectorType(I32, self.count), [0] * self.count)
        return self.b.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)

    def intrinsic(self, name: str, element: Any, *operands: Any) -> Any:
        """A function of LLVM of one type, such as 'sqrt'."""
        kind = self.type(element)
        word = {F32: "f32", F64: "f64", F16: "f16"}[element]
        suffix = word if self.count == 1 else f"v{self.count}{word}"
        module, full = self.b.module, f"llvm.{name}.{suffix}"
        function = module.globals.get(full)
        if function is None:
            signature = ir.FunctionType(kind, [kind] * len(operands))
            function = ir.Function(module, signature, full)
        return self.b.call(function, operands)

    def bits(self, value: Any, element: Any) -> Any:
        """The bits of lanes as another element of the same size."""
        return self.b.bitcast(value, self.type(element))

    # ---------------------------------------------------------------- memory

    def load(self, pointer: Any, element: Any, stride: Any = None) -> Any:
        """Elements from an address on, `stride` bytes apart; one after the other if None."""
        b = self.b
        if self.count == 1:
            return b.load(b.bitcast(pointer, ir.PointerType(element)), align=1)
        if stride is None:
            return b.load(b.bitcast(pointer, ir.PointerType(self.type(element))), align=1)
        vector: Any = ir.Constant(self.type(element), ir.Undefined)
        for lane in range(self.count):
            at = b.gep(pointer, [b.mul(stride, I64(lane))])
            one = b.load(b.bitcast(at, ir.PointerType(element)), align=1)
            vector = b.insert_element(vector, one, I32(lane))
        return vector

    def store(self, value: Any, pointer: Any, element: Any, stride: Any = None) -> None:
        """The counterpart of `load`."""
        b = self.b
        if self.count == 1 or stride is None:
            b.store(value, b.bitcast(pointer, ir.PointerType(self.type(element))), align=1)
            return
        for lane in range(self.count):
            at = b.gep(pointer, [b.mul(stride, I64(lane))])
            one = b.extract_element(value, I32(lane))
            b.store(one, b.bitcast(at, ir.PointerType(element)), align=1)

    def table(self, table: Any, index: Any, element: Any) -> Any:
        """Entries of a table by a number for each lane."""
        b = self.b
        pointer = b.bitcast(table, ir.PointerType(element))
        if self.count == 1:
            return b.load(b.gep(pointer, [b.zext(index, I64)]))
        vector: Any = ir.Constant(self.type(element), ir.Undefined)
        for lane in range(self.count):
            number = b.zext(b.extract_element(index, I32(lane)), I64)
            vector = b.insert_element(vector, b.load(b.gep(pointer, [number])), I32(lane))
        return vector


STORED: dict[str, Any] = {
    "float32": F32,
    "tfloat32": F32,
    "bfloat16": I16,
    "float16": F16,
    "float8_e4m3": I8,
    "float8_e4m3fn": I8,
    "float8_e5m2": I8,
    "int8": I8,
    "uint8": I8,
    "int16": I16,
    "uint16": I16,
    "int32": I32,
    "uint32": I32,
    "bool_": I8,
}
"""What memory holds of each data type that is converted, `forms.CONVERTED`."""


@dataclass(frozen=True)
class Float8:
    """The format of a float of one byte."""

    mantissa: int
    """Bits of it."""
    bias: int
    largest: int
    """The largest finite number, as it is stored."""
    beyond: int
    """What larger ones become."""

    @property
    def shift(self) -> int:
        """How far its mantissa lies below that of a float32."""
        return 23 - self.mantissa


FLOAT8 = {
    "float8_e4m3": Float8(3, 7, 0x77, 0x78),
    "float8_e4m3fn": Float8(3, 7, 0x7E, 0x7F),
    "float8_e5m2": Float8(2, 15, 0x7B, 0x7C),
}
"""Infinity lies behind the largest number, and NaN behind that; e4m3fn has NaN only."""


def load_as_float32(lanes: Lanes, name: str, pointer: Any, stride: Any = None) -> Any:
    """Elements as the float32 that an engine computes on."""
    return _as_float32(lanes, name, lanes.load(pointer, STORED[name], stride))


def as_if_stored(lanes: Lanes, name: str, value: Any) -> Any:
    """Float32 after it was stored as a data type and loaded again."""
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
    lanes.store(_rounded(lanes, name, value), pointer, STORED[name], stride)


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
        return _cut(lanes, name, value)
    if name in FLOAT8:
        return _to_float8(lanes, FLOAT8[name], value)
    return _to_integer(lanes, name, value)


def _cut(lanes: Lanes, name: str, value: Any) -> Any:
    """The high bits of a float32, to nearest, ties to even."""
    b = lanes.b
    dropped = 16 if name == "bfloat16" else 13
    bits = lanes.bits(value, I32)
    odd = b.and_(b.lshr(bits, lanes.constant(I32, dropped)), lanes.constant(I32, 1))
    half = lanes.constant(I32, (1 << (dropped - 1)) - 1)
    rounded = b.add(b.add(bits, odd), half)
    nan = b.fcmp_unordered("uno", value, value)
    if name == "bfloat16":
        # ml_dtypes keeps of a NaN its sign alone.
        sign = b.and_(bits, lanes.constant(I32, 0x8000_0000))
        quiet = b.or_(sign, lanes.constant(I32, 0x7FC0_0000))
        chosen = b.select(nan, quiet, rounded)
        return b.trunc(b.lshr(chosen, lanes.constant(I32, 16)), lanes.type(I16))
    quiet = b.or_(bits, lanes.constant(I32, 0x40_0000))
    chosen = b.and_(b.select(nan, quiet, rounded), lanes.constant(I32, 0xFFFF_E000))
    return lanes.bits(chosen, F32)


def _to_integer(lanes: Lanes, name: str, value: Any) -> Any:
    """To nearest, ties to even, saturating; NaN gives 0."""
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
    kept = b.select(above, lanes.constant(F32, largest), rounded)
    kept = b.select(below, lanes.constant(F32, float(low)), kept)
    kept = b.select(nan, lanes.constant(F32, 0.0), kept)
    wide = lanes.type(I32)
    number = b.fptosi(kept, wide) if signed or width < 32 else b.fptoui(kept, wide)
    if width == 32:
        return b.select(above, lanes.constant(I32, high), number)
    return b.trunc(number, lanes.type(ir.IntType(width)))


def _float8_as_float32(lanes: Lanes, form: Float8, stored: Any) -> Any:
    """Exponent and mantissa where a float32 has them, times what the biases differ by: exact."""
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
    """To nearest, ties to even; denormal results by an addition that drops what lies below."""
    b = lanes.b
    bits = lanes.bits(value, I32)
    magnitude = b.and_(bits, lanes.constant(I32, 0x7FFF_FFFF))
    sign = b.lshr(b.and_(bits, lanes.constant(I32, 0x8000_0000)), lanes.constant(I32, 24))
    odd = b.and_(b.lshr(magnitude, lanes.constant(I32, form.shift)), lanes.constant(I32, 1))
    half = lanes.constant(I32, (1 << (form.shift - 1)) - 1)
    rounded = b.lshr(b.add(b.add(magnitude, odd), half), lanes.constant(I32, form.shift))
    normal = b.sub(rounded, lanes.constant(I32, (127 - form.bias) << form.mantissa))
    # The last bit of this number is that of a denormal result.
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
