"""Kernels that are lowered as a compiler would have them."""

from __future__ import annotations

import json
import re

import pytest
from support.report_pages import text_of
from support.tangled_kernels import visible_kernel

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

X = nki.TensorSpec((1024, 512), "float32")


@nki.jit
def refilled(x):
    """One buffer, which every block fills anew."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((128, 512), x.dtype, buffer=nl.sbuf)
    for i in range(x.shape[0] // 128):
        rows = slice(i * 128, (i + 1) * 128)
        nisa.dma_copy(dst=a, src=x[rows, :])
        nisa.activation(dst=a, op=nl.exp, data=a)
        nisa.dma_copy(dst=out[rows, :], src=a)
    return out


def test_listings_are_the_author_s_and_predictions_the_compiler_s_by_default() -> None:
    traced = refilled.trace(X)
    assert traced.listing() == traced.listing(schedule="author")
    assert all(program.changes is None for program in traced.programs())
    assert str(traced.profile()) == str(traced.profile(schedule="compiler"))
    assert traced.report() == traced.report(schedule="compiler")


def test_a_profile_shows_both_and_the_bound() -> None:
    traced = refilled.trace(X)
    author, compiled = traced.profile(schedule="author"), traced.profile()
    assert compiled.author == author.time
    assert compiled.time < author.time / 2
    line = r"^  author (.+) us, compiled (.+) us, bound (.+) us \(dma\)$"
    found = re.search(line, str(compiled), re.MULTILINE)
    assert found is not None
    first, second, bound = map(float, found.groups())
    assert first > second > bound
    assert json.loads(compiled.to_json())["author"] == pytest.approx(author.time)
    assert json.loads(author.to_json())["author"] is None


def test_the_kernel_stays_as_it_is() -> None:
    traced, inputs = visible_kernel(3)
    text, expected = traced.text(), [r.tobytes() for r in traced.run(*inputs)]
    traced.listing(schedule="compiler")
    assert traced.text() == text
    assert [r.tobytes() for r in traced.run(*inputs)] == expected


def test_a_report_shows_the_author_s_lines() -> None:
    page = text_of(refilled.trace(X).report(schedule="compiler"))
    assert "nisa.activation" in page


def test_an_unknown_schedule_is_refused() -> None:
    with pytest.raises(ValueError, match="'mine' is not a valid Schedule"):
        refilled.trace(X).listing(schedule="mine")
