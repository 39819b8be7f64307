"""Activation instructions of the Scalar Engine."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.classic.isa.bodies import returning
from nkijit.classic.isa.constants import as_member, reduce_cmd
from nkijit.classic.tensors.tensors import ClassicTensor, as_tensor
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.classic import ACTIVATION_BIAS
from nkijit.tracing.dtype_names import as_dtype
from nkijit.tracing.tracer import tracer_for

_idle = reduce_cmd.idle
_VECTORS = ("bias", "scale", "reduce_res")
_BIAS_DTYPES = ("float32", "float16", "bfloat16")
_BIAS = "tile of float32, float16 or bfloat16"


def activation(
    op: Any,
    data: Any,
    *,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: Any = None,
    reduce_res: Any = None,
    reduce_cmd: Any = _idle,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """`op(data * scale + bias)`, optionally reduced; see `nkijit.isa.activation`.

    Args:
        op: activation function, e.g. `nl.exp` or `np.exp`.
        data: (P, …) tile in SBUF or PSUM.
        bias: (P, 1) tile of float32, float16 or bfloat16.
        scale: number or (P, 1) float32 tile.
        reduce_op: `nl.add`, reduces the float32 results over the free dimensions.
        reduce_res: (P, 1) tile that receives the accumulators.
        reduce_cmd: the effect on the accumulators: idle, reset, reduce or reset_reduce.
        mask: which elements are computed; a block if they are reduced.
        dtype: data type of the result, by default that of `data`.

    Source: NKI API reference 2.26, nki.isa.activation.
    """
    arguments = locals()
    _check_bias("nisa.activation", bias)
    return returning(
        "activation",
        isa.activation,
        arguments,
        per_partition=_VECTORS,
        updated=("reduce_res",),
        box_only=as_member("reduce_cmd", reduce_cmd) is not _idle,
    )


def activation_reduce(
    op: Any,
    data: Any,
    *,
    reduce_op: Any,
    reduce_res: Any,
    bias: Any = None,
    scale: Any = 1.0,
    mask: Any = None,
    dtype: Any = None,
    **kwargs: Any,
) -> ClassicTensor:
    """`op(data * scale + bias)` and its sum; see `nkijit.isa.activation_reduce`.

    Args:
        op: activation function.
        data: (P, …) tile in SBUF or PSUM.
        reduce_op: `nl.add` or `np.add`.
        reduce_res: (P, 1) tile that receives the sum over all free dimensions.
        bias: (P, 1) tile of float32, float16 or bfloat16.
        scale: number or (P, 1) float32 tile.
        mask: the block of elements that is computed and summed.
        dtype: data type of the result, by default that of `data`.

    Source: NKI API reference 2.26, nki.isa.activation_reduce.
    """
    arguments = locals()
    _check_bias("nisa.activation_reduce", bias)
    return returning(
        "activation_reduce",
        isa.activation_reduce,
        arguments,
        per_partition=_VECTORS,
        updated=("reduce_res",),
        box_only=True,
    )


def _check_bias(call: str, bias: Any) -> None:
    if bias is None:
        return
    found = f"it is {one_line(bias)}"
    if isinstance(bias, ClassicTensor):
        name = as_dtype(as_tensor(call, "bias", bias).dtype).name
        if name in _BIAS_DTYPES:
            return
        found = f"it has elements of type {name}"
    tracer_for(call).fail(ACTIVATION_BIAS, call, f"'bias' must be a {_BIAS}, {found}")


__all__ = ["activation", "activation_reduce"]
