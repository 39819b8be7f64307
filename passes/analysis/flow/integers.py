"""Bounds of the integers in tiles: results that float32 arithmetic may round, and indices.

A forward walk tracks the bounds of each allocation of 32-bit integers: of patterns, constants,
indices that instructions find, and the results of arithmetic on them. Arguments and everything else
can have any value of their type.

A result is reported only if a returned tensor, a print or an operation on bits depends on its exact
value. Indices are not reported, because those of a correct kernel are small; nor are operands of
float32 conversions and comparisons, which round them anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from xdsl.ir import BlockArgument, Operation, SSAValue

from nkijit.dialects.declare.accessors import operand_tuple, value_at
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction, scalar_constant
from nkijit.dialects.declare.queries import is_bitvec
from nkijit.dialects.effects import effects
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nisa.activation import ActivationOp
from nkijit.dialects.nisa.elementwise import INT32, TensorScalarOp, TensorTensorOp
from nkijit.dialects.nisa.gather import LocalGatherOp, NcNGatherOp, NcStreamShuffleOp
from nkijit.dialects.nisa.integers import (
    COMPUTING,
    INEXACT,
    IntegerArithmetic,
    IntegerStep,
    integer_arithmetic,
)
from nkijit.dialects.nisa.matmul import NcTransposeOp
from nkijit.dialects.nisa.movement import DmaCopyOp, MemsetOp, TensorCopyOp
from nkijit.dialects.nisa.pattern import IotaOp
from nkijit.dialects.nisa.search import MAX_ELEMENTS, NcFindIndex8Op, NonzeroWithCountOp, TopkOp
from nkijit.dialects.nisa.select import (
    AffineSelectOp,
    SelectReduceOp,
    SequenceBoundsOp,
    TensorCopyPredicatedOp,
)
from nkijit.dialects.nisa.transpose import DmaTransposeOp
from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp, ReturnOp
from nkijit.dialects.nki.views import DynamicPart, ViewOp, base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.analysis.flow.event_tree import event_tree, forward
from nkijit.passes.analysis.flow.integer_bounds import (
    ANY,
    BOOLEAN,
    GROWN,
    UNARY,
    Bounds,
    added,
    any_of,
    combined,
    exactly,
    multiplied,
    reduced,
)
from nkijit.passes.analysis.flow.ranges import Ranges


@dataclass(frozen=True, slots=True)
class Rounded:
    """An instruction that computes on integers in float32, and may round."""

    op: NisaOp
    arithmetic: IntegerArithmetic
    operand: str | None
    """The operand that can be too large for float32; None if only results can be."""
    bounds: Bounds
    """The bounds of the operand or the result."""


def rounded_integers(kernel: KernelOp) -> list[Rounded]:
    """Return the instructions whose integer results may differ from exact arithmetic.

    The list is in program order. Results on whose exact value nothing depends are left out.
    """
    candidates = set(_candidates(kernel))
    if not candidates:
        return []
    reader = _Reader(kernel, candidates)
    flow = _walked(kernel, reader)
    if not flow.found:
        return []
    exposed = _exposed(kernel)
    found = [flow.found[op] for op in reader.order if op in flow.found]
    return [each for each in found if id(base_of(each.op.required("dst"))) in exposed]


@dataclass(frozen=True, slots=True)
class IndexedAccess:
    """An instruction that accesses the elements of a tensor which a tile of indices selects."""

    op: NisaOp
    view: SSAValue
    """The operand."""
    part: DynamicPart
    bounds: Bounds
    """The bounds of the indices."""


def indexed_accesses(kernel: KernelOp) -> list[IndexedAccess]:
    """Return the accesses through tiles of 32-bit indices, in program order."""
    reader = _Reader(kernel, (), indexed=_indexed(kernel))
    flow = _walked(kernel, reader)
    return [
        IndexedAccess(event.op, view, part, flow.indices[event.op, view])
        for event in reader.indexing
        for view, part in event.indexed
        if (event.op, view) in flow.indices
    ]


def _indexed(kernel: KernelOp) -> dict[Operation, list[tuple[SSAValue, DynamicPart]]]:
    """Return the operands whose elements a tile of 32-bit indices selects, by instruction."""
    found: dict[Operation, list[tuple[SSAValue, DynamicPart]]] = {}
    for view in kernel.operations:
        if type(view) is not ViewOp or len(operand_tuple(view)) < 2:
            continue
        part = view.dynamic
        if part is not None and _is_int32(part.index):
            for use in view.result.uses:
                found.setdefault(use.operation, []).append((view.result, part))
    return found


def _walked(kernel: KernelOp, reader: _Reader) -> _Flow:
    flow = _Flow(kernel)
    forward(event_tree(kernel.body.block, reader.event), dict[int, Bounds | None](), flow)
    return flow


def _candidates(kernel: KernelOp) -> Iterator[NisaOp]:
    """Yield the instructions that compute integers in float32."""
    target, integers = kernel.target, dict[int, bool]()
    for op in kernel.operations:
        if type(op) not in COMPUTING:
            continue
        # The key is the identity of the result's type, which lives as long as the kernel.
        dst = value_at(operand_tuple(op), 0)
        is_int32 = integers.get(id(dst.type))
        if is_int32 is None:
            is_int32 = integers[id(dst.type)] = _is_int32(dst)
        if is_int32:
            computing = cast(NisaOp, op)
            arithmetic = integer_arithmetic(computing, target)
            if arithmetic is not None and arithmetic.rounds:
                yield computing


def _is_int32(value: SSAValue) -> bool:
    return is_tile(value) and info_of(value).dtype.name in INT32


@dataclass(slots=True, eq=False)
class _Event:
    """An instruction that writes 32-bit integers, or accesses elements by tiles of indices."""

    op: NisaOp
    written: list[tuple[SSAValue, bool]]
    """The operands with 32-bit integers, and whether all of their elements are written."""
    indexed: list[tuple[SSAValue, DynamicPart]]
    arithmetic: IntegerArithmetic | None
    is_candidate: bool


class _Reader:
    def __init__(
        self,
        kernel: KernelOp,
        candidates: Collection[NisaOp],
        *,
        indexed: Mapping[Operation, list[tuple[SSAValue, DynamicPart]]] | None = None,
    ):
        self.order: list[NisaOp] = []
        """The instructions that are checked for rounding, in program order."""
        self.indexing: list[_Event] = []
        """The instructions of `indexed`, in program order."""
        self._target = kernel.target
        self._candidates = candidates
        self._indexed = indexed or {}
        self._integers: dict[int, bool] = {}

    def event(self, op: Operation) -> _Event | None:
        if not is_instruction(op):
            return None
        indexed = self._indexed.get(op, [])
        written = [
            (effect.value, not effect.partial)
            for effect in (effects(op) if self._has_integers(op) else ())
            if effect.role is not Role.read and _is_int32(base_of(effect.value))
        ]
        if not written and not indexed:
            return None
        is_candidate = op in self._candidates
        if is_candidate:
            self.order.append(op)
        arithmetic = integer_arithmetic(op, self._target) if written else None
        event = _Event(op, written, indexed, arithmetic, is_candidate)
        if indexed:
            self.indexing.append(event)
        return event

    def _has_integers(self, op: NisaOp) -> bool:
        """Whether an operand is part of an allocation of 32-bit integers."""
        for value in operand_tuple(op):
            base = base_of(value)
            # The key is the identity of a type, which lives as long as the kernel.
            known = self._integers.get(id(base.type))
            if known is None:
                known = self._integers[id(base.type)] = _is_int32(base)
            if known:
                return True
        return False


class _Flow:
    """The forward walk. The facts are the bounds of allocations; None if nothing was written."""

    start: Bounds | None = None

    def __init__(self, kernel: KernelOp):
        self.found: dict[NisaOp, Rounded] = {}
        self.indices: dict[tuple[NisaOp, SSAValue], Bounds] = {}
        """The bounds of tiles of indices, by the instruction and its operand."""
        self._ranges = Ranges(kernel)
        self._constants: dict[int, Bounds] = {}

    def keys(self, event: _Event) -> Iterable[int]:
        return (id(base_of(value)) for value, _ in event.written)

    def join(self, one: Bounds | None, two: Bounds | None) -> Bounds | None:
        if one is None or two is None:
            return two if one is None else one
        both = one | two
        if both == one:
            return one
        return GROWN if both.fit_float32 else ANY

    def visit(self, event: _Event, state: dict[int, Bounds | None], certain: bool) -> None:
        known = _State(state, self._ranges, self._constants, event.op)
        for view, part in event.indexed:
            self.indices[event.op, view] = known.bounds_of(part.index)
        if not event.written:
            return
        if event.arithmetic is None:
            bounds = known.written_by(event.op)
        else:
            bounds = self._computed(event, event.arithmetic, known)
        for value, entirely in event.written:
            base = base_of(value)
            dtype, whole = info_of(base).dtype, info_of(value)
            held = any_of(dtype)
            if bounds is not None and whole.dtype.name in INT32:
                held = bounds.within(dtype)
            if held.attained and not (entirely and _is_whole(value)):
                held = replace(held, attained=False)
            earlier = state.get(id(base))
            covers = whole.indirection is None and whole.size == info_of(base).size
            state[id(base)] = held if covers or earlier is None else earlier | held

    def _computed(self, event: _Event, arithmetic: IntegerArithmetic, known: _State) -> Bounds:
        op = event.op
        for f, value in op.given_operands():
            if f.role is Role.read and event.is_candidate:
                bounds = known.bounds_of(value)
                if not bounds.fit_float32 and _is_computed(arithmetic, value):
                    self._report(Rounded(op, arithmetic, f.name, bounds))
        result = known.bounds_of(arithmetic.first)
        dtype = info_of(op.required("dst")).dtype
        for step in arithmetic.steps:
            result = _applied(step, result, known)
            if arithmetic.is_exact:
                result = result if result.within(dtype) is result else any_of(dtype)
            elif step.word in INEXACT and not result.fit_float32 and event.is_candidate:
                self._report(Rounded(op, arithmetic, None, result))
        if arithmetic.reduced is not None:
            result = reduced(arithmetic.reduced, result, arithmetic.terms)
            if not result.fit_float32 and arithmetic.reduced in INEXACT and event.is_candidate:
                self._report(Rounded(op, arithmetic, None, result))
        return result

    def _report(self, rounded: Rounded) -> None:
        self.found.setdefault(rounded.op, rounded)


def _is_whole(value: SSAValue) -> bool:
    """Whether a tile is an allocation, or a view that has the allocation's own shape."""
    base = base_of(value)
    if value is base:
        return True
    view, whole = info_of(value), info_of(base)
    return view.shape == whole.shape and view.strides == whole.strides


def _is_computed(arithmetic: IntegerArithmetic, value: SSAValue) -> bool:
    return any(value is operand for operand in arithmetic.operands)


class _State:
    """The known bounds before an instruction."""

    def __init__(
        self,
        state: dict[int, Bounds | None],
        ranges: Ranges,
        constants: dict[int, Bounds],
        op: NisaOp,
    ):
        self._state, self._ranges, self._constants, self._op = state, ranges, constants, op

    def bounds_of(self, value: SSAValue) -> Bounds:
        """Return the bounds of an operand that is a tile of integers, a number or a register."""
        if not is_tile(value):
            number = scalar_constant(value)
            if number is not None:
                return exactly(int(number))
            known = self._ranges.range_of(value, self._op)
            return ANY if known is None else Bounds(known.low, known.high)
        dtype, base = info_of(value).dtype, base_of(value)
        if dtype.name not in INT32 or info_of(base).dtype.name not in INT32:
            return any_of(dtype) if dtype.is_integer else ANY
        if isinstance(base.owner, ConstantOp):
            return self._bounds_of_constant(base, base.owner)
        if isinstance(base, BlockArgument):
            return any_of(dtype)
        bounds = self._state.get(id(base))
        if bounds is None:
            return any_of(dtype)
        if bounds.attained and not _is_whole(value):
            bounds = replace(bounds, attained=False)
        return bounds.within(dtype)

    def _bounds_of_constant(self, base: SSAValue, op: ConstantOp) -> Bounds:
        known = self._constants.get(id(base))
        if known is None:
            stored: Any = f"<{'i' if info_of(base).dtype.signed else 'u'}4"
            numbers = np.frombuffer(op.data.data, stored)
            zeros = exactly(int(np.bitwise_or.reduce(numbers, initial=0))).zeros
            known = Bounds(int(numbers.min(initial=0)), int(numbers.max(initial=0)), zeros)
            self._constants[id(base)] = known
        return known

    def written_by(self, op: NisaOp) -> Bounds | None:
        """Return the bounds of the integers that an instruction writes; None if unknown."""
        rule = _WRITTEN.get(type(op))
        return None if rule is None else rule(op, self)


def _applied(step: IntegerStep, value: Bounds, known: _State) -> Bounds:
    word = step.word
    if step.other is None:
        unary = UNARY.get(word)
        if value.grown:
            return value
        return ANY if unary is None else unary(value)
    other = known.bounds_of(step.other)
    one, two = (other, value) if step.reverse else (value, other)
    return combined(word, one, two)


# ------------------------------------------------------------------ instructions without arithmetic


def _copied(*names: str) -> Callable[[NisaOp, _State], Bounds | None]:
    """Return a function for `_WRITTEN`: results are elements of the operands `names`."""

    def written(op: NisaOp, known: _State) -> Bounds | None:
        bounds = [known.bounds_of(op.required(name)) for name in names]
        result = bounds[0]
        for other in bounds[1:]:
            result = result | other
        return result

    return written


def affine(offset: Bounds, op: NisaOp) -> Bounds:
    """Return the bounds of the integers of an instruction's `pattern` and `channel_multiplier`."""
    result, rows = offset, info_of(op.required("dst")).partitions
    for step, count in [(op.value_of("channel_multiplier"), rows), *op.value_of("pattern")]:
        result = added(result, multiplied(exactly(step), Bounds(0, max(count - 1, 0))))
    return result


def _pattern(op: NisaOp, known: _State) -> Bounds | None:
    offset = op.operand_named("offset")
    result = affine(exactly(0) if offset is None else known.bounds_of(offset), op)
    return replace(result, attained=offset is None or scalar_constant(offset) is not None)


def _number(name: str) -> Callable[[NisaOp, _State], Bounds | None]:
    """Return a function for `_WRITTEN`: the instruction writes the value of argument `name`."""

    def written(op: NisaOp, known: _State) -> Bounds | None:
        number = op.value_of(name)
        return exactly(int(number)) if float(number).is_integer() else None

    return written


def _selected(op: NisaOp, known: _State) -> Bounds | None:
    other, chosen = _number("on_false_value")(op, known), _copied("on_true_tile")(op, known)
    return None if other is None or chosen is None else other | chosen


def _nonzero(op: NisaOp, known: _State) -> Bounds | None:
    first, count = op.value_of("index_offset"), info_of(op.required("src")).free_size
    padding = exactly(op.value_of("padding_val"))
    return padding | Bounds(first, first + count) | Bounds(0, count)


def _activated(op: NisaOp, known: _State) -> Bounds | None:
    is_plain = op.operand_named("scale") is None and op.operand_named("bias") is None
    return _copied("data")(op, known) if is_plain and op.value_of("op") == "copy" else None


def _shifted(op: NisaOp, known: _State) -> Bounds | None:
    """Return the bounds written by a `TensorScalarOp` that compares or applies one bit operator."""
    if (op.value_of("op1") or op.value_of("op0")) in BOOLEAN:
        return Bounds(0, 1)
    number = op.operand_named("operand0")
    if number is None or is_tile(number) or op.value_of("op1") is not None:
        return None
    if op.value_of("reverse0") or not is_bitvec(op, "op0"):
        return None
    data, bits = known.bounds_of(op.required("data")), known.bounds_of(number).low
    word = op.value_of("op0")
    if word == "bitwise_and" and bits >= 0:
        return Bounds(0, bits)
    if word == "right_shift" and 0 < bits < 32:
        limit = data.high if data.low >= 0 else 2**32 - 1
        return Bounds(0, limit >> bits)
    if word == "left_shift" and 0 <= bits < 32:
        result = multiplied(data, exactly(1 << bits))
        dtype = info_of(op.required("dst")).dtype
        return result if result.within(dtype) is result else None
    return None


def _masked(op: NisaOp, known: _State) -> Bounds | None:
    """Return the bounds written by a `TensorTensorOp` that compares or applies `bitwise_and`."""
    if op.value_of("op") in BOOLEAN:
        return Bounds(0, 1)
    one, two = (known.bounds_of(op.required(name)) for name in ("data1", "data2"))
    if op.value_of("op") != "bitwise_and" or min(one.low, two.low) < 0:
        return None
    return Bounds(0, min(one.high, two.high))


_WRITTEN: dict[type[NisaOp], Callable[[NisaOp, _State], Bounds | None]] = {
    IotaOp: _pattern,
    MemsetOp: _number("value"),
    TensorCopyOp: _copied("src"),
    DmaCopyOp: _copied("src"),
    TensorCopyPredicatedOp: _copied("src"),
    NcTransposeOp: _copied("data"),
    DmaTransposeOp: _copied("src"),
    NcStreamShuffleOp: _copied("src"),
    NcNGatherOp: _copied("data"),
    LocalGatherOp: _copied("src_buffer"),
    AffineSelectOp: _selected,
    SelectReduceOp: _copied("on_true", "on_false"),
    ActivationOp: _activated,
    TensorScalarOp: _shifted,
    TensorTensorOp: _masked,
    SequenceBoundsOp: lambda op, known: Bounds(0, info_of(op.required("segment_ids")).free_size),
    NcFindIndex8Op: lambda op, known: Bounds(0, MAX_ELEMENTS),
    TopkOp: lambda op, known: Bounds(0, op.value_of("n")),
    NonzeroWithCountOp: _nonzero,
}
"""For classes without integer arithmetic: functions that return the bounds of written integers."""


# ------------------------------------------------------------------ uses of results

_CHOOSING = ("predicate", "index", "indices", "segment_ids", "vals")
"""Operands that choose elements and do not become results."""


def _exposed(kernel: KernelOp) -> set[int]:
    """Return the `id`s of allocations whose exact integers affect results, prints or bits."""
    sources: dict[int, set[int]] = {}
    sinks: list[int] = []
    for op in kernel.operations:
        if not is_instruction(op):
            if type(op) in (ReturnOp, DevicePrintOp):
                sinks += _results_of(op)
            continue
        written = [
            base_of(value)
            for _, value, role, _ in effects(op)
            if role is not Role.read and info_of(value).dtype.is_integer
        ]
        has_bits = is_bitvec(op, *(name for name in ("op", "op0") if op.declares(name)))
        if not written and not has_bits:
            continue
        read = _results_of(op)
        if has_bits:
            sinks += read
        for base in written:
            if isinstance(base, BlockArgument):
                sinks.append(id(base))
            if not _is_decision(op, kernel.target):
                sources.setdefault(id(base), set()).update(read)
    exposed: set[int] = set()
    while sinks:
        base = sinks.pop()
        if base not in exposed:
            exposed.add(base)
            sinks += sources.get(base, ())
    return exposed


def _results_of(op: Operation) -> list[int]:
    """Return the `id`s of allocations whose data an operation turns into results."""
    return [
        id(base_of(e.value))
        for e in effects(op)
        if e.role is not Role.write and not e.touched.is_index and e.name not in _CHOOSING
    ]


def _is_decision(op: NisaOp, target: Target) -> bool:
    """True if an instruction compares its operands, in float32."""
    arithmetic = integer_arithmetic(op, target)
    return arithmetic is not None and any(word in BOOLEAN for word in arithmetic.words)
