"""An LLVM function under construction: arguments, loops, and calls of NumPy's inner loops."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from nkijit.passes.interpret.backends.native.emit.lanes import BYTES, I64
from nkijit.passes.interpret.backends.native.llvm import building

ir = building()

SIGNATURE = ir.FunctionType(ir.VoidType(), [ir.PointerType(I64), ir.PointerType(I64)])
"""The type of emitted functions, `f(words, bases)`.

`words` are the 64-bit arguments of the instruction (`forms.py`); `bases` are the addresses of
arrays.
"""
LOOP = ir.FunctionType(
    ir.VoidType(), [ir.PointerType(BYTES), ir.PointerType(I64), ir.PointerType(I64), BYTES]
)
"""The type of a ufunc's inner loop, `PyUFuncGenericFunction` of NumPy's C API."""


class Function:
    """A function under construction: reads its arguments in order, and allocates variables."""

    def __init__(self, builder: Any, words: Any, bases: Any):
        self.b = builder
        self._words, self._bases = words, bases
        self._next = 0
        self._entry = builder.block

    def word(self) -> Any:
        """Read the next argument word."""
        value = self.b.load(self.b.gep(self._words, [I64(self._next)]))
        self._next += 1
        return value

    def words(self, count: int) -> list[Any]:
        """Read the next `count` argument words."""
        return [self.word() for _ in range(count)]

    def address(self) -> Any:
        """Read an address: the index of an array among the bases, and an offset in bytes."""
        base, offset = self.word(), self.word()
        start = self.b.load(self.b.gep(self._bases, [base]))
        return self.b.inttoptr(self.b.add(start, offset), BYTES)

    def variable(self, value: Any) -> Any:
        """Return a stack slot with an initial value."""
        place = self.array(value.type, 1)
        self.b.store(value, place)
        return place

    def array(self, element: Any, count: int) -> Any:
        """Return a stack slot for several values, allocated once at the function's entry."""
        with self.b.goto_block(self._entry):
            self.b.position_at_start(self._entry)
            return self.b.alloca(element, count)

    @contextmanager
    def loop(self, end: Any, start: Any = None, step: int = 1) -> Any:
        """Emit a loop; the yielded counter runs from `start` to before `end`."""
        b = self.b
        number = self.variable(I64(0) if start is None else start)
        head, body, after = (b.append_basic_block() for _ in range(3))
        b.branch(head)
        b.position_at_end(head)
        current = b.load(number)
        b.cbranch(b.icmp_signed("<", current, end), body, after)
        b.position_at_end(body)
        yield current
        b.store(b.add(current, I64(step)), number)
        b.branch(head)
        b.position_at_end(after)

    def call_loop(self, loop: tuple[Any, Any], args: Sequence[Any], dims: Any, steps: Any) -> None:
        """Emit a call of a ufunc's inner loop, with pointers, dimensions, and steps in bytes."""
        b = self.b
        pointers, sizes = self.array(BYTES, len(args)), self.array(I64, len(dims))
        strides = self.array(I64, len(steps))
        for place, value in enumerate(args):
            b.store(value, b.gep(pointers, [I64(place)]))
        for place, value in enumerate(dims):
            b.store(value, b.gep(sizes, [I64(place)]))
        for place, value in enumerate(steps):
            b.store(
                value if not isinstance(value, int) else I64(value), b.gep(strides, [I64(place)])
            )
        function, data = loop
        b.call(
            b.inttoptr(function, ir.PointerType(LOOP)),
            [pointers, sizes, strides, b.inttoptr(data, BYTES)],
        )
