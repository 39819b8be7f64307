"""Reasons why a kernel, or a function that the kernel calls, cannot be rewritten in place."""

from __future__ import annotations

import ast


class NoRewriteError(Exception):
    """No rewrite in place is known for a construct."""

    def __init__(self, message: str, node: ast.AST | None = None):
        """Create the error; `node` gives its line."""
        super().__init__(message)
        self.message = message
        self.line = getattr(node, "lineno", None)

    def at(self, node: ast.AST) -> NoRewriteError:
        """Return the same error, with the line of `node` if the error has no line yet."""
        if self.line is None:
            self.line = getattr(node, "lineno", None)
        return self


class MigrationError(Exception):
    """A module that cannot be migrated at all."""


__all__ = ["MigrationError", "NoRewriteError"]
