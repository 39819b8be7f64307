"""Kernels that do not end: recursion, and loops that are caught by nothing but a limit."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.discovery.errors import failure_of

X = nki.TensorSpec((4, 8), "float32")


@nki.jit
def recursive_instructions(x):
    tile = nl.ndarray((4, 8), nl.float32, buffer=nl.sbuf)

    def again() -> None:
        nisa.memset(tile, 0.0)
        again()

    again()


@nki.jit
def recursive_loops(x):
    def body(i: Any) -> None:
        nl.fori_loop(0, 2, body)

    body(0)


@nki.jit
def recursive_kernel(x):
    return recursive_kernel(x)


@pytest.mark.parametrize("kernel", [recursive_instructions, recursive_loops, recursive_kernel])
def test_recursion_is_pythons_error_at_the_authors_lines(kernel: Callable[..., Any]) -> None:
    with pytest.raises(RecursionError) as caught:
        kernel.trace(X)  # pyright: ignore[reportFunctionMemberAccess]
    failure = failure_of(caught.value)
    assert "internal error" not in failure.message
    assert failure.where[0].file == __file__


def test_a_generator_without_end_reaches_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NKIJIT_TRACE_LIMIT", "500")
    last: list[int] = []

    @nki.jit
    def kernel(x):
        for i in itertools.count():
            nisa.register_alloc(i)
            last.append(i)

    with pytest.raises(nki.NkiValidationError, match=r"trace-limit.*more than 500 operations"):
        kernel.trace(X)
    assert 200 < last[-1] < 500  # a register, and a move of its number to it


def test_a_kernel_at_the_limit_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants and the end of the kernel do not count."""

    @nki.jit
    def kernel(x):
        tile = nl.ndarray((4, 8), nl.float32, buffer=nl.sbuf)
        for i in range(9):
            nisa.memset(tile, float(i))
        out = nl.ndarray((4, 8), nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(out, tile)
        return out

    monkeypatch.setenv("NKIJIT_TRACE_LIMIT", "12")
    kernel.trace(X).verify()
    kernel.cache_clear()
    monkeypatch.setenv("NKIJIT_TRACE_LIMIT", "11")
    with pytest.raises(nki.NkiValidationError, match="trace-limit"):
        kernel.trace(X)
