"""`nkijit explain`."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Annotated

import typer

from nkijit.discovery.errors import UsageError
from nkijit.reference import catalogue

TOPICS = {"arguments": "nkijit.discovery.argument_text"}
"""Maps each topic of `nkijit explain` to the module whose docstring explains it."""


def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="id of a rule, e.g. both-in-psum; an instruction, e.g. nisa.max8; a function, "
            "e.g. nl.load; or `arguments`: the forms of -a",
        ),
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="list all rules by category")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="print all rules as a Markdown document")
    ] = False,
) -> None:
    """Explain a rule, an instruction, a function or the forms of an argument."""
    if markdown:
        print(catalogue.rules_as_markdown(), end="")
        return
    if name is None or list_all:
        print(catalogue.list_rules(), end="")
        return
    if name in TOPICS:
        print(inspect.cleandoc(import_module(TOPICS[name]).__doc__ or ""))
        return
    try:
        print(catalogue.explain(name), end="")
    except KeyError as error:
        raise UsageError(error.args[0]) from None
