"""The errors of a kernel that are ignored when the kernel is listed or profiled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nkijit.dialects.rule_texts.text import ErrorKind
from nkijit.passes.diagnostics.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class PassedOver:
    """The ids of the rules that a kernel breaks, by kind of error; `str()` is one line."""

    does_not_fit: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()

    @staticmethod
    def of(found: Iterable[Diagnostic]) -> PassedOver:
        """Collect the errors of a kernel that can be ignored, by the kinds listed as fields."""
        does_not_fit: dict[str, None] = {}
        undefined: dict[str, None] = {}
        for diagnostic in found:
            if diagnostic.kind is ErrorKind.does_not_fit:
                does_not_fit[diagnostic.rule.id] = None
            elif diagnostic.kind is ErrorKind.undefined:
                undefined[diagnostic.rule.id] = None
        return PassedOver(tuple(does_not_fit), tuple(undefined))

    def __bool__(self) -> bool:
        return bool(self.does_not_fit or self.undefined)

    def __str__(self) -> str:
        parts: list[str] = []
        if self.does_not_fit:
            rules = ", ".join(self.does_not_fit)
            parts.append(f"{ErrorKind.does_not_fit.value}: {rules} (shown as if it did)")
        if self.undefined:
            parts.append(f"{ErrorKind.undefined.value}: {', '.join(self.undefined)}")
        return "; ".join(parts)
