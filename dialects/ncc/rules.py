"""Rules of collectives: groups, shapes, buffers, channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import HBM, SBUF, required_tile
from nkijit.dialects.declare.spec import Rule, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import nc_version
from nkijit.dialects.nisa.movement import PRIORITY_RULES
from nkijit.dialects.nki.kernel import cores_of
from nkijit.dialects.rule_texts.cores import (
    COLLECTIVE_BUFFER,
    COLLECTIVE_COALESCED,
    COLLECTIVE_DIM,
    COLLECTIVE_DTYPE,
    COLLECTIVE_GROUP,
    COLLECTIVE_LISTS,
    COLLECTIVE_OPERATOR,
    COLLECTIVE_RDISPLS,
    COLLECTIVE_SHAPE,
)
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import TileInfo, info_of

MAX_CHANNELS = 4
GATHER_V_CORES, GATHER_V_RANKS = 2, 4
"""The number of cores of a launch, and of ranks per group, that all_gather_v requires."""
SBUF_DIMS = 2
"""Number of dimensions of a tensor in SBUF: partitions and one free dimension."""
REDUCTIONS = ("add", "minimum", "maximum")


def _infos(op: NisaOp, name: str) -> list[TileInfo]:
    return [info_of(value) for value in op.operands_named(name)]


def _lists(op: NisaOp) -> list[str]:
    """Return the names of the fields that are lists of tensors, in order."""
    return [f.name for f in op.SPEC.fields if f.variadic]


def _all(op: NisaOp) -> list[tuple[str, TileInfo]]:
    return [(name, info) for name in _lists(op) for info in _infos(op, name)]


def _same_length(op: NisaOp, target: Target) -> Violation | None:
    lengths = {name: len(op.operands_named(name)) for name in _lists(op)}
    if len(set(lengths.values())) == 1:
        return None
    shown = ", ".join(f"'{name}' has {length}" for name, length in lengths.items())
    return Violation(f"the lists of tensors differ in length: {shown}")


def same_memory(*, sbuf: bool, one_kind: bool = False) -> Rule:
    """Return the rule that all tensors are in HBM or, with `sbuf`, all in HBM or all in SBUF.

    With `one_kind`, all tensors of a list are in the same kind of HBM: private or shared (NKI 0.7).
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        legal = (*HBM, SBUF) if sbuf else HBM
        first: dict[bool, str] = {}
        for name, info in _all(op):
            if info.region not in legal:
                return Violation(f"'{name}' lives in {info.region.value}", (name,))
            first.setdefault(info.region.on_chip, f"'{name}' lives in {info.region.value}")
        if len(first) > 1:
            return Violation(", ".join(first.values()))
        for name in _lists(op) if one_kind else ():
            regions = {info.region.value for info in _infos(op, name)}
            if len(regions) > 1:
                some, others = sorted(regions)
                return Violation(f"some of '{name}' live in {some}, others in {others}", (name,))
        return None

    return Rule(COLLECTIVE_BUFFER, check)


def two_dims_in_sbuf(op: NisaOp, target: Target) -> Violation | None:
    """Check that tensors in SBUF have two dimensions: partitions and one free dimension."""
    for name, info in _all(op):
        if info.region.on_chip and len(info.shape) != SBUF_DIMS:
            return Violation(
                f"'{name}' in SBUF has {numbered(len(info.shape), 'dimension')}", (name,)
            )
    return None


def one_tensor(*, never: bool) -> Rule:
    """Return the rule that a list of tensors in SBUF has a single tensor.

    With `never`, lists of tensors in HBM must have a single tensor, too.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        count = len(op.operands_named("srcs" if op.declares("srcs") else _lists(op)[0]))
        on_chip = any(info.region.on_chip for _, info in _all(op))
        if count == 1 or not (never or on_chip):
            return None
        where = "" if never else " in SBUF"
        return Violation(f"takes one tensor{where}, there are {count}")

    return Rule(COLLECTIVE_COALESCED, check)


def _group_size(op: NisaOp) -> int | None:
    members = cast("tuple[tuple[int, ...], ...]", op.value_of("replica_group"))
    sizes = {len(group) for group in members}
    # None without ranks: `_groups` reports that.
    return sizes.pop() or None if len(sizes) == 1 else None


def _groups(op: NisaOp, target: Target) -> Violation | None:
    members = cast("tuple[tuple[int, ...], ...]", op.value_of("replica_group"))
    ranks = [rank for group in members for rank in group]
    if not members or not all(members):
        return Violation("a group has no ranks")
    if min(ranks) < 0:
        return Violation(f"rank {min(ranks)} is negative")
    if len(set(ranks)) < len(ranks):
        twice = next(rank for rank in ranks if ranks.count(rank) > 1)
        return Violation(f"rank {twice} is in the groups twice")
    if _group_size(op) is None:
        return Violation("the groups differ in size")
    return None


def collective_dim_in(legal_hbm: tuple[int, ...], legal_sbuf: tuple[int, ...]) -> Rule:
    """Return the rule that `collective_dim` is one of the legal dimensions.

    The legal dimensions of tensors in HBM and in SBUF differ.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        dim = op.value_of("collective_dim")
        on_chip = any(info.region.on_chip for _, info in _all(op))
        legal = legal_sbuf if on_chip else legal_hbm
        if dim in legal:
            return None
        where = "SBUF" if on_chip else "HBM"
        return Violation(
            f"'collective_dim' is {dim}, in {where} it is {' or '.join(map(str, legal))}"
        )

    return Rule(COLLECTIVE_DIM, check)


def _operator(op: NisaOp, target: Target) -> Violation | None:
    word = op.value_of("op")
    return None if word in REDUCTIONS else Violation(f"'op' is nl.{word}")


def _one_dtype(op: NisaOp, target: Target) -> Violation | None:
    names = _lists(op)
    for column in zip(*(_infos(op, name) for name in names), strict=False):
        dtypes = [info.dtype.name for info in column]
        if len(set(dtypes)) > 1:
            shown = [f"'{n}' is {dtype}" for n, dtype in zip(names, dtypes, strict=True)]
            return Violation(f"different data types: {', '.join(shown)}", tuple(names))
    return None


ResultShape = Callable[[TileInfo, int, int], tuple[int, ...]]
"""A function that returns the shape of a destination of a collective.

The arguments are the source, the number of ranks in a group, and the collective's dimension.
"""


def result_shape(shape: ResultShape) -> Rule:
    """Return the rule that destinations have the shape that `shape` computes from their sources."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        has_group = op.declares("replica_group")
        size = _group_size(op) if has_group else 1
        dim = op.get("collective_dim", 0)
        *sources, destination = _lists(op)
        for name in sources:
            for src, dst in zip(_infos(op, name), _infos(op, destination), strict=False):
                if size is None or not 0 <= dim < len(src.shape):
                    continue
                wanted = shape(src, size, dim)
                if dst.shape == wanted:
                    continue
                ranks = f" and groups of {numbered(size, 'rank')}" if has_group else ""
                return Violation(
                    f"'{destination}' has shape {dst.shape}; '{name}' of shape {src.shape}{ranks} "
                    f"{'need' if has_group else 'needs'} {wanted or 'a shape that they divide'}",
                    (destination,),
                )
        return None

    return Rule(COLLECTIVE_SHAPE, check)


def times_ranks(src: TileInfo, size: int, dim: int) -> tuple[int, ...]:
    """The source's shape with the dimension multiplied by the number of ranks."""
    return (*src.shape[:dim], src.shape[dim] * size, *src.shape[dim + 1 :])


def over_ranks(src: TileInfo, size: int, dim: int) -> tuple[int, ...]:
    """The source's shape with the dimension divided by the number of ranks; () if not divisible."""
    if src.shape[dim] % size:
        return ()
    return (*src.shape[:dim], src.shape[dim] // size, *src.shape[dim + 1 :])


def as_source(src: TileInfo, size: int, dim: int) -> tuple[int, ...]:
    """The shape of the source."""
    return src.shape


def as_source_divisible(src: TileInfo, size: int, dim: int) -> tuple[int, ...]:
    """The shape of the source; () if its dimension is not divisible by the number of ranks."""
    return src.shape if src.shape[dim] % size == 0 else ()


def channels_counted(op: NisaOp, target: Target) -> Violation | None:
    """Check that `channel_ids` are 0, 1, ... with one per tensor, and at most `MAX_CHANNELS`."""
    given = tuple(op.value_of("channel_ids"))
    count = len(op.operands_named(_lists(op)[0]))
    if given != tuple(range(len(given))):
        return Violation(f"'channel_ids' must count from 0, it is {list(given)}")
    if len(given) != count:
        return Violation(f"there are {count} channels of tensors and {len(given)} channel_ids")
    if count > MAX_CHANNELS:
        return Violation(f"there are at most {MAX_CHANNELS} channels, not {count}")
    return None


def known_channel(op: NisaOp, target: Target) -> Violation | None:
    """Check that `channel_id` is below `MAX_CHANNELS`."""
    channel = op.value_of("channel_id")
    if 0 <= channel < MAX_CHANNELS:
        return None
    return Violation(f"'channel_id' is 0 to {MAX_CHANNELS - 1}, not {channel}")


def ranks_paired_once(op: NisaOp, target: Target) -> Violation | None:
    """Check that no rank is the source of two pairs, or the target of two pairs."""
    given = cast("Sequence[tuple[int, int]]", op.value_of("source_target_pairs"))
    if not given:
        return Violation("there are no pairs of ranks")
    for position, what in enumerate(("source", "target")):
        ranks = [pair[position] for pair in given]
        if min(ranks) < 0:
            return Violation(f"{what} rank {min(ranks)} is negative")
        if len(set(ranks)) < len(ranks):
            twice = next(rank for rank in ranks if ranks.count(rank) > 1)
            return Violation(f"rank {twice} is a {what} twice")
    return None


METADATA_ROWS = 3
"""Rows of a metadata tensor: counts sent, displacements in the source, counts received."""


def metadata_layout(op: NisaOp, target: Target) -> Violation | None:
    """Check that the metadata tensor is contiguous uint32 with a column per rank.

    Its rows are the counts sent, the displacements in the source, the counts received and, as an
    option, the displacements in the destination.
    """
    size = _group_size(op)
    if size is None:
        return None
    info = required_tile(op, "metadata_tensor")
    if info.region not in (*HBM, SBUF):
        return Violation(f"'metadata_tensor' lives in {info.region.value}", ("metadata_tensor",))
    rows = METADATA_ROWS + bool(op.value_of("has_rdispls"))
    if info.dtype.name != "uint32":
        return Violation(
            f"'metadata_tensor' is {info.dtype.name}, not uint32", ("metadata_tensor",)
        )
    least = (1, METADATA_ROWS, size) if info.region.on_chip else (METADATA_ROWS, size)
    allowed = {(*least[:-2], count, size) for count in (rows, METADATA_ROWS + 1)}
    if info.shape not in allowed:
        wanted = " or ".join(map(str, sorted(allowed)))
        return Violation(
            f"'metadata_tensor' has shape {info.shape}, not {wanted}", ("metadata_tensor",)
        )
    if not info.pattern.is_contiguous(on_chip=info.region.on_chip):
        return Violation("'metadata_tensor' is not contiguous", ("metadata_tensor",))
    return None


def equal_slots(op: NisaOp, target: Target) -> Violation | None:
    """Check that a destination without displacements splits into equal slots, one per rank."""
    size = _group_size(op)
    if op.value_of("has_rdispls") or size is None:
        return None
    elements = _infos(op, "dsts")[0].size
    if elements % size == 0:
        return None
    return Violation(
        f"the {numbered(elements, 'element')} of 'dsts' do not divide into {size} equal slots",
        ("dsts",),
    )


def rdispls_since(since: nc_version | None) -> Rule:
    """Return the rule that `has_rdispls` requires at least a given NeuronCore generation.

    If the generation is None, no generation supports the argument.
    """

    def check(op: NisaOp, target: Target) -> Violation | None:
        if not op.value_of("has_rdispls") or (since is not None and target.version >= since):
            return None
        if since is None:
            return Violation("has_rdispls=True is not supported")
        return Violation(
            f"has_rdispls=True needs NeuronCore-v{since.value}, the target {target.platform} is "
            f"NeuronCore-v{target.version.value}"
        )

    return Rule(COLLECTIVE_RDISPLS, check)


def two_cores_four_ranks(op: NisaOp, target: Target) -> Violation | None:
    """Check that a launch has two cores and groups have four ranks, as all_gather_v requires."""
    size, cores = _group_size(op), cores_of(op)
    if cores != GATHER_V_CORES:
        return Violation("the kernel is launched on one core")
    if size not in (None, GATHER_V_RANKS):
        return Violation(f"the groups have {numbered(size, 'rank')}")
    return None


LISTS_RULES = (Rule(COLLECTIVE_LISTS, _same_length), Rule(COLLECTIVE_DTYPE, _one_dtype))
COMMON_RULES = (*LISTS_RULES, *PRIORITY_RULES)
GROUPS_RULE = Rule(COLLECTIVE_GROUP, _groups)
OPERATOR_RULE = Rule(COLLECTIVE_OPERATOR, _operator)
