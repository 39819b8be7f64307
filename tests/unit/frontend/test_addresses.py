"""Fixed addresses: kept in the IR, checked, and refused where they would change the numbers."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.ir.text import parse

X = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)


def kernel_with(first, second, *, together):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        a = nl.ndarray(x.shape, x.dtype, address=first)
        b = nl.ndarray(x.shape, x.dtype, address=second)
        nisa.dma_copy(a, x)
        if not together:
            nl.store(out, a)
        nisa.dma_copy(b, x)
        nl.store(out, b)
        if together:
            nl.store(out, a)
        return out

    return kernel


def test_addresses_are_in_the_ir_and_the_listing():
    traced = kernel_with((0, 64), (0, 96), together=True).trace(X)
    assert "nki.alloc address=[0, 64] : memref" in str(traced)
    assert "a[sbuf 64, 0:128, 1:8, float32]" in traced.listing()
    assert str(nki.TracedKernel(parse(str(traced)))) == str(traced)


@pytest.mark.parametrize(
    ("second", "together", "runs"),
    [
        ((0, 32), True, True),
        ((0, 31), True, False),
        ((0, 0), True, False),
        ((0, 0), False, True),
    ],
)
def test_tiles_in_use_together_must_not_share_addresses(second, together, runs):
    kernel = kernel_with((0, 0), second, together=together)
    if runs:
        assert np.array_equal(kernel(X), X)
    else:
        with pytest.raises(nki.NkiValidationError, match=r"address-overlap.*shares bytes with 'a'"):
            kernel(X)


def test_one_address_for_every_iteration_of_a_long_loop():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        for _ in range(2000):
            t = nl.ndarray(x.shape, x.dtype, address=(0, 0))
            nisa.dma_copy(t, x)
            nl.store(out, t)
        return out

    assert np.array_equal(kernel(X), X)


@pytest.mark.parametrize(
    ("shape", "buffer", "address", "rules"),
    [
        ((64, 8), nl.sbuf, (64, 0), []),
        ((64, 8), nl.sbuf, (65, 0), ["alloc-address"]),
        ((128, 512), nl.psum, (0, 14 * 1024), []),
        ((128, 513), nl.psum, (0, 14 * 1024), ["address-capacity"]),
        ((128, 8), nl.shared_hbm, (0, 0), ["alloc-address"]),
    ],
)
def test_addresses_leave_room_for_the_tile(shape, buffer, address, rules):
    @nki.jit
    def kernel(x):
        nl.ndarray(shape, nl.float32, buffer=buffer, address=address)

    found = kernel.trace(X).find("verify-instructions")
    assert [d.rule.id for d in found] == rules
