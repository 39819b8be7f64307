"""How much work instructions do, and how much an engine could do: for utilisation and roofline."""

from __future__ import annotations

from nkijit.dialects.constraints import engine_of
from nkijit.dialects.costs import clock_ghz
from nkijit.dialects.declare import NisaOp
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.engine_costs import tile_named
from nkijit.dialects.hardware import COMPUTE_ENGINES, Target, engine, nc_version
from nkijit.dialects.pe_costs import passes
from nkijit.dialects.tiles import info_of, is_tile

PACKED_VALUES = 4
"""Values in an element of an x4 type."""
_DOUBLE_ROW = 2


def flops_of(op: NisaOp) -> float:
    """Floating-point operations of an instruction.

    A matmul multiplies and adds: 2 K M N, K with the values that are packed into a row. One
    operation for each element otherwise, and none where data only moves: DMA, registers,
    transposes.
    """
    if "stationary" in op.SPEC.by_name:
        stationary, moving, dst = (tile_named(op, n) for n in ("stationary", "moving", "dst"))
        transposes = "is_transpose" in op.SPEC.by_name and op.value_of("is_transpose")
        if stationary is None or moving is None or dst is None or transposes:
            return 0
        packed = PACKED_VALUES if stationary.dtype.kind is Kind.packed else 1
        # With double_row the stationary tile has two rows where the array has one.
        return 2 * stationary.size * packed * dst.free_size
    if engine.tensor in op.SPEC.engines or not COMPUTE_ENGINES.intersection(op.SPEC.engines):
        return 0
    return max((info_of(value).size for value in op.operands if is_tile(value)), default=0)


def peak_flops(of: NisaOp | DType, target: Target) -> float:
    """Floating-point operations in a ns at the peak, in GFLOPS: of an instruction's engine in the
    mode that it runs in, or of the Tensor Engine with inputs of a data type in their best mode.

    An engine that does no arithmetic, such as DMA, has 0.
    """
    array = 2.0 * target.pmax * target.gemm_stationary_fmax * target.timing.clocks.tensor_ghz
    if isinstance(of, DType):
        if of.name == "float32":
            return array / target.timing.tensor.fp32_passes
        if of.kind is Kind.packed:
            return array * PACKED_VALUES
        is_fp8 = of.kind is Kind.float and of.itemsize == 1
        return array * (_DOUBLE_ROW if is_fp8 and target.version >= nc_version.gen3 else 1)
    runs_on = engine_of(of, target)
    if runs_on not in COMPUTE_ENGINES:
        return 0
    if runs_on is not engine.tensor:
        return _elements_per_ns(of, target)
    stationary, dst = tile_named(of, "stationary"), tile_named(of, "dst")
    if stationary is None or dst is None:
        return array
    packed = PACKED_VALUES if stationary.dtype.kind is Kind.packed else 1
    rows = max(1, stationary.free_size // dst.partitions)
    return array * packed * rows / passes(of, target)


def _elements_per_ns(op: NisaOp, target: Target) -> float:
    """Elements that an engine streams at its best, all partitions together."""
    timing, runs_on = target.timing, engine_of(op, target)
    rate = {
        engine.vector: timing.vector.wide_rate,
        engine.scalar: timing.scalar.rate,
        engine.gpsimd: timing.gpsimd.rate,
    }[runs_on]
    return target.pmax * rate * clock_ghz(runs_on, target)
