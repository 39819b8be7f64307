"""Random kernels with forms that a compiler may misunderstand: states of engines in the lanes of
the operands, tiles viewed as other types and shapes, patterns that touch an element twice, loop
indices as numbers, results needed only by an accumulator, and loops on the device that may not
run.

All reads are defined: tiles and accumulators begin with values.
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

P, W, PAGES = 64, 16, 6
LOWER, UPPER, ALL = slice(0, 32), slice(32, 64), slice(0, 64)
REPEATED = [[W, P], [1, 4], [0, 4]]
WINDOWS = [[W, P], [4, 4], [1, 4]]
OVERLAPPING = [[W, P], [2, 4], [1, 4]]
RESET, REDUCE = nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce


def odd_kernel(
    seed: int, target: str = "trn3", length: int = 16, depth: int = 0
) -> tuple[TracedKernel, list[Any]]:
    """A kernel and its inputs.

    Args:
        seed: equal seeds make equal kernels.
        target: the platform.
        length: how many statements it has, of up to about eight instructions.
        depth: how deep loops on the device are nested; 0 for a kernel without loops.
    """

    def kernel(x, counts):
        return _Body(Random(f"{seed} {target}"), x, counts).build(length, depth)

    x = np.random.default_rng(seed).standard_normal((PAGES, P, W)).astype(np.float32)
    x[0, :, ::5] = -0.0
    counts = np.array([[0, 2]], np.int32)
    traced = nki.jit(kernel, platform_target=target).trace(x, counts)
    traced.verify()
    return traced, [x, counts]


def loop_that_stops(rewritten: str) -> tuple[TracedKernel, list[Any]]:
    """Return a kernel with two equal loads in an inner loop that runs only the first time.

    One tile changes outside the inner loop, "before" or "behind" it, and the other one does not.
    """

    def kernel(x, n):
        out = nl.ndarray((P, W), nl.float32, buffer=nl.shared_hbm)
        a, b, total = (nl.ndarray((P, W), nl.float32, buffer=nl.sbuf) for _ in range(3))
        count = nl.ndarray((1, 1), nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(count, n)
        nisa.memset(total, 0.0)
        times = nisa.register_alloc(1)
        nisa.register_load(times, count)

        def outer(j: Any) -> None:
            if rewritten == "before":
                nisa.memset(a, 9.0)
                nisa.tensor_tensor(total, total, a, op=nl.add)

            def inner(i: Any) -> None:
                nisa.dma_copy(a, x)
                nisa.dma_copy(b, x)
                nisa.tensor_tensor(total, total, a, op=nl.add)

            nl.fori_loop(0, times, inner)
            nisa.tensor_tensor(total, total, b, op=nl.add)
            if rewritten == "behind":
                nisa.memset(a, 9.0)
            nisa.register_move(times, 0)

        nl.fori_loop(0, 2, outer)
        nisa.dma_copy(out, total)
        return out

    x = np.random.default_rng(0).standard_normal((P, W)).astype(np.float32)
    inputs = [x, np.array([[2]], np.int32)]
    return nki.jit(kernel, platform_target="trn3").trace(*inputs), inputs


class _Body:
    """The statements of a kernel while it is traced."""

    def __init__(self, random: Random, x: Any, counts: Any):
        self.random, self.x = random, x
        self.out = nl.ndarray((PAGES, P, W), nl.float32, buffer=nl.shared_hbm)
        self.sums = nl.ndarray((P, 2), nl.float32, buffer=nl.shared_hbm)
        for page in range(PAGES):
            nisa.dma_copy(self.out[page], x[page])
        self.tiles = [self.loaded(page) for page in range(4)]
        self.columns = [self.tile((P, 1)) for _ in range(2)]
        for column, engine in zip(self.columns, ("scalar", "vector"), strict=True):
            nisa.memset(column, 0.0)
            self.accumulate(engine, RESET, self.tiles[0], ALL)
        numbers = self.tile((1, 2), nl.int32)
        nisa.dma_copy(numbers, counts)
        self.registers = [nisa.register_alloc(1) for _ in range(2)]
        for place, register in enumerate(self.registers):
            nisa.register_load(register, numbers[0:1, place : place + 1])
        self.indices: list[Any] = []

    def build(self, length: int, depth: int) -> Any:
        self.block(length, depth)
        for page, tile in enumerate(self.tiles):
            nisa.dma_copy(self.out[page], tile)
        for place, column in enumerate(self.columns):
            nisa.dma_copy(self.sums[:, place : place + 1], column)
        return self.out, self.sums

    def block(self, length: int, depth: int) -> None:
        statements: list[Callable[[], None]] = [
            self.move, self.move, self.overwrite, self.overwrite, self.repeat, self.load_twice,
            self.load_twice, self.sum_in_place, self.sum_in_place, self.number, self.number,
            self.compute_alike, self.multiply, self.store, self.change,
        ]  # fmt: skip
        for _ in range(length):
            if depth and self.random.random() < 0.3:
                self.loop(max(2, length // 2), depth - 1)
            else:
                self.random.choice(statements)()

    # ------------------------------------------------------------------ parts of statements

    def tile(self, shape: tuple[int, int] = (P, W), dtype: str = nl.float32) -> Any:
        return nl.ndarray(shape, dtype, buffer=nl.sbuf)

    def loaded(self, page: int) -> Any:
        tile = self.tile()
        nisa.dma_copy(tile, self.x[page])
        return tile

    def any_tile(self) -> Any:
        return self.random.choice(self.tiles)

    def add(self, value: Any, rows: slice = ALL) -> None:
        """Add a value to a tile that is part of the results."""
        total = self.any_tile()[rows, :]
        nisa.tensor_tensor(total, total, value, op=nl.add)

    def accumulate(self, engine: str, command: Any, data: Any, rows: slice, **given: Any) -> None:
        """`data` has the rows already; the result is written somewhere, or nowhere else."""
        result = data if self.random.random() < 0.3 else self.tile()[rows, :]
        if engine == "scalar":
            nisa.activation(result, nl.copy, data, reduce_op=nl.add, reduce_cmd=command, **given)
        else:
            nisa.tensor_scalar_reduce(
                result, data, nl.multiply, 0.5, nl.add, reduce_cmd=command, **given
            )

    # ------------------------------------------------------------------ statements

    def move(self) -> None:
        """A copy to the same or other partitions, and readers of the copy."""
        source, rows = self.random.choice(
            ((LOWER, UPPER), (UPPER, LOWER), (LOWER, LOWER), (ALL, ALL))
        )
        copy = self.tile()[rows, :]
        nisa.tensor_copy(copy, self.any_tile()[source, :])
        for _ in range(self.random.randint(1, 2)):
            how = self.random.randrange(4)
            if how == 0:
                self.add(copy, rows)
            elif how == 1:
                place, engine = self.random.choice(((0, "scalar"), (1, "vector")))
                self.accumulate(engine, REDUCE, copy, rows, reduce_res=self.columns[place][rows, :])
            elif how == 2:
                nisa.dropout(self.any_tile()[rows, :], copy, 0.5)
            else:
                nisa.tensor_scalar(self.any_tile()[rows, :], copy, op0=nl.multiply, operand0=0.5)

    def overwrite(self) -> None:
        """As many elements as a tile has, or all of it."""
        tile, how = self.any_tile(), self.random.randrange(6)
        if how == 0:
            nisa.memset(tile.view("uint8")[:, 0:W], 0)
        elif how == 1:
            nisa.memset(tile.view("bfloat16")[:, W : 2 * W], 1.0)
        elif how == 2:
            nisa.memset(tile.ap(REPEATED), 2.0)
        elif how == 3:
            nisa.tensor_copy(tile.ap(WINDOWS), self.any_tile().reshape((P, 4, 4)))
        elif how == 4:
            nisa.memset(tile.view("bfloat16"), 1.0)
        else:
            turned = tile.reshape((P, 4, 4)).permute((0, 2, 1))
            nisa.tensor_copy(turned, self.tile_of_shape((P, 4, 4)))

    def tile_of_shape(self, shape: tuple[int, ...]) -> Any:
        return self.loaded(self.random.randrange(PAGES)).reshape(shape)

    def repeat(self) -> None:
        """A copy to a pattern, and a reader of the pattern."""
        part = self.tile().ap(self.random.choice((REPEATED, WINDOWS, OVERLAPPING)))
        nisa.tensor_copy(part, self.any_tile().reshape((P, 4, 4)))
        total = self.any_tile().reshape((P, 4, 4))
        nisa.tensor_tensor(total, total, part, op=nl.add)

    def load_twice(self) -> None:
        """The same slice in two tiles, each of its own or one that others use as well."""
        random = self.random
        page = random.choice((self.x, self.out))[random.randrange(3)]
        tiles = [self.tile() if random.random() < 0.6 else self.any_tile() for _ in range(2)]
        nisa.dma_copy(tiles[0], page)
        if random.random() < 0.3:
            self.store()
        nisa.dma_copy(tiles[1], page)
        for tile in tiles:
            if random.random() < 0.3:
                self.change()
            self.add(tile)

    def sum_in_place(self) -> None:
        """Only the sum of the overwritten tile is used."""
        place, engine = self.random.choice(((0, "scalar"), (1, "vector")))
        tile = self.loaded(self.random.randrange(PAGES))
        rows = self.random.choice((LOWER, UPPER, ALL))
        part = tile[rows, :]
        if engine == "scalar":
            nisa.activation(part, nl.copy, part, reduce_op=nl.add, reduce_cmd=REDUCE)
        else:
            nisa.tensor_scalar_reduce(part, part, nl.multiply, 0.5, nl.add, reduce_cmd=REDUCE)
        if self.random.random() < 0.5:
            self.accumulate(
                *(engine, REDUCE, self.any_tile()[rows, :], rows),
                reduce_res=self.columns[place][rows, :],
            )

    def number(self) -> None:
        """A number known at run time that says which elements are taken."""
        offset: Any = self.random.choice(
            [self.random.randrange(8), *self.registers, *self.indices * 3]
        )
        tile = self.tile()
        nisa.affine_select(
            tile,
            pattern=[[-1, W]],
            offset=offset,
            channel_multiplier=1,
            on_true_tile=self.loaded(self.random.randrange(PAGES)),
            on_false_value=self.random.choice((0.0, -7.0)),
            cmp_op=nl.greater_equal,
        )
        self.add(tile)

    def compute_alike(self) -> None:
        """The same twice, into all of a tile or into different parts of two."""
        data, places = self.any_tile(), self.random.sample((0, 0, 4, 8), 2)
        repeats = self.random.random() < 0.6
        results: list[tuple[Any, int]] = []
        for place in places:
            result = self.tile()
            part = result.ap(REPEATED, offset=place) if repeats else result.reshape((P, 4, 4))
            nisa.tensor_scalar(part, data.reshape((P, 4, 4)), op0=nl.multiply, operand0=0.25)
            results.append((result, place if repeats else 0))
        for result, place in results:
            total = self.any_tile()[:, 0:4]
            nisa.tensor_tensor(total, total, result[:, place : place + 4], op=nl.add)

    def multiply(self) -> None:
        """A sum of products, of which the first is multiplied in two halves."""
        factor = self.loaded(self.random.randrange(PAGES))
        first, second = (nl.ndarray((W, 2 * W), nl.float32, buffer=nl.psum) for _ in range(2))
        for half in (slice(0, W // 2), slice(W // 2, W)):
            nisa.nc_matmul(first[:, half], factor, factor[:, half], accumulate=False)
        nisa.nc_matmul(second[:, 0:W], factor, factor, accumulate=False)
        total = self.tile((W, W))
        nisa.tensor_copy(total, first[:, 0:W])
        nisa.tensor_tensor(total, total, second[:, 0:W], op=nl.add)
        nisa.dma_copy(self.out[4, 0:W, :], total)

    def store(self) -> None:
        page = self.random.choice([0, 1, 5, *self.indices])
        rows = self.random.choice((LOWER, UPPER, ALL))
        nisa.dma_copy(self.out[page][rows, :], self.any_tile()[rows, :])

    def change(self) -> None:
        rows = self.random.choice((LOWER, UPPER, ALL))
        part, how = self.any_tile()[rows, :], self.random.randrange(3)
        if how == 0:
            nisa.memset(part[:, 0 : self.random.choice((1, W))], 1.5)
        elif how == 1:
            nisa.dma_copy(part, self.x[self.random.randrange(PAGES), rows, :])
        else:
            nisa.tensor_scalar(part, part, op0=nl.multiply, operand0=-0.5)

    def loop(self, length: int, depth: int) -> None:
        def body(index: Any) -> None:
            self.indices.append(index)
            self.block(self.random.randint(1, length), depth)
            self.indices.pop()

        nl.fori_loop(0, self.random.choice([1, 2, 3, *self.registers]), body)
