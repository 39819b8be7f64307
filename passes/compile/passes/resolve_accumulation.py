"""`resolve-accumulation`: sets `accumulate` on matmuls whose program position decides it.

A matmul without `accumulate=` adds where a matmul has written before. Other passes could change
that by changing tiles or the order, so this pass writes down the value of the author's order.
"""

from __future__ import annotations

from nkijit.dialects.declare.properties import FlagKind
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.analysis.flow.matmul_writes import where_matmuls_add


def resolve_accumulation(kernel: KernelOp) -> int:
    """Set `accumulate` where it is omitted and has the same value for all elements.

    Returns the number of changed matmuls.
    """
    resolved = 0
    for op, added in where_matmuls_add(kernel):
        if isinstance(added, bool) and op.value_of("accumulate") is None:
            op.properties["accumulate"] = FlagKind().encode(added)
            resolved += 1
    return resolved
