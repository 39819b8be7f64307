"""The shared bodies of classic instructions, which turn the arguments of a signature into a call.

An instruction consists of its signature, its docstring and one call of `returning` or `writing`
with `locals()`, as an instruction of the current API is one call of `emit`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from xdsl.dialects.builtin import StringAttr

from nkijit import isa
from nkijit.classic.calls.calls import functional, in_place, refuse_rest
from nkijit.classic.destinations.forwarding import instructions_since
from nkijit.classic.indexing.expressions import Index, Mask
from nkijit.classic.isa.constants import as_member, is_enumeration
from nkijit.classic.tensors.promotion import promoted, type_of
from nkijit.classic.tensors.tensors import ClassicTensor, ClassicTile, as_tensor
from nkijit.dialects.declare.properties import OperatorKind
from nkijit.dialects.rule_texts.operands import ARGUMENT, UNSUPPORTED
from nkijit.language.creation import allocate
from nkijit.tracing.api_names import api_function, parameters_of
from nkijit.tracing.checks import dtype_named
from nkijit.tracing.dtype_names import CURRENT, as_dtype
from nkijit.tracing.locations import author_frame
from nkijit.tracing.operator_hints import operator_texts
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import tracer_for

_OF_EVERY_CALL = ("kwargs", "mask", "dtype")
_LABEL = "name"
_NATIVE = ("int32", "uint32")
"""Integer types with values that float32 cannot represent; some instructions keep them."""


def returning(
    name: str,
    emit: Callable[..., Any],
    given: Mapping[str, Any],
    *,
    dtype_of: Collection[str] = ("data",),
    dtype: Any = None,
    **options: Any,
) -> ClassicTile:
    """The body of an instruction that returns a tile.

    Args:
        name: the name of the instruction.
        emit: emits the instruction, see `calls.functional`.
        given: the arguments of the signature: `locals()`.
        dtype_of: names of the operands from which the data type of the result is promoted.
        dtype: data type of the result if the user passes none, in place of `dtype_of`.
        options: further arguments of `calls.functional`.
    """
    call = f"nisa.{name}"
    arguments = _arguments(call, given)
    tensors = [as_tensor(call, operand, arguments[operand]) for operand in dtype_of]
    wanted = given.get("dtype")
    if not tensors and dtype is None:
        wanted = dtype_named(call, "dtype", wanted).name
    if wanted is None:
        wanted = promoted(*tensors) if dtype is None else dtype
    options.setdefault("exact", not any(type_of(t).name in _NATIVE for t in tensors))
    with _labelled(call, given):
        return functional(call, emit, arguments, dtype=wanted, mask=given.get("mask"), **options)


def writing(
    name: str,
    emit: Callable[..., Any],
    given: Mapping[str, Any],
    *,
    updated: Collection[str] = ("dst",),
    **options: Any,
) -> None:
    """The body of an instruction that writes to operands; arguments as for `returning`.

    The destination has a data type already, so any other `dtype=` is refused.
    """
    call = f"nisa.{name}"
    arguments = _arguments(call, given)
    refuse_dtype(call, arguments["dst"], given.get("dtype"))
    with _labelled(call, given):
        in_place(call, emit, arguments, mask=given.get("mask"), updated=updated, **options)


@contextmanager
def _labelled(call: str, given: Mapping[str, Any]) -> Generator[None]:
    """Set the user's `name=` on the last instruction that the `with` block emits.

    The reference does not list this argument, but published kernels use it, and the current API has
    it.
    """
    label = given.get("kwargs", {}).get(_LABEL)
    if label is None:
        yield
        return
    tracer = tracer_for(call)
    mark = tracer.mark()
    yield
    emitted = instructions_since(tracer, mark)
    if emitted:
        emitted[-1].properties[_LABEL] = StringAttr(label)


def refuse_dtype(call: str, dst: Any, dtype: Any) -> None:
    """Refuse a `dtype=` that is not the data type of the destination."""
    target = as_tensor(call, "dst", dst)
    wanted = None if dtype is None else dtype_named(call, "dtype", dtype)
    if wanted is not None and wanted is not as_dtype(target.dtype):
        tracer_for(call).fail(
            UNSUPPORTED,
            call,
            f"'dtype' is {wanted.name}, 'dst' has elements of type {as_dtype(target.dtype).name}",
            "leave 'dtype' out, and convert the tile afterwards with nisa.tensor_copy",
        )


def _arguments(call: str, given: Mapping[str, Any]) -> dict[str, Any]:
    rest: dict[str, Any] = dict(given.get("kwargs", {}))
    label = rest.pop(_LABEL, None)
    if not isinstance(label, str | None):
        tracer_for(call).wrong_argument(call, _LABEL, "a string", label)
    refuse_rest(call, rest)
    for name in _operators_of(call) & given.keys():
        if isinstance(given[name], (ClassicTensor, NkiTensor, Index, Mask)):
            expected = OperatorKind().expected
            frame = author_frame()
            got, hint = operator_texts(name, given[name], expected, frame, classic=True)
            message = f"'{name}': expected {expected}, got {got}"
            tracer_for(call).fail(ARGUMENT, call, message, hint)
    return {
        name: as_member(name, value) if is_enumeration(name) else value
        for name, value in given.items()
        if name not in _OF_EVERY_CALL
    }


@cache
def _operators_of(call: str) -> frozenset[str]:
    """Return the parameters of an instruction that are operators."""
    parameters = parameters_of(api_function(call, CURRENT))
    return frozenset(p.name for p in parameters if "OperatorLike" in str(p.annotation))


def two_dimensional(call: str, argument: str, value: Any) -> ClassicTensor:
    """Return a tile with its free dimensions flattened to one."""
    tile = as_tensor(call, argument, value)
    return tile if tile.ndim == 2 else ClassicTile(tile.whole().reshape((tile.shape[0], -1)))


def converting(emit: Callable[..., Any], dst: NkiTensor, dtype: str, *args: Any) -> None:
    """Emit an instruction that can only write results of data type `dtype`, the type of its source.

    If `dst` has another data type, the instruction writes a temporary tile that is copied to `dst`.
    """
    if dst.dtype == dtype:
        emit(dst, *args)
        return
    kept = allocate(emit.__name__, dst.shape, dtype, dst.buffer, "")
    emit(kept, *args)
    isa.tensor_copy(dst, kept)
