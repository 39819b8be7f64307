"""`two-cores`: estimate the time of a kernel if each of two cores computed half of the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from nkijit.dialects.core_program import MAX_CORES
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.words import nc_version
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.tiles import info_of
from nkijit.passes.advise.edit import Edit, NotPossibleError, erase, writes
from nkijit.passes.advise.facts import Facts
from nkijit.passes.advise.kinds import TWO_CORES
from nkijit.passes.advise.proposal import Proposal, counted
from nkijit.passes.compile.passes.remove_unused import remove_unused


def two_cores(facts: Facts) -> Iterator[Proposal]:
    """Propose two cores for a single-core kernel that writes its results in several stores."""
    kernel = facts.kernel
    if kernel.core[1] > 1 or facts.target.version < nc_version.gen3:
        return
    block = kernel.body.block
    stores = [op for op in facts.instructions if _stores_results(op, facts)]
    if len(stores) < MAX_CORES or any(op.parent_block() is not block for op in stores):
        return
    half = _first_half(stores)
    yield Proposal(
        TWO_CORES,
        "two-cores",
        0,
        stores[0].location,
        f"launch on two cores, of which each does half of the {counted(len(stores), 'store')}",
        ("the time of one core for the first half of them; starting two cores takes longer",),
        facts.instructions,
        _Without(stores[half:]),
    )


def _stores_results(op: NisaOp, facts: Facts) -> bool:
    """Whether an instruction writes only to arguments or to returned tensors in HBM."""
    bases = [base_of(value) for value in writes(op)]
    returned = {base_of(value) for value in facts.kernel.return_op.values}
    return bool(bases) and all(
        not info_of(base).region.on_chip
        and (base in returned or not isinstance(base.owner, AllocOp))
        for base in bases
    )


def _first_half(stores: Sequence[NisaOp]) -> int:
    """Return the number of leading stores that together write half of the result's bytes."""
    sizes = [sum(info_of(v).size * info_of(v).dtype.bits for v in writes(op)) for op in stores]
    done = 0
    for number, size in enumerate(sizes):
        if done * 2 >= sum(sizes):
            return number
        done += size
    return len(stores)


@dataclass(frozen=True, slots=True)
class _Without:
    """Removes some stores, and all instructions whose results only these stores use."""

    stores: Sequence[Operation]

    def __call__(self, edit: Edit) -> None:
        if not self.stores:
            raise NotPossibleError
        for op in self.stores:
            erase(edit.of(op))
        remove_unused(edit.kernel)
