"""Free bytes against a line of bytes that are marked one by one."""

from __future__ import annotations

from random import Random

import pytest

from nkijit.passes.analysis.addresses.gaps import TOP, Gaps, Interval, SizedGaps

BYTES = 60


@pytest.mark.parametrize("kind", [Gaps, SizedGaps])
def test_gaps_taken_and_given_back(kind: type[Gaps]) -> None:
    for seed in range(20):
        rng, gaps, used = Random(seed), kind(), bytearray(BYTES)
        taken: list[Interval] = []
        for _ in range(200):
            if taken and rng.random() < 0.5:
                low, high = taken.pop(rng.randrange(len(taken)))
                gaps.give(low, high)
                used[low:high] = bytes(high - low)
            else:
                low, end = rng.choice([(a, min(b, BYTES)) for a, b in gaps])
                if low >= end:
                    continue
                low = rng.randrange(low, end)
                high = rng.randint(low + 1, end)
                gaps.take(low, high)
                used[low:high] = b"\1" * (high - low)
                taken.append((low, high))
            expected = _expected(used)
            assert list(gaps) == expected
            if isinstance(gaps, SizedGaps):
                assert gaps.by_size == sorted((high - low, low) for low, high in expected)


def _expected(used: bytearray) -> list[Interval]:
    """Return the intervals of unused bytes; the last one includes all bytes above the space."""
    found: list[Interval] = []
    for byte in (byte for byte, is_used in enumerate(used) if not is_used):
        if found and found[-1][1] == byte:
            found[-1] = found[-1][0], byte + 1
        else:
            found.append((byte, byte + 1))
    if found and found[-1][1] == BYTES:
        return [*found[:-1], (found[-1][0], TOP)]
    return [*found, (BYTES, TOP)]
