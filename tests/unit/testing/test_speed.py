"""`assert_faster`: kernels are compared at the same constants, at each of their ends."""

from __future__ import annotations

import pytest
from support.small_kernels import TENSOR, scaled_gelu

from nkijit import TensorSpec
from nkijit.passes.profile.extremes import times_at_ends
from nkijit.testing import assert_faster

SMALL = scaled_gelu.trace(TENSOR)
LARGE = scaled_gelu.trace(TensorSpec((512, 4096), "float32"))


def test_a_kernel_that_is_faster():
    ratio = assert_faster(SMALL, LARGE, by=1.5)
    assert ratio == pytest.approx(LARGE.profile().time / SMALL.profile().time)
    assert assert_faster(SMALL, SMALL, by=1.0) == 1.0


def failure_of(by: float) -> str:
    with pytest.raises(AssertionError) as raised:
        assert_faster(SMALL, LARGE, by=by)
    return str(raised.value)


def ratios() -> list[float]:
    """With the likely constants, and with all of them at each of their ends."""
    times = [[p.time, *times_at_ends(p.timeline)] for p in (SMALL.profile(), LARGE.profile())]
    return sorted(two / one for one, two in zip(*times, strict=True))


def test_a_kernel_that_is_not():
    message = failure_of(100)
    assert "is predicted to be" in message
    assert "not 100 times" in message
    assert "cannot be told" not in message
    title = str(SMALL.profile()).splitlines()[1]
    assert title.split(": ")[1].split(",")[0] in message


def test_a_difference_within_the_uncertainty_of_constants_is_reported_as_such():
    least, _, most = ratios()
    assert least < most
    message = failure_of((least + most) / 2)
    assert "cannot be told" in message
    assert f"leaves open {least:.3g} to {most:.3g}" in message
    holds = float(message.split("by=")[1].split(" ")[0])
    assert assert_faster(SMALL, LARGE, by=holds)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="for two targets"):
        assert_faster(SMALL, scaled_gelu.for_target("trn2").trace(TENSOR))
    with pytest.raises(ValueError, match="above 0"):
        assert_faster(SMALL, LARGE, by=0)


def test_kernels_that_are_not_traced_yet():
    assert assert_faster(SMALL, scaled_gelu, inputs=["512x4096:float32"]) > 1
