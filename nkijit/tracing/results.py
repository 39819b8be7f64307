"""The result of a kernel: its tensors, and the container (tuple, dict, …) that holds them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, cast

from xdsl.ir import Block, SSAValue

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.effects import reads_and_writes
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import DevicePrintOp, ReturnOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.python_values import one_line
from nkijit.dialects.rule_texts.lint import NO_RESULT
from nkijit.dialects.rule_texts.operands import RETURN
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.diagnose import describe_operand
from nkijit.passes.diagnostics.diagnostic import Operand
from nkijit.passes.diagnostics.source_text import source_of_code
from nkijit.tracing.locations import definition_of, location_of, nodes_of, span_of
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
                _record(tracer, function, None, message, help=help)
    else:
        items = [result]
    values: list[Any] = []
    given = {id(item.storage.value) for item in items if isinstance(item, NkiTensor)}
    for index, item in enumerate(items):
        unreturnable = _unreturnable(tracer, item, given)
        if unreturnable is None:
            values.append(item.ssa_value())
            continue
        which = "the result" if container is None else f"result {index}"
        operands: tuple[Operand, ...] = ()
        if isinstance(item, NkiTensor) and item.storage.tracer is tracer:
            operands = (describe_operand(which, item.storage.value),)
        problem, help = unreturnable
        place = None if container is None else index
        _record(tracer, function, place, f"{which} is {problem}", operands, help)
    if len(values) < len(items):
        # An invalid tensor was left out, so the container does not match.
        container, keys, values = None, None, []
    tracer.finish(ReturnOp.of(values, container, keys), location_of(None))


def _record(
    tracer: Tracer,
    function: Callable[..., Any],
    index: int | None,
    message: str,
    operands: tuple[Operand, ...] = (),
    help: str = "",
) -> None:
    """Record a finding about the result: at the `return`, or else at the kernel's definition.

    Args:
        tracer: the tracer of the kernel.
        function: the kernel's function.
        index: the index of the value in the result that the finding is about; None for the result.
        message: the message of the finding.
        operands: the tensors that the finding describes.
        help: the help of the finding.
    """
    tracer.record_at(function, RETURN, message, operands, help)
    node = _returned(function)
    if node is None:
        return
    if index is not None and isinstance(node, (ast.Tuple, ast.List)):
        parts = node.elts
        if index < len(parts) and not any(isinstance(part, ast.Starred) for part in parts):
            node = parts[index]
    span = span_of(source_of_code(function.__code__), node)
    recorded = tracer.diagnostics.pop()
    tracer.diagnostics.append(dataclasses.replace(recorded, where=(span.start,), marked=(span,)))


def _returned(function: Callable[..., Any]) -> ast.expr | None:
    """Return the expression that a function returns; None if it has several, or no source."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    line = definition_of(code).line
    nodes = (node for found in nodes_of(code).values() for node in found)
    defined = (n for n in nodes if isinstance(n, ast.FunctionDef) and n.lineno == line)
    found: list[ast.expr] = []
    remaining: list[ast.AST] = [part for each in defined for part in each.body]
    while remaining:
        node = remaining.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            remaining += ast.iter_child_nodes(node)
    return found[0] if len(found) == 1 else None


def _fitting(tracer: Tracer, item: NkiTensor, given: Container[int]) -> str:
    """Return the name of a tensor in HBM with the shape and the data type of a tile.

    Returns "" if the kernel has allocated none, or returns it already.

    Args:
        tracer: the tracer of the kernel.
        item: the tile.
        given: the identities of the tensors in the kernel's result.
    """
    for op in tracer.kernel.operations:
        if isinstance(op, AllocOp) and id(op.result) not in given and op.result.name_hint:
            info = info_of(op.result)
            fits = (info.shape, info.dtype.name) == (item.shape, item.dtype)
            if fits and info.region is MemoryRegion.shared_hbm:
                return op.result.name_hint
    return ""


def _unreturnable(tracer: Tracer, item: Any, given: Container[int]) -> tuple[str, str] | None:
    """Return why a kernel cannot return a value, and the help; None if it can.

    `given`: the identities of the tensors in the kernel's result.
    """
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
        out = _fitting(tracer, item, given)
        if out and any(base.name_hint == out for base in written_tensors(tracer)):
            return f"tensor '{item.name}' in {item.buffer.value}", f"return {out}, which is in HBM"
        copy = "nl.store" if item.buffer is MemoryRegion.sbuf else "nisa.tensor_copy and nl.store"
        if out:
            help = f"copy the tile to {out} with {copy}, and return {out}"
            return f"tensor '{item.name}' in {item.buffer.value}", help
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
