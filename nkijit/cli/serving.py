"""`nkijit lsp` and `nkijit mcp`: the servers that editors and agents start."""

from __future__ import annotations

from typing import Annotated

import typer

from nkijit.discovery.errors import UsageError
from nkijit.host.processes.isolated import Limits


def lsp(
    *,
    tcp: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=1, max=65535, help="listen on this port of this machine"),
    ] = None,
) -> None:
    """Run a language server: findings, predicted times and IR of kernels in an editor.

    The editor starts this command and communicates over standard input and output. Opening a file
    with kernels executes it.
    """
    try:
        from nkijit.lsp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("nkijit lsp needs pygls: pip install 'nkijit[lsp]'") from None
    serve(tcp)


def mcp(
    *,
    time_limit: Annotated[
        float,
        typer.Option("--time-limit", metavar="SECONDS", min=0.1, help="time limit of an answer"),
    ] = 60.0,
    memory_limit: Annotated[
        int, typer.Option("--memory-limit", metavar="MIB", min=64, help="memory limit of an answer")
    ] = 8192,
) -> None:
    """Run a server of the Model Context Protocol, with tools for agents that write kernels.

    The agent starts this command and communicates over standard input and output. Each request
    executes the file of its kernel in a separate process.
    """
    try:
        from nkijit.mcp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio", "pydantic"):
            raise
        raise UsageError("nkijit mcp needs its SDK: pip install 'nkijit[mcp]'") from None
    serve(Limits(time_limit, memory_limit))
