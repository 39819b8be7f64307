"""`assert_findings` names missing findings and shows unexpected ones."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from support import small_kernels
from support.small_kernels import no_such_view, redundant_fill, scaled_gelu, wrong_buffers

from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.testing import assert_findings, assert_no_findings

X = {"x": "128x64:float32"}
FILE = Path(small_kernels.__file__).name
LINE = next(
    number
    for number, text in enumerate(inspect.getsource(small_kernels).split("\n"), 1)
    if text.endswith("# the line")
)


@pytest.mark.parametrize(
    "expected",
    [
        ("buffer",),
        (f"buffer@{LINE}",),
        (f"buffer@{FILE}:{LINE}",),
        (f"buffer@support/{FILE}:{LINE}",),
    ],
)
def test_expected_findings_are_found(expected: tuple[str, ...]):
    traced = wrong_buffers.trace(small_kernels.TENSOR)
    assert_findings(wrong_buffers, *expected, inputs=X)
    assert_findings(traced, *expected)
    assert_findings(traced.diagnostics, *expected)


def failure_of(*expected: str) -> str:
    with pytest.raises(AssertionError) as raised:
        assert_findings(wrong_buffers, *expected, inputs=X)
    return str(raised.value)


def test_surplus_findings_are_shown_as_verify_shows_them():
    message = failure_of()
    traced = wrong_buffers.trace(small_kernels.TENSOR)
    assert message.startswith("1 finding nobody expected:\n")
    assert str(traced.diagnostics) in message


def test_missing_findings_say_their_rule_and_where_it_is_found_instead():
    message = failure_of(f"buffer@{LINE + 1}", "both-in-psum")
    assert message.startswith("2 expected findings are missing:\n")
    assert f"  buffer@{LINE + 1}: An operand lives in one of the buffers" in message
    (found,) = wrong_buffers.trace(small_kernels.TENSOR).diagnostics
    assert f"    it is found elsewhere: {found.where[0]}" in message
    assert "  both-in-psum: The two tiles" in message
    assert "1 finding nobody expected:" in message


def test_the_same_finding_twice_has_to_be_named_twice():
    assert "1 expected finding is missing:\n  buffer:" in failure_of("buffer", f"buffer@{LINE}")


def test_the_more_specific_expectation_gets_its_finding_first():
    assert "  buffer:" in failure_of("buffer", f"buffer@{FILE}:{LINE}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bufer", "there is no rule 'bufer'; did you mean 'buffer'"),
        ("buffer@", "expected a rule with or without a line"),
        ("buffer@x.py", "expected a rule with or without a line"),
    ],
)
def test_expectations_that_name_no_finding(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        assert_findings(wrong_buffers, text, inputs=X)


def test_a_trace_that_ends_with_findings_is_checked_by_them():
    assert_findings(no_such_view, "view", inputs=X)
    with pytest.raises(NkiValidationError):
        no_such_view.trace(small_kernels.TENSOR)


def test_no_findings():
    assert_no_findings(scaled_gelu, inputs=X)
    with pytest.raises(AssertionError, match="1 finding nobody expected"):
        assert_no_findings(wrong_buffers, inputs=X)


def test_warnings_count_by_default():
    with pytest.raises(AssertionError, match=r"warning\[redundant-fill\]"):
        assert_no_findings(redundant_fill, inputs=X)
    assert_no_findings(redundant_fill, inputs=X, warnings=False)


def test_a_kernel_without_its_arguments():
    with pytest.raises(TypeError, match=r"missing a required argument: 'x'; trace it first"):
        assert_no_findings(scaled_gelu)
    with pytest.raises(TypeError, match="traced already"):
        assert_no_findings(scaled_gelu.trace(small_kernels.TENSOR), inputs=X)
    with pytest.raises(TypeError, match="expected a kernel"):
        assert_no_findings(3)  # pyright: ignore[reportArgumentType]
