"""The table of known defects, and the functions that find them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.verify.defects import MATCHERS
from nkijit.releases.defects import Defect, defects
from nkijit.releases.table import release, releases


def _named(id: str) -> Defect:
    return next(defect for defect in defects() if defect.id == id)


def test_each_defect_has_a_matcher() -> None:
    ids = [defect.id for defect in defects()]
    assert sorted(ids) == sorted(MATCHERS)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("defect", defects(), ids=lambda defect: defect.id)
def test_an_entry_is_complete(defect: Defect) -> None:
    assert defect.text
    assert defect.help
    assert defect.source.startswith(("NKI release notes, ", "aws-neuron-sdk issue "))
    assert any(map(defect.affects, releases()))
    if defect.fixed is not None:
        assert defect.first < defect.fixed
        assert not defect.affects(defect.fixed)


def test_the_affected_releases() -> None:
    nested, skipping = _named("nested-loops"), _named("gather-transpose-skip")
    assert [r.version for r in releases() if nested.affects(r)] == ["0.4", "0.5"]
    assert nested.affected == "NKI 0.4 to 0.5"
    assert skipping.affected == "NKI 0.2 and newer"
    assert skipping.affects(release())
    assert _named("alu-operators").affected == "NKI 0.1"


def _operators(x: Any) -> Any:
    tile = nl.load(x)
    nisa.tensor_scalar(tile, tile, nl.power, 2.0)  # nkijit: ignore[portable-defect]
    nisa.tensor_scalar(tile, tile, nl.rsqrt, None)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, tile)
    return out


def test_defects_of_a_trace() -> None:
    traced = nki.jit(_operators).trace(np.ones((4, 8), np.float32))
    (found,) = traced.defects("0.1")
    assert found.rule.id == "portable-defect"
    assert found.where[0].line == _operators.__code__.co_firstlineno + 3
    assert not traced.defects()
    # The comment is not unused: it is for another release.
    assert not traced.diagnostics
    with pytest.raises(ValueError, match=r"unknown release '1\.0' of NKI"):
        traced.defects("1.0")
