"""Resources for agents: the rules, and the instructions and functions of the API."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer

_MARKDOWN, _PLAIN = "text/markdown", "text/plain"


def add_resources(server: MCPServer[Any]) -> None:
    """Register the resources of a server. The reference is imported when one is read."""

    @server.resource("nkijit://rules", title="Rules", mime_type=_PLAIN)
    def rules() -> str:
        """All rules by category: severity, group and text."""
        from nkijit.reference.catalogue import list_rules

        return list_rules()

    @server.resource("nkijit://rules/{rule}", title="A rule", mime_type=_MARKDOWN)
    def rule_of(rule: str) -> str:
        """A rule: text, reason, source, a wrong and a corrected kernel."""
        from nkijit.reference.catalogue import rule_as_markdown

        return rule_as_markdown(rule)

    @server.resource("nkijit://instructions", title="Instructions", mime_type=_PLAIN)
    def instructions() -> str:
        """All instructions, each with its effect."""
        from nkijit.reference.catalogue import list_instructions

        return list_instructions()

    @server.resource("nkijit://instructions/{name}", title="An instruction", mime_type=_PLAIN)
    def instruction_of(name: str) -> str:
        """An instruction or function: arguments, engines, rules, costs."""
        from nkijit.reference.catalogue import explain

        return explain(name)
