"""Tensor Engine instructions."""

from __future__ import annotations

from nkijit.dialects.hardware import engine, matmul_perf_mode
from nkijit.dialects.nisa.matmul import NcMatmulOp, NcTransposeOp
from nkijit.tensor import NkiTensor
from nkijit.tracer import NkiInstruction, emit

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

    Args:
        dst: (M, N) tile in PSUM; float32, on NeuronCore-v4 also bfloat16.
        stationary: (K, M) tile in SBUF, K and M at most 128; with double_row (K, 2, M).
        moving: (K, N) tile in SBUF; with double_row (K, 2, N).
        is_stationary_onezero: hint that `stationary` holds zeros and ones only.
        is_moving_onezero: hint that `moving` holds zeros and ones only.
        is_transpose: pass bits through (NeuronCore-v3 and newer); `moving` selects columns.
        accumulate: True adds to `dst`, False overwrites it, None overwrites what no matmul
            has written and adds to the rest.
        tile_position: (row, column) where the tile starts in the PE array.
        tile_size: (rows, columns) of the PE array that the tile uses.
        perf_mode: `matmul_perf_mode.double_row` for float8 inputs (NeuronCore-v3 and newer).
        name: name of the instruction.

    Source: NKI API reference, nki.isa.nc_matmul.
    """
    return emit(NcMatmulOp, locals())


def nc_transpose(
    dst: NkiTensor,
    data: NkiTensor,
    engine: engine = _engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = data.T` on the Tensor Engine (SBUF to PSUM) or the Vector Engine.

    Args:
        dst: (F, P) tile of the dtype of `data`.
        data: (P, F) tile, further free dimensions are flattened; at most 128x128 on the Tensor
            Engine, 32x32 on the Vector Engine.
        engine: tensor or vector; by default tensor when `dst` is in PSUM and `data` in SBUF.
        name: name of the instruction.

    Source: NKI API reference, nki.isa.nc_transpose.
    """
    return emit(NcTransposeOp, locals())
