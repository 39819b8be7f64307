"""Index expressions and masks against NumPy arrays of the same expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nkijit.classic as nki
import nkijit.classic.language as nl
from nkijit import NkiValidationError
from nkijit.classic.indexing.boxes import broadcast
from nkijit.classic.indexing.expressions import Index, Mask, as_mask
from nkijit.classic.indexing.masked_regions import MaskedRegion

COMPARISONS: list[Callable[[Any, Any], Any]] = [
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


def values(index: Index) -> np.ndarray[Any, Any]:
    """Return an index expression element by element, computed from its coefficients."""
    result = np.empty(index.shape, dtype=np.int64)
    for at in product(*map(range, index.shape)):
        steps = zip(index.coefficients, at, strict=True)
        result[at] = index.constant + sum(c * i for c, i in steps)
    return result


@st.composite
def pairs(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The same affine expression over a tile of `shape`, as an index expression and in NumPy."""
    ours: Any = draw(st.integers(-6, 6))
    theirs: Any = ours
    for dim in draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, max_size=3)):
        key = tuple(slice(None) if d == dim else None for d in range(len(shape)))
        step = draw(st.integers(-3, 3))
        ours = ours + step * nl.arange(shape[dim])[key]
        theirs = theirs + step * np.arange(shape[dim])[key]
    return ours, theirs


@given(st.data())
def test_expressions_have_the_values_of_numpys(data: st.DataObject) -> None:
    ours, theirs = data.draw(pairs((4, 3, 5)))
    assert ours.shape == theirs.shape
    assert np.array_equal(values(ours), theirs)
    assert np.array_equal(values(3 - ours * 2), 3 - theirs * 2)
    assert np.array_equal(values(np.int64(2) * -ours + np.int32(1)), 2 * -theirs + 1)


@given(st.data())
def test_boxes_of_a_mask_are_where_numpy_says_without_overlap(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(7, 6), (5, 1, 6), (1, 9), (3, 4, 5)]))
    mask: Any = True
    expected = np.ones(shape, dtype=bool)
    for _ in range(data.draw(st.integers(1, 3))):
        ours, theirs = data.draw(pairs(shape))
        compare = data.draw(st.sampled_from(COMPARISONS))
        bound = data.draw(st.integers(-8, 12))
        mask = mask & compare(ours, bound)
        expected &= compare(theirs, bound)
    region = MaskedRegion.of(as_mask("test", mask), shape)
    touched = np.zeros(shape, dtype=int)
    for box in region.boxes():
        touched[tuple(slice(a, a + n) for a, n in zip(box.starts, box.sizes, strict=True))] += 1
    assert np.array_equal(touched, expected)
    if region.box is not None and not region.rest:
        assert len(list(region.boxes())) == 1


@given(st.data())
def test_two_expressions_compare_as_their_arrays(data: st.DataObject) -> None:
    one, two = data.draw(pairs((6, 7))), data.draw(pairs((6, 7)))
    compare = data.draw(st.sampled_from(COMPARISONS))
    mask = compare(one[0], two[0])
    expected = np.broadcast_to(compare(one[1], two[1]), (6, 7))
    touched = np.zeros((6, 7), dtype=bool)
    for box in MaskedRegion.of(mask, (6, 7)).boxes():
        touched[tuple(slice(a, a + n) for a, n in zip(box.starts, box.sizes, strict=True))] = True
    assert np.array_equal(touched, expected)
    negated = ~mask
    assert (
        sum(np.prod(box.sizes) for box in MaskedRegion.of(negated, (6, 7)).boxes())
        == (~expected).sum()
    )


def test_a_triangle_is_a_block_per_row_and_a_flat_limit_is_two_blocks() -> None:
    p, f = nl.mgrid[0:8, 0:8]
    assert len(list(MaskedRegion.of(f <= p, (8, 8)).boxes())) == 8
    assert len(list(MaskedRegion.of(p * 8 + f < 43, (8, 8)).boxes())) == 2


def test_mgrid_and_arange_are_numpys() -> None:
    grid = nl.mgrid[0:4, 2:8:3]
    assert np.array_equal(values(grid.p), np.mgrid[0:4, 2:8:3][0])
    assert np.array_equal(values(grid.x), np.mgrid[0:4, 2:8:3][1])
    three = nl.mgrid[0:2, 0:3, 0:4]
    assert np.array_equal(values(three.y), np.mgrid[0:2, 0:3, 0:4][2])
    for args in [(5,), (2, 9), (1, 9, 3)]:
        assert np.array_equal(values(nl.arange(*args)), np.arange(*args))


@pytest.mark.parametrize(
    "key", [(slice(None), None), (None, slice(1, 5, 2)), (..., None), (None, 3), (slice(None),)]
)
def test_dimensions_of_an_expression_are_indexed_as_in_numpy(key: Any) -> None:
    assert np.array_equal(values(nl.arange(3, 9)[key]), np.arange(3, 9)[key])


def test_shapes_broadcast_as_in_numpy() -> None:
    assert broadcast((3, 1), (4,)) == (3, 4)
    assert broadcast((2, 1, 5), (1,), (4, 1)) == (2, 4, 5)
    assert broadcast((3, 2), (4,)) is None


def _expect(rule: str, body: Callable[[], Any]) -> None:
    @nki.jit
    def kernel(x):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        body()
        return x

    with pytest.raises(NkiValidationError, match=rule):
        kernel.trace(np.zeros((4, 4), np.float32))


BAD: list[tuple[str, Callable[[], Any]]] = [
    ("affine-index", lambda: nl.arange(4) * nl.arange(4)),
    ("affine-index", lambda: nl.arange(4) // 2 + 1),
    ("affine-index", lambda: nl.arange(4) % 2 < 1),
    ("affine-index", lambda: nl.arange(4.0)),
    ("affine-index", lambda: nl.arange()),
    ("affine-index", lambda: nl.arange(4)[:, 0, 0]),
    ("affine-index", lambda: nl.arange(4)[9]),
    ("affine-index", lambda: nl.arange(4)[:, None] + nl.arange(3)[:, None]),
    ("affine-index", lambda: nl.mgrid[0:4, 3]),
    ("err_cannot_assign_to_index", lambda: nl.arange(4).__setitem__(0, 1)),
    ("err_cannot_assign_to_index", lambda: (nl.arange(4) < 2).__setitem__(0, 1)),
    ("err_control_flow_condition_depending_on_arange", lambda: bool(nl.arange(4) < 2)),
    ("err_control_flow_condition_depending_on_arange", lambda: bool(nl.arange(4))),
    ("err_unsupported_expression_in_mask", lambda: (nl.arange(4) < 2) | (nl.arange(4) > 3)),
    ("err_unsupported_expression_in_mask", lambda: ~((nl.arange(4) < 2) & (nl.arange(4) > 0))),
    ("err_unsupported_expression_in_mask", lambda: as_mask("nl.load", 1.5)),
    ("err_unsupported_expression_in_mask", lambda: MaskedRegion.of(nl.arange(5) < 2, (4, 4))),
]


@pytest.mark.parametrize(("rule", "body"), BAD)
def test_expressions_that_are_not_affine_are_refused_at_the_authors_line(
    rule: str, body: Callable[[], Any]
) -> None:
    _expect(rule, body)


def test_plain_truth_values_are_masks() -> None:
    assert MaskedRegion.of(as_mask("nl.load", True), (2, 2)).box is not None
    assert MaskedRegion.of(as_mask("nl.load", np.bool_(False)), (2, 2)).box is None
    mask = (nl.arange(4) < 2) & True
    assert isinstance(mask, Mask)
    assert MaskedRegion.of(mask, (4,)).box is not None
    assert MaskedRegion.of(False & (nl.arange(4) < 2), (4,)).box is None
    assert MaskedRegion.of((nl.arange(4) < 2) | True, (4,)).box is not None
