"""Completion while a kernel is being written."""

from __future__ import annotations

import pytest

from nkijit.lsp.completion import candidates

HEAD = """\
import nki
import nki.isa as nisa
import nki.language as nl

LIMIT = 4


def other(hidden):
    secret = 1


@nki.jit
def f(x, scale: float = 2.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for step in range(4):
        tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        """


def found(code: str, head: str = HEAD) -> list[str]:
    """The candidates where `code` has `|`, the best first."""
    text = f"{head}{code}\n    return out\n"
    before = text[: text.index("|")]
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    listed = candidates(text.replace("|", ""), line, column)
    return [each.text for each in sorted(listed, key=lambda each: (each.rank, each.text))]


@pytest.mark.parametrize(
    ("code", "some"),
    [
        ("nisa.|", {"tensor_scalar", "dma_copy", "engine"}),
        ("nisa.tensor_|", {"tensor_scalar"}),
        ("nki.language.|", {"bfloat16", "ndarray"}),
        ("nisa.engine.|", {"vector", "scalar"}),
        ("nisa.tensor_scalar(|", {"dst=", "op0=", "tile", "x"}),
        ("nisa.tensor_scalar(dst=tile, data=tile, op0=|", {"nl.multiply", "nl.add"}),
        ("nisa.activation(tile, |", {"nl.exp", "data="}),
        ("nisa.activation(tile, nl.exp, tile, engine=|", {"nisa.engine.vector"}),
        ("nl.ndarray((128, 64), |", {"nl.bfloat16", "dtype=", "buffer="}),
        ("nl.ndarray(\n            (128, 64),\n            buffer=|", {"nl.sbuf", "nl.psum"}),
        ("nisa.memset(dst=tile, value=nl.load(|", {"src=", "x"}),
        ("tile.|", {"dtype", "shape"}),
        ("|", {"tile", "out", "step", "x", "scale"}),
        ("nisa.dma_copy(dst=tile, src=x[|", {"step", "tile"}),
    ],
)
def test_candidates(code: str, some: set[str]) -> None:
    assert some <= set(found(code))


@pytest.mark.parametrize(
    ("code", "none"),
    [
        ("nisa.tensor_scalar(dst=tile, |", {"dst="}),  # given already
        ("nisa.tensor_scalar(dst=|", {"data="}),
        ("nisa.engine.|", {"tensor_scalar"}),
        ("|", {"hidden", "secret", "f"}),
    ],
)
def test_what_does_not_fit_is_not_a_candidate(code: str, none: set[str]) -> None:
    listed = set(found(code))
    assert listed
    assert not none & listed


@pytest.mark.parametrize("code", ["'nisa.|", "# nisa.|", "os.|", "math.sin(os.|"])
def test_no_candidates(code: str) -> None:
    assert found(code) == []


def test_tensors_come_before_numbers_where_tensors_are_expected() -> None:
    listed = found("nisa.tensor_copy(dst=|")
    assert listed.index("tile") < listed.index("step")


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("from nki import isa as nisa", "nisa.|"),
        ("import nki", "nki.isa.|"),
        ("from neuronxcc.nki import isa", "isa.|"),
        ("import neuronxcc.nki.isa as nisa", "nisa.|"),
    ],
)
def test_forms_of_imports(imports: str, code: str) -> None:
    assert "tensor_copy" in found(code, f"{imports}\n\ndef f(x):\n    ")


def test_a_file_without_nki_has_no_candidates() -> None:
    assert found("|", "import os\n\ndef f(x):\n    ") == []
