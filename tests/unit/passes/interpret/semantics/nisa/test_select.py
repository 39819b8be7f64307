"""Selection by predicates, by affine values and by ranges, and the bounds of segments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    FORMS,
    C,
    Call,
    D,
    Form,
    R,
    Tile,
    View,
    X,
    Z,
    any_bits,
    arranged,
    call,
    each_form,
    filled,
    holding,
    side_by_side,
    some,
    to_each_dtype,
    whole_numbers,
)
from support.nisa.naive import PACKED_TYPES, STORAGE
from support.nisa.naive_select import FP32_MIN
from support.oracle import FORMATS, INTEGERS, ROUNDED_TYPES

import nkijit as nki
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.isa import NkiValidationError

P = View("p")
PREDICATES = ("uint8", "uint16", "uint32", "bool_")
NARROW_PREDICATES = ("int8", "uint8", "int16", "uint16", "bool_")
COMPARISONS = ("equal", "less", "less_equal", "greater", "greater_equal")


def predicate(shape: tuple[int, ...] = (4, 12), dtype: str = "uint8", buffer: str = "sbuf") -> Tile:
    """Zeros and other numbers, the highest bit alone among them."""
    bits = 1 if dtype == "bool_" else INTEGERS[dtype][0]
    numbers = np.random.default_rng(5).choice([0, 0, 1, 2 ** (bits - 1)], shape)
    unsigned = numbers.astype(f"u{max(1, bits // 8)}")
    return Tile(dtype, shape, buffer, unsigned.view(STORAGE[dtype]))


# -- tensor_copy_predicated -----------------------------------------------------------------------


def copying(src: Any = X, reverse: bool = False, **views: View) -> Call:
    arguments = {"dst": Z, "src": src, "predicate": P} | views
    return call("tensor_copy_predicated", **arguments, reverse_pred=reverse)


def with_predicates(form: Form, made: Call, dtype: str, fill: Any) -> Any:
    """The form with a uint8 tile `p` beside it, and a z that holds something."""
    program = form.build(made, dtype, fill)
    p = program.tiles["p"]
    return arranged(program.calls, tiles=program.tiles | {"p": predicate(p.shape, buffer=p.buffer)})


@each_form([copying()])
def test_forms_of_copies(made: Call, form: Form, dtype: str) -> None:
    with_predicates(form, made, dtype, filled).check()


LAYOUTS = {
    "strided": ((4, 25), P[:, 1:24:2]),
    "4-D": ((4, 2, 3, 2), P),
    "permuted": ((4, 3, 4), P.then("permute", (0, 2, 1))),
    "partition-32": ((36, 12), P[32:36]),
    "repeated": ((4, 1, 4), P.then("broadcast", 1, 3)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_predicates(layout: str) -> None:
    shape, p = LAYOUTS[layout]
    for made in (copying(predicate=p), selecting(predicate=p)):
        arranged([made], tiles={"p": predicate(shape)}).check()


@pytest.mark.parametrize("dtype", [*ROUNDED_TYPES, *PACKED_TYPES])
@pytest.mark.parametrize("reverse", [False, True])
def test_copied_bits(dtype: str, reverse: bool) -> None:
    arranged([copying(reverse=reverse)], dtype, any_bits, tiles={"p": predicate()}).check()


@pytest.mark.parametrize("dtype", PREDICATES)
@pytest.mark.parametrize("buffer", ["sbuf", "psum"])
def test_data_types_of_predicates(dtype: str, buffer: str) -> None:
    calls = [copying(), copying(reverse=True)]
    arranged(calls, tiles={"p": predicate(dtype=dtype, buffer=buffer)}).check()


NUMBERS = (0, -0.0, 3, -1.5, 300, 2**24 + 1, 2**31 - 1, 1e-45, 1e30, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_copied_numbers(dtype: str) -> None:
    side_by_side([copying(number) for number in NUMBERS], dtype, tiles={"p": predicate()}).check()


def test_a_copy_keeps_the_rest() -> None:
    z = holding("int32", [[2**31 - 1, 5, -7]])
    tiles = {"z": z, "p": holding("uint8", [[0, 2, 0]])}
    results = arranged([copying(2**24 + 1)], tiles=tiles).run()
    assert results["z"].tolist() == [[2**31 - 1, 2**24 + 1, -7]]


def test_a_predicate_that_is_copied_over() -> None:
    shape = (4, 12)
    tiles = {"x": Tile("uint8", shape, data=predicate(shape).data)}
    made = copying(7, dst=X, predicate=X, reverse=True)
    arranged([made], tiles=tiles).check()
    shifted = copying(X[:, :-1], dst=X[:, 1:], predicate=X[:, 1:])
    arranged([shifted], tiles=tiles).check()


# -- affine_select --------------------------------------------------------------------------------


def affine(pattern: Any = ((-1, 12),), **others: Any) -> Call:
    arguments = {
        "dst": Z,
        "channel_multiplier": 4,
        "on_true_tile": X,
        "on_false_value": -1.5,
        "cmp_op": "greater_equal",
    } | others
    return call("affine_select", pattern=[list(pair) for pair in pattern], **arguments)


# The GpSimd Engine cannot reach PSUM.
IN_SBUF = [form for form in FORMS if form.needs <= {"x", "z"}]


@each_form([affine()], IN_SBUF)
def test_forms_of_affine_selections(made: Call, form: Form, dtype: str) -> None:
    program = form.build(made, dtype, filled)
    if form.name.startswith("size-"):
        program = form.build(affine([(-1, program.tiles["z"].shape[1])]), dtype, filled)
    program.check()


@pytest.mark.parametrize("cmp_op", [*COMPARISONS, "not_equal"])
@pytest.mark.parametrize("offset", [0, -3, 5])
def test_comparisons_of_affine_values(cmp_op: str, offset: int) -> None:
    arranged([affine(cmp_op=cmp_op, offset=offset)]).check()


PATTERNS = [
    ([(1, 12)], 0),
    ([(4, 3), (-1, 4)], -3),
    ([(0, 2), (-5, 3), (1, 2)], 7),
    ([(1, 2), (-7, 1), (5, 3), (2, 2)], -6),
    ([(2**30, 2), (2**31 - 1, 3), (1, 2)], -(2**31)),
]


@pytest.mark.parametrize(("pattern", "offset"), PATTERNS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_patterns(pattern: Any, offset: int, dtype: str) -> None:
    made = affine(pattern, offset=offset, cmp_op="less")
    arranged([made], "float32", dtypes={"z": dtype}).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types_of_affine_selections(dtype: str) -> None:
    to_each_dtype(affine(), dtype).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_selected_bits(dtype: str) -> None:
    arranged([affine()], dtype, any_bits).check()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "uint8", "float8_e4m3fn"])
def test_values_on_false(dtype: str) -> None:
    calls = [affine(on_false_value=number) for number in (*NUMBERS, FP32_MIN)]
    side_by_side(calls, dtype).check()


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 3)), min_size=1, max_size=4),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-100, 100),
    st.sampled_from([*COMPARISONS, "not_equal"]),
)
@some
def test_any_pattern(pattern: Any, multiplier: int, offset: int, cmp_op: str) -> None:
    made = affine(pattern, channel_multiplier=multiplier, offset=offset, cmp_op=cmp_op)
    arranged([made], shape=(3, math.prod(count for _, count in pattern))).check()


def test_a_causal_mask() -> None:
    x = holding("float32", np.ones((4, 4)))
    made = affine([(-1, 4)], channel_multiplier=1, on_false_value=0)
    assert (arranged([made], shape=(4, 4), tiles={"x": x}).run()["z"] == np.tri(4)).all()


# -- range_select ---------------------------------------------------------------------------------


def ranging(
    comp_op0: str = "greater_equal", comp_op1: str = "less", r: View | None = R, **others: Any
) -> Call:
    arguments = {"dst": Z, "on_true_tile": X, "bound0": C, "bound1": D} | others
    return call("range_select", comp_op0=comp_op0, comp_op1=comp_op1, reduce_res=r, **arguments)


BOUNDS = {
    "c": holding("float32", [[0], [3], [2.5], [-7]]),
    "d": holding("float32", [[12], [7], [2.5], [3]]),
}


@each_form([ranging()])
def test_forms_of_ranges(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, whole_numbers).check()


@pytest.mark.parametrize("comp_op0", COMPARISONS)
def test_comparisons_of_indices(comp_op0: str) -> None:
    calls = [ranging(comp_op0, comp_op1) for comp_op1 in COMPARISONS]
    side_by_side(calls, tiles=BOUNDS).check()


@pytest.mark.parametrize("start", [0, 5, -9, 2**24 - 11, -(2**24)])
def test_range_starts(start: int) -> None:
    tiles = {
        name: holding("float32", tile.data + np.float32(start)) for name, tile in BOUNDS.items()
    }
    arranged([ranging(range_start=start)], tiles=tiles).check()


def test_bounds_that_compare_with_nothing() -> None:
    nan, inf = math.nan, math.inf
    tiles = {
        "c": holding("float32", [[nan], [-inf], [inf], [-0.0]]),
        "d": holding("float32", [[12], [inf], [-inf], [nan]]),
    }
    arranged([ranging()], tiles=tiles).check()


@pytest.mark.parametrize("dtype", [*FORMATS, "float8_e8m0fnu"])
def test_data_types_of_ranges(dtype: str) -> None:
    to_each_dtype(ranging(), dtype).check()
    to_each_dtype(ranging(), dtype, tile="r", shape=(4, 1)).check()


def test_an_empty_range_gives_the_lowest_number() -> None:
    tiles = {"z": Tile("bfloat16", (4, 12)), "c": BOUNDS["d"], "d": BOUNDS["d"]}
    results = arranged([ranging()], tiles=tiles).run()
    assert (results["r"] == np.float32(FP32_MIN)).all()
    assert (results["z"].astype(np.float32) == -math.inf).all()


# -- select_reduce --------------------------------------------------------------------------------


def selecting(on_false: Any = C, r: View | None = None, **others: Any) -> Call:
    arguments = {"dst": Z, "predicate": P, "on_true": X, "on_false": on_false} | others
    if r is not None:
        arguments |= {"reduce_res": r, "reduce_cmd": others.get("reduce_cmd", "reset_reduce")}
    return call("select_reduce", **arguments)


@each_form([selecting(r=R)])
def test_forms_of_selections(made: Call, form: Form, dtype: str) -> None:
    with_predicates(form, made, dtype, whole_numbers).check()


@pytest.mark.parametrize("dtype", NARROW_PREDICATES)
@pytest.mark.parametrize("buffer", ["sbuf", "psum"])
def test_data_types_of_narrow_predicates(dtype: str, buffer: str) -> None:
    calls = [selecting(r=R), selecting(r=R, reverse_pred=True)]
    side_by_side(calls, tiles={"p": predicate(dtype=dtype, buffer=buffer)}).check()


@pytest.mark.parametrize(
    "dtype", [d for d in ROUNDED_TYPES if d not in ("tfloat32", "int32", "uint32")]
)
def test_data_types_of_selections(dtype: str) -> None:
    made = selecting(r=R)
    tiles = {"p": predicate()}
    for result in ROUNDED_TYPES:
        arranged([made], dtype, tiles=tiles, dtypes={"z": result}).check()


@pytest.mark.parametrize("on_false", [0, -0.0, FP32_MIN, 1e-45, math.inf, math.nan, 2**24 + 1])
def test_numbers_on_false(on_false: float) -> None:
    arranged([selecting(on_false, R)], tiles={"p": predicate()}).check()


@pytest.mark.parametrize("dtype", ["int32", "uint32", "tfloat32", "bfloat16", "bool_", "int8"])
def test_data_types_of_columns_on_false(dtype: str) -> None:
    arranged([selecting(r=R)], dtypes={"c": dtype}, tiles={"p": predicate()}).check()


@pytest.mark.parametrize("dtype", [*FORMATS, "float8_e8m0fnu"])
def test_data_types_of_maxima(dtype: str) -> None:
    arranged([selecting(r=R)], dtypes={"r": dtype}, tiles={"p": predicate()}).check()


# -- sequence_bounds ------------------------------------------------------------------------------

BOUNDS_OF = call("sequence_bounds", dst=Z, segment_ids=X)
IDS = [
    [7],
    [0],
    [0, 0, 0],
    [1, 1, 1],
    [1, 2, 3],
    [0, 1, 1, 2, 2, 2, 0, 3, 3],
    [5, 5, 0, 5, 5, 4, 4, 5],
    [2**24, 2**24 + 1, 2**24 + 1, 2**31 - 1],
    [1] * 300 + [0] + [2] * 299,
]


@pytest.mark.parametrize("ids", IDS, ids=lambda ids: str(ids)[:20])
@pytest.mark.parametrize("source", ["int32", "float32"])
@pytest.mark.parametrize("result", ["int32", "float32"])
def test_bounds(ids: list[int], source: str, result: str) -> None:
    tiles = {"x": holding(source, [ids]), "z": Tile(result, (1, 2, len(ids)))}
    arranged([BOUNDS_OF], tiles=tiles).check()


def test_the_documented_example() -> None:
    ids = IDS[5]
    tiles = {"x": holding("int32", [ids]), "z": Tile("int32", (1, 2, len(ids)))}
    starts, ends = arranged([BOUNDS_OF], tiles=tiles).run()["z"][0].tolist()
    assert starts == [9, 1, 1, 3, 3, 3, 9, 7, 7]
    assert ends == [-1, 3, 3, 6, 6, 6, -1, 9, 9]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
@some
def test_any_segments(ids: list[int]) -> None:
    tiles = {"x": holding("int32", [ids]), "z": Tile("float32", (1, 2, len(ids)))}
    arranged([BOUNDS_OF], tiles=tiles).check()


SEGMENTS = {
    "strided": ((1, 25), X[:, 1:24:2], (1, 2, 25), Z[:, :, 0:24:2]),
    "partition-32": ((40, 12), X[32:33], (100, 24), Z[96:97]),
    "permuted": ((1, 3, 4), X.then("permute", (0, 2, 1)), (1, 12, 2), Z.then("permute", (0, 2, 1))),
}


@pytest.mark.parametrize("layout", SEGMENTS)
def test_layouts_of_segments(layout: str) -> None:
    x_shape, x, z_shape, z = SEGMENTS[layout]
    made = BOUNDS_OF.with_views({"x": x, "z": z})
    shapes = {"x": x_shape, "z": z_shape}
    arranged([made], "int32", whole_numbers, shapes=shapes).check()


# -- mistakes -------------------------------------------------------------------------------------


def test_mistakes_are_reported_at_their_lines() -> None:
    @nki.jit
    def kernel() -> None:
        x = nl.ndarray((4, 12), nl.float32)
        nisa.tensor_copy_predicated(x, "1", x)  # the first mistake
        nisa.affine_select(x, [[1, 12]], None, x, 0.0)
        nisa.range_select(x, x, nl.less, nl.less, 1.0, x)
        nisa.select_reduce(x, x, x, None)
        nisa.sequence_bounds(x, 3)

    with pytest.raises(NkiValidationError) as error:
        kernel.trace().verify()
    text = str(error.value)
    assert "'src': expected a tile or a number, got '1' (str)" in text
    assert "'channel_multiplier': expected an int32, got None (NoneType)" in text
    assert "'bound0': expected a tile, got 1.0 (float)" in text
    assert "'on_false': expected a tile or a number, got None (NoneType)" in text
    assert "'segment_ids': expected a tile, got 3 (int)" in text
    with open(__file__, encoding="utf-8") as file:
        lines = [line.partition("# ")[2].strip() for line in file]
    first = lines.index("the first mistake") + 1
    assert all(f"test_select.py:{first + at}:" in text for at in range(5))
