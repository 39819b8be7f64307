"""Rules about the comments that suppress warnings."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import rule
from nkijit.dialects.rule_texts.text import WarningGroup

_SOURCE = "nkijit: # nkijit: ignore[rule]"

UNUSED_SUPPRESSION = rule(
    "unused-suppression",
    "suppression",
    "A comment that suppresses a warning is on the statement at which the warning is reported.",
    "remove the rule from the comment, or put the comment on the statement's own lines",
    _SOURCE,
    group=WarningGroup.advice,
)
SUPPRESSION_OF_ERROR = rule(
    "suppression-of-error",
    "suppression",
    "Warnings can be suppressed, errors cannot.",
    "fix the error and remove the comment",
    _SOURCE,
    group=WarningGroup.advice,
)
UNKNOWN_RULE = rule(
    "unknown-rule",
    "suppression",
    "A comment that suppresses warnings names their rules: # nkijit: ignore[rule, rule].",
    "name rules by the ids that findings show in brackets, e.g. # nkijit: ignore[dead-store]",
    _SOURCE,
    group=WarningGroup.advice,
)
