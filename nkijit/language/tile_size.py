"""`nl.tile_size`: the hardware's tile limits on the current target."""

from __future__ import annotations

from typing import NoReturn

from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.spelling import did_you_mean
from nkijit.tracing.target import current_target

_FLOAT32_BYTES = DTYPES["float32"].itemsize


class TileSize:
    """Tile limits of the target that the kernel is traced for.

    Source: NKI API reference, nki.language.tile_size.
    """

    def __getattr__(self, name: str) -> NoReturn:
        members = [each for each in dir(type(self)) if not each.startswith("_")]
        raise AttributeError(f"nl.tile_size has no '{name}'{did_you_mean(name, members)}")

    @property
    def pmax(self) -> int:
        """The maximum number of partitions of a tile."""
        return current_target().pmax

    @property
    def psum_bank_fmax(self) -> int:
        """Float32 elements per partition of a PSUM bank."""
        return self.psum_bank_fmax_bytes // _FLOAT32_BYTES

    @property
    def psum_fmax(self) -> int:
        """Deprecated name of `psum_bank_fmax`."""
        return self.psum_bank_fmax

    @property
    def psum_bank_fmax_bytes(self) -> int:
        """Bytes per partition of a PSUM bank."""
        return current_target().psum_bank_bytes

    @property
    def psum_num_banks(self) -> int:
        """PSUM banks per partition."""
        return current_target().psum_banks

    @property
    def gemm_stationary_fmax(self) -> int:
        """The maximum number of columns of a stationary matmul tile."""
        return current_target().gemm_stationary_fmax

    @property
    def gemm_moving_fmax(self) -> int:
        """Columns of a moving matmul tile whose float32 result fills one PSUM bank.

        On NeuronCore-v4, `nc_matmul` accepts more columns. Kernels use this number as tile size.
        """
        return current_target().gemm_moving_fmax

    @property
    def bn_stats_fmax(self) -> int:
        """The maximum number of elements per partition for `nisa.bn_stats`."""
        return current_target().bn_stats_fmax

    @property
    def psum_min_align(self) -> int:
        """Alignment of a PSUM address in bytes."""
        return current_target().psum_min_align

    @property
    def sbuf_min_align(self) -> int:
        """Alignment of an SBUF address in bytes."""
        return current_target().sbuf_min_align

    @property
    def sbuf_size_bytes(self) -> int:
        """The size of SBUF in bytes, over all partitions."""
        return current_target().sbuf_partition_bytes * self.pmax

    @property
    def sbuf_fmax_bytes(self) -> int:
        """Usable bytes of SBUF per partition."""
        return current_target().sbuf_usable_bytes

    @property
    def sbuf_fmax(self) -> int:
        """Usable float32 elements of SBUF per partition."""
        return self.sbuf_fmax_bytes // _FLOAT32_BYTES

    @property
    def total_available_sbuf_size(self) -> int:
        """Deprecated name of `sbuf_fmax_bytes`."""
        return self.sbuf_fmax_bytes


tile_size = TileSize()
