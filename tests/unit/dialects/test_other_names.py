"""Names of other libraries: synonyms of functions of nl, and names that are no misspellings."""

from __future__ import annotations

import math
import operator
from types import ModuleType

import numpy as np
import pytest
from scipy import special

import nkijit as nki
import nkijit.language as nl
from nkijit.dialects.hardware.words import engine
from nkijit.dialects.other_names import COMPOSED, ENGINES, SYNONYMS, function_instead, means
from nkijit.dialects.spelling import did_you_mean, is_misspelling

NAMES = [n for n in nl.__all__ if not isinstance(getattr(nl, n), ModuleType)]
LIBRARIES = (np, math, operator, special)
ONE = np.float32([[-1.5, -0.25, 0.5, 1.0], [2.0, 0.75, -3.0, 1.25]])
TWO = np.float32([[2.0, 1.5, -0.5, 1.0], [2.0, -1.0, 3.0, 0.5]])


def computed(body, *arrays):
    @nki.jit
    def kernel(*xs):
        t = body(*map(nl.load, xs))
        out = nl.ndarray(t.shape, dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(out, t)
        return out

    return kernel(*arrays)


@pytest.mark.parametrize(
    ("name", "library", "arrays"),
    [
        *[(name, np, (ONE,)) for name in ("absolute", "fabs")],
        *[(name, operator, (ONE,)) for name in ("neg",)],
        *[
            (name, operator, (ONE, TWO))
            for name in ["sub", "mul", "truediv", "lt", "le", "gt", "ge", "eq", "ne"]
        ],
        ("true_divide", np, (ONE, TWO)),
        ("remainder", np, (ONE, TWO)),
        ("pow", operator, (abs(ONE), TWO)),
        ("expit", special, (ONE,)),
    ],
)
def test_a_synonym_computes_the_same(name, library, arrays):
    got = computed(getattr(nl, SYNONYMS[name]), *arrays)
    np.testing.assert_allclose(got, getattr(library, name)(*arrays), rtol=1e-5)


@pytest.mark.parametrize("name", ["exp2", "expm1", "log10", "log1p", "log2"])
def test_composed_calls_compute_the_function(name):
    array = abs(ONE)
    got = computed(lambda t: eval(COMPOSED[name], {"nl": nl, "math": math, "t": t}), array)
    np.testing.assert_allclose(got, getattr(np, name)(array), rtol=1e-4, atol=1e-6)


def test_composed_calls_of_bounds_and_of_the_deviation():
    def of(name):
        names = {"nl": nl, "low": -1.0, "high": 1.0}
        return computed(lambda t: eval(COMPOSED[name], names | {"t": t}), 4 * ONE)

    np.testing.assert_array_equal(of("relu6"), np.clip(4 * ONE, 0, 6))
    np.testing.assert_array_equal(of("clip"), np.clip(4 * ONE, -1, 1))
    np.testing.assert_allclose(of("std").ravel(), np.std(4 * ONE, axis=1), rtol=1e-5)


def test_functions_of_other_libraries_are_no_misspellings():
    elsewhere = {n for library in LIBRARIES for n in vars(library) if not n.startswith("_")}
    wrong = [
        (name, own)
        for name in sorted(elsewhere - set(NAMES) - set(SYNONYMS))
        for own in NAMES
        if means(name, own) and name not in ("max", "min", "sum", "prod")
    ]
    assert not wrong


@pytest.mark.parametrize("name", [*SYNONYMS, *COMPOSED])
def test_a_name_that_nl_has_is_no_name_of_another_library(name):
    assert name not in NAMES


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ge", "did you mean 'greater_equal'?"),
        ("sub", "did you mean 'subtract'?"),
        ("swish", "did you mean 'silu'?"),
        ("exp2", "write nl.power(2.0, t)"),
        ("hardswish", ""),
        ("laod", "did you mean 'load'?"),
    ],
)
def test_a_missing_function_has_an_equal_or_a_similar_one(name, hint):
    assert function_instead(name, NAMES).removeprefix("; ") == hint


@pytest.mark.parametrize("name", ["laod", "loadd", "lad"])
def test_one_letter_or_a_swap_is_a_misspelling(name):
    assert is_misspelling(name, "load")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sub", "sum"),
        ("op", "op0"),
        ("x12", "x21"),
        ("log2", "log"),
        ("lode", "load"),
        ("ge", "gelu"),
    ],
)
def test_another_word_is_no_misspelling(name, meant):
    assert not is_misspelling(name, meant)


def test_a_misspelling_of_two_names_suggests_both():
    assert did_you_mean("tilea", ["tile", "tilesa"]) == "; did you mean 'tilesa' or 'tile'?"


@pytest.mark.parametrize("word", [*ENGINES, "VECTOR", "Pool"])
def test_engines_have_names_of_hardware_documents(word):
    meant = ENGINES.get(word.lower(), word.lower())
    with pytest.raises(AttributeError, match=f"did you mean '{meant}'"):
        _ = engine[meant] and getattr(engine, word)
