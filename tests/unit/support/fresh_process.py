"""Tests that fork: in a process of their own, which has no threads of other tests."""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from support.paths import ROOT

_INSIDE = "NKIJIT_TEST_IN_FRESH_PROCESS"


def in_fresh_process(test: Callable[..., Any]) -> Callable[..., Any]:
    """Run a test in a new process: modules imported by others may not support forks (JAX)."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        if _INSIDE in os.environ:
            test(*args, **kwargs)
            return
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"{inspect.getfile(test)}::{test.__name__}"],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**kept, _INSIDE: "1"},
        )
        assert done.returncode == 0, done.stdout + done.stderr

    return run
