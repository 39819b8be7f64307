"""Emits copies and transposes of stored elements."""

from __future__ import annotations

from typing import Any

from nkijit.passes.interpret.backends.native.emit.function import Function
from nkijit.passes.interpret.backends.native.emit.lanes import BYTES, I32, I64, LANES, Lanes
from nkijit.passes.interpret.backends.native.forms import CopyForm, Inner, TransposeForm
from nkijit.passes.interpret.backends.native.llvm import building

ir = building()


def write_copy(form: CopyForm, f: Function) -> None:
    b = f.b
    count = f.word()
    dims = f.words(form.outer)
    ends = [(f.address(), f.words(form.outer + 1)) for _ in range(2)]
    element = ir.IntType(form.size * 8)

    def inside(level: int, at: list[Any]) -> None:
        if level < form.outer:
            with f.loop(dims[level]) as number:
                strides = (words[level] for _, words in ends)
                moved = [
                    b.gep(pointer, [b.mul(number, stride)])
                    for pointer, stride in zip(at, strides, strict=True)
                ]
                inside(level + 1, moved)
            return
        source, into = at
        if form.source is form.into is Inner.contiguous:
            _memcpy(f, into, source, b.mul(count, I64(form.size)))
            return
        last = [words[-1] for _, words in ends]
        whole = b.and_(count, I64(-LANES))
        for lanes, start, end in ((Lanes(b, LANES), None, whole), (Lanes(b, 1), whole, count)):
            with f.loop(end, start=start, step=lanes.count) as number:
                if form.source is Inner.same:
                    value = lanes.splat(Lanes(b, 1).load(source, element))
                else:
                    value = lanes.load(
                        *_element_at(b, source, number, form.source, last[0], form.size, element)
                    )
                pointer, _, stride = _element_at(
                    b, into, number, form.into, last[1], form.size, element
                )
                lanes.store(value, pointer, element, stride)

    inside(0, [address for address, _ in ends])


def _element_at(
    b: Any, pointer: Any, number: Any, inner: Inner, stride: Any, size: int, element: Any
) -> tuple[Any, Any, Any]:
    """Return the arguments of `Lanes.load` for loads that begin at element `number`."""
    if inner is Inner.contiguous:
        return b.gep(pointer, [b.mul(number, I64(size))]), element, None
    return b.gep(pointer, [b.mul(number, stride)]), element, stride


def _memcpy(f: Function, into: Any, source: Any, size: Any) -> None:
    module, name = f.b.module, "llvm.memcpy.p0i8.p0i8.i64"
    function = module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(ir.VoidType(), [BYTES, BYTES, I64, ir.IntType(1)])
        function = ir.Function(module, kind, name)
    f.b.call(function, [into, source, size, ir.IntType(1)(0)])


_SQUARE = 16
"""The width and height of the squares that are transposed in registers, in elements."""


def write_transpose(form: TransposeForm, f: Function) -> None:
    """Transpose squares of elements, so that entire cache lines are read and written."""
    b = f.b
    columns, rows = f.word(), f.word()
    source, source_strides = f.address(), f.words(2)
    into, into_strides = f.address(), f.words(2)
    element = ir.IntType(form.size * 8)
    whole_rows, whole_columns = b.and_(rows, I64(-_SQUARE)), b.and_(columns, I64(-_SQUARE))

    def at(pointer: Any, strides: Any, row: Any, column: Any) -> Any:
        return b.gep(b.gep(pointer, [b.mul(row, strides[0])]), [b.mul(column, strides[1])])

    def one(row: Any, column: Any) -> None:
        value = Lanes(b, 1).load(at(source, source_strides, row, column), element)
        Lanes(b, 1).store(value, at(into, into_strides, column, row), element)

    lanes = Lanes(b, _SQUARE)
    source_stride = None if form.source is Inner.contiguous else source_strides[1]
    into_stride = None if form.into is Inner.contiguous else into_strides[1]
    with f.loop(whole_rows, step=_SQUARE) as row:
        with f.loop(whole_columns, step=_SQUARE) as column:
            lines = [
                lanes.load(
                    at(source, source_strides, b.add(row, I64(i)), column), element, source_stride
                )
                for i in range(_SQUARE)
            ]
            for i, line in enumerate(_transposed(b, lines)):
                pointer = at(into, into_strides, b.add(column, I64(i)), row)
                lanes.store(line, pointer, element, into_stride)
        end = b.add(row, I64(_SQUARE))
        with f.loop(end, start=row) as each, f.loop(columns, start=whole_columns) as column:
            one(each, column)
    with f.loop(rows, start=whole_rows) as row, f.loop(columns) as column:
        one(row, column)


def _transposed(b: Any, lines: list[Any]) -> list[Any]:
    """Return the columns of a square from its rows, by exchanging ever smaller blocks.

    Rows and columns are vectors.
    """
    count = len(lines)
    width = count // 2
    while width:
        mixed = list(lines)
        for first in range(count):
            if first & width:
                continue
            x, y = lines[first], lines[first + width]
            low = [i if not i & width else count + i - width for i in range(count)]
            high = [i + width if not i & width else count + i for i in range(count)]
            mixed[first] = b.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, count), low))
            mixed[first + width] = b.shuffle_vector(
                x, y, ir.Constant(ir.VectorType(I32, count), high)
            )
        lines, width = mixed, width // 2
    return lines
