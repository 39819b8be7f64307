"""Random kernels of the classic API, each with what NumPy says that it returns.

Index expressions, masks, loops, broadcasts and temporaries in random expressions of whole numbers,
which float32 adds up exactly.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

import nkijit.classic as classic
import nkijit.classic.language as cl
from nkijit.traced.kernel import TracedKernel

ROWS, COLUMNS = 48, 24
OPERATORS = ("add", "subtract", "maximum", "minimum")


def classic_kernel(seed: int, length: int = 8) -> tuple[TracedKernel, list[Any], Any]:
    """A kernel, its inputs, and its result."""
    random = np.random.default_rng(seed)
    inputs = [random.integers(-9, 10, (ROWS, COLUMNS)).astype(np.float32) for _ in range(2)]

    def kernel(x: Any, y: Any) -> Any:
        body = _Body(Random(seed), (x, y), inputs)
        for _ in range(length):
            body.step()
        body.finish()
        expected.append(body.expected)
        return body.out

    expected: list[Any] = []
    traced = classic.jit(kernel, platform_target="trn2").trace(*inputs)
    return traced, inputs, expected[-1]


class _Body:
    """The statements of a kernel while it is traced; each is done with NumPy, too."""

    def __init__(self, random: Random, tensors: Any, arrays: Any):
        self.random = random
        self.sources = list(zip(tensors, arrays, strict=True))
        self.out = cl.ndarray((ROWS, COLUMNS), dtype=cl.float32, buffer=cl.shared_hbm)
        self.expected = np.zeros((ROWS, COLUMNS), np.float32)
        self.tiles = [(cl.load(tensor), array) for tensor, array in self.sources]
        cl.store(self.out, cl.zeros((ROWS, COLUMNS), cl.float32))

    def step(self) -> None:
        statements = (self.combine, self.combine, self.column, self.shift, self.store, self.total)
        self.random.choice(statements)()

    def finish(self) -> None:
        for tile, array in self.tiles[-2:]:
            rows = self.random.randrange(1, ROWS + 1)
            p, f = cl.mgrid[0:ROWS, 0:COLUMNS]
            cl.store(self.out[p, f], tile, mask=(p < rows))
            self.expected[:rows] = array[:rows]

    def tile(self) -> Any:
        return self.random.choice(self.tiles)

    def keep(self, tile: Any, array: Any) -> None:
        """Numbers stay so small that float32 holds them."""
        if np.abs(array).max() < 2**20:
            self.tiles.append((tile, array.astype(np.float32)))

    def combine(self) -> None:
        op, (x, a), (y, b) = self.random.choice(OPERATORS), self.tile(), self.tile()
        if self.random.random() < 0.3:
            number = self.random.randint(-3, 3)
            self.keep(x * number + y, a * number + b)
        else:
            self.keep(getattr(cl, op)(x, y), getattr(np, op)(a, b))

    def column(self) -> None:
        """A reduction, broadcast along the free dimension."""
        (x, a), word = self.tile(), self.random.choice(("max", "min", "sum"))
        column = getattr(cl, word)(x, axis=1, keepdims=True)
        self.keep(x - column, a - getattr(np, word)(a, axis=1, keepdims=True))

    def shift(self) -> None:
        """A load through an index expression: every so many-th element, from one on."""
        tensor, array = self.random.choice(self.sources)
        step = self.random.choice((1, 2, 3))
        count = COLUMNS // step
        start = self.random.randrange(COLUMNS - step * (count - 1))
        p, f = cl.mgrid[0:ROWS, 0:count]
        part = cl.load(tensor[p, start + f * step])
        x, a = self.tile()
        self.keep(*self._with_part(x, a, part, array[:, start::step][:, :count]))

    def _with_part(self, x: Any, a: Any, part: Any, array: Any) -> tuple[Any, Any]:
        """A tile to whose columns those of a narrower one are added."""
        result = cl.ndarray((cl.par_dim(ROWS), COLUMNS), dtype=cl.float32, buffer=cl.sbuf)
        count = array.shape[1]
        result[...] = cl.copy(x)
        result[0:ROWS, 0:count] = cl.add(result[0:ROWS, 0:count], part)
        changed = a.copy()
        changed[:, :count] += array
        return result, changed

    def store(self) -> None:
        """A store under a mask."""
        x, a = self.tile()
        rows, columns = self.random.randrange(1, ROWS + 9), self.random.randrange(1, COLUMNS + 9)
        p, f = cl.mgrid[0:ROWS, 0:COLUMNS]
        cl.store(self.out[p, f], x, mask=(p < rows) & (f < columns))
        self.expected[:rows, :columns] = a[:rows, :columns]

    def total(self) -> None:
        """A sum that a loop carries."""
        (x, a), times = self.tile(), self.random.randint(1, 3)
        total = cl.zeros((cl.par_dim(ROWS), COLUMNS), cl.float32, buffer=cl.sbuf)
        for _ in cl.sequential_range(times):
            total += x
        self.keep(total, a * times)
