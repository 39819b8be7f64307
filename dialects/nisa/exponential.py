"""The exponential of the Vector Engine, with its running sum."""

from __future__ import annotations

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import ReduceCmdAttr
from nkijit.dialects.costs.engines import streaming
from nkijit.dialects.declare.fields import (
    opt_tile_or_scalar,
    opt_written,
    tile,
    word,
    written,
)
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import ON_CHIP
from nkijit.dialects.declare.rules.operands import dtype_in, in_buffer
from nkijit.dialects.declare.rules.operators import reduce_cmd_in, reduce_init_unset
from nkijit.dialects.declare.rules.shapes import (
    at_most_dims,
    column_of,
    free_size_match,
    partitions_match,
)
from nkijit.dialects.declare.rules.targets import since
from nkijit.dialects.declare.spec import Accumulators, Stage
from nkijit.dialects.hardware.words import engine, nc_version, reduce_cmd
from nkijit.dialects.nisa.activation import READ_ACCUMULATORS

_SHARED_DTYPES = (
    "float8_e4m3",
    "float8_e5m2",
    "float16",
    "bfloat16",
    "float32",
    "int8",
    "int16",
    "int32",
    "uint8",
    "uint16",
)


@instruction(
    engines=(engine.vector,),
    since=nc_version.gen4,
    rules=(
        since(nc_version.gen4),
        in_buffer(ON_CHIP, "dst", "src", "max_value", "reduce_res", "reduce_init"),
        partitions_match("src", "dst"),
        free_size_match("src", "dst"),
        at_most_dims(4, "src", "dst"),
        column_of("max_value", "src"),
        column_of("reduce_res", "src"),
        column_of("reduce_init", "src"),
        dtype_in((*_SHARED_DTYPES, "tfloat32"), "dst"),
        dtype_in((*_SHARED_DTYPES, "uint32"), "src"),
        dtype_in(("float32",), "max_value", "reduce_init"),
        dtype_in(
            ("float8_e4m3", "float8_e5m2", "float16", "bfloat16", "float32", "tfloat32"),
            "reduce_res",
        ),
        reduce_cmd_in(
            reduce_cmd.idle, reduce_cmd.reset_reduce, reduce_cmd.reduce, reduce_cmd.load_reduce
        ),
        reduce_init_unset(),
    ),
    stages=(
        Stage(
            "EXPONENTIAL",
            ("dst", "src", "max_value", "reduce_init"),
            streaming("src", "exponential_rate"),
        ),
        READ_ACCUMULATORS,
    ),
    accumulators=Accumulators(engine.vector, idle_clobbers=True, operator="add"),
    per_partition=True,
)
class ExponentialOp(NisaOp):
    """`dst = exp(src - max_value)`, optionally summed over the free dimensions."""

    name = "nisa.exponential"

    dst = written(Indirection.tensor)
    src = tile(Indirection.tensor)
    max_value = opt_tile_or_scalar(default=0.0)
    reduce_res = opt_written()
    reduce_cmd = word(ReduceCmdAttr, reduce_cmd.idle)
    reduce_init = opt_tile_or_scalar(default=0.0)
