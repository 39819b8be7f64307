"""Random number instructions, one generator and one number at a time; see `naive`.

Generators are Marsaglia's `xorwow` as printed in "Xorshift RNGs" (2003), in Python's integers;
seeds become states through `splitmix64` as published by its authors. The API's docstrings define
how lanes share generators, and how bits become fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from support.nisa.naive import (
    LANES,
    ColumnOrNumber,
    Machine,
    Operand,
    column_of,
    exactly,
    wrapped,
)
from support.oracle import f32

WORD, LONG = 2**32, 2**64

COUNT = {"vector": 4, "gpsimd": 1}
"""Generators of a lane."""
FIRST_SEED = {"vector": 0, "gpsimd": 2**32}


@dataclass
class Xorwow:
    """One generator."""

    x: int
    y: int
    z: int
    w: int
    v: int
    d: int

    def next(self) -> int:
        """The next 32 bits."""
        t = self.x ^ (self.x >> 2)
        self.x, self.y, self.z, self.w = self.y, self.z, self.w, self.v
        self.v = (self.v ^ (self.v << 4)) ^ (t ^ (t << 1))
        self.v %= WORD
        self.d = (self.d + 362437) % WORD
        return (self.d + self.v) % WORD

    @property
    def words(self) -> list[int]:
        return [self.x, self.y, self.z, self.w, self.v, self.d]


def splitmix64(state: int) -> Iterator[int]:
    """64 bits after 64 bits."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % LONG
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % LONG
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % LONG
        yield z ^ (z >> 31)


def halves(longs: Iterator[int]) -> Iterator[int]:
    """The low and the high half of each."""
    for value in longs:
        yield value % WORD
        yield value // WORD


def seeded(engine: str, seed: int) -> list[list[Xorwow]]:
    """The generators of all lanes."""
    words = halves(splitmix64(seed))
    return [
        [Xorwow(*[next(words) for _ in range(6)]) for _ in range(COUNT[engine])]
        for _ in range(LANES)
    ]


def lanes(m: Machine, engine: str) -> list[list[Xorwow]]:
    if engine not in m.generators:
        m.generators[engine] = seeded(engine, FIRST_SEED[engine])
    return m.generators[engine]


def drawn(generators: Sequence[Xorwow], count: int) -> list[int]:
    """`count` numbers; the generators take turns, and finish the last one."""
    numbers: list[int] = []
    while len(numbers) < count:
        numbers += [generator.next() for generator in generators]
    return numbers[:count]


def bits(m: Machine, engine: str, tile: Operand) -> list[list[int]]:
    """32 random bits for each element of a tile."""
    return [drawn(lanes(m, engine)[lane], tile.shape[1]) for lane in tile.lanes]


def fraction(number: int) -> float:
    return (number >> 8) / 2**24


def rng(m: Machine, dst: Operand, engine: str = "vector") -> None:
    dst.write_stored([[wrapped(dst.dtype, x) for x in row] for row in bits(m, engine, dst)])


def rand2(m: Machine, dst: Operand, min: ColumnOrNumber, max: ColumnOrNumber) -> None:
    limits = zip(column_of(min, dst.shape[0]), column_of(max, dst.shape[0]), strict=True)
    rows = []
    for row, ((low, _), (high, _)) in zip(bits(m, "vector", dst), limits, strict=True):
        width = f32(high - low)
        values = [f32(f32(fraction(x) * width) + low) for x in row]
        rows.append([exactly(high if value > high else value) for value in values])
    dst.write(rows)


def dropout(m: Machine, dst: Operand, data: Operand, prob: ColumnOrNumber) -> None:
    chances = column_of(prob, data.shape[0])
    stored = data.low.copy().reshape(data.shape)
    zero = np.zeros((), stored.dtype)[()]
    rows = []
    for p, row in enumerate(bits(m, "vector", data)):
        dropped = [fraction(x) < chances[p][0] for x in row]
        rows.append([zero if d else x for d, x in zip(dropped, stored[p], strict=True)])
    dst.write_stored(rows)


def set_rng_seed(m: Machine, src_seeds: Operand) -> None:
    seed = int(src_seeds.low.view(np.uint32).flat[0])
    m.generators["vector"] = seeded("vector", seed)


def rand_set_state(m: Machine, src_seeds: Operand, engine: str = "gpsimd") -> None:
    for lane, row in zip(src_seeds.lanes, src_seeds.integers(), strict=True):
        words = [row[start : start + 6] for start in range(0, len(row), 6)]
        lanes(m, engine)[lane] = [Xorwow(*six) for six in words]


def rand_get_state(m: Machine, dst: Operand, engine: str = "gpsimd") -> None:
    dst.write_stored(
        [[word for g in lanes(m, engine)[lane] for word in g.words] for lane in dst.lanes]
    )


INSTRUCTIONS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (rng, rand2, dropout, set_rng_seed, rand_set_state, rand_get_state)
}
