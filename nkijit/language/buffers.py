"""Where tensors live: HBM, SBUF and PSUM."""

from __future__ import annotations

from typing import Any

from nkijit.dialects.hardware.words import MemoryRegion

sbuf = MemoryRegion.sbuf
psum = MemoryRegion.psum
private_hbm = MemoryRegion.private_hbm
shared_hbm = MemoryRegion.shared_hbm
hbm = private_hbm


def is_hbm(buffer: Any) -> bool:
    """True for private and shared HBM. Source: NKI API reference, nki.language.is_hbm."""
    return buffer in (MemoryRegion.private_hbm, MemoryRegion.shared_hbm)


def is_on_chip(buffer: Any) -> bool:
    """True for SBUF and PSUM. Source: NKI API reference, nki.language.is_on_chip."""
    return buffer in (MemoryRegion.sbuf, MemoryRegion.psum)


def is_psum(buffer: Any) -> bool:
    """True for PSUM. Source: NKI API reference, nki.language.is_psum."""
    return buffer is MemoryRegion.psum


def is_sbuf(buffer: Any) -> bool:
    """True for SBUF. Source: NKI API reference, nki.language.is_sbuf."""
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
