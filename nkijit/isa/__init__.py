"""Instructions of a NeuronCore, with the names and signatures of `nki.isa`."""

from __future__ import annotations

from typing import NoReturn

from nkijit.dialects.hardware import (
    dge_mode,
    engine,
    matmul_perf_mode,
    nc_version,
    oob_mode,
    reduce_cmd,
)
from nkijit.isa.activation import activate2, activation, activation_reduce
from nkijit.isa.elementwise import (
    reciprocal,
    scalar_tensor_tensor,
    tensor_scalar,
    tensor_scalar_cumulative,
    tensor_scalar_reduce,
    tensor_tensor,
)
from nkijit.isa.exponential import exponential
from nkijit.isa.matmul import nc_matmul, nc_transpose
from nkijit.isa.movement import dma_copy, memset, tensor_copy
from nkijit.isa.pattern import iota
from nkijit.isa.reduce import tensor_partition_reduce, tensor_reduce
from nkijit.isa.scan import tensor_tensor_scan
from nkijit.isa.select import (
    affine_select,
    range_select,
    select_reduce,
    sequence_bounds,
    tensor_copy_predicated,
)
from nkijit.isa.statistics import bn_aggr, bn_stats
from nkijit.passes.verify.diagnostics import NkiValidationError
from nkijit.target import current_target
from nkijit.tracer import NkiInstruction

tensor_engine = engine.tensor
vector_engine = engine.vector
scalar_engine = engine.scalar
gpsimd_engine = engine.gpsimd
unknown_engine = engine.unknown


def get_nc_version() -> nc_version:
    """The NeuronCore generation of the kernel's target."""
    return current_target().version


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"nki.isa.{name} is not modelled by nkijit yet")


__all__ = [
    "NkiInstruction",
    "NkiValidationError",
    "activate2",
    "activation",
    "activation_reduce",
    "affine_select",
    "bn_aggr",
    "bn_stats",
    "dge_mode",
    "dma_copy",
    "engine",
    "exponential",
    "get_nc_version",
    "gpsimd_engine",
    "iota",
    "matmul_perf_mode",
    "memset",
    "nc_matmul",
    "nc_transpose",
    "nc_version",
    "oob_mode",
    "range_select",
    "reciprocal",
    "reduce_cmd",
    "scalar_engine",
    "scalar_tensor_tensor",
    "select_reduce",
    "sequence_bounds",
    "tensor_copy",
    "tensor_copy_predicated",
    "tensor_engine",
    "tensor_partition_reduce",
    "tensor_reduce",
    "tensor_scalar",
    "tensor_scalar_cumulative",
    "tensor_scalar_reduce",
    "tensor_tensor",
    "tensor_tensor_scan",
    "unknown_engine",
    "vector_engine",
]
