"""The result of each family of rewrites, and that it computes the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.migrations import body_of, migrated, run_both

KERNEL = """
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
{body}
    return out
"""
ROWS, COLUMNS = 200, 96

FAMILIES = {
    "load, store and a destination": (
        """
    for i in nl.affine_range(2):  # halves
        t = nl.load(x[i * 100 : i * 100 + 100])
        # twice
        y = nisa.tensor_scalar(t, np.multiply, 2.0)
        nl.store(out[i * 100 : i * 100 + 100], y)
""",
        """
    for i in range(2):  # halves
        t = nl.ndarray((100, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[i * 100 : i * 100 + 100])
        # twice
        y = nl.ndarray(t.shape, dtype=t.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=y, data=t, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=out[i * 100 : i * 100 + 100], src=y)
""",
    ),
    "index expressions": (
        """
    i_p, i_f = nl.arange(100)[:, None], nl.arange(48)[None, :]
    for i in nl.sequential_range(2):
        row = i * 100 + i_p
        for j in nl.static_range(2):
            t = nl.load(x[row, 2 * i_f + j])
            nl.store(out[row, 2 * i_f + j], nl.exp(t))
""",
        """
    for i in range(2):
        row = i * 100
        for j in range(2):
            t = nl.ndarray((100, 48), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=t, src=x[row : row + 100, j : j + 95 : 2])
            stored = nl.exp(t)
            nisa.dma_copy(dst=out[row : row + 100, j : j + 95 : 2], src=stored)
""",
    ),
    "masks": (
        """
    rows, columns = x.shape
    i_p, i_f = nl.mgrid[0:128, 0:columns]
    for i in nl.affine_range(-(-rows // 128)):
        inside = (i * 128 + i_p < rows) & (i_f >= 2)
        t = nl.load(x[i * 128 + i_p, i_f], mask=inside)
        y = nl.add(t, 1.0, mask=inside)
        nl.store(out[i * 128 + i_p, i_f], y, mask=inside)
        nl.store(
            out[i * 128 + i_p, i_f],
            nl.load(x[i * 128 + i_p, i_f], mask=(i * 128 + i_p < rows) & (i_f < 2)),
            mask=(i * 128 + i_p < rows) & (i_f < 2),
        )
""",
        None,
    ),
    "operators and reductions": (
        """
    for i in nl.affine_range(2):
        t = nl.load(x[nl.ds(i * 100, 100), :])
        total = nl.sum(t * t, axis=[1])
        nl.store(out[nl.ds(i * 100, 100), :], t / total - 1.0)
""",
        """
    for i in range(2):
        t = nl.ndarray((100, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[i * 100 : i * 100 + 100])
        total = nl.sum(nl.multiply(t, t), axis=1)
        stored = nl.subtract(nl.divide(t, total), 1.0)
        nisa.dma_copy(dst=out[i * 100 : i * 100 + 100], src=stored)
""",
    ),
    "assignments to parts": (
        """
    i_p, i_f = nl.mgrid[0:100, 0:48]
    for i in nl.affine_range(2):
        t = nl.load(x[i * 100 + i_p, nl.arange(96)[None, :]])
        y = nl.ndarray((100, 96), dtype=x.dtype)
        y[i_p, i_f] = nisa.activation(np.exp, t[i_p, i_f])
        y[i_p, 48 + i_f] = t[i_p, i_f]
        y[i_p, 48 + i_f] += t[i_p, 48 + i_f]
        nl.store(out[i * 100 + i_p, nl.arange(96)[None, :]], y)
""",
        """
    for i in range(2):
        t = nl.ndarray((100, 96), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[i * 100 : i * 100 + 100, 0:96])
        y = nl.ndarray((100, 96), dtype=x.dtype)
        nisa.activation(dst=y[0:100, 0:48], op=nl.exp, data=t[0:100, 0:48])
        nisa.tensor_copy(dst=y[0:100, 48:96], src=t[0:100, 0:48])
        nisa.tensor_tensor(
            dst=y[0:100, 48:96], data1=y[0:100, 48:96], data2=t[0:100, 48:96], op=nl.add
        )
        nisa.dma_copy(dst=out[i * 100 : i * 100 + 100, 0:96], src=y)
""",
    ),
    "block dimensions": (
        """
    tiles = nl.ndarray((2, nl.par_dim(100), 96), dtype=x.dtype, buffer=nl.sbuf)
    i_p, i_f = nl.mgrid[0:100, 0:96]
    for i in nl.affine_range(2):
        tiles[i, i_p, i_f] = nl.load(x[i * 100 + i_p, i_f])
    for i in nl.affine_range(2):
        nl.store(out[i * 100 + i_p, i_f], tiles[1 - i, i_p, i_f])
""",
        """
    tiles = [nl.ndarray((100, 96), dtype=x.dtype, buffer=nl.sbuf) for _ in range(2)]
    for i in range(2):
        nisa.dma_copy(dst=tiles[i][0:100, 0:96], src=x[i * 100 : i * 100 + 100, 0:96])
    for i in range(2):
        nisa.dma_copy(
            dst=out[i * 100 : i * 100 + 100, 0:96], src=tiles[1 - i][0:100, 0:96]
        )
""",
    ),
    "a branch that nothing runs": (
        """
    for i in nl.affine_range(2):
        t = nl.load(x[i * 100 : i * 100 + 100])
        if x.shape[0] > 1000:
            t = nl.exp(t)
        nl.store(out[i * 100 : i * 100 + 100], t)
""",
        """
    for i in range(2):
        t = nl.ndarray((100, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=x[i * 100 : i * 100 + 100])
        if x.shape[0] > 1000:
            # t = nl.exp(t)
            assert False, "line 13 was not migrated: nothing has run it"
        nisa.dma_copy(dst=out[i * 100 : i * 100 + 100], src=t)
""",
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_family(family: str, tmp_path: Path) -> None:
    before, after = FAMILIES[family]
    migration = migrated(
        tmp_path, KERNEL.format(body=before.strip("\n")), x=f"{ROWS}x{COLUMNS}:float32"
    )
    (kernel,) = migration.report.kernels
    assert (kernel.how, kernel.why, kernel.unproven) == ("rewritten", "", []), kernel
    assert kernel.proven
    if after is not None:
        assert body_of(migration) == KERNEL.format(body=after.strip("\n")).strip("\n") + "\n"
    left = [line for line, _ in migration.report.left]
    assert left == ([13] if "nothing runs" in family else [])
    x = np.random.default_rng(5).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    run_both(tmp_path, migration, "kernel", x)


MATMUL = """
@nki.jit
def kernel(a, b):
    k, m = a.shape
    _, n = b.shape
    out = nl.ndarray((m, n), dtype=a.dtype, buffer=nl.shared_hbm)
    acc = nl.zeros((m, n), dtype=nl.float32, buffer=nl.psum)
    for i in nl.affine_range(k // 128):
        part = nl.ds(i * 128, 128)
        acc += nisa.nc_matmul(nl.load(a[part, :]), nl.load(b[part, :]))
    nl.store(out, nl.copy(acc, dtype=out.dtype))
    return out
"""


def test_matmuls_accumulate_in_their_place(tmp_path: Path) -> None:
    migration = migrated(tmp_path, MATMUL, a="256x64:bfloat16", b="256x96:bfloat16")
    (kernel,) = migration.report.kernels
    assert kernel.how == "rewritten"
    assert kernel.proven
    assert not kernel.unproven
    assert "nisa.nc_matmul(dst=acc, stationary=loaded, moving=loaded_1)" in migration.text
    assert "acc = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.psum)" in migration.text


GRID = """
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.program_id(0) * 100 + nl.arange(100)[:, None]
    i_f = nl.program_id(1) * 32 + nl.arange(32)[None, :]
    nl.store(out[i_p, i_f], nl.exp(nl.load(x[i_p, i_f])))
    return out


def host(x):
    return kernel[2, 3](x)
"""


def test_instances_of_a_grid_are_iterations(tmp_path: Path) -> None:
    migration = migrated(tmp_path, GRID, x="200x96:float32")
    (kernel,) = migration.report.kernels
    assert kernel.how == "rewritten"
    assert kernel.proven
    assert not kernel.unproven
    assert "def kernel(x, grid=(2, 3)):" in migration.text
    assert "        for program_1 in range(grid[1]):\n" in migration.text
    assert "return kernel(x, grid=(2, 3))" in migration.text
    x = np.random.default_rng(5).standard_normal((200, 96)).astype(np.float32)
    run_both(tmp_path, migration, "host", x)


WINDOWS = """
@nki.jit
def kernel(x):
    out = nl.ndarray((64, 9), dtype=x.dtype, buffer=nl.shared_hbm)
    i, j, k = nl.arange(64)[:, None, None], nl.arange(9)[None, :, None], nl.arange(4)[None, None, :]
    t = nl.load(x)
    nl.store(out, nisa.tensor_reduce(np.add, t[i, 2 * j + k], axis=[2]))
    return out
"""


def test_windows_are_access_patterns(tmp_path: Path) -> None:
    migration = migrated(tmp_path, WINDOWS, x="64x20:float32")
    (kernel,) = migration.report.kernels
    assert kernel.how == "rewritten"
    assert kernel.proven
    assert "t.ap(pattern=[[t.shape[1], 64], [2, 9], [1, 4]])" in migration.text
    x = np.random.default_rng(5).standard_normal((64, 20)).astype(np.float32)
    run_both(tmp_path, migration, "kernel", x)


SELECT = """
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.mgrid[0:64, 0:64]
    seen = j <= i + 3
    t = nl.load(x)
    nl.store(out, nisa.affine_select(seen, t, nl.fp32.min))
    return out
"""


def test_predicates_are_patterns(tmp_path: Path) -> None:
    migration = migrated(tmp_path, SELECT, x="64x64:float32")
    (kernel,) = migration.report.kernels
    assert kernel.how == "rewritten"
    assert kernel.proven
    x = np.random.default_rng(5).standard_normal((64, 64)).astype(np.float32)
    run_both(tmp_path, migration, "kernel", x)


TRIANGLE = """
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.mgrid[0:8, 0:8]
    t = nl.load(x[i, j], mask=j <= i)
    nl.store(out[i, j], t)
    return out
"""


def test_code_without_a_known_rewrite_is_exported(tmp_path: Path) -> None:
    migration = migrated(tmp_path, TRIANGLE, x="8x8:float32")
    (kernel,) = migration.report.kernels
    assert (kernel.how, kernel.why) == ("exported", "a mask that is no block of the tile")
    assert kernel.proven == ["x=8x8:float32"]
    assert "# It is for these arguments only: x=8x8:float32" in migration.text
    x = np.random.default_rng(5).standard_normal((8, 8)).astype(np.float32)
    run_both(tmp_path, migration, "kernel", x)
