"""Pairs of kernels for a rule: one kernel violates the rule, the other is its correction.

`nkijit/assets/rules/RULE.py` has the kernels `wrong` and `right`, and the text of the finding as
`FINDING`. The tests check both kernels with the command of `command_of` and compare the text.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib import resources
from typing import Any

from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.rule_texts.portability import is_of_source
from nkijit.releases.table import Release, is_held, releases


@dataclass(frozen=True, slots=True)
class Pair:
    """A kernel that violates a rule, its finding, and a corrected kernel."""

    source: str
    """The file without the text of the finding."""
    wrong: str
    """The file up to the end of the wrong kernel, so its line numbers match the finding's."""
    finding: str
    right: str
    """The corrected kernel and the definitions before it, without imports."""


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
    end = 0
    for node in ast.parse(text).body:
        if _defines_wrong(node):
            end = node.end_lineno or 0
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FINDING":
            source = "\n".join(lines[: node.lineno - 1]).rstrip() + "\n"
            finding = str(ast.literal_eval(node.value)).strip("\n") + "\n"
    kept = source.split("\n")
    wrong = "\n".join(kept[:end]).strip() + "\n"
    right = "\n".join(kept[end:]).strip() + "\n"
    return Pair(source, wrong, finding, right)


def _defines_wrong(node: ast.stmt) -> bool:
    """Whether a statement defines the kernel `wrong`, or assigns to this name."""
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "wrong"
    return isinstance(node, ast.FunctionDef) and node.name == "wrong"


def source_release(rule: str) -> Release | None:
    """Return the newest release that has a rule about a kernel's source; None for other rules."""
    if not is_of_source(RULE_TEXTS[rule]):
        return None
    return max(release for release in releases() if is_held(rule, release))


def command_of(rule: str) -> str:
    """Return the command that reports the finding of a rule's pair, without the file."""
    release = source_release(rule)
    if release is None:
        return "nkijit verify"
    of_newest = release == releases()[-1]
    return "nkijit verify --portable" + ("" if of_newest else f" --nki {release.version}")
