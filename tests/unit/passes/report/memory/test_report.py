"""The memory report: contents, text, picture, JSON, and the examples."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from support.paths import GOLDEN

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.ir.text import launches_of, parse
from nkijit.passes.analysis.memory.map import SpaceMap, TileMap
from nkijit.passes.report.memory.report import MemoryReport
from nkijit.passes.report.memory.text import COLUMNS
from nkijit.traced.kernel import TracedKernel

X = np.zeros((128, 512), np.float32)


@nki.jit
def layered(x):
    """Tiles in all partitions, in half of them, at a fixed address, in PSUM, and in a loop."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray(x.shape, x.dtype, address=(0, 4096))
    nisa.memset(total, 0)
    for _ in nl.dynamic_range(4):
        whole = nl.load(x)
        left = nl.load(x[0:64])
        right = nl.load(x[64:128])
        nisa.tensor_tensor(left, left, right, op=nl.add)
        product = nl.ndarray(x.shape, nl.float32, buffer=nl.psum)
        nisa.nc_matmul(product, whole[:, 0:128], whole)
        nisa.tensor_tensor(total, total, product, op=nl.add)
        nisa.dma_copy(out[0:64], left)
    nisa.dma_copy(out, total)
    return out


@nki.jit
def empty(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, x)
    return out


def unrolled(count: int) -> TracedKernel:
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        for _ in range(count):
            nl.store(out, nl.load(x))
        return out

    return kernel.trace(X)


def tiles_at(space: SpaceMap, position: int) -> list[TileMap]:
    return [t for t in space.tiles if t.start <= position <= t.end]


# ------------------------------------------------------------------ contents


def test_the_report_has_every_tile_with_the_authors_names():
    (core,) = layered.trace(X).memory().cores
    sbuf = {t.name: t for t in core.sbuf.tiles}
    assert list(sbuf) == ["total", "whole", "left", "right"]
    assert [t.name for t in core.psum.tiles] == ["product"]
    total = sbuf["total"]
    assert (total.shape, total.dtype, total.bytes) == ((128, 512), "float32", 2048)
    assert (total.address, total.fixed, total.start) == ((0, 4096), True, 0)
    assert total.end == core.instructions - 2  # the copy to HBM, in front of the return
    assert {sbuf["left"].address[0], sbuf["right"].address[0]} == {0, 64}
    lines = layered.__wrapped__.__code__.co_firstlineno
    assert total.allocated is not None
    assert total.allocated.line == lines + 4
    (loop,) = core.loops
    assert sbuf["whole"].start == loop.start
    assert loop.end == core.instructions - 3


def test_the_peak_is_where_most_is_in_use():
    (core,) = layered.trace(X).memory().cores
    # Total and whole, with left and right beside each other.
    assert core.sbuf.peak == 3 * 2048
    names = {t.name for t in tiles_at(core.sbuf, core.sbuf.peak_at)}
    assert names == {"total", "whole", "left", "right"}
    assert [t.name for t in core.sbuf.at_peak] == ["total", "whole", "left", "right"]
    assert (core.psum.peak, core.psum.peak_banks, core.psum.peak_instruction) == (
        2048,
        1,
        "nisa.nc_matmul",
    )


def test_capacities_are_those_of_the_target():
    for target, sbuf in (("trn1", 180_224), ("trn2", 212_984), ("trn3", 245_752)):
        (core,) = layered.for_target(target).trace(X).memory().cores
        assert (core.sbuf.capacity, core.psum.capacity) == (sbuf, 8 * 2048)


def test_two_cores_have_a_memory_each():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        if nl.program_id(0) == 0:
            nl.store(out, nl.load(x))
        return out

    report = kernel[2].trace(X).memory()
    assert [(c.core, c.sbuf.peak) for c in report.cores] == [(0, 2048), (1, 0)]
    assert "on core 1" in str(report)
    assert report.svg().count("core 1") == 1


def test_a_kernel_without_tiles():
    report = empty.trace(X).memory()
    assert str(report).partition("\n")[2] == (
        "memory of @empty for trn3\n\nSBUF: no tiles\n\nPSUM: no tiles\n"
    )
    assert "SBUF: no tiles" in report.svg()


def test_the_legend_names_every_colour():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        early = nl.load(x)
        small = nl.sum(early, axis=1, keepdims=True)
        one, two = nl.multiply(early, small), nl.multiply(early, 2.0)
        late = nl.add(one, two)
        nl.store(out, nl.subtract(late, nl.load(x)))
        return out

    traced = kernel.trace(nki.TensorSpec((128, 64), "float32"))
    (core,) = traced.memory().cores
    sbuf = core.spaces[0]
    names = {tile.name for tile in sbuf.tiles}
    assert names - {tile.name for tile in sbuf.at_peak}
    picture = traced.memory().svg()
    boxes = re.findall(r'<rect [^>]*width="([0-9.]+)" height="[0-9.]+" fill="(#\w+)"', picture)
    swatches = {colour for width, colour in boxes if float(width) == 12}
    assert {colour for width, colour in boxes if float(width) != 12} <= swatches | {"#FFFFFF"}
    legend = re.findall(r">(\w+) [0-9x]+ float32, [0-9,]+ B(?:, \d+ tiles)?<", picture)
    assert len(legend) == len(names)
    assert set(legend) == names


def test_a_kernel_that_does_not_fit_has_a_map_all_the_same():
    @nki.jit
    def kernel(x):
        tiles = [nl.ndarray((128, 4096), nl.float32) for _ in range(16)]
        for tile in tiles * 2:
            nisa.memset(tile, 0)

    traced = kernel.trace(X)
    assert [d.rule.id for d in traced.diagnostics] == [
        "no-result",
        "sbuf-spill",
        "redundant-fill",
    ]
    (core,) = traced.memory().cores
    assert core.sbuf.height == core.sbuf.peak == 16 * 16384
    assert "it does not fit" in str(traced.memory())


# ------------------------------------------------------------------ its forms


def test_text_keeps_its_width_and_is_the_same_every_time():
    for count in (1, 7, 88, 89, 500, 5000):
        traced = unrolled(count)
        text = str(traced.memory())
        assert text == str(traced.memory())
        table_ends = text.index("     byte +")
        maps = [line for line in text.splitlines() if " |" in line or "byte +" in line]
        assert {len(line) for line in maps if line} == {len(maps[0])}
        assert len(maps[0]) <= COLUMNS
        assert text[table_ends:].count("^") == 2


def test_the_map_shows_a_tile_in_the_columns_of_its_instructions():
    @nki.jit
    def kernel(x):
        a = nl.ndarray(x.shape, x.dtype)
        b = nl.ndarray(x.shape, x.dtype)
        nisa.memset(a, 0)
        nisa.memset(a, 0)
        nisa.memset(b, 0)

    # Four instructions, the return among them, have 22 columns each; b is not at the peak.
    row = next(line for line in str(kernel.trace(X).memory()).splitlines() if " 0 |" in line)
    assert row.endswith("|" + 44 * "a" + 22 * "+" + 22 * ".")


def test_json_is_everything():
    report = layered.trace(X).memory()
    read = json.loads(report.to_json())
    assert read["kernel"] == "layered"
    (core,) = read["cores"]
    sbuf, psum = core["spaces"]
    assert [t["name"] for t in sbuf["tiles"]] == ["total", "whole", "left", "right"]
    assert sbuf["tiles"][0]["address"] == [0, 4096]
    assert sbuf["tiles"][0]["allocated"] == str(report.cores[0].sbuf.tiles[0].allocated)
    assert psum["bank"] == 2048


SVG = "{http://www.w3.org/2000/svg}"


def titles(report: MemoryReport) -> list[str]:
    root = ElementTree.fromstring(report.svg())
    return [title.text or "" for title in root.iter(f"{SVG}title")]


def test_the_picture_has_a_rectangle_for_every_tile():
    report = layered.trace(X).memory()
    names = [title.partition(":")[0] for title in titles(report)]
    # Left and right have a panel each; tiles in all partitions are in both.
    for name, times in (("total", 2), ("whole", 2), ("left", 1), ("right", 1), ("product", 1)):
        assert names.count(name) == times
    assert sum("loop at" in title for title in titles(report)) == 2  # under SBUF and PSUM
    assert any("in partitions 64 to 127" in title for title in titles(report))
    assert report._repr_html_().startswith("<svg ")


def test_the_picture_needs_nothing_else():
    root = ElementTree.fromstring(layered.trace(X).memory().svg())
    kinds = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert kinds == {"svg", "rect", "line", "text", "title"}
    values = [value for element in root.iter() for value in element.attrib.values()]
    assert not any("url(" in value or "http" in value for value in values)


def test_names_in_the_picture_are_text():
    @nki.jit
    def kernel(x):
        nisa.memset(nl.ndarray(x.shape, x.dtype, name="<b> & co"), 0)

    assert titles(kernel.trace(X).memory())[0].startswith("<b> & co: 128x512")


def test_a_long_kernel_has_a_picture_of_bounded_size():
    short, long = (len(unrolled(count).memory().svg()) for count in (2_000, 20_000))
    assert long < 2 * short


# ------------------------------------------------------------------ examples


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.mlir")), ids=lambda path: path.stem)
def test_assignments_of_the_examples_are_within_5_percent_of_the_bound(path: Path) -> None:
    module = parse(path.read_text(encoding="utf-8"), path.name)
    for kernels in launches_of(module).values():
        for core in TracedKernel(module, kernels=kernels).memory().cores:
            for space in core.spaces:
                assert space.peak <= space.height <= 1.05 * space.peak
                assert space.height <= space.capacity
