"""`[tool.nkijit]` of pyproject.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from nkijit.discovery.config import Config, ConfigError, config_for, split_kernel
from nkijit.kernels.arguments import TensorSpec


@pytest.mark.parametrize(
    ("text", "path", "name"),
    [
        ("kernel.py", "kernel.py", None),
        ("kernel.py:softmax", "kernel.py", "softmax"),
        ("folder/kernel.mlir:core", "folder/kernel.mlir", "core"),
        (r"C:\k.py", r"C:\k.py", None),
        (r"C:\k.py:name", r"C:\k.py", "name"),
        (r"C:\a b\k.py:name", r"C:\a b\k.py", "name"),
        ("odd:folder/k.py", "odd:folder/k.py", None),
        ("odd:folder/k.py:name", "odd:folder/k.py", "name"),
        ("-", "-", None),
        ("-:name", "-", "name"),
    ],
)
def test_paths_and_names(text: str, path: str, name: str | None) -> None:
    assert split_kernel(text) == (path, name)


def project(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text)
    (folder / "k.py").write_text("")
    return folder


def test_nearest_file_that_has_a_table(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    project(tmp_path, "[tool.nkijit]\ntarget = 'trn1'\n")
    project(inner, "[project]\nname = 'x'\n")
    assert config_for(inner / "k.py").target == "trn1"
    assert config_for(inner).target == "trn1"
    deeper = inner / "deeper"
    deeper.mkdir()
    project(deeper, "[tool.nkijit]\n")
    assert config_for(deeper / "k.py").target is None


def test_configuration_of_kernels(tmp_path: Path) -> None:
    text = """
[tool.nkijit]
suppress = ["small-dma"]
deny = ["suspicious", "table-reload"]
portable = true
nki = "0.6.0"
[tool.nkijit.kernels."k.py:one"]
arguments = { x = "4x8:int8", scale = 2.0, axes = [1, "nl.int8"], deep = { mode = "'a'" } }
cores = 2
[tool.nkijit.kernels."k.py"]
target = "trn1"
arguments = [{}, { x = "2x2:int8" }]
"""
    config = config_for(project(tmp_path, text))
    one = config.of(tmp_path / "k.py", "one", alone=False)
    assert config.suppress == {"small-dma"}
    assert config.deny.selectors == ("suspicious", "table-reload")
    assert (config.portable, config.nki) == (True, "0.6")
    assert (one.cores, one.target) == (2, None)
    assert config.arguments(one.arguments[0]) == {
        "x": TensorSpec((4, 8), "int8"),
        "scale": 2.0,
        "axes": [1, "int8"],
        "deep": {"mode": "a"},
    }
    assert len(config.of(tmp_path / "k.py", "other", alone=True).arguments) == 2
    assert config.of(tmp_path / "k.py", "other", alone=False) == Config().of(
        tmp_path, "x", alone=True
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tagret = 'trn2'", "there is no key 'tagret'; .*did you mean 'target'"),
        ("target = 'trn9'", "target: unknown platform target 'trn9'"),
        ("target = 3", "target: unknown platform target 3"),
        ("suppress = 'small-dma'", "expected a list of rules"),
        ("suppress = ['smal-dma']", "there is no rule 'smal-dma'; did you mean 'small-dma'"),
        ("deny = 'suspicious'", "expected a list of groups or rules"),
        ("deny = ['suspicius']", "there is no warning 'suspicius' to deny"),
        ("deny = ['both-in-psum']", "both-in-psum is an error already"),
        ("suppress = ['both-in-psum']", "both-in-psum is an error; only warnings"),
        ("portable = 'yes'", "portable: expected true or false, got 'yes'"),
        ("portable = 1", "portable: expected true or false, got 1"),
        ("nki = '9.9'", "nki: unknown release '9.9' of NKI; known: 0.1"),
        ("nki = 0.6", "nki: unknown release 0.6 of NKI"),
        ("kernels = 3", "expected a table, got 3"),
        ("kernels.'nowhere.py:x' = {}", "there is no file nowhere.py"),
        ("kernels.'k.py:x' = { args = {} }", "there is no key 'args'"),
        ("kernels.'k.py:x' = { cores = 3 }", "cores: expected 1 or 2"),
        ("kernels.'k.py:x' = { arguments = [3] }", "arguments: expected a table, got 3"),
        ("kernels.'k.py:x' = { arguments = 'x' }", "arguments: expected a table, got 'x'"),
        ("x = [", "pyproject.toml: "),
    ],
)
def test_mistakes(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        config_for(project(tmp_path, f"[tool.nkijit]\n{text}\n"))
