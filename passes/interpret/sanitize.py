"""Watch a run for reads of memory that nothing has written, element by element.

The verifier proves what follows from the program; what only data decides (gathers, predicates,
loops and addresses known at run time) is watched here. Every byte of an allocation has a mark
that says whether it has been written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern, Indirection
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import skips_out_of_bounds
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.nisa.cores import CoreBarrierOp
from nkijit.dialects.nisa.transpose import DmaTransposeOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import ViewOp, access_of, base_of, selectable
from nkijit.dialects.tiles import info_of
from nkijit.passes.interpret.environment import Array, Env
from nkijit.passes.interpret.errors import UnwrittenError
from nkijit.passes.interpret.indirect import index_reader, merged_free_dims, tensor_places
from nkijit.passes.interpret.parts import part_of
from nkijit.passes.interpret.plan import Plan
from nkijit.passes.verify.init import region_of, unwritten

WRITTEN = 0xFF
"""The mark of a byte that has been written."""


@dataclass(slots=True)
class Sanitizer:
    """The marks of one rank's memory."""

    _shared: dict[int, Array] = field(default_factory=dict[int, Array])

    def of_core(self, plan: Plan) -> CoreSanitizer:
        """The observer of one core."""
        return CoreSanitizer(plan, self._shared)


@dataclass(frozen=True, slots=True)
class _Place:
    """The elements that an operand is in a run: some of an array that stands for the tensor."""

    array: Array
    key: Any
    mask: Any = None
    """Which of them the instruction touches; None for all."""

    def all(self) -> Array:
        return self.array[self.key]

    def mark(self) -> None:
        if self.mask is None:
            self.array[self.key] = _written(self.array)
            return
        marks = self.all().copy()
        marks[self.mask] = _written(self.array)
        self.array[self.key] = marks


def _written(array: Array) -> int:
    return int(np.iinfo(array.dtype).max)


class CoreSanitizer:
    """Watches what one core reads and writes; an observer of its run."""

    def __init__(self, plan: Plan, shared: dict[int, Array]):
        self._plan = plan
        self._shared = shared
        self._own: dict[SSAValue, Array] = {}
        self._readers: dict[tuple[Operation, SSAValue], Callable[[Env], Any]] = {}
        self._writes: list[_Place] = []

    def before(self, op: Operation, env: Env) -> None:
        """Refuse an operation that reads what nothing has written."""
        self._writes.clear()
        if isinstance(op, CoreBarrierOp) or self._is_skipped(op, env):
            return
        for effect in effects(op):
            marks = self._marks_of(base_of(effect.value))
            if marks is None:
                continue
            if effect.role is Role.read:
                self._check(op, effect, self._place(op, effect, marks, env))
            else:
                self._writes.append(self._place(op, effect, marks, env))

    def after(self, op: Operation, env: Env) -> None:
        """Mark what the operation has written."""
        for place in self._writes:
            place.mark()

    def check_results(self) -> None:
        """Refuse results that are not written as a whole."""
        end = self._plan.kernel.return_op
        for effect in effects(end):
            marks = self._marks_of(base_of(effect.value))
            if marks is not None:
                self._check(end, effect, _Place(_elements(effect.value, marks), ...))

    def _check(self, op: Operation, effect: Effect, place: _Place) -> None:
        missing = place.all() != _written(place.array)
        if place.mask is not None:
            missing = missing & place.mask
        if missing.any():
            raise UnwrittenError(str(unwritten(op, effect, region_of(missing))))

    def _marks_of(self, base: SSAValue) -> Array | None:
        """A mark for every byte of an allocation; None for arguments and constants."""
        if not isinstance(base.owner, AllocOp):
            return None
        marks = self._own.get(base)
        if marks is None:
            info = info_of(base)
            marks = np.zeros(info.size * info.dtype.itemsize, np.uint8)
            number = self._plan.slots.shared_number(base)
            if number >= 0:
                marks = self._shared.setdefault(number, marks)
            self._own[base] = marks
        return marks

    # ---------------------------------------------------------------- where an operand is

    def _place(self, op: Operation, effect: Effect, marks: Array, env: Env) -> _Place:
        value = effect.value
        array, key = self._located(op, value, marks, info_of(value).dtype.itemsize, env)
        mask = None
        if isinstance(op, NisaOp):
            if effect.partial:
                mask = part_of(op, effect.name, info_of(value), self._values(op, env))
            valid = self._in_bounds(op, env)
            if valid is not None:
                shape = array[key].shape
                mask = self._rows_in_bounds(op, effect, valid, shape)
        return _Place(array, key, mask)

    def _located(
        self, op: Operation, value: SSAValue, raw: Array, itemsize: int, env: Env
    ) -> tuple[Array, Any]:
        """An array over a tensor's bytes and the key of a tile's elements in it."""
        access, owner = access_of(value), value.owner
        dynamic = owner.dynamic if isinstance(owner, ViewOp) else None
        if dynamic is None:
            return _array(access, raw, itemsize), ...
        # An index out of bounds ends the run, or is left out: any place will do.
        index = np.clip(self._index(op, value, env), 0, dynamic.bound - 1)
        if dynamic.indirection is Indirection.tensor:
            tile = merged_free_dims(access)
            return _array(tile, raw, itemsize), tensor_places(index, tile.shape[1:])
        return _array(selectable(access, dynamic), raw, itemsize), index

    def _index(self, op: Operation, value: SSAValue, env: Env) -> Any:
        reader = self._readers.get((op, value))
        if reader is None:
            view = value.owner
            assert isinstance(view, ViewOp)
            assert view.dynamic is not None
            reader = index_reader(self._plan.slots, op, view, view.dynamic)
            self._readers[op, value] = reader
        return reader(env)

    def _values(self, op: NisaOp, env: Env) -> Callable[[str], Array]:
        def values(name: str) -> Array:
            value = op.required(name)
            stored = self._plan.slots.stored(info_of(value).dtype)
            raw = env[self._plan.slots.base(base_of(value))]
            array, key = self._located(op, value, raw, stored.itemsize, env)
            return array[key].view(stored)

        return values

    # ---------------------------------------------------------------- indices out of bounds

    def _dynamics(self, op: Operation) -> Iterator[tuple[SSAValue, ViewOp]]:
        if not isinstance(op, NisaOp) or not skips_out_of_bounds(op):
            return
        for effect in effects(op):
            view = effect.value.owner
            if isinstance(view, ViewOp) and view.dynamic is not None:
                yield effect.value, view

    def _is_skipped(self, op: Operation, env: Env) -> bool:
        """True when an index that is out of bounds leaves out the whole instruction."""
        return any(
            view.kind is Indirection.scalar and not 0 <= self._index(op, value, env) < _bound(view)
            for value, view in self._dynamics(op)
        )

    def _in_bounds(self, op: NisaOp, env: Env) -> Array | None:
        """Which elements, in row-major order, no vector of indices leaves out; None for all."""
        valid = None
        for value, view in self._dynamics(op):
            if view.kind is not Indirection.vector:
                continue
            index = self._index(op, value, env)
            rows = (index >= 0) & (index < _bound(view))
            if not isinstance(op, DmaTransposeOp):
                rows = np.repeat(rows, math.prod(info_of(value).shape[1:]))
            valid = rows if valid is None else valid & rows
        return valid

    @staticmethod
    def _rows_in_bounds(
        op: NisaOp, effect: Effect, valid: Array, shape: tuple[int, ...]
    ) -> Array | None:
        if effect.touched.is_index:
            return None
        if not isinstance(op, DmaTransposeOp):
            return valid.reshape(shape)
        # Rows of src become the last dimension of dst.
        rows = valid if effect.role is not Role.read else valid.reshape(-1, *[1] * (len(shape) - 1))
        return np.broadcast_to(rows, shape)


def _bound(view: ViewOp) -> int:
    assert view.dynamic is not None
    return view.dynamic.bound


def _elements(value: SSAValue, raw: Array) -> Array:
    return _array(access_of(value), raw, info_of(value).dtype.itemsize)


def _array(access: AccessPattern, raw: Array, itemsize: int) -> Array:
    """The elements of a pattern over the bytes of a tensor, as unsigned integers."""
    strides = tuple(stride * itemsize for stride in access.strides)
    return np.ndarray(access.shape, f"u{itemsize}", raw, access.offset * itemsize, strides)
