"""Finds reads of entirely unwritten tiles, incomplete results, and decisions on unwritten data."""

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
    OUTPUT_PARTLY_UNWRITTEN,
    OUTPUT_UNWRITTEN,
    READ_MASKED,
    READ_UNWRITTEN,
    UNDEFINED_USE,
)
from nkijit.passes.analysis.definedness.kernels import uses_of_undefined
from nkijit.passes.analysis.definedness.origins import Use
from nkijit.passes.analysis.definedness.tracker import is_masked
from nkijit.passes.analysis.writes.data_flow import data_flow
from nkijit.passes.analysis.writes.written import Read, Verdict, reads_of
from nkijit.passes.analysis.writes.written_tensors import Mask
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.verify.first_writes import Writers
from nkijit.passes.verify.launch import check_launch
from nkijit.passes.verify.rules import wrong_operations


def check_init(kernels: Sequence[KernelOp]) -> Iterator[Diagnostic]:
    """Yield a finding for each use of data that is certainly unwritten.

    `kernels` are the programs of one launch: a core may read data that the other core writes.
    """
    if check_launch(kernels):
        return  # the shared tensors of programs that differ cannot be matched
    unsettled = [tensor for kernel in kernels for tensor in data_flow(kernel).unsettled]
    if not unsettled:
        return
    partly: list[Read] = []
    writers = Writers(kernels)
    # How an instruction that no device accepts passes on undefined values is unknown.
    wrong = {op for kernel in kernels for op in wrong_operations(kernel)}
    for read in reads_of(kernels, regions=False, tensors=unsettled):
        if read.verdict is not Verdict.unwritten or read.effect.value.owner in wrong:
            continue
        if isinstance(read.op, ReturnOp):
            yield unreturned(read.effect, None if read.entire else read.missing, read.entire)
        elif read.entire and not is_masked(read.effect):
            yield unwritten(read.op, read.effect, _region(read), writers.help_for(read))
        else:
            partly.append(read)
    if not partly:
        return
    sources = {base_of(read.effect.value) for read in partly}
    yield from map(undefined, uses_of_undefined(kernels, sources, wrong))


def unwritten(op: Operation, effect: Effect, region: str, help: str | None = None) -> Diagnostic:
    """Return the finding that an instruction reads an entirely unwritten tile."""
    message = f"'{effect.name}' is read, but nothing has written {region}"
    return diagnose(READ_UNWRITTEN, op, message, [(effect.name, effect.value)], help=help)


def unreturned(effect: Effect, missing: Mask | None, entire: bool) -> Diagnostic:
    """Return the finding that the kernel returns a tensor that is not completely written."""
    owner = base_of(effect.value).owner
    # Arguments and constants count as written; their returned view can still leave them.
    shown = owner if isinstance(owner, AllocOp) else effect.value.owner
    assert isinstance(shown, Operation)
    region = "it" if entire else _region_or_parts(missing)
    name = base_of(effect.value).name_hint or "?"
    message = f"'{name}' is returned, but nothing has written {region}"
    rule = OUTPUT_UNWRITTEN if entire else OUTPUT_PARTLY_UNWRITTEN
    return diagnose(rule, shown, message, [(effect.name, effect.value)])


def undefined(use: Use) -> Diagnostic:
    """Return the finding that an instruction uses a value derived from unwritten memory."""
    origin, region = use.origin, region_of(use.undefined)
    if use.leaves:
        name = base_of(use.effect.value).name_hint or "?"
        message = f"'{name}', which {use.how}, gets undefined values in {region}"
    else:
        message = f"'{use.effect.name}' {use.how}, and {region} are undefined"
    rule = READ_MASKED if is_masked(origin.effect) else UNDEFINED_USE
    shown = [(use.effect.name, use.effect.value)]
    missing = f"nothing has written {region_of(origin.missing)}"
    if use.op is origin.op:
        return diagnose(rule, use.op, message, shown, notes=[f"'{origin.effect.name}': {missing}"])
    shown.append((origin.effect.name, origin.effect.value))
    label = f"'{origin.effect.name}' is read here, but {missing}"
    return diagnose(rule, use.op, message, shown, related=[(origin.op, label)])


def _region(read: Read) -> str:
    if read.entire:
        return "it" if index_of(read.effect.value) is None else "any of it"
    return _region_or_parts(read.missing)


def _region_or_parts(missing: Mask | None) -> str:
    return "parts of it" if missing is None else region_of(missing)


def region_of(missing: Mask) -> str:
    """Describe the marked elements of a tile: as a block, or as a number of elements in a block."""
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
