"""One partition brought to many: by matmuls with ones, or through HBM."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.language import TARGETS, run

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

TYPES = {
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3": ml_dtypes.float8_e4m3,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}
SPECIAL = [0.0, 1.0, -1.0, 3.14159274, np.inf, -np.inf, np.nan, 1e-3, -7e-5]


def every_kind(dtype: Any, count: int) -> np.ndarray[Any, Any]:
    """A row with numbers of all sizes, the smallest and the largest among them; no -0.0."""
    info = ml_dtypes.finfo(dtype)
    ends = [info.smallest_subnormal, -info.smallest_subnormal, info.tiny, info.max, info.min]
    row = np.random.default_rng(0).standard_normal(count).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        row[: len(SPECIAL)] = SPECIAL
        row[len(SPECIAL) : len(SPECIAL) + len(ends)] = np.array(ends, np.float32)
        made = row.astype(dtype)
    made[made == 0] = 0
    return made[None]


def bits(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    return array.view(f"u{array.itemsize}")


def same_bits(actual: Any, row: Any, partitions: int) -> None:
    """Each partition has the row's bits; NaN is NaN, of whichever bits."""
    assert actual.shape == (partitions, *row.shape[1:])
    wide = np.broadcast_to(row, actual.shape)
    nan = np.isnan(wide.astype(np.float32))
    assert np.array_equal(np.isnan(actual.astype(np.float32)), nan)
    assert np.array_equal(bits(actual)[~nan], bits(wide)[~nan])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [14, 512, 513, 1300])
@pytest.mark.parametrize("name", TYPES)
def test_all_numbers_arrive_as_they_are(name: str, columns: int, target: str) -> None:
    row = every_kind(TYPES[name], columns)
    for partitions in (2, 128):
        actual = run(lambda a, p=partitions: nl.broadcast_to(a, (p, columns)), row, target=target)
        same_bits(actual, row, partitions)


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_negative_zero_is_a_sum_of_products(name: str) -> None:
    """It is zero, of one sign or the other; through HBM the sign would stay."""
    row = np.array([[-0.0, 2.0]], TYPES[name])
    actual = run(lambda a: nl.broadcast_to(a, (128, 2)), row)
    assert (actual[:, 0] == 0).all()
    assert (actual[:, 1] == 2).all()


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int16, np.uint32])
def test_integers_keep_every_bit(dtype: Any) -> None:
    info = np.iinfo(dtype)
    row = np.array([[info.min, info.max, 0, 1, info.max - 1, 2**7 - 1]], dtype)
    assert np.array_equal(
        run(lambda a: nl.broadcast_to(a, (128, 6)), row), np.broadcast_to(row, (128, 6))
    )


def instructions(body: Any, *inputs: Any, target: str = "trn2") -> str:
    """The instructions of a kernel, in order."""

    def kernel(*tensors):
        body(*tensors)

    traced = nki.jit(kernel, platform_target=target).trace(*inputs)
    assert not traced.diagnostics.errors, traced.diagnostics
    lines = traced.text().splitlines()
    return " ".join(line.split()[0].removeprefix("nisa.") for line in lines if " nisa." in line)


def tile(shape: tuple[int, ...], dtype: Any = nl.float32, buffer: Any = nl.sbuf) -> Any:
    made = nl.ndarray(shape, dtype, buffer=buffer)
    nisa.memset(made, 1.0)
    return made


BY_MATMUL = "memset memset nc_matmul tensor_copy"
THROUGH_HBM = "memset dma_copy dma_copy"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (lambda: nl.broadcast_to(tile((1, 8)), (128, 8)), BY_MATMUL),
        (lambda: nl.broadcast_to(tile((1, 8)), (128, 8), dtype=nl.bfloat16), BY_MATMUL),
        (lambda: nl.broadcast_to(tile((1, 600)), (4, 600)), f"{BY_MATMUL} nc_matmul tensor_copy"),
        (lambda: nl.broadcast_to(tile((64, 8))[32:33], (128, 8)), BY_MATMUL),
        # Partitions at which matmuls cannot start, and dtypes that they cannot multiply.
        (lambda: nl.broadcast_to(tile((64, 8))[33:34], (128, 8)), THROUGH_HBM),
        (lambda: nl.broadcast_to(tile((1, 8), nl.int32), (128, 8)), THROUGH_HBM),
        (lambda: nl.broadcast_to(tile((1, 8), nl.float8_e4m3fn), (128, 8)), THROUGH_HBM),
        # Out of PSUM, and with free dimensions that do not lie side by side, after a copy.
        (
            lambda: nl.broadcast_to(tile((1, 8), buffer=nl.psum), (128, 8)),
            "memset tensor_copy memset nc_matmul tensor_copy",
        ),
        (lambda: nl.broadcast_to(tile((1, 4, 8)), (128, 4, 8)), BY_MATMUL),
        (
            lambda: nl.broadcast_to(tile((1, 4, 8)).permute((0, 2, 1)), (128, 8, 4)),
            "memset memset tensor_copy nc_matmul tensor_copy",
        ),
        (lambda: nl.multiply(tile((128, 8)), tile((1, 8))), f"memset {BY_MATMUL} tensor_tensor"),
    ],
)
def test_how_a_row_is_broadcast(body: Any, expected: str) -> None:
    assert instructions(body) == expected


def test_float8_of_neuroncore_v4_is_multiplied_there() -> None:
    def body():
        nl.broadcast_to(tile((1, 8), nl.float8_e4m3fn), (128, 8))

    assert instructions(body, target="trn3") == BY_MATMUL
    assert instructions(body, target="trn1") == THROUGH_HBM


def test_other_orders_of_free_dimensions() -> None:
    x = every_kind(np.float32, 24).reshape(1, 4, 6)
    turned = run(lambda a: nl.broadcast_to(a.permute((0, 2, 1)), (3, 6, 4)), x)
    same_bits(turned, x.transpose(0, 2, 1), 3)
    apart = run(lambda a: nl.broadcast_to(a[:, :, 0:6:2], (3, 4, 3)), x)
    same_bits(apart, x[:, :, 0:6:2], 3)
    column = run(lambda a: nl.broadcast_to(a[:, 1:2, 0:6:3], (3, 5, 2)), x)
    same_bits(column, np.broadcast_to(x[:, 1:2, 0:6:3], (1, 5, 2)), 3)


def test_in_a_loop_on_the_device_products_do_not_add_up() -> None:
    @nki.jit
    def kernel(x):
        out = nl.ndarray((4, 128, 8), x.dtype, buffer=nl.shared_hbm)
        row = nl.ndarray((1, 8), x.dtype, buffer=nl.sbuf)
        for i in nl.dynamic_range(4):
            nisa.dma_copy(row, x[i])
            nisa.dma_copy(out[i], nl.broadcast_to(row, (128, 8)))
        return out

    x = np.arange(32, dtype=np.float32).reshape(4, 1, 8)
    assert np.array_equal(kernel(x), np.broadcast_to(x, (4, 128, 8)))


def test_a_row_that_is_known_at_run_time_only() -> None:
    @nki.jit
    def kernel(x):
        out = nl.ndarray((4, 128, 8), x.dtype, buffer=nl.shared_hbm)
        rows = nl.ndarray((1, 4, 8), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(rows, x)
        for i in nl.dynamic_range(4):
            nisa.dma_copy(out[i], nl.broadcast_to(rows[:, i, :], (128, 8)))
        return out

    x = np.arange(32, dtype=np.float32).reshape(1, 4, 8)
    assert np.array_equal(kernel(x), np.broadcast_to(x[0][:, None], (4, 128, 8)))
