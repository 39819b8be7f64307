"""Options that several commands share.

A group of options is a dataclass whose fields have typer's annotations. A command has one parameter
per group.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

import typer

from nkijit.discovery.errors import UsageError
from nkijit.host.missing_files import missing_folder
from nkijit.host.output_files import write_text
from nkijit.host.terminal import show
from nkijit.passes.compile.schedules import Schedule


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command in which each parameter that is a group of options becomes its fields.

    Before it does any work, the command checks that the folders of its output files exist.
    """
    groups: dict[str, Any] = {}
    parameters: list[Parameter] = []
    for name, parameter in signature(command, eval_str=True).parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            parameters += _options(parameter.annotation)
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    def call(**values: Any) -> None:
        for parameter in parameters:
            _check_folders(parameter, values[parameter.name])
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        command(**values)

    call.__doc__ = command.__doc__
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    wrapped: Any = call
    wrapped.__signature__ = Signature(parameters)
    return call


WRITTEN = "written"
"""Marks options with output files; `typing.Annotated` takes it after `typer.Option`."""


def _check_folders(parameter: Parameter, value: Any) -> None:
    """Raise UsageError if an option has an output file in a folder that does not exist."""
    marks: tuple[Any, ...] = getattr(parameter.annotation, "__metadata__", ())
    if WRITTEN not in marks or value is None:
        return
    option = marks[0]
    # Within `Annotated`, the first of typer's declarations is its parameter `default`.
    name = next(n for n in (option.default, *option.param_decls) if n.startswith("-"))
    for path in cast(list[Path], value) if isinstance(value, list) else [value]:
        if message := missing_folder(path):
            raise UsageError(f"{name} {path}: {message}")


def _options(group: Any) -> Iterator[Parameter]:
    types = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = Parameter.empty if field.default is MISSING else field.default
        yield Parameter(
            field.name, Parameter.KEYWORD_ONLY, default=default, annotation=types[field.name]
        )


Locations = Annotated[
    bool, typer.Option("--locations", help="print file:line:column after every operation")
]

Strict = Annotated[
    bool | None,
    typer.Option(
        "--strict/--no-strict",
        help="stop at every error (the default), or continue where values are undefined or tiles "
        "do not fit",
        show_default=False,
    ),
]

DisableDge = Annotated[
    bool,
    typer.Option(
        "--disable-dge",
        help="generate DMA descriptors in advance, as the vendor's compiler does with this option",
    ),
]


ScheduleOf = Annotated[
    Schedule,
    typer.Option(
        "--schedule",
        help="order of instructions and tiles: the author's, or that of the compiler's passes",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Output:
    """The output of a command: a file, or the terminal."""

    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="write to this file instead of the terminal"
        ),
        WRITTEN,
    ] = None

    def write(self, text: str) -> None:
        """Write text to the file, or print it."""
        if self.output is None:
            show(text)
        else:
            write_text(self.output, text)

    def write_document(self, document: Any) -> None:
        """Write a JSON document."""
        self.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
