"""Assigned values: which are computed at their destination, and which are copied there.

The forms occur in kernels. The IR shows whether a form copies. Results are compared with NumPy, so
a value that is used later is never taken for a temporary.
"""

from __future__ import annotations

import dis
import functools
import itertools
import operator
import re
from collections.abc import Callable
from types import CodeType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import nkijit.classic as nki
import nkijit.classic.isa as nisa
import nkijit.classic.language as nl
from nkijit import NkiValidationError
from nkijit.classic.destinations import bytecode
from nkijit.classic.destinations.bytecode import Bytecode

Array = np.ndarray[Any, Any]


class Form(NamedTuple):
    """A function that assigns values computed from `x` (6 columns) to `t`, a tile of 12."""

    body: Callable[[Any, Any], None]
    instructions: tuple[str, ...]
    """The emitted instructions."""
    left: int | None
    right: int | None
    """The final values of the halves of `t`: `x` plus a number; None for the initial zeros."""


FORMS: list[Form] = []


def emits(
    *instructions: str, left: int | None = 1, right: int | None = None
) -> Callable[[Callable[[Any, Any], None]], None]:
    """Put a function among the forms."""

    def add(body: Callable[[Any, Any], None]) -> None:
        FORMS.append(Form(body, instructions, left, right))

    return add


ADD, COPY = "tensor_scalar", "tensor_copy"

f = functools.partial(nisa.tensor_scalar, op0=np.add, operand0=1.0)
"""`x + 1`, called by the author's code itself."""


def helper(x: Any) -> Any:
    return nisa.tensor_scalar(x, op0=np.add, operand0=1.0)


def helper_with_a_name(x: Any) -> Any:
    result = f(x)
    return result


def helper_of_a_helper(x: Any) -> Any:
    return helper_with_a_name(x)


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


@decorated
def decorated_helper(x: Any) -> Any:
    return f(x)


class Methods:
    def method(self, x: Any) -> Any:
        return f(x)

    @staticmethod
    def static(x: Any) -> Any:
        return f(x)


# ------------------------------------------------------------------ computed where it is assigned


@emits(ADD)
def call(t: Any, x: Any) -> None:
    t[:, 0:6] = nisa.tensor_scalar(x, op0=np.add, operand0=1.0)


@emits(ADD, ADD, left=2)
def call_of_a_call(t: Any, x: Any) -> None:
    t[:, 0:6] = f(f(x))


@emits(ADD)
def call_with_unpacked_arguments(t: Any, x: Any) -> None:
    arguments, options = (x, np.add), {"operand0": 1.0}
    t[:, 0:6] = nisa.tensor_scalar(*arguments, **options)


@emits(ADD)
def word_of_the_language(t: Any, x: Any) -> None:
    t[:, 0:6] = nl.add(x, 1.0)


@emits(ADD)
def function_in_a_container(t: Any, x: Any) -> None:
    t[:, 0:6] = {"f": f}["f"](x)


@emits(ADD)
def binary_operator(t: Any, x: Any) -> None:
    t[:, 0:6] = x + 1.0


@emits(ADD, ADD, left=0)
def unary_operator(t: Any, x: Any) -> None:
    t[:, 0:6] = -(0.0 - x)


@emits(ADD, ADD)
def comparison(t: Any, x: Any) -> None:
    truth = nl.ndarray((8, 6), nl.bool_)
    truth[:, 0:6] = x > 3.0
    t[:, 0:6] = nl.add(x, 1.0)


@emits(COPY, left=0)
def method_of_a_tile(t: Any, x: Any) -> None:
    t[:, 0:6] = x.astype(nl.float32)


@emits(ADD, left=0)
def function_of_python(t: Any, x: Any) -> None:
    t[:, 0:6] = abs(x)


@emits(ADD, ADD, right=1)
def chosen_call(t: Any, x: Any) -> None:
    for i in range(2):
        t[:, 6 * i : 6 * i + 6] = x if i > 5 else f(x)


@emits(ADD, ADD, right=2)
def one_of_two_calls(t: Any, x: Any) -> None:
    for i in range(2):
        t[:, 6 * i : 6 * i + 6] = nl.add(x, 2.0) if i else f(x)


@emits(ADD, ADD, right=1)
def place_that_is_chosen(t: Any, x: Any) -> None:
    for i in range(2):
        t[:, 6 if i else 0 : 12 if i else 6] = f(x)


@emits(ADD, ADD, right=1)
def place_that_is_computed(t: Any, x: Any) -> None:
    tiles = {"t": [t]}
    for i in range(2):
        tiles["t"][0][:, slice(*(6 * i, 6 * i + 6))] = f(x)


@emits(ADD)
def rows(t: Any, x: Any) -> None:
    left = t[:, 0:6]
    left[0:8] = f(x)


@emits(ADD, ADD, right=1)
def index_expressions(t: Any, x: Any) -> None:
    p, column = nl.mgrid[0:8, 0:6]
    for i in range(2):
        t[p, 6 * i + column] = f(x)


@emits(ADD, ADD, right=1)
def before_and_after_an_exception(t: Any, x: Any) -> None:
    try:
        t[:, 0:6] = f(x)
        raise ValueError
    except ValueError:
        t[:, 6:12] = f(x)


@emits(ADD, ADD, right=1)
def function_that_assigns(t: Any, x: Any) -> None:
    def assign(i: int) -> None:
        t[:, i : i + 6] = f(x)

    for i in (0, 6):
        assign(i)


@emits(ADD)
def code_without_a_file(t: Any, x: Any) -> None:
    exec("t[:, 0:6] = f(x)", {"f": f, "t": t, "x": x})


@emits(ADD)
def result_of_a_helper(t: Any, x: Any) -> None:
    t[:, 0:6] = helper(x)


@emits(ADD)
def result_of_a_helper_that_names_it(t: Any, x: Any) -> None:
    t[:, 0:6] = helper_with_a_name(x)


@emits(ADD)
def result_of_a_helper_of_a_helper(t: Any, x: Any) -> None:
    t[:, 0:6] = helper_of_a_helper(x)


@emits(ADD)
def result_of_a_decorated_helper(t: Any, x: Any) -> None:
    t[:, 0:6] = decorated_helper(x)


@emits(ADD, ADD, right=1)
def result_of_a_method(t: Any, x: Any) -> None:
    methods = Methods()
    t[:, 0:6] = methods.method(x)
    t[:, 6:12] = Methods.static(x)


@emits(ADD)
def result_of_a_function_inside(t: Any, x: Any) -> None:
    def inner(i: int) -> Any:
        return f(x)

    t[:, 0:6] = inner(0)


@emits(ADD)
def result_of_a_helper_with_some_arguments(t: Any, x: Any) -> None:
    given = functools.partial(helper, x)
    t[:, 0:6] = given()


# ------------------------------------------------------------------ copied


@emits(ADD, COPY, ADD, right=2)
def name(t: Any, x: Any) -> None:
    y = f(x)
    t[:, 0:6] = y
    t[:, 6:12] = f(y)


@emits(ADD, COPY, ADD, right=2)
def name_in_an_expression(t: Any, x: Any) -> None:
    t[:, 0:6] = (y := f(x))
    t[:, 6:12] = f(y)


@emits(ADD, COPY, COPY, right=1)
def two_places(t: Any, x: Any) -> None:
    t[:, 0:6] = t[:, 6:12] = f(x)


@emits(ADD, COPY, ADD, right=2)
def place_and_name(t: Any, x: Any) -> None:
    t[:, 0:6] = y = f(x)
    t[:, 6:12] = f(y)


@emits(ADD, COPY, ADD, right=2)
def name_and_place(t: Any, x: Any) -> None:
    y = t[:, 0:6] = f(x)
    t[:, 6:12] = f(y)


@emits(ADD, COPY, ADD, ADD, right=2)
def chosen_name(t: Any, x: Any) -> None:
    y = f(x)
    for i in range(2):
        t[:, 6 * i : 6 * i + 6] = f(y) if i else y
    t[:, 6:12] = f(y)


@emits(ADD, COPY)
def part_of_a_result(t: Any, x: Any) -> None:
    t[:, 0:6] = f(x)[...]


@emits(ADD, COPY)
def view_of_a_result(t: Any, x: Any) -> None:
    t[:, 0:6] = f(x).reshape((8, 6))


@emits(ADD, ADD, COPY, COPY, right=2)
def two_results(t: Any, x: Any) -> None:
    t[:, 0:6], t[:, 6:12] = f(x), nl.add(x, 2.0)


@emits(ADD, COPY)
def result_beside_a_number(t: Any, x: Any) -> None:
    t[:, 0:6], _ = f(x), 3


@emits(ADD, COPY)
def item_of_a_list(t: Any, x: Any) -> None:
    t[:, 0:6] = [f(x)][0]


@emits(ADD, COPY)
def comprehension(t: Any, x: Any) -> None:
    t[:, 0:6] = next(iter([f(x) for _ in range(1)]))


@emits(ADD, COPY)
def variable_of_a_loop(t: Any, x: Any) -> None:
    for t[:, 0:6] in (f(x),):
        pass


@emits(ADD, COPY, ADD, right=2)
def attribute(t: Any, x: Any) -> None:
    state = SimpleNamespace(y=f(x))
    t[:, 0:6] = state.y
    t[:, 6:12] = f(state.y)


@emits(ADD, COPY, ADD, right=2)
def argument(t: Any, x: Any) -> None:
    def assign(y: Any) -> None:
        t[:, 0:6] = y
        t[:, 6:12] = f(y)

    assign(f(x))


@emits(ADD, COPY, ADD, right=2)
def helper_that_puts_it_in_a_list(t: Any, x: Any) -> None:
    kept: list[Any] = []

    def keeping(x: Any) -> Any:
        kept.append(f(x))
        return kept[-1]

    t[:, 0:6] = keeping(x)
    t[:, 6:12] = f(kept[0])


@emits(ADD, COPY, ADD, right=2)
def helper_that_lists_its_variable(t: Any, x: Any) -> None:
    kept: list[Any] = []

    def keeping(x: Any) -> Any:
        y = f(x)
        kept.append(y)
        return y

    t[:, 0:6] = keeping(x)
    t[:, 6:12] = f(kept[0])


@emits(ADD, COPY, ADD, right=2)
def helper_that_lists_what_it_returns(t: Any, x: Any) -> None:
    kept: list[Any] = []

    def keeping(x: Any) -> Any:
        y = helper(x)
        try:
            return y
        finally:
            kept.append(y)

    t[:, 0:6] = keeping(x)
    t[:, 6:12] = f(kept[0])


@emits(ADD, COPY, ADD, right=2)
def helper_with_a_variable_of_another_function(t: Any, x: Any) -> None:
    y = None

    def keeping() -> Any:
        nonlocal y
        y = f(x)
        return y

    t[:, 0:6] = keeping()
    t[:, 6:12] = f(y)


@emits(ADD, COPY, ADD, right=2)
def helper_with_a_cache(t: Any, x: Any) -> None:
    cached = functools.cache(helper)
    t[:, 0:6] = cached(x)
    t[:, 6:12] = f(cached(x))


@emits(ADD, COPY, ADD, right=2)
def helper_whose_decorator_keeps_it(t: Any, x: Any) -> None:
    kept: list[Any] = []

    def wrapper(x: Any) -> Any:
        kept.append(helper(x))
        return kept[-1]

    t[:, 0:6] = wrapper(x)
    t[:, 6:12] = f(kept[0])


@emits(ADD, COPY, ADD, COPY, right=2)
def generator(t: Any, x: Any) -> None:
    def results() -> Any:
        y = f(x)
        yield y
        yield f(y)

    both = results()
    t[:, 0:6] = next(both)
    t[:, 6:12] = next(both)


@emits(ADD, COPY, ADD, right=2)
def dictionary(t: Any, x: Any) -> None:
    kept: dict[str, Any] = {}
    t[:, 0:6] = kept.setdefault("y", f(x))
    t[:, 6:12] = f(kept["y"])


@emits(ADD, COPY)
def call_of_setitem(t: Any, x: Any) -> None:
    t.__setitem__((slice(None), slice(0, 6)), f(x))


@emits(ADD, COPY)
def function_that_sets_an_item(t: Any, x: Any) -> None:
    operator.setitem(t, (slice(None), slice(0, 6)), f(x))


@emits(ADD, COPY, ADD, COPY, right=1)
def call_of_setitem_in_a_comprehension(t: Any, x: Any) -> None:
    _ = [t.__setitem__((slice(None), slice(i, i + 6)), f(x)) for i in (0, 6)]


@emits(ADD, "tensor_tensor")
def addition_in_place(t: Any, x: Any) -> None:
    t[:, 0:6] += f(x)


def kernel_of(body: Callable[[Any, Any], None]) -> Any:
    """A kernel that makes `t` and `x`, and returns `t`."""

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((8, 12), dtype=a.dtype, buffer=nl.shared_hbm)
        x = nl.load(a)
        t = nl.zeros((8, 12), nl.float32)
        body(t, x)
        nl.store(out, t)
        return out

    return kernel


A: Array = np.random.default_rng(7).permutation(48).reshape(8, 6).astype(np.float32)


def emitted(kernel: Any, *arrays: Array) -> list[str]:
    """The names of the instructions of a kernel."""
    return re.findall(r"^ *nisa\.(\w+)", str(kernel.trace(*arrays)), re.MULTILINE)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.body.__name__)
def test_results_are_computed_in_place_or_copied(form: Form) -> None:
    kernel = kernel_of(form.body)
    assert emitted(kernel, A) == ["dma_copy", "memset", *form.instructions, "dma_copy"]
    halves = [np.zeros_like(A) if n is None else A + n for n in (form.left, form.right)]
    assert np.array_equal(kernel(A), np.hstack(halves))


def test_a_result_that_is_stored_is_copied() -> None:
    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        nl.store(out[:, 0:6], f(nl.load(a)))
        return out

    assert emitted(kernel, A) == ["dma_copy", ADD, "dma_copy"]
    assert np.array_equal(kernel(A), A + 1)


def test_bytecode_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def loop(t: Any, x: Any) -> None:
        for _ in range(50):
            t[:, 0:6] = f(x)

    read: list[CodeType] = []
    instructions = dis.get_instructions

    def counting(code: CodeType) -> Any:
        read.append(code)
        return instructions(code)

    # A copy of its own: `nkijit.tracing.locations` reads bytecode, too, for the names of variables.
    own = SimpleNamespace(**{**vars(dis), "get_instructions": counting})
    monkeypatch.setattr(bytecode, "dis", own)
    kernel_of(loop).trace(A)
    assert read.count(loop.__code__) == 1


def test_functions_that_are_gone_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytecode, "MOST_FUNCTIONS", 3)
    codes = [compile(f"x = {number}", "nowhere", "exec") for number in range(5)]
    first = [Bytecode.of(code) for code in codes]
    assert Bytecode.of(codes[-1]) is first[-1]
    assert Bytecode.of(codes[0]) is not first[0]


def cached_instruction(t: Any, x: Any) -> None:
    cached = functools.cache(f)
    t[:, 0:6] = cached(x)
    t[:, 6:12] = f(cached(x))


def running_sums(t: Any, x: Any) -> None:
    sums = itertools.islice(itertools.accumulate([x, x, x], nl.add), 1, None)
    t[:, 0:6] = next(sums)
    t[:, 6:12] = next(sums)


@pytest.mark.parametrize("body", [cached_instruction, running_sums])
def test_a_result_that_only_the_library_keeps_is_refused_rather_than_wrong(
    body: Callable[[Any, Any], None],
) -> None:
    """Bytecode does not show values held by C code that calls an instruction for the kernel."""
    with pytest.raises(NkiValidationError, match="read-unwritten"):
        kernel_of(body)(A)


# ------------------------------------------------------------------ accumulation in PSUM

TOTALS: dict[str, Any] = {}
total: Any = None


def product(x: Any) -> Any:
    return nisa.nc_matmul(x, x)


def local(p: Any, x: Any) -> Any:
    p += nisa.nc_matmul(x, x)
    p += nisa.nc_matmul(x, x)
    return p


def variable_of_the_module(p: Any, x: Any) -> Any:
    global total
    total = p
    for _ in range(2):
        total += nisa.nc_matmul(x, x)
    return total


def variable_of_another_function(p: Any, x: Any) -> Any:
    def accumulate() -> None:
        nonlocal p
        p += nisa.nc_matmul(x, x)

    accumulate()
    accumulate()
    return p


def attribute_of_an_object(p: Any, x: Any) -> Any:
    state = SimpleNamespace(p=p)
    for _ in range(2):
        state.p += nisa.nc_matmul(x, x)
    return state.p


def item_of_a_dictionary(p: Any, x: Any) -> Any:
    TOTALS["p"] = p
    for _ in range(2):
        TOTALS["p"] += nisa.nc_matmul(x, x)
    return TOTALS.pop("p")


def part_of_a_tile(p: Any, x: Any) -> Any:
    for _ in range(2):
        p[...] += nisa.nc_matmul(x, x)
    return p


def chosen_product(p: Any, x: Any) -> Any:
    for i in range(2):
        p += nisa.nc_matmul(x, x) if i else nisa.nc_matmul(x[...], x)
    return p


def product_of_a_helper(p: Any, x: Any) -> Any:
    for _ in range(2):
        p += product(x)
    return p


@pytest.mark.parametrize(
    "body",
    [
        local,
        variable_of_the_module,
        variable_of_another_function,
        attribute_of_an_object,
        item_of_a_dictionary,
        part_of_a_tile,
        chosen_product,
        product_of_a_helper,
    ],
)
def test_matmuls_accumulate_for_any_name_of_the_total(body: Callable[[Any, Any], Any]) -> None:
    kernel = accumulating(body)
    assert emitted(kernel, A) == ["dma_copy", "nc_matmul", "nc_matmul", COPY, "dma_copy"]
    assert np.array_equal(kernel(A), 2 * A.T @ A)


def named_product(p: Any, x: Any) -> Any:
    y = nisa.nc_matmul(x, x)
    p += y
    p += y
    return p


def product_named_in_an_expression(p: Any, x: Any) -> Any:
    p += (y := nisa.nc_matmul(x, x))
    p += y
    return p


def product_that_a_helper_keeps(p: Any, x: Any) -> Any:
    kept: list[Any] = []

    def keeping() -> Any:
        kept.append(nisa.nc_matmul(x, x))
        return kept[-1]

    p += keeping()
    p += kept[0]
    return p


@pytest.mark.parametrize(
    "body", [named_product, product_named_in_an_expression, product_that_a_helper_keeps]
)
def test_a_product_that_is_used_again_is_added(body: Callable[[Any, Any], Any]) -> None:
    kernel = accumulating(body)
    words = emitted(kernel, A)
    assert (words.count("nc_matmul"), words.count("tensor_tensor")) == (1, 2)
    assert np.array_equal(kernel(A), 2 * A.T @ A)


def accumulating(body: Callable[[Any, Any], Any]) -> Any:
    """A kernel that adds up products in PSUM."""

    @nki.jit
    def kernel(a):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        out = nl.ndarray((6, 6), dtype=a.dtype, buffer=nl.shared_hbm)
        sums = body(nl.zeros((6, 6), nl.float32, buffer=nl.psum), nl.load(a))
        nl.store(out, nl.copy(sums))
        return out

    return kernel
