"""Instructions of a NeuronCore, with the names and signatures of `nki.isa`."""

from __future__ import annotations

from typing import NoReturn

from nkijit.dialects.hardware import engine, nc_version
from nkijit.isa import constants
from nkijit.isa.activation import activate2, activation, activation_reduce
from nkijit.isa.constants import *
from nkijit.isa.elementwise import (
    reciprocal,
    scalar_tensor_tensor,
    tensor_scalar,
    tensor_tensor,
)
from nkijit.isa.exponential import exponential
from nkijit.isa.matmul import nc_matmul, nc_transpose
from nkijit.isa.movement import dma_copy, memset, tensor_copy
from nkijit.isa.pattern import iota
from nkijit.isa.reduce import tensor_reduce
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


def get_nc_sub_version() -> int:
    """The revision of the target's generation: 0, the first; nkijit knows no other."""
    return 0


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"nki.isa.{name} is not modelled by nkijit yet")


__all__ = [
    "NkiInstruction",
    "NkiValidationError",
    "activate2",
    "activation",
    "activation_reduce",
    "dma_copy",
    "exponential",
    "get_nc_sub_version",
    "get_nc_version",
    "gpsimd_engine",
    "iota",
    "memset",
    "nc_matmul",
    "nc_transpose",
    "reciprocal",
    "scalar_engine",
    "scalar_tensor_tensor",
    "tensor_copy",
    "tensor_engine",
    "tensor_reduce",
    "tensor_scalar",
    "tensor_tensor",
    "unknown_engine",
    "vector_engine",
]
__all__ += constants.__all__
