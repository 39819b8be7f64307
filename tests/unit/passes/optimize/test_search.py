"""The search applies changes that gain, are valid and proven; others are dropped."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.advice import normal
from support.exports import retraced

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.advise import biases
from nkijit.passes.optimize.result import ResumeError
from nkijit.passes.prove.algebra import Level
from nkijit.traced.kernel import TracedKernel
from nkijit.traced.optimized import OptimizedKernel


def sbuf(*shape):
    return nl.ndarray(shape, nl.float32, buffer=nl.sbuf)


@nki.jit
def softmax(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for r in range(0, x.shape[0], 128):
        tile, centred, powers, result = (sbuf(128, x.shape[1]) for _ in range(4))
        largest, total, inverse = (sbuf(128, 1) for _ in range(3))
        nisa.dma_copy(dst=tile, src=x[r : r + 128, :])
        nisa.tensor_reduce(dst=largest, op=nl.maximum, data=tile, axis=1)
        nisa.tensor_scalar(dst=centred, data=tile, op0=nl.subtract, operand0=largest)
        nisa.activation(dst=powers, data=centred, op=nl.exp)
        nisa.tensor_reduce(dst=total, op=nl.add, data=powers, axis=1)
        nisa.reciprocal(dst=inverse, data=total)
        nisa.tensor_scalar(dst=result, data=powers, op0=nl.multiply, operand0=inverse)
        nisa.dma_copy(dst=out[r : r + 128, :], src=result)
    return out


@nki.jit
def one_copy(x):
    """Two DMAs of one whole tensor: there is nothing to gain."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = sbuf(*x.shape)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def rounded_twice(x):
    """The first result is rounded to bfloat16; one instruction for both does not round it."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile, result = sbuf(*x.shape), sbuf(*x.shape)
    middle = nl.ndarray(x.shape, nl.bfloat16, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=middle, data=tile, op0=nl.multiply, operand0=3.0)
    nisa.tensor_scalar(dst=result, data=middle, op0=nl.add, operand0=1.0)
    nisa.dma_copy(dst=out, src=result)
    return out


X = normal(256, 512)


def traced(kernel: Any = softmax) -> TracedKernel:
    return kernel.for_target("trn2").trace(X if kernel is softmax else X[:128])


def optimized(allow: str = "reassociated", **more: Any) -> OptimizedKernel[TracedKernel]:
    return traced().optimize(allow, 600, **({"experiments": 40} | more))


def test_steps_gain_and_are_proven_at_the_allowed_level() -> None:
    kernel = traced()
    found = kernel.optimize("reassociated", 600, experiments=40)
    result = found.result
    assert result.before.time == kernel.profile().time
    assert result.after.time == found.traced.profile().time
    assert result.after.time < 0.9 * result.before.time
    times = [result.before.time, *(step.after for step in result.steps)]
    assert [step.before for step in result.steps] == times[:-1]
    assert times[-1] == result.after.time
    assert kernel.equivalent(found.traced).level is result.level
    assert not found.traced.diagnostics.errors
    (one, other) = (each.run(X.copy()) for each in (kernel, found.traced))
    np.testing.assert_allclose(one, other, rtol=1e-5)


def test_only_the_allowed_level_is_applied() -> None:
    kernel = traced(rounded_twice)
    for allow in ("bits", "reassociated"):
        found = kernel.optimize(allow, 600)
        assert found.result.steps == ()
        assert found.result.refuted > 0
    found = kernel.optimize("rounding", 600)
    assert found.result.level is Level.rounding
    assert [step.level for step in found.result.steps] == [Level.rounding]
    assert kernel.equivalent(found.traced).level is Level.rounding


def test_without_a_gain_the_kernel_stays_and_its_bound_is_named() -> None:
    kernel = traced(one_copy)
    found = kernel.optimize(budget=600)
    assert found.result.is_complete
    assert found.result.steps == ()
    assert found.traced is kernel
    assert f"bound by {found.result.before.bound}" in str(found)
    assert "no change that was tried gains more than the uncertainty" in str(found)
    with pytest.raises(ValueError, match="there is no step 1; there are 0"):
        found.explain(1)


def test_a_spent_budget_leaves_the_best_change_so_far() -> None:
    most = next(n for n in range(1, 12) if optimized(experiments=n).result.steps)
    found = optimized(experiments=most)
    assert found.result.tried == most
    assert len(found.result.steps) == 1
    assert found.result.after.time < found.result.before.time


def test_a_wrong_change_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bias is not negated: the version is faster, and its results differ."""
    monkeypatch.setattr(biases, "_negate", lambda reduction: None)
    found = optimized()
    assert found.result.refuted > 0
    assert "subtracting-bias" not in {step.move.kind for step in found.result.steps}
    assert traced().equivalent(found.traced).level is not None


def test_an_earlier_result_is_repeated_and_continued() -> None:
    found = optimized()
    assert len(found.result.steps) == 2
    text = found.to_json()
    document = json.loads(text)
    assert document["level"] == found.result.level.value
    assert document["after"]["time"] == pytest.approx(found.result.after.time)
    again = traced().optimize("reassociated", 0, resume=text)
    assert [step.move for step in again.result.steps] == [s.move for s in found.result.steps]
    assert again.result.after == found.result.after
    document["steps"] = document["steps"][:1]
    continued = optimized(resume=json.dumps(document))
    assert continued.result.steps[0].move == found.result.steps[0].move
    assert continued.result.after.time <= found.result.after.time


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"steps": [{}], "kernel": "softmax"}', "null"])
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(ResumeError, match="not the JSON of"):
        traced().optimize(budget=0, resume=text)


def test_the_result_of_another_kernel_is_refused() -> None:
    text = traced(one_copy).optimize(budget=0).to_json()
    with pytest.raises(ResumeError, match="for @one_copy, not for @softmax"):
        traced().optimize(budget=0, resume=text)


def test_the_source_traces_to_the_faster_kernel() -> None:
    found = optimized()
    text = found.source()
    again = retraced(found.traced, text)
    assert again.profile().time == found.result.after.time
    assert again.equivalent(found.traced).level is Level.bits
    for number, step in enumerate(found.result.steps, 1):
        assert f"# step {number}. " in text
        assert step.move.kind in text
    assert "for r in range(2):" in text


def test_a_step_is_explained_with_its_effect() -> None:
    text = optimized().explain(2)
    assert text.startswith("step 2. ")
    assert "+++ step 2" in text
    assert "bias=" in text
    assert "  time  " in text


def test_progress_ends_with_the_budget() -> None:
    parts: list[float] = []
    traced().optimize("reassociated", 600, parts.append, experiments=5)
    assert parts == sorted(parts)
    assert 0 <= parts[0] <= parts[-1] < 1


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="nearly"):
        traced().optimize("nearly")
