"""Tensor Engine instructions: nc_matmul and nc_transpose."""

from __future__ import annotations

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import EngineAttr, MatmulPerfModeAttr
from nkijit.dialects.costs.pe_array import TRANSPOSE, loading, multiplying
from nkijit.dialects.declare.fields import (
    flag,
    opt_flag,
    opt_integers,
    tile,
    updated,
    word,
    written,
)
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import (
    ON_CHIP,
    PSUM,
    SBUF,
    engine_of,
    is_transpose,
    passes_bits_through,
    required_tile,
    tile_of,
)
from nkijit.dialects.declare.rules.operands import dtype_in, in_buffer, same_dtype
from nkijit.dialects.declare.rules.pe_array import (
    LOAD_STATIONARY,
    MULTIPLY_MOVING,
    fits_the_array,
    product_shape,
    tiling_mode,
)
from nkijit.dialects.declare.rules.shape_helps import variable
from nkijit.dialects.declare.rules.targets import argument_since, engine_supported
from nkijit.dialects.declare.spec import EngineChoice, Rule, Stage, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine, matmul_perf_mode, nc_version
from nkijit.dialects.nisa.universal_rules import inside_a_bank
from nkijit.dialects.rule_texts.access import MATMUL_INDIRECT
from nkijit.dialects.rule_texts.operands import BUFFER, MATMUL_DTYPE
from nkijit.dialects.rule_texts.shapes import MATMUL_MODE, MATMUL_SHAPE, TRANSPOSE_SHAPE
from nkijit.dialects.tiles import TileInfo

DOUBLE_ROW = 2
"""Number of rows that double_row packs into a PE row (size of the first free dimension)."""

_FP8FN = "float8_e4m3fn"
_FP8FN_SINCE = nc_version.gen4
_FP8 = ("float8_e4m3", "float8_e5m2", _FP8FN)
_WIDE = ("float32", "tfloat32")
_INPUTS = (*_FP8, "bfloat16", "float16", *_WIDE)


def input_dtypes(target: Target) -> tuple[str, ...]:
    """The legal data types of a matmul's inputs."""
    return tuple(name for name in _INPUTS if name != _FP8FN or target.version >= _FP8FN_SINCE)


def _double_row(op: NisaOp) -> bool:
    return op.value_of("perf_mode") is matmul_perf_mode.double_row


def _columns(op: NisaOp, tile: TileInfo) -> int:
    """Return the columns of an input: its free size without the packed rows of double_row."""
    return tile.free_size // DOUBLE_ROW if _double_row(op) else tile.free_size


def _double_row_shape(op: NisaOp, target: Target) -> Violation | None:
    if not _double_row(op):
        return None
    for name in ("stationary", "moving"):
        tile = tile_of(op, name)
        if tile is not None and (len(tile.shape) < 3 or tile.shape[1] != DOUBLE_ROW):
            return Violation(f"with double_row '{name}' has shape (K, {DOUBLE_ROW}, …)", (name,))
    return None


def _dtype_name(op: NisaOp, name: str) -> str:
    return required_tile(op, name).dtype.name


def _dtypes(op: NisaOp, target: Target) -> Violation | None:
    dst, stationary, moving = (required_tile(op, n) for n in ("dst", "stationary", "moving"))
    names = (stationary.dtype.name, moving.dtype.name)
    operands = ("stationary", "moving")
    if (names[0] in _WIDE) != (names[1] in _WIDE):
        wide, narrow = operands if names[0] in _WIDE else operands[::-1]
        return Violation(
            f"{names[0]} and {names[1]} cannot be multiplied",
            operands,
            f"copy {variable(op, wide)} into a tile of {_dtype_name(op, narrow)} with "
            f"nisa.tensor_copy, or {variable(op, narrow)} into one of {_dtype_name(op, wide)}",
        )
    if set(names) == {"float8_e4m3", _FP8FN}:
        return Violation("float8_e4m3 and float8_e4m3fn cannot be multiplied", operands)
    if _double_row(op) and not (names[0] in _FP8 and names[1] in _FP8):
        return Violation(
            f"double_row takes float8 inputs, they are {names[0]} and {names[1]}", operands
        )
    legal = ["float32"]
    if target.version >= nc_version.gen4:
        legal.append("bfloat16")
    if passes_bits_through(op, target):
        legal.append(names[0])
    if dst.dtype.name in legal:
        return None
    wanted = " or ".join(dict.fromkeys(legal))
    return Violation(
        f"'dst' must be {wanted} on {target.platform}, it is {dst.dtype.name}",
        ("dst",),
        f"allocate 'dst' as nl.{legal[0]}, and convert it with nisa.tensor_copy into a tile of "
        f"{dst.dtype.name} in SBUF",
    )


def _rows_only(op: NisaOp) -> str | None:
    return "double_row" if _double_row(op) else None


def _transpose_mode(op: NisaOp, target: Target) -> Violation | None:
    if not passes_bits_through(op, target):
        return None
    if _double_row(op):
        return Violation("'is_transpose' is True, which does not go with double_row")
    if op.value_of("accumulate"):
        return Violation("'is_transpose' is True, which passes bits through and adds nothing")
    return None


INDIRECT_DTYPES = ("float16", "bfloat16", "float8_e4m3", "float8_e5m2", "float8_e4m3fn")
"""Data types of operands that are addressed with `.indirect()`."""


def _is_indirect(op: NisaOp, name: str) -> bool:
    tile = tile_of(op, name)
    return tile is not None and tile.indirection is Indirection.tensor


def _indirect(op: NisaOp, target: Target) -> Violation | None:
    named = [name for name in ("dst", "stationary", "moving") if _is_indirect(op, name)]
    if not named:
        return None
    if any(op.value_of("tile_position") or ()):
        return Violation("'tile_position' does not go with .indirect()")
    if is_transpose(op) and "moving" in named:
        return Violation(
            "in transpose mode 'moving' is not addressed with .indirect()", ("moving",)
        )
    for name in named:
        tile = tile_of(op, name)
        if name != "dst" and tile is not None and tile.dtype.name not in INDIRECT_DTYPES:
            return Violation(
                f"'{name}' is {tile.dtype.name} and addressed with .indirect()", (name,)
            )
    return None


def _has_fp8fn(op: NisaOp) -> bool:
    tiles = (required_tile(op, "stationary"), required_tile(op, "moving"))
    return any(tile.dtype.name == _FP8FN for tile in tiles)


@instruction(
    engines=(engine.tensor,),
    rules=(
        in_buffer((SBUF,), "stationary", "moving"),
        in_buffer((PSUM,), "dst"),
        inside_a_bank("dst"),
        Rule(MATMUL_SHAPE, _double_row_shape),
        product_shape(_columns),
        fits_the_array(_columns),
        dtype_in(_INPUTS, "stationary", "moving"),
        Rule(MATMUL_DTYPE, _dtypes),
        tiling_mode(_rows_only),
        Rule(MATMUL_MODE, _transpose_mode),
        Rule(MATMUL_INDIRECT, _indirect),
        argument_since(_FP8FN_SINCE, _FP8FN, _has_fp8fn, "stationary", "moving"),
        argument_since(nc_version.gen3, "matmul_perf_mode.double_row", _double_row),
    ),
    stages=(
        Stage(LOAD_STATIONARY, ("stationary",), loading(_columns)),
        Stage(MULTIPLY_MOVING, ("dst", "moving"), multiplying(_columns)),
    ),
)
class NcMatmulOp(NisaOp):
    """`dst = stationary.T @ moving`, overwriting or accumulating in PSUM."""

    name = "nisa.nc_matmul"

    dst = updated(Indirection.tensor)
    stationary = tile(Indirection.tensor)
    moving = tile(Indirection.tensor)
    is_stationary_onezero = flag()
    is_moving_onezero = flag()
    is_transpose = flag()
    accumulate = opt_flag()
    tile_position = opt_integers()
    tile_size = opt_integers()
    perf_mode = word(MatmulPerfModeAttr, matmul_perf_mode.none)


def _transpose_engine(op: NisaOp, target: Target) -> engine:
    # NKI 0.4.0 release notes: the choice depends on the destination buffer.
    dst, data = required_tile(op, "dst"), required_tile(op, "data")
    to_psum = data.region is SBUF and dst.region is PSUM
    return engine.tensor if to_psum else engine.vector


def _transpose_buffers(op: NisaOp, target: Target) -> Violation | None:
    dst, data = required_tile(op, "dst"), required_tile(op, "data")
    if engine_of(op, target) is not engine.tensor:
        return None
    if data.region is SBUF and dst.region is PSUM:
        return None
    return Violation(
        "the Tensor Engine transposes from sbuf to psum, "
        f"'data' is in {data.region.value} and 'dst' in {dst.region.value}",
        ("dst", "data"),
        "allocate 'dst' with buffer=nl.psum, and copy 'data' to SBUF if it is not there",
    )


def _transpose_shape(op: NisaOp, target: Target) -> Violation | None:
    dst, data = required_tile(op, "dst"), required_tile(op, "data")
    if (dst.partitions, dst.free_size) != (data.free_size, data.partitions):
        return Violation(
            f"the transpose of {data.partitions}x{data.free_size} is "
            f"{data.free_size}x{data.partitions}, 'dst' is {dst.partitions}x{dst.free_size}",
            ("dst", "data"),
            f"allocate 'dst' with the shape ({data.free_size}, {data.partitions})"
            if max(data.free_size, data.partitions) <= target.pmax
            else None,
        )
    runs_on = engine_of(op, target)
    limit = target.pmax if runs_on is engine.tensor else target.vector_transpose_max
    if data.partitions <= limit and data.free_size <= limit:
        return None
    return Violation(
        f"the {runs_on.name.capitalize()} Engine transposes at most {limit}x{limit}, 'data' is "
        f"{data.partitions}x{data.free_size}",
        ("data",),
        "put dst in psum to transpose on the Tensor Engine" if limit < target.pmax else None,
    )


@instruction(
    engines=(engine.tensor, engine.vector),
    rules=(
        in_buffer(ON_CHIP, "dst", "data"),
        Rule(BUFFER, _transpose_buffers),
        inside_a_bank("dst"),
        Rule(TRANSPOSE_SHAPE, _transpose_shape),
        same_dtype("dst", "data"),
        engine_supported(),
    ),
    stages=(Stage("TRANSPOSE", ("dst", "data"), TRANSPOSE),),
    select_engine=EngineChoice(
        "tensor from SBUF to PSUM, else vector",
        _transpose_engine,
    ),
    transposes=True,
)
class NcTransposeOp(NisaOp):
    """`dst = data.T`, with the free dimensions of data flattened to one."""

    name = "nisa.nc_transpose"

    dst = written()
    data = tile()
    engine = word(EngineAttr, engine.unknown)
