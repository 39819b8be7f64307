"""Forms as LLVM functions: loops over strides that load, compute in float32, round once and store.

A function gets the words of an instruction (`forms.py`) and the addresses of the bases. Vectors are
spelled out rather than left to LLVM to find: a tile may be written over itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from nkijit.passes.interpret.backends.native.elements import (
    BYTES,
    F32,
    F64,
    I32,
    I64,
    Lanes,
    as_if_stored,
    load_as_float32,
    store_float32,
)
from nkijit.passes.interpret.backends.native.forms import (
    BLOCK,
    CHEAP,
    SPILLED,
    AccumulatorForm,
    CopyForm,
    Fold,
    Form,
    Inner,
    MatmulForm,
    OperandForm,
    RowForm,
    TransposeForm,
    segments_of,
    size_of,
)
from nkijit.passes.interpret.backends.native.graphs import Node
from nkijit.passes.interpret.backends.native.llvm import building

ir = building()

LANES = 16
"""Elements of a vector; LLVM cuts it into what the CPU has."""

SIGNATURE = ir.FunctionType(ir.VoidType(), [ir.PointerType(I64), ir.PointerType(I64)])
LOOP = ir.FunctionType(
    ir.VoidType(), [ir.PointerType(BYTES), ir.PointerType(I64), ir.PointerType(I64), BYTES]
)
_ELEMENTS = {"f": F32, "d": F64, "I": I32, "?": ir.IntType(1)}
_KEPT = {**_ELEMENTS, "?": I32}
"""How values lie in scratch."""


def emit(form: Form, name: str) -> Any:
    """A module with the function of a form."""
    module = ir.Module(name)
    function = ir.Function(module, SIGNATURE, name)
    builder = ir.IRBuilder(function.append_basic_block())
    _EMITTERS[type(form)](form, _Function(builder, *function.args))
    builder.ret_void()
    return module


class _Function:
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


# ------------------------------------------------------------------ rows


class _Operand:
    """An operand of rows: where it is in the loops that are open."""

    def __init__(self, f: _Function, form: OperandForm, address: Any, strides: Sequence[Any]):
        self.f, self.form, self.strides = f, form, strides
        self.here = address

    def moved(self, iterations: Sequence[Any]) -> Any:
        """Its address in some iterations of the outermost loops."""
        b, at = self.f.b, self.here
        for number, stride in zip(iterations, self.strides, strict=False):
            at = b.gep(at, [b.mul(number, stride)])
        return at


def _rows(form: RowForm, f: _Function) -> None:
    b = f.b
    count = f.word()
    dims = f.words(form.rows + form.free)
    operands: list[_Operand] = []
    for operand in form.operands:
        address = f.address()
        strides = f.words(form.rows + form.free + 1)
        operands.append(_Operand(f, operand, address, strides))
    numbers = [b.bitcast(b.trunc(word, I32), F32) for word in f.words(form.numbers)]
    loops = [(f.word(), f.word()) for _ in range(form.loops)]
    scratch = f.address()
    rows = _RowWriter(form, f, operands, numbers, loops, scratch)

    def inside(level: int, iterations: list[Any]) -> None:
        if level == form.rows:
            rows.begin(iterations)
        if level == form.rows + form.free:
            rows.run(iterations, count)
        else:
            with f.loop(dims[level]) as number:
                inside(level + 1, [*iterations, number])
        if level == form.rows:
            rows.end(iterations)

    inside(0, [])


class _RowWriter:
    """Writes what happens to a row: before its elements, to them in blocks, and after them."""

    def __init__(
        self,
        form: RowForm,
        f: _Function,
        operands: Sequence[_Operand],
        numbers: Sequence[Any],
        loops: Sequence[tuple[Any, Any]],
        scratch: Any,
    ):
        self.form, self.f, self.b = form, f, f.b
        self.operands, self.numbers, self.loops = operands, numbers, loops
        self.segments, self.spilled = segments_of(form)
        self.scratch = scratch
        self.combines = form.accumulators is not None or form.reduced is not None
        self.row = f.b.gep(scratch, [I64(SPILLED * len(self.spilled))])
        """The float32 results of a row, where something is done with all of them."""
        self.filled = f.variable(I64(0))

    # -------------------------------------------------------- elements

    def begin(self, iterations: Sequence[Any]) -> None:
        b, use = self.b, self.form.accumulators
        if self.combines:
            b.store(I64(0), self.filled)
        if use is None:
            return
        registers = self._float(self.operands[use.registers].moved(iterations))
        if use.start is not None:
            start = self.operands[use.start]
            value = load_as_float32(Lanes(b, 1), start.form.element, start.moved(iterations))
            b.store(value, registers)
        elif use.number is not None:
            b.store(self.numbers[use.number], registers)

    def _float(self, pointer: Any) -> Any:
        return self.b.bitcast(pointer, ir.PointerType(F32))

    def run(self, iterations: Sequence[Any], count: Any) -> None:
        f, b = self.f, self.b
        at = [o.moved(iterations) for o in self.operands]
        with f.loop(count, step=BLOCK) as start:
            left = b.sub(count, start)
            size = b.select(b.icmp_signed("<", left, I64(BLOCK)), left, I64(BLOCK))
            here = [
                pointer
                if o.form.inner is Inner.same
                else b.gep(pointer, [b.mul(start, self._stride(o))])
                for o, pointer in zip(self.operands, at, strict=True)
            ]
            row = None
            if self.combines:
                row = b.gep(self.row, [b.mul(b.add(b.load(self.filled), start), I64(4))])
            for number, segment in enumerate(self.segments):
                self._segment(number, segment, here, size, row)
        if self.combines:
            b.store(b.add(b.load(self.filled), count), self.filled)

    def _stride(self, operand: _Operand) -> Any:
        if operand.form.inner is Inner.contiguous:
            return I64(size_of(operand.form.element))
        return operand.strides[-1]

    def _segment(
        self, number: int, segment: list[int], here: list[Any], size: Any, row: Any
    ) -> None:
        f, b = self.f, self.b
        last = number == len(self.segments) - 1
        calls = [n for n in segment if self.form.nodes[n].name == "call"]
        if len(segment) > len(calls) or last:
            whole = b.and_(size, I64(-LANES))
            with f.loop(whole, step=LANES) as at:
                self._elements(Lanes(b, LANES), segment, here, at, row, last)
            with f.loop(size, start=whole) as at:
                self._elements(Lanes(b, 1), segment, here, at, row, last)
        for node in calls:
            entry = self.form.nodes[node]
            inputs = [self._spill(i) for i in entry.inputs]
            sizes = [4 if self.form.nodes[i].type == "f" else 8 for i in (*entry.inputs, node)]
            function, data = self.loops[entry.detail]
            f.call_loop((function, data), [*inputs, self._spill(node)], [size], sizes)

    def _spill(self, node: int) -> Any:
        return self.b.gep(self.scratch, [I64(SPILLED * self.spilled[node])])

    def _elements(
        self, lanes: Lanes, segment: list[int], here: list[Any], at: Any, row: Any, last: bool
    ) -> None:
        values: dict[int, Any] = {}
        nodes = self.form.nodes

        def value_of(node: int) -> Any:
            if node not in values:
                entry = nodes[node]
                if (node in segment and entry.name != "call") or entry.name in CHEAP:
                    inputs = [value_of(i) for i in entry.inputs]
                    values[node] = self._node(lanes, entry, inputs, here, at)
                else:
                    values[node] = self._reload(lanes, node, at)
            return values[node]

        for node in segment:
            if nodes[node].name == "call":
                for needed in nodes[node].inputs:
                    if needed in segment or nodes[needed].name in CHEAP:
                        self._keep(lanes, value_of(needed), needed, at)
            elif node in self.spilled:
                self._keep(lanes, value_of(node), node, at)
        if not last:
            return
        result = value_of(self.form.result)
        if row is not None:
            pointer = self.b.gep(row, [self.b.mul(at, I64(4))])
            lanes.store(result, pointer, F32)
        if self.form.into is not None:
            into = self.operands[self.form.into]
            stride = None if into.form.inner is Inner.contiguous else into.strides[-1]
            pointer = self.b.gep(here[self.form.into], [self.b.mul(at, self._stride(into))])
            store_float32(lanes, into.form.element, result, pointer, stride)

    def _keep(self, lanes: Lanes, value: Any, node: int, at: Any) -> None:
        kind = self.form.nodes[node].type
        if kind == "?":
            value = self.b.zext(value, lanes.type(I32))
        lanes.store(value, self._spilled_at(node, at), _KEPT[kind])

    def _spilled_at(self, node: int, at: Any) -> Any:
        size = 8 if self.form.nodes[node].type == "d" else 4
        return self.b.gep(self._spill(node), [self.b.mul(at, I64(size))])

    def _reload(self, lanes: Lanes, node: int, at: Any) -> Any:
        kind = self.form.nodes[node].type
        value = lanes.load(self._spilled_at(node, at), _KEPT[kind])
        return self.b.trunc(value, lanes.type(_ELEMENTS["?"])) if kind == "?" else value

    def _node(self, lanes: Lanes, node: Node, inputs: list[Any], here: list[Any], at: Any) -> Any:
        if node.name == "load":
            place: int = node.detail
            operand = self.operands[place]
            if operand.form.inner is Inner.same:
                one = load_as_float32(Lanes(self.b, 1), operand.form.element, here[place])
                return lanes.splat(one)
            stride = None if operand.form.inner is Inner.contiguous else operand.strides[-1]
            pointer = self.b.gep(here[place], [self.b.mul(at, self._stride(operand))])
            return load_as_float32(lanes, operand.form.element, pointer, stride)
        if node.name == "stored":
            return as_if_stored(lanes, node.detail, inputs[0])
        if node.name == "number":
            return lanes.splat(self.numbers[node.detail])
        if node.name == "literal":
            return _literal(lanes, *node.detail)
        return _OPERATIONS[node.name](lanes, node.type, *inputs)

    # -------------------------------------------------------- rows

    def end(self, iterations: Sequence[Any]) -> None:
        b, form = self.b, self.form
        if form.reduced is not None:
            fold, into, negate, divided = form.reduced
            value = self._folded(fold, None)
            if divided:
                value = b.fdiv(value, self.numbers[-1])
            self._write(value, into, negate, iterations)
        use = form.accumulators
        if use is None:
            return
        registers = self._float(self.operands[use.registers].moved(iterations))
        if use.fold is not None:
            held = b.load(registers)
            if use.combine is None:
                value = self._folded(use.fold, held)
            else:
                value = self._combined(use, held)
            b.store(value, registers)
        if use.into is not None:
            self._write(b.load(registers), use.into, use.negate, iterations)

    def _combined(self, use: AccumulatorForm, held: Any) -> Any:
        assert use.fold is not None
        assert use.combine is not None
        row = self._folded(use.fold, None)
        return _OPERATIONS[use.combine](Lanes(self.b, 1), "f", held, row)

    def _folded(self, fold: Fold, start: Any) -> Any:
        f, b = self.f, self.b
        sum_ = f.array(F32, 1)
        count, row = b.load(self.filled), self.row
        if start is not None:
            b.store(start, sum_)
        elif fold.first:
            b.store(b.load(self._float(row)), sum_)
            row, count = b.gep(row, [I64(4)]), b.sub(count, I64(1))
        else:
            b.store(self.numbers[fold.start], sum_)
        place = b.bitcast(sum_, BYTES)
        with b.if_then(b.icmp_signed(">", count, I64(0))):
            f.call_loop(self.loops[fold.loop], [place, row, place], [count], [0, 4, 0])
        return b.load(sum_)

    def _write(self, value: Any, into: int, negate: bool, iterations: Sequence[Any]) -> None:
        if negate:
            value = self.b.fneg(value)
        operand = self.operands[into]
        pointer = operand.moved(iterations)
        store_float32(Lanes(self.b, 1), operand.form.element, value, pointer)


def _literal(lanes: Lanes, kind: str, content: bytes) -> Any:
    value = np.frombuffer(content, {"f": np.float32, "d": np.float64, "I": np.uint32}[kind])[0]
    if kind == "I":
        return lanes.constant(I32, int(value))
    if kind == "f":
        bits = int(np.float32(value).view(np.uint32))
        return lanes.bits(lanes.constant(I32, bits), F32)
    bits = int(np.float64(value).view(np.uint64))
    return lanes.bits(lanes.constant(I64, bits), F64)


def _compare(word: str) -> Callable[..., Any]:
    def compare(lanes: Lanes, _: str, x: Any, y: Any) -> Any:
        if word == "!=":
            return lanes.b.fcmp_unordered(word, x, y)
        return lanes.b.fcmp_ordered(word, x, y)

    return compare


def _extreme(word: str) -> Callable[..., Any]:
    """The first operand where it is greater (less) or NaN, else the second."""

    def extreme(lanes: Lanes, _: str, x: Any, y: Any) -> Any:
        b = lanes.b
        first = b.or_(b.fcmp_ordered(word, x, y), b.fcmp_unordered("uno", x, x))
        return b.select(first, x, y)

    return extreme


def _convert(lanes: Lanes, wanted: str, value: Any) -> Any:
    b = lanes.b
    kind = lanes.type(_ELEMENTS[wanted])
    element = value.type.element if lanes.count > 1 else value.type
    if element == F32:
        return b.fpext(value, kind)
    if element == F64:
        return b.fptrunc(value, kind)
    return b.uitofp(value, kind) if wanted == "f" else b.zext(value, kind)


def _negative(lanes: Lanes, kind: str, x: Any) -> Any:
    return lanes.b.sub(lanes.constant(I32, 0), x) if kind == "I" else lanes.b.fneg(x)


def _built(method: str) -> Callable[..., Any]:
    """An instruction of LLVM on lanes."""

    def build(lanes: Lanes, _: str, *values: Any) -> Any:
        return getattr(lanes.b, method)(*values)

    return build


def _intrinsic(name: str) -> Callable[..., Any]:
    def call(lanes: Lanes, kind: str, *values: Any) -> Any:
        return lanes.intrinsic(name, _ELEMENTS[kind], *values)

    return call


def _square(lanes: Lanes, _: str, x: Any) -> Any:
    return lanes.b.fmul(x, x)


def _reciprocal(lanes: Lanes, kind: str, x: Any) -> Any:
    return lanes.b.fdiv(lanes.constant(_ELEMENTS[kind], 1.0), x)


def _bits(lanes: Lanes, kind: str, x: Any) -> Any:
    return lanes.bits(x, _ELEMENTS[kind])


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": _built("fadd"),
    "subtract": _built("fsub"),
    "multiply": _built("fmul"),
    "divide": _built("fdiv"),
    "negative": _negative,
    "absolute": _intrinsic("fabs"),
    "square": _square,
    "sqrt": _intrinsic("sqrt"),
    "reciprocal": _reciprocal,
    "equal": _compare("=="),
    "not_equal": _compare("!="),
    "greater": _compare(">"),
    "greater_equal": _compare(">="),
    "less": _compare("<"),
    "less_equal": _compare("<="),
    "maximum": _extreme(">"),
    "minimum": _extreme("<"),
    "and": _built("and_"),
    "or": _built("or_"),
    "xor": _built("xor"),
    "select": _built("select"),
    "convert": _convert,
    "bits": _bits,
}


# ------------------------------------------------------------------ stored elements


def _copy(form: CopyForm, f: _Function) -> None:
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
    """The arguments of a load of lanes from an element on."""
    if inner is Inner.contiguous:
        return b.gep(pointer, [b.mul(number, I64(size))]), element, None
    return b.gep(pointer, [b.mul(number, stride)]), element, stride


def _memcpy(f: _Function, into: Any, source: Any, size: Any) -> None:
    module, name = f.b.module, "llvm.memcpy.p0i8.p0i8.i64"
    function = module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(ir.VoidType(), [BYTES, BYTES, I64, ir.IntType(1)])
        function = ir.Function(module, kind, name)
    f.b.call(
        function, [into, source, I64(size) if isinstance(size, int) else size, ir.IntType(1)(0)]
    )


_SQUARE = 16
"""Rows and columns that are transposed in registers."""


def _transpose(form: TransposeForm, f: _Function) -> None:
    """Squares of elements, so that whole lines of the cache are read and written."""
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
    """The columns of a square whose rows are vectors, by exchanging ever smaller blocks."""
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


# ------------------------------------------------------------------ products


def _matmul(form: MatmulForm, f: _Function) -> None:
    m, n, p = f.words(3)
    addresses = [f.address() for _ in range(3)]
    strides = f.words(6)
    loop = f.word(), f.word()
    f.call_loop(loop, addresses, [I64(1), m, n, p], [0, 0, 0, *strides])


def emit_walk(name: str) -> Any:
    """A module with the function that runs instructions one after the other.

    Each is the address of its function, the number of its words, and the words.
    """
    module = ir.Module(name)
    pointer = ir.PointerType(I64)
    kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, I64])
    function = ir.Function(module, kind, name)
    words, bases, count = function.args
    b = ir.IRBuilder(function.append_basic_block())
    f = _Function(b, words, bases)
    at = f.variable(words)
    with f.loop(count):
        here = b.load(at)
        code, size = b.load(here), b.load(b.gep(here, [I64(1)]))
        own = b.gep(here, [I64(2)])
        b.call(b.inttoptr(code, ir.PointerType(SIGNATURE)), [own, bases])
        b.store(b.gep(own, [size]), at)
    b.ret_void()
    return module


_EMITTERS: dict[type[Any], Callable[[Any, _Function], None]] = {
    RowForm: _rows,
    CopyForm: _copy,
    TransposeForm: _transpose,
    MatmulForm: _matmul,
}
