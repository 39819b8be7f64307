"""Checks of a whole classic kernel: written parameters, results, placed tiles.

Source: NKI API reference 2.26, nki.errors; NKI direct allocation guide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from xdsl.ir import Operation, SSAValue

from nkijit.classic.tensors.tensors import ClassicTensor
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import views_of
from nkijit.dialects.rule_texts.classic_kernels import (
    IMMUTABLE_PARAMETER,
    MIXED_ALLOCATION,
    OUTPUT_NOT_WRITTEN,
    PARAMETER_NOT_RETURNED,
)
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.tracing.results import of_no_result, written_tensors
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import Tracer
from nkijit.typing import is_mutable


def check_outputs(
    tracer: Tracer,
    function: Callable[..., Any],
    parameters: Mapping[str, Any],
    result: Any,
    returns: bool,
) -> None:
    """Record a finding for each written parameter that is immutable or not returned.

    Args:
        tracer: the tracer of the kernel.
        function: the kernel's function; its annotations mark mutable parameters.
        parameters: the kernel's arguments by name, as the body received them.
        result: the kernel's result, as views of the current API.
        returns: whether results are returned; otherwise they are written to parameters.
    """
    written = {
        tensor.name: (name, write)
        for name, value in parameters.items()
        for tensor in _tensors(value)
        if (write := _first_write(tensor.storage.value)) is not None
    }
    if result is None:
        # A rejected instruction is not in the kernel.
        wrong = any(found.severity == "error" for found in tracer.diagnostics)
        if not written and not wrong:
            message, help = of_no_result(
                written_tensors(tracer), "it returns nothing, and writes no parameter"
            )
            tracer.record_at(function, OUTPUT_NOT_WRITTEN, message, help=help)
        return
    if not returns:
        return
    returned = {tensor.name for tensor in _tensors(result)}
    for tensor, (name, write) in written.items():
        if not is_mutable(function, name):
            found = diagnose(IMMUTABLE_PARAMETER, write, f"parameter '{tensor}' is written")
            tracer.diagnostics.append(found)
        elif tensor not in returned:
            found = diagnose(
                PARAMETER_NOT_RETURNED, write, f"parameter '{tensor}' is written, and not returned"
            )
            tracer.diagnostics.append(found)


def _tensors(value: Any) -> Iterator[NkiTensor]:
    if isinstance(value, ClassicTensor):
        yield value.whole()
    elif isinstance(value, NkiTensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in cast("list[Any]", value):
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in cast("dict[Any, Any]", value).values():
            yield from _tensors(item)


def _first_write(parameter: SSAValue) -> Operation | None:
    """Return an instruction that writes a parameter, preferably without a view."""
    for value in (parameter, *views_of(parameter)):
        for use in value.uses:
            for touched, role in reads_and_writes(use.operation):
                if touched is value and role is not Role.read:
                    return use.operation
    return None


def check_placements(tracer: Tracer) -> None:
    """Warn of the first tile without an address in a kernel that gives addresses to other tiles.

    The vendor's compiler refuses such kernels; nkijit places these tiles in free space.
    """
    placed: AllocOp | None = None
    automatic: AllocOp | None = None
    for op in tracer.kernel.operations:
        if type(op) is not AllocOp or not info_of(op.result).region.on_chip:
            continue
        if op.address is None:
            automatic = automatic or op
        else:
            placed = placed or op
    if placed is None or automatic is None:
        return
    name = automatic.result.name_hint
    found = diagnose(
        MIXED_ALLOCATION,
        automatic,
        f"tile '{name}' has no address",
        related=[(placed, "has an address")],
    )
    tracer.diagnostics.append(found)
