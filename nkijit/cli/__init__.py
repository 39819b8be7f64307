"""The `nkijit` command: trace, verify, list, memory, profile, diff, report, run, explain."""

from nkijit.cli.app import app, main

__all__ = ["app", "main"]
