"""Registers and scalars of exported kernels: bounds, addresses and names."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from support.classic_kernels import indexed_classic_kernel
from support.exports import check_round_trip, retraced
from support.random_kernels import TARGETS
from support.runtime_kernels import runtime_kernel

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.export.errors import ExportError
from nkijit.ir.text import parse
from nkijit.kernels.arguments import TensorSpec
from nkijit.traced.kernel import TracedKernel

PAGES = 9
Statements = Callable[[Any, Any, Any], None]
"""The actions of a kernel on its result, an input and a tensor of numbers."""


def traced(statements: Statements, cores: int = 1) -> TracedKernel:
    """A kernel of pages of 4 by 4 numbers."""

    def kernel(x, numbers):
        out = nl.ndarray((PAGES, 4, 4), dtype=nl.int32, buffer=nl.shared_hbm)
        statements(out, x, numbers)
        return out

    made: Any = nki.jit(kernel, platform_target="trn2")
    specs = TensorSpec((PAGES, 4, 4), "int32"), TensorSpec((6, 1), "int32")
    return (made if cores == 1 else made[cores]).trace(*specs)


def number(numbers: Any, row: int) -> Any:
    return nisa.scalar_load(numbers[row : row + 1, 0:1])


def copied(out: Any, x: Any, to: Any, of: Any) -> None:
    nisa.dma_copy(dst=out[to], src=x[of])


def check(statements: Statements, cores: int = 1) -> str:
    """The exported text of a kernel that is the same again, with loops and without."""
    kernel = traced(statements, cores)
    check_round_trip(kernel, loops=False)
    return check_round_trip(kernel, comments=False)


# ------------------------------------------------------------------ bounds

BOUNDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "upper": (lambda _: 0, lambda n: number(n, 0)),
    "lower": (lambda n: number(n, 0), lambda _: 4),
    "both": (lambda n: number(n, 0), lambda n: number(n, 1)),
    "computed": (lambda n: number(n, 0) - 1, lambda n: 2 * number(n, 1)),
    "numbers": (lambda _: 1, lambda _: 4),
}


@pytest.mark.parametrize("bounds", BOUNDS)
def test_an_index_that_python_computes_with(bounds: str):
    lower, upper = BOUNDS[bounds]

    def statements(out: Any, x: Any, numbers: Any) -> None:
        nl.fori_loop(lower(numbers), upper(numbers), lambda i: copied(out, x, i + 1, i))

    text = check(statements)
    assert "(i: nisa.NkiScalar)" in text
    assert "register_load" not in text


@pytest.mark.parametrize("upper", [True, False])
def test_an_index_that_bounds_the_loop_inside(upper: bool):
    def statements(out: Any, x: Any, numbers: Any) -> None:
        def outer(i: Any) -> None:
            ends = (0, i) if upper else (i, number(numbers, 1))
            nl.fori_loop(*ends, lambda j: copied(out, x, j + 1, j))

        nl.fori_loop(number(numbers, 0), 4, outer)

    assert check(statements).count(": nisa.NkiScalar) -> None:") == 2


def test_a_register_as_bound_makes_registers_of_the_indices_inside():
    def statements(out: Any, x: Any, numbers: Any) -> None:
        end = nisa.register_alloc(2)
        nisa.register_load(end, numbers[0:1, 0:1])
        for i in nl.dynamic_range(end):
            for j in nl.dynamic_range(i, 3):
                copied(out, x, j, i)

    text = check(statements)
    assert "(i: nisa.VirtualRegister)" in text
    assert "(j: nisa.VirtualRegister)" in text


# ------------------------------------------------------------------ Python's loops


def test_lists_of_scalars_and_registers():
    def statements(out: Any, x: Any, numbers: Any) -> None:
        scalars = [number(numbers, k) for k in range(3)]
        ends = [nisa.register_alloc() for _ in range(3)]
        for k in range(3):
            nisa.register_load(ends[k], numbers[k : k + 1, 0:1])
        for k in range(3):
            nl.fori_loop(scalars[k], 4, lambda i, k=k: copied(out, x, i + k, i))
        for k in range(3):
            nl.fori_loop(0, ends[k], lambda i, k=k: copied(out, x, i, k))

    text = check(statements)
    assert text.count("nl.fori_loop") == 2


def test_a_while_loop_of_each_iteration():
    """Each of the loops begins with a register of its own."""

    def statements(out: Any, x: Any, numbers: Any) -> None:
        scalars = [number(numbers, k) for k in range(3)]
        ends = [nisa.register_alloc() for _ in range(3)]
        for k in range(3):
            nisa.register_load(ends[k], numbers[k : k + 1, 0:1])

        def body(k: int) -> Any:
            copied(out, x, k, scalars[k])
            return ends[k]

        for k in range(3):
            nl.while_loop(scalars[k], lambda _, k=k: body(k))

    text = check(statements)
    assert text.count("nl.while_loop") == 1


def test_scalars_of_a_repeated_statement_in_a_loop_are_allocated_where_they_are_computed():
    def statements(out: Any, x: Any, numbers: Any) -> None:
        going = nisa.register_alloc()
        nisa.register_load(going, numbers[0:1, 0:1])

        def body(_: Any) -> Any:
            for k in range(4):
                copied(out, x, number(numbers, k) + k, k)
            return nisa.register_alloc(0)

        nl.while_loop(going, body)

    text = check(statements)
    assert "append" not in text
    assert text.count("nisa.scalar_load") == 1


# ------------------------------------------------------------------ names


def test_scalars_outlive_the_loop_that_made_them():
    def statements(out: Any, x: Any, numbers: Any) -> None:
        for i in nl.dynamic_range(3):
            for _ in nl.dynamic_range(2):
                one = nisa.scalar_load(numbers[0:1, 0:1])
                two = one + 1
            rank = ncc.rank_id()
            copied(out, x, two, i)
        nl.fori_loop(one, two, lambda i: copied(out, x, i + one, rank))

    text = check(statements)
    assert "one: nisa.NkiScalar" in text
    assert "rank: nisa.VirtualRegister" in text


def test_scalars_outlive_while():
    """Its loop gets a register of its own, so results are compared."""

    def statements(out: Any, x: Any, numbers: Any) -> None:
        nisa.dma_copy(dst=out, src=x)
        going = nisa.register_alloc(1)
        while going:
            one = nisa.scalar_load(numbers[0:1, 0:1])
            two = one * 2
            nisa.register_move(going, 0)
        nl.fori_loop(one, two, lambda i: copied(out, x, i + one, two))

    kernel = traced(statements)
    x = np.arange(PAGES * 16, dtype=np.int32).reshape(PAGES, 4, 4)
    numbers = np.full((6, 1), 3, np.int32)
    result = np.asarray(retraced(kernel).run(x, numbers))
    expected = x.copy()
    expected[6:9] = x[6]
    assert np.array_equal(result, expected)
    assert np.array_equal(kernel.run(x, numbers), expected)


@pytest.mark.parametrize("of", [0, 1])
def test_a_name_that_is_local_on_one_core_only(of: int):
    def statements(out: Any, x: Any, numbers: Any) -> None:
        core = nl.program_id(0)
        value: Any = None
        if core == of:
            value = number(numbers, 0) + 1

        def around(i: Any) -> None:
            copied(out, x, i, value)
            copied(out, x, i + 2, i)

        def inside(i: Any) -> None:
            value = i + 1
            copied(out, x, i, value)
            copied(out, x, i + 2, i)

        nl.fori_loop(0, 4, around if core == of else inside)

    assert "nonlocal value" in check(statements, cores=2)


@pytest.mark.parametrize("of", [0, 1])
def test_a_scalar_that_outlives_its_loop_on_one_core_only(of: int):
    def statements(out: Any, x: Any, numbers: Any) -> None:
        core = nl.program_id(0)
        for i in nl.dynamic_range(3):
            one = number(numbers, 0)
            two = one + 1
            copied(out, x, i, two)
        if core == of:
            copied(out, x, two, one)
        copied(out, x, one, 0)

    check(statements, cores=2)


# ------------------------------------------------------------------ operators

SUMS: dict[str, Callable[[Any, int], Any]] = {
    "with nothing added on a core": lambda i, k: i + k,
    "with a sum": lambda i, k: i + (k + 2),
    "less a sum": lambda i, k: i - (2 * k + 1),
    "times a sum": lambda i, k: i * (k + 1),
    "of a sum": lambda i, k: (3 * k + 1) + i,
    "less the index": lambda i, k: (k + 1) - i,
    "with less and less": lambda i, k: i + (3 - k),
    "with nothing": lambda i, _: i + 0,
    "with what becomes negative": lambda i, k: i + (-1 - k),
    "negative": lambda i, _: -i,
}


@pytest.mark.parametrize("sort", SUMS)
@pytest.mark.parametrize("cores", [1, 2])
def test_operands_that_differ_stay_one_operand(sort: str, cores: int):
    """Numbers that differ between iterations and cores: the sum of them is one operand."""

    def statements(out: Any, x: Any, numbers: Any) -> None:
        core = nl.program_id(0) if cores == 2 else 0
        scalar = number(numbers, 0)
        for k in range(3):
            nisa.scalar_store(out[k, 0:1, core : core + 1], SUMS[sort](scalar, k))
        nisa.scalar_store(out[3, 0:1, 0:1], SUMS[sort](scalar, core))
        nisa.scalar_store(out[4, 0:1, 0:1], SUMS[sort](scalar, 1))
        for k in range(3):
            nisa.scalar_store(out[k, 1:2, 0:1], SUMS[sort](scalar, k + core))

    text = check(statements, cores)
    assert text.count("for k in range(3)") == 2 or sort.startswith("with")


# ------------------------------------------------------------------ no API function

NO_SCALARS = {
    "from int32, not from float32": "nisa.register_load dst=%r, src=%other",
    "loaded or computed once": "nisa.register_move dst=%r, src=%c1",
    "numbers while a kernel is": "nisa.register_compute dst=%r, data1=%c1, data2=%c1, op=add",
    "before the function": "nisa.register_compute dst=%r, data1=%s, data2=%c1, op=add",
}


@pytest.mark.parametrize("message", NO_SCALARS)
def test_values_that_are_not_scalars(message: str):
    """A loop whose induction variable is computed with has no other bounds than scalars."""
    text = f"""nki.kernel @k(%n: memref<1x1xi32, #nki.private_hbm>,
                             %other: memref<1x1xf32, #nki.private_hbm>) target=trn2 {{
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %r = nki.register
      %s = nki.register
      %t = nki.register
      {NO_SCALARS[message]}
      nisa.register_load dst=%s, src=%n
      %end = nki.read %r
      scf.for %i = %c0 to %end step %c1 : i32 {{
        nisa.register_compute dst=%t, data1=%i, data2=%c1, op=add
      }}
      nki.return
    }}"""
    with pytest.raises(ExportError, match=message):
        TracedKernel(parse(text)).source()


def test_a_loop_that_compares_registers():
    text = """nki.kernel @k(%n: memref<1x1xi32, #nki.private_hbm>) target=trn2 {
      %r = nki.register
      %s = nki.register
      nisa.register_load dst=%r, src=%n
      nisa.register_load dst=%s, src=%n
      scf.while () : () -> () {
        %0 = nki.read %r
        %1 = nki.read %s
        %2 = arith.cmpi ne, %0, %1 : i32
        scf.condition(%2)
      } do {
        nisa.register_load dst=%r, src=%n
        scf.yield
      }
      nki.return
    }"""
    with pytest.raises(ExportError, match="while a register is not 0"):
        TracedKernel(parse(text)).source()


# ------------------------------------------------------------------ random kernels


def check_random(seed: int) -> None:
    random = Random(seed)
    target, cores = random.choice(TARGETS), random.randint(1, 2)
    length, depth = random.choice(((8, 0), (6, 1), (4, 2)))
    kernel, inputs = runtime_kernel(seed, target, length, depth, cores)
    assert not kernel.diagnostics.errors
    text = check_round_trip(kernel, loops=random.random() < 0.7)
    results = [
        [np.asarray(r) for r in each.run(*[array.copy() for array in inputs])]
        for each in (kernel, retraced(kernel, text))
    ]
    for one, two in zip(*results, strict=True):
        assert np.array_equal(one, two)


def test_random_bounds_addresses_and_indices():
    for seed in range(12):
        check_random(seed)


@pytest.mark.slow
def test_more_random_bounds_addresses_and_indices():
    for seed in range(100, 125):
        check_random(seed)


def test_random_indices_of_the_classic_api():
    for seed in range(8):
        kernel, inputs, expected = indexed_classic_kernel(seed)
        assert np.array_equal(kernel.run(*inputs), expected)
        check_round_trip(kernel, loops=bool(seed % 2))
        assert np.array_equal(retraced(kernel).run(*inputs), expected)
