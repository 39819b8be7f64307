"""`resolve-accumulation`: sets `accumulate` on matmuls that add depending on earlier writes.

A matmul without `accumulate=` adds where a matmul has written before. Passes that change tiles or
the order could change this, so the argument is set first.
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
