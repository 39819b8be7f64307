"""Kernels that differ in one place are refuted, with the first element that differs on data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from support.changed_kernels import CHANGES, changed, of_text, results
from support.examples import examples

from nkijit.passes.prove.run import result_names
from nkijit.traced.kernel import TracedKernel

SOURCES = ("softmax", "layernorm", "rmsnorm", "matmul", "residual", "activate2")


def traces() -> list[TracedKernel]:
    """The kernels of examples, on float32 or the last data type, as IR without locations."""
    found: list[TracedKernel] = []
    for example in examples(*SOURCES):
        inputs = example.inputs(replace(example.small, dtype=example.dtypes[-1]))
        found.append(of_text(str(example.kernel.trace(**inputs).text())))
    return found


def first_difference(old: TracedKernel, new: TracedKernel) -> tuple[str, tuple[int, ...]] | None:
    """The first element of a result that differs on random data, of the runs with three seeds."""
    names = result_names(old.cores()[0])
    found: list[tuple[int, int, str, tuple[int, ...]]] = []
    for seed in range(3):
        pair = results(old, seed), results(new, seed)
        if pair[0] is None or pair[1] is None:
            return None
        for number, (name, one, other) in enumerate(zip(names, *pair, strict=False)):
            before, after = one.astype(np.float64), other.astype(np.float64)
            different = ~((before == after) | (np.isnan(before) & np.isnan(after)))
            if different.any():
                at = int(different.argmax())
                index: Any = np.unravel_index(at, different.shape)
                found.append((number, at, name, tuple(int(i) for i in index)))
    return min(found)[2:] if found else None


def pairs(kind: str) -> Iterator[tuple[str, TracedKernel, TracedKernel]]:
    rng = Random(kind)
    kernels = traces()
    for number in range(40):
        old = kernels[number % len(kernels)]
        for what, new in changed(rng, old, 12, (kind,)):
            yield what, old, new
            break


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("wanted", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_a_change_is_refuted(kind: str, wanted: int) -> None:
    count = 0
    for what, old, new in pairs(kind):
        expected = first_difference(old, new)
        proof = old.equivalent(new)
        if proof.holds("bits"):
            assert expected is None, what
        if proof.level is not None or expected is None:
            continue  # another order of a sum, or a change without effect
        assert proof.difference is not None, what
        assert proof.difference.index <= expected[1], what
        terms = proof.difference.terms
        assert terms is not None
        assert terms.old != terms.new, what
        # Elements may differ as terms and be equal on this data, such as those of a softmax with
        # another maximum.
        count += (proof.difference.result, proof.difference.index) == expected
        if count == wanted:
            return
    pytest.fail(f"only {count} kernels were changed")
