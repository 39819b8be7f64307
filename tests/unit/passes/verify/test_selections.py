"""Selections that find nothing, compared with the predicates themselves."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.operators import COMPARISONS
from nkijit.passes.verify.selections import check_selections

SHAPE = (4, 6)


def selecting(x: Any, word: str, row: int, column: int, offset: int) -> Any:
    tile = nl.load(x)
    nisa.affine_select(
        dst=tile,
        pattern=[[column, SHAPE[1]]],
        channel_multiplier=row,
        on_true_tile=tile,
        on_false_value=0.0,
        cmp_op=getattr(nl, word),
        offset=offset,
    )
    nl.store(x, tile)


@pytest.mark.parametrize("word", COMPARISONS)
def test_predicates_that_are_false_everywhere(word: str) -> None:
    numbers, x = random.Random(word), np.zeros(SHAPE, np.float32)
    rows, columns = np.indices(SHAPE)
    seen: set[bool] = set()
    for _ in range(60):
        row, column = numbers.choice([0, 0, 1, -1, 3]), numbers.choice([0, 0, 1, -2])
        offset = numbers.choice([0, numbers.randint(-14, 14)])
        traced = nki.jit(selecting).trace(x, word, row, column, offset)
        found = list(check_selections(kernels_of(traced.module)[0]))
        predicate = getattr(np, word)(offset + row * rows + column * columns, 0)
        if word == "equal" and not predicate.any():
            continue  # the bounds of the values need not exclude 0
        assert bool(found) is not predicate.any(), (row, column, offset)
        seen.add(bool(found))
    assert False in seen
    assert True in seen or word == "equal"


def test_equality_is_false_outside_of_the_bounds() -> None:
    x = np.zeros(SHAPE, np.float32)
    for offset, is_found in ((-9, True), (-8, False), (0, False), (1, True)):
        traced = nki.jit(selecting).trace(x, "equal", 1, 1, offset)
        found = list(check_selections(kernels_of(traced.module)[0]))
        assert bool(found) is is_found, offset
