"""Checks that the programs of two cores share arguments, memory and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.nki.constant import ConstantOp
from nkijit.dialects.nki.kernel import KernelOp, shared_tensors
from nkijit.dialects.nki.views import base_of
from nkijit.dialects.rule_texts.cores import CORES_DIFFER
from nkijit.dialects.tiles import info_of
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.diagnostics.places import positions


def check_launch(kernels: Sequence[KernelOp]) -> list[Diagnostic]:
    """Return, for each other core, the first difference between its program and that of core 0."""
    first, *others = kernels
    found = (next(_differences(first, other), None) for other in others)
    return [diagnostic for diagnostic in found if diagnostic is not None]


def _differences(one: KernelOp, two: KernelOp) -> Iterator[Diagnostic]:
    if one.target_name != two.target_name:
        yield _difference(two, f"is for {two.target.platform}, core 0 for {one.target.platform}")
    types = [[str(value.type) for value in kernel.arguments] for kernel in (one, two)]
    if types[0] != types[1]:
        yield _difference(two, "has other arguments than on core 0")
    tensors = [shared_tensors(kernel)[len(kernel.arguments) :] for kernel in (one, two)]
    for here, there in zip_longest(*tensors):
        if here is None or there is None or not _is_same(here, there):
            yield _different_tensors(one, here, there)
    results = [
        [_result(kernel, value) for value in kernel.return_op.values] for kernel in (one, two)
    ]
    containers = [(k.return_op.container, k.return_op.keys) for k in (one, two)]
    if results[0] != results[1] or containers[0] != containers[1]:
        yield _difference(two, "returns something else than on core 0")


def _difference(kernel: KernelOp, message: str) -> Diagnostic:
    return diagnose(
        CORES_DIFFER, kernel, f"'{kernel.launch_name}' on core {kernel.core[0]} {message}"
    )


def _is_same(one: SSAValue, two: SSAValue) -> bool:
    """True if two allocations have the same type, and the same name or source location."""
    if one.type != two.type:
        return False
    places = [positions(_owner(value).location) for value in (one, two)]
    return one.name_hint == two.name_hint or (places[0] == places[1] and bool(places[0]))


def _owner(value: SSAValue) -> Operation:
    owner = value.owner
    assert isinstance(owner, Operation)
    return owner


def _different_tensors(kernel: KernelOp, one: SSAValue | None, two: SSAValue | None) -> Diagnostic:
    shown = [
        "nothing more" if value is None else f"'{value.name_hint or '?'}' ({info_of(value)})"
        for value in (one, two)
    ]
    present = two if one is None else one
    assert present is not None
    return diagnose(
        CORES_DIFFER,
        _owner(present),
        f"core 0 of '{kernel.launch_name}' allocates {shown[0]} in shared HBM where core 1 "
        f"allocates {shown[1]}",
        related=[] if one is None or two is None else [(_owner(two), "core 1 allocates here")],
    )


def _result(kernel: KernelOp, value: SSAValue) -> object:
    base = base_of(value)
    if isinstance(base.owner, ConstantOp):
        return base.owner.data, value.type
    shared = shared_tensors(kernel)
    # Private memory in a result is reported by another rule.
    return shared.index(base) if base in shared else None, value.type
