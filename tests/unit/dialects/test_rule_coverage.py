"""Every declared rule is tripped, and every rule's message quoted, by tests.

Reads the files of tests/lit whose CHECK lines quote findings, and runs the verification in
process over their kernels. Of the rules that many instructions share, lit tests have one example
per family; `test_shared_rules.py` tries them on every instruction.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from support.paths import LIT
from support.shared_rules import form_of, table

from nkijit.dialects.declare.queries import rules_of
from nkijit.dialects.declare.spec import Rule
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS, OF_SCALARS
from nkijit.dialects.nisa.universal_rules import UNIVERSAL_RULES
from nkijit.dialects.nki import WITH_RULES
from nkijit.dialects.nki.kernel import KernelOp, launches
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.ir.text import parse
from nkijit.passes.diagnostics.diagnostic import Diagnostic
from nkijit.passes.verify.passes import (
    VERIFICATION_PASSES,
    VerificationPass,
    find_all,
)
from nkijit.reference.catalogue import users_of

# A CHECK line, with any prefix, and the finding that it quotes.
_QUOTE = re.compile(
    r"^\s*(?://|#) [A-Z]+(?:-NEXT|-DAG)?:\s*((?:error|warning)\[([\w-]+)\].*)$", re.MULTILINE
)
_PASS = re.compile(r"RUN: (?:not )?nkijit(?:-opt| verify) -p ([\w-]+)")
_PASSES = {pass_class.name: pass_class for pass_class in VERIFICATION_PASSES}


def _name(path: Path) -> str:
    return path.relative_to(LIT).as_posix()


def _test_files() -> list[Path]:
    files = [p for p in LIT.rglob("*") if p.suffix in (".mlir", ".py", ".test")]
    return sorted(p for p in files if "Inputs" not in p.parts and p.name != "lit.cfg.py")


@cache
def _quotes(path: Path) -> tuple[tuple[str, str], ...]:
    """(rule id, quoted headline) for every CHECK line that quotes a finding."""
    return tuple((m[2], m[1]) for m in _QUOTE.finditer(path.read_text(encoding="utf-8")))


def _kernels(path: Path) -> list[KernelOp]:
    return [kernel for kernels in _launches(path).values() for kernel in kernels]


def _kernel_files() -> list[Path]:
    """Files of well-formed IR in which something is found."""
    return [p for p in _test_files() if p.suffix == ".mlir" and _quotes(p)]


@cache
def _launches(path: Path) -> dict[str, list[KernelOp]]:
    """The kernels by name, each as its programs for the cores that it has one for."""
    module = parse(path.read_text(encoding="utf-8"), _name(path))
    return {kernels[0].launch_name: kernels for kernels in launches(module)}


def _invalid_files() -> list[Path]:
    return sorted(LIT.rglob("invalid.mlir"))


def _pass(path: Path) -> type[VerificationPass]:
    """The pass that a file is about; `verify` unless its RUN line says."""
    named = _PASS.search(path.read_text(encoding="utf-8"))
    return _PASSES["verify" if named is None else named[1]]


def _found(path: Path) -> list[Diagnostic]:
    """Return the findings in a file of the pass that the file is about."""
    run = (_pass(path),)
    return [d for kernels in _launches(path).values() for d in find_all(kernels, run)]


def _headline(diagnostic: Diagnostic) -> str:
    return str(diagnostic).partition("\n")[0]


def _quotes_headline(quote: str, headline: str) -> bool:
    """FileCheck's match of a whole line: text is literal, {{}} holds a regular expression."""
    parts = re.split(r"\{\{(.*?)\}\}", quote)
    pattern = "".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts))
    return re.fullmatch(pattern, headline) is not None


def _declarations() -> dict[str, tuple[Rule, ...]]:
    """The rules of every operation that has some, in their order."""
    return {op.name: rules_of(op) for op in (*WITH_RULES, *INSTRUCTIONS, *OF_SCALARS, *COLLECTIVES)}


def _tripped_declarations() -> set[tuple[str, int]]:
    """(operation, position of the rule) for every rule that some operation in the tests breaks."""
    declared = _declarations()
    tripped: set[tuple[str, int]] = set()
    in_lit = (k for path in _kernel_files() for k in _kernels(path))
    varied = (k for form in table() for _, k in form_of(form).variants())
    for kernel in chain(in_lit, varied):
        for op in kernel.operations:
            for index, rule in enumerate(declared.get(op.name, ())):
                if rule.check(op, kernel.target) is not None:
                    tripped.add((op.name, index))
    return tripped


def test_every_declared_rule_is_tripped() -> None:
    """Also each of several rules of one kind: the column rules of bias and of scale are two."""
    tripped = _tripped_declarations()
    missing = [
        f"{name}: {rule.text.id} (number {index} of its rules)"
        for name, rules in _declarations().items()
        for index, rule in enumerate(rules)
        if (name, index) not in tripped
    ]
    assert not missing, "no test trips these rules:\n" + "\n".join(missing)


def test_every_pair_of_operation_and_rule_is_found() -> None:
    """Broken rules are also reported, under the name of the operation."""
    reported = {(d.subject, d.rule.id) for path in _kernel_files() for d in _found(path)}
    for form in map(form_of, table()):
        reported |= {(form.op.name, rule) for rule, _ in form.broken()}
    universal = {rule.text.id for rule in UNIVERSAL_RULES}
    declared = {
        (user, rule.id)
        for rule in RULE_TEXTS.values()
        if rule.id not in universal
        for user in users_of(rule)
    }
    missing = sorted(f"{user}: {rule}" for user, rule in declared - reported)
    assert not missing, "no test has these findings:\n" + "\n".join(missing)


def test_every_rule_of_all_instructions_is_found() -> None:
    """One instruction can represent all; its legal counterpart is the kernel in valid.mlir."""
    found = {d.rule.id for path in _invalid_files() for d in _found(path)}
    missing = sorted({rule.text.id for rule in UNIVERSAL_RULES} - found)
    assert not missing, "no invalid.mlir has these findings: " + ", ".join(missing)


def test_every_rule_is_quoted() -> None:
    """Also rules of whole kernels, and those that break while a kernel is traced."""
    quoted = {rule for path in _test_files() for rule, _ in _quotes(path)}
    missing = sorted(set(RULE_TEXTS) - quoted)
    assert not missing, "no CHECK line in tests/lit quotes these rules: " + ", ".join(missing)
    unknown = sorted(quoted - set(RULE_TEXTS))
    assert not unknown, "CHECK lines in tests/lit quote rules that do not exist: " + ", ".join(
        unknown
    )


@pytest.mark.parametrize("path", _kernel_files(), ids=_name)
def test_every_finding_is_quoted(path: Path) -> None:
    quotes = [headline for _, headline in _quotes(path)]
    missing = [
        h for h in map(_headline, _found(path)) if not any(_quotes_headline(q, h) for q in quotes)
    ]
    assert not missing, "no CHECK line of the file quotes these findings:\n" + "\n".join(missing)


@pytest.mark.parametrize("path", _invalid_files(), ids=_name)
def test_every_wrong_kernel_has_a_legal_neighbour(path: Path) -> None:
    """invalid.mlir and valid.mlir have kernels of the same names: all wrong, all right."""
    run = (_pass(path),)
    wrong, right = (
        {name: find_all(kernels, run) for name, kernels in _launches(file).items()}
        for file in (path, path.with_name("valid.mlir"))
    )
    assert list(wrong) == list(right)
    assert [name for name, found in wrong.items() if not found] == []
    assert [name for name, found in right.items() if found] == []


@pytest.mark.parametrize("path", _invalid_files(), ids=_name)
def test_a_wrong_kernel_breaks_few_rules(path: Path) -> None:
    """A kernel is about one rule; at most one more breaks with it, as its comment says."""
    for name, kernels in _launches(path).items():
        rules = Counter(d.rule.id for d in find_all(kernels, (_pass(path),)))
        assert len(rules) <= 2, f"@{name} breaks {sorted(rules)}"
