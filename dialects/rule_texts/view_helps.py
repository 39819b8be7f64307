"""Help texts for views that cannot exist, by kind of mistake.

`{t}` is a placeholder for the tensor's name; `named` replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from numbers import Real
from typing import Any

from nkijit.dialects.python_values import one_line
from nkijit.dialects.spelling import numbered

TENSOR = "{t}"

WHOLE_DIVISION = "divide sizes with //, which gives ints; / gives floats"
"""Help for a float in the place of an integer."""


class Help(str):
    """A help text for the current API; `classic` is the text for kernels of the classic API."""

    __slots__ = ("classic",)

    classic: str

    @staticmethod
    def of(current: str, classic: str) -> Help:
        """Return the help for kernels of both APIs."""
        help = Help(current)
        help.classic = classic
        return help


def named(help: str, name: str, *, classic: bool) -> str:
    """Return the help text for the current or the classic API, with the tensor's name filled in."""
    text = help.classic if classic and isinstance(help, Help) else help
    return text.replace(TENSOR, name)


def for_integer(value: object) -> str:
    """Return the help for a value that is no integer."""
    if isinstance(value, bool):
        return "write 0 or 1"
    if isinstance(value, Real):
        return WHOLE_DIVISION
    if isinstance(value, str):
        return "pass an int, without quotes"
    return "pass an integer that is known while the kernel is traced, e.g. {t}.shape[0]"


def for_limit(value: object) -> str:
    """Return the help for a limit of a slice that is no integer."""
    if isinstance(value, (Real, str)):
        return for_integer(value)
    return (
        "write nl.ds(start, size) in the place of the slice: the start may be a register or a tile "
        "of one element, the size is an int"
    )


# ---------------------------------------------------------------- indices and slices


def for_index(item: object, dim: int, *, on_chip: bool) -> str:
    """Return the help for an index that has an illegal type."""
    if item is None:
        at = max(dim, int(on_chip))
        return Help.of(
            f"insert a dimension of size 1 with {{t}}.expand_dim({at})",
            f"insert a dimension of size 1 with {{t}}.expand_dims({at})",
        )
    numbers = _elements(item)
    if isinstance(item, bool) or (numbers and all(isinstance(n, bool) for n in numbers)):
        return "to choose elements by a condition, write nl.where(condition, t, u)"
    if not numbers or not all(isinstance(n, int) for n in numbers):
        return for_integer(item)
    steps = {b - a for a, b in pairwise(numbers)} or {1}
    step = min(steps)
    if len(steps) == 1 and step > 0 and numbers[0] >= 0:
        by = "" if step == 1 else f":{one_line(step)}"
        limits = f"{one_line(numbers[0])}:{one_line(numbers[-1] + 1)}"
        return f"write the slice {limits}{by} in the place of the list"
    if on_chip:
        return Help.of(
            "copy one index after the other in a Python loop, or gather with nisa.nc_n_gather",
            "copy one index after the other in a Python loop, or gather with nl.gather_flattened",
        )
    if dim == 0:
        tile = "load the numbers into an int32 tile with one number per partition, and write "
        return Help.of(
            f"{tile}{{t}}.vector_select(0, numbers)", f"{tile}{{t}}[numbers, nl.arange(n)[None, :]]"
        )
    return "copy one index after the other in a Python loop"


def _elements(item: object) -> list[Any]:
    """Return the elements of a list, a tuple or an array of one dimension; else an empty list."""
    to_list = None if isinstance(item, type) else getattr(item, "tolist", None)
    found = to_list() if callable(to_list) else item
    return list(found) if isinstance(found, (list, tuple)) else []  # pyright: ignore[reportUnknownArgumentType]


def for_position(dim: int, size: int, *, on_chip: bool) -> str:
    """Return the help for an index beyond a dimension."""
    if on_chip and dim == 0:
        return _other_partitions(size)
    return (
        f"{{t}} has {numbered(size, 'element')} in dim {dim}: write 0 to {size - 1}, or -1 for the "
        "last"
    )


def _other_partitions(size: int) -> str:
    return (
        f"{{t}} has {numbered(size, 'partition')}: take other rows from the tensor in HBM, with "
        "a tile for "
        "every 128 rows"
    )


def for_keys(count: int, ndim: int, dots: int) -> str:
    """Return the help for too many indices, or too many `...`."""
    if dots > 1:
        return "write `...` once, and `:` for each other dimension"
    fewer = (
        f"{{t}} has {numbered(ndim, 'dimension')}: leave out {count - ndim} of the indices, or "
        "split "
        "a "
    )
    return Help.of(
        f"{fewer}dimension first with {{t}}.reshape_dim(dim, sizes)",
        f"{fewer}dimension first with {{t}}.reshape(shape)",
    )


def for_slice(
    dim: int, size: int, first: int, end: int, written: tuple[object, object], *, on_chip: bool
) -> str:
    """Return the help for a slice that is empty or leaves its dimension.

    Args:
        first: the first element, counted from the start.
        end: the end, counted from the start.
        written: the limits as the kernel has them.
    """
    if end > size and on_chip and dim == 0:
        return _other_partitions(size)
    if end > size > first:
        return f"in the last round of a loop end at min(start + n, {{t}}.shape[{dim}]), here {size}"
    if max(first, end) > size:
        return (
            f"{{t}} has {numbered(size, 'element')} in dim {dim}: begin below {size}, with fewer "
            "rounds"
        )
    if first < 0 or end < 0:
        return (
            f"{{t}} has {numbered(size, 'element')} in dim {dim}: begin and end at -{size} or later"
        )
    if first == end:
        return "take at least one element, or leave the instruction out where the slice is empty"
    start, stop = ("" if part is None else one_line(part) for part in written)
    return f"write the smaller limit first: {stop}:{start}"


def for_window(dim: int, size: int, start: int, count: int, *, on_chip: bool) -> str:
    """Return the help for `nl.ds(start, count)` that leaves its dimension."""
    if count < 1:
        return "take at least one element, or leave the instruction out where the size is 0"
    if start < 0:
        first = max(start + size, 0)
        return f"nl.ds counts from the start: write nl.ds({first}, {one_line(count)})"
    if start >= size or (on_chip and dim == 0):
        return for_slice(dim, size, start, start + count, (start, start + count), on_chip=on_chip)
    return (
        f"in the last round of a loop pass the size min(n, {{t}}.shape[{dim}] - start), here "
        f"{size - start}"
    )


def for_limits_from_the_end(dim: int, size: int, start: int, end: int) -> str:
    """Return the help for negative limits of the method `slice`."""
    start, end = (n + size if n < 0 else n for n in (start, end))
    return f"only [] takes negative limits: write {{t}}.slice({dim}, {start}, {end})"


def for_steps(
    dim: int,
    limits: slice[Any, Any, Any],
    pattern: tuple[Sequence[int], Sequence[int]],
    *,
    on_chip: bool,
) -> str:
    """Return the help for a slice with a step of 0 or a negative one.

    `pattern` is the strides and the shape of the tensor.
    """
    strides, shape = pattern
    if limits.step == 0:
        return "pass a step of at least 1"
    if on_chip and dim == 0:
        return "partitions keep their order: load the rows backwards from HBM, one by one"
    numbers = range(*limits.indices(shape[dim]))
    if not numbers:
        return "pass a step of at least 1, and the smaller limit first"
    pairs = [list(pair) for pair in zip(strides, shape, strict=True)]
    pairs[dim] = [strides[dim] * numbers.step, len(numbers)]
    by = "" if numbers.step == -1 else f"{one_line(-numbers.step)} * "
    keys = ", ".join(
        f"{numbers[0]} - {by}{_arange(len(numbers), at, len(shape))}"
        if at == dim
        else _arange(size, at, len(shape))
        for at, size in enumerate(shape)
    )
    return Help.of(
        f"a pattern with a negative stride runs backwards: {{t}}.ap({one_line(pairs)}, "
        f"offset={numbers[0] * strides[dim]})",
        f"an index expression runs backwards: {{t}}[{keys}]",
    )


def _arange(size: int, dim: int, ndim: int) -> str:
    """Return the index expression for a whole dimension of a tile."""
    return f"nl.arange({size})[{', '.join(':' if at == dim else 'None' for at in range(ndim))}]"


def for_select(dim: int, size: int, number: int, *, on_chip: bool) -> str:
    """Return the help for an index that the method `select` does not take."""
    if -size <= number < 0:
        return f"only [] takes negative indices: write {{t}}.select({dim}, {number + size})"
    return for_position(dim, size, on_chip=on_chip).partition(", or")[0]


# ---------------------------------------------------------------- dimensions

ROWS_IN_HBM = (
    "change the shape in HBM and load that, e.g. nl.load(x.reshape(shape)): on chip the rows of a "
    "tile stay in their partitions"
)
"""Help for a shape that would move elements of a tile to other partitions."""

TRANSPOSE = (
    "to exchange partitions and columns, transpose: nisa.nc_transpose on chip, "
    "nisa.dma_transpose from HBM"
)

BROADCAST_PARTITIONS = (
    "repeat the row while loading it, e.g. nl.load(x[0:1].broadcast(0, 128)), or on chip with "
    "nl.broadcast_to(row, (128, n))"
)


def for_broadcast(dim: int, ndim: int, count: int) -> str:
    """Return the help for a broadcast of a dimension with several elements."""
    if count < 1:
        return "pass a size of at least 1"
    keys = ", ".join("0:1" if at == dim else ":" for at in range(ndim))
    return f"repeat one element of the dimension, {{t}}[{keys}].broadcast({dim}, {one_line(count)})"


def for_permutation(ndim: int) -> str:
    """Return the help for dimensions that are no permutation."""
    return f"name each dimension once: {{t}} has dimensions {', '.join(map(str, range(ndim)))}"


def for_dim(ndim: int) -> str:
    """Return the help for a dimension that does not exist."""
    return f"{{t}} has {numbered(ndim, 'dimension')}: write 0 to {ndim - 1}, or -1 for the last"


def for_squeeze(dim: int) -> str:
    """Return the help for removing a dimension with several elements."""
    return f"take one element of the dimension, {{t}}.select({dim}, 0), or keep the dimension"


def for_sizes(sizes: Sequence[int], total: int) -> str:
    """Return the help for sizes whose product is not the required size."""
    if sizes.count(-1) > 1:
        return "write -1 for one size at most"
    if not sizes or min(sizes) < 1:
        return f"write sizes of at least 1 whose product is {total}"
    for at in reversed(range(len(sizes))):
        others = prod(sizes[:at]) * prod(sizes[at + 1 :])
        if total % others == 0:
            right = (*sizes[:at], total // others, *sizes[at + 1 :])
            return f"write sizes whose product is {total}, e.g. {right}"
    return f"write sizes whose product is {total}; the product of these is {one_line(prod(sizes))}"


NEEDS_COPY = (
    "copy the elements to a tile of their own first, with nisa.tensor_copy (in HBM "
    "nisa.dma_copy), and change the shape of that"
)


def for_parts(names: Sequence[str], sizes: Sequence[int], total: int) -> str:
    """Return the help for the sizes of the parts of a dimension in `rearrange`.

    `sizes` are the sizes of the parts, -1 for those that are not given. `total` is the dimension's
    size.
    """
    if sizes.count(-1) > 1:
        missing = [name for name, size in zip(names, sizes, strict=True) if size == -1]
        return f"give the sizes of all parts but one: fixed_sizes={{{missing[0]!r}: size}}"
    return f"give sizes whose product divides {total}, the size of the dimension"


def for_names(pattern: object) -> str:
    """Return the help for a pattern of `rearrange` that is no tuple of names."""
    help = "write tuples: {t}.rearrange(('p', ('a', 'b')), ('p', 'b', 'a'), {'a': size})"
    if not isinstance(pattern, str):
        return help
    before, arrow, after = pattern.partition("->")
    sides = [side for side in (before, after) if side.strip()]
    tuples = [_names(side) for side in sides]
    shown = ", ".join(map(repr, tuples))
    has_groups = any(isinstance(name, tuple) for name in (tuples or [()])[0])
    sizes = ", {name: size}" if has_groups else ""
    return f"write tuples: {{t}}.rearrange({shown}{sizes if arrow else ''})" if tuples else help


def _names(text: str) -> tuple[Any, ...]:
    """Return the names in one side of a pattern that is written as text: `p (a b)`."""
    parts = re.findall(r"\(([^)]*)\)|([\w.]+)", text)
    return tuple(name or tuple(group.split()) for group, name in parts)


# ---------------------------------------------------------------- explicit patterns

PAIRS = "write a list of pairs, [[stride, count], …], each with integers and a count of at least 1"


def for_pair(pair: object) -> str:
    """Return the help for an item of an `ap` pattern that is no pair."""
    numbers = _elements(pair)
    if any(isinstance(n, Real) and not isinstance(n, int) for n in numbers):
        return WHOLE_DIVISION
    return PAIRS


def for_partition_pair(pairs: Sequence[Sequence[int]], elements: int, partitions: int) -> str:
    """Return the help for a pattern on chip that does not begin with the partition dimension.

    `elements` is the number of elements per partition.
    """
    swapped = [[count, stride] for stride, count in pairs]
    (stride, count), *rest = pairs
    if len(pairs) > 1 and swapped[0][0] == elements and swapped[0][1] <= partitions:
        return f"a pair is [stride, count]: write {swapped}"
    if len(pairs) == 1:
        begin = [[elements, partitions if stride != elements else count]]
        rest = [[1, elements]] if stride == elements else [[stride, count]]
        return f"write a pair for the partitions and one for the elements, {begin + rest}"
    return (
        f"begin with [{elements}, {min(count, partitions)}]: from one partition to the next are "
        f"the {numbered(elements, 'element')} of a partition"
    )


SMALLER_PATTERN = "make the counts or the offset smaller, or allocate a tensor with these elements"

# ---------------------------------------------------------------- views as another data type

VIEW_FIRST = "view the whole tensor first and slice the view: the last dimension has no step"

CONVERT = "convert the elements, with nisa.tensor_copy into a tile of the other data type"


def for_ratio(ratio: int) -> str:
    """Return the help for a view whose rows are not a whole number of the wider elements."""
    return f"slice and allocate the last dimension in multiples of {numbered(ratio, 'element')}"


# ---------------------------------------------------------------- indices known at run time

ONE_OFFSET = (
    "pass scalar_offset for one index that moves the pattern, or vector_offset for one index per "
    "row"
)
STATIC_AP = "leave indirect_dim out, or pass scalar_offset= with the index; offset= counts elements"
INDIRECT_LAST = "slice or reshape {t} first, and call .indirect() last"
VECTOR_DIM = "the indices select rows: permute {t} in HBM so that their dimension is dim 0"
INDEX_TILE = (
    "load the indices into an int32 or uint32 tile in SBUF and pass the tile; a slice selects "
    "neighbours"
)
INDIRECT_IN_HBM = "select rows in HBM with {t}.vector_select(0, indices), or load {t} to SBUF first"
NUM_ELEM = "pass the number of elements to select, or leave num_elem out"
ONE_INDEX = (
    "copy the part that one index selects to a tile of its own with nisa.dma_copy, and index that "
    "with the other"
)
INDEX_OF_ANOTHER_KERNEL = "load the index in this kernel"
COPY_INDEX = "copy the index to a tile or a register of its own first, e.g. with nisa.register_load"
SLICE_INDICES = "slice the tile with the indices instead, e.g. indices[0:64]"
FORWARD_INDEX = "index the tensor first, and give the view a negative stride after that"


def for_offset(index: object, *, is_vector: bool) -> str:
    """Return the help for an offset of `ap` of an illegal type."""
    if isinstance(index, int):
        start = f"offset={one_line(index)} elements"
        return f"pass an index that is known while tracing as a start: {start}"
    if isinstance(index, Real):
        return WHOLE_DIVISION
    if is_vector:
        return "pass a register as scalar_offset=; vector_offset= takes a tile, an index per row"
    return INDEX_TILE


def for_partition_index(size: int, *, is_vector: bool) -> str:
    """Return the help for an index of partitions that is known only at run time.

    Args:
        size: the number of elements of the index.
        is_vector: whether the index is a tile with one number for each row.
    """
    if size > 1 and not is_vector:
        return "to choose elements by a condition or a mask, write nl.where(condition, t, u)"
    rows = ".vector_select(0, indices)" if is_vector else "[nl.ds(index, 1)]"
    return f"select the rows in HBM, e.g. nl.load(x{rows})"
