"""Microscaling (MX) instructions of NeuronCore-v4: quantize_mx and nc_matmul_mx.

MX data is a tile of x4 elements (four float8 or float4 values each) and a tile of scales. The 32
values of one x4 element in each of 8 partitions share a scale, which is a power of two.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from nkijit.dialects.access import Indirection
from nkijit.dialects.costs.engines import streaming
from nkijit.dialects.costs.pe_array import loading, multiplying
from nkijit.dialects.declare.fields import opt_flag, opt_integers, tile, updated, written
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import PSUM, SBUF, required_tile, tile_of
from nkijit.dialects.declare.rules.operands import dtype_in, in_buffer
from nkijit.dialects.declare.rules.pe_array import (
    LOAD_STATIONARY,
    MULTIPLY_MOVING,
    fits_the_array,
    free_size,
    product_shape,
    tiling_mode,
)
from nkijit.dialects.declare.rules.targets import since
from nkijit.dialects.declare.rules.wording import one_of
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.hardware.targets import PARTITIONS_PER_QUADRANT as QUADRANT
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine, nc_version
from nkijit.dialects.nki.views import index_of, start_partition
from nkijit.dialects.rule_texts.access import MATMUL_INDIRECT
from nkijit.dialects.rule_texts.shapes import MX_SCALE, MX_TILE, QUANTIZE_SHAPE
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of

PACKED = 4
"""Number of values in an x4 element."""
GROUP_PARTITIONS = 8
"""Number of partitions whose x4 elements share a scale."""
QUADRANT_SCALES = QUADRANT // GROUP_PARTITIONS
_SCALE_STARTS = (0, 4, 8, 12)
"""First partitions, within a quadrant, at which the scales of a tile may start."""

ELEMENT_TYPES = {
    "float8_e5m2_x4": "float8_e5m2",
    "float8_e4m3fn_x4": "float8_e4m3fn",
    "float4_e2m1fn_x4": "float4_e2m1fn",
}
"""The data type of the four values in an element, by the x4 type of the element."""
MAX_EXPONENTS = {"float8_e5m2_x4": 15, "float8_e4m3fn_x4": 8}
"""For each result type of quantize_mx, the exponent e of the largest value, 1.75 * 2**e."""
_SCALES = ("float8_e8m0fnu", "uint8")


def scale_rows(partitions: int) -> list[int]:
    """Return the row of the scale tile with the scales of each group of 8 partitions of data."""
    return [
        first + scale
        for first in range(0, partitions, QUADRANT)
        for scale in range(QUADRANT_SCALES)
    ]


def _quadrants(name: str) -> Rule:
    """Return the rule that the tile consists of whole quadrants."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        data = tile_of(op, name)
        if data is None:
            return None
        if data.partitions % QUADRANT or data.partitions > target.pmax:
            return Violation(
                f"'{name}' must have a multiple of {QUADRANT} partitions up to {target.pmax}, it "
                f"has {data.partitions}",
                (name,),
            )
        return None

    return Rule(MX_TILE, check)


def _multiple(name: str, factor: int, unit: str) -> Rule:
    def check(op: NisaOp, target: Target) -> Violation | None:
        data = tile_of(op, name)
        if data is None or data.free_size % factor == 0:
            return None
        return Violation(
            f"'{name}' must have a multiple of {factor} {unit}, it has {data.free_size}", (name,)
        )

    return Rule(MX_TILE, check)


def _scales(name: str, data_name: str) -> Rule:
    """Return the rule that tile `name` has the shape and start partition of scales of x4 data."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        scale, data = required_tile(op, name), required_tile(op, data_name)
        if scale.free_size != data.free_size:
            return Violation(
                f"'{name}' has {scale.free_size} scales per partition, '{data_name}' has "
                f"{data.free_size} x4 elements",
                (name, data_name),
            )
        rows = scale_rows(data.partitions)
        if rows and scale.partitions <= rows[-1]:
            return Violation(
                f"'{name}' must have at least {numbered(rows[-1] + 1, 'partition')} for the "
                f"{data.partitions} of '{data_name}', it has {scale.partitions}",
                (name, data_name),
            )
        if not scale.region.on_chip or not data.region.on_chip:
            return None
        return _scale_place(name, op.required(name), data_name, op.required(data_name))

    return Rule(MX_SCALE, check)


def _scale_place(name: str, scale: SSAValue, data_name: str, data: SSAValue) -> Violation | None:
    start, scale_fixed = start_partition(scale)
    quadrant, within = divmod(start, QUADRANT)
    if within not in _SCALE_STARTS:
        return Violation(
            f"'{name}' starts at partition {within} of a quadrant, it must be "
            f"{one_of(tuple(map(str, _SCALE_STARTS)))}",
            (name,),
        )
    data_start, data_fixed = start_partition(data)
    data_quadrant = data_start // QUADRANT
    # Without a fixed address, a tile at partition 0 of its allocation can be anywhere in SBUF.
    known = (scale_fixed or quadrant) and (data_fixed or data_quadrant)
    if known and quadrant != data_quadrant:
        return Violation(
            f"'{name}' starts in quadrant {quadrant}, '{data_name}' in quadrant {data_quadrant}",
            (name, data_name),
        )
    return None


def _indirect_pairs(op: NisaOp, target: Target) -> Violation | None:
    tiles = {
        f.name: index_of(value)
        for f, value in op.given_operands()
        if info_of(value).indirection is Indirection.tensor
    }
    if tiles and any(op.value_of("tile_position") or ()):
        return Violation("'tile_position' does not go with .indirect()")
    for name in ("stationary", "moving"):
        scale = f"{name}_scale"
        if tiles.get(name) is not tiles.get(scale):
            return Violation(
                f"'{name}' and '{scale}' are not addressed with the same index", (name,)
            )
    return None


@instruction(
    engines=(engine.tensor,),
    since=nc_version.gen4,
    rules=(
        since(nc_version.gen4),
        in_buffer((SBUF,), "stationary", "moving", "stationary_scale", "moving_scale"),
        in_buffer((PSUM,), "dst"),
        dtype_in(tuple(ELEMENT_TYPES), "stationary", "moving"),
        dtype_in(_SCALES, "stationary_scale", "moving_scale"),
        dtype_in(("float32", "bfloat16"), "dst"),
        product_shape(free_size),
        fits_the_array(free_size),
        tiling_mode(lambda op: "nc_matmul_mx"),
        _quadrants("stationary"),
        _quadrants("moving"),
        _multiple("stationary", 2, "columns"),
        _scales("stationary_scale", "stationary"),
        _scales("moving_scale", "moving"),
        Rule(MATMUL_INDIRECT, _indirect_pairs),
    ),
    stages=(
        Stage(LOAD_STATIONARY, ("stationary", "stationary_scale"), loading(free_size)),
        Stage(MULTIPLY_MOVING, ("dst", "moving", "moving_scale"), multiplying(free_size)),
    ),
)
class NcMatmulMxOp(NisaOp):
    """`dst = stationary.T @ moving` of scaled float8 and float4 values."""

    name = "nisa.nc_matmul_mx"

    dst = updated(Indirection.tensor)
    stationary = tile(Indirection.tensor)
    moving = tile(Indirection.tensor)
    stationary_scale = tile(Indirection.tensor, partial=True, inside_quadrants=True)
    moving_scale = tile(Indirection.tensor, partial=True, inside_quadrants=True)
    tile_position = opt_integers(None)
    tile_size = opt_integers(None)
    accumulate = opt_flag()


def _quantized_shape(op: NisaOp, target: Target) -> Violation | None:
    dst, src = required_tile(op, "dst"), required_tile(op, "src")
    expected = (src.partitions, src.free_size // PACKED)
    if (dst.partitions, dst.free_size) == expected:
        return None
    return Violation(
        f"'dst' must be ({expected[0]}, {expected[1]}), it has "
        f"{numbered(dst.partitions, 'partition')} and "
        f"{numbered(dst.free_size, 'element')} per partition",
        ("dst", "src"),
    )


@instruction(
    engines=(engine.vector,),
    since=nc_version.gen4,
    rules=(
        since(nc_version.gen4),
        in_buffer((SBUF,), "dst", "src", "dst_scale"),
        dtype_in(("float16", "bfloat16"), "src"),
        dtype_in(tuple(MAX_EXPONENTS), "dst"),
        dtype_in(_SCALES, "dst_scale"),
        _quadrants("src"),
        _multiple("src", PACKED, "elements per partition"),
        Rule(QUANTIZE_SHAPE, _quantized_shape),
        _scales("dst_scale", "dst"),
    ),
    stages=(Stage("QUANTIZE_MX", ("dst", "src", "dst_scale"), streaming("src", "quantize_rate")),),
)
class QuantizeMxOp(NisaOp):
    """`dst, dst_scale = quantize(src)`: scaled float8 values and their scales."""

    name = "nisa.quantize_mx"

    dst = written()
    src = tile()
    # Partitions between the scales are not written.
    dst_scale = updated(partial=True, inside_quadrants=True)
