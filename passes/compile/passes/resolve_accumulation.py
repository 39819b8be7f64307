"""`resolve-accumulation`: matmuls say whether they add, where that followed from their place.

A matmul without `accumulate=` adds where a matmul has written before. Other tiles and another order
would change that, so it gets the value that it has where the author put it.
"""

from __future__ import annotations

from nkijit.dialects.declare.properties import FlagKind
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.analysis.flow.matmul_writes import where_matmuls_add
from nkijit.passes.compile.analyses.cache import Analyses


def resolve_accumulation(kernel: KernelOp, analyses: Analyses | None = None) -> int:
    """Set `accumulate` where it is not given and the same for all of a tile.

    `analyses`: what is known of the kernel. Returns of how many matmuls.
    """
    resolved = 0
    for op, added in where_matmuls_add(kernel, (analyses or Analyses(kernel)).operations):
        if isinstance(added, bool) and op.value_of("accumulate") is None:
            op.properties["accumulate"] = FlagKind().encode(added)
            resolved += 1
    return resolved
