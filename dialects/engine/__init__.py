"""The `engine` dialect: a kernel as queues of engine instructions."""

from __future__ import annotations

from xdsl.ir import Dialect

from nkijit.dialects.engine.attributes import EdgeAttr, QueueAttr, WaitAttr
from nkijit.dialects.engine.ops import (
    IssueOp,
    LoadTableOp,
    LoopOp,
    QueueOp,
    StageOp,
    TestOp,
    TriggerOp,
    WhileOp,
)
from nkijit.dialects.engine.program import ProgramOp

Engine = Dialect(
    "engine",
    [ProgramOp, QueueOp, IssueOp, StageOp, TriggerOp, LoadTableOp, TestOp, LoopOp, WhileOp],
    [QueueAttr, WaitAttr, EdgeAttr],
)
