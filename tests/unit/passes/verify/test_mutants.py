"""No misses: a valid kernel that is broken in one known way is found, at the line that is wrong.

The score of every mutation:

    PYTHONPATH=tests/unit .venv/bin/python tests/unit/passes/verify/test_mutants.py
"""

from __future__ import annotations

from random import Random

import pytest
from support.kernel_parts import random_kernel
from support.mutations import MUTATIONS, Mutation
from support.random_kernels import PARTS

MUTANTS = 2000
"""In all; every mutation has the same share."""
SHARE = -(-MUTANTS // len(MUTATIONS))


def survivors(mutation: Mutation, count: int = SHARE) -> list[str]:
    """Return the mutants without a finding: source, place, and the other findings."""
    alive: list[str] = []
    for seed in range(count):
        random = Random(f"{mutation.name} {seed}")
        kernel = random_kernel(random, mutation.part, mutation.targets)
        before = kernel.findings()
        wrong = [d for d, _ in before if d.severity == "error"]
        assert not wrong, f"{kernel.source()}\n{kernel.target}: a valid kernel:\n{wrong[0]}"
        told = {(d.rule.id, d.message, frozenset(lines)) for d, lines in before}
        mutant = kernel.copy()
        due = mutation.apply(mutant, random)
        found = mutant.findings()
        new = [
            (d.rule.id, line)
            for d, lines in found
            if (d.rule.id, d.message, frozenset(line.original for line in lines)) not in told
            for line in lines
        ]
        if not any(rule in mutation.rules and line is due for rule, line in new):
            shown = "\n".join(str(d) for d, _ in found)
            rules = " or ".join(sorted(mutation.rules))
            alive.append(f"{mutant.source()}\n{mutant.target}, {rules} due at: {due}\n{shown}")
    return alive


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_mutant_is_found(mutation: Mutation) -> None:
    alive = survivors(mutation)
    assert not alive, f"{len(alive)} of {SHARE} mutants survive, the first:\n{alive[0]}"


def test_every_part_is_mutated() -> None:
    assert {mutation.part for mutation in MUTATIONS} == set(PARTS)


if __name__ == "__main__":
    missed = 0
    for each in MUTATIONS:
        left = survivors(each)
        missed += len(left)
        print(f"{SHARE - len(left):4} of {SHARE}  {each.name}: {', '.join(sorted(each.rules))}")
    total = SHARE * len(MUTATIONS)
    print(f"{total - missed} of {total} mutants in {len(MUTATIONS)} kinds")
