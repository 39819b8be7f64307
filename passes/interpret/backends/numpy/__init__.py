"""The NumPy backend: computes records (descriptions of computations) by NumPy calls."""

from __future__ import annotations

from typing import Any

from nkijit.passes.interpret.backends.numpy.chains import bind_chain, bind_computed, bind_reduce
from nkijit.passes.interpret.backends.numpy.movement import (
    bind_copy,
    bind_fill,
    bind_gather,
    bind_move_rows,
    bind_transpose,
)
from nkijit.passes.interpret.backends.numpy.products import bind_matmul
from nkijit.passes.interpret.records.environment import Slots, Step
from nkijit.passes.interpret.records.records import (
    Chain,
    Computed,
    Copy,
    Fill,
    Gather,
    Matmul,
    Meets,
    MoveRows,
    Opaque,
    Record,
    Reduce,
    Transpose,
)


def _opaque(record: Opaque, slots: Slots) -> Step:
    return record.step


def _meets(record: Meets, slots: Slots) -> Step:
    return record.drive


_BINDERS: dict[type[Any], Any] = {
    Chain: bind_chain,
    Computed: bind_computed,
    Copy: bind_copy,
    Fill: bind_fill,
    Transpose: bind_transpose,
    Matmul: bind_matmul,
    Reduce: bind_reduce,
    Gather: bind_gather,
    MoveRows: bind_move_rows,
    Opaque: _opaque,
    Meets: _meets,
}


def bind(record: Record, slots: Slots) -> Step:
    """Return the step (function of an environment) that computes a record."""
    return _BINDERS[type(record)](record, slots)
