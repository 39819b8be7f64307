"""Helps for operands in illegal buffers advise copies that exist, into a legal buffer."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.declare.rules.operands import copied_after, copied_before
from nkijit.dialects.hardware.words import MemoryRegion

SBUF, PSUM, PRIVATE, SHARED = MemoryRegion
SETS = chain.from_iterable(combinations((SBUF, PSUM, SHARED, PRIVATE), n) for n in (1, 2, 3))
CASES = [(legal, wanted) for legal in SETS for wanted in MemoryRegion if wanted not in legal]


@pytest.mark.parametrize(("legal", "wanted"), CASES)
def test_an_operand_that_is_read_moves_to_a_legal_buffer(legal, wanted):
    help = copied_before("x", legal, wanted)
    if "pass the tile" in help or "a tile in SBUF" in help:
        assert SBUF in legal
    if "copy the tile to PSUM" in help or "a tile in PSUM" in help:
        assert PSUM in legal
    if "buffer=nl." in help:
        assert MemoryRegion[help.partition("buffer=nl.")[2].split()[0].strip(",")] in legal
    if "nl.load" in help:  # which reads HBM
        assert not wanted.on_chip
    assert "x" in help


@pytest.mark.parametrize(("legal", "wanted"), CASES)
def test_dma_copies_no_result_in_psum(legal, wanted):
    help = copied_after(legal, wanted)
    first = MemoryRegion[help.partition("buffer=nl.")[2].split(",")[0]]
    assert first in legal
    if first is PSUM and not wanted.on_chip:
        assert "to SBUF with nisa.tensor_copy and from there with nl.store" in help
    elif first.on_chip and wanted.on_chip:
        assert "nisa.tensor_copy" in help
    else:
        assert "nisa.dma_copy" in help


def test_a_barrier_takes_a_tensor_in_shared_hbm():
    @nki.jit
    def kernel(x):
        h = nl.ndarray((128, 64), nl.float32, buffer=nl.private_hbm)
        nisa.dma_copy(dst=h, src=x)
        nisa.core_barrier(h, (0, 1))
        return x

    found = kernel[2].trace(nki.TensorSpec((128, 64), "float32")).diagnostics
    finding = next(d for d in found if d.rule.id == "buffer")
    assert finding.help.startswith("pass a tensor that is allocated with buffer=nl.shared_hbm")
