"""Python that the vendor's compiler does not take: each construct found, its neighbour not."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl

X = np.zeros((128, 8), np.float32)
NUMBERS = [1, 2]
CONSTANTS = (1, 2)
WIDTH = 512


class Colour(Enum):
    red = 1
    blue = 2


@dataclass
class Good(nl.NKIObject):
    x: int
    y: bool = False

    def toggle(self):
        self.y = not self.y


class Derived(Good):
    pass


class Foreign:
    pass


class Slotted(nl.NKIObject):
    __slots__ = ("x",)


class Pair(NamedTuple):
    x: int
    y: int


class Wrong(nl.NKIObject):
    x: int = 0

    def method(self):
        try:
            self.x += 1
        finally:
            pass


def helper(x):
    return x is None


@nki.jit
def sub_kernel(x):
    return x


def factory():
    values, number = [1], 2

    def closes_over_list(x):
        return values[0]

    def closes_over_number(x):
        return number

    return closes_over_list, closes_over_number


CLOSES_OVER_LIST, CLOSES_OVER_NUMBER = factory()


# ---------------------------------------------------------------------- ruled out


def match_statement(x):
    match x.shape[0]:
        case 128:
            return x


def with_statement(x):
    with open("file", encoding="utf-8"):
        return x


def try_statement(x):
    try:
        return x
    except ValueError:
        return None


def raise_statement(x):
    if x.shape[0] > 128:
        raise ValueError("too large")


def import_statement(x):
    import math

    return math.pi


def import_from_statement(x):
    from math import pi

    return pi


def global_statement(x):
    global WIDTH
    WIDTH = 3


def nonlocal_statement(x):
    n = 0

    def body(i):
        nonlocal n
        n += 1

    body(0)


def is_operator(x):
    return x is None


def is_not_operator(x):
    return (x.shape[0] + 1) is not None


def keyword_only(x, *, scale=1.0):
    return x


def list_default(x, shape=[1, 2]):  # noqa: B006
    return x


def dict_key_constant(x):
    return {1: x}


def dict_key_tuple(x):
    return {("a", 1): x}


def dict_key_global(x):
    return {WIDTH: x}


def dict_key_comprehension(x):
    return {i + 1: x for i in range(2)}


def dict_key_assigned(x):
    tiles = {}
    for i in range(4):
        tiles[i * 2] = x
    return tiles


def set_display(x):
    return {1, 2}


def set_comprehension(x):
    return {i for i in range(3)}


def set_call(x):
    return set((1, 2))


def bytes_value(x):
    return b"bytes"


def complex_value(x):
    return 2j


def wide_integer(x):
    return 2**3 + 0x1_0000_0000


def class_in_body(x):
    class Local:
        a: int = 1

    return Local().a


def foreign_class(x):
    return Foreign()


def derived_class(x):
    return Derived(1)


def slotted_class(x):
    return Slotted()


def named_tuple(x):
    return Pair(1, 2).x


def enum_arithmetic(x):
    return Colour.red | Colour.blue


def enum_order(x):
    return Colour.red < Colour.blue


def mutable_global(x):
    return NUMBERS[0]


def nested_kernel(x):
    return sub_kernel(x)


def in_helper(x):
    return helper(x)


def in_partial(x):
    return PARTIAL(x)


PARTIAL = functools.partial(helper)


def in_method(x):
    return Wrong().method()


def in_nested_function(x):
    def inner(y):
        return y is None

    return inner(x)


def generator_expression(x):
    return sum(i for i in range(3))


def yields_inside(x):
    def inner():
        yield 1

    return list(inner())


def yields_from_inside(x):
    def inner():
        yield from (1, 2)

    return list(inner())


def async_inside(x):
    async def inner():
        return 1

    return inner


RULED_OUT = [
    (match_statement, "portable-control-flow", 1),
    (with_statement, "portable-control-flow", 1),
    (try_statement, "portable-try", 1),
    (raise_statement, "portable-try", 2),
    (import_statement, "portable-import", 1),
    (import_from_statement, "portable-import", 1),
    (global_statement, "portable-state", 1),
    (nonlocal_statement, "portable-state", 4),
    (CLOSES_OVER_LIST, "portable-state", 1),
    (mutable_global, "portable-state", 1),
    (is_operator, "portable-identity", 1),
    (is_not_operator, "portable-identity", 1),
    (keyword_only, "portable-keyword-only", 0),
    (list_default, "portable-list-argument", 0),
    (dict_key_constant, "portable-dict-key", 1),
    (dict_key_tuple, "portable-dict-key", 1),
    (dict_key_global, "portable-dict-key", 1),
    (dict_key_comprehension, "portable-dict-key", 1),
    (dict_key_assigned, "portable-dict-key", 3),
    (set_display, "portable-value", 1),
    (set_comprehension, "portable-value", 1),
    (set_call, "portable-value", 1),
    (bytes_value, "portable-value", 1),
    (complex_value, "portable-value", 1),
    (wide_integer, "portable-value", 1),
    (class_in_body, "portable-class", 1),
    (foreign_class, "portable-class", 1),
    (derived_class, "portable-class", 1),
    (slotted_class, "portable-class", 1),
    (named_tuple, "portable-class", 1),
    (enum_arithmetic, "portable-enum", 1),
    (enum_order, "portable-enum", 1),
    (nested_kernel, "portable-nested-kernel", 1),
    (in_helper, "portable-identity", 1),
    (in_partial, "portable-identity", 1),
    (in_method, "portable-try", 1),
    (in_nested_function, "portable-identity", 2),
    (generator_expression, "portable-generator", 1),
    (yields_inside, "portable-generator", 2),
    (yields_from_inside, "portable-generator", 2),
    (async_inside, "portable-generator", 1),
]


@pytest.mark.parametrize(
    ("function", "rule", "line"), RULED_OUT, ids=[item[0].__name__ for item in RULED_OUT]
)
def test_constructs_that_the_guide_excludes_are_found(function, rule, line):
    found = nki.jit(function).portability(nki="0.6")
    assert {d.rule.id for d in found} == {rule}
    assert all(d.severity == "warning" and d.rule.category == "portable" for d in found)
    assert found[0].where[-1].file == __file__
    # The last place is in the kernel itself, also for findings in a called function.
    assert found[0].where[-1].line == function.__code__.co_firstlineno + line


# ---------------------------------------------------------------------- allowed


def control_flow(x, flag=True, scale=1.0):
    total = 0
    for i in range(4):
        if i % 2 == 0 and flag:
            continue
        total += i
    for value in [1, 2, 3]:
        total += value
    while total < 10:
        total += 1
    else:
        total = 0
    with nl.no_reorder():
        assert total != None  # noqa: E711
    print(f"total {total} {x.shape}")
    return total


def containers(x):
    values = [1, 2, 3]
    values.append(4.1)
    table = {"a": 1, f"{x.name}": 2}
    table["b"] = values[0]
    for name in ("c", "d"):
        table[name] = {key: 1 for key in table.keys()}  # noqa: SIM118
    tiles = [i for i in range(3) if i not in values]
    tiles[0] = 0xFFFF_FFFF
    start, *rest = -(2**31), None
    return table, tiles, start, rest, CONSTANTS[0], WIDTH


def objects(x):
    c = Good(1)
    c.toggle()
    e = Colour.red
    if e == Colour.blue or e != Colour.red or Colour.red.value < 2:
        return nisa.get_nc_version() >= nisa.nc_version.gen3
    return c.x


def functions(x, tile_fn=min):
    def body(i, step=2):
        return tile_fn(i, step)

    return [body(1), (lambda y: y + 1)(2), np.finfo(np.float32).min]


def shadows(x):
    NUMBERS = 3  # noqa: N806
    helper = max(NUMBERS, 2)
    return [NUMBERS for NUMBERS in range(helper)]


def catch_all(*args, scale=1.0, **kwargs):
    return args


def made_of_itself(x):
    x = x.reshape((2, x.size // 2))
    y = x.view(x.dtype)
    y = y.reshape(y.shape)
    return y


@pytest.mark.parametrize(
    "function",
    [
        *(control_flow, containers, objects, functions, shadows, catch_all, made_of_itself),
        CLOSES_OVER_NUMBER,
    ],
)
def test_constructs_that_the_guide_allows_are_not_reported(function):
    assert nki.jit(function).portability(nki="0.6") == ()


def test_the_other_functions_that_are_given_the_check_too():
    kernel = nki.jit(functions)
    (found,) = kernel.portability(X, helper, nki="0.6")
    assert found.subject == "function 'helper'"
    assert found.where[0].line == helper.__code__.co_firstlineno + 1
    assert kernel.portability(X, tile_fn=min, nki="0.6") == ()


# ---------------------------------------------------------------------- arguments


def two(x, value):
    return x


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        ([1, 2], ["portable-list-argument"]),
        ((1, [2]), ["portable-list-argument"]),
        ({"a": [1]}, ["portable-list-argument"]),
        ({1: 2}, ["portable-dict-key"]),
        ({1, 2}, ["portable-value"]),
        (b"", ["portable-value"]),
        (2j, ["portable-value"]),
        (Foreign(), ["portable-class"]),
        (Good([1]), ["portable-list-argument"]),
        (Pair(1, 2), ["portable-class"]),
        (sub_kernel, ["portable-nested-kernel"]),
        ((1, 2), []),
        ({"a": (1, "b", None, 2.0)}, []),
        (Good(1), []),
        (Colour.red, []),
        (nl.add, []),
        (X, []),
        (np.float32(1), []),
        (nki.TensorSpec((1, 1), "float32"), []),
    ],
)
def test_arguments_are_checked(value, rules):
    assert [d.rule.id for d in nki.jit(two).portability(X, value, nki="0.6")] == rules


def test_methods_and_decorators():
    class Layer(nl.NKIObject):
        values: list[int]

        @nki.jit
        def forward(self, x):
            return x is None

    found = Layer([1]).forward.portability(nki="0.6")
    assert [d.rule.id for d in found] == ["portable-list-argument", "portable-identity"]


def test_a_finding_in_a_helper_shows_the_call():
    (found,) = nki.jit(in_helper).portability(nki="0.6")
    assert found.subject == "function 'helper'"
    assert "= called from" in str(found)


def test_a_function_without_source():
    namespace = {"nki": nki}
    exec("@nki.jit\ndef kernel(x):\n    return x is None", namespace)
    (found,) = namespace["kernel"].portability(nki="0.6")
    assert found.rule.id == "portable-source"


def test_the_marker_is_under_the_construct():
    (found,) = nki.jit(is_not_operator).portability(nki="0.6")
    source, marker = str(found).splitlines()[3:5]
    assert source[marker.index("^") :].startswith("is not None")


class Callable:
    def __call__(self, x):
        return x is None


def test_callable_objects_and_decorated_functions():
    assert [d.rule.id for d in nki.jit(Callable()).portability(nki="0.6")] == [
        "portable-class",
        "portable-identity",
    ]
    cached = nki.jit(functools.wraps(is_operator)(lambda *args: is_operator(*args)))
    assert {d.rule.id for d in cached.portability(nki="0.6")} == {"portable-identity"}


def test_recursion_ends():
    def first(x):
        return second(x)

    def second(x):
        return first(x)

    assert nki.jit(first).portability(nki="0.6") == ()
