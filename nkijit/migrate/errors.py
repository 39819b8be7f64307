"""Why a kernel, or a function that it uses, cannot be rewritten where it stands."""

from __future__ import annotations

import ast


class NoRewriteError(Exception):
    """No local rewrite is known for what stands at a line."""

    def __init__(self, message: str, node: ast.AST | None = None):
        """`node`: what it is about, for its line."""
        super().__init__(message)
        self.message = message
        self.line = getattr(node, "lineno", None)

    def at(self, node: ast.AST) -> NoRewriteError:
        """The same, with a line if it has none yet."""
        if self.line is None:
            self.line = getattr(node, "lineno", None)
        return self


class MigrationError(Exception):
    """A module that cannot be migrated at all."""


__all__ = ["MigrationError", "NoRewriteError"]
