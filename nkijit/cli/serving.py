"""The command that editors start."""

from __future__ import annotations

from typing import Annotated

import typer

from nkijit.failures import UsageError


def lsp(
    *,
    tcp: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=1, max=65535, help="wait for the editor at a port of this machine"
        ),
    ] = None,
) -> None:
    """Be a language server: findings, times and IR of kernels in an editor, as they are typed.

    The editor starts this, and speaks with it over standard input and output. Opening a file with
    kernels executes it. See docs/editors.md.
    """
    try:
        from nkijit.lsp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("nkijit lsp needs pygls: pip install 'nkijit[lsp]'") from None
    serve(tcp)
