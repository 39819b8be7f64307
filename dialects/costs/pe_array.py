"""Costs of instructions of the Tensor Engine.

A matmul loads its stationary tile and multiplies; the load overlaps with the previous
multiplication. The columns of a tile stream through the array, all rows at once. A multiplication
with fewer rows, or fewer columns of the result, is not faster (NKI performance guide). Packing
several values into a row (double_row, MX) reduces the number of columns.
"""

from __future__ import annotations

from nkijit.dialects.costs.engines import stride_factor
from nkijit.dialects.declare.cost import Duration, StageCost, clock_ghz
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of, is_transpose, required_tile
from nkijit.dialects.declare.rules.pe_array import Columns
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine


def _is_fp32(op: NisaOp) -> bool:
    return required_tile(op, "moving").dtype.name == "float32"


def _has_onezero(op: NisaOp) -> bool:
    """Return True if a hint says that one of the tiles contains only zeros and ones."""
    names = ("is_stationary_onezero", "is_moving_onezero")
    return any(op.declares(name) and op.value_of(name) for name in names)


def passes(op: NisaOp, target: Target) -> float:
    """Return how many times the moving tile of a matmul streams through the array."""
    t = target.timing.tensor
    if not _is_fp32(op):
        return 1
    if is_transpose(op):
        return t.fp32_transpose_passes
    return t.fp32_onezero_passes if _has_onezero(op) else t.fp32_passes


def rows_share(op: NisaOp, target: Target) -> float:
    """Return the share of the array's rows that get data, for a multiplication or a transpose."""
    tile = required_tile(op, "moving" if op.declares("moving") else "data")
    return tile.partitions / target.pmax


def _stationary_feed(op: NisaOp, target: Target, columns: Columns) -> float:
    t, tile = target.timing.tensor, required_tile(op, "stationary")
    rate = t.fp32_load_columns_per_cycle if _is_fp32(op) else t.load_columns_per_cycle
    return columns(op, tile) * stride_factor(t.stride_factors, tile) / rate


def _moving_feed(op: NisaOp, target: Target, columns: Columns) -> float:
    t, tile = target.timing.tensor, required_tile(op, "moving")
    return columns(op, tile) * stride_factor(t.stride_factors, tile) * passes(op, target)


def loading(columns: Columns) -> StageCost:
    """The cost of loading the stationary tile."""

    def cycles(op: NisaOp, target: Target) -> float:
        return _stationary_feed(op, target, columns)

    def time(op: NisaOp, target: Target) -> Duration:
        t, ghz = target.timing.tensor, target.timing.clocks.tensor_ghz
        issue = cycles(op, target) / ghz
        if not _is_fp32(op):
            return Duration(issue, max(issue, t.load_latency_ns))
        unhidden = t.fp32_load_latency_moving_share * _moving_feed(op, target, columns) / ghz
        return Duration(issue, max(issue, t.fp32_load_latency_ns + unhidden))

    text = "N(stationary) / load_columns_per_cycle, fp32_load_columns_per_cycle for float32"
    return StageCost(text, cycles, time)


def multiplying(columns: Columns) -> StageCost:
    """The cost of streaming the moving tile through the array."""

    def cycles(op: NisaOp, target: Target) -> float:
        t = target.timing.tensor
        overhead = t.fp32_overhead_cycles if _is_fp32(op) else t.overhead_cycles
        least = t.min_interval_cycles * passes(op, target)
        return max(least, _moving_feed(op, target, columns) + overhead)

    def time(op: NisaOp, target: Target) -> Duration:
        t, ghz = target.timing.tensor, target.timing.clocks.tensor_ghz
        issue = cycles(op, target) / ghz
        feed = max(t.min_interval_cycles * passes(op, target), _moving_feed(op, target, columns))
        if _is_fp32(op):
            longest = max(feed, _stationary_feed(op, target, columns))
            own = t.fp32_latency_cycles + longest + t.fp32_latency_moving_share * feed
            return Duration(issue, max(issue, own / ghz))
        own = t.latency_ns + t.latency_cycles_per_column * feed / ghz
        return Duration(issue, max(issue, own))

    text = (
        "max(min_interval, N(moving) + overhead_cycles), fp32_passes times that for float32, "
        "fp32_onezero_passes times with a hint that a tile holds zeros and ones only"
    )
    return StageCost(text, cycles, time)


_WIDE_BITS = 32


def _transposes_wide(op: NisaOp) -> bool:
    dtype = required_tile(op, "data").dtype
    return dtype.bits == _WIDE_BITS and dtype.name != "tfloat32"


def _transpose_feed(op: NisaOp, target: Target) -> float:
    t, data = target.timing.tensor, required_tile(op, "data")
    columns = max(data.partitions, min(t.min_interval_cycles, data.free_size))
    return columns * (t.fp32_transpose_passes if _transposes_wide(op) else 1)


def _transpose_cycles(op: NisaOp, target: Target) -> float:
    timing = target.timing
    if engine_of(op, target) is not engine.tensor:
        return max(timing.vector.transpose_cycles, required_tile(op, "data").free_size)
    t = timing.tensor
    overhead = t.fp32_overhead_cycles if _transposes_wide(op) else t.overhead_cycles
    return _transpose_feed(op, target) + overhead


def _transpose_time(op: NisaOp, target: Target) -> Duration:
    timing, runs_on = target.timing, engine_of(op, target)
    issue = _transpose_cycles(op, target) / clock_ghz(runs_on, target)
    if runs_on is not engine.tensor:
        return Duration(issue, max(issue, timing.vector.transpose_ns))
    t = timing.tensor
    if _transposes_wide(op):
        return Duration(issue, t.fp32_transpose_latency_ns + issue)
    streamed = t.latency_cycles_per_column * _transpose_feed(op, target)
    own = t.latency_ns + streamed / timing.clocks.tensor_ghz
    return Duration(issue, max(issue, t.load_latency_ns + own))


TRANSPOSE = StageCost(
    "partitions + overhead_cycles on the Tensor Engine, fp32_transpose_passes times that for 32 "
    "bits; max(transpose_cycles, N(data)) on the Vector Engine",
    _transpose_cycles,
    _transpose_time,
)
