"""Scans along the free dimensions: tensor_tensor_scan."""

from __future__ import annotations

from nkijit.dialects.costs.engines import SCAN
from nkijit.dialects.declare.fields import flag, operator, tile, tile_or_scalar, written
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import ON_CHIP
from nkijit.dialects.declare.rules.operands import computable, in_buffer, not_both_in_psum
from nkijit.dialects.declare.rules.operators import alu_operator
from nkijit.dialects.declare.rules.shapes import (
    column_of,
    free_size_match,
    partitions_match,
)
from nkijit.dialects.declare.rules.targets import operators_since
from nkijit.dialects.declare.spec import Stage
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.operators import AluKind


@instruction(
    engines=(engine.vector,),
    rules=(
        alu_operator("op0", "op1", kinds=(AluKind.arithmetic,)),
        operators_since("op0", "op1"),
        in_buffer(ON_CHIP, "dst", "data0", "data1", "initial"),
        not_both_in_psum("data0", "data1"),
        partitions_match("data0", "data1", "dst"),
        free_size_match("data0", "data1", "dst"),
        column_of("initial", "data0"),
        computable("dst", "data0", "data1", "initial"),
    ),
    stages=(Stage("TENSOR_TENSOR_SCAN", ("dst", "data0", "data1", "initial"), SCAN),),
    per_partition=True,
)
class TensorTensorScanOp(NisaOp):
    """`dst[i] = (data0[i] op0 dst[i - 1]) op1 data1[i]`, with `initial` before the first."""

    name = "nisa.tensor_tensor_scan"

    dst = written()
    data0 = tile()
    data1 = tile()
    initial = tile_or_scalar()
    op0 = operator()
    op1 = operator()
    reverse0 = flag()
    reverse1 = flag()
