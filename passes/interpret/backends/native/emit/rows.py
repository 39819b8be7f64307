"""Emits element-wise graphs over rows; results are stored, and can be reduced for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nkijit.passes.interpret.backends.native.emit.elements import (
    as_if_stored,
    load_as_float32,
    load_bits,
    load_integer,
    store_bits,
    store_float32,
)
from nkijit.passes.interpret.backends.native.emit.function import Function
from nkijit.passes.interpret.backends.native.emit.lanes import BYTES, F32, I32, I64, LANES, Lanes
from nkijit.passes.interpret.backends.native.emit.operations import ELEMENTS, OPERATIONS, literal
from nkijit.passes.interpret.backends.native.forms import (
    BLOCK,
    CHEAP,
    SPILLED,
    AccumulatorForm,
    Fold,
    Inner,
    OperandForm,
    RowForm,
    segments_of,
    size_of,
)
from nkijit.passes.interpret.backends.native.graphs import LOADS, Node
from nkijit.passes.interpret.backends.native.llvm import building

ir = building()

_SCRATCH_TYPES = {**ELEMENTS, "?": I32}
"""The LLVM type in which the scratch memory holds each node type."""
_LOADERS = {"load": load_as_float32, "load_bits": load_bits, "load_integer": load_integer}


class _Operand:
    """An operand of instructions over rows: its address, and its strides in the loops."""

    def __init__(self, f: Function, form: OperandForm, address: Any, strides: Sequence[Any]):
        self.f, self.form, self.strides = f, form, strides
        self.here = address

    def moved(self, iterations: Sequence[Any]) -> Any:
        """Return the operand's address at the given iterations of the outermost loops."""
        b, at = self.f.b, self.here
        for number, stride in zip(iterations, self.strides, strict=False):
            at = b.gep(at, [b.mul(number, stride)])
        return at


def write_rows(form: RowForm, f: Function) -> None:
    count = f.word()
    dims = f.words(form.rows + form.free)
    operands: list[_Operand] = []
    for operand in form.operands:
        address = f.address()
        strides = f.words(form.rows + form.free + 1)
        operands.append(_Operand(f, operand, address, strides))
    numbers = f.words(form.numbers)
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
    """Emits the code for a row: before its elements, for blocks of elements, and after them."""

    def __init__(
        self,
        form: RowForm,
        f: Function,
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
        """The scratch address at which a row's float32 results are stored for reductions."""
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
            b.store(self._number(use.number), registers)

    def _number(self, place: int, kind: str = "f") -> Any:
        """Return number `place` of the instruction, in the node type `kind`."""
        word = self.numbers[place]
        if kind == "f":
            return self.b.bitcast(self.b.trunc(word, I32), F32)
        return word if kind == "q" else self.b.trunc(word, ELEMENTS[kind])

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
                        self._save(lanes, value_of(needed), needed, at)
            elif node in self.spilled:
                self._save(lanes, value_of(node), node, at)
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
            if self.form.nodes[self.form.result].type == "f":
                store_float32(lanes, into.form.element, result, pointer, stride)
            else:
                store_bits(lanes, into.form.element, result, pointer, stride)

    def _save(self, lanes: Lanes, value: Any, node: int, at: Any) -> None:
        kind = self.form.nodes[node].type
        if kind == "?":
            value = self.b.zext(value, lanes.type(I32))
        lanes.store(value, self._spilled_at(node, at), _SCRATCH_TYPES[kind])

    def _spilled_at(self, node: int, at: Any) -> Any:
        size = 8 if self.form.nodes[node].type == "d" else 4
        return self.b.gep(self._spill(node), [self.b.mul(at, I64(size))])

    def _reload(self, lanes: Lanes, node: int, at: Any) -> Any:
        kind = self.form.nodes[node].type
        value = lanes.load(self._spilled_at(node, at), _SCRATCH_TYPES[kind])
        return self.b.trunc(value, lanes.type(ELEMENTS["?"])) if kind == "?" else value

    def _node(self, lanes: Lanes, node: Node, inputs: list[Any], here: list[Any], at: Any) -> Any:
        if node.name in LOADS:
            place: int = node.detail
            operand, load = self.operands[place], _LOADERS[node.name]
            if operand.form.inner is Inner.same:
                return lanes.splat(load(Lanes(self.b, 1), operand.form.element, here[place]))
            stride = None if operand.form.inner is Inner.contiguous else operand.strides[-1]
            pointer = self.b.gep(here[place], [self.b.mul(at, self._stride(operand))])
            return load(lanes, operand.form.element, pointer, stride)
        if node.name == "stored":
            return as_if_stored(lanes, node.detail, inputs[0])
        if node.name == "number":
            return lanes.splat(self._number(node.detail, node.type))
        if node.name == "literal":
            return literal(lanes, node.type, node.detail)
        return OPERATIONS[node.name](lanes, node.type, *inputs)

    # -------------------------------------------------------- rows

    def end(self, iterations: Sequence[Any]) -> None:
        b, form = self.b, self.form
        if form.reduced is not None:
            fold, into, negate, divided = form.reduced
            value = self._folded(fold, None)
            if divided:
                value = b.fdiv(value, self._number(-1))
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
        return OPERATIONS[use.combine](Lanes(self.b, 1), "f", held, row)

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
            b.store(self._number(fold.start), sum_)
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
