"""`nki.typing`: shapes that a kernel states for its tensors."""

import numpy as np
import pytest

import nkijit as nki
import nkijit.typing as nt
from nkijit.frameworks.calls import ArgumentTypeError

X = np.zeros((128, 8), np.float32)


@nki.jit
def stated(x: nt.tensor[128, 8], y: nt.mutable_tensor, z: "nt.tensor[None, 8]" = None):
    return x


def test_shapes_that_are_stated_are_held_to():
    assert stated(X, X[:1]).shape == (128, 8)
    assert stated(X, X, X[:3]).shape == (128, 8)
    with pytest.raises(ArgumentTypeError, match=r"'x' has shape \(64, 8\).* nt\.tensor\[128, 8\]"):
        stated(X[:64], X)
    with pytest.raises(ArgumentTypeError, match=r"'z' has shape \(128, 4\)"):
        stated(X, X, X[:, :4])
    with pytest.raises(ArgumentTypeError, match=r"'x' has shape"):
        stated.trace(nki.TensorSpec((128, 8, 1), "float32"), X)


def test_a_bare_annotation_states_nothing():
    @nki.jit
    def kernel(x: nt.tensor, y: "unknown[3]" = None):  # noqa: F821
        return x

    assert kernel(X, 3).shape == (128, 8)
