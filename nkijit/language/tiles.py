"""What functions on tiles share: results and temporaries, operands, broadcasting."""

from __future__ import annotations

from typing import Any

from nkijit import isa
from nkijit.dialects.dtypes import DType
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.hints import DTYPE_HINT
from nkijit.language.creation import allocate
from nkijit.names import as_dtype
from nkijit.tensor import NkiTensor
from nkijit.tracer import tracer_for


def result(call: str, shape: tuple[int, ...], dtype: Any) -> NkiTensor:
    """The new SBUF tile that `call` returns, named after the variable it is assigned to."""
    return allocate(call, shape, dtype, MemoryRegion.sbuf, "")


def dtype_named(call: str, argument: str, dtype: Any) -> DType:
    """The data type given for an argument."""
    try:
        return as_dtype(dtype)
    except ValueError as error:
        tracer_for(call).fail(ARGUMENT, call, f"'{argument}': {error}", DTYPE_HINT)


def temporary(hint: str, shape: tuple[int, ...], dtype: Any = "float32") -> NkiTensor:
    """A tile in SBUF for what lies between two instructions; `hint` is its name in the IR."""
    element = as_dtype(dtype)
    storage = tracer_for(hint).allocate(shape, element, MemoryRegion.sbuf, "", None)
    storage.value.name_hint = storage.name = hint
    return NkiTensor(shape, element.name, storage)


def is_number(value: Any) -> bool:
    """True for what an instruction may take as a number."""
    return hasattr(value, "__float__") and getattr(value, "shape", ()) == ()


def expect_tile(call: str, argument: str, value: Any) -> NkiTensor:
    """`value`, when it is a tile of at least two dimensions."""
    if not isinstance(value, NkiTensor):
        tracer_for(call).wrong_argument(call, argument, "a tile", value)
    if value.ndim < 2:
        tracer_for(call).fail(
            ARGUMENT,
            call,
            f"'{argument}': a tile has at least two dimensions, this tensor has shape "
            f"{value.shape}",
            "load it to SBUF with a partition dimension first",
        )
    return value


def in_sbuf(tile: NkiTensor) -> NkiTensor:
    """The tile, or a copy of it in SBUF when it is in PSUM."""
    if tile.buffer is not MemoryRegion.psum:
        return tile
    copied = temporary(f"{tile.name}_sbuf", tile.shape, tile.dtype)
    isa.tensor_copy(copied, tile)
    return copied


def is_column(tile: NkiTensor, data: NkiTensor) -> bool:
    """True for one element per partition of `data`, which has more than one."""
    return tile.shape[0] == data.shape[0] == tile.size < data.size


def broadcast_shape(call: str, **tiles: NkiTensor) -> tuple[int, ...]:
    """The shape that tiles of one rank have together, by NumPy's rules."""
    shapes = [tile.shape for tile in tiles.values()]
    together = tuple(max(dims) for dims in zip(*shapes, strict=False))
    for shape in shapes:
        legal = len(shape) == len(together) == len(shapes[0])
        if not legal or any(n not in (1, m) for n, m in zip(shape, together, strict=True)):
            listed = ", ".join(f"'{name}' has {tile.shape}" for name, tile in tiles.items())
            tracer_for(call).fail(
                ARGUMENT,
                call,
                f"shapes that do not broadcast: {listed}",
                "give the tiles the same number of dimensions, each of the same size or 1",
            )
    return together


def broadcast_view(tile: NkiTensor, shape: tuple[int, ...]) -> NkiTensor:
    """The tile in a shape of `broadcast_shape`: free dimensions by view, partitions by DMA."""
    if tile.shape[0] != shape[0]:
        tile = _across_partitions(tile, shape[0])
    for dim, size in enumerate(shape):
        if tile.shape[dim] != size:
            tile = tile.broadcast(dim, size)
    return tile


def _across_partitions(tile: NkiTensor, partitions: int) -> NkiTensor:
    """The one partition of a tile in each of `partitions` partitions.

    No access pattern does that on chip. The row goes out to HBM and comes back from there with a
    step of 0, which moves bits as they are for every data type; a matmul with ones, the other
    way, would need a float type and PSUM.
    """
    source = in_sbuf(tile)
    element = as_dtype(tile.dtype)
    region = MemoryRegion.private_hbm
    storage = tracer_for("broadcast").allocate(source.shape, element, region, "", None)
    storage.value.name_hint = storage.name = f"{tile.name}_row"
    row = NkiTensor(source.shape, element.name, storage)
    isa.dma_copy(row, source)
    rows = temporary(f"{tile.name}_rows", (partitions, *tile.shape[1:]), tile.dtype)
    isa.dma_copy(rows, row.broadcast(0, partitions))
    return rows
