"""Kernels that differ in one place are refuted, with the first element that differs on data."""

from __future__ import annotations

import re
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
CANCELS = re.compile(r"%maxima|%negative_maximum|%c-3\.40282347e38")
"""The lines of softmax kernels that compute the value m, subtracted from all elements of a row.

exp(x - m) / sum(exp(x - m)) does not depend on m. With another m, all terms of a row differ, but
numbers differ by rounding at most.
"""


def traces() -> list[tuple[str, TracedKernel]]:
    """The kernels of examples, on float32 or the last data type, as IR without locations."""
    found: list[tuple[str, TracedKernel]] = []
    for source in SOURCES:
        for example in examples(source):
            inputs = example.inputs(replace(example.small, dtype=example.dtypes[-1]))
            found.append((source, of_text(str(example.kernel.trace(**inputs).text()))))
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
    """Pairs of a kernel and the kernel with a change, but for changes that cancel."""
    rng = Random(kind)
    kernels = traces()
    for number in range(40):
        source, old = kernels[number % len(kernels)]
        for what, new in changed(rng, old, 12, (kind,)):
            if source != "softmax" or not CANCELS.search(what):
                yield what, old, new
                break


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("wanted", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_a_change_is_refuted(kind: str, wanted: int) -> None:
    count = 0
    for what, old, new in pairs(kind):
        expected = first_difference(old, new)
        proof = old.equivalent(new)
        assert proof.unproven is None, what
        if proof.level is not None:
            # A change without effect, or another order of a sum.
            assert expected is None or not proof.holds("bits"), what
            continue
        assert proof.difference is not None, what
        assert (proof.difference.result, proof.difference.index) == expected, what
        terms = proof.difference.terms
        assert terms is not None
        assert terms.old != terms.new, what
        count += 1
        if count == wanted:
            return
    pytest.fail(f"only {count} kernels were changed")
