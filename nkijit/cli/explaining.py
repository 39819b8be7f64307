"""The command that explains rules and instructions."""

from __future__ import annotations

from typing import Annotated

import typer

from nkijit.catalogue import explain_instruction, explain_rule, list_rules, rules_as_markdown
from nkijit.failures import UsageError


def explain(
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE", help="a rule's id, e.g. both-in-psum, or an instruction, e.g. nisa.max8"
        ),
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="list all rules by category")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="print all rules as a Markdown document")
    ] = False,
) -> None:
    """Explain a rule (what it says, what to do, who has it, its source) or an instruction."""
    if markdown:
        print(rules_as_markdown(), end="")
        return
    if rule is None or list_all:
        print(list_rules(), end="")
        return
    try:
        is_instruction = rule.startswith(("nisa.", "ncc."))
        print((explain_instruction if is_instruction else explain_rule)(rule), end="")
    except KeyError as error:
        raise UsageError(error.args[0]) from None
