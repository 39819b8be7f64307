"""Reorders kernels in which an instruction waits for a later instruction (`after=`).

The later lowering steps assume program order; see `edge_order.py`.
"""

from __future__ import annotations

from xdsl.ir import Operation

from nkijit.dialects.declare.creation import copied
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.analysis.flow.edge_order import blocks_out_of_order, has_edges, put_in_order


def with_edges_in_order(kernel: KernelOp) -> tuple[KernelOp, dict[Operation, Operation]]:
    """Return a kernel in which each instruction follows the predecessors that it names.

    Returns the same kernel if its order is already so. Otherwise, returns a changed copy, and maps
    each operation of the copy to its original. See `put_in_order`.
    """
    if not has_edges(kernel) or next(blocks_out_of_order(kernel), None) is None:
        return kernel, {}
    copy, origins = copied(kernel)
    put_in_order(copy)
    return copy, origins
