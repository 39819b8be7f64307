"""Tensor Engine instructions."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.calls.calls import Axis
from nkijit.classic.isa.bodies import converting, returning, two_dimensional
from nkijit.classic.isa.constants import as_member, engine
from nkijit.classic.tensors.tensors import ClassicTensor, ClassicTile, Masked, as_tensor
from nkijit.dialects.hardware.words import MemoryRegion, matmul_perf_mode, nc_version
from nkijit.dialects.nisa.matmul import DOUBLE_ROW
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.tracing.checks import flag
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for

_unknown = engine.unknown
_PERF_MODES = {"double_row_gen3": matmul_perf_mode.double_row}
"""Undocumented values of `perf_mode=` in published kernels, with the members of the current API."""


def nc_matmul(
    stationary: Any,
    moving: Any,
    *,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    tile_position: tuple[Any, ...] = (),
    tile_size: tuple[Any, ...] = (),
    mask: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """`stationary.T @ moving` in a new float32 tile in PSUM; see `nkijit.isa.nc_matmul`.

    `psum[...] += nisa.nc_matmul(…)` adds to the tile.

    Args:
        stationary: (K, M) tile in SBUF, or the result of a function in PSUM, which is copied
            first; (K, 2, M) with `perf_mode="double_row_gen3"`.
        moving: (K, N) tile in SBUF, or (K, 2, N) in this mode. The result has the free dimensions
            of `moving`.
        is_stationary_onezero: hint that `stationary` holds zeros and ones only.
        is_moving_onezero: hint that `moving` holds zeros and ones only.
        is_transpose: `moving` is an identity matrix.
        tile_position: (row, column) where the tile starts in the PE array.
        tile_size: (rows, columns) of the PE array that the tile uses.
        mask: which block of the (M, N) result is computed. Masks of the operands limit K, M and N
            each: `stationary[i_k < k]`, `moving[i_n < n]`.
        kwargs: `perf_mode`, "double_row_gen3" or a member of `matmul_perf_mode`.

    Source: NKI API reference 2.26, nki.isa.nc_matmul and "NKI API Masking".
    """
    given = {**locals(), "accumulate": False}
    call = "nisa.nc_matmul"
    rows, columns = as_tensor(call, "stationary", stationary), as_tensor(call, "moving", moving)
    mode = _perf_mode(call, kwargs)
    given["perf_mode"] = mode
    packed = mode is matmul_perf_mode.double_row and rows.shape[1:2] == (DOUBLE_ROW,)
    if rows.ndim > 2 and not packed and not isinstance(rows, Masked):
        given["stationary"] = rows = two_dimensional(call, "stationary", rows)
    kept = 2 if packed else 1
    free = [Axis(rows.ndim + d) for d in range(columns.ndim - kept)]
    version = tracer_for(call).target.version
    return returning(
        "nc_matmul",
        isa.nc_matmul,
        given,
        dtype_of=("stationary", "moving"),
        dtype="float32",
        axes={
            "stationary": tuple(range(rows.ndim)),
            "moving": (*range(kept), *free),
        },
        shape=(Axis(rows.ndim - 1), *free),
        buffer=MemoryRegion.psum,
        # The vendor's compiler chooses the memory of results; tiles that the kernel allocates are
        # not moved.
        from_sbuf=[name for name in _MATRICES if _is_result(given[name])],
        # A transpose passes bits through and may write another type; sums are float32.
        exact=flag(call, "is_transpose", is_transpose) and version >= nc_version.gen3,
        box_only=True,
    )


_MATRICES = ("stationary", "moving")


def _is_result(tile: Any) -> bool:
    return isinstance(tile, ClassicTile) and tile.fresh is not None


def _perf_mode(call: str, rest: dict[str, Any]) -> Any:
    given = rest.pop("perf_mode", matmul_perf_mode.none)
    mode = _PERF_MODES.get(given, given) if isinstance(given, str) else given
    if not isinstance(mode, matmul_perf_mode):
        tracer_for(call).fail(
            UNSUPPORTED,
            call,
            f"'perf_mode' is {one_line(given)}",
            f"leave it out, or use one of {', '.join(map(repr, _PERF_MODES))}",
        )
    return mode


def nc_transpose(
    data: Any,
    *,
    mask: Any = None,
    dtype: Any = None,
    engine: Any = _unknown,
    **kwargs: Any,
) -> ClassicTensor:
    """The transpose of a tile, in PSUM or SBUF; see `nkijit.isa.nc_transpose`.

    Args:
        data: (P, F) tile, further free dimensions are flattened; at most 128x128, and in SBUF for
            the Tensor Engine. The Vector Engine transposes blocks of 32x32, one per instruction.
        mask: the block of `data` that is transposed.
        dtype: data type of the result, by default that of `data`; any other requires a copy.
        engine: tensor (the result is in PSUM) or vector (the result is in SBUF); by default vector
            for a tile in PSUM, and for a tile of at most 32x32.

    Source: NKI API reference 2.26, nki.isa.nc_transpose.
    """
    given = locals()
    call = "nisa.nc_transpose"
    given["data"] = tile = two_dimensional(call, "data", data)
    chosen = as_member("engine", engine)
    if chosen is _unknown:
        limit = tracer_for(call).target.vector_transpose_max
        in_psum = tile.buffer is MemoryRegion.psum
        chosen = _vector if in_psum or max(tile.shape) <= limit else _tensor
    given["engine"] = chosen
    region = MemoryRegion.psum if chosen is _tensor else MemoryRegion.sbuf
    return returning(
        "nc_transpose", _nc_transpose, given, shape=(Axis(1), Axis(0)), buffer=region, box_only=True
    )


_tensor, _vector = engine.tensor, engine.vector


def _nc_transpose(dst: NkiTensor, data: NkiTensor, engine: Any) -> None:
    transposed = _in_blocks if engine is _vector else isa.nc_transpose
    converting(transposed, dst, data.dtype, data, engine)


def _in_blocks(dst: NkiTensor, data: NkiTensor, engine: Any) -> None:
    """Transpose a tile of at most 128x128 in blocks of the Vector Engine's size.

    The documents allow a single block, but the compilers of the classic API accept more: published
    kernels transpose 128x128 (Jerry2423/kda-for-trainium, ucb-bar/autocomp).
    """
    target = tracer_for("nisa.nc_transpose").target
    if max(data.shape) > target.pmax:
        isa.nc_transpose(dst, data, engine)  # a finding
        return
    downs, acrosses = (_parts(size, target.vector_transpose_max) for size in data.shape)
    for down in downs:
        for across in acrosses:
            isa.nc_transpose(dst[across, down], data[down, across], engine)


def _parts(size: int, length: int) -> list[slice]:
    """Return the slices that divide a dimension into parts of at most `length`."""
    return [slice(start, min(start + length, size)) for start in range(0, size, length)]


__all__ = ["nc_matmul", "nc_transpose"]
