"""tensor_reduce: the last free dimensions; tensor_partition_reduce: the partitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.nisa.harness import (
    FORMS,
    Call,
    Fill,
    Form,
    Tile,
    View,
    X,
    Z,
    arranged,
    call,
    each_form,
    filled,
    holding,
    to_each_dtype,
    whole_numbers,
)
from support.oracle import INTEGERS, ROUNDED_TYPES

from nkijit.dialects.operators import OPERATORS, AluKind

REDUCIBLE = {
    name: operator.alu.kind
    for name, operator in OPERATORS.items()
    if operator.alu is not None and operator.alu.reducible
}
ARITHMETIC = [name for name, kind in REDUCIBLE.items() if kind is AluKind.arithmetic]
BITVEC = [name for name, kind in REDUCIBLE.items() if kind is AluKind.bitvec]
SUMS = ("add", "subtract", "multiply")
"""Exact on whole numbers only."""


def numbers_for(op: str) -> Fill:
    return whole_numbers if op in SUMS else filled


AXES = [
    ((4, 5), 1, 1),
    ((4, 5), (1,), 1),
    ((4, 5), -1, 1),
    ((1, 1), 1, 1),
    ((128, 3), [1], 1),
    ((4, 3, 5), 2, 3),
    ((4, 3, 5), (1, 2), 1),
    ((4, 3, 5), (2, 1), 1),
    ((4, 3, 5), (-2, -1), 1),
    ((4, 2, 3, 2), 3, 6),
    ((4, 2, 3, 2), (2, 3), 2),
    ((4, 2, 3, 2), (1, 2, 3), 1),
    ((4, 2, 1, 3, 2), (1, 2, 3, 4), 1),
    ((4, 2, 1, 3, 2), (3, 4), 2),
]
"""Shape of the data, the axes, and the elements per partition that they leave."""


@pytest.mark.parametrize(("shape", "axis", "left"), AXES)
@pytest.mark.parametrize("op", ["add", "minimum", "logical_xor"])
def test_axes(op: str, shape: tuple[int, ...], axis: object, left: int) -> None:
    made = call("tensor_reduce", dst=Z, op=op, data=X, axis=axis)
    shapes = {"x": shape, "z": (shape[0], left)}
    arranged([made], fill=numbers_for(op), shapes=shapes).check()


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("op", ARITHMETIC)
def test_operators(op: str, dtype: str, negate: bool) -> None:
    made = call("tensor_reduce", dst=Z, op=op, data=X, axis=2, negate=negate)
    shapes = {"x": (4, 7, 6), "z": (4, 7)}
    arranged([made], dtype, numbers_for(op), shapes=shapes).check()


@pytest.mark.parametrize("op", SUMS)
def test_sums_and_products_of_ordinary_numbers(op: str) -> None:
    values = np.random.default_rng(0).standard_normal((4, 100))
    if op == "multiply":
        values = 1 + values / 20
    made = call("tensor_reduce", dst=Z, op=op, data=X, axis=1)
    tiles = {"x": holding("float32", values.astype(np.float32))}
    arranged([made], shapes={"z": (4, 1)}, tiles=tiles).check()


def test_sums_of_infinities_and_nan() -> None:
    inf = math.inf
    x = holding("float32", [[1, inf, 2], [inf, -inf, 0], [1, math.nan, inf], [-3e38] * 3])
    for op in ("add", "subtract"):
        made = call("tensor_reduce", dst=Z, op=op, data=X, axis=1)
        arranged([made], shapes={"z": (4, 1)}, tiles={"x": x}).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types(dtype: str) -> None:
    data = X.then("reshape_dim", 1, (3, 4))
    made = call("tensor_reduce", dst=Z, op="maximum", data=data, axis=2)
    to_each_dtype(made, dtype, shape=(4, 3)).check()


@pytest.mark.parametrize("dtype", [*INTEGERS])
@pytest.mark.parametrize("op", BITVEC)
def test_bits(op: str, dtype: str) -> None:
    other = dtype.removeprefix("u") if dtype.startswith("u") else f"u{dtype}"
    for result in (dtype, other):
        made = call("tensor_reduce", dst=Z, op=op, data=X, axis=(2,))
        shapes = {"x": (4, 5, 3), "z": (4, 5)}
        arranged([made], dtype, shapes=shapes, dtypes={"z": result}).check()


@pytest.mark.parametrize("buffers", [{"x": "psum"}, {"z": "psum"}, {"x": "psum", "z": "psum"}])
@pytest.mark.parametrize("op", ["maximum", "bitwise_xor"])
def test_buffers(op: str, buffers: dict[str, str]) -> None:
    dtype = "int32" if op in BITVEC else "float32"
    made = call("tensor_reduce", dst=Z, op=op, data=X, axis=1)
    arranged([made], dtype, shapes={"z": (4, 1)}, buffers=buffers).check()


# Tiles whose view has 4 partitions of 3x4 elements.
DATA_LAYOUTS = {
    "permuted": ((4, 4, 3), X.then("permute", (0, 2, 1))),
    "strided": ((4, 6, 9), X[:, ::2, 1:9:2]),
    "partition-32": ((36, 3, 4), X[32:36]),
    "rows-repeated": ((4, 1, 4), X.then("broadcast", 1, 3)),
    "elements-repeated": ((4, 3, 1), X.then("broadcast", 2, 4)),
    "backwards": ((4, 12), X.then("ap", [(12, 4), (-4, 3), (-1, 4)], 11)),
    "overlapping-windows": ((4, 8), X.then("ap", [(8, 4), (2, 3), (1, 4)], 0)),
}
RESULT_LAYOUTS = {
    "strided": ((4, 7), Z[:, 1::2]),
    "3-D": ((4, 3, 1), Z),
    "permuted": ((4, 3, 2), Z[:, :, 1:2].then("permute", (0, 2, 1))),
    "partition-64": ((68, 3), Z[64:68]),
    "backwards": ((4, 3), Z.then("ap", [(3, 4), (-1, 3)], 2)),
}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", DATA_LAYOUTS)
@pytest.mark.parametrize("axis", [2, (1, 2)], ids=str)
def test_layouts_of_data(layout: str, axis: object, dtype: str) -> None:
    shape, x = DATA_LAYOUTS[layout]
    for op in ("subtract", "maximum"):
        made = call("tensor_reduce", dst=Z, op=op, data=x, axis=axis)
        shapes = {"x": shape, "z": (4, 3 if axis == 2 else 1)}
        arranged([made], dtype, numbers_for(op), shapes=shapes).check()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", RESULT_LAYOUTS)
def test_layouts_of_results(layout: str, dtype: str) -> None:
    shape, z = RESULT_LAYOUTS[layout]
    made = call("tensor_reduce", dst=z, op="minimum", data=X, axis=2)
    arranged([made], dtype, shapes={"x": (4, 3, 4), "z": shape}).check()


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 8, 16])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_negated_columns(columns: int, dtype: str) -> None:
    """NumPy negates some columns of many rows wrongly, in place."""
    made = [
        call("tensor_reduce", dst=Z[:, at : at + 1], op="maximum", data=X, axis=1, negate=True)
        for at in range(columns)
    ]
    arranged(made, dtype, shapes={"x": (128, 3), "z": (128, columns)}).check()


KEPT = [((4, 5), 1, (4, 1)), ((4, 3, 5), 2, (4, 3, 1)), ((4, 2, 3, 2), (2, 3), (4, 2, 1, 1))]


@pytest.mark.parametrize(("shape", "axis", "kept"), KEPT)
def test_keepdims(shape: tuple[int, ...], axis: object, kept: tuple[int, ...]) -> None:
    made = call("tensor_reduce", dst=Z, op="maximum", data=X, axis=axis, keepdims=True)
    arranged([made], shapes={"x": shape, "z": kept}).check()


@pytest.mark.parametrize("z", [X[:, 0:1], X[:, 2:3], X[:, 4:5]], ids=["first", "middle", "last"])
@pytest.mark.parametrize(("op", "dtype"), [("add", "float32"), ("bitwise_or", "uint8")])
def test_result_in_the_data(op: str, dtype: str, z: View) -> None:
    made = call("tensor_reduce", dst=z, op=op, data=X, axis=1)
    arranged([made], dtype, whole_numbers, shape=(4, 5)).check()


def test_sums_are_rounded_once() -> None:
    x = holding("bfloat16", [[256.0] + [1.0] * 8])
    made = call("tensor_reduce", dst=Z, op="add", data=X, axis=1)
    results = arranged([made], tiles={"x": x, "z": Tile("bfloat16", (1, 1))}).run()
    assert results["z"].astype(np.float32).tolist() == [[264.0]]


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_targets(target: str) -> None:
    made = call("tensor_reduce", dst=Z, op="add", data=X, axis=1)
    arranged([made], fill=whole_numbers, shapes={"z": (4, 1)}, target=target).check()


# -- partitions -----------------------------------------------------------------------------------

OVER_PARTITIONS = ("add", "average", "maximum")
ONE_ROW = {"z": (1, 12)}


def over_partitions(op: str, dst: View = Z) -> Call:
    return call("tensor_partition_reduce", dst=dst, op=op, data=X)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (2, 1), (128, 5), (100, 3, 4)])
@pytest.mark.parametrize("op", OVER_PARTITIONS)
def test_partitions(op: str, shape: tuple[int, ...]) -> None:
    fill = filled if op == "maximum" else whole_numbers
    shapes = {"x": shape, "z": (1, *shape[1:])}
    arranged([over_partitions(op)], fill=fill, shapes=shapes).check()


@pytest.mark.parametrize("op", ["add", "average"])
def test_sums_of_ordinary_numbers_over_partitions(op: str) -> None:
    values = np.random.default_rng(0).standard_normal((127, 12))
    tiles = {"x": holding("float32", values.astype(np.float32))}
    arranged([over_partitions(op)], shapes=ONE_ROW, tiles=tiles).check()


@pytest.mark.parametrize("op", OVER_PARTITIONS)
def test_infinities_and_nan_over_partitions(op: str) -> None:
    inf, nan = math.inf, math.nan
    x = holding("float32", [[1, inf, inf, nan, -0.0, 3e38], [2, 3, -inf, 1, -0.0, 3e38]])
    arranged([over_partitions(op)], shapes={"z": (1, 6)}, tiles={"x": x}).check()


@each_form(
    [over_partitions("maximum"), over_partitions("average")],
    [form for form in FORMS if form.needs == {"x"}],
)
def test_forms_of_data_over_partitions(made: Call, form: Form, dtype: str) -> None:
    program = form.build(made, dtype, whole_numbers)
    tiles = program.tiles | {"z": Tile(dtype, (1, 12))}
    arranged(program.calls, tiles=tiles).check()


@pytest.mark.parametrize("z", [Z[32:33, 1:13], Z[0:1, 0:24:2]], ids=["partition-32", "strided"])
def test_layouts_of_one_partition(z: View) -> None:
    calls = [over_partitions("add", z), over_partitions("bitwise_or", z)]
    arranged(calls[:1], fill=whole_numbers, shapes={"z": (40, 25)}).check()
    arranged(calls[1:], "int16", shapes={"z": (40, 25)}).check()


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types_over_partitions(dtype: str) -> None:
    to_each_dtype(over_partitions("maximum"), dtype, shape=(1, 12)).check()


@pytest.mark.parametrize("dtype", [*INTEGERS])
@pytest.mark.parametrize("op", ["bitwise_or", "bitwise_and"])
def test_bits_over_partitions(op: str, dtype: str) -> None:
    other = dtype.removeprefix("u") if dtype.startswith("u") else f"u{dtype}"
    for result in (dtype, other):
        arranged([over_partitions(op)], dtype, shapes=ONE_ROW, dtypes={"z": result}).check()


@pytest.mark.parametrize("row", [0, 32])
@pytest.mark.parametrize(("op", "dtype"), [("add", "float32"), ("bitwise_and", "uint8")])
def test_one_partition_of_the_data(op: str, dtype: str, row: int) -> None:
    made = over_partitions(op, X[row : row + 1])
    arranged([made], dtype, whole_numbers, shape=(33, 12)).check()


@pytest.mark.parametrize("target", ["trn1", "trn2", "trn3"])
def test_targets_over_partitions(target: str) -> None:
    program = arranged([over_partitions("add")], fill=whole_numbers, shapes=ONE_ROW, target=target)
    program.check()
