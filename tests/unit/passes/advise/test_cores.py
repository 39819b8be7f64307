"""`two-cores` against kernels that are launched on two cores."""

from __future__ import annotations

import pytest
from support.advice import EVERY_TARGET, TOLERANCE, normal, suggestions

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl


@nki.jit
def exponentials(x):
    """Blocks of rows, the cores' one after the other."""
    blocks = x.shape[0] // 128
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    cores = nl.num_programs(0) if nl.program_ndim() else 1
    each = blocks // cores
    first = each * nl.program_id(0) if cores > 1 else 0
    for i in range(each):
        rows = slice((first + i) * 128, (first + i + 1) * 128)
        tile = nl.ndarray((128, x.shape[1]), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[rows])
        nisa.activation(tile, nl.exp, tile)
        nisa.dma_copy(dst=out[rows], src=tile)
    return out


@pytest.mark.parametrize("target", EVERY_TARGET[1:])
def test_blocks_on_two_cores(target: str) -> None:
    args = (normal(2048, 2048),)
    (found,) = suggestions(exponentials, target, args, "two-cores")
    time = exponentials[2].for_target(target).trace(*args).profile(schedule="author").time
    assert abs(found.after - time) <= TOLERANCE * time
    assert found.numbers == "estimate"
    assert found.message == "launch on two cores, of which each does half of the 16 stores"


def test_trn1_runs_a_kernel_on_one_core() -> None:
    assert not suggestions(exponentials, "trn1", (normal(2048, 2048),), "two-cores")


def test_a_kernel_on_two_cores_is_on_two_cores() -> None:
    traced = exponentials[2].for_target("trn2").trace(normal(2048, 2048))
    assert "two-cores" not in {s.kind for s in traced.advice().suggestions}
