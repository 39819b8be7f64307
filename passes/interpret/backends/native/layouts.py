"""Finds the fewest nested loops that visit the elements of several operands in the same order."""

from __future__ import annotations

from collections.abc import Sequence

Shape = tuple[int, ...]


def refined(shapes: Sequence[Shape]) -> Shape | None:
    """Return the dimensions into which all shapes can be split, outermost first.

    None if the shapes have no common refinement.
    """
    left = [[n for n in shape if n != 1] for shape in shapes]
    dims: list[int] = []
    while any(left):
        if not all(left):
            return None
        size = min(dims_[-1] for dims_ in left)
        for dims_ in left:
            rest, over = divmod(dims_[-1], size)
            if over:
                return None
            dims_.pop()
            if rest != 1:
                dims_.append(rest)
        dims.append(size)
    return tuple(reversed(dims))


def strides_in(dims: Shape, shape: Shape, strides: Shape) -> list[int]:
    """Return the strides of a tile in the dimensions `dims`, a refinement of its `shape`."""
    own = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    found: list[int] = []
    position, inside = len(own) - 1, 1
    for size in reversed(dims):
        count, stride = own[position]
        found.append(stride * inside)
        inside *= size
        if inside == count:
            position, inside = position - 1, 1
    return found[::-1]


def merged(
    dims: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Return the fewest loops that visit the elements of all operands in the same order.

    Args:
        dims: the number of iterations of each loop.
        strides: for each operand, its stride in each loop.
    """
    counts: list[int] = []
    moved: list[list[int]] = [[] for _ in strides]
    for level, count in enumerate(dims):
        if count == 1:
            continue
        here = [own[level] for own in strides]
        if counts and all(o[-1] == s * count for o, s in zip(moved, here, strict=True)):
            counts[-1] *= count
            for own, stride in zip(moved, here, strict=True):
                own[-1] = stride
            continue
        counts.append(count)
        for own, stride in zip(moved, here, strict=True):
            own.append(stride)
    return counts, moved
