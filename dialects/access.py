"""Address arithmetic of views: the elements of an allocation that a view touches, in order.

A view is an offset and one `[stride, count]` pair per dimension, all in elements of the view's
data type. This module depends neither on the IR nor on an array library, as the front end, the
verifier, the interpreter and the printer share it. `offsets` enumerates the elements of a pattern.

Sources, by the names used below: *NkiTensor reference* is the API page of
`nki.language.NkiTensor`; *language guide* is the NKI Language Guide, "Tensor Values" and "Tensor
Indexing"; *access pattern page* is the deep dive "NKI Access Patterns".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice, product
from math import prod
from typing import Any, cast

from nkijit.dialects.overlap import Terms, ascending, meet
from nkijit.dialects.python_values import as_index, one_line
from nkijit.dialects.rule_texts import view_helps as helps
from nkijit.dialects.spelling import numbered

NamePattern = Sequence["str | Sequence[str]"]
"""Names of dimensions for `rearrange`; a nested sequence is a group."""

_LEGAL_SIZES = "legal: one dimension or more, integers of at least 1"
_LEGAL_PAIRS = "legal: one [stride, count] or more, counts of at least 1"
MAX_ELEMENTS = 1 << 48
"""The maximum size of a tensor: beyond every memory, but each address still fits 64 bits."""
_LEGAL_FREE = "the other dimensions, in SBUF and PSUM dim 0 is the partition dimension"


class Indirection(Enum):
    """The way in which an index that is known only at run time determines a view's address."""

    scalar = "scalar"
    """One index moves the whole view along a dimension."""
    vector = "vector"
    """One index per element of dim 0 gives the element's address; for DMA only."""
    tensor = "tensor"
    """A list of indices per group of partitions selects elements in the free dimensions."""


class ViewError(ValueError):
    """A view is impossible. The message names the request, the tensor's shape and legal values.

    `help` is the text to write instead, with `{t}` for the tensor's name (`view_helps`); empty if
    there is none.
    """

    def __init__(self, message: str, help: str = ""):
        super().__init__(message)
        self.help = help


@dataclass(frozen=True, slots=True)
class DynamicSlice:
    """`size` neighbouring elements from `start` on, as an index (`nl.ds(start, size)`).

    The start may be a value known only at run time. `AccessPattern.index` takes integers; the
    tracer replaces other values first.
    """

    start: object
    size: object


_LIMITS = ("start", "stop", "step")


def slice_of_range(item: object) -> slice[int, int, int] | None:
    """Return the slice that selects the same indices as a range; None for other values.

    Any object with `start`, `stop` and `step` except a slice is a range. The slice ends just after
    the last number; the range may end later. A range that counts down becomes a slice that
    `AccessPattern.index` refuses.
    """
    if isinstance(item, slice) or not all(hasattr(item, at) for at in _LIMITS):
        return None
    numbers = range(*(getattr(item, at) for at in _LIMITS))
    if not numbers or numbers.step < 0:
        return slice(numbers.start, numbers.stop, numbers.step)
    return slice(numbers.start, numbers[-1] + 1, numbers.step)


@dataclass(frozen=True, slots=True)
class AccessPattern:
    """The addresses of a view: index (i0, i1, …) is element `offset + Σ strides[k]·ik`.

    Elements count from the start of the allocation. Immutable; every view method returns a new
    pattern on the same allocation, or raises `ViewError`. A negative `dim` counts from the end.
    `on_chip` is true for tensors in SBUF or PSUM. There dim 0 is the partition dimension, no method
    moves it, and a view has at least two dimensions (language guide). In HBM a view has at least
    one. Integers may be anything that `operator.index` takes, except bool.

    The constructor does not check its arguments; `contiguous`, `from_pairs` and `ap` do. A
    dimension of size 1 that a method inserts has the stride that a contiguous layout gives it.
    """

    offset: int
    """Elements from the start of the allocation to the element at index (0, 0, …)."""
    strides: tuple[int, ...]
    """Distance between neighbouring elements of each dimension, in elements.

    0 repeats one element; a negative stride runs backwards.
    """
    shape: tuple[int, ...]
    """Number of elements of each dimension, at least 1."""

    # ---------------------------------------------------------------- construction

    @staticmethod
    def empty(shape: tuple[int, ...]) -> AccessPattern:
        """Return the pattern of a view without elements; at least one size in `shape` is 0."""
        return AccessPattern(0, (0,) * len(shape), shape)

    @staticmethod
    def contiguous(shape: Sequence[int]) -> AccessPattern:
        """Return the pattern of a whole row-major allocation.

        Raises:
            ViewError: there is no dimension, or a size is not an integer of at least 1.
        """
        sizes: list[int] = []
        for size in _items(shape):
            number = as_index(size)
            if number is None or number < 1:
                raise ViewError(
                    f"{one_line(size)} is no size; the shape is {one_line(shape)}; {_LEGAL_SIZES}"
                )
            sizes.append(number)
        if not sizes:
            raise ViewError(f"no dimensions; the shape is (); {_LEGAL_SIZES}")
        strides = [1] * len(sizes)
        for dim in range(len(sizes) - 1, 0, -1):
            strides[dim - 1] = strides[dim] * sizes[dim]
        return AccessPattern(0, tuple(strides), tuple(sizes))

    @staticmethod
    def from_pairs(pairs: Sequence[Sequence[int]], offset: int) -> AccessPattern:
        """Return the pattern with these `[stride, count]` pairs, outermost first.

        The bounds of the allocation are not checked, see `check_bounds`.

        Raises:
            ViewError: there is no pair, an item is not a pair of integers, or a count is below 1.
        """
        strides: list[int] = []
        shape: list[int] = []
        for pair in _items(pairs):
            numbers = [as_index(number) for number in _items(pair)]
            if len(numbers) != 2 or None in numbers:
                raise ViewError(
                    f"{one_line(pair)} is no pair; the pattern is {one_line(pairs)}; "
                    f"{_LEGAL_PAIRS}",
                    helps.for_pair(pair),
                )
            stride, count = cast("list[int]", numbers)
            if not 1 <= count <= MAX_ELEMENTS:
                raise ViewError(
                    f"the count of {one_line(pair)} is {one_line(count)}; the pattern is "
                    f"{one_line(pairs)}; {_LEGAL_PAIRS}",
                    helps.PAIRS,
                )
            if max(abs(stride), abs(stride) * (count - 1)) > MAX_ELEMENTS:
                raise ViewError(
                    f"the stride of {one_line(pair)} is out of range; {_LEGAL_PAIRS}",
                    helps.SMALLER_PATTERN,
                )
            strides.append(stride)
            shape.append(count)
        if not shape:
            raise ViewError(
                f"no pairs; the pattern is {one_line(pairs)}; {_LEGAL_PAIRS}", helps.PAIRS
            )
        start = as_index(offset)
        if start is None:
            raise ViewError(
                f"offset {one_line(offset)} is a {type(offset).__name__}; the pattern is "
                f"{one_line(pairs)}; legal: an integer",
                helps.for_integer(offset),
            )
        if abs(start) > MAX_ELEMENTS:
            raise ViewError(
                f"offset {one_line(offset)} is out of range; legal: up to 2**48",
                helps.SMALLER_PATTERN,
            )
        return AccessPattern(start, tuple(strides), tuple(shape))

    # ---------------------------------------------------------------- queries

    @property
    def pairs(self) -> list[list[int]]:
        """`[[stride, count], …]`, outermost first, as `get_pattern` of the NkiTensor reference."""
        return [[stride, count] for stride, count in zip(self.strides, self.shape, strict=True)]

    @property
    def ndim(self) -> int:
        """Number of dimensions of the view."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of accesses: an element that the view touches twice counts twice."""
        return prod(self.shape)

    @property
    def bounds(self) -> tuple[int, int]:
        """The lowest and the highest element touched, both inclusive."""
        lowest = highest = self.offset
        for stride, count in zip(self.strides, self.shape, strict=True):
            reach = stride * (count - 1)
            if reach > 0:
                highest += reach
            else:
                lowest += reach
        return lowest, highest

    def offsets(self) -> Iterator[int]:
        """Yield the elements touched, in row-major order of the view's indices."""
        terms = (
            [stride * index for index in range(count)]
            for stride, count in zip(self.strides, self.shape, strict=True)
        )
        for steps in product(*terms):
            yield self.offset + sum(steps)

    @property
    def repeats(self) -> bool:
        """True when an element is touched twice or may be; False when none is."""
        reach = 0
        for stride, count in sorted(
            (abs(stride), count)
            for stride, count in zip(self.strides, self.shape, strict=True)
            if count > 1
        ):
            if stride <= reach:
                return True
            reach += stride * (count - 1)
        return False

    def is_contiguous(self, on_chip: bool) -> bool:
        """True when the view is one dense row-major run; on chip, one such run in each partition.

        Dimensions of size 1 and, on chip, dim 0 are ignored (NkiTensor reference).
        """
        expected = 1
        for dim in range(len(self.shape) - 1, 0 if on_chip else -1, -1):
            count = self.shape[dim]
            if count != 1 and self.strides[dim] != expected:
                return False
            expected *= count
        return True

    def overlaps(self, other: AccessPattern) -> bool:
        """True when both patterns touch a common element or may; False when they certainly do not.

        Both count elements of the same size in the same allocation. Exact for patterns of at most
        `ENUMERABLE` elements, and for slices of one tile of any size: these separate into rows and
        columns of one pitch, level by level, down to arithmetic progressions.
        """
        lowest, highest = self.bounds
        other_lowest, other_highest = other.bounds
        if highest < other_lowest or other_highest < lowest:
            return False
        pitch = self.strides[0]
        if pitch > 0 and pitch == other.strides[0]:  # a fast path for adjacent tiles, a common case
            low, high = self.columns(pitch)
            other_low, other_high = other.columns(pitch)
            inside = low >= 0 and other_low >= 0 and high < pitch and other_high < pitch
            if inside and (high < other_low or other_high < low):
                return False
        return self == other or meet(*self._terms, *other._terms)

    @property
    def _terms(self) -> tuple[int, Terms]:
        return ascending(self.offset, zip(self.strides, self.shape, strict=True))

    def check_bounds(self, allocation_size: int) -> None:
        """Raise ViewError unless all elements are below `allocation_size` and none is negative."""
        lowest, highest = self.bounds
        if lowest < 0 or highest >= allocation_size:
            raise ViewError(
                f"elements {lowest} to {highest} are touched; {self._layout}; legal: 0 to "
                f"{allocation_size - 1}, inside the allocation",
                helps.SMALLER_PATTERN,
            )

    def free_range(self, partition_elements: int) -> tuple[int, int]:
        """Return the lowest and the highest element touched in a partition, both inclusive.

        Args:
            partition_elements: elements per partition, the product of the allocation's free
                dimensions, in elements of this view's data type.

        Raises:
            ViewError: the free dimensions leave the partition, or the stride of dim 0 is not a
                whole number of partitions.
        """
        self._check_partition_step(partition_elements)
        lowest, highest = self.columns(partition_elements)
        if lowest < 0 or highest >= partition_elements:
            raise ViewError(
                f"elements {lowest} to {highest} of a partition are touched; {self._layout}; "
                f"legal: 0 to {partition_elements - 1}, a row must stay in its partition",
                helps.SMALLER_PATTERN,
            )
        return lowest, highest

    def columns(self, pitch: int) -> tuple[int, int]:
        """Return the lowest and the highest element of dims 1 and up, relative to a row's start.

        Both are inclusive, and may be outside the row, because bounds are not checked.

        Args:
            pitch: elements per row. The row is the one that contains the view's first element.
        """
        lowest = highest = self.start(pitch)[1]
        for dim in range(1, len(self.shape)):
            reach = self.strides[dim] * (self.shape[dim] - 1)
            if reach > 0:
                highest += reach
            else:
                lowest += reach
        return lowest, highest

    def start(self, partition_elements: int) -> tuple[int, int]:
        """Return the partition of the first element, and the element's number in that partition.

        For an element before the allocation, both numbers are at most 0: the element counts as
        before the start of a row, not as in the middle of an earlier row.

        Args:
            partition_elements: elements in each partition of the allocation.
        """
        partition, element = divmod(self.offset, partition_elements)
        if self.offset < 0 and element:
            return partition + 1, element - partition_elements
        return partition, element

    def partition_range(self, partition_elements: int) -> tuple[int, int]:
        """Return the first partition touched and the number of partitions to the last one touched.

        Partitions that a step skips are counted as well. The first partition is negative for a view
        that begins before its allocation.

        Args:
            partition_elements: as for `free_range`.

        Raises:
            ViewError: the stride of dim 0 is not a whole number of partitions.
        """
        self._check_partition_step(partition_elements)
        first, _ = self.start(partition_elements)
        reach = (self.shape[0] - 1) * (self.strides[0] // partition_elements)
        return (first, reach + 1) if reach >= 0 else (first + reach, 1 - reach)

    # ---------------------------------------------------------------- indexing

    def index(self, key: object, *, on_chip: bool) -> AccessPattern:
        """The view `tensor[key]`, NumPy-style.

        A key is an integer, a slice with step >= 1, `...`, an object with `start` and `size`
        (`nl.ds`), a range, which means the slice of its numbers, or a tuple of these. Negative
        integers and slice limits count from the end; `nl.ds` must not be negative. Dimensions
        that the key omits are whole.

        An integer drops its dimension, with two exceptions that become size 1 and keep their
        stride (language guide): dim 0 on chip, and the last dimension if the view would have
        fewer than two dimensions on chip or one in HBM.

        A slice that ends where it starts is empty, as in NumPy: its dimension has size 0. A slice
        that ends before its start, and one that leaves the dimension, are errors: NumPy would clip
        them silently and hide the user's mistake. `NkiTensor.slice` refuses empty slices, too.

        Raises:
            ViewError: an index or slice out of range, too many indices, or a key of another type.
        """
        keys = cast("tuple[object, ...]", key if isinstance(key, tuple) else (key,))
        shape, strides, offset = self.shape, self.strides, self.offset
        ndim = len(shape)
        new_shape: list[int] = []
        new_strides: list[int] = []
        dim = 0
        ellipsis_seen = False
        for position, item in enumerate(keys):
            if item is Ellipsis:
                after = ndim - (len(keys) - position - 1)
                if ellipsis_seen or after < dim:
                    raise self._bad_key(keys)
                ellipsis_seen = True
                new_shape += shape[dim:after]
                new_strides += strides[dim:after]
                dim = after
                continue
            if dim >= ndim:
                raise self._bad_key(keys)
            stride = strides[dim]
            kind = type(item)
            if kind is slice:
                start, count, step = self._window(dim, item, on_chip)
                offset += start * stride
                new_shape.append(count)
                new_strides.append(stride * step)
            elif kind is not int and hasattr(item, "start") and hasattr(item, "size"):
                start, count = self._dynamic_window(dim, item, on_chip)
                offset += start * stride
                new_shape.append(count)
                new_strides.append(stride)
            elif kind is not int and (numbers := slice_of_range(item)) is not None:
                start, count, step = self._window(dim, numbers, on_chip)
                offset += start * stride
                new_shape.append(count)
                new_strides.append(stride * step)
            else:
                number = self._index_integer(dim, item, on_chip)
                size = shape[dim]
                if not -size <= number < size:
                    raise self._refusal(
                        f"index {one_line(number)} of dim {dim} is out of its size {size}",
                        f"{-size} to {size - 1}",
                        helps.for_position(dim, size, on_chip=on_chip),
                    )
                offset += (number if number >= 0 else number + size) * stride
                if on_chip and dim == 0:
                    new_shape.append(1)
                    new_strides.append(stride)
            dim += 1
        if dim < ndim:
            new_shape += shape[dim:]
            new_strides += strides[dim:]
        if len(new_shape) < (2 if on_chip else 1):
            new_shape.append(1)
            new_strides.append(strides[-1])
        return AccessPattern(offset, tuple(new_strides), tuple(new_shape))

    def slice(self, dim: int, start: int, end: int, step: int = 1) -> AccessPattern:
        """Return every `step`-th of the elements `start` to `end` (exclusive) of one dimension.

        Raises:
            ViewError: unless `0 <= start < end <= shape[dim]` and `step >= 1` (NkiTensor
                reference); only `index` takes negative limits.
        """
        shape, strides = self.shape, self.strides
        if not (type(dim) is int and 0 <= dim < len(shape)):
            dim = self._dim(dim)
        if not (type(start) is int and type(end) is int and type(step) is int):
            start = self._integer(start, "limit of a slice")
            end = self._integer(end, "limit of a slice")
            step = self._integer(step, "step of a slice")
        if not (0 <= start < end <= shape[dim] and step >= 1):
            fault = self._bad_slice(dim, start, end, step, (start, end, step))
            size = shape[dim]
            if step >= 1 and -size <= min(start, end) < 0:
                fault.help = helps.for_limits_from_the_end(dim, size, start, end)
            raise fault
        new_shape = list(shape)
        offset = self.offset + start * strides[dim]
        if step == 1:
            new_shape[dim] = end - start
            return AccessPattern(offset, strides, tuple(new_shape))
        step = min(step, shape[dim])  # a longer step selects the first element, too
        new_shape[dim] = (end - start + step - 1) // step
        new_strides = list(strides)
        new_strides[dim] *= step
        return AccessPattern(offset, tuple(new_strides), tuple(new_shape))

    def select(self, dim: int, index: int, *, on_chip: bool) -> AccessPattern:
        """Return one element of a dimension; the dimension is dropped.

        The NkiTensor reference defines `select` as indexing with an integer, so the exceptions of
        `index` apply. The dimension becomes size 1 if it is dim 0 on chip, or if the view would
        otherwise have fewer than two dimensions on chip, or no dimension in HBM.

        Raises:
            ViewError: unless `0 <= index < shape[dim]`; only `[]` takes negative indices.
        """
        dim = self._dim(dim)
        number = self._integer(index, "index of select")
        size = self.shape[dim]
        if not 0 <= number < size:
            raise self._refusal(
                f"select {one_line(number)} of dim {dim} is out of its size {size}",
                f"0 to {size - 1}",
                helps.for_select(dim, size, number, on_chip=on_chip),
            )
        offset = self.offset + number * self.strides[dim]
        if (on_chip and dim == 0) or len(self.shape) <= (2 if on_chip else 1):
            return AccessPattern(offset, self.strides, _replaced(self.shape, dim, (1,)))
        return AccessPattern(
            offset, _replaced(self.strides, dim, ()), _replaced(self.shape, dim, ())
        )

    # ---------------------------------------------------------------- dimensions

    def permute(self, dims: Sequence[int], *, on_chip: bool) -> AccessPattern:
        """Reorder the dimensions: dim `k` of the view is dim `dims[k]` of the tensor.

        Raises:
            ViewError: `dims` is not a permutation, or does not begin with 0 on chip.
        """
        order = [self._dim(dim) for dim in _items(dims)]
        if sorted(order) != list(range(len(self.shape))):
            raise self._refusal(
                f"permute to {one_line(dims)} is no permutation",
                f"each of 0 to {len(self.shape) - 1} once",
                helps.for_permutation(len(self.shape)),
            )
        if on_chip and order[0] != 0:
            raise self._refusal(
                f"permute to {one_line(dims)} moves the partition dimension",
                "0 first, in SBUF and PSUM",
                helps.TRANSPOSE,
            )
        return AccessPattern(
            self.offset,
            tuple([self.strides[dim] for dim in order]),
            tuple([self.shape[dim] for dim in order]),
        )

    def broadcast(self, dim: int, size: int, *, on_chip: bool) -> AccessPattern:
        """Repeat a dimension of size 1 `size` times, with stride 0.

        Raises:
            ViewError: the dimension is larger than 1, is dim 0 on chip, or `size` is below 1.
        """
        dim = self._dim(dim)
        count = self._integer(size, "size of a broadcast")
        if on_chip and dim == 0:
            raise self._refusal(
                "broadcast of the partition dimension", _LEGAL_FREE, helps.BROADCAST_PARTITIONS
            )
        if self.shape[dim] != 1 or not 1 <= count <= MAX_ELEMENTS:
            raise self._refusal(
                f"broadcast of dim {dim} to {one_line(count)}",
                "a dimension of size 1, and a new size of at least 1",
                helps.for_broadcast(dim, len(self.shape), count),
            )
        if count == 1:
            return self
        return AccessPattern(
            self.offset, _replaced(self.strides, dim, (0,)), _replaced(self.shape, dim, (count,))
        )

    def expand_dim(self, dim: int, *, on_chip: bool) -> AccessPattern:
        """Insert a dimension of size 1 before dim `dim`; at the end with `ndim` or -1.

        Raises:
            ViewError: the position does not exist, or it is 0 on chip.
        """
        shape, strides = self.shape, self.strides
        ndim = len(shape)
        at = self._integer(dim, "position of expand_dim")
        if not -ndim - 1 <= at <= ndim:
            raise self._refusal(
                f"expand_dim at {one_line(at)}",
                f"{-ndim - 1} to {ndim}",
                f"write {{t}}.expand_dim({ndim}) for a dimension at the end",
            )
        if at < 0:
            at += ndim + 1
        if on_chip and at == 0:
            raise self._refusal(
                "expand_dim before the partition dimension",
                _LEGAL_FREE,
                "write {t}.expand_dim(1): on chip dim 0 stays the partition dimension",
            )
        stride = strides[at] * shape[at] if at < ndim else 1
        return AccessPattern(
            self.offset, (*strides[:at], stride, *strides[at:]), (*shape[:at], 1, *shape[at:])
        )

    def squeeze_dim(self, dim: int, *, on_chip: bool) -> AccessPattern:
        """Remove a dimension of size 1.

        Raises:
            ViewError: the dimension is larger than 1 or is dim 0 on chip, or the view would have
                fewer than two dimensions on chip or one in HBM.
        """
        dim = self._dim(dim)
        if on_chip and dim == 0:
            raise self._refusal(
                "squeeze_dim of the partition dimension",
                _LEGAL_FREE,
                "leave it out: on chip dim 0 stays the partition dimension",
            )
        if self.shape[dim] != 1:
            raise self._refusal(
                f"squeeze_dim of dim {dim}, whose size is {self.shape[dim]}",
                "a dimension of size 1",
                helps.for_squeeze(dim),
            )
        fewest = 2 if on_chip else 1
        if len(self.shape) <= fewest:
            raise self._refusal(
                f"squeeze_dim of dim {dim} leaves {fewest - 1} dimension(s)",
                f"at least {fewest} in {'SBUF and PSUM' if on_chip else 'HBM'}",
                f"leave it out: {{t}} keeps {fewest} dimension(s)",
            )
        return AccessPattern(
            self.offset, _replaced(self.strides, dim, ()), _replaced(self.shape, dim, ())
        )

    def reshape_dim(self, dim: int, shape: Sequence[int], *, on_chip: bool) -> AccessPattern:
        """Split a dimension into several; one size may be -1.

        Raises:
            ViewError: the product of the sizes is not the dimension's size, or they split dim 0 on
                chip, where only a single size is legal (NkiTensor reference).
        """
        dim = self._dim(dim)
        sizes = self._sizes(shape, self.shape[dim], "reshape_dim")
        if on_chip and dim == 0 and len(sizes) != 1:
            raise self._refusal(
                f"reshape_dim to {sizes} splits the partition dimension",
                _LEGAL_FREE,
                helps.ROWS_IN_HBM,
            )
        # A split always has strides, so the result is never None.
        return cast(AccessPattern, self._in_shape(_replaced(self.shape, dim, sizes), on_chip))

    def flatten_dims(self, start_dim: int, end_dim: int, *, on_chip: bool) -> AccessPattern:
        """Merge the dimensions `start_dim` to `end_dim` (inclusive) into one.

        Raises:
            ViewError: `start_dim` is above `end_dim`, no single stride walks the merged
                dimension, or it includes dim 0 on chip.
        """
        start, end = self._dim(start_dim), self._dim(end_dim)
        asked = f"flatten_dims of {one_line(start_dim)} to {one_line(end_dim)}"
        if start > end:
            raise self._refusal(
                asked, "start_dim <= end_dim", f"write {{t}}.flatten_dims({end}, {start})"
            )
        if on_chip and start == 0:
            raise self._refusal(
                f"{asked} merges the partition dimension", _LEGAL_FREE, helps.ROWS_IN_HBM
            )
        shape = self.shape
        merged = (*shape[:start], prod(shape[start : end + 1]), *shape[end + 1 :])
        view = self._in_shape(merged, on_chip)
        if view is None:
            raise self._needs_copy(asked)
        return view

    def reshape(self, shape: Sequence[int], *, on_chip: bool) -> AccessPattern:
        """Return the same elements in the same order in another shape; one size may be -1.

        Nothing is copied. Strides for the new shape must exist. They also exist for views that
        are not contiguous, if no new dimension crosses a gap or a permutation.

        Raises:
            ViewError: the number of elements differs or no strides exist; on chip also if the
                partition dimension differs or there are fewer than two dimensions.
        """
        sizes = self._sizes(shape, self.size, "reshape")
        if on_chip and (len(sizes) < 2 or sizes[0] != self.shape[0]):
            raise self._refusal(
                f"reshape to {sizes} changes the partition dimension",
                f"({self.shape[0]}, …) with two dimensions or more, in SBUF and PSUM",
                helps.ROWS_IN_HBM,
            )
        view = self._in_shape(sizes, on_chip)
        if view is None:
            raise self._needs_copy(f"reshape to {sizes}")
        return view

    def rearrange(
        self,
        src_pattern: NamePattern,
        dst_pattern: NamePattern,
        fixed_sizes: Mapping[str, int] | None = None,
        *,
        on_chip: bool,
    ) -> AccessPattern:
        """Split, reorder and merge named dimensions, as einops does.

        `src_pattern` names the dimensions; a group names the parts that a dimension is split into.
        `dst_pattern` contains the same names in the new order; a group is merged into one
        dimension. `fixed_sizes` contains the sizes of the parts; at most one size per group may be
        omitted.

        Example: `rearrange(("b", ("h", "w")), ("b", "w", "h"), {"h": 4})` of a (128, 24) tensor
        has shape (128, 6, 4).

        Raises:
            ViewError: the patterns do not fit the tensor or each other, the product of sizes is
                not the dimension's size, or a merge needs a copy; on chip also if the first
                dimension is split, merged or moved.
        """
        source, target = self._groups(src_pattern), self._groups(dst_pattern)
        names = [name for group in source for name in group]
        wanted = [name for group in target for name in group]
        fixed: Any = {} if fixed_sizes is None else fixed_sizes
        asked = f"rearrange of {one_line(src_pattern)} to {one_line(dst_pattern)}"
        if len(source) != len(self.shape):
            raise self._refusal(
                f"{asked} names {len(source)} dimension(s)",
                f"{numbered(len(self.shape), 'name')} or groups",
                f"name the {numbered(len(self.shape), 'dimension')} of {{t}}; a tuple in the "
                "pattern is a "
                "dimension with several parts",
            )
        if len(set(names)) != len(names) or sorted(names) != sorted(wanted):
            raise self._refusal(
                asked,
                "the same names on both sides, each once",
                f"write each of {_listed(dict.fromkeys([*names, *wanted]))} once on each side",
            )
        legal = f"sizes of {sorted(names)}"
        if not isinstance(fixed, Mapping):
            raise self._refusal(
                f"{asked} with sizes {one_line(fixed)}",
                legal,
                f"pass a dict of names and sizes, e.g. {{{names[0]!r}: {self.shape[0]}}}",
            )
        sizes = cast("Mapping[str, int]", fixed)
        if not set(names).issuperset(sizes):
            raise self._refusal(
                f"{asked} with sizes {one_line(dict(sizes))}",
                legal,
                f"leave out the size of {_listed(n for n in sizes if n not in names)}",
            )
        if on_chip and (source[0] != target[0] or len(source[0]) != 1):
            raise self._refusal(
                f"{asked} changes the partition dimension",
                f"{names[0]!r} alone and first, in SBUF and PSUM",
                helps.TRANSPOSE,
            )
        size_of: dict[str, int] = {}
        for group, size in zip(source, self.shape, strict=True):
            parts = [sizes.get(name, -1) for name in group]
            help = helps.for_parts(group, parts, size)
            of_parts = self._sizes(parts, size, f"rearrange of {group}", help)
            size_of.update(zip(group, of_parts, strict=True))
        split = cast(AccessPattern, self._in_shape(tuple(size_of.values()), on_chip))
        moved = split.permute([names.index(name) for name in wanted], on_chip=on_chip)
        merged = moved._in_shape(
            tuple([prod([size_of[name] for name in group]) for group in target]), on_chip
        )
        if merged is None:
            raise self._needs_copy(asked)
        return merged

    # ---------------------------------------------------------------- other patterns and types

    def ap(
        self,
        pairs: Sequence[Sequence[int]],
        offset: int | None = None,
        *,
        base_shape: Sequence[int],
        on_chip: bool,
        bounded: bool = True,
    ) -> AccessPattern:
        """Return an explicit pattern on the allocation; this view's shape and strides are ignored.

        On chip the pattern must be the same in every partition: the stride of the first pair is
        the number of elements per partition, unless its count is 1, and no row leaves its
        partition (access pattern page).

        Args:
            pairs: `[[stride, count], …]` in elements, outermost first.
            offset: elements added to this view's offset; None adds nothing. This follows the
                NkiTensor reference; the language guide and the access pattern page count from the
                allocation's start. For a tensor that is not a view, both are the same.
            base_shape: shape of the allocation, in elements of the pattern's data type.
            on_chip: True if the allocation is in SBUF or PSUM.
            bounded: refuse a pattern that leaves the allocation, or on chip a partition.

        Raises:
            ViewError: `pairs` is not a pattern, breaks the rules on chip or, if `bounded`, leaves
                the allocation.
        """
        shift = 0 if offset is None else self._integer(offset, "offset of ap")
        view = AccessPattern.from_pairs(pairs, self.offset + shift)
        lowest, highest = view.bounds
        total = prod(base_shape)
        if bounded and (lowest < 0 or highest >= total):
            raise ViewError(
                f"ap({view.pairs}) at offset {view.offset} touches elements {lowest} to {highest}; "
                f"the allocation's shape is {tuple(base_shape)}; legal: 0 to {total - 1}",
                helps.SMALLER_PATTERN,
            )
        if not on_chip:
            return view
        elements = total // base_shape[0]
        if view.ndim < 2 or (view.shape[0] != 1 and view.strides[0] != elements):
            raise ViewError(
                f"ap({view.pairs}) does not begin with the partition dimension; the allocation's "
                f"shape is {tuple(base_shape)}; legal: [{elements}, partitions] and another pair, "
                f"in SBUF and PSUM",
                helps.for_partition_pair(view.pairs, elements, base_shape[0]),
            )
        if bounded:
            view.free_range(elements)
        return view

    def reinterpret(self, old_bits: int, new_bits: int) -> AccessPattern:
        """Return the same bits as elements of another size, for `NkiTensor.view(dtype)`.

        The last dimension has `old_bits / new_bits` times as many elements; offset and strides
        are rescaled to the new element.

        Args:
            old_bits: size of an element of this pattern, in bits.
            new_bits: size of an element of the view, in bits.

        Raises:
            ViewError: the last dimension is not contiguous, or the last size, the offset or a
                stride is not a whole number of new elements.
        """
        if old_bits == new_bits:
            return self
        shape, strides = self.shape, self.strides
        asked = f"view of {old_bits}-bit elements as {new_bits}-bit elements"
        if shape[-1] != 1 and strides[-1] != 1:
            raise self._refusal(
                f"{asked} of a last dimension with stride {strides[-1]}",
                "a contiguous last dimension",
                helps.VIEW_FIRST,
            )
        if old_bits % new_bits == 0:
            ratio = old_bits // new_bits
            return AccessPattern(
                self.offset * ratio,
                (*[stride * ratio for stride in strides[:-1]], 1),
                (*shape[:-1], shape[-1] * ratio),
            )
        if new_bits % old_bits:
            raise self._refusal(asked, "sizes of which one divides the other", helps.CONVERT)
        ratio = new_bits // old_bits
        if shape[-1] % ratio or self.offset % ratio:
            raise self._refusal(
                f"{asked} at offset {self.offset}",
                f"a last dimension and an offset divisible by {ratio}",
                helps.for_ratio(ratio),
            )
        new_shape = (*shape[:-1], shape[-1] // ratio)
        new_strides = [1] * len(shape)
        for dim in range(len(shape) - 2, -1, -1):
            if strides[dim] % ratio == 0:
                new_strides[dim] = strides[dim] // ratio
            elif shape[dim] == 1:
                new_strides[dim] = new_strides[dim + 1] * new_shape[dim + 1]
            else:
                raise self._refusal(
                    f"{asked} with stride {strides[dim]} in dim {dim}",
                    f"strides divisible by {ratio}",
                    helps.for_ratio(ratio),
                )
        return AccessPattern(self.offset // ratio, tuple(new_strides), new_shape)

    # ---------------------------------------------------------------- helpers

    def _check_partition_step(self, partition_elements: int) -> None:
        shape, strides = self.shape, self.strides
        if partition_elements < 1 or (shape[0] != 1 and strides[0] % partition_elements):
            raise ViewError(
                f"dim 0 does not step by whole partitions; {self._layout}; legal: a stride that is "
                f"a multiple of the {numbered(partition_elements, 'element')} per partition",
                f"begin with [{partition_elements}, partitions]",
            )

    @property
    def _layout(self) -> str:
        return f"the shape is {self.shape}, strides {self.strides}, offset {self.offset}"

    def _refusal(self, asked: str, legal: str, help: str) -> ViewError:
        return ViewError(f"{asked}; the shape is {self.shape}; legal: {legal}", help)

    def _needs_copy(self, asked: str) -> ViewError:
        return self._refusal(
            f"{asked} needs a copy",
            f"merging dimensions only where stride[k] == stride[k+1] * shape[k+1], the strides "
            f"are {self.strides}",
            helps.NEEDS_COPY,
        )

    def _integer(self, value: object, what: str, help: str = "") -> int:
        number = as_index(value)
        if number is None:
            raise self._refusal(
                f"{what} is a {type(value).__name__}",
                "an integer",
                help or helps.for_integer(value),
            )
        return number

    def _limit(self, value: object) -> int:
        return self._integer(value, "limit of a slice", helps.for_limit(value))

    def _index_integer(self, dim: int, item: object, on_chip: bool) -> int:
        if type(item) is int:
            return item
        number = as_index(item)
        if number is None:
            raise self._refusal(
                f"index of dim {dim} is a {type(item).__name__}",
                "an integer, a slice, `...` or nl.ds(start, size)",
                helps.for_index(item, dim, on_chip=on_chip),
            )
        return number

    def _dim(self, dim: int) -> int:
        number = self._integer(dim, "dim")
        ndim = len(self.shape)
        if not -ndim <= number < ndim:
            raise self._refusal(
                f"there is no dim {one_line(number)}", f"{-ndim} to {ndim - 1}", helps.for_dim(ndim)
            )
        return number if number >= 0 else number + ndim

    def _sizes(
        self, shape: Sequence[int], total: int, what: str, help: str = ""
    ) -> tuple[int, ...]:
        """Return the sizes of `shape` with -1 filled in; their product must be `total`."""
        sizes = [self._integer(size, "size") for size in _items(shape)]
        written = tuple(sizes)
        known = prod([size for size in sizes if size != -1])
        if -1 in sizes and known > 0 and total % known == 0:
            sizes[sizes.index(-1)] = total // known
        least = 0 if total == 0 else 1
        if not sizes or min(sizes) < least or prod(sizes) != total:
            raise self._refusal(
                f"{what} to {one_line(shape)}",
                f"sizes of at least {least} whose product is {total}, one of them may be -1",
                help or helps.for_sizes(written, total),
            )
        return tuple(sizes)

    def _groups(self, pattern: NamePattern) -> list[tuple[str, ...]]:
        """Return the names of a rearrange pattern, as one tuple of names per dimension."""
        groups: list[tuple[str, ...]] = []
        for entry in _items(pattern):
            group = (entry,) if isinstance(entry, str) else tuple(_items(entry))
            groups.append(group)
            if not group or not all(isinstance(name, str) for name in group):
                groups = []
                break
        if not groups or isinstance(pattern, str):
            raise self._refusal(
                f"rearrange with {one_line(pattern)}",
                "a tuple of names and tuples of names",
                helps.for_names(pattern),
            )
        return groups

    def _window(self, dim: int, item: Any, on_chip: bool) -> tuple[int, int, int]:
        """Return the first index, the count and the step of a slice key."""
        start, stop, step = item.start, item.stop, item.step
        size = self.shape[dim]
        if start is None:
            first = 0
        else:
            first = start if type(start) is int else self._limit(start)
            if first < 0:
                first += size
        if stop is None:
            end = size
        else:
            end = stop if type(stop) is int else self._limit(stop)
            if end < 0:
                end += size
        if step is None:
            by = 1
        else:
            by = step if type(step) is int else self._integer(step, "step of a slice")
            by = min(by, max(size, 1))  # a longer step selects the first element, too
        if not (0 <= first <= end <= size and by >= 1):
            written_parts = (start, stop, step)
            raise self._bad_slice(dim, first, end, by, written_parts, on_chip, empty="<=")
        return first, (end - first + by - 1) // by, by

    def _dynamic_window(self, dim: int, item: Any, on_chip: bool) -> tuple[int, int]:
        """Return the first index and the count of an `nl.ds` key."""
        start = self._integer(item.start, "start of nl.ds")
        count = self._integer(item.size, "size of nl.ds")
        size = self.shape[dim]
        if start < 0 or count < 0 or start + count > size:
            raise self._refusal(
                f"nl.ds({one_line(start)}, {one_line(count)}) of dim {dim} is out of its size "
                f"{size}",
                f"start >= 0, size >= 0, start + size <= {size}",
                helps.for_window(dim, size, start, count, on_chip=on_chip),
            )
        return start, count

    def _bad_slice(
        self,
        dim: int,
        first: int,
        end: int,
        step: int,
        written: tuple[object, object, object],
        on_chip: bool = False,
        empty: str = "<",
    ) -> ViewError:
        size = self.shape[dim]
        start, stop, by = ["" if part is None else one_line(part) for part in written]
        text = f"{start}:{stop}" if step == 1 else f"{start}:{stop}:{by}"
        if step < 1:
            fault = f"has step {one_line(step)}"
        elif end > size:
            fault = f"runs past its size {size}"
        elif first < 0:
            fault = "starts before its first element"
        else:
            fault = "is empty" if first == end else "ends before it starts"
        if step < 1:
            pattern = (self.strides, self.shape)
            help = helps.for_steps(dim, slice(*written), pattern, on_chip=on_chip)
        else:
            help = helps.for_slice(dim, size, first, end, written[:2], on_chip=on_chip)
        return self._refusal(
            f"slice {text} of dim {dim} {fault}",
            f"0 <= start {empty} end <= {size}, step >= 1",
            help,
        )

    def _bad_key(self, keys: tuple[object, ...]) -> ViewError:
        return self._refusal(
            f"{numbered(len(keys), 'index', 'indices')}",
            f"at most {len(self.shape)} and at most one `...`",
            helps.for_keys(len(keys), len(self.shape), sum(key is Ellipsis for key in keys)),
        )

    def _in_shape(self, shape: tuple[int, ...], on_chip: bool) -> AccessPattern | None:
        """Return this view in another shape of the same size; None when no strides exist.

        On chip both shapes begin with the same partition dimension.
        """
        if shape == self.shape:
            return self
        if 0 in shape:
            return AccessPattern.empty(shape)
        first = 1 if on_chip else 0
        strides = _strides_in(self.strides[first:], self.shape[first:], shape[first:])
        if strides is None:
            return None
        return AccessPattern(self.offset, (*self.strides[:first], *strides), shape)


def _items(values: Iterable[Any]) -> list[Any]:
    """Return the elements of an iterable; any other value is a single element.

    Raises ViewError for an iterable of very many elements, such as a range of 2**40.
    """
    try:
        items = list(islice(values, _MOST_ITEMS + 1))
    except TypeError:
        return [values]
    if len(items) > _MOST_ITEMS:
        raise ViewError(f"more than {_MOST_ITEMS} items: {one_line(values)}")
    return items


_MOST_ITEMS = 1 << 16
"""The maximum length of a sequence of dimensions or pairs; tensors have far fewer."""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _replaced(values: tuple[int, ...], at: int, by: tuple[int, ...]) -> tuple[int, ...]:
    return (*values[:at], *by, *values[at + 1 :])


def _strides_in(
    strides: tuple[int, ...], shape: tuple[int, ...], wanted: tuple[int, ...]
) -> list[int] | None:
    """Return strides that visit the same elements in the shape `wanted`; None when there are none.

    From the right, neighbouring dimensions that one stride can visit form a run. Runs are split
    into the new dimensions. If a new dimension would extend over two runs, there are no strides.
    """
    result = [1] * len(wanted)
    old = len(shape) - 1
    left, step = 1, 1  # the rest of the current run: elements, and the stride between them
    for new in range(len(wanted) - 1, -1, -1):
        size = wanted[new]
        if size != 1 and left == 1:
            while shape[old] == 1:
                old -= 1
            left, step = shape[old], strides[old]
            old -= 1
            while old >= 0 and (shape[old] == 1 or strides[old] == step * left):
                left *= shape[old]
                old -= 1
        if left % size:
            return None
        result[new] = step
        left //= size
        step *= size
    return result
