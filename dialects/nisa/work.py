"""Floating-point operations of instructions and peak rates of engines, for the roofline."""

from __future__ import annotations

from nkijit.dialects.costs.pe_array import passes
from nkijit.dialects.declare.cost import clock_ghz
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of, is_transpose, required_tile
from nkijit.dialects.dtypes import DType, Kind
from nkijit.dialects.hardware.targets import COMPUTE_ENGINES, Target
from nkijit.dialects.hardware.words import engine, nc_version
from nkijit.dialects.nisa.matmul import DOUBLE_ROW
from nkijit.dialects.nisa.mx import PACKED
from nkijit.dialects.tiles import info_of, is_tile


def flops_of(op: NisaOp) -> float:
    """Floating-point operations of an instruction.

    A matmul multiplies and adds: 2 K M N operations, where K includes the values that are packed
    into a row. Other instructions count one operation per element of their largest tile.
    Instructions that only move data (DMA, registers, transposes, barriers) count 0.
    """
    if is_transpose(op):
        return 0
    if op.declares("stationary"):
        rows = required_tile(op, "stationary").partitions * _packed_rows(op)
        return 2 * rows * required_tile(op, "dst").size
    if engine.tensor in op.SPEC.engines or not COMPUTE_ENGINES.intersection(op.SPEC.engines):
        return 0
    return max((info_of(value).size for value in op.operands if is_tile(value)), default=0)


def _packed_rows(op: NisaOp) -> int:
    """Return the number of contraction values that a matmul packs into a row of the array."""
    stationary, dst = required_tile(op, "stationary"), required_tile(op, "dst")
    # With double_row a stationary tile has two values for each row of the result.
    return stationary.free_size // dst.partitions * _values(stationary.dtype)


def _values(dtype: DType) -> int:
    return PACKED if dtype.kind is Kind.packed else 1


def peak_flops(of: NisaOp | DType, target: Target) -> float:
    """Return the peak rate in floating-point operations per ns (GFLOPS).

    For an instruction, the peak of its engine in the instruction's mode; for a data type, the peak
    of the Tensor Engine with such inputs in their best mode. 0 for engines that do not compute,
    such as DMA. Sparse matmuls are not modelled.
    """
    array = 2.0 * target.pmax * target.gemm_stationary_fmax * target.timing.clocks.tensor_ghz
    if isinstance(of, DType):
        if of.name == "float32":
            return array / target.timing.tensor.fp32_passes
        is_fp8 = of.kind is Kind.float and of.itemsize == 1
        rows = DOUBLE_ROW if is_fp8 and target.version >= nc_version.gen3 else 1
        return array * rows * _values(of)
    runs_on = engine_of(of, target)
    if runs_on is engine.tensor:
        if not of.declares("stationary"):
            return array
        return array * _packed_rows(of) / passes(of, target)
    rates = {
        engine.vector: target.timing.vector.wide_rate,
        engine.scalar: target.timing.scalar.rate,
        engine.gpsimd: target.timing.gpsimd.rate,
    }
    if runs_on not in rates:
        return 0
    return target.pmax * rates[runs_on] * clock_ghz(runs_on, target)
