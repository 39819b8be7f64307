"""Builder of explicit vector instructions: LLVM cannot vectorise loops whose tiles may overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nkijit.passes.interpret.backends.native.llvm import building

ir = building()
I8, I16, I32, I64 = (ir.IntType(n) for n in (8, 16, 32, 64))
F16, F32, F64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()
BYTES = ir.PointerType(I8)

LANES = 16
"""The number of elements of a vector; LLVM splits it into the CPU's vectors."""


@dataclass(frozen=True)
class Lanes:
    """A builder of instructions on `count` lanes; 1 is a scalar."""

    b: Any
    count: int

    def type(self, element: Any) -> Any:
        """Return the LLVM type of all lanes: a vector of elements, or one element."""
        return element if self.count == 1 else ir.VectorType(element, self.count)

    def element(self, value: Any) -> Any:
        """Return the type of one lane of a value."""
        return value.type if self.count == 1 else value.type.element

    def constant(self, element: Any, value: Any) -> Any:
        """Return a vector with a constant in all lanes."""
        if self.count == 1:
            return ir.Constant(element, value)
        return ir.Constant(self.type(element), [value] * self.count)

    def splat(self, value: Any) -> Any:
        """Return a vector with a scalar in all lanes."""
        if self.count == 1:
            return value
        vector = self.type(value.type)
        one = self.b.insert_element(ir.Constant(vector, ir.Undefined), value, I32(0))
        zeros = ir.Constant(ir.VectorType(I32, self.count), [0] * self.count)
        return self.b.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)

    def intrinsic(self, name: str, element: Any, *operands: Any) -> Any:
        """Call an LLVM intrinsic of one type, such as 'sqrt'."""
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
        """Return the bits of lanes as another element type of the same size."""
        return self.b.bitcast(value, self.type(element))

    # ---------------------------------------------------------------- memory

    def load(self, pointer: Any, element: Any, stride: Any = None) -> Any:
        """Load elements from an address on, `stride` bytes apart; contiguous if None."""
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
        """Store elements; the counterpart of `load`."""
        b = self.b
        if self.count == 1 or stride is None:
            b.store(value, b.bitcast(pointer, ir.PointerType(self.type(element))), align=1)
            return
        for lane in range(self.count):
            at = b.gep(pointer, [b.mul(stride, I64(lane))])
            one = b.extract_element(value, I32(lane))
            b.store(one, b.bitcast(at, ir.PointerType(element)), align=1)
