"""Transposes by DMA: dma_transpose."""

from __future__ import annotations

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import DgeModeAttr, OobModeAttr
from nkijit.dialects.costs.dma import by_vector, moving, transposes
from nkijit.dialects.declare.fields import opt_integer, opt_integers, tile, word, written
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import HBM, SBUF, required_tile
from nkijit.dialects.declare.rules.operands import in_buffer, same_dtype
from nkijit.dialects.declare.rules.targets import argument_since
from nkijit.dialects.declare.rules.wording import variable_of
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import dge_mode, engine, nc_version, oob_mode
from nkijit.dialects.nisa.movement import DMA_QUEUE_RULES
from nkijit.dialects.nki.views import index_of
from nkijit.dialects.rule_texts.access import GATHER_TRANSPOSE
from nkijit.dialects.rule_texts.operands import DTYPE
from nkijit.dialects.rule_texts.shapes import (
    DMA_TRANSPOSE_MODE,
    DMA_TRANSPOSE_SHAPE,
    HWDGE_TRANSPOSE,
    TRANSPOSE_AXES,
)
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import TileInfo, info_of

DMA_AXES: dict[int, tuple[int, ...]] = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
"""The only legal permutation of the dimensions, by the rank of the tensor."""

_ELEMENT_BITS = (16, 32)

# A transpose with hardware DGE moves blocks of 16 rows.
_HWDGE_ROWS = 16
_HWDGE_BLOCKS = (1, 2, 4, 8, 16)
_HWDGE_COLUMNS = 128
_HWDGE_BITS = 16


def _axes(op: NisaOp, target: Target) -> Violation | None:
    src, axes = required_tile(op, "src"), op.value_of("axes")
    rank = len(src.shape)
    if rank not in DMA_AXES:
        return Violation(
            f"'src' has {numbered(rank, 'dimension')}, 2 to 4 can be transposed", ("src",)
        )
    if axes is None or axes == DMA_AXES[rank]:
        return None
    return Violation(
        f"'axes' must be {DMA_AXES[rank]} for {numbered(rank, 'dimension')}, it is {axes}", ("src",)
    )


def _shape(op: NisaOp, target: Target) -> Violation | None:
    dst, src = required_tile(op, "dst"), required_tile(op, "src")
    if _axes(op, target) is not None:
        return None
    expected = tuple(src.shape[axis] for axis in DMA_AXES[len(src.shape)])
    if dst.shape == expected:
        return None
    return Violation(f"'dst' must have shape {expected}, it has {dst.shape}", ("dst", "src"))


def _dtype(op: NisaOp, target: Target) -> Violation | None:
    src = required_tile(op, "src")
    if src.dtype.bits in _ELEMENT_BITS:
        return None
    return Violation(f"'src' must have elements of 2 or 4 bytes, it is {src.dtype.name}", ("src",))


def _static_modes(op: NisaOp, target: Target) -> Violation | None:
    mode, bounds = op.value_of("dge_mode"), op.value_of("oob_mode")
    src = required_tile(op, "src")
    if src.indirection is Indirection.vector:
        return None
    if src.indirection is Indirection.scalar:
        bounds = oob_mode.error  # either is fine
    if mode not in (dge_mode.unknown, dge_mode.hwdge):
        return Violation(f"'dge_mode' must be unknown or hwdge, it is {mode.name}")
    if bounds is not oob_mode.error:
        return Violation(f"'oob_mode' must be error, it is {bounds.name}")
    return None


def _hwdge_obstacle(src: TileInfo) -> str | None:
    """Return why hardware cannot generate the descriptors of a transpose of `src`, or None."""
    if len(src.shape) < 2:
        return None
    rank, rows, block, last = len(src.shape), src.shape[0], src.shape[-2], src.shape[-1]
    if rank == 2 and rows != _HWDGE_ROWS:
        return f"'src' has {_HWDGE_ROWS} rows, not {rows}"
    if rows not in _HWDGE_BLOCKS:
        return f"dim 0 of 'src' is one of {', '.join(map(str, _HWDGE_BLOCKS))}, not {rows}"
    if rank > 2 and rows * block % _HWDGE_ROWS:
        return f"dims 0 and -2 of 'src' make a multiple of {_HWDGE_ROWS} rows, not {rows} * {block}"
    if last > _HWDGE_COLUMNS:
        return f"the last dimension of 'src' has at most {_HWDGE_COLUMNS} elements, not {last}"
    if src.dtype.bits != _HWDGE_BITS:
        return f"'src' has elements of 2 bytes, it is {src.dtype.name}"
    return None


def _hwdge(op: NisaOp, target: Target) -> Violation | None:
    src = required_tile(op, "src")
    if op.value_of("dge_mode") is not dge_mode.hwdge:
        return None
    obstacle = _hwdge_obstacle(src)
    return None if obstacle is None else Violation(f"with hwdge {obstacle}", ("src",))


def _gather(op: NisaOp, target: Target) -> Violation | None:
    src, index = required_tile(op, "src"), index_of(op.required("src"))
    if index is None or src.indirection is not Indirection.vector:
        return None
    indices = info_of(index)
    rows, middle, last = src.shape[0], src.shape[1:-1], src.shape[-1]
    count = indices.partitions
    name = variable_of(index, "index")
    separately = "gather with nisa.dma_copy and transpose with nisa.nc_transpose"
    wrong: list[tuple[str, str]] = []
    if len(src.shape) == 4 and 1 not in middle:
        text = f"dim 1 or 2 of 'src' is 1, they are {middle[0]} and {middle[1]}"
        wrong.append((text, "transpose one index of dim 1 after the other in a loop"))
    if last > _HWDGE_COLUMNS:
        text = f"the last dimension of 'src' has at most {_HWDGE_COLUMNS} elements"
        wrong.append((text, f"transpose blocks of {_HWDGE_COLUMNS} columns in a loop"))
    if src.dtype.bits != _HWDGE_BITS:
        text = f"'src' has elements of 2 bytes, it is {src.dtype.name}"
        wrong.append((text, f"store 'src' as nl.bfloat16, or {separately}"))
    if rows % _HWDGE_ROWS:
        text = f"the rows of 'src' are a multiple of {_HWDGE_ROWS}, there are {rows}"
        more = -(-rows // _HWDGE_ROWS) * _HWDGE_ROWS
        wrong.append((text, f"pad the indices to {more}, e.g. with 0, or {separately}"))
    if len(indices.shape) != 2:
        text = f"the indices have two dimensions, not {len(indices.shape)}"
        wrong.append((text, f"merge the free dimensions of {name} with reshape"))
    if count % _HWDGE_ROWS or not _HWDGE_ROWS <= count <= target.pmax:
        text = (
            f"the indices are in {_HWDGE_ROWS} to {target.pmax} partitions, a multiple of "
            f"{_HWDGE_ROWS}, not {count}"
        )
        wrong.append((text, f"allocate {name} with one index per partition, (rows, 1)"))
    if indices.free_size > 1 and count != target.pmax:
        text = f"several columns of indices are in {target.pmax} partitions, not {count}"
        wrong.append((text, f"fill {target.pmax} partitions of {name} before the next column"))
    if indices.dtype.name != "uint32":
        text = f"the indices are uint32, not {indices.dtype.name}"
        help = f"allocate the index tile {name} as nl.uint32; {name}.view(nl.uint32) reads its bits"
        wrong.append((text, help))
    if not wrong:
        return None
    text, help = wrong[0]
    return Violation(f"with indices {text}", ("src",), help)


@instruction(
    engines=(engine.dma,),
    rules=(
        in_buffer((SBUF,), "dst"),
        in_buffer((*HBM, SBUF), "src"),
        same_dtype("dst", "src"),
        Rule(DTYPE, _dtype),
        Rule(TRANSPOSE_AXES, _axes),
        Rule(DMA_TRANSPOSE_SHAPE, _shape),
        *DMA_QUEUE_RULES,
        argument_since(nc_version.gen3, "a vector of indices", by_vector),
        Rule(DMA_TRANSPOSE_MODE, _static_modes),
        Rule(HWDGE_TRANSPOSE, _hwdge),
        Rule(GATHER_TRANSPOSE, _gather),
    ),
    stages=(
        Stage(
            "DMA_TRANSPOSE",
            ("dst", "src"),
            moving(transposes(lambda src: _hwdge_obstacle(src) is None)),
        ),
    ),
    transposes=True,
)
class DmaTransposeOp(NisaOp):
    """`dst = src` with dimensions permuted, bit by bit."""

    name = "nisa.dma_transpose"

    dst = written()
    src = tile(Indirection.vector, any_order=True)
    axes = opt_integers(None)
    priority = opt_integer()
    dge_mode = word(DgeModeAttr, dge_mode.unknown)
    oob_mode = word(OobModeAttr, oob_mode.error)
