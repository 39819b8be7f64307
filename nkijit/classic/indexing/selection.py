"""Indexing of tensors: the shape that indices select, and the access pattern of each box."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from nkijit.classic.indexing.boxes import TileBox, broadcast
from nkijit.classic.indexing.expressions import AffineForm, Index, as_integer, only_filled
from nkijit.dialects.access import DynamicSlice


class Shape(tuple[int, ...]):
    """The shape of a tensor: a tuple, which also equals a list of the same numbers.

    Source: NKI programming model, "Tensor Indexing": its examples compare shapes with lists.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(_as_tuple(other))

    def __ne__(self, other: object) -> bool:
        return super().__ne__(_as_tuple(other))

    __hash__ = tuple[int, ...].__hash__

    @staticmethod
    @lru_cache(maxsize=4096)
    def of(sizes: tuple[int, ...]) -> Shape:
        """Return the cached shape with these sizes: always the same object, for fast look-ups."""
        return Shape(sizes)


def _as_tuple(value: object) -> object:
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


BASIC = (slice, DynamicSlice, type(Ellipsis))
"""Types of indices that cannot be combined with index expressions."""
KNOWN = (Index, int)
"""Types of indices whose values are known during tracing."""


def plain_keys(keys: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the indices, with NumPy integers converted to Python integers."""
    integer: type[Any] = np.integer
    return tuple(int(item) if isinstance(item, integer) else item for item in keys)


def _window(key: Any, size: int) -> tuple[int, int, int] | None:
    """Return (start, stop, step) of a slice or an `nl.ds` with known numbers; None otherwise.

    `size` is the size of the indexed dimension.
    """
    if isinstance(key, DynamicSlice):
        start, count = as_integer(key.start), as_integer(key.size)
        return None if start is None or count is None else (start, start + count, 1)
    if not isinstance(key, slice):
        return None
    parts = cast("slice[Any, Any, Any]", key)
    start = 0 if parts.start is None else as_integer(parts.start)
    stop = size if parts.stop is None else as_integer(parts.stop)
    step = 1 if parts.step is None else as_integer(parts.step)
    return None if start is None or stop is None or step is None else (start, stop, step)


def _at_dims(keys: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    """Return one key for each of `rank` dimensions; `...` and missing keys become full slices."""
    at = next((n for n, key in enumerate(keys) if key is Ellipsis), len(keys))
    before, after = keys[:at], keys[at + 1 :]
    return before + (slice(None),) * (rank - len(before) - len(after)) + after


def runs_past(keys: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Return True when all keys are numbers or slices, and a slice ends beyond its dimension."""
    past = False
    for key, size in zip(_at_dims(keys, len(shape)), shape, strict=False):
        window = _window(key, size)
        if window is None:
            if as_integer(key) is None:
                return False
            continue
        start, stop, step = window
        if start < 0 or step < 1 or not range(start, stop, step):
            return False
        past = past or stop > size
    return past and len(keys) <= len(shape)


def as_expressions(keys: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the keys with index expressions in place of slices.

    A mask can then exclude the elements beyond a dimension before bounds are checked.
    """
    each = _at_dims(keys, len(shape))
    windows = [_window(key, size) for key, size in zip(each, shape, strict=False)]
    rank = sum(window is not None for window in windows)
    result: list[Any] = []
    dim = 0
    for key, window in zip(each, windows, strict=True):
        if window is None:
            result.append(key)
            continue
        sizes, steps = [1] * rank, [0] * rank
        sizes[dim], steps[dim] = len(range(*window)), window[2]
        result.append(Index(sizes, steps, window[0]))
        dim += 1
    return tuple(result)


def _selected_dims(forms: Sequence[AffineForm], shape: tuple[int, ...]) -> Sequence[int]:
    """Return the dimensions of an `nl.mgrid` mesh that the selected tile has, in the tile's order.

    Published kernels create one mesh for several tiles, `nl.mgrid[0:128, 0:1, 0:512]`: one index
    uses the first and the last dimension, another index uses the last two. A dimension of size 1
    that no index uses is left out. If no index uses the partition dimension, a used dimension of
    size 1 takes its place. The result has at least two dimensions.
    """
    rank = len(shape)
    unused = only_filled(forms, rank)
    sizes = [max(form.picked((dim,), rank).shape[0] for form in forms) for dim in range(rank)]
    dims = [dim for dim in range(rank) if not (unused[dim] and sizes[dim] == 1)]
    if unused[0]:
        single = [dim for dim in dims if not unused[dim] and shape[dim] == 1]
        if single:
            dims = single[:1] + [dim for dim in dims if dim not in (0, single[0])]
    return dims if len(dims) > 1 else range(rank)


_Forms = tuple[AffineForm, ...]


@lru_cache(maxsize=4096)
def selection(
    forms: _Forms, tiles: tuple[tuple[int, ...], ...], is_indirect: bool
) -> tuple[Shape | None, _Forms]:
    """Return the shape that indices select, and the forms of the indices for this shape.

    The shape is None if the indices do not broadcast.

    Args:
        forms: the forms of the indices, one per dimension of the tensor.
        tiles: the shapes of indices that are tiles, known only at run time.
        is_indirect: whether there are such indices.
    """
    shape = broadcast(*tiles, *(form.span for form in forms))
    if shape is None:
        return None, forms
    if len(shape) > 1 and not is_indirect and any(any(form.filled) for form in forms):
        dims = _selected_dims(forms, shape)
        forms = tuple(form.picked(dims, len(shape)) for form in forms)
        shape = tuple(shape[dim] for dim in dims)
    return Shape.of(shape), forms


class _Placement(NamedTuple):
    """The access pattern of a box of a selection, without the constants of the indices."""

    shift: int
    """The offset of the box's first element if all constants are 0, in elements."""
    strides: tuple[int, ...]
    bounds: tuple[tuple[int, int], ...]
    """The lowest and the highest value of each index in the box, without the index's constant."""
    mixed: int
    """The first dimension of the tensor whose index mixes partitions and free dimensions; or -1."""


@lru_cache(maxsize=65536)
def placement(
    forms: _Forms, box: TileBox, base_strides: tuple[int, ...], on_chip: bool
) -> _Placement:
    """Return the placement of a box of a selection, in a tensor with strides `base_strides`."""
    rank = len(box.starts)
    shift, mixed = 0, -1
    strides = [0] * rank
    free = range(1, rank) if on_chip else ()
    for dim, (form, stride) in enumerate(zip(forms, base_strides, strict=True)):
        steps = form.aligned(rank)
        for at, step in enumerate(steps):
            shift += step * box.starts[at] * stride
            if step and box.sizes[at] > 1:
                strides[at] += step * stride
        crossed = (steps[at] and box.sizes[at] > 1 for at in ((0,) if dim else free))
        if free and mixed < 0 and any(crossed):
            mixed = dim
    if rank == len(base_strides):  # the strides of slices, so that equal views are emitted once
        strides = [
            own if n == 1 else s for s, n, own in zip(strides, box.sizes, base_strides, strict=True)
        ]
    elif free and box.sizes[0] == 1:
        strides[0] = base_strides[0]
    return _Placement(shift, tuple(strides), tuple(form.bounds(box) for form in forms), mixed)
