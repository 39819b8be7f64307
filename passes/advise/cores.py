"""`two-cores`: estimate the time of a kernel if each of two cores computed half of the results."""

from __future__ import annotations

from collections.abc import Iterator

from nkijit.dialects.core_program import MAX_CORES
from nkijit.dialects.hardware.words import nc_version
from nkijit.dialects.spelling import counted
from nkijit.passes.advise.facts import Facts
from nkijit.passes.advise.kinds import TWO_CORES
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.advise.stores import Without, first_part, result_stores


def two_cores(facts: Facts) -> Iterator[Proposal]:
    """Propose two cores for a single-core kernel that writes its results in several stores."""
    kernel = facts.kernel
    if kernel.core[1] > 1 or facts.target.version < nc_version.gen3:
        return
    stores = result_stores(facts)
    if len(stores) < MAX_CORES:
        return
    half = first_part(stores, 0.5)
    yield Proposal(
        TWO_CORES,
        "two-cores",
        0,
        stores[0].location,
        f"launch on two cores, of which each does half of the {counted(len(stores), 'store')}",
        ("the time of one core for the first half of them; starting two cores takes longer",),
        facts.instructions,
        Without(stores[half:]),
    )
