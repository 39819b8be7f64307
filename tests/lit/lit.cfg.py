"""Configures lit: FileCheck tests of the output of the command-line tools.

`make suite` runs them all, `.venv/bin/lit -v tests/lit/<folder or file>` some.
"""

# ruff: noqa: F821  (lit defines `config` and `lit_config` before it runs this file)

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import lit.formats

here = Path(__file__).resolve().parent

config.name = "nkijit"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(here)
config.test_exec_root = str(here.parents[1] / "build" / "lit")
config.suffixes = [".mlir", ".py", ".test"]
config.excludes = ["Inputs", "preloaded", "lit.cfg.py", "lit.local.cfg"]
config.maxIndividualTestTime = 600  # seconds; it ends tests that hang, however busy the machine is

# The tools are those of lit's own environment, independent of PATH.
scripts = sysconfig.get_path("scripts")
tools = {
    name: shutil.which(name, path=scripts)
    for name in ("nkijit", "nkijit-opt", "xdsl-opt", "filecheck")
}
for name, tool in tools.items():
    if tool is None:
        lit_config.fatal(f"{name} is not installed beside {sys.executable}: run `make setup`")
config.environment["PATH"] = scripts + os.pathsep + config.environment["PATH"]

# Text must not depend on the terminal.
config.environment["NO_COLOR"] = "1"
config.environment["COLUMNS"] = "200"

# The verdicts of earlier processes must not decide a test.
config.environment["NKIJIT_VERDICT_CACHE"] = ""

# Where processes can be forked, tools are forks of a process with the common imports.
# NKIJIT_LIT_FORK=0 starts them instead.
if hasattr(os, "fork") and os.environ.get("NKIJIT_LIT_FORK", "1") != "0":
    # The path of a socket has at most 104 characters. The server removes it.
    folder = tempfile.mkdtemp(prefix="nkijit-lit-")
    path = f"{folder}/socket"
    server = subprocess.Popen(
        [sys.executable, str(here / "preloaded" / "server.py"), path],
        stdin=subprocess.PIPE,
        env=config.environment,
    )
    while not os.path.exists(path):
        if server.poll() is not None:
            lit_config.fatal(f"the process that runs tools has ended with {server.returncode}")
        time.sleep(0.01)
    client = [sys.executable, "-I", "-S", str(here / "preloaded" / "client.py"), path]
    for name, tool in tools.items():
        script = Path(folder, name)
        script.write_text(f'#!/bin/sh\nexec {shlex.join([*client, tool])} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    config.environment["PATH"] = folder + os.pathsep + config.environment["PATH"]

# %roundtrip: the output of nkijit-opt for the test file matches its CHECK lines. It stays the
# same, character by character, when it is parsed and printed again: pretty -> pretty, then
# pretty -> generic -> pretty.
roundtrip = (
    "nkijit-opt %s > %t.pretty.mlir",
    "filecheck --match-full-lines %s < %t.pretty.mlir",
    "nkijit-opt %t.pretty.mlir > %t.again.mlir",
    "diff %t.pretty.mlir %t.again.mlir",
    "nkijit-opt --print-op-generic %t.pretty.mlir > %t.generic.mlir",
    "nkijit-opt %t.generic.mlir > %t.back.mlir",
    "diff %t.pretty.mlir %t.back.mlir",
)
config.substitutions.append(("%roundtrip", " && ".join(roundtrip)))
config.substitutions.append(("%python", f"'{sys.executable}'"))
# The data of a report, which its page has packed.
unpack = here.parent / "unit" / "support" / "report_pages.py"
config.substitutions.append(("%unpack", f"'{sys.executable}' '{unpack}'"))
# Each path is quoted, for checkouts in folders with spaces.
for path in ("%s", "%S", "%t"):
    config.substitutions.append((path, f"'{path}'"))
