"""Nothing is read, and nothing returned, that was never written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nkijit.dialects.nki import AllocOp, KernelOp, ReturnOp
from nkijit.dialects.rule_texts.initialisation import OUTPUT_UNWRITTEN, READ_UNWRITTEN
from nkijit.dialects.views import base_of, index_of
from nkijit.passes.analysis.written import Read, Verdict, reads_of
from nkijit.passes.verify.diagnostics import Diagnostic, diagnose


def check_init(kernels: Sequence[KernelOp]) -> Iterator[Diagnostic]:
    """Every read of a tile, and every result, that is certainly not written as a whole.

    `kernels` are the programs of one launch: what one core writes the other may read.
    """
    for read in reads_of(kernels):
        if read.verdict is Verdict.unwritten:
            yield _diagnose(read)


def _diagnose(read: Read) -> Diagnostic:
    name, value = read.effect.name, read.effect.value
    missing = _region(read)
    if isinstance(read.op, ReturnOp):
        tensor = base_of(value)
        allocation = tensor.owner
        assert isinstance(allocation, AllocOp)
        return diagnose(
            OUTPUT_UNWRITTEN,
            allocation,
            f"'{tensor.name_hint or '?'}' is returned, but nothing has written {missing}",
            [(name, value)],
        )
    return diagnose(
        READ_UNWRITTEN,
        read.op,
        f"'{name}' is read, but nothing has written {missing}",
        [(name, value)],
    )


def _region(read: Read) -> str:
    """The elements that are missing in words: all, a block, or how many in which block."""
    missing = read.missing
    if read.entire:
        return "it" if index_of(read.effect.value) is None else "any of it"
    if missing is None:
        return "parts of it"
    count = int(missing.sum())
    block: list[tuple[int, int]] = []
    for dim in range(missing.ndim):
        others = tuple(d for d in range(missing.ndim) if d != dim)
        inside = np.flatnonzero(missing.any(axis=others))
        block.append((int(inside[0]), int(inside[-1])))
    shown = ", ".join(f"{low}:{high + 1}" for low, high in block)
    size = 1
    for low, high in block:
        size *= high - low + 1
    where = f"its elements [{shown}]"
    return where if count == size else f"{count} of {where}"
