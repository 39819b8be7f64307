"""Kernels of several instructions, views of views, and properties of all instructions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.nisa.harness import (
    ALL,
    SHAPE,
    C,
    Call,
    D,
    Program,
    R,
    Tile,
    View,
    X,
    Y,
    Z,
    arranged,
    assert_identical,
    call,
    filled,
    some,
    whole_numbers,
)
from support.nisa.naive import STORAGE
from support.oracle import INTEGERS, ROUNDED_TYPES

import nkijit as nki
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.ir.text import parse
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.traced.kernel import TracedKernel

# -- views ----------------------------------------------------------------------------------------

MOST_DIMS = 5


@st.composite
def keys(draw: st.DrawFn, shape: Sequence[int]) -> tuple[slice, ...]:
    """A slice for some of the dimensions."""
    dims = range(draw(st.integers(1, len(shape))))
    return tuple(slice(*draw(windows(shape, dim))) for dim in dims)


@st.composite
def windows(draw: st.DrawFn, shape: Sequence[int], dim: int) -> tuple[int, int, int]:
    """Start, end and step of a slice; partitions have no step."""
    start = draw(st.integers(0, shape[dim] - 1))
    end = draw(st.integers(start + 1, shape[dim]))
    return (start, end, draw(st.integers(1, 3)) if dim else 1)


@st.composite
def steps_from(draw: st.DrawFn, shape: tuple[int, ...], repeats: bool) -> tuple[Any, ...]:
    """A view method that a tile of this shape has, with arguments. Dim 0 stays the partitions."""
    ones = [dim for dim in range(1, len(shape)) if shape[dim] == 1]
    wide = [dim for dim in range(1, len(shape)) if shape[dim] > 1]
    methods = ["__getitem__", "slice", "permute"]
    methods += ["expand_dim"] * (len(shape) < MOST_DIMS)
    methods += ["select", "flatten_dims", "reshape"] * (len(shape) > 2)
    methods += ["squeeze_dim"] * (len(shape) > 2 and bool(ones))
    methods += ["broadcast"] * (repeats and bool(ones))
    methods += ["reshape_dim"] * (len(shape) < MOST_DIMS and bool(wide))
    method = draw(st.sampled_from(methods))
    if method == "__getitem__":
        return (method, draw(keys(shape)))
    if method == "slice":
        dim = draw(st.integers(0, len(shape) - 1))
        return (method, dim, *draw(windows(shape, dim)))
    if method == "permute":
        return (method, (0, *draw(st.permutations(range(1, len(shape))))))
    if method == "expand_dim":
        return (method, draw(st.integers(1, len(shape))))
    if method == "select":
        dim = draw(st.integers(1, len(shape) - 1))
        return (method, dim, draw(st.integers(0, shape[dim] - 1)))
    if method == "flatten_dims":
        start = draw(st.integers(1, len(shape) - 2))
        return (method, start, draw(st.integers(start + 1, len(shape) - 1)))
    if method == "reshape":
        return (method, (shape[0], math.prod(shape[1:])))
    if method == "squeeze_dim":
        return (method, draw(st.sampled_from(ones)))
    if method == "broadcast":
        return (method, draw(st.sampled_from(ones)), draw(st.integers(1, 4)))
    dim = draw(st.sampled_from(wide))
    factors = [n for n in range(1, shape[dim] + 1) if shape[dim] % n == 0]
    factor = draw(st.sampled_from(factors))
    return (method, dim, (factor, shape[dim] // factor))


@st.composite
def views(draw: st.DrawFn, repeats: bool) -> tuple[tuple[int, ...], View]:
    """The shape of a tile, and up to five view methods in a row."""
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=2, max_size=4)))
    numbers = np.arange(np.prod(shape)).reshape(shape)
    array, view = numbers, X
    for _ in range(draw(st.integers(1, 5))):
        step = draw(steps_from(array.shape, repeats))
        longer = view.then(*step)
        try:
            seen = longer.of_array(numbers)
        except ValueError:  # dimensions that cannot be merged without a copy
            assert step[0] in ("flatten_dims", "reshape")
            continue
        if seen.flat[0] < np.prod(shape[1:]):  # engines start at the first of so few partitions
            array, view = seen, longer
    return shape, view


def flat(array: Any) -> Any:
    return array.reshape(array.shape[0], -1)


@given(views(repeats=True), st.sampled_from(["float32", "bfloat16", "int32", "uint8"]))
@some
def test_views_that_are_read(shape_and_view: tuple[tuple[int, ...], View], dtype: str) -> None:
    shape, view = shape_and_view
    x = filled(dtype, shape)
    expected = flat(view.of_array(x.data))
    made = call("tensor_copy", dst=Z, src=view)
    results = Program({"x": x, "z": Tile(dtype, expected.shape)}, [made]).run()
    assert results["z"].tobytes() == expected.tobytes()


@given(views(repeats=False), st.sampled_from(["float32", "bfloat16", "int32", "uint8"]))
@some
def test_views_that_are_written(shape_and_view: tuple[tuple[int, ...], View], dtype: str) -> None:
    shape, view = shape_and_view
    x = filled(dtype, shape)
    expected = x.data.copy()
    into = view.of_array(expected)
    y = filled(dtype, flat(into).shape, seed=1)
    into[...] = y.data.reshape(into.shape)
    results = Program({"x": x, "y": y}, [call("tensor_copy", dst=view, src=Y)]).run()
    assert results["x"].tobytes() == expected.tobytes()


@given(views(repeats=False), st.sampled_from(["float32", "float16"]))
@some
def test_views_that_are_computed_on(
    shape_and_view: tuple[tuple[int, ...], View], dtype: str
) -> None:
    shape, view = shape_and_view
    sizes = flat(view.of_array(np.zeros(shape))).shape
    calls = [
        call("tensor_tensor", dst=Z, data1=view, data2=view, op="subtract"),
        call("activation", dst=view, op="abs", data=view, scale=-0.5),
        call("tensor_scalar", dst=view, data=Z, op0="add", operand0=1, op1="multiply", operand1=3),
    ]
    Program({"x": filled(dtype, shape), "z": Tile(dtype, sizes)}, calls).check()


# -- random kernels -------------------------------------------------------------------------------

TILES = tuple(View(name) for name in "xyzw")
VIEWS = tuple(
    view
    for tile in TILES
    for view in (
        tile[:, 0:8],
        tile[:, 4:12],
        tile[:, 1:12][:, 0:8],
        tile[0:4, 0:8].then("reshape_dim", 1, (2, 4)).then("permute", (0, 2, 1)),
    )
)
OPERATORS = (
    "add",
    "subtract",
    "multiply",
    "greater",
    "less_equal",
    "not_equal",
    "abs_max",
    "logical_and",
)
UNARY = ("abs", "square", "reciprocal")

tile_views = st.sampled_from(VIEWS)
operators = st.sampled_from(OPERATORS)
columns_or_numbers = st.sampled_from([C, D, 0.5, -2, 0.0])
flags = st.booleans()


def calls_of(instruction: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Call]:
    return st.builds(lambda chosen: call(instruction, **chosen), st.fixed_dictionaries(arguments))


element_wise = st.one_of(
    calls_of("tensor_tensor", dst=tile_views, data1=tile_views, data2=tile_views, op=operators),
    calls_of(
        "tensor_scalar",
        dst=tile_views,
        data=tile_views,
        op0=operators,
        operand0=columns_or_numbers,
        reverse0=flags,
        op1=operators,
        operand1=columns_or_numbers,
        reverse1=flags,
    ),
    calls_of(
        "tensor_scalar",
        dst=tile_views,
        data=tile_views,
        op0=st.sampled_from(UNARY),
        operand0=st.none(),
        op1=operators,
        operand1=columns_or_numbers,
    ),
    calls_of(
        "scalar_tensor_tensor",
        dst=tile_views,
        data=tile_views,
        op0=operators,
        operand0=columns_or_numbers,
        reverse0=flags,
        op1=operators,
        operand1=tile_views,
        reverse1=flags,
    ),
    calls_of("reciprocal", dst=tile_views, data=tile_views),
    calls_of("tensor_copy", dst=tile_views, src=tile_views),
    calls_of(
        "activation",
        dst=tile_views,
        op=st.sampled_from(["copy", "abs", "sign", "square"]),
        data=tile_views,
        scale=columns_or_numbers,
        bias=columns_or_numbers,
    ),
    calls_of("memset", dst=tile_views, value=st.sampled_from([5, -3, 0])),
)


@given(
    st.lists(element_wise, min_size=3, max_size=6),
    st.lists(st.sampled_from(ROUNDED_TYPES), min_size=4, max_size=4),
    st.sampled_from([None, *"xyzw"]),
)
@some
def test_random_kernels(calls: list[Call], dtypes: list[str], unwritten: str | None) -> None:
    tiles = {
        view.tile: Tile(dtype, SHAPE) if view.tile == unwritten else filled(dtype, SHAPE, seed=seed)
        for seed, (view, dtype) in enumerate(zip(TILES, dtypes, strict=True))
    }
    tiles |= {"c": filled("float32", (4, 1), seed=8), "d": whole_numbers("float32", (4, 1), seed=9)}
    Program(tiles, calls).check(unwritten=True)


# -- running a kernel -----------------------------------------------------------------------------


def several_engines() -> Program:
    """Something of everything: scratch arrays, accumulators, PSUM, narrow types, views."""
    calls = [
        call("activation", dst=Z, op="tanh", data=X, reduce_op="add", reduce_cmd="reset_reduce"),
        call("exponential", dst=View("e"), src=X, reduce_cmd="reset_reduce", reduce_res=R[:, 0:1]),
        call("tensor_scalar", dst=Z, data=Z, op0="multiply", operand0=3.0),
        call("activation", dst=Z, op="abs", data=Z, reduce_op="add", reduce_cmd="reduce"),
        call("nc_matmul", dst=View("p"), stationary=X, moving=Y),
        call("nc_matmul", dst=View("p"), stationary=Y, moving=X),
        call("activation", dst=Z, op="copy", data=X, reduce_op="add", reduce_res=R[:, 1:2]),
        call("tensor_reduce", dst=R[:, 2:3], op="maximum", data=Z, axis=1),
        call("iota", dst=View("i"), pattern=[[1, 12]]),
    ]
    tiles = {
        "p": Tile("float32", (12, 12), "psum"),
        "e": Tile("bfloat16", SHAPE),
        "i": Tile("int16", SHAPE),
    }
    return arranged(calls, fill=whole_numbers, shapes={"r": (4, 3)}, tiles=tiles)


def test_several_engines() -> None:
    several_engines().check()


def test_calling_a_kernel_is_tracing_and_running_it() -> None:
    program = several_engines()
    assert_identical(program.kernel(program.inputs), program.run())


def test_ir_in_generic_form_runs_equally() -> None:
    program = several_engines()
    text = program.kernel.trace(program.inputs).text(generic=True)
    results = program.kernel(program.inputs)
    assert_identical(TracedKernel(parse(text)).run(*program.inputs.values()), results)


def test_threads_share_one_plan() -> None:
    program = several_engines()
    traced = program.kernel.trace(program.inputs)
    variants = [[array + np.float32(at) for array in program.inputs.values()] for at in range(8)]
    alone = [traced.run(*inputs) for inputs in variants]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda inputs: traced.run(*inputs), variants * 5))
    for at, results in enumerate(together):
        assert_identical(results, alone[at % len(variants)])


class Recorder:
    """Records the operations that ran, and the values that they had written by then."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, list[Any]]] = []

    def did_run(self, op: Any, written: Sequence[Any]) -> None:
        self.seen.append((op.name, [array.copy() for array in written]))


def test_a_listener_sees_every_operation_and_its_writes() -> None:
    program = several_engines()
    traced = program.kernel.trace(program.inputs)
    recorder = Recorder()
    results = traced.run(*program.inputs.values(), listener=recorder)
    assert_identical(results, program.kernel(program.inputs))
    names = [op.name for op in traced.module.walk() if op.name.startswith("nisa.")]
    assert [name for name, _ in recorder.seen] == names
    written = [arrays for name, arrays in recorder.seen if name == "nisa.exponential"]
    assert len(written) == 1
    dst, reduce_res = written[0]
    assert dst.tobytes() == results["e"].tobytes()
    np.testing.assert_array_equal(reduce_res[:, 0], results["r"][:, 0])


def test_a_listener_sees_views_as_they_are() -> None:
    calls = [call("memset", dst=X[:, ::2], value=1.0), call("memset", dst=X[0:2, 2:5], value=2.0)]
    program = arranged(calls)
    recorder = Recorder()
    program.kernel.trace(program.inputs).run(*program.inputs.values(), listener=recorder)
    sets = [arrays[0] for name, arrays in recorder.seen if name == "nisa.memset"]
    assert [array.shape for array in sets] == [(4, 6), (2, 3)]
    assert [np.unique(array).tolist() for array in sets] == [[1.0], [2.0]]


# -- NKI_PRECISE_FP=0 -----------------------------------------------------------------------------

WIDENED = ("bfloat16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2")


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_imprecise_storage_is_that_of_float32(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_type(kept: str, x: Tile) -> Program:
        calls = [
            call("tensor_scalar", dst=Z, data=X, op0="multiply", operand0=1.001),
            call("tensor_tensor", dst=Y, data1=Z, data2=X, op="add"),
            call("memset", dst=Z[:, 0:1], value=1 if dtype in INTEGERS else 0.1),
            call("tensor_copy", dst=Y[:, 1:3], src=Z[:, 0:2]),
        ]
        return arranged(calls, tiles={"x": x, "z": Tile(kept, SHAPE)})

    x = filled(dtype, SHAPE)
    widened = Tile("float32", SHAPE, data=x.data.astype(np.float32))
    expected = (in_type("float32", widened) if dtype in WIDENED else in_type(dtype, x)).run()
    monkeypatch.setenv("NKI_PRECISE_FP", "0")
    program = in_type(dtype, x)
    assert_identical(program.kernel(program.inputs), expected)


# -- inputs ---------------------------------------------------------------------------------------


@nki.jit
def scaled(a: Any) -> Any:
    tile = nl.load(a)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    out = nl.ndarray(a.shape, a.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def scale_in_place(a: Any, b: Any) -> None:
    tile = nl.load(a)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=a[:, 1:], src=tile[:, 1:])
    nisa.dma_copy(dst=tile, src=b)


BASE = np.arange(48, dtype=np.float32).reshape(4, 12)
STRIDED = np.zeros((8, 26), np.float32)

LAYOUTS = {
    "fortran": np.asfortranarray(BASE),
    "reversed": BASE[::-1, ::-1],
    "strided": STRIDED[::2, 1:25:2],
    "transposed": BASE.reshape(12, 4).T,
    "repeated": np.broadcast_to(BASE[:, :1], (4, 12)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_inputs_of_any_layout(layout: str, dtype: str) -> None:
    array = LAYOUTS[layout]
    if dtype != "float32":
        array = np.asarray(array, order="K").astype(STORAGE[dtype])
    before = array.copy()
    result = scaled(array)
    np.testing.assert_array_equal(result.astype(np.float32), before.astype(np.float32) * 2)
    assert array.tobytes() == before.tobytes()


def test_boolean_inputs() -> None:
    array = BASE % 3 == 0
    np.testing.assert_array_equal(scaled(array), array)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], r"expected 1 input \(a\), got 0"),
        ([BASE, BASE], r"expected 1 input \(a\), got 2"),
        ([BASE[:, :3]], r"input 'a': expected shape \(4, 12\), got \(4, 3\)"),
        ([BASE.astype(np.int32)], "input 'a': expected float32, got an array of int32"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(inputs: list[Any], message: str) -> None:
    with pytest.raises(InterpretationError, match=message):
        scaled.trace(BASE).run(*inputs)


@nki.jit
def printed(a: Any) -> None:
    tile = nl.load(a)
    nl.device_print("before", tile[0:1, 0:3])
    nisa.memset(dst=tile, value=7)
    nl.device_print("after", tile[0:1, 0:3])


def test_tensors_are_printed_as_they_are_at_that_point(capsys: pytest.CaptureFixture[str]) -> None:
    printed(BASE)
    assert capsys.readouterr().out == "before\n[[0. 1. 2.]]\nafter\n[[7. 7. 7.]]\n"


def test_a_read_only_input() -> None:
    array = BASE.copy()
    array.flags.writeable = False
    np.testing.assert_array_equal(scaled(array), BASE * 2)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "repeated"])
def test_written_inputs_of_any_layout(layout: str) -> None:
    array = LAYOUTS[layout].copy(order="K")
    other = BASE.copy()
    expected = array.copy()
    expected[:, 1:] *= 2
    scale_in_place(array, other)
    np.testing.assert_array_equal(array, expected)
    np.testing.assert_array_equal(other, BASE)


def test_a_view_of_a_larger_array_is_written_and_nothing_beside_it() -> None:
    owner = np.ones((8, 26), np.float32)
    scale_in_place(owner[::2, 1:25:2], BASE)
    expected = np.ones((8, 26), np.float32)
    expected[::2, 3:25:2] = 2
    np.testing.assert_array_equal(owner, expected)


def test_a_read_only_input_that_is_written_is_refused() -> None:
    array = BASE.copy()
    array.flags.writeable = False
    with pytest.raises(InterpretationError, match="read-only"):
        scale_in_place(array, BASE)


@nki.jit(platform_target="trn2")
def fails_after_writing(a: Any, selector: Any) -> None:
    tile = nl.load(a)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=a, src=tile)
    moving = nl.load(selector)
    result = nl.ndarray((a.shape[1], a.shape[0]), nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=result, stationary=tile, moving=moving, is_transpose=True)


def test_an_exception_leaves_written_inputs_as_they_were() -> None:
    array = BASE.copy()
    with pytest.raises(InterpretationError, match="one 1 per column"):
        fails_after_writing(array, np.ones((4, 4), np.float32))
    np.testing.assert_array_equal(array, BASE)
    fails_after_writing(array, np.eye(4, dtype=np.float32))
    np.testing.assert_array_equal(array, BASE * 2)


def test_an_exception_of_a_listener_leaves_written_inputs_as_they_were() -> None:
    class Failing:
        def did_run(self, op: Any, written: Sequence[Any]) -> None:
            if len(written[0]) == 4 and op.name == "nisa.dma_copy" and (written[0] == 0).any():
                raise RuntimeError("stop")

    array = BASE.copy()
    with pytest.raises(RuntimeError, match="stop"):
        scale_in_place.trace(array, BASE).run(array, BASE, listener=Failing())
    np.testing.assert_array_equal(array, BASE)


def test_results_do_not_share_memory() -> None:
    array = BASE.copy()
    first, second = scaled(array), scaled(array)
    first[...] = -1
    np.testing.assert_array_equal(second, BASE * 2)
    np.testing.assert_array_equal(array, BASE)


@nki.jit
def returned(a: Any) -> Any:
    return a, a[1:3], a.permute((1, 0))


def test_returned_inputs_are_copies() -> None:
    array = BASE.copy()
    whole, rows, transposed = returned(array)
    np.testing.assert_array_equal(whole, BASE)
    np.testing.assert_array_equal(rows, BASE[1:3])
    np.testing.assert_array_equal(transposed, BASE.T)
    for result in (whole, rows, transposed):
        result[...] = -1
    np.testing.assert_array_equal(array, BASE)


@nki.jit
def one_input_twice(a: Any, b: Any) -> Any:
    out = nl.ndarray(a.shape, a.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out[:, ALL], src=a)
    nisa.dma_copy(dst=a, src=b)
    return out


def test_a_written_input_does_not_alias_earlier_reads() -> None:
    array, other = BASE.copy(), -BASE
    out = one_input_twice(array, other)
    np.testing.assert_array_equal(out, BASE)
    np.testing.assert_array_equal(array, -BASE)
    np.testing.assert_array_equal(other, -BASE)
