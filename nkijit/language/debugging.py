"""Prints of a kernel while it runs."""

from __future__ import annotations

from typing import Any, cast

from nkijit.dialects.nki.kernel import DevicePrintOp
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for


def device_print(print_prefix: str, tensor: NkiTensor) -> None:
    """Print a tensor's values when the kernel runs, after `print_prefix`.

    Example:

        nl.device_print("total", total)

    Source: NKI API reference, nki.language.device_print.
    """
    tracer = tracer_for("nl.device_print")
    if not isinstance(cast(Any, print_prefix), str):
        tracer.wrong_argument("nl.device_print", "print_prefix", "a string", print_prefix)
    if not isinstance(cast(Any, tensor), NkiTensor):
        tracer.wrong_argument("nl.device_print", "tensor", "a tensor", tensor)
    if tensor.is_indirect():
        tracer.fail(
            ARGUMENT,
            "nl.device_print",
            "'tensor': its address is known at run time only, copy the elements to a tile first",
        )
    op = DevicePrintOp.of(print_prefix, tensor.ssa_value())
    tracer.append(op, tracer.location())


__all__ = ["device_print"]
