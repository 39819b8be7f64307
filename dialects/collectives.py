"""The `ncc` dialect: one op per function of `nki.collectives`, same name, same argument names.

Ranks run the same kernel on memory of their own; a collective moves data between the ranks of a
group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.ir import Dialect

from nkijit.dialects.constraints import HBM, SBUF
from nkijit.dialects.declare import Finding, NisaOp, Rule, Stage, instruction
from nkijit.dialects.dma_costs import AROUND, NEIGHBOUR, TWICE_AROUND, Route, collects, moving
from nkijit.dialects.engine_costs import REGISTER_MOVE
from nkijit.dialects.fields import (
    flag,
    groups,
    integer_or_register,
    integers,
    operator,
    opt_integer,
    pairs,
    required_integer,
    tiles,
    updated,
    written_register,
    written_tiles,
)
from nkijit.dialects.hardware import Target, engine, nc_version
from nkijit.dialects.nisa.cores import CoreBarrierOp, SendrecvOp
from nkijit.dialects.nisa.movement import PRIORITY_RULES
from nkijit.dialects.nki import cores_of
from nkijit.dialects.rule_texts.cores import (
    COLLECTIVE_BUFFER,
    COLLECTIVE_CHANNELS,
    COLLECTIVE_COALESCED,
    COLLECTIVE_DIM,
    COLLECTIVE_DTYPE,
    COLLECTIVE_GROUP,
    COLLECTIVE_LAUNCH,
    COLLECTIVE_LISTS,
    COLLECTIVE_METADATA,
    COLLECTIVE_OPERATOR,
    COLLECTIVE_RDISPLS,
    COLLECTIVE_SBUF_DIMS,
    COLLECTIVE_SHAPE,
)
from nkijit.dialects.tiles import TileInfo, info_of

MAX_CHANNELS = 4
SBUF_DIMS = 2
"""Dimensions of a tensor in SBUF: partitions and one free dimension."""
OPERATORS = ("add", "minimum", "maximum")

Check = Callable[[NisaOp, Target], Finding | None]


def _infos(op: NisaOp, name: str) -> list[TileInfo]:
    return [info_of(value) for value in op.operands_named(name)]


def _lists(op: NisaOp) -> list[str]:
    """The fields that are lists of tensors, in order."""
    return [f.name for f in op.SPEC.fields if f.variadic]


def _all(op: NisaOp) -> list[tuple[str, TileInfo]]:
    return [(name, info) for name in _lists(op) for info in _infos(op, name)]


def _same_length(op: NisaOp, target: Target) -> Finding | None:
    lengths = {name: len(op.operands_named(name)) for name in _lists(op)}
    if len(set(lengths.values())) == 1:
        return None
    shown = ", ".join(f"'{name}' has {length}" for name, length in lengths.items())
    return Finding(f"the lists of tensors differ in length: {shown}")


def _buffers(*, sbuf: bool) -> Rule:
    def check(op: NisaOp, target: Target) -> Finding | None:
        legal = (*HBM, SBUF) if sbuf else HBM
        kinds: set[bool] = set()
        for name, info in _all(op):
            if info.region not in legal:
                return Finding(f"'{name}' lives in {info.region.value}", (name,))
            kinds.add(info.region.on_chip)
        if len(kinds) > 1:
            return Finding("some tensors live in HBM, others in SBUF")
        return None

    return Rule(COLLECTIVE_BUFFER, check)


def _sbuf_dims(op: NisaOp, target: Target) -> Finding | None:
    for name, info in _all(op):
        if info.region.on_chip and len(info.shape) != SBUF_DIMS:
            return Finding(f"'{name}' in SBUF has {len(info.shape)} dimensions", (name,))
    return None


def _coalesced(*, never: bool) -> Rule:
    def check(op: NisaOp, target: Target) -> Finding | None:
        count = len(op.operands_named("srcs" if "srcs" in op.SPEC.by_name else _lists(op)[0]))
        on_chip = any(info.region.on_chip for _, info in _all(op))
        if count == 1 or not (never or on_chip):
            return None
        where = "" if never else " in SBUF"
        return Finding(f"takes one tensor{where}, there are {count}")

    return Rule(COLLECTIVE_COALESCED, check)


def _group_size(op: NisaOp) -> int | None:
    members = cast("tuple[tuple[int, ...], ...]", op.value_of("replica_group"))
    sizes = {len(group) for group in members}
    # No size is no wrong size: that is a finding of its own.
    return sizes.pop() or None if len(sizes) == 1 else None


def _groups(op: NisaOp, target: Target) -> Finding | None:
    members = cast("tuple[tuple[int, ...], ...]", op.value_of("replica_group"))
    ranks = [rank for group in members for rank in group]
    if not members or not all(members):
        return Finding("a group has no ranks")
    if min(ranks) < 0:
        return Finding(f"rank {min(ranks)} is negative")
    if len(set(ranks)) < len(ranks):
        twice = next(rank for rank in ranks if ranks.count(rank) > 1)
        return Finding(f"rank {twice} is in the groups twice")
    if _group_size(op) is None:
        return Finding("the groups differ in size")
    return None


def _dims(legal_hbm: tuple[int, ...], legal_sbuf: tuple[int, ...]) -> Rule:
    def check(op: NisaOp, target: Target) -> Finding | None:
        dim = op.value_of("collective_dim")
        on_chip = any(info.region.on_chip for _, info in _all(op))
        legal = legal_sbuf if on_chip else legal_hbm
        if dim in legal:
            return None
        where = "SBUF" if on_chip else "HBM"
        return Finding(
            f"'collective_dim' is {dim}, in {where} it is {' or '.join(map(str, legal))}"
        )

    return Rule(COLLECTIVE_DIM, check)


def _operator(op: NisaOp, target: Target) -> Finding | None:
    word = op.value_of("op")
    return None if word in OPERATORS else Finding(f"'op' is nl.{word}")


def _one_dtype(op: NisaOp, target: Target) -> Finding | None:
    names = _lists(op)
    for column in zip(*(_infos(op, name) for name in names), strict=False):
        dtypes = [info.dtype.name for info in column]
        if len(set(dtypes)) > 1:
            shown = [f"'{n}' is {dtype}" for n, dtype in zip(names, dtypes, strict=True)]
            return Finding(f"different data types: {', '.join(shown)}", tuple(names))
    return None


Shape = Callable[[TileInfo, int, int], tuple[int, ...]]
"""The shape of a destination: from its source, the size of the group and the dimension."""


def _shapes(shape: Shape) -> Rule:
    def check(op: NisaOp, target: Target) -> Finding | None:
        has_group = "replica_group" in op.SPEC.by_name
        size = _group_size(op) if has_group else 1
        dim = op.value_of("collective_dim") if "collective_dim" in op.SPEC.by_name else 0
        *sources, destination = _lists(op)
        for name in sources:
            for src, dst in zip(_infos(op, name), _infos(op, destination), strict=False):
                if size is None or not 0 <= dim < len(src.shape):
                    continue
                wanted = shape(src, size, dim)
                if dst.shape == wanted:
                    continue
                ranks = f" and groups of {size} ranks" if has_group else ""
                return Finding(
                    f"'{destination}' has shape {dst.shape}; '{name}' of shape {src.shape}{ranks} "
                    f"{'need' if has_group else 'needs'} {wanted or 'a shape that they divide'}",
                    (destination,),
                )
        return None

    return Rule(COLLECTIVE_SHAPE, check)


def _scaled(src: TileInfo, size: int, dim: int) -> tuple[int, ...]:
    return (*src.shape[:dim], src.shape[dim] * size, *src.shape[dim + 1 :])


def _divided(src: TileInfo, size: int, dim: int) -> tuple[int, ...]:
    if src.shape[dim] % size:
        return ()
    return (*src.shape[:dim], src.shape[dim] // size, *src.shape[dim + 1 :])


def _equal(src: TileInfo, size: int, dim: int) -> tuple[int, ...]:
    return src.shape


def _exchanged(src: TileInfo, size: int, dim: int) -> tuple[int, ...]:
    return src.shape if src.shape[dim] % size == 0 else ()


def _channels(op: NisaOp, target: Target) -> Finding | None:
    given = tuple(op.value_of("channel_ids"))
    channels = len(op.operands_named(_lists(op)[0]))
    if given != tuple(range(len(given))):
        return Finding(f"'channel_ids' must count from 0, it is {list(given)}")
    if len(given) != channels:
        return Finding(f"there are {channels} channels of tensors and {len(given)} channel_ids")
    if channels > MAX_CHANNELS:
        return Finding(f"there are at most {MAX_CHANNELS} channels, not {channels}")
    return None


def _ring_channel(op: NisaOp, target: Target) -> Finding | None:
    channel = op.value_of("channel_id")
    if 0 <= channel < MAX_CHANNELS:
        return None
    return Finding(f"'channel_id' is 0 to {MAX_CHANNELS - 1}, not {channel}")


def _permutation(op: NisaOp, target: Target) -> Finding | None:
    given = cast("Sequence[tuple[int, int]]", op.value_of("source_target_pairs"))
    if not given:
        return Finding("there are no pairs of ranks")
    for position, what in enumerate(("source", "target")):
        ranks = [pair[position] for pair in given]
        if min(ranks) < 0:
            return Finding(f"{what} rank {min(ranks)} is negative")
        if len(set(ranks)) < len(ranks):
            twice = next(rank for rank in ranks if ranks.count(rank) > 1)
            return Finding(f"rank {twice} is a {what} twice")
    return None


METADATA_ROWS = 3
"""Rows of a metadata tensor: what is sent, from where, what is received."""


def _metadata(op: NisaOp, target: Target) -> Finding | None:
    value = op.operand_named("metadata_tensor")
    size = _group_size(op)
    if value is None or size is None:
        return None
    info = info_of(value)
    if info.region not in (*HBM, SBUF):
        return Finding(f"'metadata_tensor' lives in {info.region.value}", ("metadata_tensor",))
    rows = METADATA_ROWS + bool(op.value_of("has_rdispls"))
    if info.dtype.name != "uint32":
        return Finding(f"'metadata_tensor' is {info.dtype.name}, not uint32", ("metadata_tensor",))
    least = (1, METADATA_ROWS, size) if info.region.on_chip else (METADATA_ROWS, size)
    allowed = {(*least[:-2], count, size) for count in (rows, METADATA_ROWS + 1)}
    if info.shape not in allowed:
        wanted = " or ".join(map(str, sorted(allowed)))
        return Finding(
            f"'metadata_tensor' has shape {info.shape}, not {wanted}", ("metadata_tensor",)
        )
    if not info.pattern.is_contiguous(on_chip=info.region.on_chip):
        return Finding("'metadata_tensor' is not contiguous", ("metadata_tensor",))
    return None


def _slots(op: NisaOp, target: Target) -> Finding | None:
    size = _group_size(op)
    if op.value_of("has_rdispls") or size is None:
        return None
    elements = _infos(op, "dsts")[0].size
    if elements % size == 0:
        return None
    return Finding(
        f"the {elements} elements of 'dsts' do not divide into {size} equal slots", ("dsts",)
    )


def _rdispls(since: nc_version | None) -> Rule:
    def check(op: NisaOp, target: Target) -> Finding | None:
        if not op.value_of("has_rdispls") or (since is not None and target.version >= since):
            return None
        if since is None:
            return Finding("has_rdispls=True is not supported")
        return Finding(
            f"has_rdispls=True needs NeuronCore-v{since.value}, the target {target.platform} is "
            f"NeuronCore-v{target.version.value}"
        )

    return Rule(COLLECTIVE_RDISPLS, check)


GATHER_V_CORES, GATHER_V_RANKS = 2, 4
"""The launch and the groups that all_gather_v is limited to."""


def _gather_v_launch(op: NisaOp, target: Target) -> Finding | None:
    size, cores = _group_size(op), cores_of(op)
    if cores != GATHER_V_CORES:
        return Finding("the kernel is launched on one core")
    if size not in (None, GATHER_V_RANKS):
        return Finding(f"the groups have {size} ranks")
    return None


_COMMON = (
    Rule(COLLECTIVE_LISTS, _same_length),
    Rule(COLLECTIVE_DTYPE, _one_dtype),
    *PRIORITY_RULES,
)
_GROUP = Rule(COLLECTIVE_GROUP, _groups)
_REDUCES = Rule(COLLECTIVE_OPERATOR, _operator)


def _stage(mnemonic: str, route: Route, *operands: str) -> tuple[Stage, ...]:
    return (Stage(mnemonic, operands, moving(collects(route))),)


@instruction(
    engines=(engine.dma,),
    rules=(
        _buffers(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, _sbuf_dims),
        _coalesced(never=False),
        *_COMMON,
        _GROUP,
        _REDUCES,
        _shapes(_equal),
    ),
    stages=_stage("ALL_REDUCE", TWICE_AROUND, "dsts", "srcs"),
)
class AllReduceOp(NisaOp):
    """`dsts` of every rank: the reduction of the `srcs` of all ranks of its group."""

    name = "ncc.all_reduce"

    srcs = tiles()
    dsts = written_tiles()
    replica_group = groups()
    op = operator()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        _buffers(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, _sbuf_dims),
        _coalesced(never=False),
        *_COMMON,
        _GROUP,
        _dims((0,), (0, 1)),
        _shapes(_scaled),
    ),
    stages=_stage("ALL_GATHER", AROUND, "dsts", "srcs"),
)
class AllGatherOp(NisaOp):
    """`dsts` of every rank: the `srcs` of all ranks of its group, one behind the other."""

    name = "ncc.all_gather"

    srcs = tiles()
    dsts = written_tiles()
    replica_group = groups()
    collective_dim = required_integer()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        _buffers(sbuf=False),
        _coalesced(never=True),
        *_COMMON,
        _GROUP,
        Rule(COLLECTIVE_METADATA, _metadata),
        Rule(COLLECTIVE_SHAPE, _slots),
        _rdispls(None),
        Rule(COLLECTIVE_LAUNCH, _gather_v_launch),
    ),
    stages=_stage("ALL_GATHER_V", AROUND, "dsts", "srcs", "metadata_tensor"),
)
class AllGatherVOp(NisaOp):
    """`dsts` of every rank: a slot for each rank of its group with the elements that it sent."""

    name = "ncc.all_gather_v"

    srcs = tiles(partial=True)
    dsts = written_tiles(partial=True)
    replica_group = groups()
    metadata_tensor = updated(partial=True)
    recv_counts_known = flag()
    has_rdispls = flag()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        _buffers(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, _sbuf_dims),
        _coalesced(never=False),
        *_COMMON,
        _GROUP,
        _dims((0,), (0,)),
        _REDUCES,
        _shapes(_divided),
    ),
    stages=_stage("REDUCE_SCATTER", AROUND, "dsts", "srcs"),
)
class ReduceScatterOp(NisaOp):
    """`dsts` of rank `r`: part `r` of the reduction of the `srcs` of all ranks of its group."""

    name = "ncc.reduce_scatter"

    srcs = tiles()
    dsts = written_tiles()
    replica_group = groups()
    collective_dim = required_integer()
    op = operator()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(_buffers(sbuf=False), *_COMMON, _GROUP, _dims((0,), (0,)), _shapes(_exchanged)),
    stages=_stage("ALL_TO_ALL", AROUND, "dsts", "srcs"),
)
class AllToAllOp(NisaOp):
    """`dsts` of rank `r`: part `r` of the `srcs` of all ranks of its group, in their order."""

    name = "ncc.all_to_all"

    srcs = tiles()
    dsts = written_tiles()
    replica_group = groups()
    collective_dim = required_integer()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        _buffers(sbuf=False),
        _coalesced(never=True),
        *_COMMON,
        _GROUP,
        Rule(COLLECTIVE_METADATA, _metadata),
        Rule(COLLECTIVE_SHAPE, _slots),
        _rdispls(nc_version.gen4),
    ),
    stages=_stage("ALL_TO_ALL_V", AROUND, "dsts", "srcs", "metadata_tensor"),
)
class AllToAllVOp(NisaOp):
    """`dsts` of every rank: what each rank of its group sent to it, counts known at run time."""

    name = "ncc.all_to_all_v"

    srcs = tiles(partial=True)
    dsts = written_tiles(partial=True)
    replica_group = groups()
    metadata_tensor = updated(partial=True)
    recv_counts_known = flag()
    has_rdispls = flag()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        _buffers(sbuf=False),
        _coalesced(never=True),
        *_COMMON,
        Rule(COLLECTIVE_GROUP, _permutation),
        _shapes(_equal),
    ),
    stages=_stage("COLLECTIVE_PERMUTE", NEIGHBOUR, "dsts", "srcs"),
)
class CollectivePermuteOp(NisaOp):
    """`dsts` of each target: the `srcs` of its source."""

    name = "ncc.collective_permute"

    srcs = tiles()
    dsts = written_tiles()
    source_target_pairs = pairs()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        _buffers(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, _sbuf_dims),
        *_COMMON,
        _GROUP,
        Rule(COLLECTIVE_CHANNELS, _channels),
        _shapes(_equal),
    ),
    stages=_stage("COLLECTIVE_PERMUTE_IMPLICIT", NEIGHBOUR, "dsts_by_channel", "srcs_by_channel"),
)
class CollectivePermuteImplicitOp(NisaOp):
    """A step around the ring of a group: to the successor, from the predecessor."""

    name = "ncc.collective_permute_implicit"

    srcs_by_channel = tiles()
    dsts_by_channel = written_tiles()
    replica_group = groups()
    channel_ids = integers()
    priority = opt_integer()


@instruction(
    engines=(engine.dma,),
    rules=(
        _buffers(sbuf=True),
        Rule(COLLECTIVE_SBUF_DIMS, _sbuf_dims),
        *_COMMON,
        _GROUP,
        Rule(COLLECTIVE_CHANNELS, _channels),
        _REDUCES,
        _shapes(_equal),
    ),
    stages=_stage(
        "COLLECTIVE_PERMUTE_REDUCE",
        NEIGHBOUR,
        "dsts_by_channel",
        "srcs0_by_channel",
        "srcs1_by_channel",
    ),
)
class CollectivePermuteImplicitReduceOp(NisaOp):
    """A step around the ring of a group with `srcs0 op srcs1`."""

    name = "ncc.collective_permute_implicit_reduce"

    srcs0_by_channel = tiles()
    srcs1_by_channel = tiles()
    dsts_by_channel = written_tiles()
    replica_group = groups()
    op = operator()
    channel_ids = integers()
    priority = opt_integer()


@instruction(
    engines=(engine.sync,),
    rules=(_GROUP, Rule(COLLECTIVE_CHANNELS, _ring_channel)),
    stages=(Stage("RING_RANK_ID", ("dst", "iteration_id"), REGISTER_MOVE),),
)
class RingRankIdOp(NisaOp):
    """`dst`: the rank whose data comes by in a step around the ring of a group."""

    name = "ncc.collective_permute_implicit_current_processing_rank_id"

    dst = written_register()
    iteration_id = integer_or_register()
    replica_group = groups()
    channel_id = required_integer()


@instruction(engines=(engine.sync,), rules=(), stages=(Stage("RANK_ID", ("dst",), REGISTER_MOVE),))
class RankIdOp(NisaOp):
    """`dst`: the rank that runs the kernel."""

    name = "ncc.rank_id"

    dst = written_register()


COLLECTIVES: tuple[type[NisaOp], ...] = (
    AllReduceOp,
    AllGatherOp,
    AllGatherVOp,
    ReduceScatterOp,
    AllToAllOp,
    AllToAllVOp,
    CollectivePermuteOp,
    CollectivePermuteImplicitOp,
    CollectivePermuteImplicitReduceOp,
    RingRankIdOp,
    RankIdOp,
)
"""Every collective, in the order of the public API reference."""

MEETINGS: tuple[type[NisaOp], ...] = (
    CoreBarrierOp,
    *(op for op in COLLECTIVES if any(f.accepts_tile for f in op.SPEC.operand_fields)),
)
"""Instructions in which the cores wait for each other: barriers for the tensors that they name.

Who asks for its rank waits for nobody.
"""

WAITING: tuple[type[NisaOp], ...] = (*MEETINGS, SendrecvOp)
"""Instructions that wait for another core or rank."""

Ncc = Dialect("ncc", list(COLLECTIVES), [])
