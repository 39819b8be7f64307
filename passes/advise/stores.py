"""The stores that write a kernel's results, and changes that remove some of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.advise.edit import Edit, NotPossibleError, erase, writes
from nkijit.passes.advise.facts import Facts
from nkijit.passes.compile.passes.remove_unused import remove_unused


def result_stores(facts: Facts) -> list[NisaOp]:
    """Return the stores to arguments and results in HBM; [] if one of them is in a device loop."""
    block = facts.kernel.body.block
    stores = [op for op in facts.instructions if _stores_results(op, facts)]
    return [] if any(op.parent_block() is not block for op in stores) else stores


def _stores_results(op: NisaOp, facts: Facts) -> bool:
    """Whether an instruction writes only to arguments or to returned tensors in HBM."""
    bases = [base_of(value) for value in writes(op)]
    returned = {base_of(value) for value in facts.kernel.return_op.values}
    return bool(bases) and all(
        not info_of(base).region.on_chip
        and (base in returned or not isinstance(base.owner, AllocOp))
        for base in bases
    )


def first_part(stores: Sequence[NisaOp], part: float) -> int:
    """Return the number of leading stores that write this part of the bytes, from 0 to 1."""
    sizes = [sum(info_of(v).size * info_of(v).dtype.bits for v in writes(op)) for op in stores]
    done = 0
    for number, size in enumerate(sizes):
        if done >= part * sum(sizes):
            return number
        done += size
    return len(stores)


@dataclass(frozen=True, slots=True)
class Without:
    """Removes some stores, and all instructions whose results only these stores use."""

    stores: Sequence[Operation]

    def __call__(self, edit: Edit) -> None:
        if not self.stores:
            raise NotPossibleError
        for op in self.stores:
            erase(edit.of(op))
        remove_unused(edit.kernel)
