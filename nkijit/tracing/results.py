"""The result of a kernel: its tensors, and the container (tuple, dict, …) that holds them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from xdsl.ir import Block, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.kernel import DevicePrintOp, ReturnOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.lint import NO_RESULT
from nkijit.dialects.rule_texts.operands import RETURN
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.diagnose import describe_operand
from nkijit.passes.diagnostics.diagnostic import Operand
from nkijit.tracing.locations import location_of
from nkijit.tracing.objects import NKIObject
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import Tracer


def named_tuple_of(result: Any) -> Callable[[Iterable[Any]], Any] | None:
    """Return the constructor of the result's named tuple, if the result is one."""
    return getattr(cast(Any, result), "_make", None) if isinstance(result, tuple) else None


def note_no_result(tracer: Tracer, function: Callable[..., Any]) -> None:
    """Record a finding if a kernel returns None and writes none of its arguments.

    Records nothing after an error, because the instruction that writes may have been left out.
    """
    if any(found.severity == "error" for found in tracer.diagnostics):
        return
    if any(isinstance(op, DevicePrintOp) for op in tracer.kernel.operations):
        return  # the printed text is a result
    written = written_tensors(tracer)
    if any(isinstance(base.owner, Block) for base in written):
        return
    message, help = of_no_result(written, "it returns nothing, and writes none of its arguments")
    tracer.record_at(function, NO_RESULT, message, help=help)


def of_no_result(written: Iterable[SSAValue], otherwise: str) -> tuple[str, str]:
    """Return the message and the help for a kernel that returns nothing.

    Args:
        written: the tensors in HBM that the kernel writes.
        otherwise: the message if none of them can be returned; the help is then empty.
    """
    shared = [b for b in written if info_of(b).region is MemoryRegion.shared_hbm and b.name_hint]
    if not shared:
        return otherwise, ""
    names = ", ".join(str(base.name_hint) for base in shared)
    return f"it writes {names}, but returns nothing", f"end the kernel with: return {names}"


def written_tensors(tracer: Tracer) -> list[SSAValue]:
    """Return the tensors in HBM that a kernel writes, in the order of their first writes."""
    written: dict[SSAValue, None] = {}
    for op in tracer.kernel.operations:
        for value, role in reads_and_writes(op):
            base = base_of(value)
            if role is not Role.read and not info_of(base).region.on_chip:
                written[base] = None
    return list(written)


def finish_trace(tracer: Tracer, function: Callable[..., Any], result: Any) -> None:
    """End a trace with the kernel's result."""
    container: str | None = None
    keys: list[str] | None = None
    if result is None:
        items: list[Any] = []
    elif isinstance(result, (tuple, list)):
        container = "tuple" if isinstance(result, tuple) else "list"
        items = list(cast(Sequence[Any], result))
    elif isinstance(result, dict):
        entries = cast(dict[Any, Any], result)
        container, keys, items = "dict", [str(key) for key in entries], list(entries.values())
        for key in entries:
            if not isinstance(key, str):
                message = f"the key {one_line(key)} of the result is no string"
                help = f'write the key as "{one_line(key)}", or return a tuple of the tensors'
                tracer.record_at(function, RETURN, message, help=help)
    else:
        items = [result]
    values: list[Any] = []
    for index, item in enumerate(items):
        unreturnable = _unreturnable(tracer, item)
        if unreturnable is None:
            values.append(item.ssa_value())
            continue
        which = "the result" if container is None else f"result {index}"
        operands: tuple[Operand, ...] = ()
        if isinstance(item, NkiTensor) and item.storage.tracer is tracer:
            operands = (describe_operand(which, item.storage.value),)
        problem, help = unreturnable
        tracer.record_at(function, RETURN, f"{which} is {problem}", operands, help)
    if len(values) < len(items):
        # An invalid tensor was left out, so the container does not match.
        container, keys, values = None, None, []
    tracer.finish(ReturnOp.of(values, container, keys), location_of(None))


def _unreturnable(tracer: Tracer, item: Any) -> tuple[str, str] | None:
    """Return why a kernel cannot return a value, and the help; None if it can."""
    if not isinstance(item, NkiTensor):
        if isinstance(item, NKIObject) or dataclasses.is_dataclass(item):
            problem = f"an object of class {type(item).__name__}; return its tensors in a tuple"
            return problem, "return the tensors of the object in a tuple, a list or a dict"
        return f"not a tensor but {one_line(item)} ({type(item).__name__})", _instead(item)
    if item.storage.tracer is not tracer:
        return f"tensor '{item.name}' of another kernel", "return tensors of this kernel"
    if 0 in item.shape:
        problem = f"tensor '{item.name}' of shape {item.shape}, which has no elements"
        return problem, "return tensors that have elements"
    if item.buffer.on_chip:
        copy = "nl.store" if item.buffer is MemoryRegion.sbuf else "nisa.tensor_copy and nl.store"
        return (
            f"tensor '{item.name}' in {item.buffer.value}",
            f"write out = nl.ndarray({item.shape}, nl.{item.dtype}, buffer=nl.shared_hbm), copy "
            f"the tile to it with {copy}, and return out",
        )
    if item.is_indirect():
        return (
            f"a view of '{item.name}' whose address is known at run time only",
            "copy its elements to a tensor of nl.ndarray(shape, dtype, buffer=nl.shared_hbm) with "
            "nisa.dma_copy, and return that",
        )
    return None


def _instead(item: Any) -> str:
    """Return the help for a result that is no tensor."""
    if callable(item):
        return "call the function, store its result to a tensor in HBM, and return that"
    if hasattr(item, "shape") or isinstance(item, (float, int, bool)):
        return (
            "leave it out: the caller can compute it; or make it a tensor with nl.shared_constant"
        )
    return "leave it out, and return only tensors in HBM"
