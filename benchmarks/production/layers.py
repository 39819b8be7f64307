"""The kernels: transformer blocks on one core, on two, and in a loop on the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from benchmarks.kernels import Measured
from benchmarks.production.attention import attend
from benchmarks.production.movement import gather, load_in_pieces, store_in_halves, transpose
from benchmarks.production.norms import rms_norm
from benchmarks.production.stack import COLUMNS, ROWS, Stack

PER_BLOCK = 115
"""The number of operations of a block: instructions, allocations and views."""


def _block(stack: Stack, x: Any, k: Any, v: Any, weights: Any, rows: Any, at: int) -> Any:
    """Compute a block of rows: norm, attention to gathered keys, gated residual."""
    result = stack.tile(ROWS, COLUMNS)
    with stack.scope():
        tile = load_in_pieces(stack, x, at)
        queries = transpose(stack, rms_norm(stack, tile, weights))
        keys = transpose(stack, gather(stack, k, rows, at))
        attended = attend(stack, queries, keys, load_in_pieces(stack, v, at))
        nisa.activation(dst=attended, op=nl.silu, data=attended)
        nisa.tensor_tensor(dst=result, data1=attended, data2=tile, op=nl.add)
    return result


def _load_weights(stack: Stack, weights: Any) -> Any:
    tile = stack.tile(ROWS, COLUMNS)
    nisa.dma_copy(dst=tile, src=weights)
    return tile


def stacked(operations: int) -> Measured:
    """Blocks on one core."""
    count = max(1, operations // PER_BLOCK)

    @nki.jit
    def kernel(x: Any, k: Any, v: Any, weights: Any, rows: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        stack = Stack()
        scale = _load_weights(stack, weights)
        for i in range(count):
            with stack.scope():
                result = _block(stack, x, k, v, scale, rows, i * ROWS)
                store_in_halves(out, i * ROWS, result)
        return out

    return _measured(kernel, count)


def on_two_cores(operations: int) -> Measured:
    """Blocks on two cores; each core adds the mean of a block that the other core computed."""
    count = max(1, operations // (2 * (PER_BLOCK + 12)))

    @nki.jit
    def kernel(x: Any, k: Any, v: Any, weights: Any, rows: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        blocks = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        core = nl.program_id(0)
        stack = Stack()
        scale = _load_weights(stack, weights)
        for i in range(count):
            at = (2 * i + core) * ROWS
            with stack.scope():
                store_in_halves(blocks, at, _block(stack, x, k, v, scale, rows, at))
        nisa.core_barrier(blocks, (0, 1))
        for i in range(count):
            own, other = ((2 * i + n) * ROWS for n in (core, 1 - core))
            with stack.scope():
                tile, neighbour = (load_in_pieces(stack, blocks, at) for at in (own, other))
                nisa.tensor_tensor(dst=tile, data1=tile, data2=neighbour, op=nl.add)
                store_in_halves(out, own, tile)
        return out

    return _measured(kernel, 2 * count, cores=2)


def in_device_loops(operations: int) -> Measured:
    """Blocks whose rows a loop on the device selects, several blocks in each loop."""
    blocks = max(1, min(8, operations // PER_BLOCK))
    count = max(1, operations // (PER_BLOCK * blocks))

    @nki.jit
    def kernel(x: Any, k: Any, v: Any, weights: Any, rows: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        stack = Stack()
        scale = _load_weights(stack, weights)
        for _ in range(count):
            for i in nl.dynamic_range(2):
                for block in range(blocks):
                    half = x.shape[0] // 2
                    inputs, values, indices, results = (
                        each.reshape((2, half, each.shape[1]))[i] for each in (x, v, rows, out)
                    )
                    with stack.scope():
                        at = block * ROWS
                        result = _block(stack, inputs, k, values, scale, indices, at)
                        store_in_halves(results, at, result)
        return out

    return _measured(kernel, 2 * blocks)


def _measured(kernel: Any, blocks: int, cores: int = 1) -> Measured:
    tensor = (blocks * ROWS, COLUMNS)
    floats = (tensor, tensor, tensor, (ROWS, COLUMNS))
    return Measured(kernel, floats, ((blocks * ROWS, 1),), cores)


KERNELS: Sequence[Callable[[int], Measured]] = (stacked, on_two_cores, in_device_loops)
"""All kernels, in the order of the table."""
