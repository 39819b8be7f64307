"""The registry of rules, and the documents that state them."""

from __future__ import annotations

from nkijit.dialects.rule_texts.text import ErrorKind, RuleText, WarningGroup

RULE_TEXTS: dict[str, RuleText] = {}
"""Every rule by id."""


def rule(
    id: str,
    category: str,
    sentence: str,
    help: str,
    source: str,
    *,
    kind: ErrorKind = ErrorKind.illegal,
    group: WarningGroup | None = None,
) -> RuleText:
    """Define a rule; `RuleText` documents the arguments. `group` makes it a warning."""
    if id in RULE_TEXTS:
        raise ValueError(f"rule '{id}' is defined twice")
    of_error = kind if group is None else None
    text = RULE_TEXTS[id] = RuleText(id, category, sentence, help, source, of_error, group)
    return text


ISA = "NKI API reference, nki.isa"
SHARED = "NKI API reference, nki.api.shared"
LANGUAGE = "NKI API reference, nki.language"
ARCH = "Trainium architecture guides"
