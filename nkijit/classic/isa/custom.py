"""Custom operators."""

from __future__ import annotations

from typing import Any, NoReturn

from nkijit.dialects.rule_texts.operands import UNSUPPORTED
from nkijit.tracing.tracer import tracer_for


def builtin_custom_op(
    function_name: str,
    lib_file_name: str,
    ulib_to_ucode_version: Any,
    ulib_to_isa_version: Any,
    srcs: Any,
    dsts: Any,
    **kwargs: Any,
) -> NoReturn:
    """End the trace: the computation of a library function for the GpSimd Engine is not known."""
    call = "nisa.builtin_custom_op"
    tracer_for(call).fail(
        UNSUPPORTED,
        call,
        f"function '{function_name}' of library '{lib_file_name}'",
        "write the function with other instructions",
    )


__all__ = ["builtin_custom_op"]
