"""Costs of instructions, against the formulas of the public API reference (up to 2.26).

If a measurement has replaced a formula, the test says which; `test_timing.py` has all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import nkijit as nki
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.reference.catalogue import explain_instruction


def cycles(body: Callable[[], Any], target: str = "trn3") -> dict[str, float]:
    @nki.jit(platform_target=target)
    def kernel() -> None:
        body()

    (core,) = kernel.trace().cycles()
    return core


def sbuf(columns: int, dtype: Any = nl.float32) -> Any:
    return nl.ndarray((128, columns), dtype=dtype, buffer=nl.sbuf)


def psum(columns: int) -> Any:
    return nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.psum)


ACCESS = 60
"""Cycles of a memory access (architecture guide), which no neighbour hides on trn2."""


@pytest.mark.parametrize(("columns", "expected"), [(1, 64), (64, 64), (65, 65), (512, 512)])
def test_an_activation_streams_its_elements(columns: int, expected: int) -> None:
    made = cycles(lambda: nisa.activation(sbuf(columns), nl.exp, sbuf(columns)))
    assert made == {"scalar": expected}


def test_reading_accumulators_out_is_an_instruction_of_its_own() -> None:
    def body() -> None:
        nisa.activation_reduce(sbuf(512), nl.exp, sbuf(512), nl.add, sbuf(1))

    assert cycles(body, "trn1") == {"scalar": 512 + 64}
    # 185 ns were measured on trn2, at 1.2 GHz.
    assert cycles(body, "trn2") == {"scalar": 512 + 222}


def test_two_inputs_from_one_memory_halve_the_rate_of_trn1() -> None:
    def same() -> None:
        nisa.tensor_tensor(sbuf(512), sbuf(512), sbuf(512), nl.add)

    def mixed() -> None:
        nisa.tensor_tensor(sbuf(512), psum(512), sbuf(512), nl.add)

    assert cycles(same, "trn1") == {"vector": 1024}
    assert cycles(mixed, "trn1") == {"vector": 512}
    # As was measured on trn2.
    assert cycles(same, "trn2") == cycles(mixed, "trn2") == {"vector": ACCESS + 512}


def test_a_matmul_loads_and_multiplies() -> None:
    def body(dtype: Any) -> Callable[[], Any]:
        return lambda: nisa.nc_matmul(psum(512), sbuf(128, dtype), sbuf(512, dtype))

    # The vendor's run: 522 cycles for a full matmul of bfloat16.
    assert cycles(body(nl.bfloat16)) == {"tensor": 32 + 522}
    # Measured on trn2: 4 cycles per column of either tile, and 24.
    assert cycles(body(nl.float32), "trn2") == {"tensor": 4 * 128 + 4 * 512 + 24}


@pytest.mark.parametrize(("target", "halved"), [("trn1", 2), ("trn2", 0), ("trn3", 2)])
def test_zeros_and_ones_halve_the_passes_of_float32_alone(target: str, halved: int) -> None:
    """API reference, nc_matmul: up to twice as fast in float32, no impact on other types.

    Busy times of KDA's mamba on trn2: 1.73 us for 512 columns, as without zeros and ones.
    """

    def multiplied(dtype: Any, **hints: bool) -> float:
        body = lambda: nisa.nc_matmul(psum(512), sbuf(128, dtype), sbuf(512, dtype), **hints)  # noqa: E731
        return cycles(body, target)["tensor"]

    for hint in ("is_stationary_onezero", "is_moving_onezero"):
        assert multiplied(nl.float32) - multiplied(nl.float32, **{hint: True}) == halved * 512
        assert multiplied(nl.bfloat16) == multiplied(nl.bfloat16, **{hint: True})


def test_topk_and_reciprocal_and_statistics() -> None:
    def topk() -> None:
        nisa.topk(sbuf(8, nl.bfloat16), sbuf(8, nl.uint32), sbuf(3, nl.bfloat16), 42)

    assert cycles(topk) == {"gpsimd": 4 * 42 + 8}

    def reciprocal() -> None:
        nisa.reciprocal(sbuf(512), sbuf(512))

    assert cycles(reciprocal, "trn1") == {"vector": 2 * 512}  # by whole kernels
    assert cycles(reciprocal, "trn2") == {"vector": ACCESS + 6 * 512}  # as was measured
    made = cycles(lambda: nisa.bn_aggr(sbuf(2), sbuf(60)))
    assert math.isclose(made["vector"], 13 * 60 / 3 + ACCESS, rel_tol=1e-6)


def test_dma_counts_bytes_and_a_loop_counts_once() -> None:
    def body() -> None:
        source = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)
        tile = sbuf(512)

        def copy(i: Any) -> None:
            nisa.dma_copy(tile, source)

        nl.fori_loop(0, 10, copy)

    assert cycles(body) == {"dma": 128 * 512 * 4}


def gathered() -> None:
    index, columns = sbuf(4, nl.uint16), 4 * 16
    nisa.local_gather(sbuf(columns), sbuf(64), index)


BF16 = nl.bfloat16
FORMULAS: dict[str, tuple[Callable[[], Any], float]] = {
    "tensor_copy": (lambda: nisa.tensor_copy(sbuf(512), sbuf(512)), 512),
    "tensor_copy, few": (lambda: nisa.tensor_copy(sbuf(8), sbuf(8)), 64),
    "tensor_scalar": (lambda: nisa.tensor_scalar(sbuf(512), sbuf(512), nl.add, 1.0), 512),
    "tensor_tensor, bf16": (
        lambda: nisa.tensor_tensor(sbuf(512, BF16), sbuf(512, BF16), sbuf(512, BF16), nl.add),
        512,
    ),
    "scalar_tensor_tensor": (
        lambda: nisa.scalar_tensor_tensor(
            sbuf(512), sbuf(512), nl.add, 1.0, nl.multiply, sbuf(512)
        ),
        2 * 512,
    ),
    "tensor_copy_predicated": (
        lambda: nisa.tensor_copy_predicated(sbuf(512), sbuf(512), sbuf(512, nl.uint8)),
        2 * 512,
    ),
    "tensor_tensor_scan": (
        lambda: nisa.tensor_tensor_scan(
            sbuf(512), sbuf(512), sbuf(512), 0.0, op0=nl.multiply, op1=nl.add
        ),
        2 * 512,
    ),
    "tensor_reduce": (lambda: nisa.tensor_reduce(sbuf(1), nl.add, sbuf(512), 1), 512),
    "bn_stats": (lambda: nisa.bn_stats(sbuf(6), sbuf(512)), 512),
    "memset": (lambda: nisa.memset(sbuf(512), 0), 512),
    "memset, bf16": (lambda: nisa.memset(sbuf(512, BF16), 0), 256),
    "memset, bf16, not 0": (lambda: nisa.memset(sbuf(512, BF16), 1), 512),
    "max8": (lambda: nisa.max8(sbuf(8), sbuf(512)), 512),
    "iota": (lambda: nisa.iota(sbuf(512, nl.int32), [[1, 512]], 0), 150 + 512),
    # 28 cycles for each of 64 indices, and 4 for its element, in steps of 4 bytes.
    "local_gather": (gathered, 150 + 64 * (28 + 4) / 4),
    # A fourth of the rate of the Scalar Engine.
    "rsqrt": (lambda: nisa.tensor_scalar(sbuf(512), sbuf(512), nl.rsqrt, None), 4 * 512),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formulas_of_the_api_reference_on_trn1(name: str) -> None:
    body, expected = FORMULAS[name]
    (made,) = cycles(body, "trn1").values()
    assert made == pytest.approx(expected)


@pytest.mark.parametrize("op", [*INSTRUCTIONS, *COLLECTIVES], ids=lambda op: op.name)
def test_every_instruction_explains_itself(op: Any) -> None:
    text = explain_instruction(op.name)
    for stage in op.SPEC.stages:
        assert stage.cost.text in " ".join(text.split())
        assert stage.mnemonic in text


def test_an_unknown_instruction_is_reported() -> None:
    with pytest.raises(KeyError, match=r"nisa\.nothing"):
        explain_instruction("nisa.nothing")
