"""Values of bytes in a line against a list with one value for every byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nkijit.passes.analysis.bytes.cuts import Cuts

BYTES = 12
intervals = st.tuples(st.integers(0, BYTES), st.integers(0, BYTES)).map(lambda ends: sorted(ends))


@given(st.lists(intervals, max_size=6))
def test_every_byte_has_its_value(given_intervals: list[list[int]]) -> None:
    cuts, plain = Cuts(0), [0] * BYTES
    for low, high in given_intervals:
        for index in cuts.cut_out(low, high):
            cuts.values[index] += 1
        for byte in range(low, high):
            plain[byte] += 1
    ends = [*cuts.at[1:], max(BYTES, cuts.at[-1])]
    lengths = [end - start for start, end in zip(cuts.at, ends, strict=True)]
    found = [
        value for value, length in zip(cuts.values, lengths, strict=True) for _ in range(length)
    ]
    assert found == plain
    assert cuts.at == sorted(set(cuts.at))
