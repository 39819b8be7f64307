"""Walks that track some tensors find the same reads of these tensors as walks that track all."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.paths import LIT
from xdsl.ir import SSAValue

from nkijit.dialects.nki.kernel import KernelOp, launches
from nkijit.dialects.nki.views import base_of
from nkijit.ir.text import parse
from nkijit.passes.analysis.writes.data_flow import data_flow
from nkijit.passes.analysis.writes.written import Read, Verdict, reads_of
from nkijit.passes.verify.launch import check_launch


def launches_of(path: Path) -> list[list[KernelOp]]:
    """Return the valid launches of a file: gathers, registers, loops, two cores."""
    module = parse(path.read_text(encoding="utf-8"), path.name)
    return [kernels for kernels in launches(module) if not check_launch(kernels)]


def unwritten(reads: list[Read]) -> list[tuple[object, ...]]:
    return [
        (read.op, read.effect, read.verdict, read.entire)
        for read in reads
        if read.verdict is not Verdict.written
    ]


@pytest.mark.parametrize("name", ["verify-init.mlir", "verify-results.mlir"])
def test_tracked_tensors_have_the_same_reads(name: str) -> None:
    compared = 0
    for kernels in launches_of(LIT / "passes" / name):
        of_all = unwritten(list(reads_of(kernels)))
        if len(kernels) == 1:
            for base in {base_of(read.effect.value) for read in reads_of(kernels, known=True)}:
                own = [found for found in of_all if base_of(found[1].value) is base]
                assert unwritten(list(reads_of(kernels, tensors=[base]))) == own
                compared += bool(own)
        unsettled: list[SSAValue] = [t for kernel in kernels for t in data_flow(kernel).unsettled]
        assert unwritten(list(reads_of(kernels, tensors=unsettled))) == of_all
        compared += bool(of_all)
    assert compared > 10
