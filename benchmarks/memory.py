"""Memory of runs: page faults of warm calls, and memory of tiles relative to the live ones."""

from __future__ import annotations

import multiprocessing
import resource
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.interpret.plan.plan import Plan

P, F = 128, 512
TILE = P * F * 4
WARM_TILES = 64
TILES = 8_000
FAULTS_LIMIT = 100
"""Limit for the page faults of a warm call."""
MEMORY_LIMIT = 1.2
"""Limit for the memory of all tiles, relative to those that are live at the same time."""


@nki.jit
def _all_at_once(x: Any) -> Any:
    """64 tiles that are live at the same time."""
    out = nl.ndarray((WARM_TILES * P, F), x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.ndarray((P, F), x.dtype, buffer=nl.sbuf) for _ in range(WARM_TILES)]
    for tile in tiles:
        nisa.dma_copy(dst=tile, src=x)
    for number, tile in enumerate(tiles):
        nisa.dma_copy(dst=out[nl.ds(number * P, P), :], src=tile)
    return out


@nki.jit
def _one_after_the_other(x: Any) -> Any:
    """8,000 tiles, of which two are live at any time."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    before = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=before, src=x)
    for _ in range(TILES):
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=tile, data=before, op0=nl.add, operand0=1.0)
        before = tile
    nisa.dma_copy(dst=out, src=before)
    return out


def page_faults() -> int:
    """Count the page faults of a warm call with 64 tiles of 256 KiB and a result of 16 MiB."""
    return _in_process(_page_faults)


def _page_faults() -> int:
    x = np.ones((P, F), np.float32)
    result = None
    faults = 0
    for _ in range(6):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        result = _all_at_once(x)
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert result is not None
    return faults


def tile_bytes() -> int:
    """Measure the memory of 8,000 tiles of 256 KiB, of which two are live at any time.

    Returns the difference, in bytes, to a run of the same kernel with one element per partition.
    """
    return _in_process(_tile_bytes)


def _tile_bytes() -> int:
    large, small = (_peak(np.ones((P, size), np.float32)) for size in (F, 1))
    # The result has the size of one tile.
    return large - small - TILE


def _peak(x: np.ndarray[Any, Any]) -> int:
    (kernel,) = kernels_of(_one_after_the_other.trace(x).module)
    plan = Plan(kernel)
    tracemalloc.start()
    result = plan.run([x])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result is not None
    return peak


def _in_process(function: Callable[[], int]) -> int:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function)
