"""Tensor indirection, one number at a time: which elements of a partition an index tile names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from support.nisa.naive import Operand

Array = npt.NDArray[Any]

GROUP = 16
TENSOR_ENGINE_GROUP = 32
ON_THE_TENSOR_ENGINE = ("nc_matmul", "nc_matmul_mx")


def numbers(index: Array, count: int, instruction: str) -> list[list[int]]:
    """For each partition the elements it takes: number i of a group is index[i % G, i // G].

    A group that the tile does not fill has as many rows as the tile has there.
    """
    size = TENSOR_ENGINE_GROUP if instruction in ON_THE_TENSOR_ENGINE else GROUP
    partitions = index.shape[0]
    result: list[list[int]] = []
    for p in range(partitions):
        group = [row for row in range(partitions) if row // size == p // size]
        rows = [index[row].reshape(-1) for row in group]
        result.append([int(rows[i % len(rows)][i // len(rows)]) for i in range(count)])
    return result


def gather(tile: Operand, picked: Sequence[Sequence[int]]) -> Operand:
    """The elements that the numbers name, as an operand of its own."""

    def of(array: Array) -> Array:
        return np.array(
            [[row.reshape(-1)[i] for i in which] for row, which in zip(array, picked, strict=True)],
            array.dtype,
        )

    return Operand(
        tile.dtype,
        tile.buffer,
        of(tile.low),
        of(tile.high),
        of(tile.by_matmul),
        of(tile.partitions),
    )


def scatter(tile: Operand, picked: Sequence[Sequence[int]], elements: Operand) -> None:
    """Put the elements where they came from."""
    places = list(np.ndindex(tile.low.shape[1:]))
    for p, which in enumerate(picked):
        for position, i in enumerate(which):
            place = (p, *places[i])
            tile.low[place] = elements.low[p, position]
            tile.high[place] = elements.high[p, position]
            tile.by_matmul[place] = elements.by_matmul[p, position]
