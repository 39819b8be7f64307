"""`nkijit prove`."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from nkijit.cli.options import Output
from nkijit.cli.selection import File, Other, Selection, Tracing
from nkijit.discovery.errors import UsageError
from nkijit.host.terminal import waiting
from nkijit.passes.prove.algebra import Level
from nkijit.traced.kernel import TracedKernel

_ELEMENT = re.compile(r"(?P<name>.+?)\[(?P<index>[\d\s,]*)\]")


def prove(
    old: File,
    new: Annotated[
        str,
        typer.Argument(
            metavar="OTHER[:KERNEL]", help="the kernel to compare with", show_default=False
        ),
    ] = "",
    *,
    tracing: Tracing,
    other: Other,
    level: Annotated[
        Level, typer.Option("--level", help="the weakest level that counts as equal")
    ] = Level.rounding,
    trips: Annotated[
        int | None,
        typer.Option(
            "--trips",
            metavar="N",
            min=0,
            help="assume that loops of unknown trip count run N times",
        ),
    ] = None,
    element: Annotated[
        str | None,
        typer.Option(
            "--element",
            metavar="NAME[INDEX]",
            help="show an element of a result as an expression of the inputs: 'y[3, 7]'",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print everything as JSON")] = False,
    output: Output,
) -> None:
    """Prove that two kernels are equal for all inputs, or show the term of an element.

    Needs no data. Reports the strictest level at which the kernels are equal: bits, reassociated
    (sums and products in any order) or rounding (other float types on the way). Otherwise shows the
    first element that differs, with the terms of both kernels where they begin to differ.

    Exit codes: 0 proven, 1 not proven, or a kernel has errors, 2 the command failed.
    """
    if element is not None:
        shown = other.pair(old, new, tracing) if new else [tracing.of(old)]
        output.write("".join(_terms(each, element) for each in shown))
        return
    if not new and not other.other_arg:
        raise UsageError(
            "prove compares two kernels: nkijit prove OLD NEW; or one kernel with other arguments: "
            "-b NAME=VALUE; or give --element"
        )
    pair = [each.one() for each in other.pair(old, new or old, tracing)]
    with waiting("comparing terms"):
        proof = pair[0].equivalent(pair[1], level.value, trips)
    output.write(proof.to_json() if as_json else f"{proof}\n")
    if not proof.holds(level):
        raise typer.Exit(1)


def _terms(kernels: Selection, element: str) -> str:
    match = _ELEMENT.fullmatch(element)
    if match is None:
        raise UsageError(f"--element {element}: expected a result and an index, such as 'y[3, 7]'")
    traced: TracedKernel = kernels.one()
    index = [int(number) for number in match["index"].split(",") if number.strip()]
    try:
        with waiting("recording terms"):
            return f"{traced.term(match['name'], *index)}\n"
    except (KeyError, IndexError) as error:
        raise UsageError(f"--element {element}: {error.args[0]}") from None
