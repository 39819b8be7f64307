"""Durations of DMA transfers, against published measurements on hardware (trn2).

The expected numbers are copied from the publications: isolated probes of one trn2 core (Voyager
fork, neuronx-cc 2.22), megakernel profiles, the chart and the profiles of the DMA overview, and the
DGE reference. They hold within 10 %.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import nkijit as nki
from nkijit import collectives as ncc
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.dialects.declare.cost import Transfer, transfer_of
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.targets import Target, target_named, without_dge
from nkijit.dialects.nki.kernel import kernels_of

SYNC, SCALAR, GPSIMD = nisa.engine.sync, nisa.engine.scalar, nisa.engine.gpsimd
NONE, SWDGE, HWDGE = nisa.dge_mode.none, nisa.dge_mode.swdge, nisa.dge_mode.hwdge


def transfer(body: Callable[[], Any], target: str | Target = "trn2", cores: int = 1) -> Transfer:
    """Return the DMA transfer of the last instruction of a body."""
    if isinstance(target, str):
        target = target_named(target)

    @nki.jit(platform_target=target.platform)
    def kernel() -> None:
        body()

    launched: Any = kernel if cores == 1 else kernel[cores]
    (first, *_) = kernels_of(launched.trace().module)
    op = [op for op in first.operations if isinstance(op, NisaOp)][-1]
    return transfer_of(op, target)


def sbuf(columns: int, dtype: Any = nl.uint8, rows: int = 128) -> Any:
    return nl.ndarray((rows, columns), dtype=dtype, buffer=nl.sbuf)


def hbm(*shape: int, dtype: Any = nl.uint8) -> Any:
    return nl.ndarray(shape, dtype=dtype, buffer=nl.hbm)


def load(columns: int, rows: int = 128, **options: Any) -> Callable[[], Any]:
    return lambda: nisa.dma_copy(sbuf(columns, rows=rows), hbm(rows, columns), **options)


def store(columns: int, rows: int = 128, **options: Any) -> Callable[[], Any]:
    return lambda: nisa.dma_copy(hbm(rows, columns), sbuf(columns, rows=rows), **options)


def near(value: float) -> Any:
    return pytest.approx(value, rel=0.1)


@pytest.mark.parametrize("row", [256, 512, 1024, 2048, 4096, 8192, 16384])
def test_the_law_of_isolated_transfers(row: int) -> None:
    """Probes, tiles of 128 partitions."""
    size = 128 * row
    loaded, stored = transfer(load(row)), transfer(store(row))
    assert loaded.payload_ns == near(293 + 1.305 * size / 368)
    assert stored.payload_ns == near(162 + 0.963 * size / 368)
    assert (loaded.trigger_ns, stored.trigger_ns) == (near(599), near(609))
    assert (loaded.dispatch_ns, stored.dispatch_ns) == (near(751), near(566))
    assert (loaded.notify_ns, stored.notify_ns) == (near(315), near(355))
    assert (loaded.descriptors, loaded.descriptor_bytes, loaded.engines) == (128, row, 16)


CHART = {
    32: 1.3,
    64: 2.6,
    128: 5,
    256: 10,
    512: 21,
    1024: 42,
    2048: 81,
    4096: 97,
    8192: 98,
    16384: 99,
    32768: 100,
}
"""Bandwidth by bytes per row, in percent of that with 32 KiB (DMA overview, 128 partitions)."""


@pytest.mark.parametrize("row", CHART)
def test_the_chart_of_bandwidth_by_row_size(row: int) -> None:
    """Its transfers have 128 rows, whose descriptors software makes: a cost of each transfer."""

    def bandwidth(row: int) -> float:
        made = transfer(load(row, dge_mode=SWDGE))
        return made.bytes / max(made.trigger_ns, made.engine_ns)

    assert 100 * bandwidth(row) / bandwidth(32768) == near(CHART[row])


def interval(made: Transfer) -> float:
    """Return the time that a transfer adds to a stream of such transfers."""
    return max(made.trigger_ns, made.engine_ns)


@pytest.mark.parametrize("row", [4, 8, 512])
def test_a_short_transfer_takes_the_time_of_its_trigger(row: int) -> None:
    """Vector additions of the assignment 4 of Stanford's CS 149 (forks rishic3, xaviergonzalez).

    600 DMAs of 128 rows of 4 bytes take 378 us, 300 of 8 bytes 186 us; the kernel optimization
    tutorial moves rows of 512 bytes and of 2 KiB in 66,048 DMAs within 39.89 ms.
    """
    assert interval(transfer(load(row))) == near(600)


def test_a_row_in_a_stream_of_static_transfers() -> None:
    """Profile of a 1024x1024 transpose (fork rishic3): 129 of 64 KiB in 28.3 us; conv2d (fork
    xaviergonzalez): 2,664 rows of 448 bytes, 444 of 448 and 444 of 4, of each partition, and
    16,384 runs of 18 bytes four times within 815 us, in which the Tensor Engine is the
    bottleneck."""
    assert transfer(load(512, dge_mode=NONE)).engine_ns * 129 == near(28_300)
    rows, biases = (transfer(load(row, dge_mode=NONE)).engine_ns for row in (448, 4))
    kernel = transfer(lambda: nisa.dma_copy(sbuf(2304), hbm(128, 4608)[:, :2304], dge_mode=NONE))
    runs = 16_384 / 16 * kernel.engine_ns / 8 * 18 / 2304
    assert 4 * runs + (2664 + 444) * rows + 444 * biases < 815_000


def test_rows_of_256_bytes_and_of_a_kibibyte_on_trn1() -> None:
    """Step 0 of the gemm in ucb-bar/autocomp: 32,768 loads of each, 5.37 GB within 20.99 ms."""
    both = [transfer(load(row), "trn1") for row in (256, 1024)]
    rate = sum(made.bytes for made in both) / sum(made.engine_ns for made in both)
    assert rate == near(256)


@pytest.mark.parametrize(("target", "total"), [("trn1", 272), ("trn2", 368), ("trn3", 528)])
def test_the_documented_bandwidths(target: str, total: float) -> None:
    """DMA bandwidth guide, in GB/s: 16 engines together."""
    made = transfer(load(32768), target)
    assert made.bytes / made.engine_ns == near(total)


def test_a_row_on_one_engine() -> None:
    """Profile in the DMA overview: 32 KiB take 1,416 ns; 2.7 us until the consumer starts."""
    made = transfer(load(32768, rows=1))
    assert (made.engines, made.descriptors) == (1, 1)
    assert made.payload_ns == near(1416)
    assert made.latency_ns - made.trigger_ns == near(2700)


@pytest.mark.parametrize(("rows", "engines"), [(1, 1), (4, 1), (8, 1), (9, 2), (64, 8), (128, 16)])
def test_an_engine_moves_eight_partitions(rows: int, engines: int) -> None:
    """DMA overview: [4, 4096] bfloat16 is moved by one engine, 32 KiB in 1,416 ns."""
    for made in (transfer(load(8192, rows)), transfer(store(8192, rows))):
        assert made.engines == engines
    assert transfer(load(8192, 4)).payload_ns == near(1416)


@pytest.mark.parametrize("rows", [1, 4, 8, 9, 12, 16, 17, 100, 127, 128])
def test_the_fullest_engine_decides(rows: int) -> None:
    """DMA overview: each engine moves the data of its eight partitions."""
    by_engine = [len(range(first, min(first + 8, rows))) for first in range(0, rows, 8)]
    for moved in (load, store):
        one, made = transfer(moved(8192, 1)).engine_ns, transfer(moved(8192, rows))
        assert made.engines == len(by_engine)
        assert made.engine_ns == pytest.approx(max(by_engine) * one)
        assert made.engines_ns == pytest.approx(sum(by_engine) * one)
        assert made.fullest == by_engine.count(max(by_engine))


def test_within_hbm_all_engines_take_part() -> None:
    made = transfer(lambda: nisa.dma_copy(hbm(20, 512), hbm(20, 1024)[:, :512]))
    assert (made.descriptors, made.engines) == (20, 16)
    # Four of them move two rows.
    assert (made.fullest, made.engine_ns) == (4, pytest.approx(2 * made.other_ns))


def test_descriptors_made_beforehand_are_fetched() -> None:
    """DMA bandwidth guide: about 1,300 ns from the trigger until data moves."""
    for made in (transfer(load(512), "trn1"), transfer(store(512, dge_mode=NONE))):
        assert made.dispatch_ns == near(1300)


def test_a_tile_of_short_rows() -> None:
    """Profile in the DMA overview: 128 rows of 256 bytes take 1.5 us until the consumer starts."""
    made = transfer(load(256))
    assert made.latency_ns - made.trigger_ns == near(1500)


def test_a_large_transfer_by_hardware_descriptors() -> None:
    """Megakernel profiles: 5.7 us for 2.4 MB in 3,130 packets, 538 to 599 ns up to 0.4 MB."""

    def strided() -> None:
        nisa.dma_copy(
            nl.ndarray((128, 24, 784), dtype=nl.uint8, buffer=nl.sbuf),
            hbm(128, 24, 1568)[..., :784],
        )

    made = transfer(strided)
    assert made.descriptors == 3072
    assert made.trigger_ns == near(5700)
    assert transfer(load(3072)).trigger_ns == near(599)


@pytest.mark.parametrize("rows", [1, 16, 64, 128])
def test_descriptors_made_by_software(rows: int) -> None:
    """Megakernel profiles, trn2: 0.62 to 0.79 us and 2.1 ns per row."""
    made = transfer(load(2048, rows, dge_mode=SWDGE))
    assert 620 <= made.trigger_ns - 2.1 * rows <= 790
    assert (made.mode, made.trigger) == (SWDGE, GPSIMD)


def gather(mode: Any = nisa.dge_mode.unknown) -> Callable[[], Any]:
    def body() -> None:
        index = sbuf(1, nl.uint32)
        rows = hbm(1024, 512).ap([[512, 128], [1, 512]], vector_offset=index, indirect_dim=0)
        nisa.dma_copy(sbuf(512), rows, dge_mode=mode)

    return body


def test_a_gather_takes_descriptors_made_by_software() -> None:
    """DGE reference; megakernel profiles: 1.04 us of an indirect one."""
    made = transfer(gather())
    assert (made.mode, made.trigger) == (SWDGE, GPSIMD)
    assert made.trigger_ns - 2.1 * 128 == near(1040)
    assert (made.descriptors, made.descriptor_bytes) == (128, 512)


def converting() -> None:
    nisa.dma_copy(sbuf(512, nl.bfloat16), hbm(128, 512, dtype=nl.float32))


def test_a_conversion_takes_as_many_descriptors_as_a_copy() -> None:
    made = transfer(converting)
    assert (made.bytes, made.descriptors, made.descriptor_bytes) == (128 * 2048, 128, 2048)


def computing() -> None:
    nisa.dma_compute(sbuf(64, nl.float32), [hbm(128, 64, dtype=nl.float32)] * 2, nl.add)


def by_register() -> None:
    index = nisa.register_alloc(0)
    tile = hbm(256, 512).ap([[512, 128], [1, 512]], scalar_offset=index, indirect_dim=0)
    nisa.dma_copy(sbuf(512), tile)


def transposing(rows: int, columns: int, dtype: Any, mode: Any = nisa.dge_mode.unknown) -> Any:
    def body() -> None:
        nisa.dma_transpose(
            sbuf(rows, dtype, columns), hbm(rows, columns, dtype=dtype), dge_mode=mode
        )

    return body


@pytest.mark.parametrize(
    ("body", "target", "mode", "trigger"),
    [
        (load(512), "trn1", NONE, SYNC),
        (load(512), "trn2", HWDGE, SYNC),
        (load(512), "trn3", HWDGE, SYNC),
        (load(512, dge_mode=NONE), "trn2", NONE, SYNC),
        (load(512, dge_mode=HWDGE), "trn2", HWDGE, SYNC),
        (load(512, dge_mode=HWDGE, engine=SCALAR), "trn2", HWDGE, SCALAR),
        (load(512, dge_mode=SWDGE), "trn1", SWDGE, GPSIMD),
        (converting, "trn2", SWDGE, GPSIMD),
        (converting, "trn1", NONE, SYNC),
        (by_register, "trn1", SWDGE, GPSIMD),
        (by_register, "trn2", HWDGE, SYNC),
        (computing, "trn2", NONE, SYNC),
        (transposing(16, 128, nl.bfloat16), "trn2", HWDGE, SYNC),
        (transposing(16, 128, nl.bfloat16), "trn1", NONE, SYNC),
        (transposing(128, 128, nl.float32), "trn2", NONE, SYNC),
    ],
)
def test_mode_and_trigger_of_descriptors(
    body: Callable[[], Any], target: str, mode: Any, trigger: Any
) -> None:
    made = transfer(body, target)
    assert (made.mode, made.trigger) == (mode, trigger)


def test_a_transpose_has_a_share_of_the_bandwidth() -> None:
    """DGE reference: up to 90 % from HBM, 50 % within SBUF (trn2)."""

    def rate(made: Transfer) -> float:
        return made.bytes / made.engine_ns

    assert rate(transfer(transposing(4096, 128, nl.bfloat16))) == near(0.9 * 368)

    def within() -> None:
        nisa.dma_transpose(sbuf(128, nl.bfloat16), sbuf(128, nl.bfloat16))

    # Of 8 blocks on as many engines.
    made = transfer(within)
    assert (made.engines, rate(made)) == (8, near(0.5 * 368 / 2))


def test_adding_has_half_of_the_bandwidth_until_trn3() -> None:
    def added(target: str) -> float:
        def body() -> None:
            sources = [hbm(128, 8192, dtype=nl.float32) for _ in range(2)]
            nisa.dma_compute(sbuf(8192, nl.float32), sources, nl.add)

        made = transfer(body, target)
        return made.bytes / made.engine_ns

    assert added("trn2") == near(368 / 2)
    assert added("trn3") == near(528)


def test_a_long_run_is_spread_over_the_engines() -> None:
    made = transfer(lambda: nisa.dma_copy(hbm(1 << 20), hbm(1 << 20)))
    assert (made.descriptors, made.descriptor_bytes, made.engines) == (32, 32768, 16)


def test_single_elements_take_a_descriptor_each() -> None:
    def body() -> None:
        nisa.dma_copy(sbuf(512, nl.float32), hbm(128, 1024, dtype=nl.float32)[:, ::2])

    made = transfer(body)
    assert (made.descriptors, made.descriptor_bytes) == (128 * 512, 4)
    # 5 ns and 4 bytes for each of 4096 per engine, also for a transfer on its own.
    assert made.engine_ns == near(4096 * (5 + 4 / 23))
    assert made.payload_ns == near(4096 * (5 + 4 / 23))


def exchange(kind: Any) -> Callable[[], Any]:
    def body() -> None:
        me = nl.program_id(0)
        nisa.sendrecv(sbuf(256), sbuf(256), 1 - me, 1 - me, 0, dma_engine=kind)

    return body


def test_cores_exchange_by_dma_or_by_that_of_the_gpsimd_engine() -> None:
    """Architecture guide: 307 GB/s in both directions together; profiles: 0.6 us of a barrier."""
    usual = transfer(exchange(nisa.dma_engine.dma), cores=2)
    assert (usual.engines, usual.trigger) == (16, SYNC)
    assert usual.dispatch_ns - 751 == near(600)
    own = transfer(exchange(nisa.dma_engine.gpsimd_dma), cores=2)
    assert (own.engines, own.trigger) == (0, GPSIMD)
    assert own.bytes / own.engine_ns == near(307 / 2)


RANKS = [[0, 1, 2, 3]]


def test_an_all_reduce_of_four_ranks() -> None:
    """Megakernel profiles: 13.3 us for 8 KiB."""

    def body() -> None:
        source, result = (hbm(2048, dtype=nl.float32) for _ in range(2))
        ncc.all_reduce([source], [result], ncc.ReplicaGroup(RANKS), nl.add)

    assert transfer(body).latency_ns == near(13_300)


def test_more_ranks_and_more_bytes_take_longer() -> None:
    def gathered(ranks: int, size: int) -> float:
        def body() -> None:
            group = ncc.ReplicaGroup([list(range(ranks))])
            ncc.all_gather([hbm(size)], [hbm(ranks * size)], group, 0)

        return transfer(body).latency_ns

    assert gathered(2, 1 << 20) < gathered(4, 1 << 20) < gathered(4, 1 << 24)


def test_descriptors_made_beforehand_unless_that_cannot_be() -> None:
    """`--disable-dge` of the vendor's compiler; explicit modes, and addresses known at run time."""
    target = without_dge(target_named("trn2"))
    cases = [
        (load(512), NONE),
        (converting, NONE),
        (transposing(16, 128, nl.bfloat16), NONE),
        (load(512, dge_mode=HWDGE), HWDGE),
        (by_register, SWDGE),
        (gather(), SWDGE),
    ]
    for body, mode in cases:
        assert transfer(body, target).mode == mode
    assert transfer(load(512), target).trigger_ns == near(70)
