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
    def typed(x, dtype: nki.dtype | None = None, other: nki.dtype = None): ...

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


# ------------------------------------------------------------------ values in older forms


def rules_of(findings):
    return [d.rule.id for d in findings]


def test_members_of_enumerations_by_their_number():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        for _ in nl.static_range(2):  # a warning for the line, not for each time
            nisa.dma_copy(tile, x, dge_mode=3, oob_mode=np.int32(0))
        nisa.tensor_copy(tile, tile, engine=5)
        nisa.activation(tile, nl.exp, tile, reduce_cmd=1)
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, tile, dge_mode=0)
        return out

    found = [d for d in kernel.trace(X).diagnostics if d.rule.id == "portable-enum-number"]
    assert [d.message for d in found] == [
        "'oob_mode' is the number 0, which stands for oob_mode.error",
        "'dge_mode' is the number 3, which stands for dge_mode.none",
        "'engine' is the number 5, which stands for engine.vector",
        "'reduce_cmd' is the number 1, which stands for reduce_cmd.reset",
        "'dge_mode' is the number 0, which stands for dge_mode.unknown",
    ]
    text = kernel.trace(X).text()
    assert "dge_mode=none" in text
    assert "engine=vector" in text
    assert np.allclose(kernel(X[:, :4] / 1000), np.exp(X[:, :4] / 1000), rtol=1e-5)


def test_a_number_that_no_member_has_is_refused():
    @nki.jit
    def kernel(x):
        tile = nl.load(x)
        nisa.tensor_copy(tile, tile, engine=17)
        nisa.tensor_copy(tile, tile, engine=True)
        return x

    found = kernel.trace(X).diagnostics
    assert rules_of(found) == ["argument", "argument"]


def test_a_warning_about_a_number_can_be_suppressed():
    @nki.jit
    def kernel(x):
        tile = nl.load(x)
        nisa.tensor_copy(tile, tile, engine=5)  # nkijit: ignore[portable-enum-number]
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    assert rules_of(kernel.trace(X).diagnostics) == []
    assert rules_of(kernel.portability(X)) == []


def test_names_may_be_none():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, name=None)
        zeros = nl.zeros(x.shape, x.dtype, name=None)
        nisa.dma_copy(tile, x, name=None)
        like = nl.empty_like(tile, name=None)
        nisa.tensor_tensor(like, tile, zeros, nl.add, name=None)
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm, name=None)
        nisa.dma_copy(out, like)
        return out

    assert np.array_equal(kernel(X), X)


def test_floats_that_are_integers_fill_tiles_of_integers():
    @nki.jit
    def kernel(x):
        counts = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.sbuf)
        nisa.memset(counts, value=0.0)
        counts[:, 0:2] = -3.0
        out = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
        nisa.dma_copy(out, counts)
        return out

    expected = np.zeros((128, 64), np.int32)
    expected[:, 0:2] = -3
    assert np.array_equal(kernel(X), expected)
    assert rules_of(kernel.trace(X).diagnostics) == ["memset-float", "memset-float"]


def test_a_tensor_counts_as_true():
    @nki.jit
    def kernel(x, bias=None):
        tile = nl.load(x)
        for _ in range(2):
            if bias:
                nl.add(tile, tile)
        tile = nl.load(bias) if bool(bias) and not (not bias) else tile  # noqa: SIM208
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, (bias and tile) or x)
        return out

    assert np.array_equal(kernel(X, X + 1), X + 1)
    found = [d for d in kernel.trace(X, X + 1).diagnostics if d.rule.id == "truth-value"]
    assert all(d.severity == "warning" and d.where[0].file == __file__ for d in found)
    assert len({d.where[0].line for d in found}) == 3
    assert "truth-value" not in rules_of(kernel.trace(X).diagnostics)


def test_ranges_are_slices():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray((64, 32), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x[range(64), range(0, 64, 2)])
        tile[nl.affine_range(0, 32), nl.range(3)] = tile[nl.sequential_range(32), range(4, 7)]
        out = nl.ndarray((64, 32), dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out[nl.static_range(64)], tile[..., range(32)])
        return out

    expected = X[:64, ::2].copy()
    expected[0:32, 0:3] = expected[0:32, 4:7]
    assert np.array_equal(kernel(X), expected)


@pytest.mark.parametrize("wrong", [range(3, 0, -1), range(65)])
def test_ranges_that_are_no_view(wrong):
    @nki.jit
    def kernel(x):
        x[:, wrong]
        return x

    with pytest.raises(nki.NkiValidationError, match="of dim 1"):
        kernel.trace(X)


def test_the_last_number_of_a_range_counts_not_its_end():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((128, 3), dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, x[:, range(0, 75, 25)])
        return out

    assert np.array_equal(kernel(X), X[:, 0:64:25])
