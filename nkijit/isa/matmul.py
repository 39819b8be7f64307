"""Tensor Engine instructions."""

from __future__ import annotations

from nkijit.dialects.hardware.words import engine, matmul_perf_mode
from nkijit.dialects.nisa.matmul import NcMatmulOp, NcTransposeOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.tensor import NkiTensor

__all__ = ["nc_matmul", "nc_transpose"]

_engine = engine


def nc_matmul(
    dst: NkiTensor,
    stationary: NkiTensor,
    moving: NkiTensor,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    accumulate: bool | None = None,
    tile_position: tuple[int, ...] = (),
    tile_size: tuple[int, ...] = (),
    perf_mode: matmul_perf_mode = matmul_perf_mode.none,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = stationary.T @ moving` on the Tensor Engine, accumulated in float32.

    Inputs are float8_e4m3, float8_e5m2, bfloat16 or float16 in any combination, or float32 and
    tfloat32 among themselves; on NeuronCore-v4 also float8_e4m3fn, though not with float8_e4m3.

    Args:
        dst: (M, N) tile in PSUM; float32, in transpose mode also the dtype of `stationary`, on
            NeuronCore-v4 also bfloat16. To accumulate in bfloat16, the instruction reads `dst`,
            adds in float32 and rounds.
        stationary: (K, M) tile in SBUF, K and M at most 128; with double_row (K, 2, M).
        moving: (K, N) tile in SBUF; with double_row (K, 2, N). N is at most 512; on
            NeuronCore-v4 4096, or 8192 for a bfloat16 `dst`.
        is_stationary_onezero: hint that `stationary` holds zeros and ones only, which makes
            float32 faster. The result is the same.
        is_moving_onezero: hint that `moving` holds zeros and ones only; same effect.
        is_transpose: transpose mode: a `moving` tile with a single 1 per column selects rows of
            `stationary`, and their bits are passed through. `dst` is overwritten; neither
            `accumulate=True` nor double_row is legal. On NeuronCore-v2 the argument is only a hint,
            and the instruction is a matmul.
        accumulate: True adds to `dst`, False overwrites it, None overwrites elements that no
            matmul has written and adds to all other elements.
        tile_position: (row, column) where the tile starts in the PE array, multiples of
            `tile_size`, which must be passed as well. The API reference describes column tiles, but
            lists only column 0 for this parameter; nkijit follows the description.
        tile_size: (rows, columns) of the PE array that the tile uses: 64 or 128, from
            NeuronCore-v3 on also 32. With double_row all 128 columns.
        perf_mode: `matmul_perf_mode.double_row` for float8 inputs (NeuronCore-v3 and newer).
        name: name of the instruction.

    Example:

        nisa.nc_matmul(psum, weights, bf16)

    Source: NKI API reference, nki.isa.nc_matmul.
    """
    return emit(NcMatmulOp, locals())


def nc_transpose(
    dst: NkiTensor,
    data: NkiTensor,
    engine: engine = _engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = data.T` on the Tensor Engine (SBUF to PSUM) or the Vector Engine, bit by bit.

    The exception is the Tensor Engine of NeuronCore-v2, which multiplies floats with an identity
    matrix, so that NaN and infinities spread along their rows. Other types keep their bits, because
    the documents name no other exception. According to the Trainium2 guide, float8 elements take 16
    bits each in PSUM; according to the API reference, they have the type of `data`. nkijit follows
    the reference.

    Args:
        dst: (F, P) tile of the dtype of `data`.
        data: (P, F) tile, further free dimensions are flattened; at most 128x128 on the Tensor
            Engine, 32x32 on the Vector Engine.
        engine: tensor (from SBUF to PSUM) or vector.
        name: name of the instruction.

    Example:

        nisa.nc_transpose(psum_bf16[:, 0:128], bf16[:, 0:128])

    Source: NKI API reference, nki.isa.nc_transpose.
    """
    return emit(NcTransposeOp, locals())
