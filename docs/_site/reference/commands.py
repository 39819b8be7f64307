"""Pages of the commands, generated from the application."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from typer.core import TyperArgument, TyperCommand, TyperOption

from docs._site.reference.markdown import contents, fenced, page
from nkijit.cli.app import COMMANDS, whole
from nkijit.reference import catalogue

FOLDER = "reference/commands"


def commands() -> dict[str, TyperCommand]:
    """Return the commands by name, in the order of `nkijit --help`."""
    found = {name: whole(name) for name in COMMANDS}
    return {name: command for name, command in found.items() if isinstance(command, TyperCommand)}


def pages() -> Iterator[tuple[str, str]]:
    """Yield the index of the commands, and a page for each."""
    known = commands()
    rows = ["| command | |", "|---|---|"]
    for name, command in known.items():
        rows.append(f"| [nkijit {name}]({name}.md) | {catalogue.prose(_paragraphs(command)[0])} |")
    yield (
        f"{FOLDER}/index.md",
        page(
            "# Commands",
            "`nkijit COMMAND FILE.py:KERNEL -a NAME=VALUE …`. [The command "
            "line](../../command-line.md) describes arguments, the configuration of a project and "
            "exit codes.",
            "\n".join(rows),
            contents(known),
        ),
    )
    for name, command in known.items():
        yield f"{FOLDER}/{name}.md", command_page(name, command)


def _paragraphs(command: TyperCommand) -> list[str]:
    text = re.sub(r"\x08\n?", "", command.help or "")
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def command_page(name: str, command: TyperCommand) -> str:
    """Return the page of a command: description, arguments and options."""
    arguments = [p for p in command.params if isinstance(p, TyperArgument) and not p.hidden]
    options = [p for p in command.params if isinstance(p, TyperOption) and not p.hidden]
    usage = " ".join(["nkijit", name, "[OPTIONS]", *(_metavar(a) for a in arguments)])
    parts = [f"# nkijit {name}", fenced(usage, "console")]
    parts += [catalogue.prose(text) for text in _paragraphs(command)]
    if arguments:
        parts += ["## Arguments", *(_item(_metavar(a), a.help, None) for a in arguments)]
    parts.append("## Options")
    for option in options:
        names = ", ".join((*option.opts, *option.secondary_opts))
        value = "" if option.is_flag or option.count else f" {_metavar(option)}"
        help_text = option.help or ""
        annotation = option.type_descriptor.annotation
        if isinstance(annotation, type) and issubclass(annotation, Enum):
            help_text += f": {', '.join(str(choice.value) for choice in annotation)}"
        default = None if option.is_flag or "default" in help_text else option.default
        parts.append(_item(names + value, help_text, default))
    parts.append(_item("--help, -h", "Show this message and exit.", None))
    return page(*parts)


def _metavar(parameter: TyperArgument | TyperOption) -> str:
    return parameter.metavar or (parameter.name or "").upper()


def _item(name: str, text: str | None, default: object) -> str:
    described = catalogue.prose(" ".join((text or "").split())) or "—"
    value = default.value if isinstance(default, Enum) else default
    return f"`{name}`\n: {described}" + (
        f"; default {value}" if value not in (None, "", [], ()) else ""
    )
