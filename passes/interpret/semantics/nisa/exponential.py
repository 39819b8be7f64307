"""Semantics of the Vector Engine's exponential."""

from __future__ import annotations

from nkijit.dialects.nisa.exponential import ExponentialOp
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.records import Applied, Chain, Table
from nkijit.passes.interpret.semantics.nisa.accumulators import accumulator_use
from nkijit.passes.interpret.semantics.registry import semantics


@semantics(ExponentialOp)
def exponential(b: Binding) -> Chain:
    stages: list[Applied] = []
    if b.number("max_value") != 0:
        stages.append(Applied("subtract", b.read("max_value")))
    stages.append(Applied("exp", table=Table.activation))
    return Chain(b.read("src"), tuple(stages), b.into(), accumulators=accumulator_use(b))
