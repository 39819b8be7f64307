"""Shadow memory: the locations of marks."""

from __future__ import annotations

import doctest
from itertools import product
from random import Random

import nkijit.passes.analysis.definedness.shadow as shadow
from nkijit.dialects.access import AccessPattern


def elements(access: AccessPattern) -> set[int]:
    """The elements of a pattern, by the definition."""
    indices = product(*map(range, access.shape))
    return {
        access.offset + sum(i * stride for i, stride in zip(index, access.strides, strict=True))
        for index in indices
    }


def test_distinct_patterns_have_the_same_elements() -> None:
    rng = Random(44)
    smaller = 0
    for _ in range(2000):
        rank = rng.randint(1, 4)
        shape = tuple(rng.choice((1, 2, 3, 5)) for _ in range(rank))
        strides = tuple(rng.choice((-2, 0, 1, 1, 2, 3, 4, 6, 12)) for _ in range(rank))
        access = AccessPattern(rng.randint(0, 9), strides, shape)
        found = shadow.distinct(access)
        assert elements(found) == elements(access), (access, found)
        smaller += found.size < access.size
    assert smaller > 500


def test_examples() -> None:
    assert doctest.testmod(shadow).failed == 0
