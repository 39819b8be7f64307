"""Type promotion, by the table of the reference."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit.classic.tensors.promotion import promoted

TABLE = [
    ("int32", "float16", "float16"),
    ("uint16", "tfloat32", "tfloat32"),
    ("float32", "tfloat32", "float32"),
    ("float32", "bfloat16", "float32"),
    ("float16", "bfloat16", "float32"),
    ("float8_e4m3", "float16", "float16"),
    ("float8_e4m3", "bfloat16", "bfloat16"),
    ("float8_e4m3", "float8_e5m2", "bfloat16"),
    ("int16", "int32", "int32"),
    ("uint8", "uint16", "uint16"),
    ("uint16", "int32", "int32"),
    ("int8", "uint8", "int16"),
    ("int8", "uint16", "int32"),
    ("int32", "uint32", "float32"),
]


@pytest.mark.parametrize(("one", "two", "expected"), TABLE)
def test_tiles(one: Any, two: Any, expected: str) -> None:
    seen: list[str] = []

    @nki.jit(platform_target="trn2")
    def kernel() -> Any:
        tiles = [nl.zeros((2, 2), dtype=dtype) for dtype in (one, two)]
        for a, b in (tiles, tiles[::-1]):
            seen.append(nisa.tensor_tensor(a, b, np.add).value.dtype)
        out = nl.ndarray((2, 2), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out, 0)
        return out

    kernel()
    assert seen == [expected, expected]


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((np.int8(1), 2), "int32"),
        ((np.float16(1), 1.2), "float32"),
        ((np.float16(1), np.float16(2)), "float16"),
        ((np.int16(1), np.int8(2)), "int16"),
        ((True, np.uint8(1)), "uint8"),
        ((np.bool_(True), np.int8(1)), "int16"),
        ((np.bool_(True), np.bool_(False)), "bool_"),
        ((ml_dtypes.bfloat16(1), np.float16(1)), "float32"),
        ((np.float64(1),), "float32"),
        ((np.int64(1),), "int32"),
        ((3,), "int32"),
        ((3.0, 3), "float32"),
    ],
)
def test_numbers(operands: tuple[Any, ...], expected: str) -> None:
    assert promoted(*operands) == expected


def test_the_order_of_integers_and_floats_does_not_matter() -> None:
    names = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32"]
    numbers = [np.dtype(name).type(0) for name in names]
    for a, b in itertools.product(numbers, repeat=2):
        assert promoted(a, b) == promoted(b, a)
