"""Warnings about valid code that wastes time or memory, with the estimated cost."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.costs.engines import (
    copy_rate,
    inner_stride,
    is_narrow,
    min_interval,
    table_of,
    tensor_tensor_rate,
)
from nkijit.dialects.costs.pe_array import passes
from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.declare.cost import transfer_of
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, form_key, is_instruction
from nkijit.dialects.declare.queries import ON_CHIP, engine_of, is_transpose, required_tile
from nkijit.dialects.declare.rules.wording import variable_of
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.timing import Vector
from nkijit.dialects.hardware.words import MemoryRegion, engine
from nkijit.dialects.nisa.elementwise import TensorScalarOp, TensorTensorOp
from nkijit.dialects.nisa.gather import NcStreamShuffleOp
from nkijit.dialects.nisa.matmul import NcMatmulOp
from nkijit.dialects.nisa.movement import DmaCopyOp, TensorCopyOp
from nkijit.dialects.nisa.select import SequenceBoundsOp
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.views import base_of, index_of, start_partition
from nkijit.dialects.rule_texts.lint import (
    BROADCAST_LOAD,
    FEW_PARTITIONS,
    REDUNDANT_COPY,
    REPEATED_LOAD,
    SLOW_MODE,
    SMALL_DMA,
    TABLE_RELOAD,
    UNUSED_TILE,
    WIDENED_MATMUL,
)
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import TileInfo, info_of, is_tile
from nkijit.passes.analysis.flow.dependences import Dependences, Execution
from nkijit.passes.analysis.writes.repeated_loads import Load, loads_of
from nkijit.passes.analysis.writes.unused_results import call_of
from nkijit.passes.analysis.writes.widened import narrow_sources
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.verify.sums import check_rounded_sums


def check_lint(program: Dependences) -> Iterator[Diagnostic]:
    """Yield a warning for each allocation and instruction that is unnecessary or slow."""
    kernel, target, events = program.kernel, program.target, program.events
    yield from _unused(kernel)
    seen: set[Operation] = set()
    by_form: dict[tuple[object, ...], _Warning | None] = {}
    tables = _Tables(target)
    for event in events:
        op = event.op
        if not is_instruction(op):
            continue
        if event.queue == engine.scalar.value:
            yield from tables.follow(op)
        if op in seen:
            continue
        seen.add(op)
        # Warnings that depend on types and arguments alone are computed once per form, like rules.
        types = [id(value.type) for value in operand_tuple(op)]
        key = (*form_key(op), *types)
        if key not in by_form:
            by_form[key] = _warning_of(op, target)
        warning = by_form[key]
        if warning is not None and not (warning.rule is SMALL_DMA and _moves_a_tensor(op)):
            yield warning.at(op, target)
    yield from _redundant_copies(kernel, events)
    yield from _repeated_loads(program)
    yield from _widened(kernel)
    yield from check_rounded_sums(kernel)


# ------------------------------------------------------------------ cost of single instructions


@dataclass(frozen=True, slots=True)
class _Warning:
    """A warning about all instructions with the same types and arguments."""

    rule: RuleText
    message: str
    operands: tuple[str, ...] = ()
    help: str | None = None
    """A fix that is more specific than the rule's own."""

    def at(self, op: NisaOp, target: Target) -> Diagnostic:
        named = ((name, op.operand_named(name)) for name in self.operands)
        shown = [(name, value) for name, value in named if value is not None]
        help = self.help or (_block_first(shown, target) if self.rule is FEW_PARTITIONS else None)
        return diagnose(self.rule, op, self.message, shown, help=help)


def _warning_of(op: NisaOp, target: Target) -> _Warning | None:
    if isinstance(op, DmaCopyOp):
        return _small_dma(op, target) or _broadcast(op, target)
    return _slow_mode(op, target) or _few_partitions(op, target)


def _small_dma(op: DmaCopyOp, target: Target) -> _Warning | None:
    dst, src = info_of(op.dst), info_of(op.src)
    if any(tile.region.on_chip and tile.free_size == 1 for tile in (dst, src)):
        return None  # a column has no neighbouring elements
    timing, transfer = target.timing, transfer_of(op, target)
    efficient = timing.dma.efficient_descriptor_bytes
    if transfer.descriptor_bytes >= min(efficient, transfer.bytes):
        return None
    full = timing.dma.engines * timing.dma.engine_bytes_per_ns
    # Triggering several transfers together does not help: no engine gets a long descriptor.
    is_small = transfer.bytes < efficient * timing.dma.engines
    taken = transfer.engine_ns if is_small else max(transfer.trigger_ns, transfer.engine_ns)
    lost = (taken - transfer.bytes / full) * timing.clocks.core_ghz
    if lost < _LEAST_LOSS:
        return None
    return _Warning(
        SMALL_DMA,
        f"moves {numbered(transfer.bytes, 'byte')} in "
        f"{numbered(transfer.descriptors, 'descriptor')} of "
        f"{numbered(transfer.descriptor_bytes, 'byte')}, which takes about {lost:.0f} cycles "
        "more than in "
        "long ones",
        ("dst", "src"),
        _spread(src),
    )


def _spread(src: TileInfo) -> str | None:
    """Return the help for a tile that a DMA repeats along free dimensions; None for others."""
    repeated = [
        not stride and size > 1 for size, stride in zip(src.shape, src.strides, strict=True)
    ]
    if not src.region.on_chip or src.indirection is not None or not any(repeated[1:]):
        return None
    whole = "x".join(map(str, src.shape))
    once = "x".join("1" if r else str(n) for r, n in zip(repeated, src.shape, strict=True))
    return (
        f"'src' repeats its elements: copy them to a tile of {whole} first, e.g. with "
        f"nisa.tensor_copy, or give 'dst' the shape {once} if each is needed once"
    )


def _moves_a_tensor(op: NisaOp) -> bool:
    """True for a DMA between an entire HBM tensor and a tile that is contiguous in each partition.

    Bytes that are adjacent in HBM are in different partitions, so a larger DMA would not help.
    """
    sides = sorted((op.operands[0], op.operands[1]), key=lambda v: info_of(v).region.on_chip)
    outside, inside = map(info_of, sides)
    if outside.region.on_chip or not inside.region.on_chip:
        return False
    whole = outside.run_bytes == info_of(base_of(sides[0])).size * outside.dtype.itemsize
    return whole and inside.run_bytes == inside.partition_bytes


def _broadcast(op: DmaCopyOp, target: Target) -> _Warning | None:
    """Warn about a load that reads the same row of HBM into many partitions."""
    dst, src = info_of(op.dst), info_of(op.src)
    if src.region.on_chip or not dst.region.on_chip or src.indirection is not None:
        return None
    if src.shape[0] != dst.partitions or dst.partitions == 1 or src.strides[0] != 0:
        return None
    transfer, timing = transfer_of(op, target), target.timing
    row_bytes = transfer.bytes // dst.partitions
    rate = timing.dma.engines * timing.dma.engine_bytes_per_ns
    lost = (transfer.bytes - row_bytes) / rate * timing.clocks.core_ghz
    if lost < _LEAST_BROADCAST_LOSS:
        return None
    return _Warning(
        BROADCAST_LOAD,
        f"reads {numbered(row_bytes, 'byte')} for each of "
        f"{numbered(dst.partitions, 'partition')}, which takes the DMA "
        f"engines about {lost:.0f} cycles more than reading them once",
        ("dst", "src"),
    )


_LEAST_BROADCAST_LOSS = 2048
"""The smallest loss, in cycles, for which a broadcast load is reported.

Below this loss, the alternatives take as long as the load.
"""
_LEAST_LOSS = 128
"""The smallest loss that is reported, in cycles."""


def _slow_mode(op: NisaOp, target: Target) -> _Warning | None:
    if engine_of(op, target) is not engine.vector:
        return None
    if isinstance(op, (TensorCopyOp, TensorScalarOp)):
        names = ("dst", "src" if isinstance(op, TensorCopyOp) else "data")
        return _strided(op, names, target)
    if isinstance(op, TensorTensorOp):
        return _wide_result(op, target)
    return None


def _strided(op: NisaOp, names: tuple[str, str], target: Target) -> _Warning | None:
    """Warn about strided operands: the fastest Vector Engine mode needs adjacent elements."""
    vector = target.timing.vector
    tiles = {name: required_tile(op, name) for name in names}
    if not all(_in_fast_memory(tile, vector) for tile in tiles.values()):
        return None
    dst, src = (tiles[name] for name in names)
    now, best = copy_rate(vector, dst, src), copy_rate(vector, _packed(dst), _packed(src))
    lost = dst.free_size / now - dst.free_size / best
    for name, tile in tiles.items():
        step = inner_stride(tile)
        if step != 1 and lost >= _LEAST_LOSS:
            return _Warning(
                SLOW_MODE,
                f"'{name}' steps by {numbered(step, 'element')}, which loses the mode of {best:g} "
                f"elements a cycle: about {lost:.0f} cycles",
                (name,),
            )
    return None


def _in_fast_memory(tile: TileInfo, vector: Vector) -> bool:
    return is_narrow(vector, tile) and tile.region is MemoryRegion.sbuf


def _packed(tile: TileInfo) -> TileInfo:
    """Return the tile with contiguous elements."""
    return replace(tile, strides=AccessPattern.contiguous(tile.shape).strides)


def _wide_result(op: TensorTensorOp, target: Target) -> _Warning | None:
    vector = target.timing.vector
    dst, *inputs = (info_of(value) for value in (op.dst, op.data1, op.data2))
    narrow = replace(dst, dtype=inputs[0].dtype)
    now, best = (tensor_tensor_rate(vector, tile, *inputs) for tile in (dst, narrow))
    lost = dst.free_size / now - dst.free_size / best
    if lost < _LEAST_LOSS:
        return None
    return _Warning(
        SLOW_MODE,
        f"'dst' is {dst.dtype.name} and the inputs have 16 bits, which loses the mode of {best:g} "
        f"elements a cycle: about {lost:.0f} cycles",
        ("dst",),
    )


_FEW = 4
"""The inverse of the largest fraction of partitions that count as few: a quarter."""
_OF_GIVEN_PARTITIONS = (NcStreamShuffleOp, SequenceBoundsOp)
"""Instructions whose results depend on the partitions of their rows.

Rows cannot be distributed over more partitions for these instructions.
"""


def _reads_tiles(op: NisaOp) -> bool:
    return any(f.role is not Role.write and is_tile(value) for f, value in op.given_operands())


def _few_partitions(op: NisaOp, target: Target) -> _Warning | None:
    if engine_of(op, target) not in (engine.vector, engine.scalar, engine.gpsimd):
        return None
    if isinstance(op, _OF_GIVEN_PARTITIONS) or not _reads_tiles(op):
        return None
    tiles = [info_of(value) for value in op.operands if is_tile(value)]
    used = max((tile.partitions for tile in tiles if tile.region in ON_CHIP), default=target.pmax)
    cycles = op.cycles(target)
    lost = cycles - max(min_interval(op, target), cycles * used / target.pmax)
    if used * _FEW > target.pmax or lost < _LEAST_LOSS:
        return None
    return _Warning(
        FEW_PARTITIONS,
        f"uses {used} of {target.pmax} partitions; laid over all of them it would take about "
        f"{lost:.0f} cycles less",
        ("dst",) if op.declares("dst") else (),
    )


def _block_first(written: Iterable[tuple[str, SSAValue]], target: Target) -> str | None:
    """Return the help for a tile with its blocks in dim 0 and their rows in dim 1, else None."""
    for _, value in written:
        base = base_of(value)
        blocks, *free = info_of(base).shape
        if len(free) < 2 or not blocks * _FEW <= free[0] <= target.pmax:
            continue
        name = variable_of(base, "tile")
        return (
            f"dim 0 is the partitions: allocate {name} as {(free[0], blocks, *free[1:])} and take "
            f"block i as {name}[:, i], or allocate {numbered(blocks, 'tile')} of "
            f"{(free[0], *free[1:])}"
        )
    return None


class _Tables:
    """The activation function table that the Scalar Engine holds, during a walk."""

    def __init__(self, target: Target):
        self._cycles = target.timing.scalar.table_load_ns * target.timing.clocks.core_ghz
        self._resident: str | None = None
        self._replaced: dict[str, NisaOp] = {}
        """For each replaced table, the instruction that loaded the replacement."""
        self._reported: set[NisaOp] = set()

    def follow(self, op: NisaOp) -> Iterator[Diagnostic]:
        """Warn about an instruction that reloads a table."""
        table = table_of(op)
        if table is None:
            return
        if table == self._resident:
            return
        by = self._replaced.pop(table, None)
        if self._resident is not None:
            self._replaced[self._resident] = op
        self._resident = table
        if by is not None and op not in self._reported:
            self._reported.add(op)
            yield diagnose(
                TABLE_RELOAD,
                op,
                f"loads {_table(op)} again, which {_table(by)} has replaced: about "
                f"{self._cycles:.0f} cycles",
                related=[(by, f"loads {_table(by)}")],
            )


def _table(op: NisaOp) -> str:
    """Return the table of an instruction in words, with the name that listings print."""
    table, function = table_of(op), op.value_of("op")
    return f"the table of nl.{table}" + (f" for nl.{function}" if function != table else "")


# ------------------------------------------------------------------ cheaper alternatives


def _repeated_loads(program: Dependences) -> Iterator[Diagnostic]:
    """Warn about repeated loads, into tiles that no other instruction writes."""
    first: dict[Hashable, Load] = {}
    repeated: list[tuple[Load, Load]] = []
    loads = loads_of(program)
    ops = {load.op for load in loads}
    changed = {
        base_of(effect.value)
        for event in program.events
        if event.op not in ops
        for effect in event.effects
        if effect.role is not Role.read
    }
    for load in loads:
        if base_of(load.op.dst) in changed:
            continue  # it replaces earlier contents of the tile
        dst = info_of(load.op.dst)
        known = first.setdefault((load.contents, dst.shape, dst.dtype), load)
        if known is not load or load.runs_again:
            repeated.append((load, known))
    retained = {known.op: info_of(known.op.dst).partition_bytes for _, known in repeated}
    if sum(retained.values()) * _PART_OF_SBUF > program.target.sbuf_usable_bytes:
        return
    for load, known in repeated:
        src = info_of(load.op.src)
        related: list[tuple[Operation, str]] = []
        if call_of(known.op) != call_of(load.op):
            related.append((known.op, "loaded here before"))
        yield diagnose(
            REPEATED_LOAD,
            load.op,
            f"brings {numbered(src.size * src.dtype.itemsize, 'byte')} that SBUF has held before",
            [("dst", load.op.dst), ("src", load.op.src)],
            related=related,
        )


_PART_OF_SBUF = 4
"""The limit for the tiles of repeated loads: the size of SBUF divided by this number.

Larger tiles may not fit.
"""


def _widened(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Warn about float32 matmuls of inputs that were loaded in a narrower dtype."""
    narrow = narrow_sources(kernel)
    for op in kernel.operations if narrow else ():
        if not isinstance(op, NcMatmulOp) or is_transpose(op):
            continue
        sources = {narrow.get(base_of(value)) for value in (op.stationary, op.moving)}
        source = sources.pop()
        count = passes(op, kernel.target)
        if sources or source is None or count == 1:
            continue
        yield diagnose(
            WIDENED_MATMUL,
            op,
            f"multiplies what came in as {source.name} as {info_of(op.moving).dtype.name}, in "
            f"{count:g} passes: about {op.cycles(kernel.target) * (1 - 1 / count):.0f} cycles",
            [("stationary", op.stationary), ("moving", op.moving)],
        )


# ------------------------------------------------------------------ unnecessary operations


def _not_needed(
    found: dict[Operation, Diagnostic], ops: Iterable[Operation]
) -> Iterator[Diagnostic]:
    """Yield the findings about calls that are unnecessary in all iterations of an unrolled loop.

    Software-pipelined loops are exempt: their last iteration prepares data for an iteration that
    never runs.
    """
    if not found:
        return
    places = {call_of(op) for op in found}
    places -= {call_of(op) for op in ops if op not in found}
    yield from (d for op, d in found.items() if call_of(op) in places)


def _unused(kernel: KernelOp) -> Iterator[Diagnostic]:
    allocations = [op for op in kernel.operations if type(op) is AllocOp]
    found: dict[Operation, Diagnostic] = {}
    for op in allocations:
        if op.masked:  # a mask that holds nowhere leaves no instruction to use it
            continue
        users = [use.operation for use in op.result.uses]
        if not any(user.results == () or user.results[0].uses for user in users):
            name = op.result.name_hint or "?"
            message = f"nothing uses '{name}' ({info_of(op.result)})"
            found[op] = diagnose(UNUSED_TILE, op, message)
    return _not_needed(found, allocations)


def _redundant_copies(kernel: KernelOp, events: Sequence[Execution]) -> Iterator[Diagnostic]:
    """Warn about copies whose readers could read the source instead."""
    writers: dict[SSAValue, list[Execution]] = {}
    for event in events:
        for effect in event.effects:
            if effect.role is not Role.read:
                writers.setdefault(base_of(effect.value), []).append(event)
    seen: set[Operation] = set()
    found: dict[Operation, Diagnostic] = {}
    for event in events:
        op = event.op
        if op in seen:
            continue
        seen.add(op)
        if isinstance(op, TensorCopyOp) and _is_redundant(op, event, writers):
            found[op] = diagnose(
                REDUNDANT_COPY,
                op,
                "'dst' holds the same as 'src' as long as it is used: about "
                f"{op.cycles(kernel.target):.0f} cycles",
                [("dst", op.dst), ("src", op.src)],
            )
    yield from _not_needed(found, seen)


def _is_redundant(
    op: TensorCopyOp, event: Execution, writers: dict[SSAValue, list[Execution]]
) -> bool:
    dst, src = info_of(op.dst), info_of(op.src)
    into, out_of = base_of(op.dst), base_of(op.src)
    if index_of(op.dst) is not None or index_of(op.src) is not None or into is out_of:
        return False
    same = (dst.shape, dst.dtype, dst.region) == (src.shape, src.dtype, src.region)
    if not same or start_partition(op.dst) != start_partition(op.src):
        return False
    # Views of 'dst' would have to become views of 'src'.
    if src.run_bytes != src.partition_bytes or dst.size != info_of(into).size:
        return False
    later = [e for e in writers.get(out_of, ()) if e.number > event.number]
    return not later and [e.op for e in writers[into]] == [op]
