"""`compiled-form`: the changes of the compiler's passes, written out for further changes.

The step gains nothing, because times are those of compiled kernels. Other changes find more in a
kernel without repeated loads and results, and with a tile for each refill of a buffer.
"""

from __future__ import annotations

from collections.abc import Iterator

from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.passes.advise.edit import Edit, NotPossibleError
from nkijit.passes.advise.kinds import Kind, Numbers
from nkijit.passes.advise.proposal import Proposal
from nkijit.passes.compile.analyses.cache import Analyses
from nkijit.passes.compile.pipeline import COMPILER, ORDERING, FitPass

COMPILED_FORM = Kind(
    "compiled-form",
    "Write out the changes of the compiler's passes.",
    "Run the compiler's passes, except for those that choose order, engines and spills.",
    Numbers.same,
    "",
)


def compiled_forms(kernel: KernelOp) -> Iterator[Proposal]:
    """Yield the proposal to write out the changes of the compiler's passes."""
    about = [op for op in kernel.operations if is_instruction(op)]
    if about:
        yield Proposal(
            COMPILED_FORM,
            "kernel",
            0,
            kernel.location,
            "write out the changes of the compiler's passes",
            ("loads and results are shared, and each refill of a buffer has a tile",),
            about,
            _compile,
        )


def _compile(edit: Edit) -> None:
    analyses = Analyses(edit.kernel)
    origins = edit.origins
    changes = [
        step().change(analyses, origins)
        for step in COMPILER
        if step.name not in ORDERING and step is not FitPass
    ]
    if not any(changes):
        raise NotPossibleError
