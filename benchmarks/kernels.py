"""The measured kernels. Each has about the requested number of instructions.

`reused` has few tiles and views, which every iteration uses. The others resemble published kernels:
they have a helper function per step, and allocate tiles in every block of an unrolled loop. Tiles
are small, so that the time of a run is mostly overhead of the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.isa as classic_isa
import nkijit.classic.language as classic_nl
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.classic.launch.kernel import ClassicKernel
from nkijit.kernels.kernel import Kernel

ROWS, COLUMNS, HEAD = 16, 64, 32
"""Rows and columns of a block, and columns of an attention head."""
CUT = 3
"""Masked rows in the last block of the classic kernel."""


@dataclass(frozen=True)
class Measured:
    """A kernel and the shapes of its arguments."""

    kernel: Kernel
    shapes: tuple[tuple[int, ...], ...]
    """Shapes of the float32 arguments."""
    indices: tuple[tuple[int, ...], ...] = ()
    """Shapes of the int32 arguments after them, which hold numbers of rows."""
    cores: int = 1

    @property
    def specs(self) -> list[nki.TensorSpec]:
        """The arguments as specifications."""
        floats = [nki.TensorSpec(shape, nl.float32) for shape in self.shapes]
        return [*floats, *(nki.TensorSpec(shape, nl.int32) for shape in self.indices)]

    def fresh(self) -> nki.TracedKernel:
        """Trace the kernel without the trace cache."""
        if isinstance(self.kernel, ClassicKernel):
            return classic.jit(self.kernel.func).trace(*self.specs)
        return nki.jit(self.kernel.func)[self.cores].trace(*self.specs)

    def inputs(self) -> list[np.ndarray[Any, Any]]:
        """Return random arguments."""
        rng = np.random.default_rng(0)
        floats = [rng.standard_normal(shape, dtype=np.float32) for shape in self.shapes]
        rows = [rng.integers(0, ROWS, shape, dtype=np.int32) for shape in self.indices]
        return [*floats, *rows]


def reused(instructions: int) -> Measured:
    """A loop with ten instructions per iteration, on four tiles and a few views."""

    @nki.jit
    def kernel(x: Any, out: Any) -> None:
        a = nl.ndarray((ROWS, 4 * COLUMNS), dtype=nl.float32, buffer=nl.sbuf)
        b = nl.ndarray((ROWS, COLUMNS), dtype=nl.float32, buffer=nl.sbuf)
        c = nl.ndarray((ROWS, COLUMNS), dtype=nl.bfloat16, buffer=nl.sbuf)
        column = nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)
        for i in nl.affine_range(instructions // 10):
            row = (i % 8) * ROWS
            tile = a[:, nl.ds((i % 4) * COLUMNS, COLUMNS)]
            nisa.dma_copy(dst=tile, src=x[row : row + ROWS, 0:COLUMNS])
            nisa.tensor_reduce(dst=column, op=nl.maximum, data=tile, axis=1, negate=True)
            nisa.activation(
                dst=b,
                op=nl.exp,
                data=tile,
                bias=column,
                scale=1.0,
                reduce_op=nl.add,
                reduce_res=column,
                reduce_cmd=nisa.reduce_cmd.reset_reduce,
            )
            nisa.reciprocal(dst=column, data=column)
            nisa.tensor_scalar(dst=c, data=b, op0=nl.multiply, operand0=column)
            nisa.tensor_tensor(dst=b, data1=b, data2=c, op=nl.add)
            nisa.scalar_tensor_tensor(
                dst=b, data=b, op0=nl.multiply, operand0=0.5, op1=nl.add, operand1=tile
            )
            nisa.activate2(
                dst=c, op=nl.silu, data=b, imm0=2.0, imm1=column, op0=nl.multiply, op1=nl.add
            )
            nisa.tensor_copy(dst=b, src=c)
            nisa.dma_copy(dst=out[row : row + ROWS, 0:COLUMNS], src=b)

    return Measured(kernel, ((8 * ROWS, COLUMNS),) * 2)


# ------------------------------------------------------------------ new tiles in every block


def _tile(rows: int, columns: int, dtype: str = nl.float32) -> Any:
    return nl.ndarray((rows, columns), dtype=dtype, buffer=nl.sbuf)


def _load(source: Any, row: int, dtype: str = nl.float32) -> Any:
    loaded = _tile(ROWS, source.shape[1], dtype)
    nisa.dma_copy(dst=loaded, src=source[row : row + ROWS])
    return loaded


def _transposed(tile: Any) -> Any:
    rows, columns = tile.shape
    turned = nl.ndarray((columns, rows), dtype=tile.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=turned, data=tile)
    result = _tile(columns, rows, tile.dtype)
    nisa.tensor_copy(dst=result, src=turned)
    return result


def _normalised(tile: Any) -> Any:
    """RMSNorm without weights."""
    squares = _tile(*tile.shape)
    total = _tile(ROWS, 1)
    nisa.activation(
        dst=squares,
        op=nl.square,
        data=tile,
        reduce_op=nl.add,
        reduce_res=total,
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
    )
    mean = _tile(ROWS, 1)
    nisa.tensor_scalar(
        dst=mean, data=total, op0=nl.multiply, operand0=1 / COLUMNS, op1=nl.add, operand1=1e-6
    )
    scale = _tile(ROWS, 1)
    nisa.activation(dst=scale, op=nl.rsqrt, data=mean)
    result = _tile(*tile.shape, nl.bfloat16)
    nisa.tensor_scalar(dst=result, data=tile, op0=nl.multiply, operand0=scale)
    return result


def _attended(queries: Any, keys: Any, values: Any) -> Any:
    """Attention of a block: softmax of the scores times the values, two heads in one PSUM tile."""
    attended = nl.ndarray((ROWS, COLUMNS), dtype=nl.float32, buffer=nl.psum)
    for start in range(0, COLUMNS, HEAD):
        head = nl.ds(start, HEAD)
        scores = nl.ndarray((ROWS, ROWS), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(
            dst=scores,
            stationary=queries[start : start + HEAD, :],
            moving=keys[start : start + HEAD, :],
        )
        largest = _tile(ROWS, 1)
        nisa.tensor_reduce(dst=largest, op=nl.maximum, data=scores, axis=1, negate=True)
        weights = _tile(ROWS, ROWS, nl.bfloat16)
        total = _tile(ROWS, 1)
        nisa.activation_reduce(
            dst=weights, op=nl.exp, data=scores, bias=largest, reduce_op=nl.add, reduce_res=total
        )
        inverse = _tile(ROWS, 1)
        nisa.reciprocal(dst=inverse, data=total)
        scaled = _tile(ROWS, ROWS, nl.bfloat16)
        nisa.tensor_scalar(dst=scaled, data=weights, op0=nl.multiply, operand0=inverse)
        nisa.nc_matmul(
            dst=attended[:, head], stationary=_transposed(scaled), moving=values[:, head]
        )
    return attended


def blocks(instructions: int) -> Measured:
    """Blocks of RMSNorm, attention and a gated residual, 30 instructions each."""
    count = max(1, instructions // 30)

    @nki.jit
    def kernel(x: Any, k: Any, v: Any, out: Any) -> None:
        for i in nl.affine_range(count):
            row = i * ROWS
            tile = _load(x, row)
            normal = _normalised(tile)
            keys, values = _load(k, row, nl.bfloat16), _load(v, row, nl.bfloat16)
            attended = _attended(_transposed(normal), _transposed(keys), values)
            gate = _tile(ROWS, COLUMNS)
            nisa.activation(dst=gate, op=nl.silu, data=attended)
            result = _tile(ROWS, COLUMNS)
            nisa.scalar_tensor_tensor(
                dst=result, data=gate, op0=nl.multiply, operand0=0.5, op1=nl.add, operand1=tile
            )
            nisa.dma_copy(dst=out[row : row + ROWS, 0:COLUMNS], src=result)

    return Measured(kernel, ((count * ROWS, COLUMNS),) * 4)


# ------------------------------------------------------------------ the classic API


def masked(instructions: int) -> Measured:
    """Index expressions and masks in the classic API, 12 instructions per block.

    Every instruction has a mask, which masks rows in the last block only, as in kernels for any
    number of rows.
    """
    count = max(1, instructions // 12)
    rows = count * ROWS - CUT

    @classic.jit
    def kernel(x: Any) -> Any:
        out = classic_nl.ndarray(x.shape, dtype=x.dtype, buffer=classic_nl.shared_hbm)
        ip = classic_nl.arange(ROWS)[:, None]
        jf = classic_nl.arange(HEAD)[None, :]
        one = classic_nl.arange(1)[None, :]
        for i in classic_nl.affine_range(count):
            row = i * ROWS + ip
            inside = row < rows
            total = classic_nl.ndarray((ROWS, 2), dtype=classic_nl.float32, buffer=classic_nl.sbuf)
            tile = classic_nl.ndarray(
                (ROWS, COLUMNS), dtype=classic_nl.float32, buffer=classic_nl.sbuf
            )
            for j in classic_nl.affine_range(COLUMNS // HEAD):
                column = j * HEAD + jf
                tile[ip, column] = classic_nl.load(x[row, column], mask=inside)
                squares = classic_isa.activation(np.square, tile[ip, column], mask=inside)
                total[ip, j + one] = classic_isa.tensor_reduce(
                    np.add, squares, axis=[1], mask=inside
                )
            mean = classic_isa.tensor_reduce(np.add, total, axis=[1], keepdims=True, mask=inside)
            scale = classic_nl.rsqrt(mean, mask=inside)
            for j in classic_nl.affine_range(COLUMNS // HEAD):
                column = j * HEAD + jf
                scaled = classic_nl.multiply(tile[ip, column], scale, mask=inside)
                classic_nl.store(out[row, column], scaled, mask=inside)
        return out

    return Measured(kernel, ((rows, COLUMNS),))


# ------------------------------------------------------------------ loops on the device


def on_device(instructions: int) -> Measured:
    """Loops on the device with addresses known only at run time, 8 instructions in each."""
    count = max(1, instructions // 8)

    @nki.jit
    def kernel(x: Any, out: Any) -> None:
        for i in nl.affine_range(count):
            for j in nl.dynamic_range(2):
                columns = nl.ds(i * 2, 2)
                row = x.reshape((2, ROWS, x.shape[1]))[j]
                tile, squares = _tile(ROWS, 2), _tile(ROWS, 2)
                nisa.dma_copy(dst=tile, src=row[:, columns])
                total, scale, result = _tile(ROWS, 1), _tile(ROWS, 1), _tile(ROWS, 2)
                nisa.tensor_tensor(dst=squares, data1=tile, data2=tile, op=nl.multiply)
                nisa.tensor_reduce(dst=total, op=nl.add, data=squares, axis=1)
                nisa.activation(dst=scale, op=nl.sqrt, data=total)
                nisa.tensor_scalar(dst=result, data=tile, op0=nl.multiply, operand0=scale)
                nisa.tensor_scalar(dst=result, data=result, op0=nl.add, operand0=1.0)
                nisa.tensor_tensor(dst=squares, data1=squares, data2=result, op=nl.add)
                nisa.dma_copy(dst=out.reshape((2, ROWS, out.shape[1]))[j][:, columns], src=squares)

    return Measured(kernel, ((2 * ROWS, 2 * count),) * 2)


KERNELS: Sequence[Callable[[int], Measured]] = (reused, blocks, masked, on_device)
"""All kernels, in the order of the table."""
