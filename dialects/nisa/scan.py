"""Scans along the free dimensions: tensor_tensor_scan."""

from __future__ import annotations

from nkijit.dialects.constraints import (
    ON_CHIP,
    alu_operator,
    column_of,
    computable,
    free_size_match,
    in_buffer,
    not_both_in_psum,
    operators_since,
    partitions_match,
)
from nkijit.dialects.declare import NisaOp, Stage, instruction
from nkijit.dialects.engine_costs import SCAN
from nkijit.dialects.fields import flag, operator, tile, tile_or_scalar, written
from nkijit.dialects.hardware import engine
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
