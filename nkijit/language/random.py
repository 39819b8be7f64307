"""Random tensors."""

from __future__ import annotations

from typing import Any, cast

from nkijit import isa
from nkijit.dialects.hardware.words import MemoryRegion, nc_version
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.dialects.rule_texts.shapes import SEED_SHAPE
from nkijit.language.buffers import is_on_chip, sbuf
from nkijit.language.creation import allocate, hbm_runs
from nkijit.language.dtypes import uint32
from nkijit.language.memory import converted
from nkijit.tracing.annotations import DTypeLike, Operand, Shape
from nkijit.tracing.operators import multiply, right_shift
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def rand(shape: Shape, dtype: DTypeLike, buffer: MemoryRegion = sbuf, name: str = "") -> NkiTensor:
    """Allocate a tensor and fill it with random numbers, uniform in [0, 1).

    On NeuronCore-v4 this is `nisa.rand2`. On older cores, the high 24 bits of `nisa.rng` are
    scaled, so that the same seed gives the same numbers. Rounding to a dtype of few bits can give
    1.
    A tensor in HBM is filled from SBUF tiles by DMA.

    Args:
        shape: positive dimensions.
        dtype: element type; on NeuronCore-v4 one that `nisa.rand2` writes.
        buffer: `nl.sbuf`, `nl.psum` or an HBM buffer.
        name: the tensor's name; by default the variable it is assigned to.

    Example:

        numbers = nl.rand((128, 512), nl.float32)

    Source: NKI API reference, nki.language.rand.
    """
    tensor = allocate("nl.rand", shape, dtype, buffer, name)
    if is_on_chip(tensor.buffer):
        _fill(tensor)
        return tensor
    for run in hbm_runs(tensor):
        tile = allocate("nl.rand", run.shape, dtype, sbuf, "random")
        _fill(tile)
        isa.dma_copy(run, tile)
    return tensor


def _fill(tile: NkiTensor) -> None:
    if tracer_for("nl.rand").target.version >= nc_version.gen4:
        isa.rand2(tile, 0.0, 1.0)
        return
    bits = allocate("nl.rand", tile.shape, uint32, sbuf, "bits")
    isa.rng(bits)
    isa.tensor_scalar(bits, bits, right_shift, 8)
    isa.tensor_scalar(tile, bits, multiply, 2.0**-24)


def random_seed(seed: NkiTensor) -> None:
    """Seed `rand` and `dropout`: the same seed gives the same numbers.

    Args:
        seed: (1, 1) tile of a 32-bit type in SBUF or PSUM.

    Example:

        nl.random_seed(seed)

    Source: NKI API reference, nki.language.random_seed.
    """
    if not isinstance(cast(Any, seed), NkiTensor):
        tracer_for("nl.random_seed").fail(
            ARGUMENT,
            "nl.random_seed",
            f"'seed': expected a tile, got {one_line(seed)}",
            SEED_SHAPE.help,
        )
    isa.set_rng_seed(seed)


def dropout(x: NkiTensor, rate: Operand, dtype: DTypeLike | None = None) -> NkiTensor:
    """A tile in SBUF with the elements of `x`, and zeros at random places; nothing is scaled.

    Args:
        x: tile in SBUF or PSUM.
        rate: probability of a zero: number from 0 to 1, or (P, 1) tile.
        dtype: dtype of the result, by default that of `x`.

    Example:

        kept = nl.dropout(x, 0.1)

    Source: NKI API reference, nki.language.dropout.
    """
    if not isinstance(cast(Any, x), NkiTensor):
        tracer_for("nl.dropout").wrong_argument("nl.dropout", "x", "a tile", x)
    result = allocate("nl.dropout", x.shape, x.dtype, sbuf, "")
    isa.dropout(result, x, rate)
    return converted("nl.dropout", result, dtype)


__all__ = ["dropout", "rand", "random_seed"]
