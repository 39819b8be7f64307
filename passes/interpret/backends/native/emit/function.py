"""A function that is being made: its words, its loops, and the calls of loops of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

from nkijit.passes.interpret.backends.native.emit.lanes import BYTES, I64
from nkijit.passes.interpret.backends.native.llvm import building

ir = building()

SIGNATURE = ir.FunctionType(ir.VoidType(), [ir.PointerType(I64), ir.PointerType(I64)])
"""The words of an instruction (`forms.py`), and the addresses of the bases."""
LOOP = ir.FunctionType(
    ir.VoidType(), [ir.PointerType(BYTES), ir.PointerType(I64), ir.PointerType(I64), BYTES]
)
"""A ufunc's inner loop, `PyUFuncGenericFunction` of NumPy's C API."""


class Function:
    """A function that is being made: its words, in order, and what it allocates."""

    def __init__(self, builder: Any, words: Any, bases: Any):
        self.b = builder
        self._words, self._bases = words, bases
        self._next = 0
        self._entry = builder.block

    def word(self) -> Any:
        """The next word."""
        value = self.b.load(self.b.gep(self._words, [I64(self._next)]))
        self._next += 1
        return value

    def words(self, count: int) -> list[Any]:
        """The next words."""
        return [self.word() for _ in range(count)]

    def address(self) -> Any:
        """An address: the number of a base, and an offset."""
        base, offset = self.word(), self.word()
        start = self.b.load(self.b.gep(self._bases, [base]))
        return self.b.inttoptr(self.b.add(start, offset), BYTES)

    def variable(self, value: Any) -> Any:
        """A place for a value that changes."""
        place = self.array(value.type, 1)
        self.b.store(value, place)
        return place

    def array(self, element: Any, count: int) -> Any:
        """A place for some values, which the function has once."""
        with self.b.goto_block(self._entry):
            self.b.position_at_start(self._entry)
            return self.b.alloca(element, count)

    @contextmanager
    def loop(self, end: Any, start: Any = None, step: int = 1) -> Any:
        """A loop: its number goes from `start` in steps to before `end`."""
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
        """Call a loop of NumPy; one number of elements, and steps of constant bytes."""
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
