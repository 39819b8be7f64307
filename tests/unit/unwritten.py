"""Kernels that run although verification knows that they read unwritten memory."""

from __future__ import annotations

from nkijit.passes.verify.diagnostics import Findings, NkiValidationError
from nkijit.traced import TracedKernel


class WithUnwritten(TracedKernel):
    """A kernel as traced, but reading or returning what nothing has written is no mistake."""

    def __init__(self, traced: TracedKernel):
        super().__init__(traced.module, traced.diagnostics)

    def verify(self) -> None:
        found = Findings(d for d in self.diagnostics if d.rule.category != "initialisation")
        if found.errors:
            raise NkiValidationError(found)
