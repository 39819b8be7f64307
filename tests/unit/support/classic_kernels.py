"""Random kernels of the classic API, each with NumPy's expected results.

Index expressions, masks, loops, broadcasts, temporaries, and statements on parts of tiles in random
expressions of integers, which float32 adds exactly.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import numpy as np

import nkijit.classic as classic
import nkijit.classic.isa as ci
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


class _Part(NamedTuple):
    """Part of a tile in the form of a statement, and the same part of an array."""

    key: Any
    of_array: Any
    rows: int
    columns: int


def _part(random: Random, shape: tuple[int, ...], block: int) -> _Part:
    """A random part of a block of columns; of three dimensions it drops the middle one."""
    middle, first = ((block,), 0) if len(shape) == 3 else ((), block * COLUMNS)
    rows, start, step = random.randint(1, shape[0]), first + random.randrange(COLUMNS), 1
    if random.random() < 0.4:
        rows = shape[0]
    if random.random() < 0.3:
        step = random.randint(2, 3)
    count = random.randint(1, len(range(start, first + COLUMNS, step)))
    stop = start + step * (count - 1) + 1
    p, f = cl.mgrid[0:rows, 0:count]
    i, j = cl.arange(rows)[:, None], cl.arange(count)[None, :]
    forms: list[Any] = [(p, *middle, start + f * step), (i, *middle, step * j + start)]
    if step == 1:
        forms.append((slice(0, rows), *middle, slice(start, stop)))
        forms.append((slice(0, rows), *middle, cl.ds(start, count)))
    of_array = (slice(0, rows), *middle, slice(start, stop, step))
    return _Part(random.choice(forms), of_array, rows, count)


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
        statements = (
            *(self.combine, self.combine, self.column, self.shift, self.store, self.total),
            *(self.accumulate, self.update),
        )
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
        """A load through an index expression: every `step`-th element from a start."""
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

    def accumulate(self) -> None:
        """Products that loops add to parts of a wider accumulator in PSUM, one in each block."""
        (sums, expected), form = self._zeros(cl.psum), self.random.randrange(3)
        blocks = expected[0].size // COLUMNS
        for block in self.random.sample(range(blocks), self.random.randint(1, blocks)):
            part = _part(self.random, expected.shape, block)
            mask, below = {}, part.rows
            if self.random.random() < 0.3:
                below = self.random.randint(1, part.rows)
                mask = {"mask": cl.arange(part.rows)[:, None] < below}
            for _ in self._loop():
                (x, a), (y, b) = self._loaded(part.rows), self._loaded(part.columns)
                if form == 0:
                    sums[part.key] += cl.matmul(x, y, transpose_x=True, **mask)
                elif form == 1:
                    sums[part.key] += ci.nc_matmul(x, y, **mask)
                else:
                    product = ci.nc_matmul(x, y, **mask)
                    sums[part.key] += product
                expected[part.of_array][:below] += (a.T @ b)[:below]
        self._keep_part(sums, expected)

    def update(self) -> None:
        """Statements that loops repeat on parts of a tile in SBUF."""
        tile, expected = self._zeros(cl.sbuf)
        for _ in range(self.random.randint(1, 3)):
            block = self.random.randrange(expected[0].size // COLUMNS)
            part, form = _part(self.random, expected.shape, block), self.random.randrange(4)
            place = expected[part.of_array]
            for _ in self._loop():
                value, array = self._loaded(part.columns)
                value, array = value[0 : part.rows], array[: part.rows]
                if form == 0:
                    tile[part.key] += value
                    place += array
                elif form == 1:
                    tile[part.key] = cl.multiply(value, 3.0)
                    place[...] = array * 3
                elif form == 2:
                    tile[part.key] -= cl.maximum(value, 0.0)
                    place -= np.maximum(array, 0)
                else:
                    tile[part.key] = cl.add(tile[part.key], value)
                    place += array
        self._keep_part(tile, expected)

    def _zeros(self, buffer: Any) -> tuple[Any, Any]:
        """A tile that is wider than the inputs, of two dimensions or three."""
        count, lazy = self.random.randint(1, 3), self.random.random() < 0.3
        shape = self.random.choice(((COLUMNS, count * COLUMNS), (COLUMNS, count, COLUMNS)))
        tile = cl.zeros(shape, cl.float32, buffer=buffer, lazy_initialization=lazy)
        return tile, np.zeros(shape, np.float32)

    def _loop(self) -> Any:
        loop = self.random.choice((range, cl.static_range, cl.sequential_range))
        return loop(self.random.randint(1, 3))

    def _loaded(self, columns: int) -> tuple[Any, Any]:
        """The first columns of an input, loaded anew."""
        tensor, array = self.random.choice(self.sources)
        return cl.load(tensor[0:ROWS, 0:columns]), array[:, :columns]

    def _keep_part(self, wide: Any, array: Any) -> None:
        """Some columns of a wide tile, in the first rows of one of the usual shape."""
        middle: tuple[int, ...] = ()
        if array.ndim == 3:
            middle = (self.random.randrange(array.shape[1]),)
        start = self.random.randrange(array.shape[-1] - COLUMNS + 1)
        columns = (slice(0, COLUMNS), *middle, slice(start, start + COLUMNS))
        x, a = self.tile()
        result = cl.ndarray((cl.par_dim(ROWS), COLUMNS), dtype=cl.float32, buffer=cl.sbuf)
        result[...] = cl.copy(x)
        result[0:COLUMNS, 0:COLUMNS] = cl.copy(wide[columns])
        changed = a.copy()
        changed[:COLUMNS] = array[columns]
        self.keep(result, changed)


# ------------------------------------------------------------------ indices known at run time

PAGES, PAGE_ROWS = 5, 10


def indexed_classic_kernel(seed: int, length: int = 6) -> tuple[TracedKernel, list[Any], Any]:
    """A kernel whose indices are elements of tensors, its inputs, and its results.

    Loads and stores of rows that an index tile names, in each dimension of a tensor, and of parts
    that begin at the number in a tile.
    """
    random, choice = np.random.default_rng(seed), Random(seed)
    a = random.integers(-9, 10, (PAGES, PAGE_ROWS, 8)).astype(np.float32)
    rows = np.stack([random.permutation(PAGES) for _ in range(6)]).astype(np.int32)
    expected = np.zeros((length, PAGES, 8), np.float32)

    def kernel(a_hbm: Any, rows_hbm: Any) -> Any:
        out = cl.ndarray(expected.shape, dtype=cl.float32, buffer=cl.shared_hbm)
        for step in range(length):
            _indexed(choice, (a_hbm, rows_hbm, out), (a, rows, expected), step)
        return out

    return classic.jit(kernel, platform_target="trn2").trace(a, rows), [a, rows], expected


def _indexed(choice: Random, tensors: Any, arrays: Any, step: int) -> None:
    (a, rows, out), (values, numbers, expected) = tensors, arrays
    first, times = choice.randrange(3), choice.randint(1, 3)
    word, page, column = choice.randrange(4), choice.randrange(PAGES), choice.randrange(5)
    p, f = cl.arange(PAGES)[:, None], cl.arange(8)[None, :]
    one = cl.arange(1)[:, None]
    total, found = (
        cl.zeros((cl.par_dim(PAGES), 8), cl.float32, buffer=cl.sbuf),
        np.zeros((PAGES, 8)),
    )
    for i in cl.affine_range(times):
        names = numbers[first + i]
        if word == 3:
            start = cl.load(rows[first + i, one])
            part, array = cl.load(a[page, start + p, f]), values[page, names[0] : names[0] + PAGES]
        else:
            chosen = cl.load(rows[first + i, p])
            picked = chosen[p, 0]
            if word == 0:
                part, array = cl.load(a[picked, column + i, f]), values[names, column + i]
            elif word == 1:
                part, array = cl.load(a[page, picked, f]), values[page, names]
            else:
                part, array = cl.load(a[picked, 2 * i, f]), values[names, 2 * i]
        total += part
        found += array
    if choice.random() < 0.5:
        cl.store(out[step, p, f], total)
        expected[step] = found
        return
    chosen = cl.load(rows[first, p])
    cl.store(out[step, chosen[p, 0], f], total)
    expected[step, numbers[first]] = found
