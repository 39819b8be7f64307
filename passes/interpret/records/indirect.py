"""Operands with run-time addresses; the addresses are computed before each instruction.

A scalar index moves a view. For index vectors and tensor indirection, elements are gathered into a
separate array before the instruction, or scattered from one after it. An index out of bounds ends
the run; with `oob_mode.skip` the elements at that index are not written.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern, Indirection, ViewError
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import skips_out_of_bounds
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.nisa.universal_rules import indirection_group
from nkijit.dialects.nki.views import DynamicPart, ViewOp, base_of, selectable
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.interpret.records.bounds import Places, index_places, out_of_bounds
from nkijit.passes.interpret.records.byte_ranges import ByteRanges
from nkijit.passes.interpret.records.environment import Array, Env, Slots, Step


@dataclass(slots=True)
class Indirect:
    """An operand of an instruction, with an address that is known only at run time."""

    op: NisaOp
    name: str
    role: Role
    value: SSAValue
    part: DynamicPart
    slots: list[tuple[int, tuple[int, ...]]]
    """The slots from which the instruction reads the elements, each with the shape of its array."""
    held: Callable[[], Places]
    """Returns the elements of the index tile from which the indices are read."""
    rows: int
    """The slot of a view of all elements that indices can select.

    Indices select along dim 0 or, with tensor indirection, in the free dimensions.
    """
    index: Callable[[Env], Any]
    selected: tuple[int, ...]
    """The shape of the selected elements."""
    free: tuple[int, ...]
    """The sizes of the free dimensions of `rows`, merged into one where the strides permit.

    Empty unless the indirection is a tensor indirection.
    """
    dtype: np.dtype[Any]
    skips: bool
    valid: int
    """The slot of a mask of the rows that are in bounds; the mask is None if all rows are."""
    lent: int | None
    """The slot of the `Lent` to notify before a write (`Slots.lent_as`), or None."""
    pattern: AccessPattern
    """The access pattern of the view in `rows`."""
    handled: bool = field(default=False)
    """True if the instruction itself evaluates the mask in `valid`."""

    def enter(self, env: Env) -> bool:
        """Put the elements into their slots; returns False if the instruction is skipped."""
        index = self.index(env)
        if self.part.indirection is Indirection.scalar:
            if not 0 <= index < self.part.bound:
                if self.skips:
                    return False
                self._refuse(index, np.array(True))
            for slot, _ in self.slots:
                env[slot] = env[self.rows][index]
            return True
        wrong = (index < 0) | (index >= self.part.bound)
        env[self.valid] = None
        if wrong.any():
            if not self.skips:
                self._refuse(index, wrong)
            env[self.valid] = ~wrong
        if self.role is Role.write:
            elements = np.zeros(self.selected, self.dtype)
        else:
            elements = self._elements(env, np.where(wrong, 0, index))
        for slot, shape in self.slots:
            env[slot] = elements.reshape(shape)
        return True

    def values(self, env: Env) -> Array:
        """Return the elements that the instruction has read or written."""
        slot, shape = self.slots[0]
        return env[slot].reshape(shape)

    def selects(self, env: Env) -> Array:
        """Return a copy of the elements that the index currently selects; 0 if out of bounds."""
        index = np.asarray(self.index(env))
        wrong = (index < 0) | (index >= self.part.bound)
        inside = np.where(wrong, 0, index)
        if self.part.indirection is Indirection.scalar:
            found = np.array(env[self.rows][int(inside)])
            if wrong:
                found[...] = 0
        else:
            found = np.array(self._elements(env, inside))
            found[wrong] = 0
        return found.reshape(self.slots[0][1])

    def leave(self, env: Env, valid: Array | None) -> None:
        """Scatter the results of the instruction, restricted to the mask `valid` if given."""
        if self.part.indirection is Indirection.scalar or self.role is Role.read:
            return
        index = self.index(env)
        values = env[self.slots[0][0]].reshape(self.selected)
        if self.part.indirection is Indirection.vector:
            if valid is None:
                env[self.rows][index] = values
                return
            row, *others = np.nonzero(valid.reshape(self.selected))
            env[self.rows][(index[row], *others)] = values[(row, *others)]
        else:
            env[self.rows][tensor_places(index, self.free)] = values

    def runs(self, env: Env) -> ByteRanges:
        """Return the byte ranges of the tensor that indices in bounds currently select."""
        pattern, size = self.pattern, self.dtype.itemsize
        if self.part.indirection is Indirection.tensor:
            key, rest = self.places(env), ()
        else:
            index = np.asarray(self.index(env)).reshape(-1)
            key, rest = (index[(index >= 0) & (index < self.part.bound)],), pattern.shape[1:]
        element = np.zeros((), np.intp)
        for numbers, stride in zip(key, pattern.strides, strict=False):
            element = element + np.asarray(numbers, np.intp) * stride
        inner = ByteRanges.of(
            AccessPattern(pattern.offset, pattern.strides[len(key) :], rest), size
        )
        starts = element.reshape(-1, 1) * size + inner.starts
        return ByteRanges(starts.reshape(-1), inner.length)

    def places(self, env: Env) -> Any:
        """Return the NumPy index into `rows` of the elements that in-bounds indices select now."""
        index = np.asarray(self.index(env))
        if self.part.indirection is Indirection.tensor:
            return tensor_places(np.clip(index, 0, self.part.bound - 1), self.free)
        return index[(index >= 0) & (index < self.part.bound)]

    def _elements(self, env: Env, index: Array) -> Array:
        everything = env[self.rows]
        if self.part.indirection is Indirection.vector:
            return everything[index]
        return everything[tensor_places(index, self.free)]

    def _refuse(self, index: Any, wrong: Array) -> NoReturn:
        """Raise the error for `index`; `wrong` is a mask of the indices out of bounds."""
        raise out_of_bounds(
            self.op,
            self.name,
            self.value,
            self.part,
            self.held(),
            np.asarray(index),
            wrong,
        )


def make_indirect(
    slots: Slots, op: NisaOp, name: str, role: Role, value: SSAValue, shape: tuple[int, ...]
) -> tuple[Indirect, tuple[int, ...] | None]:
    """Return an `Indirect` for an operand in a shape.

    The second result is `shape` if the operand must be reshaped at run time, because no view has
    this shape; else None.
    """
    view = value.owner
    assert isinstance(view, ViewOp)
    part = view.dynamic
    assert part is not None
    info, access, base = info_of(value), slots.access(value), base_of(value)
    reshape = None
    free: tuple[int, ...] = ()
    if part.indirection is Indirection.tensor:
        # Element (p, f) of the tile is (p, f) in `rows`, regardless of its strides.
        rows = merged_free_dims(access)
        free = rows.shape[1:]
        selected = info.shape
    else:
        if part.indirection is Indirection.scalar:
            try:
                access = access.reshape(shape, on_chip=False)
            except ViewError:
                reshape = shape
        selected = access.shape
        rows = selectable(access, part)
    slot = slots.new()
    indirect = Indirect(
        op,
        name,
        role,
        value,
        part,
        [(slot, selected if part.indirection is Indirection.scalar else shape)],
        functools.partial(_index_places, op, view, part, slots.target),
        slots.view(base, rows, info.dtype),
        index_reader(slots, op, view, part),
        selected,
        free,
        slots.stored(info.dtype),
        skips_out_of_bounds(op),
        slots.new(),
        None if role is Role.read else slots.lent_as(base),
        rows,
    )
    return indirect, reshape


def merged_free_dims(access: AccessPattern) -> AccessPattern:
    """Return a tile's pattern in the shape (partitions, free elements); unchanged if impossible."""
    try:
        return access.reshape((access.shape[0], math.prod(access.shape[1:])), on_chip=True)
    except ViewError:
        return access


def tensor_places(index: Array, free: tuple[int, ...]) -> tuple[Array, ...]:
    """Return the NumPy index of elements that tensor indirection selects in (partitions, *free)."""
    lanes: Array = np.arange(len(index)).reshape(-1, 1)
    if len(free) == 1:
        return (lanes, index)
    return (lanes, *np.unravel_index(index, free))


def index_reader(
    slots: Slots, op: Operation, view: ViewOp, part: DynamicPart
) -> Callable[[Env], Any]:
    """Return a function that reads the indices of a view, which is an operand of `op`."""
    if not is_tile(part.index):
        return slots.register_reader(part.index, op)
    info = info_of(part.index)
    tile = slots.view(base_of(part.index), slots.access(part.index), info.dtype)
    if part.indirection is Indirection.scalar:
        return lambda env: int(env[tile].item())
    if part.indirection is Indirection.vector:
        count = info_of(view.result).shape[0]

        def vector(env: Env) -> Array:
            # The order of `index_places`.
            columns = env[tile].reshape(info.partitions, -1).T
            return columns.reshape(-1)[:count].astype(np.int64)

        return vector
    assert isinstance(op, NisaOp)
    row, column = _index_places(op, view, part, slots.target)

    def tensor(env: Env) -> Array:
        return env[tile].reshape(info.partitions, -1)[row, column].astype(np.int64)

    return tensor


def _index_places(op: NisaOp, view: ViewOp, part: DynamicPart, target: Target) -> Places:
    count = info_of(view.result).shape[0] if part.count is None else part.count
    return index_places(part, count, indirection_group(op, target))


class Located(NamedTuple):
    """An operand with a run-time address, in the shape that the instruction requests."""

    indirect: Indirect
    value: SSAValue
    shape: tuple[int, ...]
    """The shape that the instruction requests."""
    reshape: tuple[int, ...] | None
    """The shape to which the array is reshaped at run time; None if a view has `shape`."""


Locate = Callable[[str, SSAValue, tuple[int, ...]], int]
"""Returns the slot of an operand, given the operand's name, value and shape."""


def with_indirects(op: NisaOp, step: Step, found: list[Located], locate: Locate) -> Step:
    """Return a step that computes the addresses of operands, then runs the instruction.

    Args:
        op: the instruction.
        step: computes the instruction on operands that are in their slots.
        found: the operands with run-time addresses; `locate` may add to this list.
        locate: returns the slot of another operand.
    """
    masked = [
        i
        for i, *_ in found
        if i.skips and i.part.indirection is Indirection.vector and not i.handled
    ]
    restore = _restorer(op, locate) if masked else None
    indirects = [indirect for indirect, *_ in found]
    lent = [(i.lent, i) for i in indirects if i.lent is not None]

    def run(env: Env) -> None:
        for indirect in indirects:
            if not indirect.enter(env):
                return
        for slot, indirect in lent:
            if env[slot] is not None:
                env[slot].before_write(indirect.runs(env))
        valid = None
        for indirect in masked:
            rows = env[indirect.valid]
            if rows is not None:
                # Elements correspond in row-major order, regardless of the shapes of src and dst.
                mask = np.repeat(rows, math.prod(indirect.selected[1:]))
                valid = mask if valid is None else valid & mask
        put_back = restore(env, valid) if restore is not None and valid is not None else None
        step(env)
        for indirect in indirects:
            indirect.leave(env, valid)
        if put_back is not None:
            put_back()

    return run


def _restorer(op: NisaOp, locate: Locate) -> Callable[[Env, Array], Callable[[], None] | None]:
    """Return a function that saves the destination, and returns a function that restores it.

    Only the elements that are False in the given mask are restored.
    """
    name, value = next(
        (f.name, value) for f, value in op.given_operands() if f.role is not Role.read
    )
    info = info_of(value)
    if info.indirection is Indirection.vector:
        return lambda env, valid: None  # `leave` scatters only the valid elements
    slot = locate(name, value, info.shape)

    def restore(env: Env, valid: Array) -> Callable[[], None]:
        array = env[slot]
        saved = array.copy()
        wrong = ~valid.reshape(array.shape)

        def put_back() -> None:
            array[wrong] = saved[wrong]

        return put_back

    return restore
