"""Propagation of undefinedness through instructions, element by element.

A *mark* is an integer per element: `DEFINED`, or the origin of the undefined value (`shadow.py`). A
*flow* maps the marks of an instruction's operands to the marks of its results. By default, a result
depends on the elements at the same position, and on operands of shape (P, 1) in the same partition.
Where a dependence is decided by data that is not known, a flow marks fewer elements, never more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of, passes_bits_through, required_tile, tile_of
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.hardware.targets import PARTITIONS_PER_GPSIMD_CORE, Target, gpsimd_cores
from nkijit.dialects.hardware.words import engine, matmul_perf_mode, nc_version, reduce_cmd
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa.cores import SendrecvOp
from nkijit.dialects.nisa.elementwise import TensorScalarCumulativeOp
from nkijit.dialects.nisa.gather import (
    LocalGatherOp,
    NcNGatherOp,
    NcStreamShuffleOp,
    shuffled_rows,
    valid_indices,
)
from nkijit.dialects.nisa.matmul import DOUBLE_ROW, NcMatmulOp, NcTransposeOp
from nkijit.dialects.nisa.movement import DmaComputeOp, DmaCopyOp, TensorCopyOp
from nkijit.dialects.nisa.mx import (
    GROUP_PARTITIONS,
    PACKED,
    NcMatmulMxOp,
    QuantizeMxOp,
    scale_rows,
)
from nkijit.dialects.nisa.reduce import TensorPartitionReduceOp, TensorReduceOp, reduced_dims
from nkijit.dialects.nisa.scan import TensorTensorScanOp
from nkijit.dialects.nisa.search import (
    Max8Op,
    NcFindIndex8Op,
    NcMatchReplace8Op,
    NonzeroWithCountOp,
    TopkOp,
)
from nkijit.dialects.nisa.select import (
    AffineSelectOp,
    RangeSelectOp,
    SelectReduceOp,
    SequenceBoundsOp,
    TensorCopyPredicatedOp,
)
from nkijit.dialects.nisa.statistics import BnAggrOp, BnStatsOp
from nkijit.dialects.nisa.transpose import DMA_AXES, DmaTransposeOp
from nkijit.dialects.tiles import is_tile
from nkijit.passes.analysis.definedness.parts import first_elements, part_of
from nkijit.passes.analysis.definedness.shadow import DEFINED, KEPT, MARK, UNWRITTEN, Marks
from nkijit.passes.analysis.flow.accumulators import (
    accumulator_command,
    accumulator_lanes,
)

Data = npt.NDArray[Any]


class Reading(Protocol):
    """The operands of an instruction: their marks, and their data if known."""

    op: NisaOp
    target: Target

    def marks(self, name: str, number: int = 0) -> Marks:
        """Return the marks of an operand's tile in its shape; `number` selects a tile of a list."""
        ...

    def data(self, name: str) -> Data | None:
        """Return the stored values of an operand's tile, in its shape; None if unknown."""
        ...

    def holds(self) -> npt.NDArray[np.bool_] | None:
        """Return a mask of elements for which a selection's condition holds; None if unknown."""
        ...

    def added(self) -> npt.NDArray[np.bool_] | bool | None:
        """Return whether a matmul adds to its destination, or a mask of where; None if unknown."""
        ...

    def accumulators(self) -> Marks:
        """Return the marks of the engine's accumulators, which the flow may change."""
        ...


Left = dict[str, Marks]
"""The marks of the written operands, by operand name; operands without an entry are fully defined.

An array has as many elements as its tile, in any shape, or broadcasts to (P, F).
"""
Flow = Callable[[Reading], Left]
_FLOWS: dict[type[NisaOp], Flow] = {}
_F = TypeVar("_F", bound=Flow)

_NONE: Marks = np.zeros((1, 1), MARK)


def flow(*op_classes: type[NisaOp]) -> Callable[[_F], _F]:
    """Register the decorated function as the flow (see above) of some instruction classes."""

    def register(function: _F) -> _F:
        for op_class in op_classes:
            _FLOWS[op_class] = function
        return function

    return register


def left_by(reading: Reading) -> Left:
    """Return the marks of the operands that an instruction writes."""
    return _FLOWS.get(type(reading.op), _in_place)(reading)


# ------------------------------------------------------------------ element by element


def _rows(r: Reading, name: str, number: int = 0) -> Marks:
    """Return the marks of an operand as (P, F); numbers and omitted operands are defined."""
    if tile_of(r.op, name) is None:
        return _NONE
    marks = r.marks(name, number)
    return marks.reshape(marks.shape[0], -1)


def _row(marks: Marks) -> Marks:
    """Return the largest mark of each row: (P, 1)."""
    return marks.max(axis=1, keepdims=True, initial=DEFINED)


def _in_place(r: Reading) -> Left:
    use, results = r.op.SPEC.accumulators, _NONE
    for f, value in r.op.given_operands():
        if f.role is Role.read and is_tile(value) and (use is None or f.name != use.initial_field):
            results = np.maximum(results, _rows(r, f.name))
    return _accumulated(r, results)


def _accumulated(r: Reading, results: Marks) -> Left:
    """Return the marks of `dst` and, through the accumulators, of `reduce_res`."""
    left = {"dst": results}
    if r.op.SPEC.accumulators is None:
        return left
    command, into = accumulator_command(r.op), r.op.get("reduce_res")
    if command is reduce_cmd.idle and into is None:
        return left
    lanes = accumulator_lanes(r.op)
    registers = r.accumulators()
    before = _start(r, registers[lanes, None])
    if command.reduces:
        before = np.maximum(before, _row(results))
    registers[lanes] = np.broadcast_to(before, registers[lanes, None].shape)[:, 0]
    if into is not None:
        left["reduce_res"] = before
    return left


def _start(r: Reading, registers: Marks) -> Marks:
    """Return the marks of the accumulators before the first result: (P, 1)."""
    use, command = r.op.SPEC.accumulators, accumulator_command(r.op)
    assert use is not None
    if command is reduce_cmd.load_reduce:
        return _rows(r, use.initial_field)
    if command in (reduce_cmd.reset, reduce_cmd.reset_reduce):
        return _NONE
    return registers


@flow(TensorScalarCumulativeOp)
def _cumulative(r: Reading) -> Left:
    lanes, registers = accumulator_lanes(r.op), r.accumulators()
    values = np.maximum(_rows(r, "src"), _rows(r, "imm0"))
    running = _running(values, _start(r, registers[lanes, None]))
    registers[lanes] = running[:, -1]
    return {"dst": running}


@flow(TensorTensorScanOp)
def _scan(r: Reading) -> Left:
    values = np.maximum(_rows(r, "data0"), _rows(r, "data1"))
    return {"dst": _running(values, _rows(r, "initial"))}


def _running(values: Marks, start: Marks) -> Marks:
    """Return the marks of a scan: results depend on earlier results of the row and `start`."""
    first = np.broadcast_to(start, (len(values), 1))
    running = np.maximum.accumulate(np.concatenate((first, values), axis=1), axis=1)
    return cast(Marks, running[:, 1:])


# ------------------------------------------------------------------ movement


@flow(DmaCopyOp, TensorCopyOp)
def _copy(r: Reading) -> Left:
    return {"dst": r.marks("src")}


@flow(DmaComputeOp)
def _sum(r: Reading) -> Left:
    count = len(r.op.operands_named("srcs"))
    parts = [r.marks("srcs", number).reshape(-1) for number in range(count)]
    return {"dst": np.maximum.reduce(parts)}


@flow(DmaTransposeOp)
def _dma_transpose(r: Reading) -> Left:
    marks = r.marks("src")
    return {"dst": marks.transpose(DMA_AXES[marks.ndim])}


@flow(NcStreamShuffleOp)
def _shuffle(r: Reading) -> Left:
    src, dst = _rows(r, "src"), required_tile(r.op, "dst")
    left = np.full((dst.partitions, dst.free_size), KEPT, MARK)
    for to, out_of in shuffled_rows(r.op.value_of("shuffle_mask"), dst.partitions).items():
        left[to] = src[out_of]
    return {"dst": left}


@flow(SendrecvOp, *COLLECTIVES)
def _from_others(r: Reading) -> Left:
    # Data from other cores and ranks counts as defined.
    return {}


# ------------------------------------------------------------------ the Tensor Engine


@flow(NcMatmulOp)
def _matmul(r: Reading) -> Left:
    stationary, moving = _rows(r, "stationary"), _rows(r, "moving")
    if passes_bits_through(r.op, r.target):
        return {"dst": _selected(r, stationary, moving)}
    if r.op.value_of("perf_mode") is matmul_perf_mode.double_row:
        # The contraction is over partitions and the first free dimension.
        stationary, moving = (m.reshape(m.shape[0] * DOUBLE_ROW, -1) for m in (stationary, moving))
    return _product(r, stationary.max(axis=0), moving.max(axis=0))


@flow(NcMatmulMxOp)
def _matmul_mx(r: Reading) -> Left:
    columns: list[Marks] = []
    for name in ("stationary", "moving"):
        rows = scale_rows(required_tile(r.op, name).partitions)
        scales = _rows(r, f"{name}_scale")[rows]
        columns.append(np.maximum(_rows(r, name).max(axis=0), scales.max(axis=0)))
    return _product(r, *columns)


def _product(r: Reading, rows: Marks, columns: Marks) -> Left:
    """Return the marks of a matmul's product, from marks per stationary and moving column."""
    product = np.maximum(rows[:, None], columns[None, :])
    added = r.added()
    if added is None:  # the earlier contents count as defined
        return {"dst": product}
    previous = _rows(r, "dst")
    # Accumulation on unwritten memory is a finding of its own.
    adds = added & (previous != UNWRITTEN)
    return {"dst": np.maximum(product, np.where(adds, previous, DEFINED))}


def _selected(r: Reading, stationary: Marks, moving: Marks) -> Marks:
    """Return the marks of a product in transpose mode.

    Each column of `moving` has a single element 1, which selects a row of `stationary`.
    """
    spoilt = moving.max(axis=0)
    selector = r.data("moving")
    if selector is None:
        taken = stationary.min(axis=0)[:, None]
    else:
        rows = selector.reshape(moving.shape).astype(np.float32).argmax(axis=0)
        taken = stationary[rows].T
    return np.maximum(taken, spoilt[None, :])


@flow(NcTransposeOp)
def _transpose(r: Reading) -> Left:
    data = _rows(r, "data")
    if (
        engine_of(r.op, r.target) is engine.tensor
        and r.target.version is nc_version.gen2
        and required_tile(r.op, "data").dtype.kind is Kind.float
    ):
        # NeuronCore-v2 transposes by a multiplication, and NaN times 0 is NaN.
        return {"dst": np.repeat(data.max(axis=0)[:, None], len(data), axis=1)}
    return {"dst": data.T}


@flow(QuantizeMxOp)
def _quantize(r: Reading) -> Left:
    src, dst = _rows(r, "src"), required_tile(r.op, "dst")
    rows = scale_rows(src.shape[0])
    groups = src.reshape(len(rows), GROUP_PARTITIONS, dst.free_size, PACKED).max(axis=(1, 3))
    scale = required_tile(r.op, "dst_scale")
    scales = np.full((scale.partitions, scale.free_size), KEPT, MARK)
    scales[rows] = groups
    return {"dst": np.repeat(groups, GROUP_PARTITIONS, axis=0), "dst_scale": scales}


# ------------------------------------------------------------------ reductions and statistics


@flow(TensorReduceOp)
def _reduce(r: Reading) -> Left:
    data = r.marks("data")
    count = reduced_dims(data.ndim, r.op.value_of("axis"))
    assert count is not None
    return {"dst": data.max(axis=tuple(range(data.ndim - count, data.ndim)))}


@flow(TensorPartitionReduceOp)
def _partition_reduce(r: Reading) -> Left:
    return {"dst": _rows(r, "data").max(axis=0, keepdims=True)}


@flow(BnStatsOp)
def _statistics(r: Reading) -> Left:
    data = _rows(r, "data")
    count = np.broadcast_to(_NONE, (len(data), 1))
    even, odd = _row(data[:, ::2]), _row(data[:, 1::2])
    return {"dst": np.concatenate((count, even, even, count, odd, odd), axis=1)}


@flow(BnAggrOp, Max8Op)
def _of_rows(r: Reading) -> Left:
    (source,) = (f.name for f in r.op.SPEC.operand_fields if f.role is Role.read)
    return {"dst": _row(_rows(r, source))}


# ------------------------------------------------------------------ searches


@flow(NcFindIndex8Op)
def _find(r: Reading) -> Left:
    return {"dst": np.maximum(_row(_rows(r, "data")), _row(_rows(r, "vals")))}


@flow(NcMatchReplace8Op)
def _replace(r: Reading) -> Left:
    data, values = _rows(r, "data"), _row(_rows(r, "vals"))
    return {"dst": np.maximum(data, values), "dst_idx": np.maximum(_row(data), values)}


@flow(TopkOp)
def _topk(r: Reading) -> Left:
    src, left = required_tile(r.op, "src"), Left()
    searched = first_elements(src, r.op.value_of("n")).reshape(src.partitions, -1)
    per_row = _row(np.where(searched, _rows(r, "src"), DEFINED))
    groups = per_row.reshape(-1, PARTITIONS_PER_GPSIMD_CORE).max(axis=1, keepdims=True)
    spread = np.repeat(groups, PARTITIONS_PER_GPSIMD_CORE, axis=0)
    for name in ("val_dst", "idx_dst"):
        tile = required_tile(r.op, name)
        found = part_of(r.op, name, tile, r.data)
        assert found is not None
        left[name] = np.where(found.reshape(tile.partitions, -1), spread, KEPT)
    return left


@flow(NonzeroWithCountOp)
def _nonzero(r: Reading) -> Left:
    src, dst = _rows(r, "src"), required_tile(r.op, "dst")
    left = np.full((dst.partitions, dst.free_size), KEPT, MARK)
    rows = list(gpsimd_cores(dst.partitions))
    left[rows] = _row(src)[rows]
    return {"dst": left}


# ------------------------------------------------------------------ selections


@flow(TensorCopyPredicatedOp)
def _predicated(r: Reading) -> Left:
    shape = required_tile(r.op, "dst").shape
    src = r.marks("src").reshape(shape) if tile_of(r.op, "src") else np.zeros(shape, MARK)
    old, predicate = r.marks("dst"), r.marks("predicate").reshape(shape)
    copied = part_of(r.op, "dst", required_tile(r.op, "dst"), r.data)
    taken = np.minimum(src, old) if copied is None else np.where(copied, src, KEPT)
    return {"dst": np.where(predicate != DEFINED, predicate, taken)}


@flow(AffineSelectOp)
def _affine_select(r: Reading) -> Left:
    return {"dst": _chosen(r.holds(), _rows(r, "on_true_tile"), _NONE)}


@flow(RangeSelectOp)
def _range_select(r: Reading) -> Left:
    bounds = np.maximum(_rows(r, "bound0"), _rows(r, "bound1"))
    chosen = _chosen(r.holds(), _rows(r, "on_true_tile"), _NONE)
    return _accumulated(r, np.maximum(bounds, chosen))


@flow(SelectReduceOp)
def _select_reduce(r: Reading) -> Left:
    chosen = _chosen(r.holds(), _rows(r, "on_true"), _rows(r, "on_false"))
    return _accumulated(r, np.maximum(_rows(r, "predicate"), chosen))


def _chosen(holds: npt.NDArray[np.bool_] | None, one: Marks, other: Marks) -> Marks:
    """Return the marks that a condition selects; if `holds` is None, the marks common to both."""
    if holds is None:
        return np.minimum(one, other)
    return np.where(holds, one, other)


@flow(SequenceBoundsOp)
def _bounds(r: Reading) -> Left:
    return {"dst": _rows(r, "segment_ids").max(keepdims=True)}


# ------------------------------------------------------------------ gathers


@flow(NcNGatherOp)
def _gather(r: Reading) -> Left:
    data, indices = _rows(r, "data"), r.data("indices")
    if indices is None:
        return {"dst": data.min(axis=1, keepdims=True)}
    taken = np.minimum(indices.reshape(len(data), -1).astype(np.int64), data.shape[1] - 1)
    return {"dst": np.take_along_axis(data, taken, axis=1)}


@flow(LocalGatherOp)
def _local_gather(r: Reading) -> Left:
    data, index_values = _rows(r, "src_buffer"), r.data("index")
    if index_values is None:
        return {"dst": data.min(axis=1, keepdims=True)}
    count, width = valid_indices(r.op), r.op.value_of("num_elem_per_idx")
    assert count is not None
    indices = index_values.reshape(len(index_values), -1)
    left: list[Marks] = []
    for first in gpsimd_cores(len(data)):
        core = slice(first, first + PARTITIONS_PER_GPSIMD_CORE)
        starts: npt.NDArray[np.int64] = indices[core].T.reshape(-1)[:count].astype(np.int64)
        places = (starts[:, None] + np.arange(width, dtype=np.int64)).clip(0, data.shape[1] - 1)
        left.append(data[core][:, places.reshape(-1)])
    return {"dst": np.concatenate(left)}


def shaped(marks: Marks, shape: Sequence[int]) -> Marks:
    """Reshape or broadcast the marks that a flow returns to the shape of a tile."""
    size = int(np.prod(shape))
    if marks.size != size:
        marks = np.broadcast_to(marks.reshape(len(marks), -1), (shape[0], size // shape[0]))
    return marks.reshape(shape)
