"""Random kernels of nested Python loops, whose iterations are equivalent or nearly so.

Tiles belong to the kernel, a loop or an iteration. So an exchange of two loops may be valid or not,
and so may a merge of iterations. Some loops are in a loop on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.traced.kernel import TracedKernel

F, MOST = 8, 4
"""Columns of a tile, and iterations of a loop at most."""

Indices = tuple[int, ...]
Statement = Callable[["_Body", Indices], None]


def looped_kernel(seed: int, target: str = "trn2") -> tuple[TracedKernel, list[Any]]:
    """A kernel and its inputs; equal seeds make equal kernels."""
    random = Random(f"{seed} {target}")
    partitions = random.choice((1, 8, 16, 32, 64, 128))
    program = _loop(random, random.randint(1, 3), 0)
    on_device = random.random() < 0.3

    def kernel(x: Any) -> Any:
        body = _Body(x, partitions)
        if on_device:
            nl.fori_loop(0, 2, lambda _: program(body, ()))
        else:
            program(body, ())
        return body.out

    shape = (MOST, MOST, MOST, partitions, F)
    x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    traced = nki.jit(kernel, platform_target=target).trace(x)
    traced.verify()
    return traced, [x]


class _Body:
    """The objects of a kernel during tracing."""

    def __init__(self, x: Any, partitions: int):
        self.x = x
        self.partitions = partitions
        self.out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
        self.tiles = [self.tile() for _ in range(3)]
        for page, tile in enumerate(self.tiles):
            nisa.dma_copy(dst=tile, src=x[page, page, page])
        weights = self.tile(128, nl.bfloat16)
        nisa.memset(weights, 0.5)
        self.weights = weights

    def tile(self, columns: int = F, dtype: Any = nl.float32) -> Any:
        return nl.ndarray((self.partitions, columns), dtype, buffer=nl.sbuf)


def _loop(random: Random, depth: int, level: int) -> Statement:
    """A loop with tiles of its own, which its statements use, and loops in it."""
    count = random.randint(2, MOST)
    own = random.randint(1, 2)
    filled = [_load(random, level + 1, 3 + number) for number in range(own)]
    statements = [_statement(random, level + 1, 3 + own) for _ in range(random.randint(0, 3))]
    if depth > 1:
        place = random.randint(0, len(statements))
        statements.insert(place, _loop(random, depth - 1, level + 1))
    statements.append(_store(random, level + 1, 3 + own))

    def run(body: _Body, indices: Indices) -> None:
        outer = body.tiles
        for i in range(count):
            body.tiles = [*outer[:3], *(body.tile() for _ in range(own))]
            for statement in (*filled, *statements):
                statement(body, (*indices, i))
        body.tiles = outer

    return run


def _page(random: Random, level: int) -> Callable[[Indices], tuple[int, int, int]]:
    """Where in HBM: along some of the loops around, and at places of its own."""
    follows = [random.random() < 0.7 for _ in range(3)]
    fixed = [random.randrange(MOST) for _ in range(3)]

    def page(indices: Indices) -> tuple[int, int, int]:
        places = (indices[n] if n < level and follows[n] else fixed[n] for n in range(3))
        one, two, three = places
        return one, two, three

    return page


def _load(random: Random, level: int, tile: int) -> Statement:
    page = _page(random, level)
    return lambda body, at: nisa.dma_copy(dst=body.tiles[tile], src=body.x[page(at)])


def _store(random: Random, level: int, tiles: int) -> Statement:
    page, tile = _page(random, level), random.randrange(tiles)
    return lambda body, at: nisa.dma_copy(dst=body.out[page(at)], src=body.tiles[tile])


def _statement(random: Random, level: int, tiles: int) -> Statement:
    # The kernel's own tiles are rarely written, because iterations then depend on each other.
    shared = random.random() < 0.15
    dst = random.randrange(tiles) if shared else random.randrange(3, tiles)
    one, two = random.randrange(tiles), random.randrange(tiles)
    kind = random.randrange(6)
    if kind == 0:
        return _load(random, level, dst)
    if kind == 1:
        number = random.random()
        return lambda body, _: nisa.tensor_scalar(
            body.tiles[dst], body.tiles[one], nl.multiply, number
        )
    if kind == 2:

        def scaled(body: _Body, _: Indices) -> None:
            largest = body.tile(1)
            nisa.tensor_reduce(largest, nl.maximum, body.tiles[one], axis=1)
            nisa.tensor_scalar(body.tiles[dst], body.tiles[two], nl.add, largest)

        return scaled
    if kind == 3:

        def multiplied(body: _Body, _: Indices) -> None:
            moving = body.tile(F, nl.bfloat16)
            nisa.tensor_copy(dst=moving, src=body.tiles[one])
            product = nl.ndarray((body.partitions, F), nl.float32, buffer=nl.psum)
            nisa.nc_matmul(product, body.weights[:, 0 : body.partitions], moving)
            nisa.tensor_copy(dst=body.tiles[dst], src=product)

        return multiplied
    if kind == 4:
        return lambda body, _: nisa.activation(body.tiles[dst], nl.tanh, body.tiles[one])
    return lambda body, _: nisa.tensor_tensor(
        body.tiles[dst], body.tiles[one], body.tiles[two], nl.add
    )
