"""Kernels that run although verification reports errors in them."""

from __future__ import annotations

from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import Findings
from nkijit.traced.kernel import TracedKernel


class WithUnwritten(TracedKernel):
    """A kernel as traced, but unwritten memory, races and cores that do not meet are no mistake."""

    def __init__(self, traced: TracedKernel):
        super().__init__(traced.module, traced.diagnostics)

    def verify(self) -> None:
        allowed = ("initialisation", "hazard")
        found = Findings(d for d in self.diagnostics if d.rule.category not in allowed)
        if found.errors:
            raise NkiValidationError(found)
