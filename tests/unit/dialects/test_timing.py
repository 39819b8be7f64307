"""Durations of instructions, against published measurements on hardware.

The expected numbers are copied from the publications, never from the data files: isolated probes of
one trn2 core (Voyager fork, neuronx-cc 2.22), profiles in the NKI performance guide (trn1), the
kernel optimization tutorial and the page on the design of rmsnorm-quant (trn2), and the vendor's
figure for a stream of matmuls. All laws hold within 10 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from support.paths import LIT

import nkijit as nki
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.dialects.costs.engines import table_of
from nkijit.dialects.declare.cost import Duration, transfer_of
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.hardware.targets import TARGETS, target_named
from nkijit.dialects.hardware.words import nc_version
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS, OF_SCALARS
from nkijit.dialects.nisa.work import flops_of, peak_flops
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.ir.text import parse

MEASURED = pytest.approx
TOLERANCE = 0.1
DIALECTS = LIT / "dialects"


def traced(body: Callable[[], Any], target: str = "trn2") -> NisaOp:
    """The last instruction that a body traces to."""

    @nki.jit(platform_target=target)
    def kernel() -> None:
        body()

    (first, *_) = kernels_of(kernel.trace().module)
    return [op for op in first.operations if isinstance(op, NisaOp)][-1]


def times(body: Callable[[], Any], target: str = "trn2") -> list[Duration]:
    """Return the times of an instruction's engine instructions."""
    op = traced(body, target)
    return [stage.cost.time(op, target_named(target)) for stage in op.given_stages()]


def sbuf(columns: int, dtype: Any = nl.float32, rows: int = 128) -> Any:
    return nl.ndarray((rows, columns), dtype=dtype, buffer=nl.sbuf)


def psum(columns: int, dtype: Any = nl.float32, rows: int = 128) -> Any:
    return nl.ndarray((rows, columns), dtype=dtype, buffer=nl.psum)


def hbm(*shape: int, dtype: Any = nl.float32) -> Any:
    return nl.ndarray(shape, dtype=dtype, buffer=nl.hbm)


def near(value: float) -> Any:
    return pytest.approx(value, rel=TOLERANCE)


F32, BF16, FP16, I32, U8 = nl.float32, nl.bfloat16, nl.float16, nl.int32, nl.uint8
Law = tuple[Callable[[int], Any], float, float]


def copy(source: Any, target: Any, engine: Any = nisa.engine.vector) -> Callable[[int], Any]:
    return lambda n: nisa.tensor_copy(target(n), source(n), engine=engine)


def in_sbuf(dtype: Any) -> Callable[[int], Any]:
    return lambda n: sbuf(n, dtype)


def in_psum(dtype: Any) -> Callable[[int], Any]:
    return lambda n: psum(n, dtype)


def activation(word: Any, source: Any, **columns: bool) -> Callable[[int], Any]:
    def body(n: int) -> None:
        given = {name: sbuf(1) for name in columns}
        nisa.activation(sbuf(n, BF16), word, source(n), **given)

    return body


def reduced(word: Any, source: Any) -> Callable[[int], Any]:
    return lambda n: nisa.tensor_reduce(sbuf(1), word, source(n), axis=1)


def scan(seed: Callable[[], Any]) -> Callable[[int], Any]:
    return lambda n: nisa.tensor_tensor_scan(
        sbuf(n), sbuf(n), sbuf(n), seed(), op0=nl.multiply, op1=nl.add
    )


def added(one: Any, two: Any, result: Any) -> Callable[[int], Any]:
    return lambda n: nisa.tensor_tensor(result(n), one(n), two(n), nl.add)


def memset(source: Any, value: float = 1) -> Callable[[int], Any]:
    return lambda n: nisa.memset(source(n), value, engine=nisa.engine.vector)


def shuffle(dtype: Any) -> Callable[[int], Any]:
    return lambda n: nisa.nc_stream_shuffle(sbuf(n, dtype), sbuf(n, dtype), list(range(32)))


def selected(n: int) -> None:
    nisa.affine_select(sbuf(n), [[1, n]], 0, sbuf(n), 0.0, nl.greater)


SCALAR = nisa.engine.scalar

TRN2_LAWS: dict[str, Law] = {
    # Vector Engine: startup in ns, ns per element.
    "copy fp32": (copy(in_sbuf(F32), in_sbuf(F32)), 157, 0.52),
    "copy fp32 to bf16": (copy(in_sbuf(F32), in_sbuf(BF16)), 157, 0.52),
    "copy fp32 to int32": (copy(in_sbuf(F32), in_sbuf(I32)), 157, 0.52),
    "copy bf16": (copy(in_sbuf(BF16), in_sbuf(BF16)), 156, 0.27),
    "copy bf16 to fp32": (copy(in_sbuf(BF16), in_sbuf(F32)), 153, 0.80),
    "copy psum fp32": (copy(in_psum(F32), in_sbuf(F32)), 158, 1.04),
    "copy psum fp32 to bf16": (copy(in_psum(F32), in_sbuf(BF16)), 158, 1.04),
    "tensor_scalar fp32": (lambda n: nisa.tensor_scalar(sbuf(n), sbuf(n), nl.add, 1.0), 160, 0.52),
    "tensor_tensor fp32": (added(in_sbuf(F32), in_sbuf(F32), in_sbuf(F32)), 159, 1.04),
    "tensor_tensor bf16": (added(in_sbuf(BF16), in_sbuf(BF16), in_sbuf(BF16)), 161, 0.52),
    "tensor_tensor psum": (added(in_psum(F32), in_sbuf(BF16), in_sbuf(BF16)), 149, 1.04),
    "reduce fp32 add": (reduced(nl.add, in_sbuf(F32)), 150, 1.04),
    "reduce bf16 add": (reduced(nl.add, in_sbuf(BF16)), 150, 1.04),
    "reduce bf16 max": (reduced(nl.maximum, in_sbuf(BF16)), 150, 1.04),
    "reduce psum min": (reduced(nl.minimum, in_psum(F32)), 150, 1.04),
    "scan": (scan(lambda: 0.0), 158, 2.08),
    "scan with a seed": (scan(lambda: sbuf(1)), 158 + 60, 2.08),
    "reciprocal": (lambda n: nisa.reciprocal(sbuf(n), sbuf(n)), 153, 6.25),
    "memset fp32": (memset(in_sbuf(F32)), 58, 0.83),
    "memset bf16": (memset(in_sbuf(BF16)), 58, 0.83),
    "memset bf16 to 0": (memset(in_sbuf(BF16), 0), 58, 0.83),
    "memset int32": (memset(in_sbuf(I32)), 58, 0.83),
    "memset psum": (memset(in_psum(F32)), 58, 0.83),
    "shuffle bf16": (shuffle(BF16), 143 + 13, 1.05),
    "shuffle uint8": (shuffle(U8), 143 + 13, 1.05),
    "predicated": (
        lambda n: nisa.tensor_copy_predicated(sbuf(n), 1.0, sbuf(n, nl.uint32)),
        156,
        1.11,
    ),
    # Scalar Engine.
    "scalar copy fp32": (copy(in_sbuf(F32), in_sbuf(F32), SCALAR), 191, 0.833),
    "scalar copy bf16": (copy(in_sbuf(BF16), in_sbuf(BF16), SCALAR), 191, 0.833),
    "scalar copy bf16 to fp32": (copy(in_sbuf(BF16), in_sbuf(F32), SCALAR), 191, 0.833),
    "scalar copy psum": (copy(in_psum(F32), in_sbuf(F32), SCALAR), 167, 0.855),
    "activation copy": (activation(nl.copy, in_sbuf(F32)), 202, 0.834),
    "activation copy, scale": (activation(nl.copy, in_sbuf(F32), scale=True), 202 + 91, 0.834),
    "activation copy, scale and bias": (
        activation(nl.copy, in_sbuf(F32), scale=True, bias=True),
        202 + 2 * 91,
        0.834,
    ),
    **{
        f"activation {word.__name__ if hasattr(word, '__name__') else word}": (
            activation(word, in_sbuf(BF16)),
            286,
            0.845,
        )
        for word in (nl.exp, nl.log, nl.sqrt, nl.rsqrt, nl.square, nl.sigmoid)
    },
    # A profile in the DMA overview.
    "activation exp, second source": (activation(nl.exp, in_sbuf(BF16)), 290, 0.833),
    "exp psum": (activation(nl.exp, in_psum(F32)), 251, 0.97),
    "silu psum": (activation(nl.silu, in_psum(F32)), 260, 1.33),
    # GpSimd Engine.
    "affine_select": (selected, 177, 0.846),
}


@pytest.mark.parametrize("n", [64, 128, 512, 1024, 2048])
@pytest.mark.parametrize("name", TRN2_LAWS)
def test_the_latencies_measured_on_trn2(name: str, n: int) -> None:
    body, startup, slope = TRN2_LAWS[name]
    (time, *_) = times(lambda: body(n))
    assert time.latency == near(startup + slope * n)
    # Independent neighbours overlap all but their elements, 64 cycles or N at the rate, and 60
    # cycles of a memory access on the Vector Engine (architecture guide). The GpSimd Engine has
    # 150 cycles before (API reference 2.26), and a mask is loaded in 13 ns.
    access = 60 / 0.96
    least = {"affine_select": 150 / 1.2 + slope * n, "shuffle": 13 + access + slope * n}
    on_scalar = name.startswith(("scalar", "exp", "activation"))
    streamed = max(64 / 1.2, slope * n) if on_scalar else max(64 / 0.96, access + slope * n)
    expected = least.get(name.partition(" ")[0], streamed)
    if not name.startswith("silu"):
        assert time.issue == near(expected)


@pytest.mark.parametrize(
    ("body", "target", "issue", "latency"),
    [
        # Design of rmsnorm-quant: one reading each.
        (
            lambda: nisa.activation_reduce(sbuf(16384), nl.square, sbuf(16384), nl.add, sbuf(1)),
            "trn2",
            None,
            13_950,
        ),
        (
            lambda: nisa.scalar_tensor_tensor(
                sbuf(512), psum(512), nl.multiply, sbuf(1), nl.multiply, sbuf(512)
            ),
            "trn2",
            662,
            756,
        ),
        (lambda: nisa.tensor_reduce(sbuf(1), nl.maximum, sbuf(16384), 1), "trn2", None, 17_240),
        (
            lambda: nisa.tensor_scalar(
                sbuf(16384, nl.float8_e4m3), sbuf(16384, BF16), nl.multiply, 2.0
            ),
            "trn2",
            None,
            8_780,
        ),
        # Performance guide: at 128 and at 64 partitions.
        (
            lambda: nisa.tensor_tensor(sbuf(8192), sbuf(8192), sbuf(8192), nl.add),
            "trn1",
            None,
            14_970,
        ),
        (
            lambda: nisa.tensor_tensor(
                sbuf(8192, F32, 64), sbuf(8192, F32, 64), sbuf(8192, F32, 64), nl.add
            ),
            "trn1",
            None,
            14_970,
        ),
        # A dependent ACTIVATE of one element.
        (lambda: nisa.activation(sbuf(1), nl.exp, sbuf(1)), "trn1", None, 159),
        # Probes: 32x32 of float32 within a quadrant.
        (
            lambda: nisa.nc_transpose(sbuf(32, F32, 32), sbuf(32, F32, 32), nisa.engine.vector),
            "trn2",
            93,
            233,
        ),
        # Probes: float32, in a stream.
        (lambda: nisa.nc_transpose(psum(128), sbuf(128)), "trn2", 168, 377),
        # Profiles: 32 bits into a register.
        (lambda: nisa.register_move(nisa.register_alloc(0), 5), "trn2", 69, 69),
        (lambda: nisa.register_move(nisa.register_alloc(0), 5), "trn3", 69, 69),
    ],
)
def test_single_measurements(
    body: Callable[[], Any], target: str, issue: float | None, latency: float
) -> None:
    (time, *_) = times(body, target)
    assert time.latency == near(latency)
    assert issue is None or time.issue == near(issue)


@pytest.mark.parametrize("rows", [1, 64, 128])
def test_few_partitions_are_no_faster(rows: int) -> None:
    """Megakernel profiles: about 685 ns of the Vector Engine for [1, 512] and for [128, 512]."""
    (time,) = times(lambda: nisa.tensor_reduce(sbuf(1, rows=rows), nl.add, sbuf(512, rows=rows), 1))
    assert time.latency == near(685)


def test_reading_the_accumulators_of_the_scalar_engine() -> None:
    def body() -> None:
        nisa.activation_reduce(sbuf(512), nl.exp, sbuf(512), nl.add, sbuf(1))

    activated, read = times(body)
    assert activated.latency == near(295 + 0.833 * 512)
    assert (read.issue, read.latency) == (near(185), near(279))


@pytest.mark.parametrize("n", [64, 512, 4096])
@pytest.mark.parametrize(
    ("step", "factor"), [(1, 1), (2, 1), (3, 1.5), (4, 2), (8, 2), (16, 2), (24, 3), (32, 3)]
)
def test_the_scalar_engine_reads_sectors_of_16_bytes(n: int, step: int, factor: float) -> None:
    def body() -> None:
        nisa.tensor_copy(sbuf(n), sbuf(n * step)[:, ::step], engine=SCALAR)

    (time,) = times(body)
    assert time.issue == near(factor * n / 1.2)


@pytest.mark.parametrize(("step", "factor"), [(1, 1), (4, 1), (5, 2), (16, 2)])
def test_steps_of_more_than_16_bytes_halve_the_rate_of_trn1(step: int, factor: float) -> None:
    def body() -> None:
        nisa.tensor_copy(sbuf(512), sbuf(512 * step)[:, ::step])

    (time,) = times(body, "trn1")
    assert time.issue == near(factor * 512 / 1.12)


def test_an_address_known_at_run_time_takes_600_cycles() -> None:
    def body() -> None:
        index = nisa.register_alloc(0)
        nisa.tensor_copy(
            sbuf(4), sbuf(64).ap([[64, 128], [1, 4]], scalar_offset=index, indirect_dim=1)
        )

    (time,) = times(body, "trn1")
    assert time.issue == near(600 / 1.12)


# ------------------------------------------------------------------ Tensor Engine


def matmul(k: int, m: int, n: int, dtype: Any = BF16) -> Callable[[], Any]:
    return lambda: nisa.nc_matmul(psum(n, rows=m), sbuf(m, dtype, k), sbuf(n, dtype, k))


def test_a_stream_of_matmuls_runs_at_98_percent() -> None:
    load, multiply = times(matmul(128, 128, 512))
    assert multiply.issue == pytest.approx(522 / 2.4, rel=0.01)
    assert load.issue == pytest.approx(32 / 2.4)  # "up to four times faster" than 128 cycles
    # Neither few rows nor few columns of the result make it faster.
    assert times(matmul(32, 1, 512))[1].issue == multiply.issue


@pytest.mark.parametrize("n", [128, 256, 384, 512])
def test_the_latency_of_a_bf16_matmul_on_its_own(n: int) -> None:
    load, multiply = times(matmul(128, 128, n))
    assert load.latency + multiply.latency == near(203 + 1.99 * n / 2.4)


def test_a_matmul_of_one_column_on_trn3() -> None:
    load, multiply = times(matmul(128, 128, 1), "trn3")
    assert (load.latency, multiply.latency) == (near(93), near(162))


@pytest.mark.parametrize(("m", "n", "latency"), [(96, 128, 219), (1, 128, 219), (128, 1, 188)])
def test_the_latency_of_a_multiplication_on_trn1(m: int, n: int, latency: float) -> None:
    load, multiply = times(matmul(128, m, n), "trn1")
    assert (load.latency, multiply.latency) == (near(67), near(latency))


@pytest.mark.parametrize("n", [128, 256, 384, 512])
def test_a_float32_matmul_on_trn2(n: int) -> None:
    load, multiply = times(matmul(128, 128, n, F32))
    assert max(load.issue, multiply.issue) == near((4 * n + 24) / 2.4)
    assert multiply.latency == near((432 + 4 * max(n, 128) + 0.5 * 4 * n) / 2.4)
    assert load.latency + multiply.latency == near(381 + 2 * 4 * n / 2.4)


@pytest.mark.parametrize("n", [128, 256, 512])
@pytest.mark.parametrize("step", [1, 2, 4, 16])
@pytest.mark.parametrize("strided", ["stationary", "moving"])
def test_a_strided_operand_of_a_float32_matmul(strided: str, step: int, n: int) -> None:
    def body() -> None:
        m_step, n_step = (step, 1) if strided == "stationary" else (1, step)
        nisa.nc_matmul(psum(n), sbuf(128 * m_step)[:, ::m_step], sbuf(n * n_step)[:, ::n_step])

    load, multiply = times(body)
    doubled = 2 if step >= 4 else 1
    feeds = (4 * 128 * doubled, 4 * n) if strided == "stationary" else (4 * 128, 4 * n * doubled)
    assert max(load.issue, multiply.issue) == near((max(feeds) + 24) / 2.4)


def test_packed_rows_take_the_same_time() -> None:
    def double_row() -> None:
        fp8 = nl.float8_e4m3
        stationary = nl.ndarray((128, 2, 128), dtype=fp8, buffer=nl.sbuf)
        moving = nl.ndarray((128, 2, 512), dtype=fp8, buffer=nl.sbuf)
        nisa.nc_matmul(psum(512), stationary, moving, perf_mode=nisa.matmul_perf_mode.double_row)

    assert times(double_row) == times(matmul(128, 128, 512))
    target = target_named("trn2")
    assert flops_of(traced(double_row)) == 2 * 256 * 128 * 512
    assert peak_flops(traced(double_row), target) == near(158_000)
    assert flops_of(traced(matmul(128, 128, 512))) == 2 * 128 * 128 * 512
    assert flops_of(traced(matmul(64, 32, 512))) == 2 * 64 * 32 * 512


# ------------------------------------------------------------------ peaks and work


@pytest.mark.parametrize(
    ("target", "dtype", "tflops"),
    [
        ("trn1", "bfloat16", 92),
        ("trn1", "float32", 23),
        ("trn1", "float8_e4m3", 92),
        ("trn2", "float16", 79),
        ("trn2", "float32", 20),
        ("trn2", "float8_e5m2", 158),
        ("trn3", "tfloat32", 79),
        ("trn3", "float32", 20),
        ("trn3", "float8_e4m3fn_x4", 315),
        ("trn3", "float4_e2m1fn_x4", 315),
    ],
)
def test_the_documented_peaks_of_the_tensor_engine(target: str, dtype: str, tflops: float) -> None:
    """In TFLOPS, as the architecture guides print them."""
    assert peak_flops(DTYPES[dtype], target_named(target)) / 1000 == pytest.approx(tflops, abs=1)


def test_the_peak_of_an_instruction_is_that_of_its_mode() -> None:
    target = target_named("trn2")
    assert peak_flops(traced(matmul(128, 128, 512, F32)), target) == near(20_000)
    assert peak_flops(traced(lambda: nisa.tensor_copy(sbuf(8), sbuf(8))), target) == near(245.76)
    assert peak_flops(traced(lambda: nisa.dma_copy(sbuf(8), hbm(128, 8))), target) == 0


def test_moving_data_is_no_work() -> None:
    assert flops_of(traced(lambda: nisa.dma_copy(sbuf(8), hbm(128, 8)))) == 0
    assert flops_of(traced(lambda: nisa.nc_transpose(psum(128), sbuf(128)))) == 0
    assert flops_of(traced(lambda: nisa.register_move(nisa.register_alloc(0), 5))) == 0
    assert flops_of(traced(lambda: nisa.tensor_reduce(sbuf(1), nl.add, sbuf(512), 1))) == 128 * 512


def test_the_tables_of_activation_functions() -> None:
    """Published profiles: copy, square and rsqrt share one; exp and silu have their own."""

    def table(word: Any) -> str | None:
        return table_of(traced(lambda: nisa.activation(sbuf(8), word, sbuf(8))))

    assert table(nl.copy) == table(nl.square) == table(nl.rsqrt) is not None
    assert len({table(word) for word in (nl.copy, nl.exp, nl.silu, nl.sigmoid)}) == 4
    assert table_of(traced(lambda: nisa.tensor_copy(sbuf(8), sbuf(8), engine=SCALAR))) is None
    square = traced(lambda: nisa.tensor_scalar(sbuf(8), sbuf(8), nl.rsqrt, None))
    assert table_of(square) is None
    on_gpsimd = traced(lambda: nisa.activation(sbuf(8), nl.exp, sbuf(8), engine=nisa.engine.gpsimd))
    assert table_of(on_gpsimd) is None


# ------------------------------------------------------------------ every instruction


def instructions() -> dict[str, list[NisaOp]]:
    """The instructions of the tests of the dialects, by name."""
    found: dict[str, list[NisaOp]] = {}
    for path in sorted(DIALECTS.glob("**/ops.mlir")):
        for kernel in kernels_of(parse(path.read_text(), str(path))):
            for op in kernel.operations:
                if isinstance(op, NisaOp):
                    found.setdefault(op.name, []).append(op)
    return found


@pytest.mark.parametrize("version", list(TARGETS))
def test_every_instruction_takes_a_time(version: nc_version) -> None:
    target, found = TARGETS[version], instructions()
    assert set(found) == {op.name for op in (*INSTRUCTIONS, *OF_SCALARS, *COLLECTIVES)}
    for op in (op for ops in found.values() for op in ops):
        assert op.cycles(target) > 0, op
        assert flops_of(op) >= 0
        assert peak_flops(op, target) >= 0
        for stage in op.given_stages():
            issue, latency = stage.cost.time(op, target)
            assert 0 < issue <= latency < math.inf, op
        if op.SPEC.stages[0].cost.transfer is None:
            with pytest.raises(TypeError, match="moves nothing by DMA"):
                transfer_of(op, target)
            continue
        made = transfer_of(op, target)
        numbers = (made.bytes, made.descriptors, made.descriptor_bytes, made.engine_ns)
        assert all(0 < number < math.inf for number in (*numbers, made.payload_ns)), op
        assert made.descriptors * made.descriptor_bytes >= made.bytes
        assert made.mode is not nisa.dge_mode.unknown
        assert made.trigger in (nisa.engine.sync, nisa.engine.scalar, nisa.engine.gpsimd)
