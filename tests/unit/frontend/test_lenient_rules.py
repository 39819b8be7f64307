"""Kernels of the lit tests that break a rule which leaves values undefined, or do not fit, run.

Each computes the same bits each time, with a warning for every finding, and has a listing.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from support.kernel_parts import random_kernel
from support.mutations import MUTATIONS
from support.paths import LIT

import nkijit as nki
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.rule_texts.text import ErrorKind
from nkijit.ir.text import launches_of, parse
from nkijit.passes.numerics.storage import STORAGE
from nkijit.traced.kernel import TracedKernel

LENIENT = (ErrorKind.undefined, ErrorKind.does_not_fit)
RULES = [rule for rule in RULE_TEXTS.values() if rule.kind in LENIENT]
TOO_LARGE = "huge"
"""A kernel of `passes/verify-init.mlir` with a tensor of 40 GB."""
_QUOTED = re.compile("|".join(rf"error\[{rule.id}\]" for rule in RULES))


FILES = [
    path for path in sorted(LIT.rglob("*.mlir")) if _QUOTED.search(path.read_text(encoding="utf-8"))
]


@cache
def _kernels(path: Path) -> dict[str, TracedKernel]:
    """The kernels of a file that only such rules stop, by name."""
    module = parse(path.read_text(encoding="utf-8"), path.name)
    found: dict[str, TracedKernel] = {}
    for name, cores in launches_of(module).items():
        traced = TracedKernel(module, kernels=cores)
        errors = [d for d in traced.diagnostics if d.severity == "error"]
        if errors and all(d.kind in LENIENT for d in errors):
            found[name] = traced
    return found


def _inputs(traced: TracedKernel) -> list[np.ndarray]:
    """Random floats; integers are 0, as loops and addresses depend on them."""
    random = np.random.default_rng(0)
    stored = [(shape, STORAGE[dtype]) for _, shape, dtype in traced.argument_types]
    return [random.integers(0, 1 if d.kind in "iub" else 2, s).astype(d) for s, d in stored]


def _run(traced: TracedKernel) -> tuple[list[bytes], list[str]]:
    """Return the bits of all results and arguments, and the errors that are issued as warnings."""
    inputs = _inputs(traced)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        result = traced.run(*inputs, strict=False)
    assert all(issubclass(w.category, nki.NkiWarning) for w in issued)
    results = result if isinstance(result, (list, tuple)) else [result]
    bits = [np.asarray(array).tobytes() for array in (*results, *inputs) if array is not None]
    texts = [str(w.message) for w in issued]
    # The first run issues suspicious findings, too.
    return bits, [text for text in texts if text.startswith("error[")]


files = pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(LIT).as_posix())


@files
def test_they_compute_and_warn(path):
    for name, traced in _kernels(path).items():
        if name != TOO_LARGE:
            _check_run(name, traced)


def _check_run(name, traced):
    with pytest.raises(nki.NkiValidationError):
        traced.run(*_inputs(traced), strict=True)
    bits, texts = _run(traced)
    assert _run(traced) == (bits, texts), name
    # Once for a rule and a line.
    errors = [d for d in traced.diagnostics if d.severity == "error"]
    first = {(d.rule.id, d.where[0].line): str(d) for d in reversed(errors)}
    assert Counter(texts) == Counter(first.values()), name


@files
def test_they_have_listings_that_say_so(path):
    for name, traced in _kernels(path).items():
        kinds = {d.kind for d in traced.diagnostics if d.severity == "error"}
        first, schedule, title, *_ = traced.listing(strict=False).splitlines()
        assert all((kind.value in first) == (kind in kinds) for kind in LENIENT), name
        assert schedule.startswith("schedule author: "), name
        assert title.startswith("kernel "), name
        with pytest.raises(nki.NkiValidationError):
            traced.listing()


@pytest.mark.parametrize(
    "mutation",
    [m for m in MUTATIONS if m.rules & {rule.id for rule in RULES}],
    ids=lambda m: m.name,
)
@pytest.mark.parametrize("seed", range(2))
def test_mutants_compute_and_have_profiles(mutation, seed):
    """Random valid kernels that are broken in one way, on one core and on two."""
    random = Random(f"{mutation.name} {seed}")
    kernel = random_kernel(random, mutation.part, mutation.targets)
    mutation.apply(kernel, random)
    traced = kernel.trace()
    if any(d.stops(strict=False) for d in traced.diagnostics):
        pytest.skip("the mutation breaks another rule as well")
    assert _run(traced) == _run(traced)
    assert traced.profile(strict=False, schedule="author").time > 0


def test_every_rule_has_a_kernel():
    kernels = [traced for path in FILES for traced in _kernels(path).values()]
    tripped = {d.rule.id for traced in kernels for d in traced.diagnostics}
    assert {rule.id for rule in RULES} <= tripped
