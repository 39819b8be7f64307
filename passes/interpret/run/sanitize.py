"""Checks of a run for uses of unwritten memory, element by element.

The verifier proves properties of the program. Data-dependent accesses (gathers, predicates, loops
and run-time addresses) are checked here, by the same rules.
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
from nkijit.dialects.declare.operation import NisaOp, is_instruction
from nkijit.dialects.declare.queries import skips_out_of_bounds
from nkijit.dialects.effects import Effect, effects
from nkijit.dialects.nisa.cores import CoreBarrierOp
from nkijit.dialects.nisa.select import AffineSelectOp, RangeSelectOp, SelectReduceOp
from nkijit.dialects.nisa.transpose import DmaTransposeOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import DevicePrintOp
from nkijit.dialects.nki.views import ViewOp, base_of, selectable
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.definedness.origins import Origins, Use, leaving
from nkijit.passes.analysis.definedness.parts import part_of
from nkijit.passes.analysis.definedness.shadow import (
    DEFINED,
    KEPT,
    MARK,
    UNWRITTEN,
    Marks,
    Shadow,
)
from nkijit.passes.analysis.definedness.tracker import Mask, Tracker
from nkijit.passes.diagnostics.errors import warn_of
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.environment import Array, Env, strided
from nkijit.passes.interpret.records.errors import UnwrittenError
from nkijit.passes.interpret.records.indirect import index_reader, merged_free_dims, tensor_places
from nkijit.passes.interpret.records.records import Matmul
from nkijit.passes.interpret.semantics.nisa.pattern import affine_numbers
from nkijit.passes.interpret.semantics.nisa.select import (
    affine_condition,
    predicate_condition,
    range_condition,
)
from nkijit.passes.numerics.storage import loader
from nkijit.passes.verify.init import undefined, unreturned, unwritten


@dataclass(slots=True)
class Sanitizer:
    """The marks (origins of undefined values) of a rank's memory, which its cores share."""

    _origins: Origins = field(default_factory=Origins)
    _shared: dict[int, Shadow] = field(default_factory=dict[int, Shadow])

    def of_core(self, plan: Plan) -> CoreSanitizer:
        """Return the observer of one core."""
        return CoreSanitizer(plan, self._origins, self._shared)


class CoreSanitizer(Tracker):
    """Checks the reads and tracks the writes of one core."""

    def __init__(self, plan: Plan, origins: Origins, shared: dict[int, Shadow]):
        super().__init__(plan.kernel, origins)
        self._plan = plan
        self._shared = shared
        self._own: dict[SSAValue, Shadow | None] = {}
        self._readers: dict[tuple[Operation, SSAValue], Callable[[Env], Any]] = {}
        self._writes: list[tuple[Operation, Effect, Any, Marks]] = []
        self._env: Env = []
        self._records = plan.records

    def before(self, op: Operation, env: Env) -> None:
        """Raise UnwrittenError for an operation that uses unwritten data."""
        self._writes.clear()
        self._env = env
        if isinstance(op, CoreBarrierOp) or self._is_skipped(op, env):
            return
        if not is_instruction(op):
            if isinstance(op, DevicePrintOp):
                self.marks_read(op)
            return
        for effect, marks in self.written_by(op):
            rows = self._rows_in_bounds(op, effect)
            written = marks if rows is None else np.where(rows, marks, MARK(KEPT))
            self._writes.append((op, effect, self._key(op, effect.value), written))

    def after(self, op: Operation, env: Env) -> None:
        """Mark the elements that the operation has written."""
        for _, effect, key, marks in self._writes:
            value = effect.value
            shadow = self._shadow(base_of(value))
            if shadow is not None:
                shadow.write(self._access(value), info_of(value).dtype.itemsize, marks, key)

    def check_results(self) -> None:
        """Check the results: raise UnwrittenError for data derived from unwritten memory.

        Parts of a result that were never written cause a warning.
        """
        for effect, how in leaving(self._plan.kernel):
            shadow, info = self._shadow(base_of(effect.value)), info_of(effect.value)
            if shadow is None:
                continue
            marks = shadow.read(self._plan.slots.access(effect.value), info.dtype.itemsize)
            use = self.origins.left(effect, how, marks)
            if use is not None:
                self.used(use)
            missing = marks == UNWRITTEN
            if missing.all():
                raise UnwrittenError(unreturned(effect, missing, entire=True))
            if missing.any():
                warn_of(unreturned(effect, missing, entire=False))

    # ---------------------------------------------------------------- tracker

    def read(self, op: Operation, effect: Effect, *, least: bool = False) -> Marks:
        value = effect.value
        info, shadow = info_of(value), self._shadow(base_of(value))
        if shadow is None:
            return np.zeros(info.shape, MARK)
        key = self._key(op, value)
        marks = shadow.read(self._access(value), info.dtype.itemsize, key, least=least)
        return marks.reshape(info.shape)

    def touched(self, op: Operation, effect: Effect) -> Mask | None:
        if not isinstance(op, NisaOp):
            return None
        mask = self._rows_in_bounds(op, effect)
        if effect.partial:
            name, info = effect.touched.operand, info_of(effect.value)
            part = part_of(op, name, info, lambda other: self.data(op, other))
            mask = part if mask is None or part is None else mask & part
        return mask

    def data(self, op: NisaOp, name: str) -> Array:
        value = op.required(name)
        info = info_of(value)
        stored = self._plan.slots.stored(info.dtype)
        raw = self._env[self._plan.slots.base(base_of(value))]
        array = strided(raw, self._access(value), stored)
        return array[self._key(op, value)].reshape(info.shape)

    def holds(self, op: NisaOp) -> Mask | None:
        if isinstance(op, AffineSelectOp):
            value, offset = op.operand_named("offset"), op.SPEC.by_name["offset"].default
            if value is not None:
                offset = self._plan.slots.register_reader(value, op)(self._env)
            numbers = (affine_numbers(op) + int(offset)).astype(np.int32)
            return affine_condition(op)(numbers).reshape(len(numbers), -1)
        if isinstance(op, RangeSelectOp):
            return range_condition(op)(self._floats(op, "bound0"), self._floats(op, "bound1"))
        if isinstance(op, SelectReduceOp):
            predicate = self.data(op, "predicate")
            return predicate_condition(op)(predicate.reshape(len(predicate), -1))
        return None

    def added(self, op: NisaOp) -> Mask | bool | None:
        record = self._records.get(op)
        return record.added if isinstance(record, Matmul) else None

    def entirely_unwritten(self, op: Operation, effect: Effect) -> None:
        raise UnwrittenError(unwritten(op, effect, "it"))

    def used(self, use: Use) -> None:
        raise UnwrittenError(undefined(use))

    def _floats(self, op: NisaOp, name: str) -> Array:
        """Return an operand as float32, (P, F)."""
        values = self.data(op, name)
        load = loader(info_of(op.required(name)).dtype, self._plan.slots.precise)
        values = values.reshape(len(values), -1)
        return values if load is None else load(values)

    # ---------------------------------------------------------------- addresses of operands

    def _shadow(self, base: SSAValue) -> Shadow | None:
        """Return the marks of an allocation or an argument; None for constants."""
        if base not in self._own:
            self._own[base] = self._make_shadow(base)
        return self._own[base]

    def _make_shadow(self, base: SSAValue) -> Shadow | None:
        allocated = isinstance(base.owner, AllocOp)
        if not allocated and base not in self._plan.kernel.arguments:
            return None
        number = self._plan.slots.shared_number(base)
        shadow = self._shared.get(number)
        if shadow is None:
            # Each core that shares memory accesses it through its own views.
            several = self.kernel.core[1] > 1 and number >= 0
            mark, unit = UNWRITTEN if allocated else DEFINED, 1 if several else 0
            shadow = Shadow([base], self._plan.slots.reach(base), mark, unit=unit)
            if number >= 0:
                self._shared[number] = shadow
        return shadow

    def _access(self, value: SSAValue) -> AccessPattern:
        """Return the pattern of a tile; for an indirect tile, of all selectable elements."""
        access, owner = self._plan.slots.access(value), value.owner
        dynamic = owner.dynamic if isinstance(owner, ViewOp) else None
        if dynamic is None:
            return access
        if dynamic.indirection is Indirection.tensor:
            return merged_free_dims(access)
        return selectable(access, dynamic)

    def _key(self, op: Operation, value: SSAValue) -> Any:
        """Return the NumPy index of a tile's elements among the elements of `_access`."""
        owner = value.owner
        dynamic = owner.dynamic if isinstance(owner, ViewOp) else None
        if dynamic is None:
            return ...
        # An index out of bounds ends the run, or its access is skipped: any legal index will do.
        index = np.clip(self._index(op, value, self._env), 0, dynamic.bound - 1)
        if dynamic.indirection is Indirection.tensor:
            return tensor_places(index, self._access(value).shape[1:])
        return index

    def _index(self, op: Operation, value: SSAValue, env: Env) -> Any:
        reader = self._readers.get((op, value))
        if reader is None:
            view = value.owner
            assert isinstance(view, ViewOp)
            assert view.dynamic is not None
            reader = index_reader(self._plan.slots, op, view, view.dynamic)
            self._readers[op, value] = reader
        return reader(env)

    # ---------------------------------------------------------------- indices out of bounds

    def _dynamics(self, op: Operation) -> Iterator[tuple[SSAValue, ViewOp]]:
        if not isinstance(op, NisaOp) or not skips_out_of_bounds(op):
            return
        for effect in effects(op):
            view = effect.value.owner
            if isinstance(view, ViewOp) and view.dynamic is not None:
                yield effect.value, view

    def _is_skipped(self, op: Operation, env: Env) -> bool:
        """True if an index out of bounds skips the whole instruction."""
        return any(
            view.kind is Indirection.scalar and not 0 <= self._index(op, value, env) < _bound(view)
            for value, view in self._dynamics(op)
        )

    def _in_bounds(self, op: NisaOp) -> Array | None:
        """Return a mask, in row-major order, of the elements whose vector indices are in bounds.

        None if all are in bounds.
        """
        valid = None
        for value, view in self._dynamics(op):
            if view.kind is not Indirection.vector:
                continue
            index = self._index(op, value, self._env)
            rows = (index >= 0) & (index < _bound(view))
            if not isinstance(op, DmaTransposeOp):
                rows = np.repeat(rows, math.prod(info_of(value).shape[1:]))
            valid = rows if valid is None else valid & rows
        return valid

    def _rows_in_bounds(self, op: NisaOp, effect: Effect) -> Mask | None:
        """Return a mask of a tile's elements with indices in bounds; None for all."""
        valid = self._in_bounds(op)
        if valid is None or effect.touched.is_index:
            return None
        shape = info_of(effect.value).shape
        if not isinstance(op, DmaTransposeOp):
            return valid.reshape(shape)
        # Rows of src become the last dimension of dst.
        rows = valid if effect.role is not Role.read else valid.reshape(-1, *[1] * (len(shape) - 1))
        return np.broadcast_to(rows, shape)


def _bound(view: ViewOp) -> int:
    assert view.dynamic is not None
    return view.dynamic.bound
