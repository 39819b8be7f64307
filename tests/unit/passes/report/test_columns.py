"""Long lists of a report in a form that deflates well are the same lists when they are read."""

from __future__ import annotations

import json
import math
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.report_pages import read

from nkijit.passes.report.columns import SHORTEST, packed

WHOLE = st.integers(-(2**60), 2**60)
NUMBERS = WHOLE | st.floats(allow_nan=False, allow_infinity=False)
TIMES = st.integers(0, 10**9).map(lambda tenths: tenths / 10)
ROWS = st.lists(st.tuples(WHOLE, st.text(max_size=3), TIMES), min_size=SHORTEST, max_size=80)
LISTS = st.lists(st.lists(WHOLE, max_size=4), min_size=SHORTEST, max_size=80)
COLUMNS = [
    st.lists(each, max_size=120) for each in (WHOLE, NUMBERS, TIMES, st.none() | WHOLE, st.text())
]


def _through(values: Any) -> Any:
    """Return a list after packing, JSON and reading."""
    return json.loads(json.dumps(packed(values)), object_hook=read)


def _plain(values: Any) -> Any:
    return json.loads(json.dumps(values))


@pytest.mark.parametrize("values", [*COLUMNS, ROWS, LISTS, st.lists(LISTS, max_size=40)])
def test_columns_are_read_as_written(values: st.SearchStrategy[Any]) -> None:
    @given(values)
    def test(found: Any) -> None:
        assert _through(found) == _plain(found)

    test()


@pytest.mark.parametrize(
    "values",
    [
        [0] * 40,
        [-0.0] * 40,
        [2**62, -(2**62)] * 20,
        [1 << 52, -(1 << 52)] * 20,
        [0.05] * 40,
        [1e300, 0.1] * 20,
        [True, False] * 20,
        [[]] * 40,
        [[], [1]] * 20,
        [[[1, 2]] * 40] * 40,
        [(1, [2, 3]), (4, [])] * 20,
        [5e-324] * 40,
    ],
)
def test_special_columns_are_read_as_written(values: list[Any]) -> None:
    found = _through(values)
    assert found == _plain(values)
    if isinstance(values[0], float):
        assert [math.copysign(1, x) for x in found] == [math.copysign(1, x) for x in values]


def test_short_lists_stay_as_they_are() -> None:
    assert packed([3, 4]) == [3, 4]
    assert packed(list(range(SHORTEST))) == {"~whole": [0] + [1] * (SHORTEST - 1)}


def test_places_in_a_program_take_little() -> None:
    places = [6 + 73 * i for i in range(10_000)]
    plain, short = (len(zlib.compress(json.dumps(v).encode())) for v in (places, packed(places)))
    assert short < plain / 50
