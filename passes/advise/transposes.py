"""`tensor-transpose` and `dma-transpose`: exchange transposing DMAs and nc_transpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.declare.building import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import PSUM, SBUF
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa.matmul import NcTransposeOp
from nkijit.dialects.nisa.movement import DmaCopyOp, TensorCopyOp
from nkijit.dialects.nisa.transpose import DmaTransposeOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.spelling import counted
from nkijit.dialects.tiles import allocation_type, info_of
from nkijit.passes.advise.edit import Edit, declare_first, erase, insert_before, view
from nkijit.passes.advise.facts import Facts
from nkijit.passes.advise.kinds import DMA_TRANSPOSE, TENSOR_TRANSPOSE
from nkijit.passes.advise.proposal import Proposal, name_of

_MOST_STEP_BYTES = 128
"""The largest distance between the elements of a row, in bytes: longer rows waste bandwidth."""


def tensor_transposes(facts: Facts) -> Iterator[Proposal]:
    """Yield a proposal for each source line with transposing DMAs."""
    lines: dict[LocationAttr, list[Operation]] = {}
    for op in facts.instructions:
        if isinstance(op, (DmaTransposeOp, DmaCopyOp)) and _rows_of(op, facts) is not None:
            lines.setdefault(op.location, []).append(op)
    for location, ops in lines.items():
        tile = name_of(base_of(op.operands[0]).name_hint for op in ops)
        yield Proposal(
            TENSOR_TRANSPOSE,
            location,
            0,
            location,
            f"load the rows of {tile} as they are, and transpose them with nc_transpose",
            (f"{counted(len(ops), 'DMA')} of this line transposes its data",)
            if len(ops) == 1
            else (f"{len(ops):,} DMAs of this line transpose their data",),
            ops,
            _OnTensorEngine(ops),
        )


def dma_transposes(facts: Facts) -> Iterator[Proposal]:
    """Yield a proposal for each source line that loads columns, or transposes a loaded tile."""
    lines: dict[LocationAttr, list[_Chain]] = {}
    for op in facts.instructions:
        chain: _Chain | None = None
        if isinstance(op, DmaCopyOp):
            rows = _rows_of(op, facts)
            chain = _Chain(op, (op,)) if rows is not None and rows.strides[1] == 1 else None
        elif isinstance(op, NcTransposeOp):
            chain = _chain(op, facts)
        if chain is not None:
            lines.setdefault(op.location, []).append(chain)
    for location, chains in lines.items():
        tile = name_of(base_of(chain.ops[-1].operands[0]).name_hint for chain in chains)
        gone = sum(len(chain.ops) for chain in chains)
        yield Proposal(
            DMA_TRANSPOSE,
            location,
            0,
            location,
            f"load {tile} with dma_transpose",
            (f"{counted(gone, 'instruction')} become {len(chains):,}",),
            [op for chain in chains for op in chain.ops],
            _ByDma(chains),
        )


@dataclass(frozen=True, slots=True)
class _Chain:
    """The instructions that load and transpose one tile."""

    load: DmaCopyOp
    ops: tuple[NisaOp, ...]
    """The instructions in program order; the last one writes the result."""


def _chain(turn: NcTransposeOp, facts: Facts) -> _Chain | None:
    """Return the chain of load, transpose and copy around a transpose.

    The transpose must be the only reader of the load, and the copy the only reader of the
    transpose.
    """
    sources = facts.sources.get(turn, set())
    readers = facts.readers.get(turn, set())
    load, copy = next(iter(sources), None), next(iter(readers), None)
    if len(sources) != 1 or len(readers) != 1 or not isinstance(load, DmaCopyOp):
        return None
    if not isinstance(copy, TensorCopyOp) or facts.readers.get(load) != {turn}:
        return None
    ops = (load, turn, copy)
    blocks = {op.parent_block() for op in ops}
    plain = all(op.after is None and op.instruction_name is None for op in ops)
    whole = (
        info_of(load.dst) == info_of(turn.data)
        and base_of(load.dst) is base_of(turn.data)
        and info_of(turn.dst) == info_of(copy.src)
    )
    dtypes = {info_of(value).dtype for op in ops for value in op.operands}
    # The result is written earlier: at the load.
    start, end = facts.position[load], facts.position[copy]
    free = facts.undisturbed(copy.dst, start, end, {copy}, reads=True)
    flat = len(info_of(load.src).shape) == 2 and info_of(copy.dst).region is SBUF
    static = info_of(load.src).indirection is None and not info_of(load.src).region.on_chip
    good = plain and whole and free and flat and static
    return _Chain(load, ops) if good and len(blocks) == len(dtypes) == 1 else None


@dataclass(frozen=True, slots=True)
class _ByDma:
    """The change: replace chains of load and transpose by dma_transpose."""

    chains: Sequence[_Chain]

    def __call__(self, edit: Edit) -> None:
        for chain in self.chains:
            load, last = edit.of(chain.load), edit.of(chain.ops[-1])
            assert isinstance(load, DmaCopyOp)
            src, into = load.src, last.operands[0]
            if last is load:
                info = info_of(src)
                rows = AccessPattern(info.offset, info.strides[::-1], info.shape[::-1])
                src = view(base_of(src), rows, load, info.dtype)
            else:
                # The copy's view may be after the load.
                into = view(base_of(into), info_of(into).pattern, load, info_of(into).dtype)
                if isinstance(tile := base_of(into).owner, AllocOp):
                    declare_first(tile)
            transpose = instruction(DmaTransposeOp, load.location, dst=into, src=src)
            insert_before(load, transpose)
            for op in chain.ops:
                erase(edit.of(op))


def _rows_of(op: DmaTransposeOp | DmaCopyOp, facts: Facts) -> AccessPattern | None:
    """Return the rows of HBM that a DMA writes as columns in SBUF.

    None if the DMA does not transpose, if there are more than 128 columns, or if the number of rows
    is above 128 and not a multiple of 128.
    """
    dst, src = info_of(op.dst), info_of(op.src)
    static = dst.indirection is None and src.indirection is None
    if not static or src.region.on_chip or dst.region is not SBUF or dst.dtype is not src.dtype:
        return None
    if op.after is not None or op.instruction_name is not None:
        return None
    if len(dst.shape) != 2 or len(src.shape) != 2:
        return None
    rows = src.pattern
    if isinstance(op, DmaCopyOp):
        # Elements that are near each other in HBM go to different partitions.
        step, row = src.strides
        if dst.shape != src.shape or 1 in src.shape or not 0 < step * src.shape[0] <= row:
            return None
        if row % step or step * dst.dtype.itemsize > _MOST_STEP_BYTES:
            return None
        rows = AccessPattern(src.offset, src.strides[::-1], src.shape[::-1])
    most = facts.target.pmax
    count, columns = rows.shape
    whole = count <= most or count % most == 0
    return rows if whole and columns <= most else None


@dataclass(frozen=True, slots=True)
class _OnTensorEngine:
    """The change: replace transposing DMAs by nc_transpose."""

    ops: Sequence[Operation]

    def __call__(self, edit: Edit) -> None:
        facts = Facts(edit.kernel)
        for original in self.ops:
            op = edit.of(original)
            assert isinstance(op, (DmaTransposeOp, DmaCopyOp))
            rows = _rows_of(op, facts)
            assert rows is not None
            _transpose(op, rows, facts.target.pmax)
            erase(op)


def _transpose(op: DmaTransposeOp | DmaCopyOp, rows: AccessPattern, most: int) -> None:
    dst, hbm = info_of(op.dst), base_of(op.src)
    count, columns = rows.shape
    height = min(count, most)
    blocks = count // height
    (down, along) = rows.strides
    # The bytes between the elements of a row are loaded, too: other DMAs load the same rows.
    width, skipped = columns * along, rows.offset % along
    start = rows.offset - skipped
    straight = _tile(op, (height, blocks * width), SBUF)
    source = AccessPattern(start, (down, height * down, 1), (height, blocks, width))
    into = AccessPattern(0, (blocks * width, width, 1), (height, blocks, width))
    load = instruction(
        DmaCopyOp, op.location,
        dst=view(straight, into, op), src=view(hbm, source, op, dst.dtype),
    )  # fmt: skip
    insert_before(op, load)
    for block in range(blocks):
        turned = _tile(op, (columns, height), PSUM)
        data = AccessPattern(block * width + skipped, (blocks * width, along), (height, columns))
        part = AccessPattern(
            dst.offset + block * height * dst.strides[1], dst.strides, (columns, height)
        )
        turn = instruction(NcTransposeOp, op.location, dst=turned, data=view(straight, data, op))
        copy = instruction(
            TensorCopyOp, op.location, dst=view(base_of(op.dst), part, op, dst.dtype), src=turned
        )
        insert_before(op, turn, copy)


def _tile(op: DmaTransposeOp | DmaCopyOp, shape: tuple[int, int], region: MemoryRegion) -> SSAValue:
    tile = AllocOp.of(allocation_type(info_of(op.dst).dtype, shape, region), location=op.location)
    insert_before(op, tile)
    return tile.result
