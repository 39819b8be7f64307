"""Pages of the rules, generated from their texts."""

from __future__ import annotations

from collections.abc import Iterator

from docs._site.reference.markdown import contents, fenced, page
from docs._site.reference.violations import Violations, of_rule
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.dialects.rule_texts.text import RuleText
from nkijit.reference import catalogue

FOLDER = "reference/rules"
_INTRODUCED = {
    "mlir": "As IR, which `nkijit verify FILE.mlir` reads:",
    "python": "In Python, because tracing checks this rule:",
}
_PAGES = frozenset(op.name for op in (*INSTRUCTIONS, *COLLECTIVES))


def pages(found: Violations) -> Iterator[tuple[str, str]]:
    """Yield the index of the rules by category, and a page for each."""
    by_category = catalogue.rules_by_category()
    parts = [
        "# Rules",
        "The rules that `nkijit verify` checks, by category. `nkijit explain RULE` describes one "
        "rule. Violations are errors unless a rule is marked as a warning; `# nkijit: "
        "ignore[rule]` on a statement suppresses its warnings. A kernel that violates a rule "
        "marked as undefined or as “does not fit” can still be run ([checks](../../checks.md)); "
        "kernels with other errors are illegal.",
    ]
    for category, rules in by_category.items():
        rows = [f"## {category}", "", "| rule | says |", "|---|---|"]
        rows += [f"| {_linked(rule)} | {catalogue.literal(rule.sentence)} |" for rule in rules]
        parts.append("\n".join(rows))
    names = [rule.id for rules in by_category.values() for rule in rules]
    yield f"{FOLDER}/index.md", page(*parts, contents(names))
    for rules in by_category.values():
        for rule in rules:
            yield f"{FOLDER}/{rule.id}.md", rule_page(rule, found)


def _linked(rule: RuleText) -> str:
    label = catalogue.kind_in_words(rule)
    return f"[{rule.id}]({rule.id}.md)" + (f" ({label})" if label else "")


def rule_page(rule: RuleText, found: Violations) -> str:
    """Return the page of a rule, with a kernel from the tests that violates it if there is one."""
    label = catalogue.kind_in_words(rule)
    users = catalogue.users_of(rule)
    shown = ", ".join(
        f"[{name}](../instructions/{name}.md)" if name in _PAGES else name for name in users
    )
    kind = f"error: {rule.kind.value}" if rule.kind is not None else rule.severity
    parts = [
        f"# {rule.id}",
        catalogue.literal(rule.sentence),
        f"- **Kind:** {kind if label or rule.kind else rule.severity}\n"
        f"- **Category:** {rule.category}\n"
        f"- **Do:** {catalogue.literal(rule.help)}\n"
        f"- **Applies to:** {shown or catalogue.applies_to(rule)}\n"
        f"- **Source:** {catalogue.literal(rule.source)}",
    ]
    violation = of_rule(found, rule.id)
    if violation is not None:
        parts += [
            "## A kernel that violates it",
            _INTRODUCED[violation.language],
            fenced(violation.kernel, violation.language),
            fenced(violation.headline),
        ]
    return page(*parts)
