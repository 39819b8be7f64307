"""Random kernels in which everything depends on everything: a few tiles that all engines and DMAs
read and write in parts, inside and outside of loops on the device.

Numbers are int32 under addition, which loses nothing: a value that was read too early or too late
is in the result. Unlike the parts of `kernel_parts.py` these kernels make no sense.
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

P, F, PAGES, TILES = 64, 16, 6, 5
ROWS = (slice(0, 32), slice(32, 64), slice(0, 64))
WIDTHS = (4, 8, 16)


def tangled_kernel(
    seed: int, target: str = "trn3", length: int = 12, depth: int = 0
) -> tuple[TracedKernel, list[Any]]:
    """A kernel and its inputs.

    Args:
        seed: equal seeds make equal kernels.
        target: the platform.
        length: about how many NKI instructions it has, without those in front and at the end.
        depth: how deep loops on the device are nested; 0 for a kernel without loops.
    """

    def kernel(x, numbers):
        return _Body(Random(f"{seed} {target}"), x, numbers, target).build(length, depth)

    random = np.random.default_rng(seed)
    x = random.integers(-(2**31), 2**31, (PAGES, P, F)).astype(np.int32)
    numbers = random.integers(0, 4, (P, F)).astype(np.int32)
    traced = nki.jit(kernel, platform_target=target).trace(x, numbers)
    traced.verify()
    return traced, [x, numbers]


class _Body:
    """The statements of a kernel while it is traced."""

    def __init__(self, random: Random, x: Any, numbers: Any, target: str):
        self.random = random
        self.x = x
        self.out = nl.ndarray((PAGES, P, F), dtype=nl.int32, buffer=nl.shared_hbm)
        self.scratch = nl.ndarray((PAGES, P, F), dtype=nl.int32, buffer=nl.private_hbm)
        self.products = nl.ndarray((P, 32), dtype=nl.float32, buffer=nl.shared_hbm)
        self.target = target
        self.numbers = nl.ndarray((P, F), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=self.numbers, src=numbers)
        self.tiles = [self.sbuf((P, F), nl.int32) for _ in range(random.randint(2, TILES))]
        for number, tile in enumerate(self.tiles):
            nisa.dma_copy(dst=tile, src=x[number])
        for page in range(PAGES):
            nisa.dma_copy(dst=self.scratch[page], src=x[page])
            nisa.dma_copy(dst=self.out[page], src=self.scratch[page])
        self.registers = [nisa.register_alloc(number) for number in (1, 2)]
        self.indices: list[Any] = []
        self.has_product = False

    def build(self, length: int, depth: int) -> Any:
        self.block(length, depth)
        for number, tile in enumerate(self.tiles):
            nisa.dma_copy(dst=self.out[number], src=tile)
        results = [self.out]
        if self.has_product:
            results.append(self.products)
        return tuple(results)

    def block(self, length: int, depth: int) -> None:
        for _ in range(length):
            if depth and self.random.random() < 0.25:
                self.loop(max(2, length // 2), depth - 1)
            else:
                self.random.choice(self.statements())(self)

    def statements(self) -> list[Callable[[_Body], None]]:
        common = [
            _Body.add, _Body.add, _Body.copy, _Body.copy, _Body.load, _Body.store, _Body.fresh,
            _Body.inside, _Body.fill, _Body.set_register, _Body.move, _Body.scalar,
        ]  # fmt: skip
        common.append(_Body.through_psum)
        if self.target != "trn1":
            common.append(_Body.gather)
        if self.target == "trn3":
            common.append(_Body.indirect)
        # Writes in a loop that may not run are not known to be written after it.
        return common if self.indices else [*common, _Body.multiply]

    # -------------------------------------------------------------- operands

    def sbuf(self, shape: tuple[int, int], dtype: Any) -> Any:
        return nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)

    def window(self, rows: slice, width: int) -> Any:
        start = self.random.randrange(0, F - width + 1, 4)
        tile = self.random.choice(self.tiles)
        if width == 4 and self.random.random() < 0.3:
            return tile[rows, nl.ds(self.register(), 4)]
        return tile[rows, start : start + width]

    def windows(self, count: int) -> list[Any]:
        rows, width = self.random.choice(ROWS), self.random.choice(WIDTHS)
        return [self.window(rows, width) for _ in range(count)]

    def register(self) -> Any:
        return self.random.choice([*self.registers, *self.indices])

    def page(self, tensor: Any) -> Any:
        """A part of a tensor in HBM."""
        if self.random.random() < 0.4:
            return tensor[self.register()]
        return tensor[self.random.randrange(PAGES)]

    # -------------------------------------------------------------- statements

    def add(self) -> None:
        dst, one, two = self.windows(3)
        on = self.random.choice((nisa.vector_engine, nisa.gpsimd_engine))
        nisa.tensor_tensor(dst=dst, data1=one, data2=two, op=nl.add, engine=on)

    def copy(self) -> None:
        dst, src = self.windows(2)
        nisa.tensor_copy(dst=dst, src=src, engine=self.copier())

    def scalar(self) -> None:
        """A new column, used once."""
        dst, src = self.windows(2)
        one = self.sbuf((dst.shape[0], dst.shape[1]), nl.int32)
        nisa.tensor_copy(dst=one, src=src, engine=self.copier())
        nisa.tensor_tensor(dst=dst, data1=one, data2=one, op=nl.add)

    def fresh(self) -> None:
        """A new tile takes the place of an old one."""
        tile = self.sbuf((P, F), nl.int32)
        nisa.dma_copy(dst=tile, src=self.page(self.x))
        if not self.indices:
            self.tiles[self.random.randrange(len(self.tiles))] = tile
            return
        (dst,) = self.windows(1)
        rows, columns = dst.shape
        source = tile[0:rows, 0:columns]
        nisa.tensor_tensor(dst=dst, data1=source, data2=source, op=nl.add)

    def load(self) -> None:
        rows, width = self.random.choice(ROWS), self.random.choice(WIDTHS)
        source = self.page(self.random.choice((self.x, self.scratch)))
        nisa.dma_copy(dst=self.window(rows, width), src=source[rows, 0:width], **self.started())

    def store(self) -> None:
        rows, width = self.random.choice(ROWS), self.random.choice(WIDTHS)
        target = self.page(self.random.choice((self.out, self.scratch)))
        nisa.dma_copy(dst=target[rows, 0:width], src=self.window(rows, width), **self.started())

    def started(self) -> dict[str, Any]:
        """Return the arguments for a DMA's issuer."""
        if self.target == "trn1":
            return {}
        modes = ({}, {}, {"dge_mode": nisa.dge_mode.swdge})
        by_scalar = {"dge_mode": nisa.dge_mode.hwdge, "engine": nisa.scalar_engine}
        return self.random.choice((*modes, by_scalar))

    def copier(self) -> Any:
        """An engine that copies integers."""
        first = nisa.vector_engine if self.target == "trn1" else nisa.scalar_engine
        return self.random.choice((first, nisa.vector_engine, nisa.gpsimd_engine))

    def inside(self) -> None:
        """A DMA inside of HBM, or of SBUF."""
        if self.random.random() < 0.5:
            dst, src = self.windows(2)
            nisa.dma_copy(dst=dst, src=src)
        else:
            target = self.page(self.random.choice((self.out, self.scratch)))
            nisa.dma_copy(dst=target, src=self.page(self.x))

    def fill(self) -> None:
        (dst,) = self.windows(1)
        nisa.memset(dst=dst, value=self.random.randrange(100))

    def move(self) -> None:
        nisa.register_move(self.random.choice(self.registers), self.random.randrange(4))

    def set_register(self) -> None:
        column = self.random.randrange(F)
        number = self.numbers[0:1, column : column + 1]
        nisa.register_load(self.random.choice(self.registers), number)

    def gather(self) -> None:
        """Pages that an index tile selects; the index is written, read, and written again."""
        index = self.sbuf((4, 1), nl.int32)
        column = self.random.randrange(F)
        on = self.random.choice((nisa.vector_engine, nisa.gpsimd_engine))
        nisa.tensor_copy(dst=index, src=self.numbers[0:4, column : column + 1], engine=on)
        dst = self.random.choice(self.tiles)[0:4, :]
        source = self.random.choice((self.x, self.scratch)).reshape((PAGES * P, F))
        nisa.dma_copy(dst=dst, src=source.vector_select(0, index))
        nisa.memset(dst=index, value=0, engine=on)

    def through_psum(self) -> None:
        """A sum of a tile in PSUM and one in SBUF."""
        dst, one, two = self.windows(3)
        held = nl.ndarray(dst.shape, dtype=nl.int32, buffer=nl.psum)
        nisa.tensor_copy(dst=held, src=one, engine=nisa.vector_engine)
        nisa.tensor_tensor(dst=dst, data1=held, data2=two, op=nl.bitwise_xor)

    def indirect(self) -> None:
        """Elements that an index tile names; the index is written, read, and written again."""
        index = self.sbuf((P, 1), nl.int32)
        column = self.random.randrange(F)
        nisa.tensor_copy(dst=index, src=self.numbers[:, column : column + 1])
        source, tile = self.random.choice(self.tiles), self.random.choice(self.tiles)
        # Each 16 partitions have numbers of their own, one in each.
        nisa.tensor_copy(dst=tile, src=source.indirect(index, F), engine=nisa.vector_engine)
        nisa.memset(dst=index, value=0)

    def multiply(self) -> None:
        """A group of matmuls, some with the stationary tile of the one before."""
        product = nl.ndarray((P, 32), dtype=nl.float32, buffer=nl.psum)
        sides = [self.sbuf((P, P), nl.bfloat16), self.sbuf((P, 32), nl.bfloat16)]
        for number in range(self.random.randint(1, 3)):
            for side, width in zip(sides, (P, 32), strict=True):
                if number == 0 or self.random.random() < 0.5:
                    for start in range(0, width, F):
                        source = self.random.choice(self.tiles)
                        nisa.tensor_copy(dst=side[:, start : start + F], src=source)
            self.has_product = True
            nisa.nc_matmul(dst=product, stationary=sides[0], moving=sides[1])
        result = self.sbuf((P, 32), nl.float32)
        nisa.tensor_copy(dst=result, src=product)
        nisa.dma_copy(dst=self.products, src=result)

    # -------------------------------------------------------------- loops

    def loop(self, length: int, depth: int) -> None:
        kind = self.random.randrange(3)
        if kind == 2:
            self.while_loop(length, depth)
            return
        end = 3
        if kind == 1:
            end = nisa.register_alloc(2)
            nisa.register_load(end, self.numbers[0:1, 3:4])

        def body(i: Any) -> None:
            self.indices.append(i)
            self.block(self.random.randint(1, length), depth)
            self.indices.pop()

        nl.fori_loop(0, end, body)

    def while_loop(self, length: int, depth: int) -> None:
        """As often as a tile that counts down says."""
        left = self.sbuf((1, 1), nl.int32)
        nisa.tensor_copy(dst=left, src=self.numbers[0:1, 5:6])
        going = nisa.register_alloc(1)
        nisa.register_load(going, left)

        def body(register: Any) -> Any:
            self.indices.append(self.registers[0])
            self.block(self.random.randint(1, length), depth)
            self.indices.pop()
            nisa.tensor_scalar(dst=left, data=left, op0=nl.add, operand0=-1)
            nisa.register_load(register, left)
            return register

        nl.while_loop(going, body)


# ------------------------------------------------------------------ nothing is lost


def visible_kernel(
    seed: int, target: str = "trn3", length: int = 10
) -> tuple[TracedKernel, list[Any]]:
    """Return a kernel in which every value is part of a result, and its inputs.

    So a read at a wrong time is visible. There are no loops, registers, or addresses known only at
    run time.
    """

    def kernel(x):
        return _Visible(Random(f"{seed} {target}"), x, target).build(length)

    pages = length + 3
    x = np.random.default_rng(seed).integers(-(2**31), 2**31, (pages, P, F)).astype(np.int32)
    traced = nki.jit(kernel, platform_target=target).trace(x)
    traced.verify()
    return traced, [x]


class _Visible:
    """The statements of a kernel while it is traced."""

    def __init__(self, random: Random, x: Any, target: str):
        self.random = random
        self.x = x
        self.target = target
        self.results: list[Any] = []
        self.page = 0
        self.sums = [self.loaded() for _ in range(random.randint(1, 3))]

    def build(self, length: int) -> Any:
        statements = [self.add, self.add, self.fresh, self.copied, self.stored, self.through_hbm]
        statements += [self.multiply] * (len(self.sums) > 1)
        for _ in range(length):
            self.random.choice(statements)()
        for total in self.sums:
            self.store(total)
        return tuple(self.results)

    def loaded(self) -> Any:
        """A tile with numbers that no other one has."""
        tile = nl.ndarray((P, F), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=self.x[self.page])
        self.page += 1
        return tile

    def store(self, tile: Any) -> None:
        out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tile)
        self.results.append(out)

    def total(self) -> Any:
        return self.random.choice(self.sums)

    def changed(self) -> Any:
        """One of the sums, which nothing is a copy of."""
        total = self.total()
        self.add_to(total, self.total(), slice(0, P))
        return total

    def engine(self) -> Any:
        return self.random.choice((nisa.vector_engine, nisa.gpsimd_engine))

    def add_to(self, total: Any, tile: Any, rows: slice) -> None:
        here = total[rows, :]
        nisa.tensor_tensor(
            dst=here, data1=here, data2=tile[rows, :], op=nl.add, engine=self.engine()
        )

    # -------------------------------------------------------------- statements

    def add(self) -> None:
        self.add_to(self.total(), self.total(), self.random.choice(ROWS))

    def fresh(self) -> None:
        self.add_to(self.total(), self.loaded(), slice(0, P))

    def copied(self) -> None:
        """A copy, half of it by one engine and half by another."""
        tile = nl.ndarray((P, F), dtype=nl.int32, buffer=nl.sbuf)
        total = self.changed()
        first = self.engine() if self.target == "trn1" else nisa.scalar_engine
        nisa.tensor_copy(dst=tile[ROWS[0], :], src=total[ROWS[0], :], engine=first)
        nisa.tensor_copy(dst=tile[ROWS[1], :], src=total[ROWS[1], :], engine=self.engine())
        self.add_to(self.total(), tile, slice(0, P))

    def stored(self) -> None:
        self.store(self.total())

    def through_hbm(self) -> None:
        page = nl.ndarray((P, F), dtype=nl.int32, buffer=nl.private_hbm)
        nisa.dma_copy(dst=page, src=self.changed())
        tile = nl.ndarray((P, F), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=page)
        self.add_to(self.total(), tile, slice(0, P))

    def multiply(self) -> None:
        """Two matmuls with one stationary tile, which add up."""
        self.add_to(self.sums[0], self.sums[1], slice(0, P))
        self.add_to(self.sums[1], self.sums[0], slice(0, P))
        product = nl.ndarray((F, F), dtype=nl.float32, buffer=nl.psum)
        sides = [nl.ndarray((P, F), dtype=nl.bfloat16, buffer=nl.sbuf) for _ in range(3)]
        for side, source in zip(sides, (*self.sums[:2], self.sums[0]), strict=True):
            nisa.tensor_copy(dst=side, src=source, engine=self.engine())
        for moving in sides[1:]:
            nisa.nc_matmul(dst=product, stationary=sides[0], moving=moving)
        result = nl.ndarray((F, F), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=result, src=product)
        self.store(result)
