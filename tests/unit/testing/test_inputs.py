"""Random inputs: of every data type, within their ranges, the same for the same seed."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from support.small_kernels import scaled_gelu

import nkijit as nki
from nkijit.dialects.dtypes import DTYPES
from nkijit.passes.numerics.storage import STORAGE
from nkijit.testing import random_inputs


@pytest.mark.parametrize("name", DTYPES)
def test_every_data_type_can_be_given_to_a_kernel_of_it(name: str):
    (array,) = random_inputs([((64, 32), name)], seed=1)
    assert array.shape == (64, 32)
    assert array.dtype == STORAGE[name]
    assert len(np.unique(array.view(np.uint8))) > 1


def test_the_seed_decides_and_neighbours_do_not():
    one = random_inputs({"a": "4x4:float32", "b": "8x2:bfloat16"}, seed=5)
    two = random_inputs({"a": "4x4:float32", "b": "8x2:bfloat16", "c": "2:int8"}, seed=5)
    other = random_inputs({"a": "4x4:float32"}, seed=6)
    assert list(two) == ["a", "b", "c"]
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
    assert (one["a"] != other["a"]).any()


def test_forms_of_specs():
    text, pair, spec = random_inputs(
        ["2x3:int16", ((2, 3), np.int16), nki.TensorSpec((2, 3), "int16")]
    )
    assert text.shape == pair.shape == spec.shape == (2, 3)
    assert text.dtype == pair.dtype == spec.dtype == np.int16
    traced = scaled_gelu.trace(nki.TensorSpec((128, 8), ml_dtypes.bfloat16))
    (x,) = random_inputs(traced)
    assert (x.shape, x.dtype) == ((128, 8), np.dtype(ml_dtypes.bfloat16))


def test_integers():
    eight, word, unsigned = random_inputs(["10000:int8", "10000:int32", "10000:uint32"])
    assert set(eight.tolist()) == set(range(-128, 128))
    assert np.abs(word).max() <= 2**24
    assert word.min() < 0
    # Engines compute in float32, which has all of these.
    assert (word.astype(np.float32).astype(np.int64) == word).all()
    assert unsigned.max() <= 2**24


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "bfloat16", "float8_e4m3"])
def test_ranges(dtype: str):
    (array,) = random_inputs([f"5000:{dtype}"], ranges={0: (3, 7)})
    values = {Fraction(float(value)) for value in array}
    assert min(values) >= 3
    assert max(values) <= 7
    if "int" in dtype:
        assert values == {3, 4, 5, 6, 7}


def test_floats_are_normally_distributed():
    (array,) = random_inputs(["100000:bfloat16"], seed=2)
    values = array.astype(np.float64)
    assert abs(values.mean()) < 0.02
    assert abs(values.std() - 1) < 0.02


def test_packed_elements_are_numbers():
    (array,) = random_inputs(["128x16:float8_e4m3fn_x4"])
    values = array.view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    assert values.shape == (128, 64)
    assert np.isfinite(values).all()
    assert 0.8 < values.std() < 1.2
    (small,) = random_inputs(["128x16:float4_e2m1fn_x4"])
    codes = small.view(np.uint8)
    nibbles = np.concatenate([codes & 15, codes >> 4])
    assert 0.8 < nibbles.view(ml_dtypes.float4_e2m1fn).astype(np.float32).std() < 1.2


@pytest.mark.parametrize(
    ("specs", "ranges", "message"),
    [
        ("4:float32", None, "put it into a list"),
        (["4x4"], None, "expected SHAPE:DTYPE"),
        (["4x4:flaot32"], None, "did you mean 'float32'"),
        ([3], None, "expected a tensor"),
        (["4:uint8"], {0: (0, 256)}, "uint8 does not hold 0 to 256"),
        (["4:int8"], {0: (0, 0.5)}, "int8 does not hold"),
        (["4:int8"], {0: (2, 1)}, "2 is above 1"),
        (["4:int8"], {1: (1, 2)}, "there is no tensor 1; there are 0"),
        (["4:float8_e5m2_x4"], {0: (1, 2)}, "holds several elements"),
    ],
)
def test_values_that_are_not_tensors(specs, ranges, message: str):
    with pytest.raises(ValueError, match=message):
        random_inputs(specs, ranges=ranges)
