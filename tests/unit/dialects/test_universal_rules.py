"""Rules about memory, against element-by-element accesses."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise, product

import pytest

from nkijit.dialects.access import AccessPattern
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.rules.operands import same_dtype
from nkijit.dialects.hardware.targets import start_partitions
from nkijit.dialects.nisa.universal_rules import merged_axes
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.ir.text import parse
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.verify.passes import VerifyAccessPass

SEEDS = range(200)
BYTES = 64
"""Bytes per partition of the tile that is moved about in."""
SIZES = {"ui8": 1, "bf16": 2, "f32": 4}


def _found(source: str) -> list[Diagnostic]:
    (kernel,) = kernels_of(parse(source))
    return list(VerifyAccessPass().find(kernel))


@dataclass(frozen=True)
class _View:
    """A view of the tile's free dimensions."""

    dtype: str
    offset: int
    pairs: tuple[tuple[int, int], ...]

    def text(self, name: str) -> str:
        row = BYTES // SIZES[self.dtype]
        pairs = ", ".join(f"[{stride}, {count}]" for stride, count in ((row, 16), *self.pairs))
        return f"%{name} = nki.view %tile offset={self.offset} pattern=[{pairs}] as {self.dtype}"

    def elements(self) -> list[range]:
        """The bytes of each element, in the order of the walk."""
        size = SIZES[self.dtype]
        starts = [
            (self.offset + sum(s * i for (s, _), i in zip(self.pairs, at, strict=True))) * size
            for at in product(*(range(count) for _, count in self.pairs))
        ]
        return [range(start, start + size) for start in starts]

    @property
    def is_inside(self) -> bool:
        return all(e.start >= 0 and e.stop <= BYTES for e in self.elements())


def _draw(draw: random.Random, counts: tuple[int, ...]) -> _View:
    while True:
        dtype = draw.choice(list(SIZES))
        row = BYTES // SIZES[dtype]
        pairs = tuple((draw.choice([-4, -2, -1, 0, 1, 1, 2, 4, 8]), count) for count in counts)
        view = _View(dtype, draw.randrange(row), pairs)
        if view.is_inside:
            return view


def _depends_on_order(read: _View, written: _View) -> bool:
    """True when reading everything first gives other elements than reading one at a time."""
    memory = list(range(BYTES))
    for number, (source, target) in enumerate(
        zip(read.elements(), written.elements(), strict=True)
    ):
        if [memory[byte] for byte in source] != list(source):
            return True
        for byte in target:
            memory[byte] = -1 - number
    return False


@pytest.mark.parametrize("seed", SEEDS)
def test_overlap(seed: int) -> None:
    draw = random.Random(seed)
    counts = tuple(draw.choice([(4,), (8,), (2, 3), (3, 2)]))
    read, written = _draw(draw, counts), _draw(draw, counts)
    if draw.random() < 0.5:  # the same walk, at another place
        shift = draw.randint(-3, 3)
        written = _View(read.dtype, read.offset + shift, read.pairs)
        if written.offset < 0 or not written.is_inside:
            written = read
    found = _found(f"""
      nki.kernel @k() target=trn3 {{
        %tile = nki.alloc : memref<16x{BYTES}xi8, #nki.sbuf>
        {read.text("read")}
        {written.text("written")}
        nisa.tensor_copy dst=%written, src=%read
        nki.return
      }}""")
    # The same elements may be read and written, even some of them several times.
    expected = read != written and _depends_on_order(read, written)
    assert [d.rule.id for d in found] == ["overlap"] * expected, (read, written)


def test_overlap_of_many_elements() -> None:
    """More than are enumerated: the same walk at another place is decided by where it begins."""
    for to, finding in ((1, ["overlap"]), (0, [])):
        found = _found(f"""
          nki.kernel @k() target=trn3 {{
            %tile = nki.alloc : memref<128x9000xf32, #nki.sbuf>
            %read = nki.view %tile offset={1 - to} pattern=[[9000, 128], [4500, 2], [1, 4499]]
            %written = nki.view %tile offset={to} pattern=[[9000, 128], [4500, 2], [1, 4499]]
            nisa.tensor_copy dst=%written, src=%read
            nki.return
          }}""")
        assert [d.rule.id for d in found] == finding


@pytest.mark.parametrize(
    ("written", "finding"),
    [
        ("offset=0 pattern=[[8, 4], [1, 8]]", []),
        ("offset=0 pattern=[[1, 32]]", []),
        ("offset=4 pattern=[[1, 32]]", ["overlap"]),
        ("offset=32 pattern=[[1, 32]]", []),
        ("offset=31 pattern=[[-1, 32]]", ["overlap"]),
    ],
)
def test_overlap_of_dma_operands(written: str, finding: list[str]) -> None:
    found = _found(f"""
      nki.kernel @k(%x: memref<64xf32, #nki.shared_hbm>) target=trn3 {{
        %read = nki.view %x offset=0 pattern=[[8, 4], [1, 8]]
        %written = nki.view %x {written}
        nisa.dma_copy dst=%written, src=%read
        nki.return
      }}""")
    assert [d.rule.id for d in found] == finding


def test_overlap_in_other_partitions_is_none() -> None:
    found = _found("""
      nki.kernel @k() target=trn3 {
        %tile = nki.alloc : memref<64x8xf32, #nki.sbuf>
        %read = nki.view %tile offset=0 pattern=[[8, 32], [1, 7]]
        %written = nki.view %tile offset=257 pattern=[[8, 32], [1, 7]]
        nisa.tensor_copy dst=%written, src=%read
        nki.return
      }""")
    assert found == []


@pytest.mark.parametrize("partitions", range(1, 129))
def test_start_partitions(partitions: int) -> None:
    """The table of the architecture guide, row by row."""
    if partitions > 64:
        legal = {0}
    elif partitions > 32:
        legal = {0, 64}
    else:
        legal = {0, 32, 64, 96}
    assert set(start_partitions(partitions)) == legal


@pytest.mark.parametrize("seed", range(100))
def test_merged_axes_walk_the_same_elements(seed: int) -> None:
    draw = random.Random(seed)
    counts = [draw.randint(1, 4) for _ in range(draw.randint(1, 4))]
    strides = [draw.choice([0, 1, 2, 3, 4, 6, 8, -1, -2]) for _ in counts]
    access = AccessPattern(100, tuple(strides), tuple(counts))
    axes = merged_axes(access)
    walked = [
        100 + sum(stride * i for (stride, _), i in zip(axes, at, strict=True))
        for at in product(*(range(count) for _, count in axes))
    ]
    assert walked == list(access.offsets())
    assert all(outer[0] != inner[0] * inner[1] for outer, inner in pairwise(axes))


def test_every_tensor_of_a_list_has_the_same_dtype() -> None:
    source = """
      nki.kernel @k() target=trn3 {
        %a = nki.alloc : memref<4x64xf32, #nki.private_hbm>
        %b = nki.alloc : memref<4x64xbf16, #nki.private_hbm>
        %d = nki.alloc : memref<4x64xf32, #nki.private_hbm>
        ncc.all_reduce srcs=[%a, %b], dsts=[%d, %d], replica_group=[[0]], op=add
        nki.return
      }"""
    (kernel,) = kernels_of(parse(source))
    (op,) = (op for op in kernel.operations if isinstance(op, NisaOp))
    finding = same_dtype("srcs", "dsts").check(op, kernel.target)
    assert finding is not None
    assert finding.operands == ("srcs[0]", "srcs[1]", "dsts[0]", "dsts[1]")


EQUAL = """
  nki.kernel @k() target=trn3 {{
    %low = nki.alloc address=[0, 0] : memref<32x8xf32, #nki.sbuf>
    %odd = nki.alloc address=[{partition}, 4096] : memref<32x8xf32, #nki.sbuf>
    nisa.tensor_copy dst=%low, src=%low
    nisa.tensor_copy dst=%odd, src=%odd
    nki.return
  }}"""


@pytest.mark.parametrize(("partition", "count"), [(0, 0), (32, 0), (16, 1), (31, 1)])
def test_instructions_at_other_addresses_are_checked_again(partition: int, count: int) -> None:
    assert len(_found(EQUAL.format(partition=partition))) == count
