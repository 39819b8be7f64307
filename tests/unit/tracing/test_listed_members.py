"""Messages list the documented members of tensors, none that only nkijit uses."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nkijit
import nkijit.classic as classic
import nkijit.classic.language as cl
import nkijit.isa as nisa

X = np.zeros((128, 64), np.float32)
_REFERENCE = Path(__file__).parents[1] / "classic" / "reference.toml"


def _listed(kernel: Any) -> tuple[set[str], str]:
    with pytest.raises(nkijit.NkiValidationError, match="unknown-name") as raised:
        kernel.trace(X)
    (finding,) = [d for d in raised.value.diagnostics if d.rule.id == "unknown-name"]
    listed = re.match(r"a tensor has (.*); what computes", finding.help)
    return set() if listed is None else set(listed[1].split(", ")), str(finding)


def _classic_members() -> set[str]:
    return set(tomllib.loads(_REFERENCE.read_text())["nki"]["classes"]["tensor"])


FORMS: dict[str, Callable[[Any], Any]] = {
    "tile": lambda x: cl.load(x),
    "selected": lambda x: cl.load(x)[cl.arange(128)[:, None], cl.arange(64)[None, :]],
    "masked": lambda x: cl.load(x)[cl.arange(64)[None, :] < 5],
    "blocks": lambda x: cl.ndarray((2, cl.par_dim(128), 8), np.float32, buffer=cl.sbuf),
}


@pytest.mark.parametrize("form", FORMS)
def test_classic_tensors(form: str) -> None:
    @classic.jit
    def kernel(x):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        _ = FORMS[form](x).no_such_member

    listed, _ = _listed(kernel)
    assert listed == _classic_members() | {"buffer"}


def test_classic_tensors_suggest_no_internal_member() -> None:
    @classic.jit
    def kernel(x):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        _ = cl.load(x).values

    assert "did you mean 'value'" not in _listed(kernel)[1]


def test_tensors() -> None:
    @nkijit.jit
    def kernel(x):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        _ = x.no_such_member

    listed, _ = _listed(kernel)
    assert {"ap", "dtype", "expand_dim", "indirect", "shape"} <= listed
    assert listed.isdisjoint({"storage", "ssa_value", "address"})


def test_registers_suggest_no_internal_member() -> None:
    @nkijit.jit
    def kernel(x):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        _ = nisa.register_alloc(3).frozen_

    assert "did you mean" not in _listed(kernel)[1]
