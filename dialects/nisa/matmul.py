"""Tensor Engine instructions: nc_matmul and nc_transpose."""

from __future__ import annotations

from nkijit.dialects.attributes import EngineAttr, MatmulPerfModeAttr
from nkijit.dialects.constraints import (
    ON_CHIP,
    PSUM,
    SBUF,
    argument_since,
    dtype_in,
    engine_of,
    engine_supported,
    in_buffer,
    same_dtype,
    tile_of,
)
from nkijit.dialects.declare import Finding, NisaOp, Rule, Stage, instruction
from nkijit.dialects.fields import flag, opt_flag, opt_integers, tile, updated, word, written
from nkijit.dialects.hardware import Target, engine, matmul_perf_mode, nc_version
from nkijit.dialects.rule_texts import (
    BUFFER,
    MATMUL_DTYPE,
    MATMUL_POSITION,
    MATMUL_SHAPE,
    MATMUL_TILE,
    TRANSPOSE_SHAPE,
)
from nkijit.dialects.tiles import TileInfo

DOUBLE_ROW = 2
"""Rows that double_row packs into one PE row: size of the first free dimension."""

_FP8 = ("float8_e4m3", "float8_e5m2", "float8_e4m3fn")
_WIDE = ("float32", "tfloat32")
_INPUTS = (*_FP8, "bfloat16", "float16", *_WIDE)


def _double_row(op: NisaOp) -> bool:
    return op.value_of("perf_mode") is matmul_perf_mode.double_row


def _columns(op: NisaOp, tile: TileInfo) -> int:
    """Free size of an input without the packed rows of double_row."""
    return tile.free_size // DOUBLE_ROW if _double_row(op) else tile.free_size


def _shape(op: NisaOp, target: Target) -> Finding | None:
    dst, stationary, moving = (tile_of(op, n) for n in ("dst", "stationary", "moving"))
    if dst is None or stationary is None or moving is None:
        return None
    if stationary.partitions != moving.partitions:
        return Finding(
            f"the contraction runs over {stationary.partitions} partitions of 'stationary' and "
            f"{moving.partitions} of 'moving'",
            ("stationary", "moving"),
        )
    if _double_row(op):
        for name, operand in (("stationary", stationary), ("moving", moving)):
            if len(operand.shape) < 3 or operand.shape[1] != DOUBLE_ROW:
                return Finding(f"with double_row '{name}' has shape (K, {DOUBLE_ROW}, …)", (name,))
    expected = (_columns(op, stationary), _columns(op, moving))
    if (dst.partitions, dst.free_size) == expected:
        return None
    return Finding(
        f"'dst' must be ({expected[0]}, {expected[1]}), it has {dst.partitions} partitions and "
        f"{dst.free_size} elements per partition",
        ("dst", "stationary", "moving"),
    )


def _tile_limits(op: NisaOp, target: Target) -> Finding | None:
    dst, stationary, moving = (tile_of(op, n) for n in ("dst", "stationary", "moving"))
    if dst is None or stationary is None or moving is None:
        return None
    rows, columns = op.value_of("tile_size") or (target.pmax, target.gemm_stationary_fmax)
    if stationary.partitions > rows:
        return Finding(
            f"the contraction has {stationary.partitions} rows, at most {rows} fit",
            ("stationary", "moving"),
        )
    if _columns(op, stationary) > columns:
        return Finding(
            f"'stationary' has {_columns(op, stationary)} columns, at most {columns} fit",
            ("stationary",),
        )
    limit = target.moving_columns_max
    if target.version >= nc_version.gen4 and dst.dtype.name == "bfloat16":
        limit *= 2  # the whole of PSUM, in elements of half the size
    if _columns(op, moving) > limit:
        return Finding(
            f"'moving' has {_columns(op, moving)} columns, at most {limit} fit on "
            f"{target.platform}",
            ("moving",),
        )
    return None


def _dtypes(op: NisaOp, target: Target) -> Finding | None:
    dst, stationary, moving = (tile_of(op, n) for n in ("dst", "stationary", "moving"))
    if dst is None or stationary is None or moving is None:
        return None
    names = (stationary.dtype.name, moving.dtype.name)
    operands = ("stationary", "moving")
    if (names[0] in _WIDE) != (names[1] in _WIDE):
        return Finding(f"{names[0]} and {names[1]} cannot be multiplied", operands)
    if set(names) == {"float8_e4m3", "float8_e4m3fn"}:
        return Finding("float8_e4m3 and float8_e4m3fn cannot be multiplied", operands)
    if _double_row(op) and not (names[0] in _FP8 and names[1] in _FP8):
        return Finding(
            f"double_row takes float8 inputs, they are {names[0]} and {names[1]}", operands
        )
    legal = ["float32"]
    if target.version >= nc_version.gen4:
        legal.append("bfloat16")
    if op.value_of("is_transpose") and target.version >= nc_version.gen3:
        legal.append(names[0])  # transpose mode passes bits through
    if dst.dtype.name in legal:
        return None
    wanted = " or ".join(dict.fromkeys(legal))
    return Finding(f"'dst' must be {wanted} on {target.platform}, it is {dst.dtype.name}", ("dst",))


def _position(op: NisaOp, target: Target) -> Finding | None:
    position, size = op.value_of("tile_position"), op.value_of("tile_size")
    if not position and not size:
        return None
    if len(position) != 2 or len(size) != 2:
        return Finding(
            "'tile_position' and 'tile_size' are given together, two numbers each; they are "
            f"{position} and {size}"
        )
    smallest = 64 if target.version is nc_version.gen2 else 32
    full = target.pmax
    for axis, start, extent in zip(("row", "column"), position, size, strict=True):
        if extent not in (32, 64, full) or extent < smallest:
            return Finding(f"the {axis} size of a tile is {smallest} to {full}, it is {extent}")
        if start % extent or not 0 <= start < full:
            return Finding(
                f"the start {axis} must be a multiple of the {axis} size {extent} below {full}, "
                f"it is {start}"
            )
    if _double_row(op) and size[1] != full:
        return Finding(f"double_row goes with a column size of {full}, it is {size[1]}")
    return None


def _has_fp8fn(op: NisaOp) -> bool:
    tiles = (tile_of(op, "stationary"), tile_of(op, "moving"))
    return any(t is not None and t.dtype.name == "float8_e4m3fn" for t in tiles)


@instruction(
    engines=(engine.tensor,),
    rules=(
        in_buffer((SBUF,), "stationary", "moving"),
        in_buffer((PSUM,), "dst"),
        Rule(MATMUL_SHAPE, _shape),
        Rule(MATMUL_TILE, _tile_limits),
        dtype_in(_INPUTS, "stationary", "moving"),
        Rule(MATMUL_DTYPE, _dtypes),
        Rule(MATMUL_POSITION, _position),
        argument_since(nc_version.gen4, "float8_e4m3fn", _has_fp8fn, "stationary", "moving"),
        argument_since(nc_version.gen3, "matmul_perf_mode.double_row", _double_row),
    ),
    stages=(
        Stage("LOAD_STATIONARY", ("stationary",)),
        Stage("MULTIPLY_MOVING", ("dst", "moving")),
    ),
)
class NcMatmulOp(NisaOp):
    """`dst = stationary.T @ moving`, overwriting or accumulating in PSUM."""

    name = "nisa.nc_matmul"

    dst = updated()
    stationary = tile()
    moving = tile()
    is_stationary_onezero = flag()
    is_moving_onezero = flag()
    is_transpose = flag()
    accumulate = opt_flag()
    tile_position = opt_integers()
    tile_size = opt_integers()
    perf_mode = word(MatmulPerfModeAttr, matmul_perf_mode.none)


def _transpose_engine(op: NisaOp, target: Target) -> engine:
    # The NKI 0.4.0 release notes: the choice follows the destination buffer.
    dst, data = tile_of(op, "dst"), tile_of(op, "data")
    from_sbuf = data is None or data.region is SBUF
    return engine.tensor if dst is not None and dst.region is PSUM and from_sbuf else engine.vector


def _transpose_buffers(op: NisaOp, target: Target) -> Finding | None:
    dst, data = tile_of(op, "dst"), tile_of(op, "data")
    if engine_of(op, target) is not engine.tensor or dst is None or data is None:
        return None
    if data.region is SBUF and dst.region is PSUM:
        return None
    return Finding(
        "the Tensor Engine transposes from sbuf to psum, "
        f"'data' is in {data.region.value} and 'dst' in {dst.region.value}",
        ("dst", "data"),
    )


def _transpose_shape(op: NisaOp, target: Target) -> Finding | None:
    dst, data = tile_of(op, "dst"), tile_of(op, "data")
    if dst is None or data is None:
        return None
    if (dst.partitions, dst.free_size) != (data.free_size, data.partitions):
        return Finding(
            f"the transpose of {data.partitions}x{data.free_size} is "
            f"{data.free_size}x{data.partitions}, 'dst' is {dst.partitions}x{dst.free_size}",
            ("dst", "data"),
        )
    runs_on = engine_of(op, target)
    limit = target.pmax if runs_on is engine.tensor else target.vector_transpose_max
    if data.partitions <= limit and data.free_size <= limit:
        return None
    return Finding(
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
        Rule(TRANSPOSE_SHAPE, _transpose_shape),
        same_dtype("dst", "data"),
        engine_supported(),
    ),
    stages=(Stage("TRANSPOSE", ("dst", "data")),),
    select_engine=_transpose_engine,
)
class NcTransposeOp(NisaOp):
    """`dst = data.T`, the free dimensions of data flattened to one."""

    name = "nisa.nc_transpose"

    dst = written()
    data = tile()
    engine = word(EngineAttr, engine.unknown)
