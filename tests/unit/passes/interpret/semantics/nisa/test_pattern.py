"""iota: patterns of integers, wrapped to 32 bits and converted."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    FORMS,
    Call,
    Form,
    Tile,
    Z,
    arranged,
    call,
    each_form,
    filled,
    side_by_side,
    some,
)
from support.oracle import ROUNDED_TYPES

PATTERNS = [
    [[1, 12]],
    [[0, 12]],
    [[-3, 12]],
    [[4, 3], [1, 4]],
    [[1, 3], [3, 4]],
    [[100, 2], [10, 3], [1, 2]],
    [[1, 2], [-7, 1], [5, 3], [2, 2]],
    [[2**30, 2], [2**31 - 1, 3], [1, 2]],
]


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
@pytest.mark.parametrize("dtype", ["int32", "float32", "int8"])
def test_patterns(pattern: list[list[int]], dtype: str) -> None:
    made = call("iota", dst=Z, pattern=pattern, offset=3, channel_multiplier=-50)
    arranged([made], dtype).check()


LIMITS = [0, -1, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), 2**31 - 5, 255, 448, 65504]


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_conversions_and_overflow(dtype: str) -> None:
    calls = [
        call("iota", dst=Z, pattern=[[1, 12]], offset=offset, channel_multiplier=2**30)
        for offset in LIMITS
    ]
    side_by_side(calls, dtype).check()


@given(
    st.sampled_from(["int32", "uint32", "bfloat16", "tfloat32", "float8_e5m2"]),
    st.lists(
        st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(1, 3)), min_size=1, max_size=4
    ),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**31), 2**31 - 1),
)
@some
def test_any_pattern(
    dtype: str, pattern: list[tuple[int, int]], offset: int, multiplier: int
) -> None:
    made = call("iota", dst=Z, pattern=pattern, offset=offset, channel_multiplier=multiplier)
    shape = (3, math.prod(count for _, count in pattern))
    arranged([made], tiles={"z": Tile(dtype, shape)}).check()


ANY_TILE = [form for form in FORMS if form.needs == {"z"}]


@each_form([call("iota", dst=Z, pattern=[[6, 2], [1, 6]], channel_multiplier=12)], ANY_TILE)
def test_forms_of_results(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, filled).check()


def test_channels_count_from_the_first_partition_of_the_tile() -> None:
    made = call("iota", dst=Z[64:66], pattern=[[1, 12]], channel_multiplier=100)
    results = arranged([made], "int32", shapes={"z": (66, 12)}).run()
    assert results["z"][64:, 0].tolist() == [0, 100]


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_targets(target: str) -> None:
    arranged([call("iota", dst=Z, pattern=[[1, 12]])], "int32", target=target).check()
