"""Element-wise instructions, including those that accumulate results along a partition."""

from __future__ import annotations

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import EngineAttr, ReduceCmdAttr
from nkijit.dialects.costs.engines import copying, streaming, two_inputs
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
from nkijit.dialects.declare.queries import ON_CHIP, PSUM, is_bitvec, is_set, tile_of
from nkijit.dialects.declare.rules.effects import (
    only_with,
    only_with_command,
    only_with_two_operands,
)
from nkijit.dialects.declare.rules.operands import (
    bits_held,
    bitvec_on_integers,
    computable,
    dtype_in,
    gpsimd_without_psum,
    in_buffer,
    not_both_in_psum,
)
from nkijit.dialects.declare.rules.operators import (
    alu_operator,
    load_needs_init,
    op_with_operand,
    reduce_cmd_in,
    reduce_init_unset,
    reduce_op_in,
    reduce_res_needs_op,
    reverse_needs_op,
    same_kind,
    unary_operand,
)
from nkijit.dialects.declare.rules.shapes import (
    column_of,
    free_size_match,
    partitions_match,
)
from nkijit.dialects.declare.rules.targets import engine_supported, operators_since
from nkijit.dialects.declare.spec import Accumulators, EngineChoice, Rule, Stage, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine, reduce_cmd
from nkijit.dialects.nisa.activation import READ_ACCUMULATORS
from nkijit.dialects.operators import AluKind
from nkijit.dialects.rule_texts.access import INDIRECT_ADDRESS
from nkijit.dialects.rule_texts.operands import DTYPE
from nkijit.dialects.rule_texts.operators import NOT_REVERSIBLE
from nkijit.dialects.rule_texts.targets import ENGINE_OPERATOR

INT32 = ("int32", "uint32")
"""The integer types that float32 cannot represent in full."""


def native_int32(op: NisaOp) -> bool:
    """True when a tensor_tensor has only int32/uint32 tiles and an arithmetic operator."""
    tiles = [tile_of(op, name) for name in ("dst", "data1", "data2")]
    return not is_bitvec(op, "op") and all(t is not None and t.dtype.name in INT32 for t in tiles)


def _tensor_tensor_engine(op: NisaOp, target: Target) -> engine:
    if op.value_of("op") == "power":
        return engine.gpsimd
    tiles = [tile_of(op, name) for name in ("dst", "data1", "data2")]
    in_psum = any(t is not None and t.region is PSUM for t in tiles)
    return engine.gpsimd if native_int32(op) and not in_psum else engine.vector


def _power_on_gpsimd(op: NisaOp, target: Target) -> Violation | None:
    if op.value_of("op") == "power" and op.value_of("engine") is engine.vector:
        return Violation("nl.power runs on the GpSimd Engine, 'engine' is vector")
    return None


@instruction(
    engines=(engine.vector, engine.gpsimd),
    rules=(
        alu_operator("op"),
        operators_since("op"),
        in_buffer(ON_CHIP, "dst", "data1", "data2"),
        not_both_in_psum("data1", "data2"),
        gpsimd_without_psum("dst", "data1", "data2"),
        partitions_match("data1", "data2", "dst"),
        free_size_match("data1", "data2", "dst"),
        computable("dst", "data1", "data2"),
        bitvec_on_integers(("op",), "data1", "data2", "dst"),
        engine_supported(),
        Rule(ENGINE_OPERATOR, _power_on_gpsimd),
    ),
    stages=(Stage("TENSOR_TENSOR", ("dst", "data1", "data2"), two_inputs("data1", "data2")),),
    select_engine=EngineChoice(
        "gpsimd for nl.power, and for arithmetic on int32/uint32 tiles outside PSUM; else vector",
        _tensor_tensor_engine,
    ),
    per_partition=True,
)
class TensorTensorOp(NisaOp):
    """`dst = data1 op data2`, element by element."""

    name = "nisa.tensor_tensor"

    dst = written(Indirection.tensor)
    data1 = tile(Indirection.tensor)
    data2 = tile()
    op = operator()
    engine = word(EngineAttr, engine.unknown)


def _tensor_scalar_engine(op: NisaOp, target: Target) -> engine:
    return engine.gpsimd if "rsqrt" in (op.value_of("op0"), op.value_of("op1")) else engine.vector


_SCALAR_ENGINE_PAIRS = (("multiply", "add"), ("multiply", None), ("add", None))


def _tensor_scalar_engine_operators(op: NisaOp, target: Target) -> Violation | None:
    chosen, pair = op.value_of("engine"), (op.value_of("op0"), op.value_of("op1"))
    words = " then ".join(f"nl.{word}" for word in pair if word is not None)
    if chosen is engine.scalar and pair not in _SCALAR_ENGINE_PAIRS:
        return Violation(
            "the Scalar Engine runs nl.multiply then nl.add, nl.multiply, or nl.add; "
            f"the operators are {words}"
        )
    if chosen is engine.gpsimd and "rsqrt" not in pair:
        return Violation(f"the GpSimd Engine runs nl.rsqrt only; the operators are {words}")
    if chosen is engine.vector and "rsqrt" in pair:
        return Violation("nl.rsqrt runs on the GpSimd Engine, 'engine' is vector")
    return None


def _float32_operands(op: NisaOp, target: Target) -> Violation | None:
    for operator_name, name in (("op0", "operand0"), ("op1", "operand1")):
        operand = tile_of(op, name)
        if operand is None or is_bitvec(op, operator_name) or operand.dtype.name == "float32":
            continue
        return Violation(
            f"with an arithmetic operator '{name}' must be float32, it is {operand.dtype.name}",
            (name,),
        )
    return None


_ADDRESS_DTYPES = ("int32", "uint32")
_ADDRESS_OPERATORS = ("add", "subtract", "multiply")


def _no_address_arithmetic(op: NisaOp, target: Target) -> Violation | None:
    # The reference names the pattern without its operators; these are the ones used for addresses.
    tiles = [tile for name in ("dst", "data") if (tile := tile_of(op, name)) is not None]
    operators = [op.value_of(name) for name in ("op0", "op1") if is_set(op, name)]
    if all(tile.indirection is not Indirection.tensor for tile in tiles):
        return None
    if any(tile.dtype.name not in _ADDRESS_DTYPES for tile in tiles):
        return None
    if not operators or any(word not in _ADDRESS_OPERATORS for word in operators):
        return None
    words = " and ".join(f"nl.{word}" for word in operators)
    return Violation(f"{words} of 32-bit integers with .indirect() is address arithmetic")


@instruction(
    engines=(engine.vector, engine.scalar, engine.gpsimd),
    rules=(
        alu_operator("op0", "op1", arities=(1, 2)),
        operators_since("op0", "op1"),
        same_kind("op0", "op1"),
        op_with_operand("op0", "operand0"),
        op_with_operand("op1", "operand1"),
        unary_operand(("op0", "operand0"), ("op1", "operand1")),
        reverse_needs_op(("reverse0", "op0"), ("reverse1", "op1")),
        only_with_two_operands("reverse0", "op0"),
        only_with_two_operands("reverse1", "op1"),
        in_buffer(ON_CHIP, "dst", "data", "operand0", "operand1"),
        gpsimd_without_psum("dst", "data", "operand0", "operand1"),
        partitions_match("data", "dst"),
        free_size_match("data", "dst"),
        column_of("operand0", "data"),
        column_of("operand1", "data"),
        computable("dst", "data", "operand0", "operand1"),
        Rule(DTYPE, _float32_operands),
        bitvec_on_integers(("op0", "op1"), "data", "operand0", "operand1", "dst"),
        bits_held((("op0", "operand0"), ("op1", "operand1")), "data"),
        engine_supported(),
        Rule(ENGINE_OPERATOR, _tensor_scalar_engine_operators),
        Rule(INDIRECT_ADDRESS, _no_address_arithmetic),
    ),
    stages=(
        Stage(
            "TENSOR_SCALAR",
            ("dst", "data", "operand0", "operand1"),
            copying("data", "operand0", "operand1"),
        ),
    ),
    select_engine=EngineChoice("gpsimd for nl.rsqrt, else vector", _tensor_scalar_engine),
    per_partition=True,
)
class TensorScalarOp(NisaOp):
    """`dst = (data op0 operand0) op1 operand1`, operands broadcast along the free dimensions."""

    name = "nisa.tensor_scalar"

    dst = written(Indirection.tensor)
    data = tile(Indirection.tensor)
    op0 = operator()
    operand0 = opt_tile_or_scalar()
    reverse0 = flag()
    op1 = opt_operator()
    operand1 = opt_tile_or_scalar()
    reverse1 = flag()
    engine = word(EngineAttr, engine.unknown)


@instruction(
    engines=(engine.vector,),
    rules=(
        alu_operator("op0", "op1", kinds=(AluKind.arithmetic,)),
        operators_since("op0", "op1"),
        in_buffer(ON_CHIP, "dst", "data", "operand0", "operand1", "reduce_res"),
        not_both_in_psum("data", "operand1"),
        partitions_match("data", "operand1", "dst"),
        free_size_match("data", "operand1", "dst"),
        column_of("operand0", "data"),
        column_of("reduce_res", "data"),
        computable("dst", "data", "operand0", "operand1", "reduce_res"),
        reduce_op_in("add", "multiply", "maximum", "minimum"),
        reduce_cmd_in(reduce_cmd.idle, reduce_cmd.reset_reduce, reduce_cmd.reduce),
        reduce_res_needs_op(),
        only_with_command(
            "reduce_op", reduce_cmd.reset_reduce, reduce_cmd.reduce, reported=(reduce_cmd.idle,)
        ),
    ),
    stages=(
        Stage(
            "SCALAR_TENSOR_TENSOR",
            ("dst", "data", "operand0", "operand1"),
            two_inputs("data", "operand1", "scalar_tensor_tensor_rate"),
        ),
        READ_ACCUMULATORS,
    ),
    accumulators=Accumulators(engine.vector, optional=True),
    per_partition=True,
)
class ScalarTensorTensorOp(NisaOp):
    """`dst = (data op0 operand0) op1 operand1`; operand0 is broadcast, operand1 is a tile."""

    name = "nisa.scalar_tensor_tensor"

    dst = written()
    data = tile()
    op0 = operator()
    operand0 = tile_or_scalar()
    op1 = operator()
    operand1 = tile()
    reverse0 = flag()
    reverse1 = flag()
    reduce_cmd = word(ReduceCmdAttr, reduce_cmd.reset_reduce)
    reduce_op = opt_operator()
    reduce_res = opt_written()


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "dst", "data"),
        partitions_match("data", "dst"),
        free_size_match("data", "dst"),
        computable("dst", "data"),
    ),
    stages=(
        Stage("RECIPROCAL", ("dst", "data"), streaming("data", "reciprocal_cycles_per_element")),
    ),
    per_partition=True,
)
class ReciprocalOp(NisaOp):
    """`dst = 1 / data`, element by element."""

    name = "nisa.reciprocal"

    dst = written()
    data = tile()


_COMMANDS = (reduce_cmd.reset_reduce, reduce_cmd.reduce, reduce_cmd.load_reduce)


def _not_reversed(op: NisaOp, target: Target) -> Violation | None:
    return Violation("'reverse0' is True") if op.value_of("reverse0") else None


@instruction(
    engines=(engine.vector,),
    rules=(
        alu_operator("op0", kinds=(AluKind.arithmetic,), arities=(1, 2)),
        operators_since("op0"),
        op_with_operand("op0", "operand0"),
        unary_operand(("op0", "operand0")),
        Rule(NOT_REVERSIBLE, _not_reversed),
        in_buffer(ON_CHIP, "dst", "data", "operand0", "reduce_res", "reduce_init"),
        partitions_match("data", "dst"),
        free_size_match("data", "dst"),
        column_of("operand0", "data"),
        column_of("reduce_res", "data"),
        column_of("reduce_init", "data"),
        computable("dst", "data", "reduce_res"),
        dtype_in(("float32",), "operand0", "reduce_init"),
        reduce_op_in("add", "multiply", "maximum", "minimum"),
        reduce_cmd_in(*_COMMANDS),
        reduce_init_unset(),
        load_needs_init("reduce_init"),
        only_with("reduce_res_negate", "reduce_res"),
    ),
    stages=(
        Stage(
            "TENSOR_SCALAR_REDUCE", ("dst", "data", "operand0", "reduce_init"), streaming("data")
        ),
        READ_ACCUMULATORS,
    ),
    accumulators=Accumulators(engine.vector),
    per_partition=True,
)
class TensorScalarReduceOp(NisaOp):
    """`dst = data op0 operand0`; `reduce_res` is its reduction over the free dimensions."""

    name = "nisa.tensor_scalar_reduce"

    dst = written(Indirection.tensor)
    data = tile(Indirection.tensor)
    op0 = operator()
    operand0 = opt_tile_or_scalar()
    reduce_op = operator()
    reduce_res = opt_written()
    reverse0 = flag()
    reduce_cmd = word(ReduceCmdAttr, reduce_cmd.reset_reduce)
    reduce_init = opt_tile_or_scalar()
    reduce_res_negate = flag()


_CUMULATIVE_DTYPES = (
    "bfloat16",
    "float16",
    "float32",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e5m2",
    "uint8",
    "uint16",
    "int8",
    "int16",
)


@instruction(
    engines=(engine.vector,),
    rules=(
        alu_operator("op0", kinds=(AluKind.arithmetic,), arities=(1, 2)),
        operators_since("op0"),
        unary_operand(("op0", "imm0")),
        reduce_op_in("add", "subtract", "multiply", "maximum", "minimum", name="op1"),
        in_buffer(ON_CHIP, "dst", "src", "imm0", "imm1"),
        partitions_match("src", "dst"),
        free_size_match("src", "dst"),
        column_of("imm0", "src"),
        column_of("imm1", "src"),
        dtype_in(_CUMULATIVE_DTYPES, "dst", "src"),
        dtype_in(("float32",), "imm0", "imm1"),
        reduce_cmd_in(*_COMMANDS),
        load_needs_init("imm1"),
        # A loop may pass the initial value in each iteration, although only the first loads it.
        only_with_command("imm1", reduce_cmd.load_reduce, reported=(reduce_cmd.reset_reduce,)),
    ),
    stages=(Stage("TENSOR_SCALAR_CUMULATIVE", ("dst", "src", "imm0", "imm1"), streaming("src")),),
    accumulators=Accumulators(engine.vector, operator_field="op1", initial_field="imm1"),
    per_partition=True,
)
class TensorScalarCumulativeOp(NisaOp):
    """`dst[i] = (src[i] op0 imm0) op1 accumulator`; each result is the next accumulator."""

    name = "nisa.tensor_scalar_cumulative"

    dst = written(Indirection.tensor)
    src = tile(Indirection.tensor)
    op0 = operator()
    op1 = operator()
    imm0 = tile_or_scalar()
    imm1 = opt_tile_or_scalar()
    reduce_cmd = word(ReduceCmdAttr, reduce_cmd.reset_reduce)
