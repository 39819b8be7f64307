"""Allocation of tensors, and tensors that are filled with a number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, cast

from nkijit import isa
from nkijit.dialects.access import MAX_ELEMENTS
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nki.allocation import MAX_ADDRESS
from nkijit.dialects.python_values import as_index, one_line
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.dialects.rule_texts.view_helps import WHOLE_DIVISION
from nkijit.dialects.tiles import MAX_RANK
from nkijit.language.buffers import is_on_chip, sbuf
from nkijit.tracing.annotations import DTypeLike, Shape
from nkijit.tracing.checks import dtype_named
from nkijit.tracing.dtype_names import CURRENT, as_dtype
from nkijit.tracing.hints import ONE_TUPLE, near
from nkijit.tracing.tensor import NkiTensor, whole_of, with_shape
from nkijit.tracing.tracer import Tracer, check_api, tracer_for

_REGIONS = ("hbm", *MemoryRegion.__members__)
"""Names of buffers; functions accepted them as strings before NKI 0.3 (NKI migration guide)."""


class par_dim(int):
    """Marks the partition dimension of a shape: `nl.ndarray((nl.par_dim(128), 512), …)`.

    The partition dimension is the first one of a tile; in HBM the mark has no effect. Source: NKI
    API reference 2.26, nki.language.par_dim, which also has block dimensions before this dimension.
    """


def checked_dims(tracer: Tracer, call: str, shape: Shape) -> tuple[int, ...]:
    items = cast(tuple[Any, ...], shape if isinstance(shape, (tuple, list)) else (shape,))
    if 0 < len(items) <= MAX_RANK:
        for dim in items:
            if type(dim) is not int or dim < 0:
                break
        else:  # the usual case: the tuple itself
            if math.prod(items) <= MAX_ELEMENTS:
                return items if type(items) is tuple else tuple(items)
    numbers = [as_index(dim) for dim in items]
    if not numbers or any(number is None or number < 0 for number in numbers):
        tracer.wrong_argument(call, "shape", "integers of at least 0", shape)
    dims = cast("tuple[int, ...]", tuple(numbers))
    if len(dims) > MAX_RANK:
        message = f"'shape': a tensor has at most {MAX_RANK} dimensions, not {len(dims)}"
        tracer.fail(ARGUMENT, call, message, "join neighbouring dimensions into one")
    if math.prod(dims) > MAX_ELEMENTS:
        message = f"'shape': a tensor has at most 2**48 elements, its shape is {one_line(dims)}"
        tracer.fail(ARGUMENT, call, message, "pass the dimensions of the tensor, in elements")
    return dims


def _check_partition_dim(tracer: Tracer, call: str, shape: Sequence[Any]) -> None:
    marked = next((i for i, dim in enumerate(shape) if isinstance(dim, par_dim)), 0)
    if marked:
        tracer.fail(
            ARGUMENT,
            call,
            f"'shape': nl.par_dim marks dim {marked} of {one_line(tuple(shape))}; legal: dim 0",
            "dim 0 of a tile is its partition dimension; block dimensions are lists of tiles",
        )


def _region(tracer: Tracer, call: str, buffer: Any) -> MemoryRegion:
    if not isinstance(buffer, MemoryRegion):
        known = "nl.sbuf, nl.psum, nl.hbm, nl.private_hbm or nl.shared_hbm"
        word = near(buffer, _REGIONS) if isinstance(buffer, str) else ""
        help = f"write nl.{word or 'sbuf'}, without quotes"
        tracer.fail(ARGUMENT, call, f"'buffer': expected {known}, got {one_line(buffer)}", help)
    return buffer


def _address(tracer: Tracer, call: str, address: Any) -> tuple[int, int]:
    """Return a fixed address, a pair (partition, byte in the partition).

    Any other value of `address` ends the trace.
    """
    parts = tuple(cast(Sequence[Any], address)) if isinstance(address, (tuple, list)) else ()
    numbers = [as_index(part) for part in parts]
    if len(numbers) == 2 and all(number in range(MAX_ADDRESS) for number in numbers):
        return cast("tuple[int, int]", tuple(numbers))
    help = "write address=(partition, byte), e.g. address=(0, 0), or leave address= out"
    if as_index(address) in range(MAX_ADDRESS):
        help = f"write address=(0, {address}): partition 0 and the byte in each partition"
    elif any(isinstance(part, float) for part in parts):
        help = WHOLE_DIVISION
    tracer.fail(
        ARGUMENT,
        call,
        "'address': expected (partition offset, byte offset in the partition), got "
        f"{one_line(address)}",
        help,
    )


def allocate(
    call: str, shape: Shape, dtype: DTypeLike, buffer: Any, name: Any, address: Any = None
) -> NkiTensor:
    """Check the arguments of `call` and emit its allocation.

    A tile has at least two dimensions (NKI language guide), but the reference also allocates tiles
    with one dimension. That dimension is the partition dimension, and a second dimension of size 1
    is added, as in views.
    """
    tracer = tracer_for(call)
    if isinstance(shape, int) and isinstance(dtype, (int, float)):
        message = "'shape': expected one tuple, got several numbers"
        tracer.fail(ARGUMENT, call, message, ONE_TUPLE)
    dims = checked_dims(tracer, call, shape)
    region = _region(tracer, call, buffer)
    if region.on_chip and dims is not shape and isinstance(shape, (tuple, list)):
        _check_partition_dim(tracer, call, cast(Sequence[Any], shape))
    if region.on_chip and len(dims) == 1:
        dims = (*dims, 1)
    resolved = dtype_named(call, "dtype", dtype)
    name = "" if name is None else name
    if not isinstance(name, str):
        tracer.wrong_argument(call, "name", "a string or None", name)
    if address is not None:
        address = _address(tracer, call, address)
    storage = tracer.allocate(dims, resolved, region, name, address)
    return with_shape(whole_of(storage), dims)


def ndarray(
    shape: Shape,
    dtype: DTypeLike,
    buffer: MemoryRegion = sbuf,
    name: str = "",
    address: tuple[int, int] | None = None,
) -> NkiTensor:
    """Allocate a tensor; its contents are undefined until something is written.

    Args:
        shape: dimensions; on chip dim 0 is the partition dimension, and (n,) is (n, 1). A tensor
            with a dimension of 0 has no memory; instructions on it are left out.
        dtype: element type.
        buffer: `nl.sbuf`, `nl.psum`, `nl.hbm`, `nl.private_hbm` or `nl.shared_hbm`.
        name: the tensor's name; by default the variable it is assigned to.
        address: fixed (partition offset, byte offset inside a partition).

    Example:

        tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)

    Source: NKI API reference, nki.language.ndarray.
    """
    check_api(CURRENT, "nl.ndarray")
    return allocate("nl.ndarray", shape, dtype, buffer, name, address)


def full(
    shape: Shape, fill_value: float, dtype: DTypeLike, buffer: MemoryRegion = sbuf, name: str = ""
) -> NkiTensor:
    """Allocate a tensor and fill it with `fill_value`.

    Example:

        sevens = nl.full((128, 512), 7.0, nl.float32)

    On chip this is one `nisa.memset`; a tensor in HBM is filled from an SBUF tile by DMA.
    Source: NKI API reference, nki.language.full.
    """
    return _filled("nl.full", shape, fill_value, dtype, buffer, name)


def zeros(shape: Shape, dtype: DTypeLike, buffer: MemoryRegion = sbuf, name: str = "") -> NkiTensor:
    """Allocate a tensor of zeros; see `full`.

    Example:

        sums = nl.zeros((128, 512), nl.float32, buffer=nl.psum)
    """
    return _filled("nl.zeros", shape, 0, dtype, buffer, name)


def ones(shape: Shape, dtype: DTypeLike, buffer: MemoryRegion = sbuf, name: str = "") -> NkiTensor:
    """Allocate a tensor of ones; see `full`.

    Example:

        ones = nl.ones((128, 512), nl.bfloat16)
    """
    return _filled("nl.ones", shape, 1, dtype, buffer, name)


def zeros_like(
    x: NkiTensor, dtype: DTypeLike | None = None, buffer: MemoryRegion | None = None, name: str = ""
) -> NkiTensor:
    """Allocate a tensor of zeros of the shape of `x`; arguments as `empty_like`.

    Example:

        zeros = nl.zeros_like(x)

    The buffer is by default that of `x`, as with `empty_like` (the reference does not say).
    Source: NKI API reference, nki.language.zeros_like.
    """
    shape, element, region = like("nl.zeros_like", x, dtype, buffer)
    return _filled("nl.zeros_like", shape, 0, element, region, name)


def like(
    call: str, x: NkiTensor, dtype: DTypeLike | None, buffer: MemoryRegion | None
) -> tuple[tuple[int, ...], DTypeLike, MemoryRegion]:
    """Return the shape, element type and buffer of a new tensor; `x` provides the defaults."""
    if not isinstance(cast(Any, x), NkiTensor):
        tracer_for(call).wrong_argument(call, "x", "a tensor", x)
    return x.shape, x.dtype if dtype is None else dtype, x.buffer if buffer is None else buffer


_FILL_BYTES = 16 * 1024
"""Bytes per partition of the tile that HBM tensors are filled from."""


def _filled(call: str, shape: Any, value: Any, dtype: Any, buffer: Any, name: str) -> NkiTensor:
    check_api(CURRENT, call)
    tensor = allocate(call, shape, dtype, buffer, name)
    if is_on_chip(tensor.buffer):
        isa.memset(tensor, value)
        return tensor
    source: NkiTensor | None = None
    for run in hbm_runs(tensor):
        if source is None:
            source = allocate(call, run.shape, tensor.dtype, sbuf, "fill")
            isa.memset(source, value)
        isa.dma_copy(run, source[0 : run.shape[0], 0 : run.shape[1]])
    return tensor


def hbm_runs(tensor: NkiTensor) -> Iterator[NkiTensor]:
    """Yield 2-D views that together cover a new HBM tensor and can be filled from tiles.

    First come views of whole tiles, then a view of the remaining whole rows, then a view of the
    remaining elements. HBM is linear, so the tensor's shape does not matter. No view is larger than
    the first view.
    """
    pmax = tensor.storage.tracer.target.pmax
    itemsize = as_dtype(tensor.dtype).itemsize
    columns = min(math.ceil(tensor.size / pmax), _FILL_BYTES // itemsize)
    flat = tensor.reshape((tensor.size,))
    start = 0
    while start < tensor.size:
        rows = min(pmax, (tensor.size - start) // columns)
        shape = (rows, columns) if rows else (1, tensor.size - start)
        yield flat[start : start + math.prod(shape)].reshape(shape)
        start += math.prod(shape)


__all__ = ["full", "ndarray", "ones", "par_dim", "zeros", "zeros_like"]
