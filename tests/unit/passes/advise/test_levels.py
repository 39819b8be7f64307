"""Suggestions name the level of their results, proven where a proof is cheap."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.advice import normal

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.advise import advisor, biases
from nkijit.passes.advise.advice import Advice


def sbuf(*shape):
    return nl.ndarray(shape, nl.float32, buffer=nl.sbuf)


@nki.jit
def exponentials(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile, largest, centred, powers = sbuf(*x.shape), sbuf(128, 1), sbuf(*x.shape), sbuf(*x.shape)
    total, result = sbuf(128, 1), sbuf(*x.shape)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_reduce(dst=largest, op=nl.maximum, data=tile, axis=1)
    nisa.tensor_scalar(dst=centred, data=tile, op0=nl.subtract, operand0=largest)
    nisa.activation(dst=powers, op=nl.exp, data=centred)
    nisa.tensor_reduce(dst=total, op=nl.add, data=powers, axis=1)
    nisa.tensor_scalar(dst=result, data=powers, op0=nl.multiply, operand0=total)
    nisa.dma_copy(dst=out, src=result)
    return out


def advice() -> Advice:
    return exponentials.for_target("trn2").trace(normal(128, 4096)).advice()


def levels(found: Advice) -> dict[str, tuple[str | None, bool]]:
    return {each.kind: (each.level, each.proven) for each in found.suggestions}


def test_levels_are_proven() -> None:
    found = advice()
    assert levels(found) == {
        "subtracting-bias": ("bits", True),
        "fused-instructions": ("reassociated", True),
    }
    assert str(found).count("level of results: bits, proven for all inputs") == 1
    document = json.loads(found.to_json())
    assert {each["level"] for each in document["suggestions"]} == {"bits", "reassociated"}


def test_an_expensive_proof_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advisor, "MOST_PROVEN", 1)
    found = advice()
    assert levels(found)["subtracting-bias"] == ("bits", False)
    assert levels(found)["fused-instructions"] == ("rounding", False)
    assert "level of results: bits, not proven" in str(found)


def test_a_wrong_change_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(reduction: Any) -> None:
        """Leave the sign of the maximum."""

    monkeypatch.setattr(biases, "_negate", nothing)
    assert levels(advice())["subtracting-bias"] == ("bits", False)
