"""Selections and statistics, one Python number at a time; see `naive`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from support import oracle
from support.nisa.naive import (
    EPSILON,
    INTEGER,
    STORAGE,
    ColumnOrNumber,
    Ends,
    Machine,
    Number,
    Operand,
    UndecidedError,
    accumulate_into,
    alu,
    between,
    check_decided,
    column_of,
    exactly,
    read_out,
    total_of,
    wrapped,
)
from support.oracle import f32, round_to

# -- statistics -----------------------------------------------------------------------------------


def bn_stats(m: Machine, dst: Operand, data: Operand) -> None:
    dst.write([[*_moments(row[::2]), *_moments(row[1::2])] for row in data.rows()])


def _moments(values: Sequence[Ends]) -> list[Ends]:
    """Return count, mean, variance * count: sums of n float32 numbers, in any order.

    The mean is within n + 1 roundings of the sum of magnitudes over n. An error of d in the mean
    adds n * d**2 to the squares, each of which has an error of three roundings before n are added.
    """
    check_decided("bn_stats", values)
    n = len(values)
    if n == 0:
        return [exactly(0.0)] * 3
    numbers = [low for low, _ in values]
    if not all(map(math.isfinite, numbers)):
        return [exactly(float(n)), exactly(total_of(numbers) / n), exactly(math.nan)]
    if math.fsum(map(abs, numbers)) > oracle.HUGE:
        raise UndecidedError("bn_stats whose sum may leave float32 on the way")
    mean = sum(map(Fraction, numbers)) / n
    spread = float(sum((Fraction(x) - mean) ** 2 for x in numbers))
    off = (n + 1) * EPSILON * math.fsum(map(abs, numbers)) / n + oracle.TINY
    spread_off = n * off**2 + (n + 4) * EPSILON * (spread + n * off**2) + n * oracle.TINY
    return [
        exactly(float(n)),
        between(float(mean) - off, float(mean) + off),
        between(max(0.0, spread - spread_off), spread + spread_off),
    ]


def bn_aggr(m: Machine, dst: Operand, data: Operand) -> None:
    dst.write([_aggregated([row[i : i + 3] for i in range(0, len(row), 3)]) for row in data.rows()])


def _aggregated(triples: Sequence[Sequence[Ends]]) -> list[Ends]:
    """mean and variance, within the roundings of their sums of n products."""
    for triple in triples:
        check_decided("bn_aggr", triple)
    rows = [tuple(low for low, _ in triple) for triple in triples]
    n, total = len(rows), math.fsum(count for count, _, _ in rows)
    if any(count < 0 for count, _, _ in rows):
        raise UndecidedError("bn_aggr of a negative number of elements")
    if total == 0:
        return [exactly(math.nan)] * 2
    if not all(math.isfinite(x) for row in rows for x in row[:2]):
        return [
            exactly(total_of(count * mean for count, mean, _ in rows) / total),
            exactly(math.nan),
        ]
    means = [(Fraction(count), Fraction(mean)) for count, mean, _ in rows]
    mean_of_all = sum(count * mean for count, mean in means) / Fraction(total)
    off = (n + 2) * EPSILON * math.fsum(abs(c * x) for c, x, _ in rows) / total
    near_mean = between(float(mean_of_all) - off, float(mean_of_all) + off)
    if not all(math.isfinite(spread) for _, _, spread in rows):
        # The means add a finite part to it.
        return [near_mean, exactly(total_of(spread for _, _, spread in rows) / total)]
    weighted = [(*mean, Fraction(spread)) for mean, (_, _, spread) in zip(means, rows, strict=True)]
    spread_of_all = float(
        sum(spread + count * (mean - mean_of_all) ** 2 for count, mean, spread in weighted)
    )
    far = [abs(float(mean - mean_of_all)) for _, mean, _ in weighted]
    counts = [abs(count) for count, _, _ in rows]
    shifted = math.fsum(c * (2 * d * off + off**2) for c, d in zip(counts, far, strict=True))
    size = math.fsum(abs(s) + c * (d + off) ** 2 for (c, _, s), d in zip(rows, far, strict=True))
    spread_off = shifted + (n + 6) * EPSILON * size
    return [
        near_mean,
        between((spread_of_all - spread_off) / total, (spread_of_all + spread_off) / total),
    ]


# -- selection ------------------------------------------------------------------------------------

FP32_MIN = -oracle.HUGE


def tensor_copy_predicated(
    m: Machine,
    dst: Operand,
    src: Operand | Number,
    predicate: Operand,
    reverse_pred: bool = False,
) -> None:
    chosen = [[(value != 0) != reverse_pred for value in row] for row in predicate.integers()]
    if isinstance(src, Operand):
        low, high = (end.copy().reshape(src.shape) for end in (src.low, src.high))
    else:
        constant = src if isinstance(src, int) else f32(src)
        low = high = np.full(dst.shape, round_to(dst.dtype, constant), STORAGE[dst.dtype])
    for p, row in enumerate(chosen):
        for i, (index, true) in enumerate(zip(np.ndindex(dst.low.shape[1:]), row, strict=True)):
            if true:
                dst.low[(p, *index)], dst.high[(p, *index)] = low[p, i], high[p, i]


def affine_select(
    m: Machine,
    dst: Operand,
    pattern: Sequence[Sequence[int]],
    channel_multiplier: int,
    on_true_tile: Operand,
    on_false_value: Number,
    cmp_op: str = "equal",
    offset: int = 0,
) -> None:
    padding = [(0, 1)] * (4 - len(pattern))
    (step_w, num_w), (step_z, num_z), (step_y, num_y), (step_x, num_x) = *padding, *pattern
    on_false = round_to(dst.dtype, f32(float(on_false_value)))
    if dst.dtype == on_true_tile.dtype:
        on_true = on_true_tile.low.copy().reshape(dst.shape)
    else:
        on_true = [[round_to(dst.dtype, low) for low, _ in row] for row in on_true_tile.rows()]
    rows: list[list[Any]] = []
    for channel_id in range(dst.shape[0]):
        rows.append([])
        for w, z, y, x in product(range(num_w), range(num_z), range(num_y), range(num_x)):
            affine_value = offset + channel_id * channel_multiplier
            affine_value += w * step_w + z * step_z + y * step_y + x * step_x
            predicate = INTEGER[cmp_op](wrapped("int32", affine_value), 0)
            at = len(rows[-1])
            rows[-1].append(on_true[channel_id][at] if predicate else on_false)
    dst.write_stored(rows)


def range_select(
    m: Machine,
    dst: Operand,
    on_true_tile: Operand,
    comp_op0: str,
    comp_op1: str,
    bound0: Operand,
    bound1: Operand,
    reduce_cmd: str = "reset_reduce",
    reduce_res: Operand | None = None,
    reduce_op: str = "maximum",
    range_start: int = 0,
    on_false_value: float = FP32_MIN,
) -> None:
    select_out_tile = [
        [
            x
            if alu(comp_op0, exactly(float(range_start + i)), low) == exactly(1.0)
            and alu(comp_op1, exactly(float(range_start + i)), high) == exactly(1.0)
            else exactly(f32(on_false_value))
            for i, x in enumerate(row)
        ]
        for row, low, high in zip(
            on_true_tile.rows(), bound0.column(), bound1.column(), strict=True
        )
    ]
    dst.write(select_out_tile)
    accumulate_into(m.vector, on_true_tile.lanes, select_out_tile, reduce_cmd, reduce_op)
    read_out(m.vector, on_true_tile.lanes, reduce_res)


def select_reduce(
    m: Machine,
    dst: Operand,
    predicate: Operand,
    on_true: Operand,
    on_false: ColumnOrNumber,
    reduce_res: Operand | None = None,
    reduce_cmd: str = "idle",
    reduce_op: str = "maximum",
    reverse_pred: bool = False,
) -> None:
    column = column_of(on_false, on_true.shape[0])
    result = [
        [x if (chosen != 0) != reverse_pred else y for chosen, x in zip(*rows, strict=True)]
        for *rows, y in zip(predicate.integers(), on_true.rows(), column, strict=True)
    ]
    dst.write(result)
    accumulate_into(m.vector, predicate.lanes, result, reduce_cmd, reduce_op)
    read_out(m.vector, predicate.lanes, reduce_res)


def sequence_bounds(m: Machine, dst: Operand, segment_ids: Operand) -> None:
    if segment_ids.dtype == "int32":
        (sequence,) = segment_ids.integers()
    else:
        (sequence,) = [[low for low, _ in row] for row in segment_ids.rows()]
    n = len(sequence)
    starts, ends = [n] * n, [-1] * n
    for i in range(n):
        if sequence[i] != 0:
            same = i > 0 and sequence[i] == sequence[i - 1]
            starts[i] = starts[i - 1] if same else i
    for i in reversed(range(n)):
        if sequence[i] != 0:
            same = i < n - 1 and sequence[i] == sequence[i + 1]
            ends[i] = ends[i + 1] if same else i + 1
    dst.write_stored([[*starts, *ends]])


INSTRUCTIONS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        bn_stats,
        bn_aggr,
        tensor_copy_predicated,
        affine_select,
        range_select,
        select_reduce,
        sequence_bounds,
    )
}
