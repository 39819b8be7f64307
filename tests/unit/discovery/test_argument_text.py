"""Arguments of kernels as text."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from nkijit import isa as nisa
from nkijit.discovery.argument_text import RANDOM, ArgumentTextError, argument_of
from nkijit.kernels.arguments import TensorSpec


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-3", -3),
        ("+2", 2),
        ("1_000", 1000),
        ("0x10", 16),
        ("1e-3", 0.001),
        (".5", 0.5),
        ("-inf", -math.inf),
        ("true", True),
        ("False", False),
        ("TRUE", True),
        ("none", None),
        ("None", None),
        ("'relu'", "relu"),
        ('"a, [b]"', "a, [b]"),
        (r"'it\'s'", "it's"),
        ("''", ""),
        ("[]", []),
        ("()", ()),
        ("(1)", 1),
        ("(1,)", (1,)),
        ("[1, (true, none,), {}]", [1, (True, None), {}]),
        ("{a: 1, 'b c': [2], 3: none}", {"a": 1, "b c": [2], 3: None}),
        (" 4 ", 4),
        ("2x3:bfloat16", TensorSpec((2, 3), "bfloat16")),
        ("[2x3:int8,4:float32]", [TensorSpec((2, 3), "int8"), TensorSpec((4,), "float32")]),
        ("{w:2x3:int8}", {"w": TensorSpec((2, 3), "int8")}),
        ("nisa.engine.vector", nisa.engine.vector),
        ("random", RANDOM),
    ],
)
def test_values(text: str, value: Any) -> None:
    found = argument_of(text)
    assert found == value
    assert type(found) is type(value)


def test_nan() -> None:
    assert math.isnan(argument_of("nan"))


_LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_LITERALS)
def test_python_reprs_are_read(value: object) -> None:
    found = argument_of(repr(value))
    assert found == value
    assert repr(found) == repr(value)  # -0.0, and 1 beside True


@given(st.text(alphabet="[](){}:,'\"\\ x12.-@n#é\n", max_size=30))
def test_other_text_is_refused_with_its_place(text: str) -> None:
    with suppress(ArgumentTextError):
        argument_of(text)
        return
    with pytest.raises(ArgumentTextError) as raised:
        argument_of(text)
    assert raised.value.message
    assert "^" in str(raised.value) or not text.strip()


def test_the_marker_is_below_the_mistake() -> None:
    with pytest.raises(ArgumentTextError) as raised:
        argument_of("[" + "1, " * 60 + "tru, 2]")
    _, shown, marker, help = str(raised.value).split("\n")
    assert shown[marker.index("^") : marker.rindex("^") + 1] == "tru"
    assert len(shown) < 100
    assert help.startswith("help: a string needs quotes")


def test_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x, y.npy", np.arange(3))
    (tmp_path / "args.py").write_text("import helper\nwide = {'n': helper.N}\n")
    (tmp_path / "helper.py").write_text("N = 7\n")
    assert argument_of("@x, y.npy", tmp_path).tolist() == [0, 1, 2]
    assert argument_of("['@', @'x, y.npy']", tmp_path)[1].tolist() == [0, 1, 2]
    assert argument_of("[@args.py:wide]", tmp_path) == [{"n": 7}]
    with pytest.raises(ArgumentTextError, match="has no 'wode'; did you mean 'wide'"):
        argument_of("@args.py:wode", tmp_path)
