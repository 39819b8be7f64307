"""Ranges of data types: the results of NumPy's casts of numbers to them."""

from random import Random

import ml_dtypes
import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.dtypes import DTYPES, Kind

FLOATS = [name for name, dtype in DTYPES.items() if dtype.kind is Kind.float and name != "tfloat32"]
INTEGERS = [name for name, dtype in DTYPES.items() if dtype.kind is Kind.integer]


def numbers(ends):
    """Numbers of all sizes, many of them near some ends."""
    random = Random(0)
    for _ in range(2000):
        yield random.choice((-1, 1)) * 2.0 ** random.uniform(-160, 160)
    for end in ends:
        for _ in range(500):
            yield end * random.uniform(0.3, 1.7)
            yield end * (1 + random.uniform(-1, 1) * 2.0 ** -random.randrange(12))


@pytest.mark.parametrize("name", [n for n in FLOATS if n != "float8_e8m0fnu"])
def test_a_float_type_holds_numbers_that_a_cast_preserves(name):
    dtype, info = DTYPES[name], ml_dtypes.finfo(name)
    kept = lost = 0
    # Not the infinities of those types that have none: those are NaN for NumPy.
    for number in numbers([float(info.max), float(info.min), float(info.smallest_subnormal)]):
        with np.errstate(all="ignore"):
            cast = float(np.array(number, np.float64).astype(name))
        is_kept = bool(np.isfinite(cast) and cast != 0)
        assert (dtype.cannot_hold(number) is None) is is_kept, (number, cast)
        kept, lost = kept + is_kept, lost + (not is_kept)
    assert min(kept, lost) > 20
    assert dtype.cannot_hold(0.0) is dtype.cannot_hold(-0.0) is None
    assert dtype.cannot_hold(float(info.max)) is dtype.cannot_hold(float(info.min)) is None
    assert dtype.cannot_hold(float("nan")) is None
    has_infinities = bool(np.isinf(np.array(np.inf).astype(name).astype(np.float64)))
    assert (dtype.cannot_hold(float("-inf")) is None) is has_infinities


@pytest.mark.parametrize("name", INTEGERS)
def test_an_integer_type_holds_numbers_that_round_to_its_integers(name):
    dtype, info = DTYPES[name], np.iinfo(name)
    for number in numbers([float(info.max), float(info.min or -1)]):
        is_held = info.min <= int(np.rint(number)) <= info.max
        assert (dtype.cannot_hold(number) is None) is is_held, number
    for number in (info.min, info.max):
        assert dtype.cannot_hold(int(number)) is None
    assert dtype.cannot_hold(int(info.max) + 1)
    assert dtype.cannot_hold(int(info.min) - 1)
    assert all(map(dtype.cannot_hold, (float("nan"), float("inf"), float("-inf"))))


def findings_of(number, scalar):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        if scalar:
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=number)
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=number)
        else:
            nisa.memset(dst=tile[0:2], value=number)
            nisa.memset(dst=tile[2:4], value=number)
        nl.store(out, tile)
        return out

    found = kernel.trace(np.ones((4, 8), np.float32)).diagnostics
    return [d for d in found if d.rule.id == "constant-range"]


@pytest.mark.parametrize("scalar", [False, True])
@pytest.mark.parametrize(
    ("number", "problem"),
    [
        (1e39, "'{}' is 1e+39, which is stored as a float32; the type holds -3.4028234663852886e"),
        (-1e300, "'{}' is -1e+300, which is stored as a float32; the type holds"),
        (np.float64(1e-50), "stored as a float32; the type's smallest number above 0 is 1.401"),
        (1e-46, "the type's smallest number above 0 is 1.401298464324817e-45"),
        (-3.4028235e38, None),
        (float("-inf"), None),
        (float("nan"), None),
        (1e-45, None),
        (0.0, None),
    ],
)
def test_numbers_that_float32_does_not_hold_are_found_at_each_instruction(number, problem, scalar):
    found = findings_of(number, scalar)
    if problem is None:
        assert not found
    else:
        assert len(found) == 2
        assert all(d.severity == "warning" and d.where for d in found)
        assert all(problem.format("number") in d.message for d in found)  # the variable
