"""The `nkijit` command line. `app` lists the commands."""

from nkijit.cli.app import app, main

__all__ = ["app", "main"]
