"""Cached analyses of a kernel equal those computed anew, and so do their facts."""

from __future__ import annotations

from typing import Any

import pytest
from support.compiled_runs import queues_of
from support.random_kernels import TARGETS
from support.redundant_kernels import redundant_kernel
from support.tangled_kernels import tangled_kernel

from nkijit.dialects.declare.creation import copied
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.pipeline import COMPILER


def _known(analyses: Analyses) -> dict[str, Any]:
    """All that is kept, in a form that can be compared."""
    engine_state = analyses.engine_state
    return {
        "of_kind": analyses.of_kind,
        "accesses": analyses.accesses,
        "engine_state": {
            op: list(engine_state.of(op)) for op in analyses.kernel.operations if is_instruction(op)
        },
        "costs": {
            key: cost[:-1] for key, cost in analyses.costs.items()
        },  # numbers of forms differ
        "regions": [
            (
                block,
                [(s.ops, [c[:-1] for c in s.costs], s.start, s.end, s.fence) for s in regions],
            )
            for block, regions in analyses.regions.in_blocks
        ],
    }


def _changes(kernel: KernelOp) -> set[str]:
    """Return the passes that changed a copy of a kernel; cached facts were right after each."""
    copy, origins = copied(kernel)
    analyses = Analyses(copy)
    changed: set[str] = set()
    for made in COMPILER:
        _known(analyses)
        before = queues_of(copy)
        if made().change(analyses, origins):
            changed.add(made.name)
        else:
            assert queues_of(copy) == before, f"{made.name} says that it has changed nothing"
        known, found = _known(analyses), _known(Analyses(copy))
        for name in found:
            assert known[name] == found[name], (made.name, name)
    return changed


@pytest.mark.parametrize("target", TARGETS)
def test_cached_analyses_are_right_after_each_pass(target: str):
    changed: set[str] = set()
    for seed in range(6):
        for traced, _ in (
            tangled_kernel(seed, target, 24, 0),
            tangled_kernel(seed, target, 6, 1),
            redundant_kernel(seed, target, 16, 0),
            redundant_kernel(seed, target, 5, 1),
        ):
            traced.verify()
            changed |= _changes(traced.cores()[0])
    # The others need more than these kernels have: tiles that do not fit, sums of matmuls.
    unseen = {"fit", "accumulate-in-psum"}
    unseen.add("spread-engines")
    assert {made.name for made in COMPILER} - changed <= unseen
