"""Names that kernels in production use and the API reference does not list."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

X = np.arange(128 * 64, dtype=np.float32).reshape(128, 64)


def test_data_types_are_a_module_and_an_annotation():
    import nkijit.dtype

    assert nki.dtype is nkijit.dtype
    assert nki.dtype.bfloat16 == nl.bfloat16 == "bfloat16"
    assert all(getattr(nki.dtype, name) == name for name in nl.dtypes.DATA_TYPES)

    # As signatures are written without `from __future__ import annotations`.
    def typed(x, dtype: nki.dtype | None = None, other: None | nki.dtype = None): ...

    assert isinstance(nl.float32, nki.dtype)
    assert not isinstance("float31", nki.dtype)
    assert not isinstance(32, nki.dtype)
    assert nki.dtype(np.float16) == "float16"
    assert typed(X) is None


def test_the_module_of_data_types_can_be_used_inside_a_kernel():
    @nki.jit
    def kernel(x, compute_dtype: nki.dtype = nki.dtype.float32):
        tile = nl.load(x, dtype=compute_dtype)
        out = nl.ndarray(x.shape, dtype=nki.dtype.float32, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    assert np.array_equal(kernel(X), X)


def test_range_is_pythons():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        for i in nl.range(0, x.shape[1], 16):
            nl.store(out[:, i : i + 16], nl.load(x[:, i : i + 16]))
        return out

    assert list(nl.range(3)) == [0, 1, 2]
    assert np.array_equal(kernel(X), X)


def test_the_partition_dimension_may_be_marked():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray((nl.par_dim(128), x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        out = nl.ndarray((nl.par_dim(x.shape[0]), x.shape[1]), x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, tile)
        return out

    traced = kernel.trace(X)
    assert "par_dim" not in traced.text()
    assert np.array_equal(kernel(X), X)


def test_a_mark_that_is_not_at_the_first_dimension_is_an_error_on_chip():
    @nki.jit
    def kernel(x):
        nl.ndarray((4, nl.par_dim(128), 64), dtype=x.dtype, buffer=nl.sbuf)
        return x

    with pytest.raises(nki.NkiValidationError, match="marks dim 1 of") as caught:
        kernel.trace(X)
    assert "block dimensions are lists of tiles" in str(caught.value)
