"""Samples of large kernels: the part of the program that computes the first results.

The same source lines and loops are in a sample, so changes that gain in a sample are likely to gain
in the kernel. An experiment on a sample takes a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Sequence

from nkijit.dialects.ncc import WAITING
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.advise.edit import Edit
from nkijit.passes.advise.facts import Facts
from nkijit.passes.advise.stores import Without, first_part, result_stores

LARGE = 800
"""The number of instructions above which a kernel is sampled first."""
_SMALLEST = 200
"""The smallest number of instructions of a useful sample."""
_HALVINGS = 8


def sample_of(kernels: Sequence[KernelOp]) -> list[KernelOp] | None:
    """Return copies of the programs of all cores without their last stores.

    None if the kernel is small, if its cores wait for each other, or if no sample is small.
    """
    all_facts = [Facts(kernel) for kernel in kernels]
    if any(isinstance(op, WAITING) for facts in all_facts for op in facts.position):
        return None
    if sum(len(facts.instructions) for facts in all_facts) <= LARGE:
        return None
    stores = [result_stores(facts) for facts in all_facts]
    for halvings in range(1, _HALVINGS):
        copies: list[KernelOp] = []
        for kernel, own in zip(kernels, stores, strict=True):
            edit = Edit(kernel)
            removed = own[max(2, first_part(own, 0.5**halvings)) :]
            if removed:
                Without(removed)(edit)
            copies.append(edit.kernel)
        size = sum(len(Facts(copy).instructions) for copy in copies)
        if size <= LARGE:
            return copies if size >= _SMALLEST else None
    return None
