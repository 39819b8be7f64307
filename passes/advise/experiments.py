"""All experiments, in the order of the table of kinds."""

from __future__ import annotations

from collections.abc import Iterator

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.advise.biases import subtracting_biases
from nkijit.passes.advise.cores import two_cores
from nkijit.passes.advise.dmas import merged_dmas
from nkijit.passes.advise.facts import Facts, Renamed
from nkijit.passes.advise.fusion import fused_instructions
from nkijit.passes.advise.interchange import loop_orders
from nkijit.passes.advise.loads import repeated_loads
from nkijit.passes.advise.partitions import partition_uses
from nkijit.passes.advise.precision import narrower_matmuls
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.advise.rows import longer_rows
from nkijit.passes.advise.squares import square_activations
from nkijit.passes.advise.transposes import dma_transposes, tensor_transposes


def proposals_for(kernel: KernelOp) -> Iterator[Proposal]:
    """Yield changes that may make the kernel of one core faster."""
    facts, renamed = Facts(kernel), Renamed(kernel)
    yield from repeated_loads(renamed)
    yield from loop_orders(facts, renamed)
    yield from merged_dmas(facts, renamed)
    yield from partition_uses(facts, renamed)
    yield from longer_rows(facts, renamed)
    yield from narrower_matmuls(facts)
    yield from fused_instructions(facts)
    yield from subtracting_biases(facts)
    yield from square_activations(facts)
    yield from tensor_transposes(facts)
    yield from dma_transposes(facts)
    yield from two_cores(facts)
