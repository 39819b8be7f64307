"""Random numbers.

Every lane of the GpSimd Engine has one XORWOW generator (G. Marsaglia, Xorshift RNGs, 2003), every
lane of the Vector Engine four. Their state persists between instructions. Each run of a kernel
begins with the same state: that of seed 0 on the Vector Engine, and that of seed 2**32 on the
GpSimd Engine, which no seed of 32 bits can set. An instruction advances the lanes of its data's
partitions. The Vector Engine's generators take turns: element i of a partition comes from generator
`i % 4`. All four advance together, so the unused numbers of an incomplete last turn are lost.

The Vector Engine of NeuronCores before v4 has a shift register with unpublished taps, for
which nkijit substitutes XORWOW.
"""

from __future__ import annotations

from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nisa.random import (
    DropoutOp,
    Rand2Op,
    RandGetStateOp,
    RandSetStateOp,
    RngOp,
    SetRngSeedOp,
)
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.tensor import NkiTensor

__all__ = ["rng", "rand2", "dropout", "set_rng_seed", "rand_set_state", "rand_get_state"]

_engine = engine


def rng(dst: NkiTensor, engine: engine = _engine.vector, name: str | None = None) -> NkiInstruction:
    """Fill `dst` with random bits: each element gets the low bits of a random 32-bit number.

    Args:
        dst: tile of an integer dtype in SBUF, with the Vector Engine also in PSUM.
        engine: vector, or gpsimd (NeuronCore-v3 and newer).
        name: name of the instruction.

    Example:

        nisa.rng(positions)

    Source: NKI API reference, nki.isa.rng.
    """
    return emit(RngOp, locals())


def rand2(
    dst: NkiTensor, min: float | NkiTensor, max: float | NkiTensor, name: str | None = None
) -> NkiInstruction:
    """Fill `dst` with random numbers, uniform from `min` to `max`, on the Vector Engine.

    NeuronCore-v4 and newer. The conversion of bits to numbers is not documented. In nkijit, `u` is
    the number of the high 24 bits divided by 2**24, exact in float32 and below 1, and the result is
    `min + u * (max - min)`, at most `max`.

    Args:
        dst: tile in SBUF or PSUM; float8_e4m3, float8_e5m2, float16, bfloat16, float32, tfloat32 or
            an integer.
        min: number or (P, 1) float32 tile.
        max: as `min`, and above it.
        name: name of the instruction.

    Example:

        nisa.rand2(out, -1.0, 1.0)

    Source: NKI API reference, nki.isa.rand2.
    """
    return emit(Rand2Op, locals())


def dropout(
    dst: NkiTensor, data: NkiTensor, prob: float | NkiTensor, name: str | None = None
) -> NkiInstruction:
    """`dst` = `data` with zeros at random places, on the Vector Engine.

    An element becomes zero where a random number in [0, 1) is below `prob`: never for `prob` 0,
    always for 1. All other elements keep their bits; they are not scaled.

    Args:
        dst: tile in SBUF or PSUM with the dtype of `data` and as many elements per partition as
            `data`.
        data: (P, …) tile in SBUF or PSUM, any dtype.
        prob: number from 0 to 1, or (P, 1) tile of a floating-point type, float32 for integer data.
        name: name of the instruction.

    Example:

        nisa.dropout(out, x, 0.1)

    Source: NKI API reference, nki.isa.dropout.
    """
    return emit(DropoutOp, locals())


def set_rng_seed(src_seeds: NkiTensor, name: str | None = None) -> NkiInstruction:
    """Seed all generators of the Vector Engine with the bits of one 32-bit value.

    The documents do not say how lanes differ. In nkijit, the state words of all generators, lane by
    lane, are the output of SplitMix64 (Steele, Lea, Flood 2014) for this seed.

    Args:
        src_seeds: (1, 1) int32, uint32 or float32 tile in SBUF or PSUM.
        name: name of the instruction.

    Example:

        nisa.set_rng_seed(seed)

    Source: NKI API reference, nki.isa.set_rng_seed.
    """
    return emit(SetRngSeedOp, locals())


def rand_set_state(
    src_seeds: NkiTensor, engine: engine = _engine.gpsimd, name: str | None = None
) -> NkiInstruction:
    """Set the state of an engine's generators: each partition of `src_seeds` sets one lane.

    The words of a generator are x, y, z, w, v and the counter d, in Marsaglia's names. A lane of
    the Vector Engine has the words of its four generators, one generator after the other.

    Args:
        src_seeds: uint32 tile in SBUF, (P, 6) for the GpSimd Engine, (P, 24) for the Vector Engine.
        engine: gpsimd (NeuronCore-v3 and newer) or vector (NeuronCore-v4 and newer).
        name: name of the instruction.

    Example:

        nisa.rand_set_state(state, nisa.engine.vector)

    Source: NKI API reference, nki.isa.rand_set_state.
    """
    return emit(RandSetStateOp, locals())


def rand_get_state(
    dst: NkiTensor, engine: engine = _engine.gpsimd, name: str | None = None
) -> NkiInstruction:
    """`dst` = the state of an engine's generators, as `rand_set_state` takes it.

    Args:
        dst: uint32 tile in SBUF, (P, 6) for the GpSimd Engine; (P, 24) for the Vector Engine, also
            in PSUM.
        engine: gpsimd (NeuronCore-v3 and newer) or vector (NeuronCore-v4 and newer).
        name: name of the instruction.

    Example:

        nisa.rand_get_state(state, nisa.engine.vector)

    Source: NKI API reference, nki.isa.rand_get_state.
    """
    return emit(RandGetStateOp, locals())
