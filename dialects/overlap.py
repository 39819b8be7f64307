"""Overlap of access patterns. A pattern is a set of numbers: `low` plus multiples of strides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, product
from math import gcd, prod

ENUMERABLE = 4096
"""`meet` enumerates sets of at most this many numbers when no formula applies."""

Terms = list[tuple[int, int]]
"""The strides of a set: ascending `(stride, count)` pairs, strides above 0, counts above 1.

The set consists of all sums of one multiple (0 to count - 1) of each stride.
"""


def ascending(low: int, pairs: Iterable[tuple[int, int]]) -> tuple[int, Terms]:
    """Return the lowest element of a pattern, and its pairs as `Terms`.

    `pairs` are (stride, count) in any order; strides may be negative.
    """
    terms: Terms = []
    for stride, count in pairs:
        if count == 1 or stride == 0:
            continue
        if stride < 0:
            low += stride * (count - 1)
        terms.append((abs(stride), count))
    terms.sort()
    return low, terms


def meet(a: int, a_terms: Terms, b: int, b_terms: Terms) -> bool:
    """True when two sets, with lowest numbers `a` and `b`, share a number or may share one."""
    if a + _reach(a_terms) < b or b + _reach(b_terms) < a:
        return False
    strides = sorted({stride for stride, _ in a_terms + b_terms}, reverse=True)
    if (a - b) % (gcd(*strides) or 1):
        return False
    if len(a_terms) <= 1 and len(b_terms) <= 1:
        return _progressions_meet(a, a_terms, b, b_terms)
    # If both sets fit in rows of some pitch, they meet if their rows meet and their columns meet.
    # Candidates for the pitch are the strides and their common divisors.
    for pitch in sorted({*strides, *accumulate(strides, gcd)}, reverse=True):
        a_columns = [term for term in a_terms if term[0] % pitch]
        b_columns = [term for term in b_terms if term[0] % pitch]
        if (
            (a_columns or b_columns)
            and a % pitch + _reach(a_columns) < pitch
            and b % pitch + _reach(b_columns) < pitch
        ):
            a_rows = [(stride // pitch, n) for stride, n in a_terms if stride % pitch == 0]
            b_rows = [(stride // pitch, n) for stride, n in b_terms if stride % pitch == 0]
            return meet(a // pitch, a_rows, b // pitch, b_rows) and meet(
                a % pitch, a_columns, b % pitch, b_columns
            )
    a_merged, b_merged = merged(a_terms), merged(b_terms)
    if len(a_merged) <= 1 and len(b_merged) <= 1:
        return _progressions_meet(a, a_merged, b, b_merged)
    if max(prod([n for _, n in a_terms]), prod([n for _, n in b_terms])) > ENUMERABLE:
        return True
    return not set(_sums(a, a_terms)).isdisjoint(_sums(b, b_terms))


def _reach(terms: Terms) -> int:
    """Return the largest number of a set whose lowest number is 0."""
    return sum([stride * (count - 1) for stride, count in terms])


def merged(terms: Terms) -> Terms:
    """Return an equal set with fewer terms: terms that continue or overlap others are joined."""
    joined: Terms = []
    for stride, count in terms:
        finer, steps = joined[-1] if joined else (stride, 0)
        if stride % finer == 0 and stride <= finer * steps:
            # Copies of the finer term follow each other without a gap, or overlap.
            joined[-1] = (finer, steps + stride // finer * (count - 1))
        else:
            joined.append((stride, count))
    return joined


def _sums(start: int, terms: Terms) -> Iterator[int]:
    return (start + sum(s) for s in product(*(range(0, stride * n, stride) for stride, n in terms)))


def _progressions_meet(a: int, a_terms: Terms, b: int, b_terms: Terms) -> bool:
    """Whether two arithmetic progressions share an element (Chinese remainder theorem).

    The greatest common divisor of their steps must divide `a - b`; `meet` checks that.
    """
    a_step, a_count = a_terms[0] if a_terms else (1, 1)
    b_step, b_count = b_terms[0] if b_terms else (1, 1)
    common = gcd(a_step, b_step)
    modulus = b_step // common
    first = a + a_step * ((b - a) // common * pow(a_step // common, -1, modulus) % modulus)
    period = a_step * modulus
    low = max(a, b)
    high = min(a + a_step * (a_count - 1), b + b_step * (b_count - 1))
    return low + (first - low) % period <= high
