"""Startup: the command and the package import only modules that they need."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ALIASES

import nkijit
from nkijit.cli.app import COMMANDS, whole

HEAVY = (
    "numpy",
    "xdsl",
    "scipy",
    "ml_dtypes",
    "nkijit.dialects",
    "nkijit.kernels.kernel",
    "torch",
    "jax",
)


def run(code: str) -> str:
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return made.stdout


@pytest.mark.parametrize(
    "code",
    [
        "import nkijit",
        "from nkijit.cli.app import app; app(['--help'], standalone_mode=False)",
        "from nkijit.cli.app import app; app(['--version'], standalone_mode=False)",
    ],
)
def test_commands_without_a_kernel_import_nothing_heavy(code: str) -> None:
    out = run(f"import sys\n{code}\nprint('\\n', *sys.modules)")
    loaded = set(out.splitlines()[-1].split())
    assert "nkijit" in loaded
    assert loaded.isdisjoint(HEAVY)


API = "import nki, nki.isa, nki.language; nki.jit(lambda x: x)"


def test_the_api_imports_no_pass_that_a_kernel_needs_later() -> None:
    """A file of kernels is imported without verification, interpreter and text of the IR."""
    made = subprocess.run(
        [sys.executable, "-c", f"import sys\n{API}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ALIASES,
    )
    loaded = made.stdout.split()
    assert "nkijit.kernels.kernel" in loaded
    parts = ("interpret", "lower", "compile.pipeline", "profile", "report", "verify", "transform")
    unneeded = (*(f"nkijit.passes.{part}" for part in parts), "nkijit.sweeps", "nkijit.ir", "scipy")
    assert not [module for module in loaded if module.startswith(unneeded)]


def test_names_exist_on_access() -> None:
    tree = ast.parse(Path(nkijit.__file__).read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If))
    told = {a.name for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names}
    assert told == set(nkijit.__all__)
    # In both orders, so that no name needs the one before it.
    for names in (nkijit.__all__, nkijit.__all__[::-1]):
        code = f"import nkijit; print(*[getattr(nkijit, n) is not None for n in {list(names)}])"
        assert set(run(code).split()) == {"True"}
    assert "jit" in dir(nkijit)


def test_names_stay_functions_after_any_import() -> None:
    code = "import nkijit.kernels.entry, nkijit.kernels.kernel, nkijit; print(callable(nkijit.jit))"
    assert run(code) == "True\n"


def test_every_command_matches_its_line() -> None:
    for name, (_, line) in COMMANDS.items():
        text = " ".join((whole(name).help or "").split("\n\n")[0].split())
        assert text == line, name


def test_as_a_module() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "nkijit", "--version"], capture_output=True, text=True, check=True
    )
    assert made.stdout.startswith("nkijit 0.")
    assert "\nNKI 0.1 to 0.7 (Neuron SDK 2.27 to 2.33), and neuronxcc.nki\n" in made.stdout


def _loaded_by(command: str, folder: Path) -> list[str]:
    """The modules that a command imports that looks at a kernel."""
    kernel = folder / "kernel.py"
    kernel.write_text(
        "import nkijit\nimport nkijit.isa as nisa\nimport nkijit.language as nl\n"
        "@nkijit.jit\ndef copied(x):\n"
        "    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)\n"
        "    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
        "    nisa.dma_copy(dst=tile, src=x)\n    nisa.dma_copy(dst=out, src=tile)\n"
        "    return out\n"
    )
    arguments = [command, str(kernel), "-a", "x=8x8:float32"]
    out = run(
        "import sys\nfrom nkijit.cli.app import app\n"
        f"app({arguments!r}, standalone_mode=False)\nprint('\\n', *sys.modules)"
    )
    return out.splitlines()[-1].split()


def test_tracing_and_verifying_need_no_interpreter_and_no_lowering(tmp_path: Path) -> None:
    loaded = _loaded_by("verify", tmp_path)
    assert "nkijit.passes.verify.passes" in loaded
    parts = ("interpret.plan", "lower", "compile.pipeline", "profile", "report", "advise")
    unneeded = tuple(f"nkijit.passes.{part}" for part in (*parts, "values.record"))
    assert not [module for module in loaded if module.startswith(unneeded)]


@pytest.mark.parametrize("command", ["profile", "list"])
def test_predicting_needs_no_interpreter_no_advice_and_no_page(
    command: str, tmp_path: Path
) -> None:
    loaded = _loaded_by(command, tmp_path)
    assert "nkijit.passes.profile.simulate" in loaded
    parts = ("interpret.plan", "report", "advise", "values.record")
    unneeded = (*(f"nkijit.passes.{part}" for part in parts), "urllib.request", "rich.")
    assert not [module for module in loaded if module.startswith(unneeded)]
