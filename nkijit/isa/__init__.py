"""Instructions of a NeuronCore, with the names and signatures of `nki.isa`."""

from __future__ import annotations

from typing import NoReturn

from nkijit.dialects.hardware import (
    dge_mode,
    dma_engine,
    engine,
    matmul_perf_mode,
    nc_version,
    oob_mode,
    reduce_cmd,
)
from nkijit.isa.activation import activate2, activation, activation_reduce
from nkijit.isa.cores import core_barrier, sendrecv
from nkijit.isa.elementwise import (
    reciprocal,
    scalar_tensor_tensor,
    tensor_scalar,
    tensor_tensor,
)
from nkijit.isa.exponential import exponential
from nkijit.isa.matmul import nc_matmul, nc_transpose
from nkijit.isa.movement import dma_copy, memset, tensor_copy
from nkijit.isa.mx import nc_matmul_mx, quantize_mx
from nkijit.isa.pattern import iota
from nkijit.isa.reduce import tensor_reduce
from nkijit.isa.registers import register_alloc, register_load, register_move, register_store
from nkijit.isa.transpose import dma_transpose
from nkijit.passes.verify.diagnostics import NkiValidationError
from nkijit.registers import VirtualRegister
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
    "VirtualRegister",
    "activate2",
    "activation",
    "activation_reduce",
    "core_barrier",
    "dge_mode",
    "dma_copy",
    "dma_engine",
    "dma_transpose",
    "engine",
    "exponential",
    "get_nc_version",
    "gpsimd_engine",
    "iota",
    "matmul_perf_mode",
    "memset",
    "nc_matmul",
    "nc_matmul_mx",
    "nc_transpose",
    "nc_version",
    "oob_mode",
    "quantize_mx",
    "reciprocal",
    "reduce_cmd",
    "register_alloc",
    "register_load",
    "register_move",
    "register_store",
    "scalar_engine",
    "scalar_tensor_tensor",
    "sendrecv",
    "tensor_copy",
    "tensor_engine",
    "tensor_reduce",
    "tensor_scalar",
    "tensor_tensor",
    "unknown_engine",
    "vector_engine",
]
