"""The kernel with the author's edges to instructions further down in the order of the program.

Everything after this works in program order: see `arrangement`.
"""

from __future__ import annotations

from xdsl.ir import Operation

from nkijit.dialects.declare.creation import copied
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.analysis.flow.edge_order import blocks_out_of_order, has_edges, put_in_order


def with_edges_in_order(kernel: KernelOp) -> tuple[KernelOp, dict[Operation, Operation]]:
    """The kernel with every instruction after those that the author wants to run before it.

    The kernel itself where that is so already, else a changed copy, together with the operation
    that each one of it is a copy of. See `put_in_order`.
    """
    if not has_edges(kernel) or next(blocks_out_of_order(kernel), None) is None:
        return kernel, {}
    copy, origins = copied(kernel)
    put_in_order(copy)
    return copy, origins
