"""Nothing is read, and nothing returned, that was never written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from nkijit.dialects.nki import AllocOp, KernelOp, ReturnOp
from nkijit.dialects.rule_texts.initialisation import OUTPUT_UNWRITTEN, READ_UNWRITTEN
from nkijit.dialects.views import base_of
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
    missing = region_of(value, read.missing)
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


def region_of(value: SSAValue, missing: npt.NDArray[np.bool_] | None) -> str:
    """Elements of a tile in words: all, a block of them, or how many in which block."""
    if missing is None or missing.all():
        return "any of it" if missing is None else "it"
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
