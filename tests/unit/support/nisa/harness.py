"""Small kernels described as data: run in every way there is, compared with `naive`.

A `Program` has tiles that hold something, and calls of instructions on views of them. Its kernel
fills every tile from HBM, makes the calls and brings every tile out whole, so that a write beside
a view shows. `FORMS` are the shapes, layouts, buffers and overlaps in which operands come; they
rewrite the operands of a call, so that every instruction is tried in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings
from support.backends import natively
from support.nisa import (
    naive,
    naive_gather,
    naive_indirect,
    naive_mx,
    naive_random,
    naive_search,
    naive_select,
)
from support.nisa.naive import STORAGE
from support.oracle import FORMATS, ROUNDED_TYPES, hard_array, hard_values
from support.unwritten import WithUnwritten

import nkijit as nki
from nkijit import isa
from nkijit import language as nl
from nkijit.ir.text import parse
from nkijit.traced.kernel import TracedKernel

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

CARRIERS = {
    "bool_": "uint8",
    "tfloat32": "float32",
    "float8_e5m2_x4": "uint32",
    "float8_e4m3fn_x4": "uint32",
    "float4_e2m1fn_x4": "uint16",
}
"""Data types that no NumPy array has, or not all of its bits: moved as these."""

WORDS: dict[str, Any] = {
    **dict.fromkeys(("op", "op0", "op1", "reduce_op", "cmp_op", "comp_op0", "comp_op1"), nl),
    "reduce_cmd": isa.reduce_cmd,
    "engine": isa.engine,
    "perf_mode": isa.matmul_perf_mode,
    "dge_mode": isa.dge_mode,
    "oob_mode": isa.oob_mode,
}
"""Arguments that are words, with the objects that have these names."""

INSTRUCTIONS = (
    naive.INSTRUCTIONS
    | naive_gather.INSTRUCTIONS
    | naive_mx.INSTRUCTIONS
    | naive_random.INSTRUCTIONS
    | naive_search.INSTRUCTIONS
    | naive_select.INSTRUCTIONS
)
"""The naive implementation of each instruction, by name."""

ALL = slice(None)

some = settings(max_examples=30, deadline=None, derandomize=True, database=None)
"""How properties are tried: the same few examples every time."""


# -- views ----------------------------------------------------------------------------------------


def _strided(array: Array, pattern: Sequence[tuple[int, int]], offset: int) -> Array:
    size = array.itemsize
    return np.lib.stride_tricks.as_strided(
        array.reshape(-1)[offset:],
        [count for _, count in pattern],
        [stride * size for stride, _ in pattern],
    )


def _broadcast(array: Array, dim: int, size: int) -> Array:
    return np.broadcast_to(array, (*array.shape[:dim], size, *array.shape[dim + 1 :]))


def _reshape_dim(array: Array, dim: int, shape: tuple[int, ...]) -> Array:
    return _reshape(array, (*array.shape[:dim], *shape, *array.shape[dim + 1 :]))


def _flatten_dims(array: Array, start: int, end: int) -> Array:
    return _reshape(array, (*array.shape[:start], -1, *array.shape[end + 1 :]))


def _reshape(array: Array, shape: tuple[int, ...]) -> Array:
    view = array.reshape(shape)
    if not np.shares_memory(view, array):
        raise ValueError("a copy would be needed")
    return view


ON_ARRAYS: dict[str, Callable[..., Array]] = {
    "__getitem__": lambda array, key: array[key],
    "slice": lambda array, dim, start, end, step: array[(ALL,) * dim + (slice(start, end, step),)],
    "select": lambda array, dim, index: array[(ALL,) * dim + (index,)],
    "permute": np.transpose,
    "broadcast": _broadcast,
    "expand_dim": np.expand_dims,
    "squeeze_dim": np.squeeze,
    "reshape": _reshape,
    "reshape_dim": _reshape_dim,
    "flatten_dims": _flatten_dims,
    "ap": _strided,
}
"""The view methods of a tensor, on NumPy arrays. Keys of `[]` are slices here."""


@dataclass(frozen=True)
class View:
    """An operand: a tile by name, seen through a chain of view methods, maybe as another dtype."""

    tile: str
    steps: tuple[tuple[Any, ...], ...] = ()
    dtype: str | None = None
    index: View | None = None
    """The numbers of the elements, with tensor indirection; how many of them is `count`."""
    count: int | None = None

    def indirect(self, index: View, count: int) -> View:
        """Those elements of each partition that an index tile names."""
        return replace(self, index=index, count=count)

    def then(self, method: str, *arguments: Any) -> View:
        """This view through another method."""
        return replace(self, steps=(*self.steps, (method, *arguments)))

    def __getitem__(self, key: Any) -> View:
        return self.then("__getitem__", key)

    def of_array(self, array: Array) -> Array:
        """The view of a tile's array."""
        if self.dtype is not None:
            array = array.view(STORAGE[self.dtype])
        for method, *arguments in self.steps:
            array = ON_ARRAYS[method](array, *arguments)
        return array

    def of_tensor(self, tensor: nl.NkiTensor) -> nl.NkiTensor:
        """The view of a kernel's tensor."""
        if self.dtype is not None:
            tensor = tensor.view(self.dtype)
        for method, *arguments in self.steps:
            tensor = getattr(tensor, method)(*arguments)
        return tensor

    def of_tensors(self, tensors: dict[str, nl.NkiTensor]) -> nl.NkiTensor:
        """The view of its tile among a kernel's tensors."""
        tensor = self.of_tensor(tensors[self.tile])
        if self.index is None:
            return tensor
        return tensor.indirect(self.index.of_tensor(tensors[self.index.tile]), self.count)


X, Y, Z = View("x"), View("y"), View("z")
"""By convention, two tiles of data and the tile that is written."""
C, D, R = View("c"), View("d"), View("r")
"""By convention, two columns that are read and a column that is written."""
COLUMNS = (C, D, R)


# -- programs -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tile:
    """A tensor of the kernel, with its initial contents; None: never written."""

    dtype: str
    shape: tuple[int, ...]
    buffer: str = "sbuf"
    data: Array | None = None


def filled(dtype: str, shape: tuple[int, ...], buffer: str = "sbuf", seed: int = 0) -> Tile:
    """A tile of ordinary numbers and hard ones, NaN and infinities among them."""
    if dtype in naive.PACKED_TYPES:
        width = STORAGE[dtype].itemsize
        bits = hard_array(shape, f"uint{8 * width}", seed).view(STORAGE[dtype])
        return Tile(dtype, shape, buffer, bits)
    data = hard_array(shape, dtype, seed)
    if dtype in FORMATS:
        random = np.random.default_rng(seed)
        with np.errstate(invalid="ignore"):  # not every type has infinities
            special = np.array([0, -0.0, 1, np.inf, -np.inf, np.nan]).astype(data.dtype)
        data = np.where(random.random(shape) < 0.2, random.choice(special, shape), data)
    return Tile(dtype, shape, buffer, data)


def whole_numbers(dtype: str, shape: tuple[int, ...], buffer: str = "sbuf", seed: int = 0) -> Tile:
    """Return a tile of small integers, whose sums and products are exact in any order."""
    numbers = np.random.default_rng(seed).integers(-4, 5, shape)
    if dtype == "float8_e8m0fnu":
        numbers = 2 ** np.abs(numbers)
    elif dtype.startswith("uint") or dtype == "bool_":
        numbers = np.abs(numbers)
    if dtype == "bool_":
        numbers = numbers > 2
    return Tile(dtype, shape, buffer, numbers.astype(np.float32).astype(STORAGE[dtype]))


def any_bits(dtype: str, shape: tuple[int, ...], buffer: str = "sbuf", seed: int = 0) -> Tile:
    """A tile of any bits; with exponents of ones, so of NaN, at half of a float type's elements."""
    width = STORAGE[dtype].itemsize
    random = np.random.default_rng(seed)
    bits = random.integers(0, 2 ** (8 * width), shape, np.uint64)
    if dtype == "bool_":
        bits &= 1
    if dtype == "tfloat32":
        bits &= 0xFFFFE000
    if dtype in FORMATS:
        layout = FORMATS["float32" if dtype == "tfloat32" else dtype]
        ones = (2**layout.exponent - 1) << layout.mantissa
        bits |= np.where(random.random(shape) < 0.5, ones, 0).astype(np.uint64)
    return Tile(dtype, shape, buffer, bits.astype(f"u{width}").view(STORAGE[dtype]))


Fill = Callable[[str, tuple[int, ...], str, int], Tile]
"""`filled`, `whole_numbers`, `any_bits`: a tile by type, shape, buffer and seed."""


def holding(dtype: str, values: Any, buffer: str = "sbuf") -> Tile:
    """A tile of these values, which the data type can hold."""
    data = np.array(values, STORAGE[dtype])
    return Tile(dtype, data.shape, buffer, data)


@dataclass(frozen=True)
class Call:
    """An instruction by name with its arguments: views, words and numbers."""

    instruction: str
    arguments: dict[str, Any]

    def __str__(self) -> str:
        words = [str(self.arguments[name]) for name in WORDS if name in self.arguments]
        return "-".join([self.instruction, *words])

    @property
    def views(self) -> dict[str, View]:
        """The operands that are tiles, by argument."""
        return {name: v for name, v in self.arguments.items() if isinstance(v, View)}

    @property
    def tiles(self) -> set[str]:
        """The names of the tiles."""
        named = self.views.values()
        return {view.tile for view in named} | {v.index.tile for v in named if v.index is not None}

    def with_views(self, changes: dict[str, View]) -> Call:
        """The call with other views for these tiles."""
        changed = {name: changes.get(view.tile, view) for name, view in self.views.items()}
        return Call(self.instruction, self.arguments | changed)


def call(instruction: str, /, **arguments: Any) -> Call:
    """Return a call in the form of a kernel's call, with words in quotes."""
    return Call(instruction, arguments)


@dataclass(frozen=True, eq=False)
class Program:
    """A kernel: tiles, calls in order, and the target."""

    tiles: dict[str, Tile]
    calls: Sequence[Call]
    target: str = "trn3"
    kernel: nki.Kernel = field(init=False)

    def __post_init__(self) -> None:
        # A kernel is specialised on all that it uses: on types, but not on data.
        types = {name: replace(tile, data=None) for name, tile in self.tiles.items()}
        calls = tuple(self.calls)

        def kernel(inputs: dict[str, nl.NkiTensor]) -> dict[str, nl.NkiTensor]:
            tensors = {name: _placed(name, t, inputs.get(name)) for name, t in types.items()}
            for made in calls:
                _make(made, tensors)
            return {name: _brought_out(tensors[name], t) for name, t in types.items()}

        object.__setattr__(self, "kernel", nki.jit(kernel, platform_target=self.target))

    @property
    def inputs(self) -> Arrays:
        """The contents of the tiles, as arguments of the kernel; read-only."""
        arrays = {
            name: tile.data.view(STORAGE[_carrier(tile)])
            for name, tile in self.tiles.items()
            if tile.data is not None
        }
        for array in arrays.values():
            array.flags.writeable = False
        return arrays

    def run(self, *, unwritten: bool = False) -> Arrays:
        """Return the final contents of all tiles, run as traced and, natively, from the IR's text.

        Args:
            unwritten: the program reads or returns unwritten elements.
        """
        inputs = self.inputs
        before = {name: array.copy() for name, array in inputs.items()}
        traced = self.kernel.trace(inputs)
        again = TracedKernel(parse(traced.text()))
        if unwritten:
            traced, again = WithUnwritten(traced), WithUnwritten(again)
        results = traced.run(*inputs.values())
        with natively():
            assert_alike(again.run(*inputs.values()), results)
        assert_identical(inputs, before)
        return {name: results[name].view(STORAGE[tile.dtype]) for name, tile in self.tiles.items()}

    def expected(self) -> dict[str, naive.Contents]:
        """Return the final contents of all tiles, computed one element at a time."""
        machine = naive.Machine(self.target)
        contents = {
            name: naive.Contents.of(t.dtype, t.buffer, t.shape, t.data)
            for name, t in self.tiles.items()
        }
        for made in self.calls:
            operands = {
                name: _operand(view, contents[view.tile]) for name, view in made.views.items()
            }
            indirect = _gathered(made, operands, contents)
            INSTRUCTIONS[made.instruction](machine, **made.arguments | operands | indirect)
            if "dst" in indirect:
                numbers = _numbers(made, "dst", contents)
                naive_indirect.scatter(operands["dst"], numbers, indirect["dst"])
        return contents

    def check(self, *, unwritten: bool = False) -> None:
        """Fail unless every element of every tile is right. See `run`."""
        with np.errstate(all="ignore"):
            expected = self.expected()
        results = self.run(unwritten=unwritten)
        for name, contents in expected.items():
            assert_right(name, results[name], contents)


def _carrier(tile: Tile) -> str:
    return CARRIERS.get(tile.dtype, tile.dtype)


def _placed(name: str, tile: Tile, source: nl.NkiTensor | None) -> nl.NkiTensor:
    buffer = getattr(nl, tile.buffer)
    tensor = nl.ndarray(tile.shape, tile.dtype, buffer=buffer, name=name)
    if source is None:
        return tensor
    into = tensor.view(_carrier(tile))
    if tile.buffer == "psum":
        staged = nl.ndarray(tile.shape, _carrier(tile))
        isa.dma_copy(dst=staged, src=source)
        isa.tensor_copy(dst=into, src=staged)
    else:
        isa.dma_copy(dst=into, src=source)
    return tensor


def _brought_out(tensor: nl.NkiTensor, tile: Tile) -> nl.NkiTensor:
    out = nl.ndarray(tile.shape, _carrier(tile), buffer=nl.shared_hbm)
    source = tensor.view(_carrier(tile))
    if tile.buffer == "psum":
        staged = nl.ndarray(tile.shape, _carrier(tile))
        isa.tensor_copy(dst=staged, src=source)
        source = staged
    isa.dma_copy(dst=out, src=source)
    return out


def _make(made: Call, tensors: dict[str, nl.NkiTensor]) -> None:
    arguments = dict(made.arguments)
    for name, value in arguments.items():
        if isinstance(value, View):
            arguments[name] = value.of_tensors(tensors)
        elif name in WORDS and value is not None:
            arguments[name] = getattr(WORDS[name], value)
    getattr(isa, made.instruction)(**arguments)


def _numbers(made: Call, name: str, contents: dict[str, naive.Contents]) -> list[list[int]]:
    view = made.views[name]
    assert view.index is not None
    assert view.count is not None
    index = view.index.of_array(contents[view.index.tile].low)
    return naive_indirect.numbers(index, view.count, made.instruction)


def _gathered(
    made: Call, operands: dict[str, naive.Operand], contents: dict[str, naive.Contents]
) -> dict[str, naive.Operand]:
    return {
        name: naive_indirect.gather(operands[name], _numbers(made, name, contents))
        for name, view in made.views.items()
        if view.index is not None
    }


def _operand(view: View, contents: naive.Contents) -> naive.Operand:
    rows = np.arange(contents.low.shape[0]).reshape(-1, *[1] * (contents.low.ndim - 1))
    whole = np.broadcast_to(rows, contents.low.shape).copy()
    same_shape = view if view.dtype is None else replace(view, dtype=None)
    return naive.Operand(
        view.dtype or contents.dtype,
        contents.buffer,
        view.of_array(contents.low),
        view.of_array(contents.high),
        same_shape.of_array(contents.by_matmul),
        same_shape.of_array(whole),
    )


# -- comparison -----------------------------------------------------------------------------------


def _same(a: Array, b: Array) -> Array:
    """Return the elements of two arrays of a type that have equal bits or are both NaN."""
    bits = f"u{a.dtype.itemsize}"
    with np.errstate(invalid="ignore"):
        return (a.view(bits) == b.view(bits)) | ((a != a) & (b != b))


def assert_right(name: str, actual: Array, contents: naive.Contents) -> None:
    """Fail unless every element of a tile has its expected value, or is within its bounds."""
    low, high = contents.low, contents.high
    element = naive_mx.ELEMENTS.get(contents.dtype)
    if element in FORMATS:
        # Any NaN is as good as any other, in packed elements too.
        actual, low, high = (array.view(STORAGE[element]) for array in (actual, low, high))
    known = _same(low, high)
    with np.errstate(invalid="ignore"):
        numbers, lows, highs = (array.astype(np.float64) for array in (actual, low, high))
        inside = (lows <= numbers) & (numbers <= highs)
    right = _same(actual, low) | _same(actual, high) | (~known & inside)
    if right.all():
        return
    where = tuple(int(index[0]) for index in np.nonzero(~right))
    wanted = low[where] if known[where] else f"{low[where]!r} to {high[where]!r}"
    raise AssertionError(
        f"tile '{name}' ({contents.dtype}): {np.count_nonzero(~right)} of {right.size} elements are"
        f" wrong; at {list(where)}: got {actual[where]!r}, expected {wanted!r}"
    )


def assert_alike(actual: Arrays, expected: Arrays) -> None:
    """Fail unless the arrays have the same bits, but for those of NaN."""

    def without_nan(arrays: Arrays) -> Arrays:
        with np.errstate(invalid="ignore"):  # signalling NaN
            return {
                name: np.where(np.isnan(array), np.nan, array).astype(array.dtype)
                if array.dtype.kind not in "biu"
                else array
                for name, array in arrays.items()
            }

    assert_identical(without_nan(actual), without_nan(expected))


def assert_identical(actual: Arrays, expected: Arrays) -> None:
    """Fail unless the arrays have the same types and the same bits."""
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        assert (actual[name].dtype, actual[name].shape) == (array.dtype, array.shape)
        assert actual[name].tobytes() == array.tobytes(), name


# -- forms of operands ----------------------------------------------------------------------------

PARTITIONS, ELEMENTS = 4, 12
SHAPE = (PARTITIONS, ELEMENTS)

Layout = tuple[tuple[int, ...], tuple[tuple[Any, ...], ...]]
"""The shape of a tile, and the steps to the view."""

WRITABLE: dict[str, Layout] = {
    "strided": ((4, 25), (("__getitem__", (ALL, slice(1, 24, 2))),)),
    "backwards": ((4, 12), (("ap", [(12, 4), (-1, 12)], 11),)),
    "partition-32": ((36, 12), (("__getitem__", slice(32, 36)),)),
    "partition-64": ((70, 13), (("__getitem__", (slice(64, 68), slice(1, None))),)),
    "3-D": ((4, 3, 4), ()),
    "4-D": ((4, 2, 3, 2), ()),
    "permuted": ((4, 3, 4), (("permute", (0, 2, 1)),)),
    "permuted-4-D": ((4, 2, 3, 2), (("permute", (0, 3, 1, 2)),)),
    "strided-3-D": ((4, 6, 7), (("__getitem__", (ALL, slice(0, None, 2), slice(1, 5))),)),
    "reshaped": ((4, 24), (("reshape_dim", 1, (3, 8)), ("__getitem__", (ALL, ALL, slice(4, 8))))),
}
REPEATED: dict[str, Layout] = {
    "repeated-outside": ((4, 1, 4), (("broadcast", 1, 3),)),
    "repeated-inside": ((4, 3, 1), (("broadcast", 2, 4),)),
    "repeated-permuted": ((4, 1, 4), (("broadcast", 1, 3), ("permute", (0, 2, 1)))),
}
READABLE = WRITABLE | REPEATED
"""Layouts of 4 partitions with 12 elements each."""

COLUMN_LAYOUTS: dict[str, Layout] = {
    "column-of-a-wider-tile": ((4, 5), (("__getitem__", (ALL, slice(3, 4))),)),
    "column-at-partition-96": ((100, 1), (("__getitem__", slice(96, 100)),)),
    "column-3-D": ((4, 1, 1), ()),
}

OVERLAPS: dict[str, tuple[dict[str, View], dict[str, tuple[int, ...]]]] = {
    "z-is-x": ({"z": X}, {}),
    "z-is-y": ({"z": Y}, {}),
    "x-is-y": ({"x": Y}, {}),
    "z-is-x-is-y": ({"z": X, "y": X}, {}),
    "z-behind-x": ({"x": X[:, 0:12], "z": X[:, 1:13]}, {"x": (4, 13)}),
    "z-ahead-of-x": ({"x": X[:, 1:13], "z": X[:, 0:12]}, {"x": (4, 13)}),
    "z-behind-y": ({"y": Y[:, 0:12], "z": Y[:, 1:13]}, {"y": (4, 13)}),
    "z-is-x-permuted": ({"x": X, "z": X.then("permute", (0, 2, 1))}, {"x": (4, 3, 4)}),
    "z-interleaved-with-x": ({"x": X[:, ::2], "z": X[:, 1::2]}, {"x": (4, 24)}),
    "z-strided-over-x": ({"x": X[:, 0:12], "z": X[:, ::2]}, {"x": (4, 23)}),
    "c-in-z": ({"c": Z[:, 5:6]}, {}),
    "d-in-z": ({"d": Z[:, 11:12]}, {}),
    "d-in-x-is-z": ({"z": X, "d": X[:, 0:1]}, {}),
    "r-in-z": ({"r": Z[:, 3:4]}, {}),
    "r-in-x": ({"r": X[:, 0:1]}, {}),
    "r-is-c": ({"r": C}, {}),
}
"""The views of these tiles, and the shapes of tiles that are not the usual ones."""

IN_PSUM = ("x", "y", "z", "xz", "yz", "c", "r")

SIZES = ((4, 12), (1, 1), (1, 12), (128, 1), (5, 33))


def arranged(
    made: Sequence[Call],
    dtype: str = "float32",
    fill: Fill = filled,
    *,
    shape: tuple[int, int] = SHAPE,
    shapes: dict[str, tuple[int, ...]] | None = None,
    dtypes: dict[str, str] | None = None,
    buffers: dict[str, str] | None = None,
    tiles: dict[str, Tile] | None = None,
    target: str = "trn3",
) -> Program:
    """Calls on tiles of the usual shape, or as given by name; columns are float32."""
    made_tiles = dict(tiles or {})
    missing = set().union(*(each.tiles for each in made)) - made_tiles.keys()
    for seed, name in enumerate(sorted(missing)):
        column = View(name) in COLUMNS
        made_tiles[name] = fill(
            (dtypes or {}).get(name, "float32" if column else dtype),
            (shapes or {}).get(name, (shape[0], 1) if column else shape),
            (buffers or {}).get(name, "sbuf"),
            seed,
        )
    return Program(made_tiles, made, target)


def side_by_side(
    made: Sequence[Call], dtype: str = "float32", *, shape: tuple[int, int] = SHAPE, **others: Any
) -> Program:
    """Calls on the same data, whose results go beside each other into one tile."""
    partitions, width = shape
    calls = [
        each.with_views({"z": Z[:, index * width : (index + 1) * width]})
        for index, each in enumerate(made)
    ]
    z = {"z": (partitions, len(calls) * width)}
    return arranged(calls, dtype, shape=shape, shapes=z, **others)


@dataclass(frozen=True)
class Form:
    """A way to lay out the operands of a call; it needs these tiles to make sense."""

    name: str
    needs: frozenset[str]
    build: Callable[[Call, str, Fill], Program]
    dtypes: tuple[str, ...] = ("float32", "bfloat16")

    def __str__(self) -> str:
        return self.name


def _with_views(name: str, changes: dict[str, View], shapes: dict[str, tuple[int, ...]]) -> Form:
    needs = frozenset((*changes, *(view.tile for view in changes.values())))
    # Columns that are read are float32, so their tensors are, too.
    dtypes = ("float32",) if {"c", "d"} & changes.keys() else Form.dtypes

    def build(made: Call, dtype: str, fill: Fill) -> Program:
        return arranged([made.with_views(changes)], dtype, fill, shapes=shapes)

    return Form(name, needs, build, dtypes)


def _laid_out(tile: str, layouts: dict[str, Layout]) -> Iterable[Form]:
    for name, (shape, steps) in layouts.items():
        yield _with_views(f"{tile}-{name}", {tile: View(tile, steps)}, {tile: shape})


def _in_psum(names: str) -> Form:
    buffers = dict.fromkeys(names, "psum")

    def build(made: Call, dtype: str, fill: Fill) -> Program:
        return arranged([made], dtype, fill, buffers=buffers)

    return Form(f"{names}-in-psum", frozenset(names), build, dtypes=("float32",))


def _of_size(shape: tuple[int, int]) -> Form:
    def build(made: Call, dtype: str, fill: Fill) -> Program:
        return arranged([made], dtype, fill, shape=shape)

    return Form(f"size-{shape[0]}x{shape[1]}", frozenset(), build, dtypes=("float32",))


PSUM_FORMS = tuple(map(_in_psum, IN_PSUM))
FORMS = (
    *_laid_out("x", READABLE),
    *(replace(form, dtypes=("bfloat16",)) for form in _laid_out("y", READABLE)),
    *_laid_out("z", WRITABLE),
    *(form for tile in "cdr" for form in _laid_out(tile, COLUMN_LAYOUTS)),
    *(_with_views(name, *change) for name, change in OVERLAPS.items()),
    *map(_of_size, SIZES),
)


def each_form(
    calls: Iterable[Call], forms: Sequence[Form] = (*FORMS, *PSUM_FORMS)
) -> pytest.MarkDecorator:
    """Parametrise a test of (`made`, `form`, `dtype`): every call in every form that fits it."""
    cases = [
        pytest.param(made, form, dtype, id=f"{made}-{form}-{dtype}")
        for made in calls
        for form in forms
        if form.needs <= made.tiles
        for dtype in form.dtypes
    ]
    return pytest.mark.parametrize(("made", "form", "dtype"), cases)


def to_each_dtype(
    made: Call,
    dtype: str,
    fill: Fill = filled,
    *,
    dtypes: Iterable[str] = ROUNDED_TYPES,
    tile: str = "z",
    shape: tuple[int, ...] = SHAPE,
) -> Program:
    """The call on data of one type, with its result (or another tile) in each type in turn."""
    results = {f"{tile}_{result}": Tile(result, shape) for result in dtypes}
    calls = [made.with_views({tile: View(name)}) for name in results]
    return arranged(calls, dtype, fill, tiles=results)


def hard_to_round(made: Call, dtype: str) -> Program:
    """The call on float32 numbers around which the rounding to its result's type changes."""
    shape = (PARTITIONS, 120)
    x = Tile("float32", shape, data=hard_values(shape, dtype))
    return arranged([made], shape=shape, dtypes={"z": dtype}, tiles={"x": x})
