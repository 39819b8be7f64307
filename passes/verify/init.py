"""Nothing is read, and nothing returned, that was never written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.ir import Operation

from nkijit.dialects.effects import Effect
from nkijit.dialects.nki.allocation import AllocOp
from nkijit.dialects.nki.kernel import KernelOp, ReturnOp
from nkijit.dialects.nki.views import base_of, index_of
from nkijit.dialects.rule_texts.initialisation import (
    OUTPUT_UNWRITTEN,
    READ_MASKED,
    READ_UNWRITTEN,
)
from nkijit.passes.analysis.written import Mask, Read, Verdict, reads_of
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.verify.launch import check_launch


def check_init(kernels: Sequence[KernelOp]) -> Iterator[Diagnostic]:
    """Every read of a tile, and every result, that is certainly not written as a whole.

    `kernels` are the programs of one launch: what one core writes the other may read.
    """
    if check_launch(kernels):
        return  # which tensors of the cores are the same is not known
    for read in reads_of(kernels):
        if read.verdict is Verdict.unwritten:
            yield unwritten(read.op, read.effect, _region(read))


def unwritten(op: Operation, effect: Effect, region: str) -> Diagnostic:
    """The finding that a tile is read, or returned, of which a region was not written."""
    shown = [(effect.name, effect.value)]
    tensor = base_of(effect.value)
    allocation = tensor.owner
    if not isinstance(op, ReturnOp):
        message = f"'{effect.name}' is read, but nothing has written {region}"
        rule = READ_MASKED if getattr(allocation, "masked", False) else READ_UNWRITTEN
        return diagnose(rule, op, message, shown)
    assert isinstance(allocation, AllocOp)
    message = f"'{tensor.name_hint or '?'}' is returned, but nothing has written {region}"
    return diagnose(OUTPUT_UNWRITTEN, allocation, message, shown)


def _region(read: Read) -> str:
    if read.entire:
        return "it" if index_of(read.effect.value) is None else "any of it"
    return "parts of it" if read.missing is None else region_of(read.missing)


def region_of(missing: Mask) -> str:
    """Some elements of a tile in words: a block, or how many in which block."""
    count = int(missing.sum())
    block: list[tuple[int, int]] = []
    for dim in range(missing.ndim):
        others = tuple(d for d in range(missing.ndim) if d != dim)
        inside = np.flatnonzero(missing.any(axis=others))
        block.append((int(inside[0]), int(inside[-1])))
    shown = ", ".join(f"{low}:{high + 1}" for low, high in block)
    size = math.prod(high - low + 1 for low, high in block)
    where = f"its elements [{shown}]"
    return where if count == size else f"{count} of {where}"
