"""The XORWOW random generators of an engine, vectorised over all lanes.

G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003: five words in a shift
register and a counter, which is added to the register's newest word. SplitMix64 expands seeds to
states (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nkijit.dialects.nisa.random import STATE_WORDS

Words = npt.NDArray[np.uint32]

REGISTER = STATE_WORDS - 1
"""The number of words of the shift register; the last word of a state is the counter."""
WEYL = np.uint32(362437)
"""The number that is added to the counter at each step."""

_FOUR = np.array(4, np.uint32)  # an array, as a Python number would be converted in each step
_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def seeded(seed: int, lanes: int, generators: int) -> Words:
    """Return the states for a seed, as (word, lane, generator).

    The words of the states are the output of SplitMix64 from `seed` on, low half first. All words
    of a generator are consecutive, then all generators of a lane, then all lanes.
    """
    count = lanes * generators * STATE_WORDS // 2
    z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * _GAMMA
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    words = np.stack([z & np.uint64(0xFFFFFFFF), z >> np.uint64(32)], axis=1).astype(np.uint32)
    return from_rows(words.reshape(lanes, -1), generators)


def from_rows(rows: Words, generators: int) -> Words:
    """Convert rows, each with all generator states of a lane, to states (word, lane, generator)."""
    return np.ascontiguousarray(rows.reshape(len(rows), generators, STATE_WORDS).transpose(2, 0, 1))


def to_rows(state: Words) -> Words:
    """Convert states to rows: the inverse of `from_rows`."""
    return state.transpose(1, 2, 0).reshape(state.shape[1], -1)


def draw(state: Words, columns: int) -> Words:
    """Advance `state` in place, and return `columns` numbers for each lane.

    The generators of a lane take turns. In the last turn, all generators advance, even if some
    numbers are not needed.
    """
    _, lanes, generators = state.shape
    turns = -(-columns // generators)
    words = np.empty((REGISTER + turns, lanes, generators), np.uint32)
    words[:REGISTER] = state[:REGISTER]
    rows = list(words)
    shifted = np.empty((lanes, generators), np.uint32)
    for turn in range(0, turns, REGISTER):
        # The contributions of the oldest words are known for `REGISTER` turns.
        oldest = words[turn : turn + REGISTER]
        mixed = oldest >> 2
        mixed ^= oldest
        mixed ^= mixed << 1
        newest = rows[turn + REGISTER - 1]
        following = rows[turn + REGISTER : turn + 2 * REGISTER]
        for word, contribution in zip(following, mixed, strict=False):
            np.left_shift(newest, _FOUR, shifted)
            np.bitwise_xor(newest, shifted, word)
            np.bitwise_xor(word, contribution, word)
            newest = word
    counters = np.arange(1, turns + 1, dtype=np.uint32)[:, None, None] * WEYL
    numbers = words[REGISTER:] + (state[REGISTER] + counters)
    state[:REGISTER] = words[turns:]
    state[REGISTER] += np.uint32(turns * int(WEYL) & 0xFFFFFFFF)
    return numbers.transpose(1, 0, 2).reshape(lanes, -1)[:, :columns]


def fractions(numbers: Words) -> npt.NDArray[np.float32]:
    """Convert random words to float32 in [0, 1): their high 24 bits, which are exact."""
    result = (numbers >> 8).astype(np.float32)
    result *= np.float32(2**-24)
    return result
