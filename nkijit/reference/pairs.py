"""Pairs of kernels for a rule: one kernel violates the rule, the other is its correction.

`nkijit/assets/rules/RULE.py` has the kernels `wrong` and `right`, and the text of the finding as
`FINDING`. The tests run both kernels and compare the text.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Pair:
    """A kernel that violates a rule, its finding, and a corrected kernel."""

    source: str
    """The file without the text of the finding."""
    wrong: str
    """The file up to the end of the wrong kernel, so its line numbers match the finding's."""
    finding: str
    right: str
    """The corrected kernel, without imports."""


def folder() -> Any:
    """Return the folder of the pairs."""
    return resources.files("nkijit") / "assets" / "rules"


def rules_with_pair() -> list[str]:
    """Return the ids of the rules that have a pair."""
    return sorted(e.name.removesuffix(".py") for e in folder().iterdir() if e.name.endswith(".py"))


def pair_of(rule: str) -> Pair | None:
    """Return the pair of a rule by the rule's id; None if the rule has no pair."""
    file = folder() / f"{rule}.py"
    if not file.is_file():
        return None
    text = file.read_text(encoding="utf-8")
    source, finding = text, ""
    lines = text.split("\n")
    begins: dict[str, int] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            begins[node.name] = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FINDING":
            source = "\n".join(lines[: node.lineno - 1]).rstrip() + "\n"
            finding = str(ast.literal_eval(node.value)).strip("\n") + "\n"
    kept = source.split("\n")
    wrong = "\n".join(kept[: begins["right"]]).strip() + "\n"
    right = "\n".join(kept[begins["right"] :]).strip() + "\n"
    return Pair(source, wrong, finding, right)
