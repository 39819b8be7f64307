"""Operands with run-time addresses: terms that select elements by an index that is a term.

If all indices of an instruction are numbers, the instruction accesses its elements as in a run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nkijit.dialects.access import Indirection
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Env, OperandTile, Slots, Step
from nkijit.passes.interpret.records.indirect import Indirect, with_indirects
from nkijit.passes.interpret.records.records import Source
from nkijit.passes.prove.algebra import Algebra
from nkijit.passes.prove.digests import CELL, Cells, column_sums, weighted_sums
from nkijit.passes.prove.errors import NotProvableError
from nkijit.passes.prove.memory import read
from nkijit.passes.prove.symbols import register_cells

IndexCells = Callable[[Env], Cells]


def with_addresses(op: NisaOp, step: Step, binding: Binding, algebra: Algebra) -> Step:
    """Return a step that computes the addresses of operands, then runs the instruction.

    Raises NotProvableError, also in the step, for addresses without terms.
    """
    indirects = [located.indirect for located in binding.indirects]
    indices = [(each, _index_cells(each, op, binding.slots, algebra)) for each in indirects]
    for each in indirects:
        each.dtype = CELL
    exact = with_indirects(op, step, binding.indirects, binding.slot_of)
    written = _written(op, binding) if any(each.skips for each in indirects) else None

    def run(env: Env) -> None:
        cells = [(each, index(env)) for each, index in indices]
        known = [(each, algebra.values(found)) for each, found in cells]
        if all(values is not None for _, values in known):
            for each, values in known:
                assert values is not None
                _fix(each, values.astype(np.int64))
            exact(env)
            return
        if any(each.handled for each in indirects):
            raise NotProvableError("its address depends on inputs")
        for each, index in cells:
            _enter(each, index, env, algebra)
        before = None if written is None else env[written].copy()
        step(env)
        for each, index in cells:
            if each.role is not Role.read:
                _leave(each, index, env, algebra)
            elif before is not None:
                assert written is not None
                _keep(each, index, before, env[written], algebra)

    return run


def _written(op: NisaOp, binding: Binding) -> int | None:
    """Return the slot of the tile whose elements an instruction may leave out.

    None if the tile has a run-time address itself: no index selects an element out of bounds.
    """
    name, value = next(
        (f.name, value) for f, value in op.given_operands() if f.role is not Role.read
    )
    info = info_of(value)
    return binding.slot_of(name, value, info.shape) if info.indirection is None else None


def _keep(indirect: Indirect, index: Cells, before: Cells, after: Cells, algebra: Algebra) -> None:
    """Replace results by functions of the index: those from out of bounds keep their contents."""
    if not indirect.skips:
        return
    if indirect.part.indirection is not Indirection.scalar:
        size = after.size // index.size
        index = np.repeat(index, size).reshape(after.shape)
    name = ("in bounds", indirect.part.bound)
    after[...] = algebra.elements(name, np.broadcast_to(index, after.shape), after, before)


def _fix(indirect: Indirect, index: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> None:
    """Let an operand use an index that is known."""
    scalar = indirect.part.indirection is Indirection.scalar
    indirect.index = (lambda env: int(index.item())) if scalar else (lambda env: index)


def _index_cells(indirect: Indirect, op: NisaOp, slots: Slots, algebra: Algebra) -> IndexCells:
    """Return a function that reads the digests of the indices; see `indirect.index_reader`."""
    tile = indirect.part.index
    if not is_tile(tile):
        register = slots.register_reader(tile, op)

        def number(env: Env) -> Cells:
            return register_cells(register(env), algebra)

        return number
    info = info_of(tile)
    slot = slots.view(base_of(tile), slots.access(tile), info.dtype)
    reader = read(Source(slot, tile=OperandTile.of(tile)), algebra)
    if indirect.part.indirection is Indirection.scalar:
        return lambda env: reader(env).reshape(())
    if indirect.part.indirection is Indirection.vector:
        count = info_of(indirect.value).shape[0]
        return lambda env: reader(env).reshape(info.partitions, -1).T.reshape(-1)[:count]
    row, column = indirect.held()
    return lambda env: reader(env).reshape(info.partitions, -1)[row, column]


def _flat(rows: Cells) -> Cells:
    """Return all elements that indices can select: (rows, elements of a row)."""
    return rows.reshape(len(rows), -1)


def _enter(indirect: Indirect, index: Cells, env: Env, algebra: Algebra) -> None:
    """Put the selected elements into their slots, as functions of all elements and the index."""
    if indirect.role is Role.write:
        elements: Cells = np.zeros(indirect.selected, CELL)
    else:
        elements = _selected(indirect, index, env, algebra)
    for slot, shape in indirect.slots:
        env[slot] = elements.reshape(shape)


def _selected(indirect: Indirect, index: Cells, env: Env, algebra: Algebra) -> Cells:
    rows = _flat(env[indirect.rows])
    kind = indirect.part.indirection
    name = ("at", rows.shape[1 if kind is Indirection.tensor else 0], indirect.part.bound)
    if kind is Indirection.tensor:
        return algebra.elements(name, weighted_sums(rows), index).reshape(indirect.selected)
    sums = column_sums(rows)
    if kind is Indirection.vector:
        index = index.reshape(-1, 1)
    return algebra.elements(name, sums, index).reshape(indirect.selected)


def _leave(indirect: Indirect, index: Cells, env: Env, algebra: Algebra) -> None:
    """Replace all elements that indices can select by functions of the index and the values."""
    view: Cells = env[indirect.rows]
    before = _flat(view)
    values: Cells = env[indirect.slots[0][0]].reshape(indirect.selected)
    kind = indirect.part.indirection
    if kind is Indirection.tensor:
        pairs = algebra.elements("value at", index, values.reshape(index.shape))
        written = weighted_sums(pairs)
        places = algebra.number(np.arange(before.shape[1]))[None, :]
    else:
        places = algebra.number(np.arange(len(before)))[:, None]
        index = index.reshape(-1, 1)
        pairs = algebra.elements("value at", index, values.reshape(len(index), -1))
        written = column_sums(pairs)[None, :]
    name = ("put", index.size, indirect.part.bound, indirect.skips)
    view[...] = algebra.elements(name, before, places, written).reshape(view.shape)
