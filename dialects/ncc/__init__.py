"""The `ncc` dialect: one op per function of `nki.collectives`, with the same name and arguments.

Ranks run the same kernel, each with its own memory. A collective moves data between the ranks of a
group.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from nkijit.dialects.declare.instruction import declared_in
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.ncc import collectives
from nkijit.dialects.ncc.collectives import (
    AllGatherVPrepareOp,
    AllGatherVTriggerOp,
    AllToAllVPrepareOp,
    AllToAllVTriggerOp,
)
from nkijit.dialects.nisa.cores import CoreBarrierOp, SendrecvOp

COLLECTIVES: tuple[type[NisaOp], ...] = declared_in(collectives)
"""Every collective, in the order of the public API reference."""

TRIGGER_OF: dict[type[NisaOp], type[NisaOp]] = {
    AllGatherVPrepareOp: AllGatherVTriggerOp,
    AllToAllVPrepareOp: AllToAllVTriggerOp,
}
"""The trigger instruction of each collective in two parts, by its prepare instruction."""

MEETINGS: tuple[type[NisaOp], ...] = (
    CoreBarrierOp,
    *(
        op
        for op in COLLECTIVES
        if op not in TRIGGER_OF and any(f.accepts_tile for f in op.SPEC.operand_fields)
    ),
)
"""Instructions at which cores wait for each other: `core_barrier` and the collectives.

After such an instruction, each core sees the other cores' earlier writes to the operands.
Collectives without tiles, which return the number of a rank, and instructions that prepare a
collective are not included.
"""

WAITING: tuple[type[NisaOp], ...] = (*MEETINGS, SendrecvOp)
"""Instructions that wait for another core or rank."""

Ncc = Dialect("ncc", list(COLLECTIVES), [])
