"""Moves between partitions and by index: nc_stream_shuffle, local_gather, nc_n_gather."""

from __future__ import annotations

from nkijit.dialects.costs.engines import LOCAL_GATHER, SHUFFLE, on_gpsimd
from nkijit.dialects.declare.fields import (
    integer,
    integers,
    opt_integer,
    tile,
    updated,
    written,
)
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import ON_CHIP, SBUF, required_tile, tile_of
from nkijit.dialects.declare.rules.operands import dtype_in, in_buffer, same_dtype
from nkijit.dialects.declare.rules.shapes import (
    free_size_match,
    partitions_match,
    whole_gpsimd_cores,
)
from nkijit.dialects.declare.rules.wording import one_of
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.hardware.targets import (
    PARTITIONS_PER_QUADRANT,
    Target,
    gpsimd_core_elements,
    start_partitions,
)
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nki.views import start_partition
from nkijit.dialects.rule_texts.shapes import GATHER_SIZE, SHUFFLE_MASK, SHUFFLE_START
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of

UNTOUCHED = 255
"""The entry of a shuffle mask that leaves a partition unchanged."""


def shuffled_rows(mask: tuple[int, ...], rows: int) -> dict[int, int]:
    """Map each row of dst that the shuffle writes to the row of src that is copied there."""
    taken: dict[int, int] = {}
    for row in range(rows):
        quadrant, lane = divmod(row, PARTITIONS_PER_QUADRANT)
        if mask[lane] != UNTOUCHED:
            taken[row] = quadrant * PARTITIONS_PER_QUADRANT + mask[lane]
    return taken


def _shuffle_mask(op: NisaOp, target: Target) -> Violation | None:
    mask = op.value_of("shuffle_mask")
    if len(mask) != PARTITIONS_PER_QUADRANT:
        return Violation(
            f"'shuffle_mask' has {len(mask)} entries, it must have {PARTITIONS_PER_QUADRANT}"
        )
    for lane, entry in enumerate(mask):
        if entry != UNTOUCHED and not 0 <= entry < PARTITIONS_PER_QUADRANT:
            return Violation(f"entry {lane} of 'shuffle_mask' is {entry}, not 0 to 31 or 255")
    dst, src = required_tile(op, "dst"), required_tile(op, "src")
    for row, source in shuffled_rows(mask, dst.partitions).items():
        if source >= src.partitions:
            return Violation(
                f"partition {row} of 'dst' takes partition {source} of 'src', which has "
                f"{src.partitions}",
                ("dst", "src"),
            )
    return None


def _shuffle_start(op: NisaOp, target: Target) -> Violation | None:
    tiles = {name: required_tile(op, name) for name in ("src", "dst")}
    largest = max(tile.partitions for tile in tiles.values())
    for name, info in tiles.items():
        if not info.region.on_chip:
            continue
        start, _ = start_partition(op.required(name))
        if start in start_partitions(largest) or start not in start_partitions(info.partitions):
            continue  # a rule of all instructions checks the start of a tile alone
        other = "dst" if name == "src" else "src"
        return Violation(
            f"'{name}' starts at partition {start}; as many partitions as '{other}' has, "
            f"{largest}, start at {one_of(tuple(map(str, start_partitions(largest))))}",
            (name, other),
        )
    return None


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "dst", "src"),
        same_dtype("src", "dst"),
        free_size_match("src", "dst"),
        Rule(SHUFFLE_START, _shuffle_start),
        Rule(SHUFFLE_MASK, _shuffle_mask),
    ),
    stages=(Stage("STREAM_SHUFFLE", ("dst", "src"), SHUFFLE),),
)
class NcStreamShuffleOp(NisaOp):
    """`dst[q + i] = src[q + shuffle_mask[i]]` in each quadrant of 32 partitions."""

    name = "nisa.nc_stream_shuffle"

    dst = updated(partial=True)
    src = tile(partial=True)
    shuffle_mask = integers()


_ELEMENTS_PER_INDEX = (1, 2, 4, 8, 16, 32)
_MAX_INDICES = 4096


def valid_indices(op: NisaOp) -> int | None:
    """The number of indices that each GpSimd core uses; None if it is unknown."""
    given, index = op.value_of("num_valid_indices"), tile_of(op, "index")
    if given is not None:
        return given
    return None if index is None else gpsimd_core_elements(index.free_size)


def _gather_size(op: NisaOp, target: Target) -> Violation | None:
    width, count = op.value_of("num_elem_per_idx"), valid_indices(op)
    index, dst, src = (required_tile(op, name) for name in ("index", "dst", "src_buffer"))
    if width not in _ELEMENTS_PER_INDEX:
        listed = ", ".join(map(str, _ELEMENTS_PER_INDEX))
        return Violation(f"'num_elem_per_idx' must be one of {listed}, it is {width}")
    if count is None:
        return None
    available = gpsimd_core_elements(index.free_size)
    if not 1 <= count <= available:
        return Violation(
            f"'num_valid_indices' is {count}, 16 partitions of 'index' have {available}", ("index",)
        )
    if count > _MAX_INDICES:
        return Violation(
            f"each core has {numbered(count, 'index', 'indices')}, at most {_MAX_INDICES} are "
            "possible"
        )
    if src.free_size < width:
        return Violation(
            f"'num_elem_per_idx' is {width}, 'src_buffer' has "
            f"{numbered(src.free_size, 'element')} per "
            "partition",
            ("src_buffer",),
        )
    if dst.free_size == count * width:
        return None
    return Violation(
        f"{numbered(count, 'index', 'indices')} of {numbered(width, 'element')} are "
        f"{count * width} per "
        "partition, 'dst' has "
        f"{dst.free_size}",
        ("dst",),
    )


@instruction(
    engines=(engine.gpsimd,),
    rules=(
        in_buffer((SBUF,), "dst", "src_buffer", "index"),
        same_dtype("src_buffer", "dst"),
        dtype_in(("uint16",), "index"),
        partitions_match("src_buffer", "index", "dst"),
        whole_gpsimd_cores("src_buffer", "index", "dst"),
        Rule(GATHER_SIZE, _gather_size),
    ),
    stages=(Stage("LOCAL_GATHER", ("dst", "src_buffer", "index"), LOCAL_GATHER),),
)
class LocalGatherOp(NisaOp):
    """`dst` = elements of `src_buffer` at the indices in each group of 16 partitions of `index`."""

    name = "nisa.local_gather"

    dst = written()
    src_buffer = tile(partial=True, any_order=True)
    index = tile(partial=True)
    num_elem_per_idx = integer(1)
    num_valid_indices = opt_integer()


GATHERED_TOGETHER = 512
"""Elements per partition of each part of an nc_n_gather (NKI API reference)."""


def _gathers(op: NcNGatherOp) -> int:
    return -(-info_of(op.dst).free_size // GATHERED_TOGETHER)


@instruction(
    engines=(engine.gpsimd,),
    rules=(
        in_buffer((SBUF,), "dst", "data", "indices"),
        same_dtype("data", "dst"),
        dtype_in(("uint32",), "indices"),
        partitions_match("data", "indices", "dst"),
        free_size_match("indices", "dst"),
    ),
    stages=(Stage("N_GATHER", ("dst", "data", "indices"), on_gpsimd("indices"), parts=_gathers),),
)
class NcNGatherOp(NisaOp):
    """`dst[p, i] = data[p, indices[p, i]]`, with free dimensions flattened."""

    name = "nisa.nc_n_gather"

    dst = written()
    data = tile(partial=True, any_order=True)
    indices = tile()
