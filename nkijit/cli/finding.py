"""`nkijit run --first-nan`."""

from __future__ import annotations

import typer

from nkijit.cli.values import Call
from nkijit.dialects.spelling import counted
from nkijit.host.terminal import waiting


def tell_first_nan(call: Call, strict: bool | None) -> None:
    """Print the instruction that makes the first NaN or infinity. Exits with 1 if there is one."""
    record = call.record(strict)
    with waiting("reading the values"):
        found = record.first()
    if found is None:
        print(f"no NaN or infinity in the results of {counted(len(record), 'instruction')}")
        return
    print(found)
    raise typer.Exit(1)
