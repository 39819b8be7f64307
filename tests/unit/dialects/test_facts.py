"""Facts derived from an instruction's declaration and arguments, each in one place."""

from __future__ import annotations

import pytest
from support.instructions import instruction_of, instructions_of, kernel_of
from xdsl.dialects.scf import ForOp, WhileOp

from nkijit.dialects.declare.operation import form_key
from nkijit.dialects.declare.queries import (
    is_transpose,
    passes_bits_through,
    rules_of,
    skips_out_of_bounds,
)
from nkijit.dialects.hardware.targets import gpsimd_core_elements, gpsimd_cores, target_named
from nkijit.dialects.nisa.accumulation import Accumulation, accumulation_of
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.nisa.universal_rules import UNIVERSAL_RULES, all_rules_of
from nkijit.dialects.nki import WITH_RULES
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import ReturnOp
from nkijit.dialects.nki.loops import compared, controls, storage_of
from nkijit.dialects.nki.registers import RegisterOp
from nkijit.dialects.nki.views import (
    ViewOp,
    access_in_partition,
    access_of,
    row_elements,
    start_partition,
)

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
def test_transposes(line: str, expected: bool) -> None:
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
def test_matmuls_add_by_their_accumulate_argument(
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
def test_other_instructions_than_matmuls_do_not_add(line: str) -> None:
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
def test_instructions_that_skip_rows_out_of_bounds(line: str, expected: bool) -> None:
    assert skips_out_of_bounds(instruction_of(line)) is expected


# ------------------------------------------------------------------ stages


def test_the_main_stage_is_the_last_that_always_runs() -> None:
    plain = instruction_of("nisa.activation dst=%y, op=exp, data=%x")
    summed = instruction_of(
        "nisa.activation dst=%y, op=exp, data=%x, reduce_op=add, reduce_res=%column"
    )
    first, second = plain.SPEC.stages
    assert plain.SPEC.main_stage == 0
    assert second.when == "reduce_res"
    assert plain.given_stages() == [first]
    assert summed.given_stages() == [first, second]
    assert not plain.runs(second)
    assert summed.runs(second)
    assert NcMatmulOp.SPEC.main_stage == 1


# ------------------------------------------------------------------ rules


def test_rules_of_a_class() -> None:
    assert rules_of(NcMatmulOp) is NcMatmulOp.SPEC.rules
    assert rules_of(AllocOp) is AllocOp.RULES
    assert rules_of(RegisterOp) == ()
    assert all_rules_of(AllocOp) == AllocOp.RULES
    assert all_rules_of(NcMatmulOp) == (*NcMatmulOp.SPEC.rules, *UNIVERSAL_RULES)
    assert set(WITH_RULES) == {AllocOp, ViewOp, ReturnOp}


# ------------------------------------------------------------------ forms


def test_operations_of_one_form_differ_in_operands_at_most() -> None:
    copy, other, skipping, named, reduced = instructions_of(
        "nisa.dma_copy dst=%y, src=%x, oob_mode=error",
        "nisa.dma_copy dst=%x, src=%hbm, oob_mode=error",
        "nisa.dma_copy dst=%y, src=%x, oob_mode=skip",
        'nisa.dma_copy dst=%y, src=%x, oob_mode=error, name="n"',
        "nisa.tensor_copy dst=%y, src=%x",
    )
    assert form_key(copy) == form_key(other)
    assert len({form_key(op) for op in (copy, skipping, named, reduced)}) == 4


# ------------------------------------------------------------------ loops


LOOPS = (
    "%c0 = arith.constant 0 : i32",
    "%c2 = arith.constant 2 : i32",
    "%r = nki.register",
    "%n = nki.read %r",
    "scf.for %i = %c0 to %n step %c2 : i32 {",
    "nisa.register_move dst=%r, src=%i",
    "}",
    "scf.while () : () -> () {",
    "  %left = nki.read %r",
    "  %more = arith.cmpi ne, %left, %c0 : i32",
    "  scf.condition(%more)",
    "} do {",
    "  nisa.register_move dst=%r, src=%c0",
    "  scf.yield",
    "}",
)


def test_numbers_that_say_how_often_a_loop_runs() -> None:
    kernel = kernel_of(*LOOPS)
    (register,) = (op.result for op in kernel.operations if isinstance(op, RegisterOp))
    (count,) = (op for op in kernel.operations if isinstance(op, ForOp))
    (loop,) = (op for op in kernel.operations if isinstance(op, WhileOp))
    assert controls(count) == {"lower": count.lb, "upper": count.ub, "step": count.step}
    assert storage_of(count.ub) is register
    assert storage_of(count.lb) is count.lb
    left, right = compared(loop) or ()
    assert controls(loop) == {"left": left, "right": right}
    assert storage_of(left) is register
    assert storage_of(right) is count.lb


# ------------------------------------------------------------------ places


def test_where_a_tile_begins() -> None:
    copy, fixed = instructions_of(
        "%v = nki.view %x offset=2056 pattern=[[64, 32], [2, 8]]",
        "nisa.tensor_copy dst=%v, src=%v",
        "%placed = nki.alloc address=[32, 256] : memref<64x64xf32, #nki.sbuf>",
        "%w = nki.view %placed offset=4096 pattern=[[128, 32], [1, 128]] as bf16",
        "nisa.tensor_copy dst=%w, src=%w",
    )
    view, within = copy.required("dst"), fixed.required("dst")
    assert row_elements(view) == 64
    assert access_of(view).start(64) == (32, 8)
    assert start_partition(view) == (32, False)
    assert (access_in_partition(view).strides, access_in_partition(view).shape) == ((2,), (8,))
    assert access_in_partition(view).offset == 8
    # Two elements of the view in the place of one of the allocation.
    assert row_elements(within) == 128
    assert start_partition(within) == (64, True)


def test_partitions_and_elements_of_gpsimd_cores() -> None:
    assert list(gpsimd_cores(48)) == [0, 16, 32]
    assert list(gpsimd_cores(1)) == [0]
    assert gpsimd_core_elements(3) == 48
