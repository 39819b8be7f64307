"""Advice compared with its effect: a kernel as written, and changed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from support.compiled_runs import run

import nkijit as nki
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.advise.advice import Suggestion
from nkijit.passes.advise.edit import Edit, NotPossibleError
from nkijit.passes.advise.experiments import proposals_for
from nkijit.passes.advise.kinds import Numbers
from nkijit.passes.prove.proof import Proof, prove
from nkijit.passes.verify.passes import find_all

TOLERANCE = 0.1
"""How far the time after a change may be from that of the kernel that is changed by hand."""
EVERY_TARGET = ("trn1", "trn2", "trn3")


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def suggestions(
    kernel: nki.Kernel, target: str, args: Sequence[Any], kind: str, **more: Any
) -> list[Suggestion]:
    """Return the suggestions of one kind."""
    traced = kernel.for_target(target).trace(*args)
    advice = traced.advice(**({"schedule": "author"} | more))
    return [s for s in advice.suggestions if s.kind == kind]


def predicted(kernel: nki.Kernel, target: str, args: Sequence[Any], **more: Any) -> float:
    """Return the predicted time of a kernel, by default in the author's order."""
    traced = kernel.for_target(target).trace(*args)
    return traced.profile(**({"schedule": "author"} | more)).time


def check_pair(
    kernel: nki.Kernel,
    target: str,
    args: Sequence[Any],
    kind: str,
    says: str = "",
    hand_args: Sequence[Any] | None = None,
) -> Suggestion:
    """The only suggestion of a kind that says something: its time is that of the change by hand.

    The kernel's last argument says whether it is changed; `hand_args` are its other arguments then,
    if they are not the same.
    """
    all_of_kind = suggestions(kernel, target, (*args, False), kind)
    (found,) = [s for s in all_of_kind if says in s.message] or [None]
    assert found is not None, [s.message for s in all_of_kind]
    time = predicted(kernel, target, (*(hand_args or args), True))
    assert abs(found.after - time) <= TOLERANCE * time, (found.after, time)
    assert found.before == predicted(kernel, target, (*args, False))
    return found


def proofs(kernel: nki.Kernel, args: Sequence[Any], kind: str) -> list[Proof]:
    """Return the proofs of the changes of one kind that are possible, for trn2."""
    kernels = kernel.for_target("trn2").trace(*args).cores()
    found: list[Proof] = []
    for proposal in proposals_for(kernels[0]):
        if proposal.kind.id != kind:
            continue
        edit = Edit(kernels[0])
        try:
            proposal.change(edit)
        except NotPossibleError:
            continue
        found.append(prove(kernels, [edit.kernel]))
    return found


def changed(kernels: Sequence[KernelOp]) -> list[tuple[str, list[KernelOp]]]:
    """Copies of a launch with one change in each core's program, that keep the results."""
    found: dict[Any, list[KernelOp]] = {}
    for core, kernel in enumerate(kernels):
        for proposal in proposals_for(kernel):
            if proposal.kind.numbers is not Numbers.same:
                continue
            edit = Edit(kernel)
            try:
                proposal.change(edit)
            except NotPossibleError:
                continue
            edit.kernel.verify()
            key = proposal.kind.id, proposal.subject, proposal.variant
            found.setdefault(key, list(kernels))[core] = edit.kernel
    return [(key[0], made) for key, made in found.items()]


def check_same_results(
    kernels: Sequence[KernelOp], inputs: Sequence[Any], most: int = 20
) -> set[str]:
    """Fail unless changes that keep the results do; returns the kinds of those that were tried."""
    made = changed(kernels)
    Random(0).shuffle(made)
    expected = run(kernels, inputs)
    errors = {d.rule.id for d in find_all(kernels, advise=False) if d.severity == "error"}
    for kind, copies in made[:most]:
        found = {d.rule.id for d in find_all(copies, advise=False) if d.severity == "error"}
        assert found <= errors | MEMORY, kind
        assert run(copies, inputs) == expected, kind
        # NeuronCore-v2 transposes by a product with the identity matrix: infinities become NaN.
        finite = kernels[0].target.platform == "trn1" and kind in (
            "dma-transpose",
            "tensor-transpose",
        )
        if not found and not finite:
            proof = prove(kernels, copies, "bits", trips=2)
            assert proof.holds("bits"), (kind, str(proof))
    return {kind for kind, _ in made[:most]}


MEMORY = {"sbuf-capacity", "psum-capacity"}
"""More tiles are in use at a time; experiments that do not fit are not reported."""
