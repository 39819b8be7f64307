"""The import name `neuronxcc.nki`: the very modules of `nkijit.classic`."""

from __future__ import annotations

import subprocess
import sys

from support.paths import ALIASES


def run(program: str) -> None:
    """Run a program in a Python of its own that sees the alias package."""
    subprocess.run([sys.executable, "-c", program], cwd=ALIASES, check=True, timeout=600)


def test_every_way_to_import_gives_the_very_modules() -> None:
    run(
        """
import sys

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
from neuronxcc import nki as again
from neuronxcc.nki import baremetal, benchmark, profile
from neuronxcc.nki.compiler import psum, sbuf
from neuronxcc.nki.isa.constants import dge_mode
from neuronxcc.nki.typing import mutable_tensor, tensor

import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.compiler.sbuf as module_sbuf
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.isa.constants as constants
import neuronxcc.nki.typing as nt

import nkijit.classic

assert nki is again is nkijit.classic
assert nl is nki.language is nkijit.classic.language
assert nisa is nki.isa is nkijit.classic.isa
assert nt is nki.typing is nkijit.classic.typing
assert ncc is nki.compiler is nkijit.classic.compiler
assert sbuf is ncc.sbuf is module_sbuf and psum is ncc.psum
assert constants is nkijit.classic.isa.constants and dge_mode is constants.dge_mode
assert benchmark is nki.benchmark and profile is nki.profile and baremetal is nki.baremetal
assert tensor is nt.tensor and mutable_tensor is nt.mutable_tensor
for name, module in sys.modules.items():
    if name.startswith("neuronxcc.nki"):
        assert module is sys.modules["nkijit.classic" + name[len("neuronxcc.nki"):]], name
"""
    )


def test_a_submodule_can_be_imported_first() -> None:
    for module in ("compiler.sbuf", "isa.constants", "language", "language.constants", "typing"):
        run(
            f"import neuronxcc.nki.{module} as module\n"
            "import nkijit.classic\n"
            f"assert module is nkijit.classic.{module}"
        )


def test_names_that_published_kernels_import_by_their_module() -> None:
    run(
        """
import logging

import neuronxcc

assert logging.OFF > logging.CRITICAL
from neuronxcc.nki.language import par_dim
from neuronxcc.nki.language.constants import sizeinbytes
import neuronxcc.nki.language as nl

assert [sizeinbytes(d) for d in (nl.bfloat16, nl.float32, nl.uint8, "float8_e4m3")] == [2, 4, 1, 1]
assert par_dim is nl.par_dim
"""
    )


def test_both_apis_side_by_side() -> None:
    run(
        "import neuronxcc.nki as classic\nimport nki\n"
        "import nkijit\n"
        "assert nki is nkijit and classic is nkijit.classic and classic is not nki"
    )
