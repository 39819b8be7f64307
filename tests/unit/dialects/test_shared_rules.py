"""Rules that many instructions share: memories, data types, partitions, columns, engines, targets.

Each operand of each instruction is changed in one property at a time. `shared_rules.txt` has the
changes that break a rule, and the operands that the finding names; all other changes break none of
these rules. `--update-golden` writes it. The lit tests have one example of each rule per family.
"""

from __future__ import annotations

from collections import Counter

import pytest
from support.shared_rules import TABLE, findings, form_of, lines, table

from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.nisa import INSTRUCTIONS

FORMS = table()
IN_LIT_ONLY = {
    # They need two cores.
    *("core_barrier", "sendrecv"),
    # They need registers.
    *("register_move", "register_load", "register_store"),
}

_numbers = Counter[str]()


def _id(form: str) -> str:
    name = form.partition(" ")[0]
    _numbers[name] += 1
    return f"{name}-{_numbers[name]}"


forms = pytest.mark.parametrize("form", FORMS, ids=_id)


@forms
def test_changes_break_the_rules_that_the_table_lists(
    form: str, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--update-golden"):
        FORMS[form] = lines(form_of(form).broken())
        blocks = ["\n    ".join([form, *broken]) for form, broken in FORMS.items()]
        TABLE.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    assert lines(form_of(form).broken()) == FORMS[form]


@forms
def test_the_form_itself_is_legal(form: str) -> None:
    assert findings(form_of(form).kernel) == []


@forms
def test_values_outside_declared_limits_are_found(form: str) -> None:
    """`nkijit explain` shows these limits."""
    broken = form_of(form).broken()
    for rule in form_of(form).op.SPEC.rules:
        if rule.limits is None:
            continue
        known = [
            *((region.value, region, rule.limits.buffers) for region in MemoryRegion),
            *((dtype, dtype, rule.limits.dtypes) for dtype in DTYPES),
        ]
        illegal = {shown for shown, value, legal in known if legal and value not in legal}
        for operand in set(rule.limits.operands) & set(form_of(form).operands):
            assert illegal <= set(broken[rule.text.id, operand][operand]), (rule.text.id, operand)


def test_every_instruction_has_forms_with_all_its_tiles() -> None:
    missing: list[str] = []
    for op in INSTRUCTIONS:
        if op.SPEC.name in IN_LIT_ONLY:
            continue
        of_op = [form_of(form) for form in FORMS if form.partition(" ")[0] == op.name]
        given = {name.partition("[")[0] for form in of_op for name in form.operands}
        missing += [
            f"{op.name} {f.name}"
            for f in op.SPEC.operand_fields
            if f.accepts_tile and f.name not in given
        ]
    assert missing == [], "add legal forms to shared_rules.txt, then run with --update-golden"
