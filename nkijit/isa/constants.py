"""The enumerations that instructions take (`nki.isa.constants`)."""

from __future__ import annotations

from typing import NoReturn

from nkijit.dialects.hardware.words import (
    dge_mode,
    dma_engine,
    engine,
    matmul_perf_mode,
    nc_version,
    oob_mode,
    reduce_cmd,
)
from nkijit.tracing.dtype_names import missing


def __getattr__(name: str) -> NoReturn:
    raise missing("nki.isa.constants", name, globals())


__all__ = [
    "dge_mode",
    "dma_engine",
    "engine",
    "matmul_perf_mode",
    "nc_version",
    "oob_mode",
    "reduce_cmd",
]
