"""All experiments, in the order of the table of kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.advise.biases import subtracting_biases
from nkijit.passes.advise.cores import two_cores
from nkijit.passes.advise.dmas import merged_dmas
from nkijit.passes.advise.facts import Facts, Renamed
from nkijit.passes.advise.fusion import fused_instructions
from nkijit.passes.advise.interchange import loop_orders
from nkijit.passes.advise.kinds import (
    DMA_TRANSPOSE,
    FUSED,
    LONGER_ROWS,
    LOOP_ORDER,
    MATMUL_BF16,
    MATMUL_FP8,
    MERGED_DMA,
    PARTITION_USE,
    REPEATED_LOAD,
    REPEATED_RESULT,
    SQUARE_ACTIVATION,
    SUBTRACTING_BIAS,
    TENSOR_TRANSPOSE,
    TWO_CORES,
    WIDENED_MATMUL,
    Kind,
)
from nkijit.passes.advise.loads import repeated_loads
from nkijit.passes.advise.partitions import partition_uses
from nkijit.passes.advise.precision import narrower_matmuls
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.advise.results import repeated_results
from nkijit.passes.advise.rows import longer_rows
from nkijit.passes.advise.squares import square_activations
from nkijit.passes.advise.transposes import dma_transposes, tensor_transposes


def proposals_for(kernel: KernelOp, kind: str | None = None) -> Iterator[Proposal]:
    """Yield changes that may make the kernel of one core faster, of all kinds or of one kind."""
    facts = Facts(kernel)

    @cache
    def renamed() -> Renamed:
        return Renamed(kernel)

    experiments: tuple[tuple[tuple[Kind, ...], Callable[[], Iterator[Proposal]]], ...] = (
        ((REPEATED_LOAD,), lambda: repeated_loads(renamed())),
        ((REPEATED_RESULT,), lambda: repeated_results(renamed())),
        ((LOOP_ORDER,), lambda: loop_orders(facts, renamed())),
        ((MERGED_DMA,), lambda: merged_dmas(facts, renamed())),
        ((PARTITION_USE,), lambda: partition_uses(facts, renamed())),
        ((LONGER_ROWS,), lambda: longer_rows(facts, renamed())),
        ((WIDENED_MATMUL, MATMUL_BF16, MATMUL_FP8), lambda: narrower_matmuls(facts)),
        ((FUSED,), lambda: fused_instructions(facts)),
        ((SUBTRACTING_BIAS,), lambda: subtracting_biases(facts)),
        ((SQUARE_ACTIVATION,), lambda: square_activations(facts)),
        ((TENSOR_TRANSPOSE,), lambda: tensor_transposes(facts)),
        ((DMA_TRANSPOSE,), lambda: dma_transposes(facts)),
        ((TWO_CORES,), lambda: two_cores(facts)),
    )
    for kinds, proposals in experiments:
        if kind is None or kind in {each.id for each in kinds}:
            yield from proposals()
