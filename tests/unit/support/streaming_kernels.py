"""Random kernels of DMAs of parts of tiles and tensors, most of which wait for something slow.

All their addresses are known, so the Sync Engine may start them in another order, also between
loops on the device and in their iterations. Numbers are int32 under addition, which loses nothing.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.traced.kernel import TracedKernel

P, F, PAGES = 16, 64, 4
PARTS = (slice(0, F // 2), slice(F // 2, F), slice(F // 4, 3 * F // 4), slice(0, F))


def streaming_kernel(
    seed: int, target: str = "trn2", length: int = 10, depth: int = 1
) -> tuple[TracedKernel, list[Any]]:
    """A kernel and its inputs.

    Args:
        seed: equal seeds make equal kernels.
        target: the platform.
        length: how many statements it has outside of loops.
        depth: how deep loops on the device are nested; 0 for a kernel without loops.
    """

    def kernel(x: Any) -> Any:
        body = _Body(Random(f"{seed} {target} {depth}"), x)
        body.block(length, depth)
        for page, tile in enumerate(body.tiles):
            nisa.dma_copy(dst=body.sums[page], src=tile)
        return body.out, body.sums

    x = np.random.default_rng(seed).integers(-(2**31), 2**31, (PAGES, P, F)).astype(np.int32)
    traced = nki.jit(kernel, platform_target=target).trace(x)
    traced.verify()
    return traced, [x]


class _Body:
    """The statements of a kernel while it is traced."""

    def __init__(self, random: Random, x: Any):
        self.random = random
        self.x = x
        self.out, self.sums = (
            nl.ndarray((PAGES, P, F), dtype=nl.int32, buffer=nl.shared_hbm) for _ in range(2)
        )
        self.scratch = nl.ndarray((PAGES, P, F), dtype=nl.int32, buffer=nl.private_hbm)
        self.tiles = [nl.ndarray((P, F), dtype=nl.int32, buffer=nl.sbuf) for _ in range(3)]
        for page in range(PAGES):
            nisa.dma_copy(dst=self.scratch[page], src=x[page])
            nisa.dma_copy(dst=self.out[page], src=x[page])
        for page, tile in enumerate(self.tiles):
            nisa.dma_copy(dst=tile, src=x[page])

    def block(self, length: int, depth: int) -> None:
        statements = [self.load, self.load, self.store, self.store, self.inside, self.slow]
        statements += [self.reload, self.slow]
        for _ in range(length):
            if depth and self.random.random() < 0.25:
                nl.fori_loop(0, 3, lambda _: self.block(length, depth - 1))
            else:
                self.random.choice(statements)()

    def part(self) -> slice:
        return self.random.choice(PARTS)

    def page(self, tensor: Any, part: slice) -> Any:
        return tensor[self.random.randrange(PAGES)][:, part]

    def tile(self, part: slice) -> Any:
        return self.random.choice(self.tiles)[:, part]

    def load(self) -> None:
        part = self.part()
        nisa.dma_copy(dst=self.tile(part), src=self.page(self.x, part))

    def reload(self) -> None:
        part = self.part()
        nisa.dma_copy(dst=self.tile(part), src=self.page(self.scratch, part))

    def store(self) -> None:
        part = self.part()
        tensor = self.random.choice((self.out, self.out, self.scratch))
        nisa.dma_copy(dst=self.page(tensor, part), src=self.tile(part))

    def inside(self) -> None:
        """Inside of HBM, of all columns."""
        tensor = self.random.choice((self.out, self.scratch))
        part = slice(0, F)
        nisa.dma_copy(dst=self.page(tensor, part), src=self.page(self.x, part))

    def slow(self) -> None:
        """Many additions."""
        part = self.part()
        tile, other = self.tile(part), self.tile(part)
        on = self.random.choice((nisa.vector_engine, nisa.gpsimd_engine))
        for _ in range(self.random.choice((1, 4, 16))):
            nisa.tensor_tensor(dst=tile, data1=tile, data2=other, op=nl.add, engine=on)
