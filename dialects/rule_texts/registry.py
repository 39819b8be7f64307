"""The registry of rules, and the documents that state them."""

from __future__ import annotations

from nkijit.dialects.rule_texts.text import RuleText

RULE_TEXTS: dict[str, RuleText] = {}
"""Every rule by id."""


def rule(
    id: str, category: str, sentence: str, help: str, source: str, *, severity: str = "error"
) -> RuleText:
    """Define a rule; `RuleText` says what the texts are."""
    if id in RULE_TEXTS:
        raise ValueError(f"rule '{id}' is defined twice")
    text = RULE_TEXTS[id] = RuleText(id, category, sentence, help, source, severity)
    return text


ISA = "NKI API reference, nki.isa"
SHARED = "NKI API reference, nki.api.shared"
LANGUAGE = "NKI API reference, nki.language"
ARCH = "Trainium architecture guides"
