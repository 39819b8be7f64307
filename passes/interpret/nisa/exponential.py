"""What the Vector Engine's exponential computes."""

from __future__ import annotations

from nkijit.dialects.nisa.exponential import ExponentialOp
from nkijit.passes.interpret.binding import Binding, Step, semantics
from nkijit.passes.interpret.functions import ACTIVATION
from nkijit.passes.interpret.nisa.accumulators import accumulate
from nkijit.passes.interpret.nisa.stages import Stage, chain, operator_stage


@semantics(ExponentialOp)
def exponential(b: Binding) -> Step:
    stages: list[Stage] = []
    if b.number("max_value") != 0:
        stages.append(operator_stage("subtract", b.read("max_value")))
    stages.append((ACTIVATION["exp"], []))
    compute, results = chain(b, b.read("src"), stages)
    return accumulate(b, compute, results)
