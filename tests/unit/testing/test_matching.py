"""`filecheck` in a test's process, and its messages."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import numpy as np
import pytest
from support.small_kernels import scaled_gelu

from nkijit.testing import filecheck

X = {"x": "256x64:bfloat16"}


def test_the_ir_of_a_kernel_and_of_a_traced_one():
    checks = """
        // CHECK-LABEL: nki.kernel @scaled_gelu
        // CHECK: nisa.dma_copy dst=[[TILE:%[a-z]+]], src=%x
        // CHECK-NEXT: nisa.activation dst=[[TILE]], op=gelu
    """
    filecheck(scaled_gelu, checks, inputs=X)
    filecheck(scaled_gelu.trace(np.zeros((128, 8), np.float32)), checks)


def test_other_texts(capsys: pytest.CaptureFixture[str]):
    traced = scaled_gelu.trace(np.zeros((128, 8), np.float32))
    filecheck(traced.listing(), "CHECK: scalar")
    filecheck(traced.profile(), "CHECK: predicted, not measured")
    filecheck("a\nb\n", "CHECK-DAG: b\nCHECK-DAG: a\nCHECK-NOT: c")
    filecheck("a\nb\n", "FIRST: a\nSECOND: b", prefix="FIRST,SECOND")
    # The package prints while it works.
    assert capsys.readouterr() == ("", "")


def failure_of(*args: Any, **kwargs: Any) -> str:
    with pytest.raises(AssertionError) as raised:
        filecheck(*args, **kwargs)
    return str(raised.value)


def test_a_failure_shows_the_message_of_filecheck_the_check_and_the_text_around():
    message = failure_of(
        scaled_gelu,
        """
        // CHECK: nisa.dma_copy dst=%tile
        // CHECK-NEXT: nisa.activate2
        """,
        inputs=X,
    )
    said, checks = message.split("the checks:\n")
    checks, text = checks.split("\n@scaled_gelu, around where the last match ended:\n")
    assert said.startswith("@scaled_gelu does not have what the checks say\n")
    assert 'checks:3: error: Couldn\'t match "nisa.activate2".' in said
    assert "> 3 | // CHECK-NEXT: nisa.activate2" in checks
    marked = [line for line in text.split("\n") if line.startswith(">")]
    assert len(marked) == 1
    assert "nisa.dma_copy dst=%tile, src=%x" in marked[0]
    assert "nisa.activation" in text.split(marked[0])[1].split("\n")[1]


def test_a_failure_in_a_long_text_stays_short():
    text = "\n".join(f"line {number}" for number in range(10_000))
    message = failure_of(text, "CHECK-DAG: line 5000\nCHECK-DAG: nothing")
    assert message.count("\n") < 60


def test_an_excluded_text():
    message = failure_of("a\nb\nc\n", "CHECK: a\nCHECK-NOT: b\nCHECK: c")
    assert "excluded string found in input ('b')" in message
    assert "> 2 | CHECK-NOT: b" in message


def test_full_lines():
    filecheck("  abc\n", "CHECK: b")
    assert "Couldn't match" in failure_of("abc\n", "CHECK: b", match_full_lines=True)


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        ("// CHEK: a", "there is no check with CHECK in:\n  // CHEK: a"),
        ("", "there is no check"),
        ("// CHECK: [[A", "checks:1:10: Invalid substitution block"),
    ],
)
def test_checks_that_check_nothing_are_no_success(checks: str, message: str):
    with pytest.raises(ValueError, match=r"check") as raised:
        filecheck("a", checks)
    assert message in str(raised.value)


def test_an_empty_text_is_a_failure():
    assert "is empty" in failure_of("", "CHECK: a")


@pytest.mark.parametrize("what", [None, b"a", object()])
def test_values_without_a_text(what: object):
    with pytest.raises(TypeError, match="expected a text"):
        filecheck(what, "CHECK: a")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch):
    original = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("filecheck"):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return original(name, *args, **kwargs)

    for name in [name for name in sys.modules if name.split(".")[0] == "filecheck"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"pip install 'nkijit\[testing\]'"):
        filecheck("a", "CHECK: a")
