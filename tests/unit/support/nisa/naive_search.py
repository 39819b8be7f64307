"""Search instructions, one Python number at a time; see `naive`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from support.nisa.naive import EITHER_ZERO, Ends, Machine, Operand, exactly
from support.oracle import INTEGERS, f32

Rank = tuple[bool, float]


def rank(value: float) -> Rank:
    """The place of a number among others; NaN comes last."""
    return (True, 0.0) if math.isnan(value) else (False, value)


def numbers(operand: Operand) -> list[list[float]]:
    return [[low for low, _ in row] for row in operand.rows()]


def max8(m: Machine, dst: Operand, src: Operand) -> None:
    largest = [sorted(row, key=rank, reverse=True)[:8] for row in numbers(src)]
    # Which of two zeros comes first is not documented.
    dst.write([[EITHER_ZERO if x == 0 else exactly(x) for x in row] for row in largest])


def all_ones(operand: Operand) -> int:
    """The integer whose bits are all ones."""
    bits, signed = INTEGERS[operand.dtype]
    return -1 if signed else 2**bits - 1


def nc_find_index8(m: Machine, dst: Operand, data: Operand, vals: Operand) -> None:
    result: list[list[int]] = []
    for row, wanted in zip(numbers(data), numbers(vals), strict=True):
        taken: set[int] = set()
        result.append([])
        for value in wanted:
            places = [i for i, x in enumerate(row) if x == value and i not in taken]
            taken.update(places[:1])
            result[-1].append(places[0] if places else all_ones(dst))
    dst.write_stored(result)


def nc_match_replace8(
    m: Machine,
    dst: Operand,
    data: Operand,
    vals: Operand,
    imm: float,
    dst_idx: Operand | None = None,
) -> None:
    replaced: list[list[Ends]] = []
    indices: list[list[int | None]] = []
    for row, wanted in zip(numbers(data), numbers(vals), strict=True):
        found: list[int | None] = [None] * 8
        out: list[Ends] = []
        # As the elements pass by, each one is taken by the last value that waits for it.
        for index, x in enumerate(row):
            waiting = [i for i, v in enumerate(wanted) if v == x and found[i] is None]
            if waiting:
                found[waiting[-1]] = index
            out.append(exactly(f32(float(imm)) if waiting else x))
        replaced.append(out)
        indices.append(found)
    dst.write(replaced)
    if dst_idx is not None:
        missing = all_ones(dst_idx)
        dst_idx.write_stored([[missing if i is None else i for i in row] for row in indices])


def topk(m: Machine, val_dst: Operand, idx_dst: Operand, src: Operand, n: int) -> None:
    k, rows = val_dst.shape[1], numbers(src)
    stored = src.low.copy()
    for base in range(0, src.shape[0], 16):
        places = [(base + i % 16, i // 16) for i in range(n)]
        ranking: Sequence[int] = sorted(
            range(n), key=lambda i: (rank(rows[places[i][0]][places[i][1]]), -i)
        )
        for j, i in enumerate(ranking[n - k :]):
            into = (base + j % 16, j // 16)
            for array in (val_dst.low, val_dst.high):
                array[into] = stored[places[i]]
            for array in (idx_dst.low, idx_dst.high):
                array[into] = i


def nonzero_with_count(
    m: Machine, dst: Operand, src: Operand, index_offset: int = 0, padding_val: int = -1
) -> None:
    data = src.low.copy().reshape(src.shape)
    for partition in range(0, src.shape[0], 16):
        row = data[partition]
        found = [i + index_offset for i in range(len(row)) if row[i] != 0]
        output = [*found, *[padding_val] * (len(row) - len(found)), len(found)]
        for array in (dst.low, dst.high):
            array[partition].flat = output


INSTRUCTIONS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (max8, nc_find_index8, nc_match_replace8, topk, nonzero_with_count)
}
