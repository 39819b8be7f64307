"""Findings about indices that are out of bounds in a run, in the kernel's names."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from nkijit.dialects.access import Indirection
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.views import DynamicPart
from nkijit.dialects.rule_texts.access import INDEX_BOUNDS
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.diagnostics.diagnose import diagnose, element_text
from nkijit.passes.interpret.records.environment import Array
from nkijit.passes.interpret.records.errors import OutOfBoundsError

Places = tuple[Array, Array]
"""For some elements of a tile: their partitions, and their numbers within the partition."""


def index_places(part: DynamicPart, count: int, group: int) -> Places:
    """Return the elements of an index tile that a view's indices are read from.

    Args:
        part: the part of the address that the tile determines.
        count: the number of indices of the view; with tensor indirection, per partition.
        group: the number of partitions that share the indices of tensor indirection.

    Both arrays have the shape of the indices.
    """
    if part.indirection is Indirection.scalar:
        return np.array(0), np.array(0)
    partitions, numbers = info_of(part.index).partitions, np.arange(count)
    if part.indirection is Indirection.vector:
        # Several columns are read one after the other (NKI API reference, dma_transpose).
        return numbers % partitions, numbers // partitions
    firsts = np.arange(partitions)[:, None] // group * group
    height = np.minimum(group, partitions - firsts)
    return firsts + numbers % height, numbers // height


def out_of_bounds(
    op: NisaOp,
    name: str,
    value: SSAValue,
    part: DynamicPart,
    places: Places,
    index: Array,
    wrong: Array,
) -> OutOfBoundsError:
    """Return the error for an instruction's operand with a run-time address.

    Args:
        op: the instruction.
        name: the operand's name.
        value: the operand.
        part: the part of the operand's address that the index determines.
        places: the elements of the index tile, in the shape of `index`; ignored for a register.
        index: the indices.
        wrong: a mask of the indices that are out of bounds.
    """
    first = int(index[wrong][0])
    if is_tile(part.index):
        text = beyond(part.index, places, index, wrong, part.bound)
    else:
        text = f"{_shown(part.index)} is {first}, legal are 0 to {part.bound - 1}"
    finding = diagnose(
        INDEX_BOUNDS,
        op,
        f"the index of '{name}' is out of bounds: {text}",
        [(name, value), (f"index of {name}", part.index)],
        help=_help(op, part),
    )
    return OutOfBoundsError(finding, first * part.scale, part.bound * part.scale)


def beyond(tile: SSAValue, places: Places, index: Array, wrong: Array, end: int) -> str:
    """Return a text about elements of an index tile that are below 0, or `end` or more.

    Args:
        tile: the index tile.
        places: the elements of the tile that `index` was read from, in the same shape.
        index: the indices.
        wrong: a mask of the indices that are out of bounds.
        end: the first index that is too large.
    """
    row, column = (np.broadcast_to(where, wrong.shape) for where in places)
    size = info_of(tile).free_size
    # Partitions share the indices of tensor indirection.
    elements = row * size + column
    total, count = len(np.unique(elements)), len(np.unique(elements[wrong]))
    shown = element_text(tile, int(row[wrong][0]), int(column[wrong][0]))
    if total == 1:
        return f"{shown} is {index[wrong][0]}, legal are 0 to {end - 1}"
    are = "is" if count == 1 else "are"
    return f"{shown} is {index[wrong][0]}; {count} of {total} {are} out of 0 to {end - 1}"


def _shown(index: SSAValue) -> str:
    return f"%{index.name_hint}" if index.name_hint else "its register"


def _help(op: NisaOp, part: DynamicPart) -> str:
    if "oob_mode" not in op.SPEC.by_name:
        return numbers_wanted(part.index, op, part.bound)
    is_whole = part.indirection is Indirection.scalar
    left_out = "the instruction" if is_whole else "rows with other numbers"
    return (
        f"let {_shown(part.index)} hold numbers from 0 to {part.bound - 1}; "
        f"{op.name}(…, oob_mode=nisa.oob_mode.skip) leaves out {left_out}"
    )


def numbers_wanted(index: SSAValue, op: NisaOp, end: int) -> str:
    """Return the help text for an index out of bounds, for instructions without `oob_mode`.

    `end` is the first index that is too large.
    """
    return (
        f"let {_shown(index)} hold numbers from 0 to {end - 1}; {op.name} has no oob_mode=, with "
        "which it could leave out others"
    )
