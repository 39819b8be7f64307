"""nl.rand, random_seed, dropout and gather_flattened: their instructions and their results."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

TARGETS = ("trn1", "trn2", "trn3")


def out(tile):
    result = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
    nl.store(result, tile)
    return result


def instructions(kernel, *arguments):
    traced = kernel.trace(*arguments)
    block = traced._kernel.body.block
    return [op.name for op in block.ops if op.name.startswith("nisa.")]


def seed_tile(value):
    return nl.full((1, 1), value, dtype=nl.int32)


def test_rand_is_rand2_from_neuroncore_v4_on():
    def body():
        return out(nl.rand((4, 8), nl.float32))

    newest = instructions(nki.jit(body, platform_target="trn3"))
    assert newest == ["nisa.rand2", "nisa.dma_copy"]
    for target in ("trn1", "trn2"):
        older = instructions(nki.jit(body, platform_target=target))
        assert older == ["nisa.rng", *["nisa.tensor_scalar"] * 2, "nisa.dma_copy"]


@pytest.mark.parametrize("target", TARGETS)
def test_rand_is_uniform_and_follows_the_seed(target):
    @nki.jit(platform_target=target)
    def kernel():
        nl.random_seed(seed_tile(42))
        a = nl.rand((128, 512), nl.float32)
        b = nl.rand((128, 512), nl.float32)
        nl.random_seed(seed_tile(42))
        c = nl.rand((128, 512), nl.float32)
        nl.random_seed(seed_tile(43))
        d = nl.rand((128, 512), nl.float32)
        return out(a), out(b), out(c), out(d)

    a, b, c, d = kernel()
    np.testing.assert_array_equal(a, c)
    assert np.mean(a == b) < 0.001
    assert np.mean(a == d) < 0.001
    assert a.min() >= 0
    assert a.max() < 1
    assert abs(a.mean() - 0.5) < 5 / np.sqrt(12 * a.size)


def test_rand_is_the_same_on_every_target():
    def body():
        return out(nl.rand((3, 50), nl.float32))

    first, *others = (nki.jit(body, platform_target=target)() for target in TARGETS)
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_every_run_has_the_same_numbers():
    @nki.jit
    def kernel():
        return nl.rand((3, 50), nl.float32, buffer=nl.shared_hbm)

    np.testing.assert_array_equal(kernel(), kernel())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(5,), (300, 7), (2, 3, 4), (130, 5000)])
def test_rand_in_hbm(shape, target):
    @nki.jit(platform_target=target)
    def kernel():
        return nl.rand(shape, nl.float32, buffer=nl.shared_hbm)

    a = kernel()
    assert a.shape == shape
    assert a.min() >= 0
    assert a.max() < 1
    assert len(np.unique(a)) > 0.9 * a.size


def test_rand_in_psum_and_in_other_types():
    @nki.jit
    def kernel():
        in_psum = nl.rand((4, 100), nl.float32, buffer=nl.psum, name="noise")
        assert in_psum.name == "noise"
        copied = nl.ndarray((4, 100), nl.bfloat16)
        nisa.tensor_copy(copied, in_psum)
        return out(copied), out(nl.rand((4, 100), nl.bfloat16))

    for a in kernel():
        assert 0 <= a.astype(np.float32).min() < a.astype(np.float32).max() <= 1


@pytest.mark.parametrize("target", TARGETS)
def test_dropout(target):
    @nki.jit(platform_target=target)
    def kernel(x, p):
        tile = nl.load(x)
        return (
            out(nl.dropout(tile, 0.25)),
            out(nl.dropout(tile, nl.load(p))),
            out(nl.dropout(tile, 0.5, dtype=nl.bfloat16)),
        )

    x = np.random.default_rng(0).uniform(1, 2, (128, 256)).astype(np.float32)
    p = np.linspace(0, 1, 128, dtype=np.float32)[:, None]
    a, b, c = kernel(x, p)
    assert ((a == 0) | (a == x)).all()
    assert abs((a == 0).mean() - 0.25) < 0.02
    assert not (b[0] == 0).any()
    assert (b[-1] == 0).all()
    assert np.corrcoef((b == 0).mean(axis=1), p[:, 0])[0, 1] > 0.98
    assert c.dtype.name == "bfloat16"
    assert abs((c == 0).mean() - 0.5) < 0.02


def test_gather_flattened():
    @nki.jit
    def kernel(data, indices):
        source, chosen = nl.load(data), nl.load(indices)
        return (
            out(nl.gather_flattened(source, chosen)),
            out(nl.gather_flattened(source, chosen, dtype=nl.float32)),
        )

    data = np.arange(32 * 64, dtype=np.int32).reshape(32, 8, 8)
    indices = np.random.default_rng(0).integers(0, 64, (32, 2, 5)).astype(np.uint32)
    plain, converted = kernel(data, indices)
    expected = np.take_along_axis(data.reshape(32, 64), indices.reshape(32, 10).astype(int), 1)
    np.testing.assert_array_equal(plain, expected.reshape(32, 2, 5))
    np.testing.assert_array_equal(converted, expected.reshape(32, 2, 5).astype(np.float32))


def _seed_as_number():
    nl.random_seed(42)


def _dropout_of_a_number():
    nl.dropout(0.5, 0.5)


def _gather_from_a_list():
    nl.gather_flattened([1, 2], nl.ndarray((4, 4), nl.uint32))


def _gather_along_partitions():
    nl.gather_flattened(nl.zeros((4, 4), nl.int8), nl.zeros((4, 4), nl.uint32), axis=1)


def _topk_without_a_number():
    tile = nl.zeros((16, 4), nl.bfloat16)
    nisa.topk(tile, nl.zeros((16, 4), nl.uint32), tile, n="all")


def _mask_of_floats():
    tile = nl.zeros((32, 4), nl.float32)
    nisa.nc_stream_shuffle(tile, tile, [0.5] * 32)


def _state_of_a_list():
    nisa.rand_set_state([1, 2, 3, 4, 5, 6])


MISTAKES = [
    (_seed_as_number, "'seed': expected a tile, got 42"),
    (_dropout_of_a_number, "'x': expected a tile, got 0.5"),
    (_gather_from_a_list, r"'data': expected a tile, got \[1, 2\]"),
    (_gather_along_partitions, "'axis': the flattened dimension is axis 0, got 1"),
    (_topk_without_a_number, "'n': expected an int32, got 'all'"),
    (_mask_of_floats, "'shuffle_mask': expected an integer or a sequence of integers"),
    (_state_of_a_list, r"'src_seeds': expected a tile, got \[1, 2"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=lambda m: getattr(m, "__name__", ""))
def test_mistakes_are_reported_at_the_authors_line(mistake, message):
    @nki.jit
    def kernel():
        mistake()

    with pytest.raises(nki.NkiValidationError, match=message) as raised:
        kernel()
    first = mistake.__code__.co_firstlineno
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.where[0].line in range(first + 1, first + 3)
