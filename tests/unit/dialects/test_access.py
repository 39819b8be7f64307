"""Access patterns against NumPy: real arrays of element numbers, sliced and reshaped by NumPy.

Nothing here uses the module's own arithmetic to predict a result. `numbers` applies the formula
of the language guide ("Tensor Values": offset + sum of strides[k] * i_k) with `np.indices`.
"""

from __future__ import annotations

import dataclasses
import itertools
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nkijit.dialects.access import AccessPattern, DynamicSlice, ViewError

Array = npt.NDArray[np.int64]

some = settings(max_examples=80, deadline=None)
many = settings(max_examples=300, deadline=None)


def numbers(view: AccessPattern) -> Array:
    """The element numbers of a view, in the view's shape."""
    indices = np.indices(view.shape, dtype=np.int64)
    strides = np.array(view.strides, dtype=np.int64).reshape(-1, *[1] * len(view.shape))
    return view.offset + (indices * strides).sum(axis=0)


def assert_same(view: AccessPattern, expected: Array) -> None:
    assert view.shape == expected.shape
    np.testing.assert_array_equal(numbers(view), expected)


def whole(*shape: int) -> tuple[AccessPattern, Array]:
    """An allocation, and its element numbers."""
    return AccessPattern.contiguous(shape), np.arange(int(np.prod(shape))).reshape(shape)


def strided(array: Array, strides: tuple[int, ...], shape: tuple[int, ...], offset: int) -> Array:
    itemsize = array.itemsize
    return np.lib.stride_tricks.as_strided(
        array.ravel()[offset:], shape, [stride * itemsize for stride in strides], writeable=False
    )


# ------------------------------------------------------------------------ random views

shapes = st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple)
on_chip_shapes = st.lists(st.integers(1, 6), min_size=2, max_size=4).map(tuple)


@st.composite
def patterns(draw: st.DrawFn, most: int = 5, max_dims: int = 3) -> AccessPattern:
    """Any offset, strides (negative and zero too) and shape."""
    shape = draw(st.lists(st.integers(1, most), min_size=1, max_size=max_dims))
    strides = [draw(st.integers(-7, 13)) for _ in shape]
    return AccessPattern(draw(st.integers(-20, 60)), tuple(strides), tuple(shape))


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A legal index expression for a shape."""
    head = draw(st.integers(0, len(shape)))
    tail = draw(st.integers(0, len(shape) - head))
    key: list[Any] = []
    for size in (*shape[:head], *shape[len(shape) - tail :]):
        start = draw(st.integers(0, size - 1))
        stop = draw(st.integers(start + 1, size))
        step = draw(st.sampled_from([None, 1, 2, 3, 7]))
        negative = draw(st.booleans())
        first = start - size if negative else start
        last = stop - size if negative and stop < size else stop
        forms = [
            start,
            start - size,
            np.int32(start),
            slice(first, last, step),
            slice(None, last, step),
            slice(first, None, step),
            slice(None),
            DynamicSlice(start, stop - start),
        ]
        key.append(draw(st.sampled_from(forms)))
    if head + tail < len(shape) or draw(st.booleans()):
        key.insert(head, Ellipsis)
    if tail == 0 and draw(st.booleans()):
        key = key[:head]  # dimensions at the end may be left out without `...`
    return tuple(key)


def indexed(array: Array, key: tuple[Any, ...], on_chip: bool) -> Array:
    """Return NumPy's result for a key, with the language guide's minimum rank."""
    plain: list[Any] = []
    for item in key:
        if isinstance(item, DynamicSlice):
            start = cast(int, item.start)
            plain.append(slice(start, start + cast(int, item.size)))
        else:
            plain.append(item)
    if on_chip and plain and not isinstance(plain[0], slice) and plain[0] is not Ellipsis:
        first = int(plain[0]) % array.shape[0]
        plain[0] = slice(first, first + 1)
    elif on_chip and len(plain) == array.ndim + 1 and plain[0] is Ellipsis:
        return indexed(array, key[1:], on_chip)
    result = np.asarray(array[tuple(plain)])
    while result.ndim < (2 if on_chip else 1):
        result = result[..., None]
    return result


# ------------------------------------------------------------------------ construction, queries


@given(shapes)
@some
def test_contiguous(shape: tuple[int, ...]) -> None:
    view, array = whole(*shape)
    assert_same(view, array)
    assert view.offset == 0
    assert (view.ndim, view.size) == (array.ndim, array.size)
    assert view.is_contiguous(on_chip=False)


def test_contiguous_as_in_the_language_guide() -> None:
    view = AccessPattern.contiguous((128, 64))
    assert view == AccessPattern(0, (64, 1), (128, 64))
    assert view.pairs == [[64, 128], [1, 64]]


@given(patterns())
@some
def test_pairs_bounds_and_offsets(view: AccessPattern) -> None:
    touched = numbers(view)
    assert AccessPattern.from_pairs(view.pairs, view.offset) == view
    assert view.bounds == (touched.min(), touched.max())
    assert list(view.offsets()) == touched.ravel().tolist()


@given(patterns(), st.booleans())
@some
def test_is_contiguous(view: AccessPattern, on_chip: bool) -> None:
    touched = numbers(view)
    rows = touched if on_chip else touched[None]
    dense = all(
        row.ravel().tolist() == list(range(row.flat[0], row.flat[0] + row.size)) for row in rows
    )
    assert view.is_contiguous(on_chip) == dense


def test_is_a_value() -> None:
    view = AccessPattern.contiguous((4, 6)).slice(1, 2, 4)
    assert hash(view) == hash(AccessPattern(2, (6, 1), (4, 2)))
    assert pickle.loads(pickle.dumps(view)) == view
    with pytest.raises(dataclasses.FrozenInstanceError):
        view.offset = 3  # pyright: ignore[reportAttributeAccessIssue]


def test_numpy_integers_become_plain_integers() -> None:
    sizes: Any = np.array([4, 6])
    pairs: Any = np.array([[6, 4], [1, 6]])
    view = AccessPattern.contiguous(sizes)
    assert view == AccessPattern.from_pairs(pairs, 0)
    view = view.slice(1, sizes[0] - 4, sizes[0]).reshape(sizes // [1, 3] * [1, 2], on_chip=True)
    view = view.ap(pairs, sizes[0] - 4, base_shape=(4, 6), on_chip=True)
    view = view.index((sizes[0] - 1, slice(sizes[0] - 4, sizes[0])), on_chip=False)
    assert all(type(n) is int for n in (view.offset, *view.strides, *view.shape))


# ------------------------------------------------------------------------ indexing


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        ((0, 0, 10), (1, 1)),
        ((slice(None), 0), (64, 64)),
        ((slice(None), 0, 10), (64, 1)),
        ((slice(0, 64), 0, slice(0, 64)), (64, 64)),
        ((slice(None), 0, slice(None)), (64, 64)),
        ((slice(None), slice(None), slice(None, None, 2)), (64, 64, 32)),
        (..., (64, 64, 64)),
        ((slice(None), ...), (64, 64, 64)),
        ((0, ..., slice(None)), (1, 64, 64)),
        ((0, ...), (1, 64, 64)),
        (0, (1, 64, 64)),
        ((..., 0), (64, 64)),
        ((DynamicSlice(8, 8), slice(None)), (8, 64, 64)),
    ],
)
def test_index_on_chip_as_in_the_language_guide(key: Any, shape: tuple[int, ...]) -> None:
    view, _ = whole(64, 64, 64)
    assert view.index(key, on_chip=True).shape == shape


def test_index_on_chip_keeps_strides_of_kept_dimensions() -> None:
    view, _ = whole(64, 64, 64)
    assert view.index((3, 5, 10), on_chip=True).pairs == [[4096, 1], [1, 1]]
    assert view.index((3, 5, 10), on_chip=True).offset == 3 * 4096 + 5 * 64 + 10
    assert view.index((slice(0, 9), 5, 10), on_chip=True).pairs == [[4096, 9], [1, 1]]


def test_index_in_hbm_as_in_the_language_guide() -> None:
    view, array = whole(4, 128, 32)
    assert_same(view.index((0, slice(None), slice(None)), on_chip=False), array[0])
    assert_same(view.index(1, on_chip=False), array[1])
    assert_same(view.index((1, 2, 3), on_chip=False), array[1, 2, 3:4])


@given(st.data(), st.booleans())
@some
def test_index(data: st.DataObject, on_chip: bool) -> None:
    view, array = whole(*data.draw(on_chip_shapes if on_chip else shapes))
    key = data.draw(keys(view.shape))
    expected = indexed(array, key, on_chip)
    assert_same(view.index(key, on_chip=on_chip), expected)
    if len(key) == 1:
        assert_same(view.index(key[0], on_chip=on_chip), expected)


@given(st.data())
@some
def test_slices_are_those_of_numpy_unless_numpy_would_clip(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 6))
    part = st.none() | st.integers(-9, 9)
    start, stop = data.draw(part), data.draw(part)
    step = data.draw(st.none() | st.integers(1, 3))
    view, array = whole(3, size)
    expected = array[:, start:stop:step]
    reached = [n for n in (start, stop) if n is not None]
    clipped = any(n < -size or n > size for n in reached)
    # Limits in the opposite order are a mistake; equal ones select nothing.
    first, end, _ = slice(start, stop, step).indices(size)
    key = (slice(None), slice(start, stop, step))
    if clipped or first > end:
        with pytest.raises(ViewError):
            view.index(key, on_chip=True)
    else:
        assert_same(view.index(key, on_chip=True), expected)


@given(st.data())
@some
def test_slice(data: st.DataObject) -> None:
    view, array = whole(*data.draw(shapes))
    dim = data.draw(st.integers(0, view.ndim - 1))
    start, end = data.draw(st.integers(-2, 8)), data.draw(st.integers(-2, 8))
    step = data.draw(st.integers(-1, 4))
    given_dim = dim - data.draw(st.sampled_from([0, view.ndim]))
    if 0 <= start < end <= view.shape[dim] and step >= 1:
        key = (slice(None),) * dim + (slice(start, end, step),)
        assert_same(view.slice(given_dim, start, end, step), array[key])
    else:
        with pytest.raises(ViewError):
            view.slice(given_dim, start, end, step)


def test_slice_as_on_the_access_pattern_page() -> None:
    view = AccessPattern.contiguous((128, 64)).slice(dim=1, start=8, end=24)
    assert view.pairs == [[64, 128], [1, 16]]
    assert view.offset == 8
    assert view == AccessPattern.contiguous((128, 64)).ap(
        [[64, 128], [1, 16]], offset=8, base_shape=(128, 64), on_chip=True
    )


@given(st.data(), st.booleans())
@some
def test_select(data: st.DataObject, on_chip: bool) -> None:
    view, array = whole(*data.draw(on_chip_shapes if on_chip else shapes))
    dim = data.draw(st.integers(0, view.ndim - 1))
    at = data.draw(st.integers(0, view.shape[dim] - 1))
    keep = (on_chip and dim == 0) or view.ndim == (2 if on_chip else 1)
    expected = np.take(array, [at] if keep else at, axis=dim)
    for given_dim in (dim, dim - view.ndim):
        assert_same(view.select(given_dim, at, on_chip=on_chip), expected)


# ------------------------------------------------------------------------ dimensions


@given(st.data(), st.booleans())
@some
def test_permute(data: st.DataObject, on_chip: bool) -> None:
    view, array = whole(*data.draw(on_chip_shapes if on_chip else shapes))
    dims = tuple(data.draw(st.permutations(range(view.ndim))))
    negative = tuple(dim - view.ndim for dim in dims)
    for given_dims in (dims, negative):
        if on_chip and dims[0] != 0:
            with pytest.raises(ViewError, match="moves the partition dimension"):
                view.permute(given_dims, on_chip=True)
        else:
            assert_same(view.permute(given_dims, on_chip=on_chip), array.transpose(dims))


def test_broadcast() -> None:
    view, array = whole(6, 1, 4)
    expected = np.broadcast_to(array, (6, 8, 4))
    for dim in (1, -2):
        assert_same(view.broadcast(dim, 8, on_chip=True), expected)
    assert view.broadcast(1, 8, on_chip=True).strides == (4, 0, 1)
    assert view.broadcast(1, 1, on_chip=True) == view
    row, numbers_of_row = whole(1, 4)
    assert_same(row.broadcast(0, 3, on_chip=False), np.broadcast_to(numbers_of_row, (3, 4)))


@given(shapes, st.data())
@some
def test_expand_and_squeeze_dim(shape: tuple[int, ...], data: st.DataObject) -> None:
    view, array = whole(*shape)
    dim = data.draw(st.integers(0, view.ndim))
    for given_dim in (dim, dim - view.ndim - 1):
        expanded = view.expand_dim(given_dim, on_chip=False)
        assert_same(expanded, np.expand_dims(array, dim))
        assert expanded == AccessPattern.contiguous(expanded.shape)
        assert_same(expanded.squeeze_dim(given_dim, on_chip=False), array)


@given(st.data(), st.booleans())
@some
def test_reshape_dim(data: st.DataObject, on_chip: bool) -> None:
    sizes = data.draw(shapes)
    view, array = whole(3, int(np.prod(sizes)), 2)
    view = view.slice(2, 1, 2)
    asked = list(sizes)
    if data.draw(st.booleans()):
        asked[data.draw(st.integers(0, len(sizes) - 1))] = -1
    result = view.reshape_dim(data.draw(st.sampled_from([1, -2])), asked, on_chip=on_chip)
    assert_same(result, array[:, :, 1:].reshape(3, *sizes, 1))


def test_reshape_dim_of_the_partition_dimension() -> None:
    view, array = whole(4, 6)
    assert view.reshape_dim(0, (4,), on_chip=True) == view
    assert view.reshape_dim(0, (-1,), on_chip=True) == view
    assert_same(view.reshape_dim(0, (2, 2), on_chip=False), array.reshape(2, 2, 6))


def test_flatten_dims() -> None:
    view, array = whole(4, 2, 3, 4)
    assert_same(view.flatten_dims(1, 2, on_chip=True), array.reshape(4, 6, 4))
    assert_same(view.flatten_dims(-3, -1, on_chip=True), array.reshape(4, 24))
    assert_same(view.flatten_dims(0, 3, on_chip=False), array.reshape(96))
    assert view.flatten_dims(2, 2, on_chip=True) == view
    part = view.slice(3, 1, 3)
    assert_same(part.flatten_dims(1, 2, on_chip=True), array[..., 1:3].reshape(4, 6, 2))


def factorised(draw: st.DrawFn, total: int, most: int = 4) -> tuple[int, ...]:
    """A shape with this many elements."""
    sizes: list[int] = []
    while len(sizes) < most - 1 and (total > 1 or not sizes or draw(st.booleans())):
        size = draw(st.sampled_from([n for n in range(1, total + 1) if total % n == 0]))
        sizes.append(size)
        total //= size
    return (*sizes, total) if total > 1 or not sizes else tuple(sizes)


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[AccessPattern, tuple[int, ...]]:
    """A view with overlapping, repeated, mergeable or scattered elements, and another shape."""
    shape = factorised(draw, draw(st.sampled_from([1, 2, 4, 6, 8, 12, 16, 24])))
    strides: list[int] = []
    fits = 1
    for size in reversed(shape):
        strides.append(draw(st.sampled_from([fits, fits, fits, 0, 1, 2, -3, 24])))
        fits = strides[-1] * size
    view = AccessPattern(5, tuple(reversed(strides)), shape)
    return view, factorised(draw, view.size)


@given(reshapes())
@many
def test_reshape_works_exactly_when_strides_exist(case: tuple[AccessPattern, Any]) -> None:
    view, shape = case
    touched = numbers(view)
    flat = touched.ravel()
    # Dim k of the new shape has no choice: its stride leads to the element one step along k.
    steps = np.cumprod([1, *reversed(shape)])[:-1][::-1]
    forced = [int(flat[step] - flat[0]) if n > 1 else 0 for step, n in zip(steps, shape)]  # noqa: B905
    exists = np.array_equal(numbers(AccessPattern(view.offset, tuple(forced), shape)).ravel(), flat)
    if exists:
        assert_same(view.reshape(shape, on_chip=False), touched.reshape(shape))
    else:
        with pytest.raises(ViewError, match="needs a copy"):
            view.reshape(shape, on_chip=False)


@given(reshapes())
@some
def test_reshape_works_exactly_when_numpy_shares_memory(case: tuple[AccessPattern, Any]) -> None:
    view, shape = case
    base = np.arange(2000)
    array = strided(base, view.strides, view.shape, 1000)
    reshaped = array.reshape(shape)
    if np.shares_memory(reshaped, base):
        moved = dataclasses.replace(view, offset=1000)
        assert_same(moved.reshape(shape, on_chip=False), reshaped)
    else:
        with pytest.raises(ViewError, match="needs a copy"):
            view.reshape(shape, on_chip=False)


def test_reshape_infers_one_size() -> None:
    view, array = whole(4, 6)
    assert_same(view.reshape((2, -1, 3), on_chip=False), array.reshape(2, 4, 3))
    assert_same(view.reshape((-1, 2, 3), on_chip=True), array.reshape(4, 2, 3))
    assert view.reshape((4, 6), on_chip=True) == view
    assert view.reshape((4, 6, 1), on_chip=True) == AccessPattern.contiguous((4, 6, 1))


def test_reshape_on_chip_keeps_the_partition_dimension_apart() -> None:
    view, array = whole(8, 6)
    row = view.slice(0, 3, 4)
    assert row.reshape((1, 2, 3), on_chip=True).strides == (6, 3, 1)
    gap = view.slice(1, 0, 4)
    assert_same(gap.reshape((8, 2, 2), on_chip=True), array[:, :4].reshape(8, 2, 2))


@pytest.mark.parametrize(
    ("source", "target", "sizes", "parts", "order", "shape"),
    [
        (("b", ("h", "w")), ("b", "w", "h"), {"h": 4}, (8, 4, 15), (0, 2, 1), (8, 15, 4)),
        (("b", ("h", "w")), ("b", "h", "w"), {"w": 4}, (8, 15, 4), (0, 1, 2), (8, 15, 4)),
        (
            ("p", ("h", "w", "c")),
            ("p", "c", ("h", "w")),
            {"h": 3, "c": 5},
            (8, 3, 4, 5),
            (0, 3, 1, 2),
            (8, 5, 12),
        ),
        (
            (("p",), ["a", "b"]),
            ("p", "b", ("a",)),
            {"b": 2, "a": -1, "p": 8},
            (8, 30, 2),
            (0, 2, 1),
            (8, 2, 30),
        ),
    ],
)
def test_rearrange(
    source: Any,
    target: Any,
    sizes: dict[str, int],
    parts: tuple[int, ...],
    order: tuple[int, ...],
    shape: tuple[int, ...],
) -> None:
    view, array = whole(8, 60)
    expected = array.reshape(parts).transpose(order).reshape(shape)
    for on_chip in (True, False):
        assert_same(view.rearrange(source, target, sizes, on_chip=on_chip), expected)


def test_rearrange_as_in_the_reference() -> None:
    view, _ = whole(128, 24)
    result = view.rearrange(("b", ("h", "w")), ("b", "w", "h"), {"h": 4}, on_chip=True)
    assert result.shape == (128, 6, 4)
    view, array = whole(8, 3, 4, 5)
    result = view.rearrange(("p", "a", "b", "c"), ("p", ("a", "b"), "c"), on_chip=True)
    assert_same(result, array.reshape(8, 12, 5))


def test_rearrange_moves_any_dimension_in_hbm() -> None:
    view, array = whole(8, 6)
    result = view.rearrange((("a", "b"), "c"), ("c", ("a", "b")), {"a": 2}, on_chip=False)
    assert_same(result, array.T)


# ------------------------------------------------------------------------ explicit patterns


@given(patterns(), st.integers(0, 30), st.none() | st.integers(-10, 30))
@some
def test_ap_in_hbm(pattern: AccessPattern, start: int, offset: int | None) -> None:
    base_shape = (4, 5, 6)
    view = AccessPattern(start, (1,), (2,))
    first = start + (offset or 0)
    expected = numbers(dataclasses.replace(pattern, offset=first))
    if expected.min() < 0 or expected.max() >= 120:
        with pytest.raises(ViewError, match=r"allocation's shape is \(4, 5, 6\); legal: 0 to 119"):
            view.ap(pattern.pairs, offset, base_shape=base_shape, on_chip=False)
        return
    result = view.ap(pattern.pairs, offset, base_shape=base_shape, on_chip=False)
    assert_same(result, expected)
    array = np.arange(120).reshape(base_shape)
    assert_same(result, strided(array, pattern.strides, pattern.shape, first))


def test_ap_on_chip_as_in_the_documents() -> None:
    view, array = whole(16, 16)
    result = view.ap([[16, 16], [1, 8]], offset=8, base_shape=(16, 16), on_chip=True)
    assert_same(result, array[0:16, 8:16])
    every_other, array = whole(128, 1024)
    pairs: Any = [(1024, 128), (2, 512)]
    result = every_other.ap(pairs, base_shape=(128, 1024), on_chip=True)
    assert_same(result, array[:, ::2])
    pooled, array = whole(2, 4, 6)
    result = pooled.ap(
        [[24, 2], [12, 2], [2, 3], [6, 2], [1, 2]], base_shape=(2, 4, 6), on_chip=True
    )
    assert_same(result, array.reshape(2, 2, 2, 3, 2).transpose(0, 1, 3, 2, 4))


def test_ap_ignores_the_view_but_for_its_offset() -> None:
    view, _ = whole(128, 256)
    inner = view.ap([[256, 128], [2, 128]], base_shape=(128, 256), on_chip=True)
    outer = inner.ap([[256, 128], [1, 64]], base_shape=(128, 256), on_chip=True)
    assert outer == view.ap([[256, 128], [1, 64]], base_shape=(128, 256), on_chip=True)
    part = view.slice(1, 32, 64)
    pairs = [[256, 128], [1, 8]]
    assert part.ap(pairs, base_shape=(128, 256), on_chip=True).offset == 32
    assert part.ap(pairs, 8, base_shape=(128, 256), on_chip=True).offset == 40


def test_ap_on_chip_with_one_partition_has_any_partition_stride() -> None:
    view, _ = whole(128, 256)
    result = view.ap([[1, 1], [1, 1]], 300, base_shape=(128, 256), on_chip=True)
    assert result.partition_range(256) == (1, 1)


# ------------------------------------------------------------------------ other element sizes


@st.composite
def dense_rows(draw: st.DrawFn) -> tuple[AccessPattern, Array]:
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 4, 8]), min_size=1, max_size=3)))
    view, array = whole(*shape)
    for dim, size in enumerate(shape):
        start = draw(st.integers(0, size - 1))
        stop = draw(st.integers(start + 1, size))
        step = draw(st.integers(1, 2))
        view = view.slice(dim, start, stop, step)
        array = array[(slice(None),) * dim + (slice(start, stop, step),)]
    return view, array


@given(dense_rows(), st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4, 8]))
@some
def test_reinterpret(case: tuple[AccessPattern, Array], old: int, new: int) -> None:
    view, array = case
    itemsize = array.itemsize
    storage = np.zeros(512 * old, dtype=np.uint8)
    same_view = np.ndarray(
        array.shape,
        f"u{old}",
        storage,
        offset=view.offset * old,
        # A stride of a dimension of size 1 is never used, but NumPy looks at the last one.
        strides=[n // itemsize * old for n in array.strides[:-1]]
        + [old if array.shape[-1] == 1 else array.strides[-1] // itemsize * old],
    )
    try:
        expected = same_view.view(f"u{new}")
    except ValueError:
        with pytest.raises(ViewError):
            view.reinterpret(8 * old, 8 * new)
        return
    start = expected.__array_interface__["data"][0] - storage.__array_interface__["data"][0]
    addresses = numbers(AccessPattern(start, expected.strides, expected.shape))
    if (addresses % new).any():
        with pytest.raises(ViewError, match="divisible by"):
            view.reinterpret(8 * old, 8 * new)
    else:
        assert_same(view.reinterpret(8 * old, 8 * new), addresses // new)


def test_reinterpret_as_in_the_reference() -> None:
    single = AccessPattern.contiguous((128, 64))
    assert single.reinterpret(32, 8) == AccessPattern.contiguous((128, 256))
    assert single.reinterpret(32, 32) == single
    assert AccessPattern.contiguous((128, 256)).reinterpret(8, 32) == single
    cast = AccessPattern.contiguous((128, 256)).reinterpret(32, 16)
    assert cast.pairs == [[512, 128], [1, 512]]


def test_reinterpret_of_a_dimension_of_size_1_needs_no_stride() -> None:
    # Bytes 0 to 7 of two rows of 20; the middle dimension has one element and stride 10.
    view = AccessPattern.contiguous((2, 2, 10)).slice(1, 0, 1).slice(2, 0, 8)
    assert view.reinterpret(8, 32) == AccessPattern(0, (5, 2, 1), (2, 1, 2))
    every_other = AccessPattern(4, (16, 2), (4, 1))
    assert every_other.reinterpret(32, 16) == AccessPattern(8, (32, 1), (4, 2))


# ------------------------------------------------------------------------ chains


@dataclass
class Step:
    """One view operation on both sides; NumPy's answer is None when it would copy."""

    view: Callable[[AccessPattern], AccessPattern]
    array: Callable[[Array], Array | None]


def shared_reshape(array: Array, shape: tuple[int, ...]) -> Array | None:
    reshaped = array.reshape(shape)
    return reshaped if np.may_share_memory(reshaped, array) else None


@st.composite
def steps(draw: st.DrawFn, shape: tuple[int, ...], on_chip: bool) -> Step:
    """A step that the rules on rank and partition dimension allow."""
    lowest = 1 if on_chip else 0
    dims = range(lowest, len(shape))
    ones = [dim for dim in dims if shape[dim] == 1]
    kinds = ["index", "slice", "permute", "expand", "reshape", "flatten"]
    kinds += ["broadcast"] * bool(ones)
    kinds += ["squeeze"] * (bool(ones) and len(shape) > lowest + 1)
    match draw(st.sampled_from(kinds)):
        case "index":
            key = draw(keys(shape))
            return Step(lambda v: v.index(key, on_chip=on_chip), lambda a: indexed(a, key, on_chip))
        case "slice":
            dim = draw(st.integers(0, len(shape) - 1))
            start = draw(st.integers(0, shape[dim] - 1))
            end, step = draw(st.integers(start + 1, shape[dim])), draw(st.integers(1, 3))
            cut = (slice(None),) * dim + (slice(start, end, step),)
            return Step(lambda v: v.slice(dim, start, end, step), lambda a: a[cut])
        case "permute":
            order = (*range(lowest), *draw(st.permutations(dims)))
            return Step(lambda v: v.permute(order, on_chip=on_chip), lambda a: a.transpose(order))
        case "expand":
            at = draw(st.integers(lowest, len(shape)))
            return Step(
                lambda v: v.expand_dim(at, on_chip=on_chip), lambda a: np.expand_dims(a, at)
            )
        case "reshape":
            total = int(np.prod(shape[lowest:]))
            sizes = (*shape[:lowest], *factorised(draw, total))
            return Step(
                lambda v: v.reshape(sizes, on_chip=on_chip), lambda a: shared_reshape(a, sizes)
            )
        case "flatten":
            first = draw(st.sampled_from(dims))
            last = draw(st.integers(first, len(shape) - 1))
            merged = (*shape[:first], int(np.prod(shape[first : last + 1])), *shape[last + 1 :])
            return Step(
                lambda v: v.flatten_dims(first, last, on_chip=on_chip),
                lambda a: shared_reshape(a, merged),
            )
        case "broadcast":
            one, size = draw(st.sampled_from(ones)), draw(st.integers(1, 4))
            wide = (*shape[:one], size, *shape[one + 1 :])
            return Step(
                lambda v: v.broadcast(one, size, on_chip=on_chip),
                lambda a: np.broadcast_to(a, wide),
            )
        case _:
            one = draw(st.sampled_from(ones))
            return Step(
                lambda v: v.squeeze_dim(one, on_chip=on_chip), lambda a: a.squeeze(axis=one)
            )


@given(st.data(), st.booleans())
@many
def test_chains_of_views(data: st.DataObject, on_chip: bool) -> None:
    view, array = whole(*data.draw(on_chip_shapes if on_chip else shapes))
    base_shape, total = view.shape, view.size
    for _ in range(data.draw(st.integers(1, 7))):
        step = data.draw(steps(view.shape, on_chip))
        expected = step.array(array)
        if expected is None or expected.size > 3000:
            if expected is None:
                with pytest.raises(ViewError, match="needs a copy"):
                    step.view(view)
            continue
        view, array = step.view(view), expected
        assert_same(view, array)
    view.check_bounds(total)
    assert view.ap(view.pairs, base_shape=base_shape, on_chip=False) == view
    if on_chip:
        elements = total // base_shape[0]
        columns, rows = array % elements, array // elements
        assert view.free_range(elements) == (columns.min(), columns.max())
        assert view.partition_range(elements) == (rows.min(), rows.max() - rows.min() + 1)


# ------------------------------------------------------------------------ ranges


@given(patterns(), st.integers(1, 12), st.none() | st.integers(-2, 3))
@many
def test_partition_and_free_range(
    view: AccessPattern, elements: int, partitions: int | None
) -> None:
    if partitions is not None:
        view = dataclasses.replace(view, strides=(partitions * elements, *view.strides[1:]))
    touched = numbers(view)
    rows = touched // elements
    columns = touched % elements
    per_row = rows.reshape(view.shape[0], -1)
    legal = bool((per_row == per_row[:, :1]).all()) and bool((columns == columns[:1]).all())
    if view.offset < 0 and view.offset % elements:  # it starts before a row, not in the one above
        legal = False
    if legal:
        assert view.free_range(elements) == (columns.min(), columns.max())
        assert view.partition_range(elements) == (rows.min(), rows.max() - rows.min() + 1)
    else:
        with pytest.raises(ViewError):
            view.free_range(elements)
    if view.shape[0] != 1 and view.strides[0] % elements:
        with pytest.raises(ViewError):
            view.partition_range(elements)
    else:  # by its first column, wherever its rows end
        firsts = touched.reshape(view.shape[0], -1)[:, 0]
        steps = (firsts - firsts[0]) // elements
        start = int(view.offset / elements)
        assert view.start(elements) == (start, view.offset - start * elements)
        reach = steps.max() - steps.min() + 1
        assert view.partition_range(elements) == (start + steps.min(), reach)
        along = touched.reshape(view.shape[0], -1)[0] - start * elements
        assert view.columns(elements) == (along.min(), along.max())


@given(patterns(), st.integers(1, 200))
@some
def test_check_bounds(view: AccessPattern, size: int) -> None:
    touched = numbers(view)
    if touched.min() < 0 or touched.max() >= size:
        with pytest.raises(ViewError, match="inside the allocation"):
            view.check_bounds(size)
    else:
        view.check_bounds(size)


# ------------------------------------------------------------------------ overlap


def share(a: AccessPattern, b: AccessPattern) -> bool:
    return bool(np.intersect1d(numbers(a), numbers(b)).size)


@given(patterns(), patterns(), st.booleans())
@many
def test_overlaps_is_exact_for_small_patterns(
    a: AccessPattern, b: AccessPattern, same_pitch: bool
) -> None:
    if same_pitch:
        b = dataclasses.replace(b, strides=(a.strides[0], *b.strides[1:]))
    assert a.overlaps(b) == b.overlaps(a) == share(a, b)
    assert a.overlaps(a)


@given(st.data())
@many
def test_overlaps_is_exact_for_rectangles_of_any_size(data: st.DataObject) -> None:
    view, _ = whole(64, 8, 256)
    parts: list[AccessPattern] = []
    for _ in range(2):
        part = view
        for dim, size in enumerate(view.shape):
            start = data.draw(st.integers(0, size - 1))
            end = data.draw(st.integers(start + 1, size))
            part = part.slice(dim, start, end, data.draw(st.integers(1, 3)))
        parts.append(part)
    assert parts[0].overlaps(parts[1]) == share(*parts)


@given(patterns(most=40), patterns(most=40))
@some
def test_overlaps_never_misses_a_common_element(a: AccessPattern, b: AccessPattern) -> None:
    if not a.overlaps(b):
        assert not share(a, b)


@given(patterns(most=40))
@many
def test_repeats_never_misses_an_element_that_is_touched_twice(a: AccessPattern) -> None:
    elements = numbers(a).ravel()
    if not a.repeats:
        assert len(set(elements.tolist())) == elements.size


def test_parts_of_a_tile_do_not_repeat() -> None:
    tile = AccessPattern.contiguous((8, 6, 4))
    for part in (
        tile,
        tile.slice(1, 1, 5, 2),
        tile.permute((0, 2, 1), on_chip=True),
        tile.reshape((8, 24), on_chip=True),
        tile.select(0, 3, on_chip=False),
        AccessPattern(23, (24, -1), (8, 24)),
    ):
        assert not part.repeats
    assert tile.slice(1, 0, 1).broadcast(1, 5, on_chip=True).repeats


def test_overlaps_of_parts_of_a_large_tile() -> None:
    tile = AccessPattern.contiguous((128, 1 << 20))
    left, right = tile.slice(1, 0, 256), tile.slice(1, 256, 512)
    assert not left.overlaps(right)
    assert left.overlaps(tile)
    assert left.overlaps(tile.slice(1, 255, 300))
    assert not tile.slice(1, 0, 1 << 20, 2).overlaps(tile.slice(1, 1, 1 << 20, 2))
    assert not tile.slice(0, 0, 64).overlaps(tile.slice(0, 64, 128))
    split = tile.reshape((128, 1 << 10, 1 << 10), on_chip=True)
    assert not split.slice(2, 0, 512).overlaps(split.slice(2, 512, 1024))
    assert not split.slice(1, 0, 512).overlaps(tile.slice(1, 1 << 19, 1 << 20))
    assert split.slice(1, 0, 513).overlaps(tile.slice(1, 1 << 19, 1 << 20))
    one = tile.select(0, 5, on_chip=False)
    assert one.overlaps(left)
    assert not one.slice(0, 256, 512).overlaps(left)


def test_overlaps_of_progressions() -> None:
    for step, other_step in itertools.product(range(1, 13), repeat=2):
        for count, start in itertools.product((1, 3, 6), range(-5, 20, 3)):
            elements = range(0, 5 * step, step)
            others = range(start, start + count * other_step, other_step)
            expected = not set(elements).isdisjoint(others)
            pattern = AccessPattern(start, (other_step,), (count,))
            assert AccessPattern(0, (step,), (5,)).overlaps(pattern) == expected


def test_overlaps_of_a_dense_pattern_and_a_step_across_its_rows() -> None:
    multiples_of_3 = AccessPattern(0, (192, 3), (100, 64))
    assert not multiples_of_3.overlaps(AccessPattern(190, (7,), (2,)))
    assert multiples_of_3.overlaps(AccessPattern(188, (7,), (2,)))


def test_overlaps_of_windows_that_touch_the_edge_of_a_row() -> None:
    rows = AccessPattern(0, (8, 1), (4, 3))
    over_the_edge = AccessPattern(3, (8, 1), (3, 6))  # columns 3 to 8, and 8 is column 0
    assert rows.overlaps(over_the_edge)
    assert over_the_edge.overlaps(rows)
    assert not rows.overlaps(AccessPattern(3, (8, 1), (3, 5)))


def test_overlaps_is_true_when_in_doubt() -> None:
    # 100 x 100 elements with strides that share no row pitch: nothing small enough to enumerate.
    a = AccessPattern(0, (700, 300), (100, 100))
    b = AccessPattern(50, (500, 1100), (100, 100))
    assert share(a, dataclasses.replace(b, offset=0))
    assert not a.overlaps(b)  # all strides are multiples of 100, the offsets are not
    c = AccessPattern(1, (7, 3001), (100, 100))
    assert a.overlaps(c)
    # The same in rows of 10**6 columns: no doubt where the windows of columns are apart.
    rows = AccessPattern(0, (10**6, 700, 300), (4, 100, 100))
    assert rows.overlaps(AccessPattern(0, (2 * 10**6, 500, 1100), (2, 100, 100)))
    assert not rows.overlaps(AccessPattern(500_000, (2 * 10**6, 500, 1100), (2, 100, 100)))
    assert not AccessPattern(500_000, (2 * 10**6, 500, 1100), (2, 100, 100)).overlaps(rows)


# ------------------------------------------------------------------------ messages

TILE = AccessPattern.contiguous((128, 512))
CUBE = AccessPattern.contiguous((128, 4, 8))
HBM = AccessPattern.contiguous((4, 128, 32))
TURNED = CUBE.permute((0, 2, 1), on_chip=True)


def bad(value: object) -> Any:
    """A value of a type that an argument does not have."""
    return value


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (
            lambda: TILE.slice(1, 480, 600),
            "slice 480:600 of dim 1 runs past its size 512; the shape is (128, 512); "
            "legal: 0 <= start < end <= 512, step >= 1",
        ),
        (
            lambda: TILE.slice(-1, 8, 8),
            "slice 8:8 of dim 1 is empty; the shape is (128, 512); "
            "legal: 0 <= start < end <= 512, step >= 1",
        ),
        (
            lambda: TILE.slice(1, 0, 0),
            "slice 0:0 of dim 1 is empty; the shape is (128, 512); "
            "legal: 0 <= start < end <= 512, step >= 1",
        ),
        (
            lambda: TILE.slice(1, -8, 8),
            "slice -8:8 of dim 1 starts before its first element; the shape is (128, 512); "
            "legal: 0 <= start < end <= 512, step >= 1",
        ),
        (
            lambda: TILE.slice(1, 8, 0, -1),
            "slice 8:0:-1 of dim 1 has step -1; the shape is (128, 512); "
            "legal: 0 <= start < end <= 512, step >= 1",
        ),
        (
            lambda: TILE.slice(2, 0, 1),
            "there is no dim 2; the shape is (128, 512); legal: -2 to 1",
        ),
        (
            lambda: TILE.slice(1, 0, bad(2.0)),
            "limit of a slice is a float; the shape is (128, 512); legal: an integer",
        ),
        (
            lambda: TILE.slice(1, 0, 2, True),
            "step of a slice is a bool; the shape is (128, 512); legal: an integer",
        ),
        (
            lambda: TILE.index((slice(None), slice(480, 600)), on_chip=True),
            "slice 480:600 of dim 1 runs past its size 512; the shape is (128, 512); "
            "legal: 0 <= start <= end <= 512, step >= 1",
        ),
        (
            lambda: TILE.index((slice(None), slice(-600, None, 2)), on_chip=True),
            "slice -600::2 of dim 1 starts before its first element; the shape is (128, 512); "
            "legal: 0 <= start <= end <= 512, step >= 1",
        ),
        (
            lambda: TILE.index((..., slice(8, 4)), on_chip=True),
            "slice 8:4 of dim 1 ends before it starts; the shape is (128, 512); "
            "legal: 0 <= start <= end <= 512, step >= 1",
        ),
        (
            lambda: TILE.index((slice(None), slice(None, None, -1)), on_chip=True),
            "slice ::-1 of dim 1 has step -1; the shape is (128, 512); "
            "legal: 0 <= start <= end <= 512, step >= 1",
        ),
        (
            lambda: TILE.index(slice(0.0, 4), on_chip=True),
            "limit of a slice is a float; the shape is (128, 512); legal: an integer",
        ),
        (
            lambda: TILE.index(128, on_chip=True),
            "index 128 of dim 0 is out of its size 128; the shape is (128, 512); "
            "legal: -128 to 127",
        ),
        (
            lambda: TILE.index((0, 0, 0), on_chip=True),
            "3 indices; the shape is (128, 512); legal: at most 2 and at most one `...`",
        ),
        (
            lambda: TILE.index((0, ..., 0, 0), on_chip=True),
            "4 indices; the shape is (128, 512); legal: at most 2 and at most one `...`",
        ),
        (
            lambda: TILE.index((..., ...), on_chip=True),
            "2 indices; the shape is (128, 512); legal: at most 2 and at most one `...`",
        ),
        (
            lambda: TILE.index((slice(None), True), on_chip=True),
            "index of dim 1 is a bool; the shape is (128, 512); "
            "legal: an integer, a slice, `...` or nl.ds(start, size)",
        ),
        (
            lambda: TILE.index(1.0, on_chip=True),
            "index of dim 0 is a float; the shape is (128, 512); "
            "legal: an integer, a slice, `...` or nl.ds(start, size)",
        ),
        (
            lambda: TILE.index(None, on_chip=True),
            "index of dim 0 is a NoneType; the shape is (128, 512); "
            "legal: an integer, a slice, `...` or nl.ds(start, size)",
        ),
        (
            lambda: TILE.index((slice(None), DynamicSlice(480, 120)), on_chip=True),
            "nl.ds(480, 120) of dim 1 is out of its size 512; the shape is (128, 512); "
            "legal: start >= 0, size >= 0, start + size <= 512",
        ),
        (
            lambda: TILE.index(DynamicSlice("i", 8), on_chip=True),
            "start of nl.ds is a str; the shape is (128, 512); legal: an integer",
        ),
        (
            lambda: HBM.select(0, 4, on_chip=False),
            "select 4 of dim 0 is out of its size 4; the shape is (4, 128, 32); legal: 0 to 3",
        ),
        (
            lambda: HBM.select(0, -1, on_chip=False),
            "select -1 of dim 0 is out of its size 4; the shape is (4, 128, 32); legal: 0 to 3",
        ),
        (
            lambda: CUBE.permute((0, 1), on_chip=True),
            "permute to (0, 1) is no permutation; the shape is (128, 4, 8); "
            "legal: each of 0 to 2 once",
        ),
        (
            lambda: CUBE.permute((1, 0, 2), on_chip=True),
            "permute to (1, 0, 2) moves the partition dimension; the shape is (128, 4, 8); "
            "legal: 0 first, in SBUF and PSUM",
        ),
        (
            lambda: CUBE.broadcast(1, 8, on_chip=True),
            "broadcast of dim 1 to 8; the shape is (128, 4, 8); "
            "legal: a dimension of size 1, and a new size of at least 1",
        ),
        (
            lambda: CUBE.slice(0, 0, 1).broadcast(0, 8, on_chip=True),
            "broadcast of the partition dimension; the shape is (1, 4, 8); "
            "legal: the other dimensions, in SBUF and PSUM dim 0 is the partition dimension",
        ),
        (
            lambda: TILE.expand_dim(0, on_chip=True),
            "expand_dim before the partition dimension; the shape is (128, 512); "
            "legal: the other dimensions, in SBUF and PSUM dim 0 is the partition dimension",
        ),
        (
            lambda: TILE.expand_dim(4, on_chip=True),
            "expand_dim at 4; the shape is (128, 512); legal: -3 to 2",
        ),
        (
            lambda: TILE.expand_dim(-4, on_chip=True),
            "expand_dim at -4; the shape is (128, 512); legal: -3 to 2",
        ),
        (
            lambda: CUBE.squeeze_dim(1, on_chip=True),
            "squeeze_dim of dim 1, whose size is 4; the shape is (128, 4, 8); "
            "legal: a dimension of size 1",
        ),
        (
            lambda: CUBE.slice(0, 0, 1).squeeze_dim(0, on_chip=True),
            "squeeze_dim of the partition dimension; the shape is (1, 4, 8); "
            "legal: the other dimensions, in SBUF and PSUM dim 0 is the partition dimension",
        ),
        (
            lambda: TILE.slice(1, 0, 1).squeeze_dim(1, on_chip=True),
            "squeeze_dim of dim 1 leaves 1 dimension(s); the shape is (128, 1); "
            "legal: at least 2 in SBUF and PSUM",
        ),
        (
            lambda: AccessPattern.contiguous((1,)).squeeze_dim(0, on_chip=False),
            "squeeze_dim of dim 0 leaves 0 dimension(s); the shape is (1,); "
            "legal: at least 1 in HBM",
        ),
        (
            lambda: TILE.reshape_dim(1, (5, -1), on_chip=True),
            "reshape_dim to (5, -1); the shape is (128, 512); "
            "legal: sizes of at least 1 whose product is 512, one of them may be -1",
        ),
        (
            lambda: TILE.reshape_dim(0, (2, 64), on_chip=True),
            "reshape_dim to (2, 64) splits the partition dimension; the shape is (128, 512); "
            "legal: the other dimensions, in SBUF and PSUM dim 0 is the partition dimension",
        ),
        (
            lambda: CUBE.flatten_dims(0, 1, on_chip=True),
            "flatten_dims of 0 to 1 merges the partition dimension; the shape is (128, 4, 8); "
            "legal: the other dimensions, in SBUF and PSUM dim 0 is the partition dimension",
        ),
        (
            lambda: CUBE.flatten_dims(2, 1, on_chip=True),
            "flatten_dims of 2 to 1; the shape is (128, 4, 8); legal: start_dim <= end_dim",
        ),
        (
            lambda: TURNED.flatten_dims(1, 2, on_chip=True),
            "flatten_dims of 1 to 2 needs a copy; the shape is (128, 8, 4); legal: merging "
            "dimensions only where stride[k] == stride[k+1] * shape[k+1], the strides are "
            "(32, 1, 8)",
        ),
        (
            lambda: TURNED.reshape((128, 32), on_chip=True),
            "reshape to (128, 32) needs a copy; the shape is (128, 8, 4); legal: merging "
            "dimensions only where stride[k] == stride[k+1] * shape[k+1], the strides are "
            "(32, 1, 8)",
        ),
        (
            lambda: TILE.reshape((128, 500), on_chip=True),
            "reshape to (128, 500); the shape is (128, 512); "
            "legal: sizes of at least 1 whose product is 65536, one of them may be -1",
        ),
        (
            lambda: TILE.reshape((-1, 0), on_chip=True),
            "reshape to (-1, 0); the shape is (128, 512); "
            "legal: sizes of at least 1 whose product is 65536, one of them may be -1",
        ),
        (
            lambda: TILE.reshape((-1, -1), on_chip=True),
            "reshape to (-1, -1); the shape is (128, 512); "
            "legal: sizes of at least 1 whose product is 65536, one of them may be -1",
        ),
        (
            lambda: TILE.reshape((64, 1024), on_chip=True),
            "reshape to (64, 1024) changes the partition dimension; the shape is (128, 512); "
            "legal: (128, …) with two dimensions or more, in SBUF and PSUM",
        ),
        (
            lambda: TILE.slice(1, 0, 1).reshape((128,), on_chip=True),
            "reshape to (128,) changes the partition dimension; the shape is (128, 1); "
            "legal: (128, …) with two dimensions or more, in SBUF and PSUM",
        ),
        (
            lambda: TILE.reshape((128, bad(512.0)), on_chip=True),
            "size is a float; the shape is (128, 512); legal: an integer",
        ),
        (
            lambda: TILE.rearrange(("a", "b", "c"), ("a", "c", "b"), on_chip=True),
            "rearrange of ('a', 'b', 'c') to ('a', 'c', 'b') names 3 dimension(s); the shape is "
            "(128, 512); legal: 2 names or groups",
        ),
        (
            lambda: TILE.rearrange(("a", "b"), ("a", "c"), on_chip=True),
            "rearrange of ('a', 'b') to ('a', 'c'); the shape is (128, 512); "
            "legal: the same names on both sides, each once",
        ),
        (
            lambda: TILE.rearrange(("a", "b"), ("b", "a"), on_chip=True),
            "rearrange of ('a', 'b') to ('b', 'a') changes the partition dimension; the shape is "
            "(128, 512); legal: 'a' alone and first, in SBUF and PSUM",
        ),
        (
            lambda: TILE.rearrange(("a", "b"), ("a", "b"), {"h": 4}, on_chip=True),
            "rearrange of ('a', 'b') to ('a', 'b') with sizes {'h': 4}; the shape is (128, 512); "
            "legal: sizes of ['a', 'b']",
        ),
        (
            lambda: TILE.rearrange(("a", ("b", "c")), ("a", "b", "c"), on_chip=True),
            "rearrange of ('b', 'c') to [-1, -1]; the shape is (128, 512); "
            "legal: sizes of at least 1 whose product is 512, one of them may be -1",
        ),
        (
            lambda: CUBE.rearrange(("a", "b", "c"), ("a", ("c", "b")), on_chip=True),
            "rearrange of ('a', 'b', 'c') to ('a', ('c', 'b')) needs a copy; the shape is "
            "(128, 4, 8); legal: merging dimensions only where stride[k] == stride[k+1] * "
            "shape[k+1], the strides are (32, 8, 1)",
        ),
        (
            lambda: TILE.rearrange("ab", "ab", on_chip=True),
            "rearrange with 'ab'; the shape is (128, 512); "
            "legal: a tuple of names and tuples of names",
        ),
        (
            lambda: TILE.rearrange(("a", ()), ("a", ()), on_chip=True),
            "rearrange with ('a', ()); the shape is (128, 512); "
            "legal: a tuple of names and tuples of names",
        ),
        (
            lambda: TILE.ap([[512, 128], [1, 513]], base_shape=(128, 512), on_chip=True),
            "ap([[512, 128], [1, 513]]) at offset 0 touches elements 0 to 65536; the "
            "allocation's shape is (128, 512); legal: 0 to 65535",
        ),
        (
            lambda: TILE.ap([[1024, 64], [1, 512]], base_shape=(128, 512), on_chip=True),
            "ap([[1024, 64], [1, 512]]) does not begin with the partition dimension; the "
            "allocation's shape is (128, 512); legal: [512, partitions] and another pair, in "
            "SBUF and PSUM",
        ),
        (
            lambda: TILE.ap([[512, 128]], base_shape=(128, 512), on_chip=True),
            "ap([[512, 128]]) does not begin with the partition dimension; the allocation's "
            "shape is (128, 512); legal: [512, partitions] and another pair, in SBUF and PSUM",
        ),
        (
            lambda: TILE.ap([[512, 64], [1, 512]], 8, base_shape=(128, 512), on_chip=True),
            "elements 8 to 519 of a partition are touched; the shape is (64, 512), strides "
            "(512, 1), offset 8; legal: 0 to 511, a row must stay in its partition",
        ),
        (
            lambda: TILE.ap([[512, 128], [1]], base_shape=(128, 512), on_chip=True),
            "[1] is no pair; the pattern is [[512, 128], [1]]; "
            "legal: one [stride, count] or more, counts of at least 1",
        ),
        (
            lambda: TILE.ap(bad([[512, 128], 5]), base_shape=(128, 512), on_chip=True),
            "5 is no pair; the pattern is [[512, 128], 5]; "
            "legal: one [stride, count] or more, counts of at least 1",
        ),
        (
            lambda: TILE.ap([[512, 0]], base_shape=(128, 512), on_chip=True),
            "the count of [512, 0] is 0; the pattern is [[512, 0]]; "
            "legal: one [stride, count] or more, counts of at least 1",
        ),
        (
            lambda: TILE.ap([], base_shape=(128, 512), on_chip=True),
            "no pairs; the pattern is []; "
            "legal: one [stride, count] or more, counts of at least 1",
        ),
        (
            lambda: TILE.ap([[512, 1]], bad("8"), base_shape=(128, 512), on_chip=True),
            "offset of ap is a str; the shape is (128, 512); legal: an integer",
        ),
        (
            lambda: AccessPattern.from_pairs([[1, 2]], bad(0.5)),
            "offset 0.5 is a float; the pattern is [[1, 2]]; legal: an integer",
        ),
        (
            lambda: AccessPattern.contiguous((4, 0)),
            "0 is no size; the shape is (4, 0); legal: one dimension or more, integers of at "
            "least 1",
        ),
        (
            lambda: AccessPattern.contiguous(()),
            "no dimensions; the shape is (); legal: one dimension or more, integers of at "
            "least 1",
        ),
        (
            lambda: TILE.slice(1, 0, 512, 2).reinterpret(32, 16),
            "view of 32-bit elements as 16-bit elements of a last dimension with stride 2; the "
            "shape is (128, 256); legal: a contiguous last dimension",
        ),
        (
            lambda: TILE.slice(1, 1, 9).reinterpret(8, 32),
            "view of 8-bit elements as 32-bit elements at offset 1; the shape is (128, 8); "
            "legal: a last dimension and an offset divisible by 4",
        ),
        (
            lambda: AccessPattern.contiguous((8, 6)).slice(1, 0, 4).reinterpret(8, 32),
            "view of 8-bit elements as 32-bit elements with stride 6 in dim 0; the shape is "
            "(8, 4); legal: strides divisible by 4",
        ),
        (
            lambda: TILE.reinterpret(24, 16),
            "view of 24-bit elements as 16-bit elements; the shape is (128, 512); "
            "legal: sizes of which one divides the other",
        ),
        (
            lambda: TILE.check_bounds(65535),
            "elements 0 to 65535 are touched; the shape is (128, 512), strides (512, 1), offset "
            "0; legal: 0 to 65534, inside the allocation",
        ),
        (
            lambda: TILE.free_range(500),
            "dim 0 does not step by whole partitions; the shape is (128, 512), strides (512, 1), "
            "offset 0; legal: a stride that is a multiple of the 500 elements per partition",
        ),
        (
            lambda: AccessPattern(0, (1, 1), (1, 1)).partition_range(0),
            "dim 0 does not step by whole partitions; the shape is (1, 1), strides (1, 1), "
            "offset 0; legal: a stride that is a multiple of the 0 elements per partition",
        ),
    ],
)  # fmt: skip
def test_refused(view: Callable[[], object], message: str) -> None:
    with pytest.raises(ViewError) as error:
        view()
    assert str(error.value) == message
