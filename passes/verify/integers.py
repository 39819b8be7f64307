"""Checks that float32 arithmetic on 32-bit integers is exact."""

from __future__ import annotations

from collections.abc import Iterator

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import PSUM, engine_of, tile_of
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nisa.elementwise import TensorScalarOp, TensorTensorOp, native_int32
from nkijit.dialects.nisa.integers import INEXACT
from nkijit.dialects.nisa.movement import DmaComputeOp
from nkijit.dialects.nisa.reduce import TensorReduceOp
from nkijit.dialects.nisa.select import MAX_INDEX
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.rule_texts.lint import ROUNDED_INTEGERS
from nkijit.dialects.tiles import info_of
from nkijit.passes.analysis.flow.integer_bounds import any_of
from nkijit.passes.analysis.flow.integers import Rounded, rounded_integers
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic


def check_integers(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a warning for each integer result that float32 may round, in program order."""
    for each in rounded_integers(kernel):
        yield _finding(each, kernel.target)


def _finding(each: Rounded, target: Target) -> Diagnostic:
    op = each.op
    words = " and ".join(
        dict.fromkeys(f"nl.{word}" for word in each.arithmetic.words if word in INEXACT)
    )
    dst = info_of(op.required("dst")).dtype
    runs_on = engine_of(op, target)
    where = "the DMA engines" if runs_on is engine.dma else f"the {runs_on.name.title()} Engine"
    name = "dst" if each.operand is None else each.operand
    value = op.operand_named(name)
    if each.operand is not None and each.bounds == any_of(dst):
        why = f"nothing limits '{name}' to that"
    else:
        why = f"'{name}' can reach {_farthest(each)}"
    message = (
        f"computes {words} of {dst.name} in float32 on {where}, which is exact up to 2**24 "
        f"({MAX_INDEX}), and {why}"
    )
    operands = [] if value is None else [(name, value)]
    return diagnose(ROUNDED_INTEGERS, op, message, operands, help=_help(op))


def _farthest(each: Rounded) -> int:
    bounds = each.bounds
    return bounds.high if bounds.high >= -bounds.low else bounds.low


def _help(op: NisaOp) -> str | None:
    """Return how to compute the same result in integers."""
    if isinstance(op, TensorTensorOp):
        if any((t := tile_of(op, name)) is not None and t.region is PSUM for name in _TILES):
            return (
                "copy the operands to SBUF with nisa.tensor_copy, and allocate dst in SBUF: "
                "nisa.tensor_tensor then runs on the GpSimd Engine, in integers"
            )
        if native_int32(op):
            return "leave engine= out: by default the GpSimd Engine computes it in integers"
        return (
            "copy the operands to int32 or uint32 tiles with nisa.tensor_copy: "
            "nisa.tensor_tensor then runs on the GpSimd Engine, in integers"
        )
    if isinstance(op, TensorScalarOp):
        return (
            "write the number to an int32 tile with nisa.memset, and use nisa.tensor_tensor of "
            "int32 tiles in SBUF: the GpSimd Engine computes it in integers"
        )
    if isinstance(op, TensorReduceOp):
        return (
            "combine slices of the tile with nisa.tensor_tensor of int32 tiles in SBUF: the GpSimd "
            "Engine computes it in integers"
        )
    if isinstance(op, DmaComputeOp):
        return (
            "load the sources to SBUF, and add them with nisa.tensor_tensor of int32 tiles: the "
            "GpSimd Engine computes it in integers"
        )
    return None


_TILES = ("dst", "data1", "data2")
