"""An agent for tests: the SDK's own client, and a server that it has started."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool

PATIENCE = timedelta(seconds=120)
"""After which something hangs."""


class Agent:
    """A client with one server; a context."""

    def __init__(self, folder: Path, *options: str):
        self.folder, self._options = folder, options
        self._stack = ExitStack()

    def __enter__(self) -> Agent:
        # The SDK takes most of a second to import: not while tests are collected.
        from anyio.from_thread import start_blocking_portal
        from mcp import Client, StdioServerParameters, stdio_client

        self._portal = self._stack.enter_context(start_blocking_portal())
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "nkijit", "mcp", *self._options],
            cwd=self.folder,
        )
        client = Client(stdio_client(server))
        self.client = self._stack.enter_context(self._portal.wrap_async_context_manager(client))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self._portal.call(self.client.list_tools).tools}

    def resources(self) -> set[str]:
        """The addresses of the resources, without templates."""
        return {str(each.uri) for each in self._portal.call(self.client.list_resources).resources}

    def read(self, uri: str) -> str:
        (content,) = self._portal.call(self.client.read_resource, uri).contents
        return content.text

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return self._portal.call(self.client.call_tool, tool, arguments)

    def ask(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """The document and the text of an answer."""
        found = self.call(tool, **arguments)
        (text,) = found.content
        assert not found.is_error, text
        assert isinstance(found.structured_content, dict)
        assert text.type == "text"
        return found.structured_content, text.text

    def refused(self, tool: str, **arguments: Any) -> str:
        """The error that a tool gives."""
        found = self.call(tool, **arguments)
        (text,) = found.content
        assert found.is_error, found
        assert found.structured_content is None
        assert text.type == "text"
        return text.text
