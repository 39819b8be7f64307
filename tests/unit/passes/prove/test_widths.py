"""Tensors with views of several widths: terms of parts of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.dtypes import DTYPES
from nkijit.passes.prove.algebra import Algebra, Level
from nkijit.passes.prove.digests import atoms, differ
from nkijit.passes.prove.parts import join, recast, split
from nkijit.traced.kernel import TracedKernel

Body = Callable[[Any, Any], None]


def of(body: Body, dtype: Any = np.float32) -> TracedKernel:
    def kernel(x):
        y = nl.ndarray((128, 16), x.dtype, buffer=nl.shared_hbm)
        source = nl.ndarray((128, 16), x.dtype, buffer=nl.sbuf)
        result = nl.ndarray((128, 16), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(source, x)
        nisa.memset(result, 0.0)
        body(result, source)
        nisa.dma_copy(y, result)
        return y

    return nki.jit(kernel).trace(np.zeros((128, 16), dtype))


def copied(result, source):
    nisa.tensor_copy(result, source)


def in_bytes(result, source):
    nisa.tensor_copy(result.view("uint8"), source.view("uint8"))


def in_halves(result, source):
    nisa.tensor_copy(result.view("uint16"), source.view("uint16"))


def but_one_byte(result, source):
    nisa.tensor_copy(result.view("uint8")[:, 0:5], source.view("uint8")[:, 0:5])
    nisa.tensor_copy(result.view("uint8")[:, 6:], source.view("uint8")[:, 6:])


def shifted(result, source):
    nisa.tensor_copy(result.view("uint8")[:, 0:63], source.view("uint8")[:, 1:64])
    nisa.tensor_copy(result.view("uint8")[:, 63:], source.view("uint8")[:, 0:1])


def halves_swapped(result, source):
    nisa.tensor_copy(result.view("uint16")[:, 0:32:2], source.view("uint16")[:, 1:32:2])
    nisa.tensor_copy(result.view("uint16")[:, 1:32:2], source.view("uint16")[:, 0:32:2])


def two(result, source):
    nisa.memset(result, 2.0)


def two_by_bytes(result, source):
    nisa.memset(result.view("uint8")[:, 3:64:4], 64)


def three_by_bytes(result, source):
    nisa.memset(result.view("uint8")[:, 3:64:4], 65)


def two_by_other_bytes(result, source):
    nisa.memset(result.view("uint8")[:, 0:64:4], 64)


def in_bfloat16(result, source):
    nisa.memset(result.view("bfloat16"), 1.0)


def in_bfloat16_and_a_byte(result, source):
    nisa.memset(result.view("bfloat16"), 1.0)
    nisa.memset(result.view("uint8")[:, 3:64:4], 63)


def in_uint16(result, source):
    nisa.memset(result.view("uint16"), 0x3F80)


def in_uint32(result, source):
    nisa.memset(result.view("uint32"), 0x3F803F80)


def in_bfloat16_negative(result, source):
    nisa.memset(result.view("bfloat16"), -1.0)


@pytest.mark.parametrize(
    ("old", "new", "level"),
    [
        (in_bfloat16, in_bfloat16_and_a_byte, "bits"),
        (in_bfloat16, in_uint16, "bits"),
        (in_bfloat16, in_uint32, "bits"),
        (in_bfloat16, in_bfloat16_negative, None),
        (copied, in_bytes, "bits"),
        (copied, in_halves, "bits"),
        (in_bytes, in_halves, "bits"),
        (two, two_by_bytes, "bits"),
        (copied, but_one_byte, None),
        (copied, shifted, None),
        (copied, halves_swapped, None),
        (two, three_by_bytes, None),
        (two, two_by_other_bytes, None),
    ],
)
@pytest.mark.parametrize("weakest", ["bits", "rounding"])
def test_copies_and_constants(old: Body, new: Body, level: str | None, weakest: str) -> None:
    proof = of(old).equivalent(of(new), weakest)
    assert proof.unproven is None
    assert proof.level == level


def test_the_first_byte_that_differs() -> None:
    proof = of(copied).equivalent(of(but_one_byte), "bits")
    assert proof.difference is not None
    assert (proof.difference.index, proof.difference.count) == ((0, 1), 128)


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize(
    ("dtype", "part"), [("float32", "uint8"), ("float32", "bfloat16"), ("int32", "uint16")]
)
def test_parts_join_to_their_element_alone(level: Level, dtype: str, part: str) -> None:
    algebra = Algebra(level)
    wide, narrow = DTYPES[dtype], DTYPES[part]
    cells = atoms(64, "element").reshape(8, 8)
    zero = algebra.number(np.zeros((8, 8), np.float32))
    for each in (cells, algebra.binary("add", zero, cells, (8, 8))):
        parts = split(algebra, each, wide, narrow)
        whole = join(algebra, parts, narrow, wide)
        if each is cells:
            assert not differ(whole, each).any()
        mixed = parts.copy()
        mixed[0, 0, -1] = parts[0, 1, -1]
        changed = differ(join(algebra, mixed, narrow, wide), whole)
        assert changed[0, 0]
        assert changed.sum() == 1
        turned = join(algebra, parts[..., ::-1], narrow, wide)
        assert differ(turned, whole).all()


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_parts_of_numbers_are_the_numbers_that_memory_holds(dtype: str) -> None:
    values = np.array([0, 1, -1, 2, 1000, -77], np.dtype(dtype))
    algebra = Algebra(Level.bits)
    parts = split(algebra, algebra.number(values), DTYPES[dtype], DTYPES["uint8"])
    expected = algebra.number(values.view(np.uint8).reshape(-1, 4))
    assert not differ(parts, expected).any()
    assert not differ(
        join(algebra, expected, DTYPES["uint8"], DTYPES[dtype]), algebra.number(values)
    ).any()


@pytest.mark.parametrize("level", list(Level))
def test_numbers_of_equal_width_are_those_of_the_same_bits(level: Level) -> None:
    values = np.array([-0.0, 0.0, 1.0, -2.5, np.inf, -np.inf, 1e-45, 3.4e38, np.nan], np.float32)
    if level is not Level.bits:
        values = values[1:]  # sums of real numbers have no sign of zero
    algebra = Algebra(level)
    numbers, bits = algebra.number(values), algebra.number(values.view(np.uint32))
    kinds = DTYPES["float32"], DTYPES["uint32"]
    same = ~differ(recast(algebra, numbers, *kinds), bits)
    assert same.tolist() == (~np.isnan(values)).tolist(), "a NaN has no known bits"
    back = recast(algebra, bits, *reversed(kinds))
    assert (~differ(back, numbers)).tolist() == (~np.isnan(values)).tolist()
    assert not differ(recast(algebra, back, *kinds), bits).any()


def test_zero_added_is_not_forgotten_by_parts() -> None:
    algebra = Algebra(Level.bits)
    cells, zero = atoms(4, "element"), algebra.number(np.zeros(4, np.float32))
    total = algebra.binary("add", zero, cells, (4,))
    kinds = DTYPES["float32"], DTYPES["uint8"]
    assert differ(split(algebra, cells, *kinds), split(algebra, total, *kinds)).all()
