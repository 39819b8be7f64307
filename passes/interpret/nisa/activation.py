"""What the Scalar Engine's activation instructions compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from nkijit.dialects.declare.queries import is_set
from nkijit.dialects.nisa.activation import Activate2Op, ActivationOp, ActivationReduceOp
from nkijit.dialects.operators import OPERATORS
from nkijit.passes.interpret.binding import Binding, Compute, Source, Step, semantics
from nkijit.passes.interpret.functions import ACTIVATION
from nkijit.passes.interpret.nisa.accumulators import accumulate
from nkijit.passes.interpret.nisa.stages import chain, operator_stage


def activation_stage(b: Binding) -> tuple[Compute, list[Source]]:
    """The activation function as the last stage of a chain."""
    name = b.value("op")
    activation = OPERATORS[name].activation
    assert activation is not None
    if not activation.parametric:
        return ACTIVATION[name], []
    # Instructions without `relu_param` run the function with its default, 0.
    has_parameter = "relu_param" in b.op.SPEC.by_name
    parameter = b.read("relu_param") if has_parameter else b.constant(np.float32(0))
    return ACTIVATION[name], [parameter]


def _activation(b: Binding) -> Step:
    stages: list[tuple[Compute, list[Source]]] = []
    if b.number("scale") != 1:
        stages.append(operator_stage("multiply", b.read("scale")))
    if b.has("bias"):
        stages.append(operator_stage("add", b.read("bias")))
    stages.append(activation_stage(b))
    compute, results = chain(b, b.read("data"), stages)
    return accumulate(b, compute, results)


semantics(ActivationOp)(_activation)
semantics(ActivationReduceOp)(_activation)


@semantics(Activate2Op)
def activate2(b: Binding) -> Step:
    stages: list[tuple[Compute, list[Source]]] = []
    for operator, operand, reverse in (("op0", "imm0", "reverse0"), ("op1", "imm1", "reverse1")):
        if is_set(b.op, operator):
            word: Any = b.value(operator)
            stages.append(operator_stage(word, b.read(operand), b.value(reverse)))
    stages.append(activation_stage(b))
    compute, results = chain(b, b.read("data"), stages)
    return accumulate(b, compute, results)
