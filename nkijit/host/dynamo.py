"""Dynamo: the part of `torch.compile` that reads the bytecode of functions."""

from __future__ import annotations

import sys


def is_in_dynamo() -> bool:
    """Return whether Dynamo reads the code of the caller; PyTorch is not imported for this."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    return compiler is not None and compiler.is_dynamo_compiling()
