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


CLASSIC = """\
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

@nki.jit
def f(x):
    tile = nl.load(x)
    """
OTHER_NAME = HEAD.replace("language as nl", "language as lang").replace("nl.", "lang.")
DECORATED = """\
import nki
import nkijit
import nki.language as lang

@"""


@pytest.mark.parametrize(
    ("head", "code", "some", "none"),
    [
        # The innermost call counts, also that of an operator.
        (HEAD, "nisa.tensor_copy(dst=tile, src=nl.add(|", {"x=", "y=", "tile"}, {"engine="}),
        (HEAD, "nisa.tensor_copy(dst=nl.add(tile, x), |", {"src=", "engine="}, {"y=", "dst="}),
        (OTHER_NAME, "nisa.activation(tile, op=|", {"lang.exp"}, {"nl.exp"}),
        (OTHER_NAME, "lang.|", {"float32", "ndarray"}, set()),
        (CLASSIC, "nl.|", {"arange", "mgrid", "par_dim", "load"}, {"fori_loop"}),
        (CLASSIC, "nisa.activation(op=|", {"nl.exp"}, {"nl.prelu", "nl.bypass"}),
        (CLASSIC, "tile.|", {"broadcast_to", "shape"}, {"permute", "rearrange", "fail"}),
        (CLASSIC, "nisa.tensor_tensor(tile, tile, op=|", {"nl.multiply"}, set()),
        (CLASSIC, "nl.load(x, dtype=|", {"nl.bfloat16"}, set()),
        (CLASSIC, "nl.ndarray((nl.par_dim(128), 4), nl.int8, buffer=|", {"nl.psum"}, set()),
        (CLASSIC, "nisa.tensor_copy(tile, engine=|", {"nisa.engine.vector"}, set()),
        # Names of arguments are no variables.
        (
            HEAD,
            "nl.store(\n            dst=out,\n            value=tile,\n        )\n        |",
            {"tile"},
            {"dst", "value"},
        ),
        (HEAD, "acc: object = x\n        (a, b) = x.shape\n        |", {"acc", "a", "b"}, set()),
        (HEAD, "if (width := 3):\n            |", {"width"}, set()),
        # Variables of a function that has ended are hidden, those of functions around are not.
        (
            HEAD,
            "def inner(own):\n            mine = 1\n        |",
            {"tile"},
            {"own", "mine"},
        ),
        (
            HEAD,
            "def inner(own):\n            mine = 1\n            |",
            {"tile", "own", "mine"},
            set(),
        ),
        # Views of tensors are tensors.
        (HEAD, "x[0:128].|", {"shape"}, {"tile"}),
        (HEAD, "nl.load(x).|", {"reshape"}, {"tile"}),
        (HEAD, "tile.reshape((128, 64)).|", {"reshape"}, {"tile"}),
        # An unfinished call above does not continue.
        (HEAD, "nisa.tensor_copy(tile,\n        |", {"tile"}, {"src="}),
        (HEAD, "nisa.tensor_copy(\n            tile,\n\n            |", {"src="}, {"dst="}),
        (HEAD, "nl.load(\n        nisa.memset(tile, |", {"value="}, {"src="}),
        (
            HEAD,
            "nisa.tensor_copy(\n            dst=tile,  # don't (\n            |",
            {"src="},
            {"dst="},
        ),
        (DECORATED, "nki.jit(|\ndef f(x): pass", {"platform_target="}, set()),
        (
            DECORATED,
            "nkijit.example(x=1, |)\n@nki.jit\n"
            "def f(x, scale: float = 2.0,\n      mode=None): pass",
            {"scale=", "mode="},
            {"x="},
        ),
        ("import nki\n", "from nki.language import |", {"bfloat16", "ndarray"}, set()),
        ("import nki\n", "from nki.isa import tensor_copy, |", {"dma_copy"}, set()),
    ],
)
def test_situations(head: str, code: str, some: set[str], none: set[str]) -> None:
    listed = set(found(code, head))
    assert some <= listed
    assert not none & listed


def test_a_file_without_nki_has_no_candidates() -> None:
    assert found("|", "import os\n\ndef f(x):\n    ") == []
