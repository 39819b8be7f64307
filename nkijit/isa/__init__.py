"""Instructions of a NeuronCore, with the names and signatures of `nki.isa`."""

from __future__ import annotations

from typing import NoReturn

from nkijit.isa import constants as constants
from nkijit.isa.activation import activate2, activation, activation_reduce
from nkijit.isa.constants import (
    dge_mode,
    dma_engine,
    engine,
    matmul_perf_mode,
    nc_version,
    oob_mode,
    reduce_cmd,
)
from nkijit.isa.cores import core_barrier, sendrecv
from nkijit.isa.elementwise import (
    reciprocal,
    scalar_tensor_tensor,
    tensor_scalar,
    tensor_scalar_cumulative,
    tensor_scalar_reduce,
    tensor_tensor,
)
from nkijit.isa.exponential import exponential
from nkijit.isa.gather import local_gather, nc_n_gather, nc_stream_shuffle
from nkijit.isa.matmul import nc_matmul, nc_transpose
from nkijit.isa.movement import dma_compute, dma_copy, memset, tensor_copy
from nkijit.isa.mx import nc_matmul_mx, quantize_mx
from nkijit.isa.pattern import iota
from nkijit.isa.random import (
    dropout,
    rand2,
    rand_get_state,
    rand_set_state,
    rng,
    set_rng_seed,
)
from nkijit.isa.reduce import tensor_partition_reduce, tensor_reduce
from nkijit.isa.registers import (
    register_alloc,
    register_load,
    register_move,
    register_store,
    scalar_load,
    scalar_store,
)
from nkijit.isa.scan import tensor_tensor_scan
from nkijit.isa.search import (
    max8,
    nc_find_index8,
    nc_match_replace8,
    nonzero_with_count,
    topk,
)
from nkijit.isa.select import (
    affine_select,
    range_select,
    select_reduce,
    sequence_bounds,
    tensor_copy_predicated,
)
from nkijit.isa.statistics import bn_aggr, bn_stats
from nkijit.isa.transpose import dma_transpose
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.tracing.dtype_names import missing
from nkijit.tracing.emit import NkiInstruction
from nkijit.tracing.registers import VirtualRegister
from nkijit.tracing.scalars import NkiScalar
from nkijit.tracing.target import current_target

tensor_engine = engine.tensor
vector_engine = engine.vector
scalar_engine = engine.scalar
gpsimd_engine = engine.gpsimd
unknown_engine = engine.unknown


def get_nc_version() -> nc_version:
    """The NeuronCore generation of the kernel's target.

    Example:

        is_new = nisa.get_nc_version() >= nisa.nc_version.gen4
    """
    return current_target().version


def get_nc_sub_version() -> int:
    """The revision of the target's generation: 0, the first; nkijit knows no other.

    Example:

        revision = nisa.get_nc_sub_version()
    """
    return 0


def __getattr__(name: str) -> NoReturn:
    raise missing("nki.isa", name, globals())


__all__ = [
    "dge_mode",
    "dma_engine",
    "engine",
    "matmul_perf_mode",
    "nc_version",
    "oob_mode",
    "reduce_cmd",
    "NkiInstruction",
    "NkiScalar",
    "NkiValidationError",
    "VirtualRegister",
    "activate2",
    "activation",
    "activation_reduce",
    "core_barrier",
    "affine_select",
    "bn_aggr",
    "bn_stats",
    "dma_compute",
    "dma_copy",
    "dma_transpose",
    "dropout",
    "exponential",
    "get_nc_sub_version",
    "get_nc_version",
    "gpsimd_engine",
    "iota",
    "local_gather",
    "max8",
    "memset",
    "nc_find_index8",
    "nc_match_replace8",
    "nc_matmul",
    "nc_matmul_mx",
    "nc_n_gather",
    "nc_stream_shuffle",
    "nc_transpose",
    "nonzero_with_count",
    "quantize_mx",
    "range_select",
    "reciprocal",
    "register_alloc",
    "register_load",
    "register_move",
    "register_store",
    "scalar_engine",
    "scalar_load",
    "scalar_store",
    "scalar_tensor_tensor",
    "sendrecv",
    "rand2",
    "rand_get_state",
    "rand_set_state",
    "rng",
    "set_rng_seed",
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
    "topk",
    "tensor_tensor_scan",
    "unknown_engine",
    "vector_engine",
]


def __dir__() -> list[str]:
    """The public names: modules that they come from are not completed."""
    return sorted(__all__)
