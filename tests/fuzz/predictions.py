"""Predicted times: larger kernels must not be faster, kernels with less work not much slower.

A round sweeps one size of a kernel: the number of partitions or rows, the length of a row, or the
data type, for DMAs in all directions or tiled products. Then it removes instructions from random
kernels. The scheduler is a heuristic, so a kernel may be slightly slower with less work. It is a
finding when it is much slower.
"""

from __future__ import annotations

from random import Random
from typing import Any

from support.growing_kernels import DMAS, Moved, Product, falls
from support.random_kernels import TARGETS
from support.removals import any_kernel, removals

from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.diagnostics.errors import NkiValidationError
from tests.fuzz.campaign import Count, Finding, until

CASES = 4
"""Maximum kernels per round from which instructions are removed."""
MUCH = 0.1
"""Relative slowdown by removing an instruction that is a finding."""
ANOMALY = 0.1
"""Accepted relative speedup of a product of several tiles over a smaller one."""


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round: one sweep, and some removals."""
    count = Count()
    _sweep(rng, count)
    for _ in until(deadline, CASES):
        traced = any_kernel(rng)
        if len(kernels_of(traced.module)) > 1:
            count.skipped += 1
            continue
        try:
            for removed in removals(rng, traced, 4):
                count.cases += 1
                if removed.growth > MUCH:
                    files = {"kernel.mlir": traced.text().encode()}
                    count.findings.append(Finding(f"slower {removed}", files))
        except NkiValidationError:
            count.skipped += 1
    return count


def _sweep(rng: Random, count: Count) -> None:
    target = rng.choice(TARGETS)
    kernels: list[Moved | Product]
    if rng.random() < 0.3:
        sizes = {
            "m": rng.choice((64, 128, 256)),
            "k": rng.choice((64, 128, 256, 512)),
            "n": 0,
            "dtype": rng.choice(("bfloat16", "float32")),
        }
        columns = sorted(rng.sample(range(1, 513), 24))
        kernels = [Product(target, {**sizes, "n": number}) for number in columns]
    else:
        body, sizes = rng.choice(DMAS), _sizes(rng)
        name = rng.choice(("partitions", "partitions", "rows", "row", "dtype"))
        kernels = [Moved(body, target, {**sizes, name: value}) for value in _values(rng, name)]
    count.cases += len(kernels)
    for fall in falls(kernels):
        if isinstance(kernels[0], Moved) or fall.share > ANOMALY:
            count.findings.append(Finding(f"faster though larger: {fall}"))


def _sizes(rng: Random) -> dict[str, Any]:
    return {
        "partitions": rng.randint(1, 128),
        "rows": rng.randint(1, 8),
        "row": 2 * rng.randint(1, 1000),
        "dtype": rng.choice(("uint8", "bfloat16", "float32")),
    }


def _values(rng: Random, name: str) -> list[Any]:
    if name == "partitions":
        return list(range(1, 129))
    if name == "rows":
        return sorted(rng.sample(range(1, 17), 8))
    if name == "row":
        return [2 * number for number in sorted(rng.sample(range(1, 1500), 24))]
    return ["uint8", "bfloat16", "float32"]
