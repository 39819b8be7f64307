"""What the Scalar Engine's activation instructions compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from nkijit.dialects.constraints import is_set
from nkijit.dialects.hardware import reduce_cmd
from nkijit.dialects.nisa.activation import Activate2Op, ActivationOp, ActivationReduceOp
from nkijit.dialects.operators import OPERATORS
from nkijit.passes.accumulators import (
    accumulator_command,
    accumulator_lanes,
    accumulator_operator,
)
from nkijit.passes.interpret.binding import Binding, Compute, Env, Source, Step, semantics
from nkijit.passes.interpret.functions import (
    ACTIVATION,
    IDENTITY,
    fold,
)
from nkijit.passes.interpret.stages import chain, operator_stage


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


def accumulate(b: Binding, compute: Step, results: int) -> Step:
    """`compute`, then what `reduce_cmd` and `reduce_res` say about the accumulators.

    The accumulators take the float32 results in slot `results`, before the rounding to dst.
    """
    command, operator = accumulator_command(b.op), accumulator_operator(b.op)
    if command is reduce_cmd.idle and not b.has("reduce_res"):
        return compute
    registers, lanes = b.accumulators(), accumulator_lanes(b.op)
    steps: list[Step] = [compute]
    if command is reduce_cmd.load_reduce:
        initial = b.read("reduce_init")

        def load(env: Env) -> None:
            env[registers][lanes] = initial.read(env)

        steps.insert(0, load)  # what it reads may be a part of dst
    elif command in (reduce_cmd.reset, reduce_cmd.reset_reduce):
        assert operator is not None
        identity = IDENTITY[operator]

        def reset(env: Env) -> None:
            env[registers][lanes] = identity

        steps.append(reset)
    if command.reduces:
        assert operator is not None

        def reduce(env: Env) -> None:
            env[registers][lanes] = fold(operator, env[registers][lanes], env[results])

        steps.append(reduce)
    if b.has("reduce_res"):
        steps.append(_read_out(b, registers, lanes))

    def step(env: Env) -> None:
        for part in steps:
            part(env)

    return step


def _read_out(b: Binding, registers: int, lanes: slice) -> Step:
    shape = (b.tile("reduce_res").partitions, 1)
    column = b.scratch(shape)
    store = b.store(column, shape, "reduce_res")

    def step(env: Env) -> None:
        env[column][:] = env[registers][lanes]
        store(env)

    return step


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
