"""Random numbers: rng, rand2, dropout, set_rng_seed, rand_set_state, rand_get_state."""

from __future__ import annotations

import math

from nkijit.dialects.attributes import EngineAttr, to_float32
from nkijit.dialects.costs.engines import streaming
from nkijit.dialects.declare.fields import tile, tile_or_scalar, word, written
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import (
    ON_CHIP,
    SBUF,
    engine_of,
    number_of,
    required_tile,
    tile_of,
)
from nkijit.dialects.declare.rules.operands import (
    dtype_in,
    gpsimd_without_psum,
    in_buffer,
    same_dtype,
)
from nkijit.dialects.declare.rules.shapes import (
    at_most_dims,
    column_of,
    free_size_match,
    partitions_match,
)
from nkijit.dialects.declare.rules.targets import argument_since, engine_supported, since
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine, nc_version
from nkijit.dialects.rule_texts.cores import PROBABILITY, RANDOM_RANGE
from nkijit.dialects.rule_texts.operands import DTYPE
from nkijit.dialects.rule_texts.shapes import FREE_SIZE_RANGE, SEED_SHAPE
from nkijit.dialects.spelling import numbered

_INTEGERS = ("int8", "int16", "int32", "uint8", "uint16", "uint32")

STATE_WORDS = 6
"""Number of 32-bit words of a XORWOW generator's state: x, y, z, w, v and the Weyl counter d."""
GENERATORS = {engine.gpsimd: 1, engine.vector: 4}
"""Number of generators per lane, by engine."""


def _on_gpsimd(op: NisaOp) -> bool:
    return op.value_of("engine") is engine.gpsimd


def _on_vector(op: NisaOp) -> bool:
    return op.value_of("engine") is engine.vector


@instruction(
    engines=(engine.vector, engine.gpsimd),
    rules=(
        in_buffer(ON_CHIP, "dst"),
        dtype_in(_INTEGERS, "dst"),
        engine_supported(),
        gpsimd_without_psum("dst"),
        argument_since(nc_version.gen3, "rng on the GpSimd Engine", _on_gpsimd),
    ),
    stages=(Stage("RNG", ("dst",), streaming("dst")),),
)
class RngOp(NisaOp):
    """`dst` = random bits: each element takes the low bits of a 32-bit number."""

    name = "nisa.rng"

    dst = written()
    engine = word(EngineAttr, engine.vector)


def _random_range(op: NisaOp, target: Target) -> Violation | None:
    low, high = (number_of(op.operand_named(name)) for name in ("min", "max"))
    if low is None or high is None:
        return None
    if low < high and math.isfinite(to_float32(high - low)):
        return None
    return Violation(f"'min' is {low:g}, 'max' is {high:g}")


@instruction(
    engines=(engine.vector,),
    since=nc_version.gen4,
    rules=(
        since(nc_version.gen4),
        in_buffer(ON_CHIP, "dst", "min", "max"),
        dtype_in(
            (
                "float8_e4m3",
                "float8_e5m2",
                "float16",
                "bfloat16",
                "float32",
                "tfloat32",
                *_INTEGERS,
            ),
            "dst",
        ),
        dtype_in(("float32",), "min", "max"),
        column_of("min", "dst"),
        column_of("max", "dst"),
        Rule(RANDOM_RANGE, _random_range),
    ),
    stages=(Stage("RAND2", ("dst", "min", "max"), streaming("dst", "rand2_rate")),),
)
class Rand2Op(NisaOp):
    """`dst` = uniform random float32 numbers from `min` to `max`."""

    name = "nisa.rand2"

    dst = written()
    min = tile_or_scalar()
    max = tile_or_scalar()


def _probability(op: NisaOp, target: Target) -> Violation | None:
    number = number_of(op.operand_named("prob"))
    if number is None or 0 <= number <= 1:
        return None
    return Violation(f"'prob' must be 0 to 1, it is {number:g}")


def _probability_dtype(op: NisaOp, target: Target) -> Violation | None:
    prob, data = tile_of(op, "prob"), required_tile(op, "data")
    if prob is None:
        return None
    if prob.dtype.kind is not Kind.float:
        return Violation(
            f"'prob' must be of a floating-point type, it is {prob.dtype.name}", ("prob",)
        )
    if data.dtype.is_integer and prob.dtype.name != "float32":
        return Violation(
            f"for {data.dtype.name} data 'prob' must be float32, it is {prob.dtype.name}",
            ("prob", "data"),
        )
    return None


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "dst", "data", "prob"),
        partitions_match("data", "dst"),
        free_size_match("data", "dst"),
        same_dtype("data", "dst"),
        column_of("prob", "data"),
        Rule(DTYPE, _probability_dtype),
        Rule(PROBABILITY, _probability),
    ),
    stages=(Stage("DROPOUT", ("dst", "data", "prob"), streaming("data")),),
)
class DropoutOp(NisaOp):
    """`dst` = `data`, with zeros at random positions."""

    name = "nisa.dropout"

    dst = written()
    data = tile()
    prob = tile_or_scalar()


def _seed_shape(op: NisaOp, target: Target) -> Violation | None:
    seeds = required_tile(op, "src_seeds")
    if seeds.size == 1:
        return None
    shape = "x".join(map(str, seeds.shape))
    return Violation(f"'src_seeds' must be 1x1, it is {shape}", ("src_seeds",))


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "src_seeds"),
        dtype_in(("int32", "uint32", "float32"), "src_seeds"),
        Rule(SEED_SHAPE, _seed_shape),
    ),
    stages=(Stage("SET_RNG_SEED", ("src_seeds",), streaming("src_seeds")),),
)
class SetRngSeedOp(NisaOp):
    """Seed the generators of the Vector Engine, in all lanes."""

    name = "nisa.set_rng_seed"

    src_seeds = tile()


def _state_size(name: str) -> Rule:
    def check(op: NisaOp, target: Target) -> Violation | None:
        state, runs_on = tile_of(op, name), engine_of(op, target)
        words = STATE_WORDS * GENERATORS[runs_on]
        if state is None or state.free_size == words:
            return None
        return Violation(
            f"with engine.{runs_on.name} the state of a lane has {words} words, '{name}' has "
            f"{numbered(state.free_size, 'element')} per partition",
            (name,),
            help=f"use a tile with {numbered(words, 'element')} per partition, or name the other "
            "engine",
        )

    return Rule(FREE_SIZE_RANGE, check)


_STATE_ENGINES = (
    since(nc_version.gen3),
    engine_supported(),
    argument_since(nc_version.gen4, "the state of the Vector Engine", _on_vector),
)


@instruction(
    engines=(engine.gpsimd, engine.vector),
    since=nc_version.gen3,
    rules=(
        *_STATE_ENGINES,
        in_buffer((SBUF,), "src_seeds"),
        dtype_in(("uint32",), "src_seeds"),
        at_most_dims(2, "src_seeds"),
        _state_size("src_seeds"),
    ),
    stages=(Stage("RAND_SET_STATE", ("src_seeds",), streaming("src_seeds")),),
)
class RandSetStateOp(NisaOp):
    """Set the generators of an engine's lanes, one lane per partition of `src_seeds`."""

    name = "nisa.rand_set_state"

    src_seeds = tile()
    engine = word(EngineAttr, engine.gpsimd)


@instruction(
    engines=(engine.gpsimd, engine.vector),
    since=nc_version.gen3,
    rules=(
        *_STATE_ENGINES,
        in_buffer(ON_CHIP, "dst"),
        gpsimd_without_psum("dst"),
        dtype_in(("uint32",), "dst"),
        at_most_dims(2, "dst"),
        _state_size("dst"),
    ),
    stages=(Stage("RAND_GET_STATE", ("dst",), streaming("dst")),),
)
class RandGetStateOp(NisaOp):
    """`dst` = the state of the generators of an engine's lanes, one lane per partition."""

    name = "nisa.rand_get_state"

    dst = written()
    engine = word(EngineAttr, engine.gpsimd)


GENERATING: tuple[type[NisaOp], ...] = (
    RngOp,
    Rand2Op,
    DropoutOp,
    SetRngSeedOp,
    RandSetStateOp,
    RandGetStateOp,
)
"""Instructions that use, read or set the random number generators of an engine."""
