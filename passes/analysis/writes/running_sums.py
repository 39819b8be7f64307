"""Sums of many terms in data types that round or saturate them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.dtypes import DType
from nkijit.dialects.effects import effects, role_of
from nkijit.dialects.nisa.elementwise import ScalarTensorTensorOp, TensorTensorOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of, used_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.flow.ranges import Ranges
from nkijit.passes.analysis.writes.unused_results import call_of


@dataclass(slots=True)
class RunningSum:
    """A call that adds one term after the other to a tile of a narrow type."""

    op: NisaOp
    """The first addition."""
    terms: int
    """The number of terms that are added one after the other."""


def running_sums(kernel: KernelOp, limits: dict[DType, int]) -> list[RunningSum]:
    """Return the sums of more terms than the limit of their data type, in program order.

    A sum consists of additions of the same call in the source. The calls of loops on the device
    count at least as often as the loops run.
    """
    narrow = {op for op in kernel.operations if type(op) in _ADDING and _is_narrow(op, limits)}
    if not narrow:
        return []
    sums = _Sums(kernel)
    for op in kernel.operations:
        sums.visit(op, op in narrow)
    return [s for s in sums.found.values() if s.terms > limits[info_of(s.op.required("dst")).dtype]]


_ADDING = frozenset((TensorTensorOp, ScalarTensorTensorOp))


def _is_narrow(op: Operation, limits: dict[DType, int]) -> bool:
    assert isinstance(op, NisaOp)
    word = op.value_of("op" if type(op) is TensorTensorOp else "op1")
    return word in ("add", "subtract") and info_of(op.required("dst")).dtype in limits


@dataclass(frozen=True, slots=True)
class _Partial:
    """The contents of a tile: the sum of a number of terms."""

    call: Hashable
    terms: int


class _Sums:
    """A walk over a kernel that counts the terms of the sums that tiles hold."""

    def __init__(self, kernel: KernelOp):
        self.found: dict[Hashable, RunningSum] = {}
        self._held: dict[SSAValue, dict[Hashable, _Partial]] = {}
        self._repeated: dict[tuple[Operation | None, Hashable, SSAValue], int] = {}
        """The results of `_repeats`, by loop, call and allocation."""
        self._ranges = Ranges(kernel)

    def visit(self, op: Operation, adds: bool) -> None:
        added = self._sum(op) if adds and isinstance(op, NisaOp) else None
        for effect in effects(op):
            base = base_of(effect.value)
            if effect.role is Role.read:
                continue
            if added is None:
                self._held.pop(base, None)
            else:
                self._held.setdefault(base, {})[_place(effect.value)] = added

    def _sum(self, op: NisaOp) -> _Partial | None:
        """Return the sum that an addition writes; None for addresses that run time computes."""
        call, dst = call_of(op), op.required("dst")
        read = [e.value for e in effects(op) if e.role is Role.read]
        if any(info_of(value).indirection is not None for value in (dst, *read)):
            return None
        dtype, terms = info_of(dst).dtype, 0
        for value in read:
            held = self._held.get(base_of(value), {}).get(_place(value))
            if held is not None and held.call == call and info_of(value).dtype is dtype:
                terms = max(terms, held.terms)
        in_place = any(base_of(v) is base_of(dst) and _place(v) == _place(dst) for v in read)
        terms += self._repeats(op, call, base_of(dst)) if in_place else 1
        known = self.found.setdefault(call, RunningSum(op, terms))
        known.terms = max(known.terms, terms)
        return _Partial(call, terms)

    def _repeats(self, op: NisaOp, call: Hashable, base: SSAValue) -> int:
        """Return how often the loops on the device around an addition add to the same tile."""
        loop = op.parent_op()
        key = loop, call, base
        count = self._repeated.get(key)
        if count is None:
            count, others = 1, [w for w in _writers(base) if call_of(w) != call]
            while isinstance(loop, ForOp) and not any(map(loop.is_ancestor, others)):
                count *= self._ranges.trip_counts(loop)[0]
                loop = loop.parent_op()
            self._repeated[key] = count
        return count


def _writers(base: SSAValue) -> Iterator[Operation]:
    """Yield the operations that write or allocate a tile."""
    if isinstance(base.owner, Operation):
        yield base.owner
    for value in used_of(base):
        for use in value.uses:
            if role_of(use) not in (None, Role.read):
                yield use.operation


def _place(value: SSAValue) -> Hashable:
    """Return a key of the elements of an allocation that a static view has."""
    info = info_of(value)
    return info.offset, info.shape, info.strides
