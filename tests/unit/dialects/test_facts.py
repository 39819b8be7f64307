"""What is derived from an instruction's declaration and arguments, in one place each."""

from __future__ import annotations

import pytest
from support.instructions import instruction_of

from nkijit.dialects.declare.queries import (
    is_transpose,
    passes_bits_through,
    skips_out_of_bounds,
)
from nkijit.dialects.hardware.targets import target_named
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of

MATMUL = "nisa.nc_matmul dst=%p, stationary=%k, moving=%m"
TRANSPOSE = "nisa.nc_matmul dst=%p, stationary=%k, moving=%m, is_transpose=true"
MX = (
    "%s4 = nki.alloc : memref<128x128x!nki.f8E4M3FNx4, #nki.sbuf>",
    "%scale = nki.alloc : memref<128x128xui8, #nki.sbuf>",
    "%q = nki.alloc : memref<128x128xf32, #nki.psum>",
    "nisa.nc_matmul_mx dst=%q, stationary=%s4, moving=%s4, stationary_scale=%scale, "
    "moving_scale=%scale",
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nisa.nc_transpose dst=%y, data=%x", True),
        ("nisa.dma_transpose dst=%y, src=%x", True),
        (TRANSPOSE, True),
        (MATMUL, False),
        ("nisa.dma_copy dst=%y, src=%x", False),
    ],
)
def test_what_is_a_transpose(line: str, expected: bool) -> None:
    assert is_transpose(instruction_of(line)) is expected


@pytest.mark.parametrize(("target", "expected"), [("trn1", False), ("trn2", True), ("trn3", True)])
def test_transpose_mode_needs_a_generation(target: str, expected: bool) -> None:
    """On NeuronCore-v2 `is_transpose` is a hint."""
    numbers = target_named(target)
    assert passes_bits_through(instruction_of(TRANSPOSE), numbers) is expected
    assert not passes_bits_through(instruction_of(MATMUL), numbers)
    assert not passes_bits_through(instruction_of("nisa.nc_transpose dst=%y, data=%x"), numbers)


@pytest.mark.parametrize("lines", [(MATMUL,), MX])
@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("", Accumulation.by_location),
        (", accumulate=true", Accumulation.adds),
        (", accumulate=false", Accumulation.overwrites),
    ],
)
def test_matmuls_add_as_they_are_told(
    lines: tuple[str, ...], argument: str, expected: Accumulation
) -> None:
    op = instruction_of(*lines[:-1], lines[-1] + argument)
    for target in ("trn1", "trn3"):
        assert accumulation_of(op, target_named(target)) is expected


def test_transpose_mode_overwrites() -> None:
    op = instruction_of(TRANSPOSE)
    assert accumulation_of(op, target_named("trn1")) is Accumulation.by_location
    assert accumulation_of(op, target_named("trn2")) is Accumulation.overwrites


@pytest.mark.parametrize(
    "line", ["nisa.nc_transpose dst=%p, data=%k", "nisa.tensor_copy dst=%y, src=%x"]
)
def test_what_is_no_matmul_does_not_add(line: str) -> None:
    assert accumulation_of(instruction_of(line), target_named("trn3")) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nisa.dma_copy dst=%y, src=%x", False),
        ("nisa.dma_copy dst=%y, src=%x, oob_mode=skip", True),
        ("nisa.dma_copy dst=%y, src=%x, oob_mode=error", False),
        ("nisa.tensor_copy dst=%y, src=%x", False),
    ],
)
def test_what_skips_rows_out_of_bounds(line: str, expected: bool) -> None:
    assert skips_out_of_bounds(instruction_of(line)) is expected
