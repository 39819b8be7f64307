"""The catalogue of rules: what `nkijit explain` prints."""

from __future__ import annotations

import textwrap

from nkijit.dialects.collectives import COLLECTIVES
from nkijit.dialects.declare import RuleText
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.dialects.nki import AllocOp, ReturnOp
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.views import ViewOp


def users_of(rule: RuleText) -> list[str]:
    """The operations that declare a rule; dataflow rules are about whole kernels."""
    users = [op.name for op in (AllocOp, ViewOp, ReturnOp) if any(r.text is rule for r in op.RULES)]
    users += [
        op.name
        for op in (*INSTRUCTIONS, *COLLECTIVES)
        if any(r.text is rule for r in op.SPEC.rules)
    ]
    return users


def explain_rule(rule_id: str) -> str:
    """One rule in full. Raises KeyError, with the known ids, for an unknown one."""
    rule = RULE_TEXTS.get(rule_id)
    if rule is None:
        raise KeyError(f"unknown rule '{rule_id}'; known: {', '.join(sorted(RULE_TEXTS))}")
    users = users_of(rule)
    fields = [
        ("rule", rule.id),
        ("category", rule.category),
        ("says", rule.sentence),
        ("do", rule.help),
        ("applies to", ", ".join(users) if users else "a kernel as a whole"),
        ("source", rule.source),
    ]
    lines = [
        textwrap.fill(text, 100, initial_indent=f"{name:<12}", subsequent_indent=" " * 12)
        for name, text in fields
    ]
    return "\n".join(lines) + "\n"


def list_rules() -> str:
    """All rules by category."""
    width = max(map(len, RULE_TEXTS))
    lines: list[str] = []
    for category in dict.fromkeys(rule.category for rule in RULE_TEXTS.values()):
        lines.append(category)
        for rule in RULE_TEXTS.values():
            if rule.category == category:
                indent = " " * (width + 4)
                lines.append(
                    textwrap.fill(
                        rule.sentence,
                        100,
                        initial_indent=f"  {rule.id:<{width}}  ",
                        subsequent_indent=indent,
                    )
                )
    return "\n".join(lines) + "\n"
