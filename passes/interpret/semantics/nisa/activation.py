"""Semantics of the Scalar Engine's activation instructions."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.declare.queries import is_set
from nkijit.dialects.nisa.activation import Activate2Op, ActivationOp, ActivationReduceOp
from nkijit.dialects.operators import OPERATORS
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.records import Applied, Chain, Table
from nkijit.passes.interpret.semantics.nisa.accumulators import accumulator_use
from nkijit.passes.interpret.semantics.nisa.chains import applied
from nkijit.passes.interpret.semantics.registry import semantics


def activation_stage(b: Binding) -> Applied:
    """Return the activation function as the last stage of a chain."""
    name = b.value("op")
    activation = OPERATORS[name].activation
    assert activation is not None
    parameter = None
    if activation.parametric:
        # Instructions without `relu_param` use the function's default parameter, 0.
        has_parameter = b.op.declares("relu_param")
        parameter = b.read("relu_param") if has_parameter else b.constant(np.float32(0))
    return Applied(name, parameter, table=Table.activation)


@semantics(ActivationOp, ActivationReduceOp)
def activation(b: Binding) -> Chain:
    stages: list[Applied] = []
    if b.number("scale") != 1:
        stages.append(Applied("multiply", b.read("scale")))
    if b.has("bias"):
        stages.append(Applied("add", b.read("bias")))
    stages.append(activation_stage(b))
    return Chain(b.read("data"), tuple(stages), b.into(), accumulators=accumulator_use(b))


@semantics(Activate2Op)
def activate2(b: Binding) -> Chain:
    stages = [
        applied(b.value(operator), b.read(operand), b.value(reverse))
        for operator, operand, reverse in (("op0", "imm0", "reverse0"), ("op1", "imm1", "reverse1"))
        if is_set(b.op, operator)
    ]
    stages.append(activation_stage(b))
    return Chain(b.read("data"), tuple(stages), b.into(), accumulators=accumulator_use(b))
