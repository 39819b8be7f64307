"""The memories of tensors: HBM, SBUF and PSUM."""

from __future__ import annotations

from nkijit.dialects.hardware.words import MemoryRegion

sbuf = MemoryRegion.sbuf
"""The state buffer: on chip, dim 0 of a tile is the partition."""
psum = MemoryRegion.psum
"""The partial sum buffer: on chip, where the Tensor Engine writes."""
private_hbm = MemoryRegion.private_hbm
"""Device memory of one core."""
shared_hbm = MemoryRegion.shared_hbm
"""Device memory that all cores see: results of a kernel are there."""
hbm = private_hbm
"""The same as `private_hbm`."""


def is_hbm(buffer: MemoryRegion | str) -> bool:
    """True for private and shared HBM.

    Example:

        in_hbm = nl.is_hbm(hbm.buffer)

    Source: NKI API reference, nki.language.is_hbm.
    """
    return buffer is MemoryRegion.private_hbm or buffer is MemoryRegion.shared_hbm


def is_on_chip(buffer: MemoryRegion | str) -> bool:
    """True for SBUF and PSUM.

    Example:

        on_chip = nl.is_on_chip(x.buffer)

    Source: NKI API reference, nki.language.is_on_chip.
    """
    return buffer is MemoryRegion.sbuf or buffer is MemoryRegion.psum


def is_psum(buffer: MemoryRegion | str) -> bool:
    """True for PSUM.

    Example:

        in_psum = nl.is_psum(psum.buffer)

    Source: NKI API reference, nki.language.is_psum.
    """
    return buffer is MemoryRegion.psum


def is_sbuf(buffer: MemoryRegion | str) -> bool:
    """True for SBUF.

    Example:

        in_sbuf = nl.is_sbuf(x.buffer)

    Source: NKI API reference, nki.language.is_sbuf.
    """
    return buffer is MemoryRegion.sbuf


__all__ = [
    "hbm",
    "is_hbm",
    "is_on_chip",
    "is_psum",
    "is_sbuf",
    "private_hbm",
    "psum",
    "sbuf",
    "shared_hbm",
]
