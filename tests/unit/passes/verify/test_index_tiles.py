"""Tiles of indices that are out of bounds for certain, compared with the indices themselves."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.verify.passes import find_all

ROWS = 16


class Indices:
    """A random program that computes a tile of indices, and its indices, by NumPy."""

    def __init__(self, seed: int):
        r = random.Random(seed)
        self.count = r.choice([1, 4, 8])
        self.used = r.choice([self.count, r.randint(1, self.count)])
        self.starts = [r.randint(-4, ROWS + 4), r.choice([0, 1, 1, 3])]
        self.steps = [
            (r.choice(["add", "shift", "copy", "part", "half"]), r.randint(-3, 20))
            for _ in range(r.randint(0, 3))
        ]
        numbers = self.starts[0] + self.starts[1] * np.arange(self.count)
        for step, number in self.steps:
            if step in ("add", "shift"):
                numbers = numbers + number
            elif step == "part":
                numbers[0] = number
            elif step == "half":
                numbers[: max(self.count // 2, 1)] = number
        self.numbers = numbers[: self.used]

    @property
    def are_legal(self) -> bool:
        return bool(((self.numbers >= 0) & (self.numbers < ROWS)).all())

    def write(self) -> Any:
        index = nl.ndarray((self.count, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.iota(index, [[1, 1]], offset=self.starts[0], channel_multiplier=self.starts[1])
        for step, number in self.steps:
            if step == "add":
                nisa.tensor_scalar(index, index, nl.add, number)
            elif step == "part":
                nisa.memset(index[0:1], number)
            elif step == "half":
                nisa.memset(index[0 : max(self.count // 2, 1)], number)
            else:
                copy = nl.ndarray((self.count, 1), dtype=nl.int32, buffer=nl.sbuf)
                if step == "shift":
                    nisa.tensor_scalar(copy, index, nl.add, number)
                else:
                    nisa.tensor_copy(copy, index)
                index = copy
        return index


def gathering(x: Any, seed: int) -> Any:
    program = Indices(seed)
    out = nl.ndarray((program.used, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((program.used, 32), dtype=x.dtype, buffer=nl.sbuf)
    index = program.write()[0 : program.used]
    rows = x.ap([[32, program.used], [1, 32]], vector_offset=index, indirect_dim=0)
    nisa.dma_copy(dst=tile, src=rows)
    nl.store(out, tile)
    return out


def findings(seed: int) -> list[str]:
    traced = nki.jit(gathering).trace(np.zeros((ROWS, 32), np.float32), seed=seed)
    return [d.rule.id for d in find_all(kernels_of(traced.module), advise=False, suspect=False)]


SEEDS = range(300)


@pytest.mark.parametrize("part", range(4))
def test_findings_are_true(part: int) -> None:
    found = 0
    for seed in SEEDS[part::4]:
        rules = findings(seed)
        assert rules in ([], ["index-bounds"]), seed
        if rules:
            assert not Indices(seed).are_legal, seed
            found += 1
    assert found > 5


def test_simple_indices_are_always_found() -> None:
    """A pattern, copied or with a number added to all of it, and used entirely."""
    checked = 0
    for seed in SEEDS:
        program = Indices(seed)
        simple = all(step in ("add", "shift", "copy") for step, _ in program.steps)
        if simple and program.used == program.count and not program.are_legal:
            assert findings(seed) == ["index-bounds"], seed
            checked += 1
    assert checked > 20
