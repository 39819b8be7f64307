"""Random kernels with redundant work: sums of matmuls computed outside of PSUM, loads and copies of
data that is already on chip, repeated results, and loop-invariant work.

Numbers are float32 of all sizes, so another order of additions is visible. All values are part of
the results. Nearly all of the work can be changed by a pass, next to work that must not change.
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

P, PAGES, SUMS = 64, 5, 3
HALVES = (slice(0, 32), slice(32, 64), slice(0, 64))


def redundant_kernel(
    seed: int, target: str = "trn3", length: int = 16, depth: int = 0
) -> tuple[TracedKernel, list[Any]]:
    """A kernel and its inputs.

    Args:
        seed: equal seeds make equal kernels.
        target: the platform.
        length: how many statements it has, of up to about ten instructions.
        depth: how deep loops on the device are nested; 0 for a kernel without loops.
    """

    def kernel(x):
        return _Body(Random(f"{seed} {target}"), x, target).build(length, depth)

    random = np.random.default_rng(seed)
    x = random.standard_normal((PAGES, P, P)).astype(np.float32)
    x[0] *= 1000
    x[1] = 1e-30  # products are zeros, with a sign
    x[1, :, P // 2 :] *= -1
    traced = nki.jit(kernel, platform_target=target).trace(x)
    traced.verify()
    return traced, [x]


class _Body:
    """The statements of a kernel while it is traced."""

    def __init__(self, random: Random, x: Any, target: str):
        self.random, self.x, self.target = random, x, target
        self.out = nl.ndarray((PAGES, P, P), dtype=nl.float32, buffer=nl.shared_hbm)
        self.sums = nl.ndarray((SUMS, P, P), dtype=nl.float32, buffer=nl.shared_hbm)
        self.scratch = nl.ndarray((PAGES, P, P), dtype=nl.float32, buffer=nl.private_hbm)
        for page in range(PAGES):
            nisa.dma_copy(dst=self.out[page], src=x[page])
        for number in range(SUMS):
            nisa.dma_copy(dst=self.sums[number], src=x[0])
        for page in range(PAGES):
            nisa.dma_copy(dst=self.scratch[page], src=x[page])
        self.factors = [self.loaded(x[page]) for page in range(2)]
        """Tiles with unchanged loaded values: products are finite."""
        self.totals = [self.loaded(x[page]) for page in range(2, 5)]
        self.kept = self.loaded(x[0])
        """Results of loops."""
        self.loops = self.summed = 0

    def build(self, length: int, depth: int) -> Any:
        self.block(length, depth)
        for number, total in enumerate(self.totals):
            nisa.dma_copy(dst=self.out[number], src=total)
        nisa.dma_copy(dst=self.sums[0], src=self.kept)
        return self.out, self.sums

    def block(self, length: int, depth: int) -> None:
        statements: list[Callable[[], None]] = [
            self.sum_up, self.sum_up, self.load, self.load_again, self.load_each_time,
            self.compute_again, self.compute_again, self.copy, self.copy, self.change, self.store,
            self.fill,
        ]  # fmt: skip
        for _ in range(length):
            if depth and self.random.random() < 0.25:
                self.loop(max(2, length // 2), depth - 1)
            else:
                self.random.choice(statements)()

    def tile(self, buffer: Any = nl.sbuf) -> Any:
        return nl.ndarray((P, P), dtype=nl.float32, buffer=buffer)

    def loaded(self, page: Any) -> Any:
        tile = self.tile()
        nisa.dma_copy(dst=tile, src=page)
        return tile

    def page(self) -> Any:
        """A part of a tensor in HBM, some of which are written now and then."""
        return self.random.choice((self.x, self.x, self.scratch, self.out))[
            self.random.randrange(3)
        ]

    def total(self) -> Any:
        return self.random.choice(self.totals)

    def engine(self) -> Any:
        return self.random.choice((None, nisa.vector_engine, nisa.gpsimd_engine))

    def add(self, total: Any, tile: Any, **given: Any) -> None:
        sides = [total, tile]
        self.random.shuffle(sides)
        nisa.tensor_tensor(dst=total, data1=sides[0], data2=sides[1], op=nl.add, **given)

    # -------------------------------------------------------------- statements

    def sum_up(self) -> None:
        """A sum of matmuls, by various ways to begin and to go on."""
        random = self.random
        total = self.total()
        factors = random.choice((self.factors, self.factors, self.factors[1:]))
        how = random.randrange(4)
        if how == 0:
            nisa.memset(dst=total, value=random.choice((0.0, 1.5)))
        elif how == 1:
            product = self.product(factors)
            nisa.tensor_copy(dst=total, src=product)
        elif how == 2:
            rows = random.choice(HALVES)
            nisa.memset(dst=total[rows, :], value=0.0)
        waiting: list[Any] = []
        for number in range(random.randint(1, 5)):
            waiting.append(self.product(factors))
            if random.random() < 0.6:
                self.add(total, waiting.pop(random.randrange(len(waiting))))
            if number and random.random() < 0.15:
                nisa.dma_copy(dst=self.out[3], src=total)
            if random.random() < 0.1:
                nisa.dma_copy(dst=total[HALVES[0], :], src=self.x[0, HALVES[0], :])
        random.shuffle(waiting)
        for product in waiting:
            self.add(total, product)
        if random.random() < 0.5:
            nisa.dma_copy(dst=self.sums[self.summed], src=total)
            self.summed = (self.summed + 1) % SUMS

    def product(self, factors: list[Any]) -> Any:
        product = self.tile(nl.psum)
        for _ in range(self.random.choice((1, 1, 1, 1, 1, 2))):
            sides = [self.random.choice(factors) for _ in range(2)]
            nisa.nc_matmul(dst=product, stationary=sides[0], moving=sides[1])
        return product

    def load(self) -> None:
        """A tile that may have been loaded before, and may be changed afterwards."""
        tile = self.loaded(self.page())
        if self.random.random() < 0.3:
            self.add(tile, tile)
        self.add(self.total(), tile, **self.on())
        if self.random.random() < 0.3:
            self.add(self.total(), tile)
        if self.random.random() < 0.2 and not self.loops:
            self.totals[self.random.randrange(3)] = tile

    def load_again(self) -> None:
        """A tile that is loaded twice, from a tensor that may be written in between."""
        page = self.page()
        first = self.loaded(page)
        if self.random.random() < 0.5:
            self.store()
        second = self.loaded(page)
        if self.random.random() < 0.2:
            self.add(self.random.choice((first, second)), self.total())
        self.add(self.total(), first)
        self.add(self.total(), second, **self.on())

    def load_each_time(self) -> None:
        """A Python loop loads the same data in each iteration, unless it is written in between."""
        page, written = self.page(), self.random.random() < 0.4
        for _ in range(3):
            tile = self.loaded(page)
            if self.random.random() < 0.2:
                self.add(tile, self.total())
            self.add(self.total(), tile)
            if written:
                self.store()

    def compute_again(self) -> None:
        """Results that are computed twice, of tiles that may have changed; one may be changed."""
        source, turned = self.total(), self.random.choice(HALVES)
        results: list[Any] = []
        for _ in range(self.random.randint(2, 3)):
            scaled, result = self.tile(), self.tile(self.random.choice((nl.sbuf, nl.sbuf, nl.psum)))
            nisa.tensor_scalar(dst=scaled, data=source, op0=nl.multiply, operand0=0.5)
            nisa.tensor_scalar(dst=result, data=scaled, op0=nl.add, operand0=1.0)
            results.append(result)
            if self.random.random() < 0.2:
                self.fill()
            if self.random.random() < 0.2:
                nisa.memset(dst=scaled[turned, :], value=2.0)
        if self.random.random() < 0.3:
            nisa.memset(dst=self.random.choice(results)[turned, :], value=3.0)
        for result in results:
            self.add(self.total(), result)

    def on(self) -> dict[str, Any]:
        engine = self.engine()
        return {} if engine is None else {"engine": engine}

    def copy(self) -> None:
        """A copy that is used once or twice, and maybe changed, as its source may be."""
        copy = self.tile(self.random.choice((nl.sbuf, nl.sbuf, nl.psum)))
        source, rows = self.total(), self.random.choice(HALVES)
        nisa.tensor_copy(dst=copy, src=self.total())
        nisa.tensor_copy(dst=copy[rows, :], src=source[rows, :])
        if self.random.random() < 0.3:
            self.fill()
        for _ in range(self.random.randint(1, 2)):
            self.add(self.total(), copy)
        if self.random.random() < 0.3:
            self.add(copy, self.total())
            self.add(self.total(), copy)

    def change(self) -> None:
        """A copy takes the place of a total, or of a half of one."""
        rows = self.random.choice(HALVES)
        copied = self.tile()
        nisa.tensor_copy(dst=copied, src=self.total())
        nisa.tensor_copy(dst=self.total()[rows, :], src=copied[rows, :])

    def store(self) -> None:
        target = self.random.choice((self.out, self.scratch))[self.random.randrange(3)]
        if self.random.random() < 0.5:
            nisa.dma_copy(dst=target, src=self.total())
        else:
            rows = self.random.choice(HALVES)
            nisa.dma_copy(dst=target[rows, :], src=self.x[self.random.randrange(PAGES), rows, :])

    def fill(self) -> None:
        rows, column = self.random.choice(HALVES), self.random.randrange(0, P, 8)
        nisa.memset(dst=self.total()[rows, column : column + 8], value=0.5)

    def loop(self, length: int, depth: int) -> None:
        def body(i: Any) -> None:
            self.loops += 1
            self.block(self.random.randint(1, length), depth)
            if self.random.random() < 0.5:
                nisa.dma_copy(dst=self.kept, src=self.x[self.random.randrange(PAGES)])
            self.add(self.totals[0], self.loaded(self.x[i]))
            self.loops -= 1

        end = self.random.choice((1, 3))
        if self.random.random() < 0.5:
            number = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
            nisa.memset(dst=number, value=self.random.choice((0, 2)))
            end = nisa.register_alloc(1)
            nisa.register_load(end, number)
        nl.fori_loop(0, end, body)
