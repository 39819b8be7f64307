"""Programs without findings are remembered between processes, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest
from support.kernel_parts import random_kernel
from support.mutations import MUTATIONS
from support.paths import ROOT
from xdsl.dialects.builtin import UnknownLoc

import nkijit
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.ir.text import parse
from nkijit.passes.verify import verdicts
from nkijit.passes.verify.verdicts import CACHE_VARIABLE, digest_of


def _kernels(text: str) -> list[KernelOp]:
    return list(kernels_of(parse(text)))


def test_programs_have_equal_digests_if_and_only_if_they_have_equal_texts() -> None:
    by_text: defaultdict[str, set[str]] = defaultdict(set)
    by_digest: defaultdict[str, set[str]] = defaultdict(set)
    for mutation in MUTATIONS:
        random = Random(mutation.name)
        kernel = random_kernel(random, mutation.part, mutation.targets)
        mutant = kernel.copy()
        mutation.apply(mutant, random)
        texts = {str(kernel.trace())}
        with suppress(nkijit.NkiValidationError):  # not every mutant is traced to its end
            texts.add(str(mutant.trace()))
        for text in texts:
            for _ in range(2):
                digest = digest_of(_kernels(text))
                by_text[text].add(digest)
                by_digest[digest].add(text)
    assert len(by_text) > len(MUTATIONS)
    assert all(len(digests) == 1 for digests in by_text.values())
    assert all(len(texts) == 1 for texts in by_digest.values())


@nkijit.jit
def many_copies(x, count, start):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    if start:
        nisa.dma_copy(tile, x)
    for _ in range(count):
        nisa.tensor_copy(tile, tile)
    nisa.dma_copy(out, tile)
    return out


X = np.ones((128, 8), np.float32)


def test_a_source_location_is_part_of_the_digest() -> None:
    (kernel,) = kernels_of(many_copies.trace(X, 3, True).module)
    before = digest_of([kernel])
    assert digest_of([kernel]) == before
    next(iter(kernel.operations)).location = UnknownLoc()
    assert digest_of([kernel]) != before


def test_a_program_is_verified_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    count = verdicts.LEAST_OPERATIONS
    nkijit.jit(many_copies.func).trace(X, count, True).verify()
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.setattr("nkijit.passes.verify.passes.find_all", _refuse)
    again = nkijit.jit(many_copies.func).trace(X, count, True)
    assert np.array_equal(again.run(X), X)
    with pytest.raises(AssertionError, match="verified"):
        nkijit.jit(many_copies.func).trace(X, count + 1, True).verify()
    monkeypatch.setenv(CACHE_VARIABLE, "")
    with pytest.raises(AssertionError, match="verified"):
        nkijit.jit(many_copies.func).trace(X, count, True).verify()


def _refuse(*args: object, **options: object) -> None:
    raise AssertionError("verified")


def test_findings_are_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    for _ in range(2):
        wrong = nkijit.jit(many_copies.func).trace(X, verdicts.LEAST_OPERATIONS, False)
        assert wrong.diagnostics.errors
    assert not list(tmp_path.iterdir())


def test_other_processes_and_hash_seeds_have_the_same_digest(tmp_path: Path) -> None:
    script = (
        "from test_verdicts import *\n"
        "print(digest_of(list(kernels_of(many_copies.trace(X, 40, True).module))))"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "unit"), str(Path(__file__).parent)]),
    }
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**environment, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
