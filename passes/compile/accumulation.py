"""`resolve-accumulation`: matmuls say whether they add, where that followed from their place.

A matmul without `accumulate=` adds where a matmul has written before. Other tiles and another order
would change that, so it gets the value that it has where the author put it.
"""

from __future__ import annotations

from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.declare.properties import FlagKind
from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.analysis.matmul_writes import MatmulWrites, UndecidedError


def resolve_accumulation(kernel: KernelOp) -> int:
    """Set `accumulate` where it is not given and the same for all of a tile.

    Returns of how many matmuls.
    """
    writes, resolved = MatmulWrites(), 0
    for op in kernel.operations:
        if not is_instruction(op):
            continue
        if not op.declares("accumulate"):
            if op.SPEC.transposes and engine_of(op, kernel.target) is engine.tensor:
                writes.mark(op.required("dst"))
            continue
        try:
            added = writes.added(op, kernel.target)
        except UndecidedError:
            continue
        if isinstance(added, bool) and op.value_of("accumulate") is None:
            op.properties["accumulate"] = FlagKind().encode(added)
            resolved += 1
    return resolved
