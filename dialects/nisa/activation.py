"""Activation instructions of the Scalar Engine: activation, activation_reduce, activate2."""

from __future__ import annotations

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import EngineAttr, ReduceCmdAttr
from nkijit.dialects.costs.engines import ACCUMULATOR_READ, activating
from nkijit.dialects.declare.fields import (
    flag,
    operator,
    opt_operator,
    opt_tile_or_scalar,
    opt_written,
    tile,
    tile_or_scalar,
    word,
    written,
)
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import ON_CHIP
from nkijit.dialects.declare.rules.effects import (
    only_with_command,
    only_with_operator,
    only_with_parameter,
)
from nkijit.dialects.declare.rules.operands import (
    computable,
    dtype_in,
    dtype_not,
    gpsimd_without_psum,
    in_buffer,
    same_dtype,
)
from nkijit.dialects.declare.rules.operators import (
    activation_function,
    alu_operator,
    op1_needs_op0,
    op_pair,
    reduce_cmd_in,
    reduce_cmd_needs_op,
    reduce_op_in,
    reverse_needs_op,
)
from nkijit.dialects.declare.rules.shapes import (
    column_of,
    free_size_match,
    partitions_match,
)
from nkijit.dialects.declare.rules.targets import argument_since, engine_supported, since
from nkijit.dialects.declare.spec import Accumulators, Rule, Stage, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine, nc_version, reduce_cmd
from nkijit.dialects.operators import BYPASS, AluKind
from nkijit.dialects.rule_texts.targets import ENGINE_OPERATOR
from nkijit.dialects.tiles import is_tile

READ_ACCUMULATORS = Stage("READ_ACCUMULATORS", ("reduce_res",), ACCUMULATOR_READ, when="reduce_res")
"""The additional stage that reads the accumulators into `reduce_res`, if present."""


def _has_scalar_bias(op: NisaOp) -> bool:
    bias = op.operand_named("bias")
    return bias is not None and not is_tile(bias)


def _on_gpsimd(op: NisaOp) -> bool:
    return op.value_of("engine") is engine.gpsimd


def _reduces_on_gpsimd(op: NisaOp, target: Target) -> Violation | None:
    if not _on_gpsimd(op):
        return None
    command = op.value_of("reduce_cmd")
    if command is not reduce_cmd.idle:
        what = f"'reduce_cmd' is {command.name}"
    elif op.operand_named("reduce_res") is not None:
        what = "'reduce_res' is given"
    else:
        return None
    return Violation(f"the GpSimd Engine has no accumulators, but {what}")


def _is_biased_reciprocal(op: NisaOp) -> bool:
    return op.value_of("op") == "reciprocal" and op.operand_named("bias") is not None


def _engine_rules(*operands: str) -> tuple[Rule, ...]:
    """Rules of the `engine` argument and of the limits of the GpSimd Engine.

    `operands` are the operands that can be tiles.
    """
    return (
        engine_supported(),
        gpsimd_without_psum(*operands),
        Rule(ENGINE_OPERATOR, _reduces_on_gpsimd),
    )


_ACTIVATION_RULES = (
    activation_function("op"),
    in_buffer(ON_CHIP, "dst", "data", "scale", "bias", "reduce_res"),
    partitions_match("data", "dst"),
    free_size_match("data", "dst"),
    column_of("scale", "data"),
    column_of("bias", "data"),
    column_of("reduce_res", "data"),
    dtype_in(("float32",), "scale"),
    dtype_not(("tfloat32",), "bias"),
    computable("dst", "data", "bias", "reduce_res"),
    argument_since(nc_version.gen3, "a scalar 'bias'", _has_scalar_bias),
    argument_since(
        nc_version.gen3, "'bias' together with op=nl.reciprocal", _is_biased_reciprocal, "bias"
    ),
    reduce_op_in("add"),
)


@instruction(
    engines=(engine.scalar, engine.gpsimd),
    rules=(
        *_ACTIVATION_RULES,
        *_engine_rules("dst", "data", "scale", "bias"),
        argument_since(nc_version.gen4, "'engine' gpsimd", _on_gpsimd),
        reduce_cmd_in(
            reduce_cmd.idle, reduce_cmd.reset, reduce_cmd.reduce, reduce_cmd.reset_reduce
        ),
        reduce_cmd_needs_op(reset=False),
        only_with_command(
            "reduce_op",
            reduce_cmd.reset_reduce,
            reduce_cmd.reduce,
            reported=(reduce_cmd.idle, reduce_cmd.reset),
        ),
    ),
    stages=(
        Stage("ACTIVATE", ("dst", "data", "bias", "scale"), activating("bias", "scale")),
        READ_ACCUMULATORS,
    ),
    accumulators=Accumulators(engine.scalar, operator="add"),
    per_partition=True,
)
class ActivationOp(NisaOp):
    """`dst = op(data * scale + bias)`, optionally reduced over the free dimensions."""

    name = "nisa.activation"

    dst = written(Indirection.tensor)
    op = operator()
    data = tile(Indirection.tensor)
    bias = opt_tile_or_scalar()
    scale = opt_tile_or_scalar(default=1.0)
    reduce_op = opt_operator()
    reduce_res = opt_written()
    reduce_cmd = word(ReduceCmdAttr, reduce_cmd.idle)
    engine = word(EngineAttr, engine.scalar)


@instruction(
    engines=(engine.scalar,),
    rules=_ACTIVATION_RULES,
    stages=(
        Stage("ACTIVATE", ("dst", "data", "bias", "scale"), activating("bias", "scale")),
        READ_ACCUMULATORS,
    ),
    accumulators=Accumulators(engine.scalar, operator="add", command=reduce_cmd.reset_reduce),
    per_partition=True,
)
class ActivationReduceOp(NisaOp):
    """`dst = op(data * scale + bias)`; `reduce_res` is its reduction over the free dimensions."""

    name = "nisa.activation_reduce"

    dst = written(Indirection.tensor)
    op = operator()
    data = tile(Indirection.tensor)
    reduce_op = operator()
    reduce_res = opt_written()
    bias = opt_tile_or_scalar()
    scale = opt_tile_or_scalar(default=1.0)


_PAIRS = (
    ("multiply", "add"),
    ("multiply", "subtract"),
    ("multiply", BYPASS),
    ("add", BYPASS),
    ("subtract", BYPASS),
    (BYPASS, BYPASS),
)


@instruction(
    engines=(engine.scalar, engine.gpsimd),
    since=nc_version.gen4,
    rules=(
        since(nc_version.gen4),
        *_engine_rules("dst", "data", "imm0", "imm1", "relu_param"),
        activation_function("op"),
        in_buffer(ON_CHIP, "dst", "data", "imm0", "imm1", "relu_param", "reduce_res"),
        partitions_match("data", "dst"),
        free_size_match("data", "dst"),
        column_of("imm0", "data"),
        column_of("imm1", "data"),
        column_of("relu_param", "data"),
        column_of("reduce_res", "data"),
        same_dtype("imm0", "imm1"),
        computable("dst", "data", "imm0", "imm1", "relu_param", "reduce_res"),
        alu_operator("op0", "op1", kinds=(AluKind.arithmetic,), bypass=True),
        op1_needs_op0("op1", "op0"),
        op_pair("op0", "op1", _PAIRS),
        reverse_needs_op(("reverse0", "op0"), ("reverse1", "op1")),
        reduce_op_in("add", "maximum", "minimum", "abs_max", "abs_min"),
        reduce_cmd_in(
            reduce_cmd.idle, reduce_cmd.reset, reduce_cmd.reduce, reduce_cmd.reset_reduce
        ),
        reduce_cmd_needs_op(reset=True),
        only_with_operator("imm0", "op0"),
        only_with_operator("imm1", "op1"),
        only_with_parameter("relu_param", "op"),
        only_with_command(
            "reduce_op",
            reduce_cmd.reset_reduce,
            reduce_cmd.reduce,
            reduce_cmd.reset,
            reported=(reduce_cmd.idle,),
        ),
    ),
    stages=(
        Stage(
            "ACTIVATE2",
            ("dst", "data", "imm0", "imm1", "relu_param"),
            activating("imm0", "imm1", "relu_param"),
        ),
        READ_ACCUMULATORS,
    ),
    accumulators=Accumulators(engine.scalar),
    per_partition=True,
)
class Activate2Op(NisaOp):
    """`dst = op((data op0 imm0) op1 imm1)`, optionally reduced over the free dimensions."""

    name = "nisa.activate2"

    dst = written(Indirection.tensor)
    op = operator()
    data = tile(Indirection.tensor)
    imm0 = tile_or_scalar()
    imm1 = tile_or_scalar()
    op0 = operator()
    op1 = operator()
    relu_param = opt_tile_or_scalar(default=0.0)
    reverse0 = flag()
    reverse1 = flag()
    reduce_op = opt_operator()
    reduce_res = opt_written()
    reduce_cmd = word(ReduceCmdAttr, reduce_cmd.idle)
    engine = word(EngineAttr, engine.scalar)
