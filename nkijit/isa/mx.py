"""Microscaling (MX) instructions."""

from __future__ import annotations

from nkijit.dialects.nisa.mx import NcMatmulMxOp, QuantizeMxOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.tensor import NkiTensor

__all__ = ["nc_matmul_mx", "quantize_mx"]


def nc_matmul_mx(
    dst: NkiTensor,
    stationary: NkiTensor,
    moving: NkiTensor,
    stationary_scale: NkiTensor,
    moving_scale: NkiTensor,
    tile_position: tuple[int, ...] | None = None,
    tile_size: tuple[int, ...] | None = None,
    accumulate: bool | None = None,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = stationary.T @ moving` of MXFP8 and MXFP4 data (NeuronCore-v4 and newer).

    The contraction runs over the partitions and the four values of each x4 element. Every value
    is multiplied by the scale of its group, 2**(scale - 127), in float32, where it may overflow to
    infinity; a scale of 255 is NaN. Products and sums are float32.

    There is one scale per group of 8 partitions and one x4 element. The scales for each 32
    partitions of data are in 4 partitions of the scale tile: 0 to 3, 32 to 35, 64 to 67 and 96 to
    99. These count from the tile's first partition, which is 0, 4, 8 or 12 in a quadrant. The other
    partitions of the scale tile are not used.

    Args:
        dst: (M, N) tile in PSUM; float32 or bfloat16.
        stationary: (K, M) tile in SBUF of an x4 type; K is 32, 64, 96 or 128, M even and at most
            128.
        moving: (K, N) tile in SBUF of an x4 type, also one other than that of `stationary`; N is at
            most 4096, or 8192 for a bfloat16 `dst`.
        stationary_scale: float8_e8m0fnu or uint8 tile in SBUF with M scales per partition.
        moving_scale: float8_e8m0fnu or uint8 tile in SBUF with N scales per partition.
        tile_position: (row, 0) where the tile starts in the PE array; given with `tile_size`.
        tile_size: (rows, 128) of the PE array that the tile uses, rows being 32, 64 or 128.
        accumulate: True adds to `dst`, False overwrites it, None overwrites elements that no
            matmul has written and adds to all other elements.
        name: name of the instruction.

    Example:

        nisa.nc_matmul_mx(psum[:, 0:128], quantized, quantized, scales, scales)

    Source: NKI API reference, nki.isa.nc_matmul_mx.
    """
    return emit(NcMatmulMxOp, locals())


def quantize_mx(
    dst: NkiTensor,
    src: NkiTensor,
    dst_scale: NkiTensor,
    name: str | None = None,
) -> NkiInstruction:
    """Scale groups of 32 values into the range of float8 and pack them (NeuronCore-v4 and newer).

    A group is 8 partitions of 4 neighbouring elements. Let `e` be the exponent of the group's
    largest magnitude, and `top` the exponent of the largest float8 value (8 for float8_e4m3fn, 15
    for float8_e5m2). The group's scale is 2**(e - (top - 1)), at least 2**-127; for a group of
    zeros, the scale is 2**-127. Each value is divided by the scale and rounded once, to nearest,
    ties to even.

    The documents do not define infinities and NaN. In nkijit, `e` of an infinity or NaN is the
    exponent after the largest finite exponent, as in the bits. NaN remains NaN. An infinity becomes
    the largest float8 value of its sign, and the product of this value and the scale is infinite
    again.

    Args:
        dst: (P, F) tile in SBUF; float8_e5m2_x4 or float8_e4m3fn_x4.
        src: (P, 4 * F) tile in SBUF; float16 or bfloat16. P is 32, 64, 96 or 128.
        dst_scale: float8_e8m0fnu or uint8 tile in SBUF with F scales per partition, laid out as
            `nc_matmul_mx` reads them. Partitions of the tile without scales do not change.
        name: name of the instruction.

    Example:

        nisa.quantize_mx(quantized, bf16, scales)

    Source: NKI API reference, nki.isa.quantize_mx.
    """
    return emit(QuantizeMxOp, locals())
