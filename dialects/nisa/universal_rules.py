"""Rules about the location of operands in memory and about the access patterns of engines.

Most rules apply to every instruction (`UNIVERSAL_RULES`). The operand fields declare the documented
exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import cast

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.access import AccessPattern, Indirection
from nkijit.dialects.declare.kinds import OperandKind, Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import PSUM, engine_of, required_tile, rules_of
from nkijit.dialects.declare.rules.wording import one_of
from nkijit.dialects.declare.spec import Field, Rule, Violation
from nkijit.dialects.hardware.targets import (
    ACCESS_COUNT_MAX,
    ACCESS_STRIDES,
    COMPUTE_ENGINES,
    INDIRECTION_GROUP,
    PARTITIONS_PER_QUADRANT,
    TENSOR_ENGINE_GROUP,
    Target,
    start_partitions,
)
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.nki.views import (
    access_in_partition,
    access_of,
    base_of,
    fixed_address_of,
    index_of,
    numbers_held,
    row_elements,
    start_partition,
)
from nkijit.dialects.overlap import ENUMERABLE
from nkijit.dialects.rule_texts.access import (
    ACCESS_PATTERN,
    INDIRECT_COUNT,
    INDIRECT_ENGINE,
    INDIRECT_OPERAND,
    INDIRECT_PARTITION,
    OVERLAP,
    PSUM_BANK,
    START_PARTITION,
)
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import TileInfo, info_of, is_tile


def _indirect_operands(op: NisaOp, target: Target) -> Violation | None:
    for f, value in op.given_operands():
        if not is_tile(value):
            continue
        kind = info_of(value).indirection
        allowed = cast(OperandKind, f.kind).indirections
        if kind in (None, Indirection.scalar) or kind in allowed:
            continue
        what = "a vector of indices" if kind is Indirection.vector else ".indirect()"
        return Violation(f"'{f.name}' is addressed with {what}, which it does not take", (f.name,))
    return None


def _indirect_partitions(op: NisaOp, target: Target) -> Violation | None:
    tiles = [(f, value) for f, value in op.given_operands() if is_tile(value)]
    # The read operand that documents indirection, e.g. the predicate of a predicated copy.
    reads = [
        (f, value)
        for f, value in tiles
        if f.role is Role.read and Indirection.tensor in cast(OperandKind, f.kind).indirections
    ]
    for f, value in tiles:
        index = index_of(value)
        if index is None or info_of(value).indirection is not Indirection.tensor:
            continue
        start, fixed = start_partition(index)
        if start % PARTITIONS_PER_QUADRANT:
            return Violation(f"the index of '{f.name}' starts at partition {start}", (f.name,))
        partner = (f, value) if f.role is Role.read else (reads[0] if reads else None)
        if partner is None:
            continue
        other, its_index = partner[1], index_of(partner[1])
        if f.role is not Role.read and info_of(other).region is PSUM:
            if its_index is None or not is_tile(its_index):
                continue
            other = its_index
        its_start, its_fixed = start_partition(other)
        if fixed and its_fixed and start != its_start:
            return Violation(
                f"the index of '{f.name}' starts at partition {start}, '{partner[0].name}' at "
                f"{its_start}",
                (f.name,),
            )
    return None


def _scatter_to_psum(op: NisaOp, target: Target) -> Violation | None:
    if engine_of(op, target) is not engine.scalar:
        return None
    for f, value in op.given_operands():
        if f.role is Role.read or not is_tile(value):
            continue
        tile = info_of(value)
        if tile.region is PSUM and tile.indirection is Indirection.tensor:
            return Violation(f"the Scalar Engine scatters '{f.name}' to psum", (f.name,))
    return None


def indirection_group(op: NisaOp, target: Target) -> int:
    """The number of partitions that share the indices of tensor indirection."""
    return TENSOR_ENGINE_GROUP if engine_of(op, target) is engine.tensor else INDIRECTION_GROUP


def _indirect_counts(op: NisaOp, target: Target) -> Violation | None:
    for f, value in op.given_operands():
        index = index_of(value)
        if index is None or info_of(value).indirection is not Indirection.tensor:
            continue
        count, held = (
            info_of(value).free_size,
            numbers_held(info_of(index), indirection_group(op, target)),
        )
        if count > held:
            return Violation(
                f"'{f.name}' has {numbered(count, 'element')} per partition, its index holds "
                f"{held}",
                (f.name,),
            )
    return None


# ------------------------------------------------------------------ access of engines


def _on_chip(op: NisaOp) -> Iterator[tuple[Field, SSAValue, TileInfo]]:
    """Yield the operands in SBUF and PSUM, each as (field, value, tile)."""
    for f, value in op.given_operands():
        if is_tile(value):
            tile = info_of(value)
            if tile.region.on_chip:
                yield f, value, tile


def _start_partition(op: NisaOp, target: Target) -> Violation | None:
    if engine_of(op, target) not in COMPUTE_ENGINES:
        return None
    for f, value, tile in _on_chip(op):
        start, _ = start_partition(value)
        legal = start_partitions(tile.partitions)
        if start in legal or cast(OperandKind, f.kind).inside_quadrants:
            continue
        size = numbered(tile.partitions, "partition")
        return Violation(
            f"'{f.name}' starts at partition {start}; with {size} it can start at "
            f"{one_of(tuple(map(str, legal)))}",
            (f.name,),
        )
    return None


def inside_a_bank(name: str) -> Rule:
    """Return the rule that the Tensor Engine writes the operand within one PSUM bank.

    NeuronCore-v4 has no such limit.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        value, tile = op.required(name), required_tile(op, name)
        if tile.region is not PSUM:
            return None
        if target.matmul_spans_banks or engine_of(op, target) is not engine.tensor:
            return None
        bank, address = target.psum_bank_bytes, fixed_address_of(value)
        if tile.indirection or tile.partition_bytes > bank:  # other rules report the size
            return None
        # The compiler places an allocation that fits a bank inside a bank, and a larger one at the
        # start of a bank.
        if address is None and info_of(base_of(value)).partition_bytes <= bank:
            return None
        low, high = access_of(value).free_range(row_elements(value))
        size, start = tile.dtype.itemsize, 0 if address is None else address[1]
        first, last = start + low * size, start + (high + 1) * size - 1
        if first // bank == last // bank:
            return None
        return Violation(
            f"'{name}' reaches from byte {first} to byte {last} of a partition, over banks "
            f"{first // bank} to {last // bank}; a bank has {bank} bytes",
            (name,),
        )

    return Rule(PSUM_BANK, check)


def _access_pattern(op: NisaOp, target: Target) -> Violation | None:
    if engine_of(op, target) not in COMPUTE_ENGINES:
        return None
    for f, value, tile in _on_chip(op):
        if tile.indirection is Indirection.tensor:
            continue
        problem = cannot_walk(access_of(value), target)
        if problem is not None:
            return Violation(f"'{f.name}' {problem}", (f.name,))
    return None


def cannot_walk(access: AccessPattern, target: Target) -> str | None:
    """Return why an engine cannot access the free dimensions of a tile in one walk, or None."""
    axes = merged_axes(_free(access))
    needed = 0
    for stride, count in axes:
        if count > 1 and stride not in ACCESS_STRIDES:
            return (
                f"has a stride of {numbered(stride, 'element')} in a partition, "
                f"{ACCESS_STRIDES[0]} to "
                f"{ACCESS_STRIDES[-1]} are possible"
            )
        parts = _parts_of(stride, count)
        if parts is None:
            return (
                f"has {numbered(count, 'element')} in one dimension of a partition, "
                f"{ACCESS_COUNT_MAX} are "
                "possible, and no two dimensions make this number"
            )
        needed += parts
    limit = target.max_access_dims - 1
    if needed <= limit:
        return None
    return (
        f"needs {numbered(needed, 'dimension')} to be walked in a partition, an engine has {limit}"
    )


def merged_axes(access: AccessPattern) -> list[tuple[int, int]]:
    """Return (stride, count) of each dimension; neighbours with a common stride are merged."""
    axes: list[tuple[int, int]] = []
    for stride, count in zip(reversed(access.strides), reversed(access.shape), strict=True):
        if count == 1:
            continue
        if axes and stride == axes[-1][0] * axes[-1][1]:
            axes[-1] = (axes[-1][0], axes[-1][1] * count)
        else:
            axes.append((stride, count))
    return axes[::-1]


def _parts_of(stride: int, count: int) -> int | None:
    """Return the number of access dimensions for `count` elements at one stride.

    It is 1, or 2 if `count` is too large for one dimension; None if two are not enough.
    """
    if count <= ACCESS_COUNT_MAX:
        return 1
    for outer in range(2, ACCESS_COUNT_MAX + 1):
        inner = count // outer
        if (
            inner * outer == count
            and inner <= ACCESS_COUNT_MAX
            and stride * inner in ACCESS_STRIDES
        ):
            return 2
    return None


# ------------------------------------------------------------------ operands that share memory


def _overlap(op: NisaOp, target: Target) -> Violation | None:
    operands = [(f, value) for f, value in op.given_operands() if is_tile(value)]
    bases = [base_of(value) for _, value in operands]
    if len(set(bases)) == len(bases):
        return None
    streams = engine_of(op, target) in COMPUTE_ENGINES
    for w, (written, dst) in enumerate(operands):
        if written.role is Role.read:
            continue
        for r, (read, src) in enumerate(operands):
            if read.role is not Role.read or bases[r] is not bases[w]:
                continue
            problem = _read_too_late(read, src, dst, streams)
            if problem is not None:
                return Violation(
                    f"'{written.name}' overlaps '{read.name}', {problem}",
                    (written.name, read.name),
                )
    return None


def _read_too_late(read: Field, src: SSAValue, dst: SSAValue, streams: bool) -> str | None:
    """Return why an instruction may read elements after overwriting them; None if it never does."""
    source, result = info_of(src), info_of(dst)
    if source.indirection or result.indirection or not source.overlaps(result):
        return None
    if cast(OperandKind, read.kind).any_order:
        return "which is read in another order than it is written in"
    if source == result or source.size != result.size:
        return None
    if not streams:
        read_all, written_all = access_of(src), access_of(dst)
        if _clash(read_all, source, written_all, result, in_step=False):
            return "and DMA engines move elements in no particular order"
        return None
    read_row, written_row = access_in_partition(src), access_in_partition(dst)
    if _clash(read_row, source, written_row, result, in_step=True):
        return "whose elements are overwritten before they are read"
    return None


def _clash(
    read: AccessPattern, source: TileInfo, written: AccessPattern, result: TileInfo, in_step: bool
) -> bool:
    """Return True if an element may be read after the write of another element changed its bytes.

    With `in_step`, elements are read and written one after the other, so only the write of an
    earlier element counts. Both patterns have the same number of elements, and overlap. Also
    returns False for patterns of more than `ENUMERABLE` elements that no simple case decides.
    """
    size, result_size = source.dtype.itemsize, result.dtype.itemsize
    if size == result_size and merged_axes(read) == merged_axes(written):
        if read.offset == written.offset:
            return False
        if not in_step:
            return True
        if _ascends(read):  # later reads are at higher addresses
            return written.offset > read.offset
    if read.size > ENUMERABLE:
        return False
    writers: dict[int, list[int]] = {}
    for number, offset in enumerate(written.offsets()):
        for byte in range(offset * result_size, (offset + 1) * result_size):
            writers.setdefault(byte, []).append(number)
    return any(
        writer < number or (writer > number and not in_step)
        for number, offset in enumerate(read.offsets())
        for byte in range(offset * size, (offset + 1) * size)
        for writer in writers.get(byte, ())
    )


def _free(access: AccessPattern) -> AccessPattern:
    return AccessPattern(access.offset, access.strides[1:], access.shape[1:])


def _ascends(access: AccessPattern) -> bool:
    """True when addresses increase from each element to the next."""
    reach = 0
    for stride, count in zip(reversed(access.strides), reversed(access.shape), strict=True):
        if count > 1:
            if stride <= reach:
                return False
            reach += stride * (count - 1)
    return True


UNIVERSAL_RULES = (
    Rule(INDIRECT_OPERAND, _indirect_operands),
    Rule(INDIRECT_PARTITION, _indirect_partitions),
    Rule(INDIRECT_ENGINE, _scatter_to_psum),
    Rule(INDIRECT_COUNT, _indirect_counts),
    Rule(START_PARTITION, _start_partition),
    Rule(ACCESS_PATTERN, _access_pattern),
    Rule(OVERLAP, _overlap),
)
"""The rules that apply to every instruction."""


@cache
def all_rules_of(op_class: type[Operation]) -> tuple[Rule, ...]:
    """Return all rules of a class of operations; for instructions, with the universal ones."""
    universal = UNIVERSAL_RULES if issubclass(op_class, NisaOp) else ()
    return (*rules_of(op_class), *universal)
