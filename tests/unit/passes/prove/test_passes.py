"""Compiled, exported and rolled kernels are proven equal to their originals, bit by bit."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from support.changed_kernels import changed, of_text, results, same_bits
from support.examples import parameters
from support.exports import retraced
from support.kernel_parts import random_kernel
from support.odd_kernels import odd_kernel
from support.random_kernels import PARTS
from support.redundant_kernels import redundant_kernel
from support.tangled_kernels import tangled_kernel, visible_kernel

from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.compile.pipeline import compiled
from nkijit.passes.prove.proof import prove
from nkijit.traced.kernel import TracedKernel


def check_compiled(traced: TracedKernel) -> bool:
    """Fail if the compiled kernel is refuted; returns False for a kernel without terms."""
    kernels = kernels_of(traced.module)
    proof = prove(kernels, [compiled(kernel).kernel for kernel in kernels], "bits", 2)
    assert proof.level == "bits" or proof.unproven is not None, proof
    return proof.level == "bits"


@pytest.mark.parametrize("seed", range(2))
def test_compiled_kernels(seed: int) -> None:
    kernels = [
        tangled_kernel(seed, "trn2", 24, 0)[0],
        visible_kernel(seed, "trn3", 16)[0],
        redundant_kernel(seed + 2, "trn3", 16, 0)[0],
        redundant_kernel(seed, "trn3", 5, 1)[0],
        odd_kernel(seed, "trn3", 14, 0)[0],
    ]
    # Trip counts of some loops depend on inputs.
    assert [check_compiled(traced) for traced in kernels].count(True) >= len(kernels) - 1


@pytest.mark.slow
def test_compiled_random_kernels() -> None:
    proven = {
        part: any(
            [check_compiled(random_kernel(Random(f"{part} {n}"), part).trace()) for n in range(3)]
        )
        for part in PARTS
    }
    assert sum(proven.values()) >= len(PARTS) - 1


def check_forms(example: Any) -> None:
    inputs = example.inputs(replace(example.small, dtype=example.dtypes[-1]))
    traced = example.kernel.trace(**inputs)
    assert check_compiled(traced)
    for other in (retraced(traced), of_text(traced.text(rolled=True))):
        proof = traced.equivalent(other, "bits", trips=2)
        assert proof.level == "bits", proof


@pytest.mark.parametrize("example", parameters("softmax", "layernorm", "embedding_update"))
def test_forms_of_examples(example: Any) -> None:
    check_forms(example)


@pytest.mark.slow
@pytest.mark.parametrize("example", parameters())
def test_forms_of_all_examples(example: Any) -> None:
    check_forms(example)


@pytest.mark.parametrize("seed", range(3))
def test_kernels_that_are_proven_equal_have_equal_results(seed: int) -> None:
    rng = Random(f"sound {seed}")
    for traced in (visible_kernel(seed, "trn3", 12)[0], odd_kernel(seed, "trn3", 10, 0)[0]):
        for what, other in changed(rng, traced, 8):
            if traced.equivalent(other, "bits").level is None:
                continue
            pair = results(traced, seed), results(other, seed)
            assert pair[0] is not None, what
            assert pair[1] is not None, what
            assert same_bits(pair[0], pair[1]), what
