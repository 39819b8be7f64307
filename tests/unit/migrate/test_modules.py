"""Code around kernels, and unusual files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.migrations import migrated, run_both, write
from support.paths import ROOT

from nkijit.kernels.arguments import TensorSpec
from nkijit.migrate.migration import migrate_file
from nkijit.migrate.rules import RULES

BODY = """
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.exp(nl.load(x)))
    return out
"""
SPEC = {"x": TensorSpec((64, 32), "float32")}

IMPORTS = {
    "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n": (
        "import nki\nimport nki.language as nl\n"
    ),
    "from neuronxcc import nki\nfrom neuronxcc.nki import language as nl\n": (
        "import nki\nimport nki.language as nl\n"
    ),
    "import neuronxcc.nki as K\nnki = K\nimport neuronxcc.nki.language as nl\n": (
        "import nki as K\nnki = K\nimport nki.language as nl\n"
    ),
    "from neuronxcc.nki import *\nimport neuronxcc.nki as nki\n"
    "import neuronxcc.nki.language as nl\n": (
        "from nki import *\nimport nki\nimport nki.language as nl\n"
    ),
    "import nkijit.classic as nki\nimport nkijit.classic.language as nl\n": (
        "import nki\nimport nki.language as nl\n"
    ),
}


@pytest.mark.parametrize("head", IMPORTS)
def test_imports(head: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"\n\n@nki.jit\ndef kernel(x):{BODY}", head)
    migration = migrate_file(path, SPEC)
    assert migration.report.kernels[0].proven, str(migration.report)
    assert all(migration.report.kernels[0].for_all)
    # Imports that the rewritten kernel needs are added.
    assert migration.text.startswith(IMPORTS[head] + "import nki.isa as nisa\n")


def test_names_that_are_imported_one_by_one(tmp_path: Path) -> None:
    head = (
        "from neuronxcc.nki import jit\n"
        "from neuronxcc.nki.language import affine_range, arange, exp, load, ndarray, par_dim\n"
        "from neuronxcc.nki.language import shared_hbm, store\n"
    )
    body = """
@jit
def kernel(x):
    out = ndarray(x.shape, dtype=x.dtype, buffer=shared_hbm)
    i, j = arange(32)[:, None], arange(x.shape[1])[None, :]
    for block in affine_range(2):
        store(out[block * 32 + i, j], exp(load(x[block * 32 + i, j])))
    return out
"""
    migration = migrate_file(write(tmp_path, body, head), SPEC)
    assert migration.report.is_done, str(migration.report)
    assert "from nki import jit\n" in migration.text
    assert "arange" not in migration.text.replace("affine_range", "")
    x = np.random.default_rng(1).standard_normal((64, 32)).astype(np.float32)
    run_both(tmp_path, migration, "kernel", x)


@pytest.mark.parametrize("decorator", ["nki.baremetal", "nki.jit(mode='simulation')", "nki.jit()"])
def test_decorators(decorator: str, tmp_path: Path) -> None:
    migration = migrated(tmp_path, f"@{decorator}\ndef kernel(x):{BODY}", x="64x32:float32")
    assert migration.report.is_done, str(migration.report)
    assert "\n@nki.jit\ndef kernel(x):" in migration.text


def test_examples_say_the_arguments(tmp_path: Path) -> None:
    migration = migrated(
        tmp_path,
        f"""
import nkijit


@nkijit.example(x="64x32:float32")
@nkijit.example(x="128x16:bfloat16")
@nki.jit
def kernel(x):{BODY}
""",
    )
    (kernel,) = migration.report.kernels
    assert migration.report.is_done, str(migration.report)
    assert {"x=64x32:float32", "x=128x16:bfloat16"} <= set(kernel.proven)
    assert '@nkijit.example(x="64x32:float32")' in migration.text


def test_launches_and_simulations(tmp_path: Path) -> None:
    migration = migrated(
        tmp_path,
        f"""
@nki.jit
def kernel(x):{BODY}

def host(x):
    return nki.simulate_kernel(kernel, x)
""",
        x="64x32:float32",
    )
    assert "return nki.simulate(kernel)(x)" in migration.text
    x = np.random.default_rng(1).standard_normal((64, 32)).astype(np.float32)
    run_both(tmp_path, migration, "host", x)


def test_helpers_are_rewritten_with_the_kernels_that_use_them(tmp_path: Path) -> None:
    migration = migrated(
        tmp_path,
        """
def twice(t, scale=2.0):
    # A comment.
    return nisa.tensor_scalar(t, np.multiply, scale)


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, twice(nl.load(x)))
    return out
""",
        x="64x32:float32",
    )
    assert migration.report.is_done, str(migration.report)
    assert "nisa.tensor_scalar(dst=tensor_scalar, data=t, op0=nl.multiply, operand0=scale)" in (
        " ".join(migration.text.split()).replace("( ", "(").replace(", )", ")")
    )


def test_functions_of_exported_kernels_go_away(tmp_path: Path) -> None:
    migration = migrated(
        tmp_path,
        """
def masked(x, i, j):
    return nl.load(x[i, j], mask=j <= i)


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i, j = nl.mgrid[0:8, 0:8]
    nl.store(out[i, j], masked(x, i, j))
    return out
""",
        x="8x8:float32",
    )
    (kernel,) = migration.report.kernels
    assert kernel.how == "exported"
    assert kernel.proven
    assert "def masked" not in migration.text
    assert any("masked" in what for _, what in migration.report.notes)


def test_methods_and_comments_and_strings(tmp_path: Path) -> None:
    body = '''
class Model:
    """Not a kernel."""

    @staticmethod
    def name(x):
        return f"{x!r:>{10}} nl.load"


@nki.jit
def kernel(x):
    """nl.load(x) in a text stays."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(  # from HBM
        x,
        # all of it
    )
    message = f"{x.shape} nl.store"
    assert message
    nl.store(out, t)  # back
    return out
'''
    migration = migrated(tmp_path, body, x="64x32:float32")
    assert migration.report.is_done, str(migration.report)
    for kept in ("# from HBM", "# all of it", "# back", '"""nl.load(x) in a text stays."""'):
        assert kept in migration.text
    assert 'return f"{x!r:>{10}} nl.load"' in migration.text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_encodings_and_ends_of_lines_stay(encoding: str, newline: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"@nki.jit\ndef kernel(x):  # größe{BODY}")
    declared = f"# -*- coding: {encoding} -*-\n" if encoding == "latin-1" else ""
    text = (declared + path.read_text(encoding="utf-8")).replace("\n", newline)
    path.write_bytes(text.encode(encoding))
    migration = migrate_file(path, SPEC)
    assert migration.report.is_done, str(migration.report)
    data = migration.source.encoded(migration.text)
    assert data.count(b"\n") == data.count(newline.encode())
    assert "# größe" in data.decode(encoding)


def test_a_module_without_kernels(tmp_path: Path) -> None:
    migration = migrate_file(write(tmp_path, "x = 1\n", "import os\n"))
    assert migration.text == "import os\nx = 1\n"
    assert not migration.report.kernels
    assert not migration.report.rewrites


def test_a_module_that_is_no_python(tmp_path: Path) -> None:
    with pytest.raises(SyntaxError):
        migrate_file(write(tmp_path, "def f(:\n"))


def test_a_kernel_without_arguments_is_left(tmp_path: Path) -> None:
    migration = migrated(tmp_path, f"@nki.jit\ndef kernel(x):{BODY}")
    (kernel,) = migration.report.kernels
    assert kernel.how == "left"
    assert "@nkijit.example" in kernel.why
    assert not migration.report.is_done
    assert f"def kernel(x):{BODY}" in migration.text


def test_a_kernel_that_does_not_trace_is_left(tmp_path: Path) -> None:
    migration = migrated(
        tmp_path, f"@nki.jit\ndef kernel(x):\n    assert x.shape[0] == 1{BODY}", x="64x32:float32"
    )
    (kernel,) = migration.report.kernels
    assert kernel.how == "left"
    assert "does not trace" in kernel.why


def test_every_rule_is_in_the_page() -> None:
    page = (ROOT / "docs" / "migrate.md").read_text(encoding="utf-8")
    rows = [f"| {r.short} | `{r.before}` | `{r.after}` |" for r in RULES.values()]
    found = re.search(r"\| rewrite \| classic \| today \|\n\|---\|---\|---\|\n((?:\|.*\n)*)", page)
    assert found is not None
    assert found[1].splitlines() == rows


def test_every_rule_is_used() -> None:
    sources = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "nkijit" / "migrate").glob("*.py")
    )
    for rule in RULES:
        assert sources.count(f'"{rule}"') >= 2, rule
