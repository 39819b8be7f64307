"""Costs of instructions of the Vector, Scalar and GpSimd Engines.

An instruction streams N elements of each partition through its engine. Consecutive independent
instructions start every `max(min_interval, overhead + N / rate)` cycles. The result of an
instruction is available after the engine's startup time and N / rate cycles. The number of
partitions does not matter (NKI performance guide). The constants are in the target's data file.
"""

from __future__ import annotations

from itertools import pairwise

from nkijit.dialects.costs.formulas import Formula, Number, largest
from nkijit.dialects.declare.cost import Duration, StageCost, clock_ghz
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of, tile_of
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.timing import GpSimd, Scalar, StrideFactors, Vector
from nkijit.dialects.hardware.words import MemoryRegion, engine
from nkijit.dialects.operators import OPERATORS
from nkijit.dialects.tiles import TileInfo, info_of, is_tile

_NARROW_BITS = 16
"""Bits of the floating-point types that the Vector Engine processes in its fast modes."""
_FP8_BITS = 8


# ------------------------------------------------------------------ inputs of the formulas


def elements(op: NisaOp, name: str) -> int:
    """Elements per partition of an operand; 0 when it is omitted or a number."""
    tile = tile_of(op, name)
    return 0 if tile is None else tile.free_size


def section_of(op: NisaOp, target: Target) -> Vector | Scalar | GpSimd:
    """The constants of the engine that runs an instruction."""
    timing = target.timing
    runs_on = engine_of(op, target)
    if runs_on is engine.scalar:
        return timing.scalar
    return timing.gpsimd if runs_on is engine.gpsimd else timing.vector


def min_interval(op: NisaOp, target: Target) -> float:
    """The shortest time between two instructions on an engine, in cycles."""
    section = section_of(op, target)
    dynamic = any(
        is_tile(value) and info_of(value).region.on_chip and info_of(value).indirection is not None
        for value in op.operands
    )
    return section.min_interval_dynamic_cycles if dynamic else section.min_interval_cycles


def inner_stride(tile: TileInfo) -> int:
    """Return the distance between neighbouring elements in a partition, in elements, unsigned."""
    free = zip(tile.strides[1:], tile.shape[1:], strict=True)
    return next((abs(stride) for stride, count in reversed(list(free)) if count != 1), 1)


def stride_factor(factors: StrideFactors, tile: TileInfo) -> float:
    """The factor by which strided reads of a tile in SBUF are slower than contiguous reads."""
    if tile.region is not MemoryRegion.sbuf:
        return factors[0][1]
    size = inner_stride(tile) * tile.dtype.itemsize
    if size <= factors[0][0]:
        return factors[0][1]
    for (low, before), (high, after) in pairwise(factors):
        if size <= high:
            return before + (after - before) * (size - low) / (high - low)
    return factors[-1][1]


def _is_half(tile: TileInfo) -> bool:
    return tile.dtype.kind is Kind.float and tile.dtype.bits == _NARROW_BITS


def is_narrow(v: Vector, tile: TileInfo) -> bool:
    """True for 16-bit floating point, and for float8 on targets where it is equally fast."""
    is_fp8 = tile.dtype.kind is Kind.float and tile.dtype.bits == _FP8_BITS
    return _is_half(tile) or (v.fp8_is_narrow and is_fp8)


def copy_rate(v: Vector, dst: TileInfo, src: TileInfo) -> float:
    """Elements per cycle of tensor_copy and tensor_scalar on the Vector Engine."""
    neighbours = inner_stride(dst) == 1 and inner_stride(src) == 1
    narrow = is_narrow(v, dst) and is_narrow(v, src)
    if MemoryRegion.psum in (dst.region, src.region):
        mixed = dst.region is not src.region
        return v.narrow_psum_rate if narrow and neighbours and mixed else v.rate
    if narrow:
        return v.narrow_rate if neighbours else v.narrow_strided_rate
    if not neighbours:
        return v.rate
    return v.widening_rate if dst.dtype.bits > src.dtype.bits else v.wide_rate


def tensor_tensor_rate(v: Vector, dst: TileInfo, data1: TileInfo, data2: TileInfo) -> float:
    """Elements per cycle of tensor_tensor on the Vector Engine."""
    if data1.region is not data2.region:
        return v.tensor_tensor_psum_rate
    in_sbuf = data1.region is MemoryRegion.sbuf
    if in_sbuf and all(is_narrow(v, tile) for tile in (dst, data1, data2)):
        return v.tensor_tensor_narrow_rate
    return v.tensor_tensor_rate


def table_of(op: NisaOp) -> str | None:
    """The table of activation functions that an instruction needs; None when it needs none."""
    if op.SPEC.engines[0] is not engine.scalar or not op.declares("op"):
        return None
    if op.get("engine") is engine.gpsimd:
        return None
    word: str = op.value_of("op")
    function = OPERATORS[word].activation
    return None if function is None else function.table or word


# ------------------------------------------------------------------ costs


def constant(name: str) -> Formula:
    """Return the formula of a constant of the engine that runs an instruction, e.g. `rate`."""
    return Formula(name, lambda op, target: getattr(section_of(op, target), name))


def count(name: str, *others: str) -> Formula:
    """Return the formula of an operand's elements per partition, times its stride factor.

    `others` are operands read at the same time; the largest stride factor applies.
    """
    return Formula(
        f"N({name})",
        lambda op, target: elements(op, name) * _slowest(op, target, (name, *others)),
    )


def _slowest(op: NisaOp, target: Target, names: tuple[str, ...]) -> float:
    """Return the largest stride factor of some operands."""
    factors = section_of(op, target).stride_factors
    tiles = [tile for name in names if (tile := tile_of(op, name)) is not None]
    return max((stride_factor(factors, tile) for tile in tiles), default=1)


MIN_INTERVAL = Formula("min_interval", min_interval)
START = constant("start_cycles")


def _overhead(op: NisaOp, target: Target) -> float:
    """The cycles that an instruction keeps the Vector Engine busy beside its elements."""
    section = section_of(op, target)
    return section.overhead_cycles if isinstance(section, Vector) else 0


OVERHEAD = Formula("overhead", _overhead, note="overhead_cycles on the Vector Engine only")


def _startup(op: NisaOp, target: Target) -> float:
    """The startup time of most instructions of an engine, in ns."""
    section = section_of(op, target)
    return section.affine_startup_ns if isinstance(section, Scalar) else section.startup_ns


def _streamed(
    stream: Formula, startup: Number = _startup, start: Formula | None = OVERHEAD
) -> StageCost:
    """The cost of an instruction that streams elements.

    Args:
        stream: cycles of its elements.
        startup: ns until its result is available, in addition to `stream`.
        start: cycles that the engine is busy, in addition to `stream`.
    """
    busy = largest(MIN_INTERVAL, stream if start is None else start + stream)

    def time(op: NisaOp, target: Target) -> Duration:
        ghz = clock_ghz(engine_of(op, target), target)
        issue = busy(op, target) / ghz
        return Duration(issue, max(issue, startup(op, target) + stream(op, target) / ghz))

    return StageCost(str(busy), busy, time)


def streaming(name: str, rate: str = "rate", start: str | None = None) -> StageCost:
    """Return the cost of streaming a tile, one element after the other in each partition.

    Args:
        name: the operand whose elements count.
        rate: name of the engine's constant for elements per cycle or, if the name ends in
            `_cycles_per_element`, for cycles per element.
        start: name of the engine's constant for additional cycles, if any.
    """
    multiplies = rate.endswith("_cycles_per_element")
    stream = constant(rate) * count(name) if multiplies else count(name) / constant(rate)
    return _streamed(stream, start=OVERHEAD if start is None else constant(start))


def on_gpsimd(name: str) -> StageCost:
    """The cost of streaming a tile through a program of the GpSimd Engine."""
    return streaming(name, start="start_cycles")


def copying(src: str, *columns: str) -> StageCost:
    """The cost of tensor_copy and tensor_scalar. `columns` are operands that can be [P, 1]."""

    def rate(op: NisaOp, target: Target) -> float:
        section = section_of(op, target)
        data, dst = tile_of(op, src), tile_of(op, "dst")
        if data is None or dst is None:
            return section.rate
        if isinstance(section, Vector):
            return copy_rate(section, dst, data)
        if isinstance(section, Scalar):
            narrow = all(_is_half(tile) for tile in (dst, data))
            return section.narrow_rate if narrow else section.rate
        return section.function_rate if _calls_function(op) else section.rate

    def startup(op: NisaOp, target: Target) -> float:
        section = section_of(op, target)
        if not isinstance(section, Scalar):
            return section.startup_ns
        if columns:
            return section.affine_startup_ns + _column_ns(op, target, columns)
        data = tile_of(op, src)
        in_psum = data is not None and data.region is MemoryRegion.psum
        return section.copy_psum_startup_ns if in_psum else section.copy_startup_ns

    by = Formula("rate", rate, note="the rate by engine, data types and memories")
    return _streamed(count(src) / by, startup)


_FUNCTIONS = ("rsqrt", "power")
"""ALU operators that the GpSimd Engine computes in several steps."""


def _calls_function(op: NisaOp) -> bool:
    return any(op.get(name) in _FUNCTIONS for name in ("op", "op0", "op1"))


def _column_ns(op: NisaOp, target: Target, columns: tuple[str, ...]) -> float:
    given = sum(tile_of(op, name) is not None for name in columns)
    return given * target.timing.scalar.column_operand_ns


def activating(*columns: str) -> StageCost:
    """The cost of an activation of `data`. `columns` are operands that can be [P, 1]."""

    def is_copy(op: NisaOp) -> bool:
        return op.value_of("op") == "copy"

    def from_psum(op: NisaOp) -> bool:
        data = tile_of(op, "data")
        return data is not None and data.region is MemoryRegion.psum

    def on_gpsimd(op: NisaOp, target: Target) -> bool:
        # For functions on the GpSimd Engine, only the engine's default rate is published.
        return engine_of(op, target) is engine.gpsimd

    def rate(op: NisaOp, target: Target) -> float:
        s = target.timing.scalar
        if on_gpsimd(op, target):
            return target.timing.gpsimd.rate
        if is_copy(op) or not from_psum(op):
            return s.rate
        return s.silu_psum_rate if op.value_of("op") == "silu" else s.function_psum_rate

    def start(op: NisaOp, target: Target) -> float:
        return target.timing.gpsimd.start_cycles if on_gpsimd(op, target) else 0

    def startup(op: NisaOp, target: Target) -> float:
        s = target.timing.scalar
        if on_gpsimd(op, target):
            return target.timing.gpsimd.startup_ns
        if is_copy(op):
            own = s.affine_startup_ns
        else:
            own = s.function_psum_startup_ns if from_psum(op) else s.function_startup_ns
        return own + _column_ns(op, target, columns)

    by = Formula("rate", rate, note="function_psum_rate from PSUM")
    begin = Formula("start_cycles", start, note="start_cycles on the GpSimd Engine only")
    return _streamed(count("data") / by, startup, begin)


def two_inputs(first: str, second: str, rate: str = "tensor_tensor_rate") -> StageCost:
    """The cost of streaming two tiles of equal size.

    `rate` is the Vector Engine's constant for two tiles in the same memory. If one tile is in PSUM
    and the other in SBUF, the constant with the suffix `_psum_rate` applies.
    """
    psum_rate = rate.replace("_rate", "_psum_rate")

    def per_cycle(op: NisaOp, target: Target) -> float:
        section = section_of(op, target)
        tiles = [t for name in (first, second) if (t := tile_of(op, name)) is not None]
        if isinstance(section, Vector):
            dst = tile_of(op, "dst")
            if rate == "tensor_tensor_rate" and dst is not None and len(tiles) > 1:
                return tensor_tensor_rate(section, dst, tiles[0], tiles[1])
            regions = {tile.region for tile in tiles}
            return getattr(section, rate if len(regions) == 1 else psum_rate)
        if not isinstance(section, GpSimd):
            return section.rate
        size = sum(tile.dtype.itemsize for tile in tiles)
        own = section.function_rate if _calls_function(op) else section.rate
        return min(own, section.read_bytes_per_cycle / size)

    by = Formula(rate, per_cycle, note=f"{psum_rate} with one of the two in PSUM")
    return _streamed(count(first, second) / by)


def _scan_startup(op: NisaOp, target: Target) -> float:
    v = target.timing.vector
    return v.startup_ns + (0 if tile_of(op, "initial") is None else v.scan_seed_ns)


SCAN = _streamed(count("data0", "data1") / constant("scan_rate"), _scan_startup)


def _memset_rate(op: NisaOp, target: Target) -> float:
    section, dst = section_of(op, target), tile_of(op, "dst")
    if dst is None or not isinstance(section, Vector):
        return section.rate
    is_fast = op.value_of("value") == 0 and _is_half(dst)
    return section.memset_narrow_zero_rate if is_fast else section.memset_rate


def _memset_startup(op: NisaOp, target: Target) -> float:
    section = section_of(op, target)
    return section.memset_startup_ns if isinstance(section, Vector) else _startup(op, target)


WRITTEN = Formula("N(dst)", lambda op, target: elements(op, "dst"))
"""The elements of `dst`, without a stride factor: the stride of writes does not matter."""

MEMSET = _streamed(
    WRITTEN
    / Formula("memset_rate", _memset_rate, note="memset_narrow_zero_rate for zeros of 16 bits"),
    _memset_startup,
)

_SHUFFLE_MASK = Formula(
    "shuffle_mask",
    lambda op, target: target.timing.vector.shuffle_mask_ns * target.timing.clocks.vector_ghz,
)
SHUFFLE = _streamed(count("src") / constant("rate") + _SHUFFLE_MASK)

TOPK = _streamed(
    constant("topk_element_cycles") * Formula("n", lambda op, target: op.value_of("n"))
    + Formula("K", lambda op, target: elements(op, "val_dst")),
    start=None,
)


def _gathered_at_once(op: NisaOp, target: Target) -> float:
    dst, width = tile_of(op, "dst"), op.value_of("num_elem_per_idx")
    return (
        width
        if dst is None
        else min(target.timing.gpsimd.gather_word_bytes / dst.dtype.itemsize, width)
    )


_GATHER_ROW = constant("gather_element_cycles") * Formula(
    "w", lambda op, target: op.value_of("num_elem_per_idx"), note="w = num_elem_per_idx"
)
LOCAL_GATHER = _streamed(
    WRITTEN
    * (constant("gather_index_cycles") + _GATHER_ROW)
    / (_GATHER_ROW * Formula("min(gather_word_bytes / size, w)", _gathered_at_once)),
    start=START,
)


def _read_cycles(op: NisaOp, target: Target) -> float:
    timing = target.timing
    section = timing.scalar if engine_of(op, target) is engine.scalar else timing.vector
    return section.accumulator_read_cycles


def _read_time(op: NisaOp, target: Target) -> Duration:
    runs_on = engine_of(op, target)
    section = target.timing.scalar if runs_on is engine.scalar else target.timing.vector
    issue = section.accumulator_read_cycles / clock_ghz(runs_on, target)
    return Duration(issue, max(issue, section.accumulator_read_ns))


ACCUMULATOR_READ = StageCost("accumulator_read_cycles", _read_cycles, _read_time)


def sequenced(constant: str) -> StageCost:
    """Return the cost of a sequencer's instruction, which takes a constant time.

    `constant` is the name of the constant in the target's data file.
    """

    def time(op: NisaOp, target: Target) -> Duration:
        ns: float = getattr(target.timing.sequencer, constant)
        return Duration(ns, ns)

    def cycles(op: NisaOp, target: Target) -> float:
        return time(op, target).issue * clock_ghz(engine_of(op, target), target)

    return StageCost(f"{constant} times the clock", cycles, time)


REGISTER_MOVE = sequenced("register_move_ns")
REGISTER_ACCESS = sequenced("register_access_ns")
CORE_BARRIER = sequenced("core_barrier_ns")
