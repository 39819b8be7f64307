"""`nkijit explain`."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from nkijit.discovery import argument_text
from nkijit.discovery.errors import UsageError
from nkijit.passes.diagnostics.tables import tables_as_text
from nkijit.reference import catalogue
from nkijit.reference.glossary import glossary_as_markdown


def _arguments() -> str:
    return f"{inspect.cleandoc(argument_text.__doc__ or '')}\n"


TOPICS = {"arguments": _arguments, "glossary": glossary_as_markdown}
"""Maps each topic of `nkijit explain` to the function that returns its page in Markdown."""


def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="id of a rule, e.g. both-in-psum; an instruction, e.g. nisa.max8; a function, "
            "e.g. nl.load; a module, e.g. nki.language; a term, e.g. partition; `arguments`: the "
            "forms of -a; or `glossary`: all terms",
        ),
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="list all rules by category")] = False,
    markdown: Annotated[
        bool,
        typer.Option(
            "--markdown", help="print all rules, the forms of -a or all terms as Markdown"
        ),
    ] = False,
) -> None:
    """Explain a rule, an instruction, a function, a term or the forms of an argument."""
    if name in TOPICS:
        page = TOPICS[name]()
        print(page if markdown else tables_as_text(page), end="")
        return
    if markdown:
        print(catalogue.rules_as_markdown(), end="")
        return
    if name is None or list_all:
        print(catalogue.list_rules(), end="")
        return
    try:
        print(catalogue.explain(name), end="")
    except KeyError as error:
        raise UsageError(error.args[0]) from None
