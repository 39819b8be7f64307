"""dma_copy, tensor_copy and memset."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.nisa.harness import (
    FORMS,
    SHAPE,
    Call,
    Form,
    Program,
    Tile,
    View,
    X,
    Z,
    any_bits,
    arranged,
    call,
    each_form,
    filled,
    hard_to_round,
    holding,
    side_by_side,
    to_each_dtype,
)
from support.nisa.naive import PACKED_TYPES
from support.oracle import INTEGERS, ROUNDED_TYPES

DMA = call("dma_copy", dst=Z, src=X)
COPY = call("tensor_copy", dst=Z, src=X)
COPIES = pytest.mark.parametrize("made", [DMA, COPY], ids=str)


@each_form([COPY])
def test_forms_of_operands(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, filled).check()


@each_form([DMA], FORMS)
def test_forms_of_dma_operands(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, filled).check()


@COPIES
@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_data_types(made: Call, dtype: str) -> None:
    to_each_dtype(made, dtype).check()


@COPIES
@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_conversions_are_rounded_once(made: Call, dtype: str) -> None:
    hard_to_round(made, dtype).check()


@COPIES
@pytest.mark.parametrize("dtype", [*ROUNDED_TYPES, *PACKED_TYPES])
def test_equal_data_types_keep_their_bits(made: Call, dtype: str) -> None:
    program = arranged([made], dtype, any_bits, shape=(4, 60))
    assert program.run()["z"].tobytes() == program.tiles["x"].data.tobytes()


@COPIES
def test_integers_beyond_float32_keep_their_bits(made: Call) -> None:
    x = holding("int32", [[2**24 + 1, 2**31 - 1, -(2**31), -(2**24) - 1]])
    arranged([made], "int32", shape=x.shape, tiles={"x": x}).check()


@COPIES
@pytest.mark.parametrize("dtype", ["float32", "float16", "bool_"])
def test_booleans_are_any_byte(made: Call, dtype: str) -> None:
    x = holding("bool_", [[0, 1, 2, 128, 255]])
    arranged([made], dtype, shape=x.shape, tiles={"x": x}).check()


@COPIES
@pytest.mark.parametrize(("dtype", "bits"), [("float32", "int32"), ("bfloat16", "uint16")])
def test_bits_through_a_view_of_another_type(made: Call, dtype: str, bits: str) -> None:
    same_size = made.with_views({"x": View("x", dtype=bits), "z": View("z", dtype=bits)})
    arranged([same_size], dtype, shape=(4, 60)).check()


def test_bytes_through_a_view_of_another_size() -> None:
    bytes_of_x = View("x", dtype="uint8")
    made = call("tensor_copy", dst=Z, src=bytes_of_x[:, 1::4])
    arranged([made], "uint8", dtypes={"x": "float32"}).check()


@pytest.mark.parametrize(
    ("engine", "target"),
    [("vector", "trn1"), ("gpsimd", "trn1"), ("scalar", "trn2"), ("gpsimd", "trn3")],
)
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_engines_agree(engine: str, target: str, dtype: str) -> None:
    calls = [call("tensor_copy", dst=Z, src=X, engine=engine)]
    arranged(calls, dtype, target=target).check()
    arranged(calls, dtype, target=target, dtypes={"z": "int8"}).check()


# -- DMA between shapes and memories --------------------------------------------------------------

SHAPES = [(4, 12), (12, 4), (48, 1), (1, 48), (4, 3, 4), (2, 2, 2, 6), (24, 2)]


@pytest.mark.parametrize("into", SHAPES, ids=str)
@pytest.mark.parametrize("out_of", SHAPES[::2], ids=str)
def test_dma_between_shapes(out_of: tuple[int, ...], into: tuple[int, ...]) -> None:
    shapes = {"x": out_of, "z": into}
    arranged([DMA], shapes=shapes).check()
    arranged([DMA], shapes=shapes, dtypes={"z": "float16"}).check()


REGIONS = ("sbuf", "private_hbm", "shared_hbm")


@pytest.mark.parametrize("into", REGIONS)
@pytest.mark.parametrize("out_of", REGIONS)
@pytest.mark.parametrize("result", ["bfloat16", "int8"])
def test_dma_between_memories(out_of: str, into: str, result: str) -> None:
    buffers = {"x": out_of, "z": into}
    arranged([DMA], "bfloat16", buffers=buffers, dtypes={"z": result}).check()


HBM_VIEWS = {
    "flat": ((48,), X),
    "rows-of-many": ((300, 4), X[17:299:24]),
    "transposed": ((12, 4), X.then("permute", (1, 0))),
    "outer-dimension-last": ((3, 4, 4), X.then("permute", (1, 2, 0))),
    "every-second-column": ((4, 24), X[:, ::2]),
    "row-repeated": ((1, 12), X.then("broadcast", 0, 4)),
    "scalar-repeated": ((1, 1), X.then("broadcast", 0, 4).then("broadcast", 1, 12)),
    "windows-repeated": ((15,), X.then("ap", [(1, 4), (1, 12)], 0)),
    "backwards": ((48,), X.then("ap", [(-1, 48)], 47)),
    "corner": ((5, 6, 7), X[1:, 2:5, 3:7]),
}
WRITTEN_ONCE = [name for name in HBM_VIEWS if "repeated" not in name]


@pytest.mark.parametrize("result", ["float32", "bfloat16"])
@pytest.mark.parametrize("shape", [(4, 12), (12, 4)], ids=str)
@pytest.mark.parametrize("layout", HBM_VIEWS)
def test_dma_from_views_of_hbm(layout: str, shape: tuple[int, ...], result: str) -> None:
    hbm, x = HBM_VIEWS[layout]
    made = call("dma_copy", dst=Z, src=x)
    arranged(
        [made], buffers={"x": "private_hbm"}, shapes={"x": hbm, "z": shape}, dtypes={"z": result}
    ).check()


@pytest.mark.parametrize("result", ["float32", "bfloat16"])
@pytest.mark.parametrize("layout", WRITTEN_ONCE)
def test_dma_to_views_of_hbm(layout: str, result: str) -> None:
    hbm, x = HBM_VIEWS[layout]
    made = call("dma_copy", dst=x, src=Z)
    arranged([made], buffers={"x": "shared_hbm"}, shapes={"x": hbm}, dtypes={"x": result}).check()


@pytest.mark.parametrize("buffer", ["sbuf", "shared_hbm"])
@pytest.mark.parametrize(
    ("into", "out_of"),
    [(X[:, 1:], X[:, :-1]), (X[:, :-1], X[:, 1:]), (X[1:], X[:-1]), (X[:-1], X[1:])],
    ids=["right", "left", "down", "up"],
)
def test_dma_onto_itself(into: View, out_of: View, buffer: str) -> None:
    arranged([call("dma_copy", dst=into, src=out_of)], buffers={"x": buffer}).check()


# -- memset ---------------------------------------------------------------------------------------

CONSTANTS = [0, -0.0, 1, 1.5, 2.5, -0.5, -7, 300, 0.1, 448.0, 1e30, -1e30, 1e-30, 2.0**-127]
CONSTANTS += [math.inf, -math.inf, math.nan, 1e300, -1e300]
CONSTANTS += [2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1, -(2**31), -(2**31) - 1, -(2**24) - 1]


@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_memset_of_each_data_type(dtype: str) -> None:
    # Integer tiles take integers only.
    constants = [c for c in CONSTANTS if isinstance(c, int) or dtype not in INTEGERS]
    calls = [call("memset", dst=Z, value=value) for value in constants]
    side_by_side(calls, dtype, shape=(2, 1)).check()


@pytest.mark.parametrize("dtype", PACKED_TYPES)
def test_memset_of_packed_data_types(dtype: str) -> None:
    arranged([call("memset", dst=Z, value=0)], dtype).check()


@each_form([call("memset", dst=Z, value=-1.5)], [form for form in FORMS if form.needs <= {"z"}])
def test_forms_of_memset(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype, filled).check()


@pytest.mark.parametrize(("engine", "buffer"), [("vector", "psum"), ("gpsimd", "sbuf")])
def test_engines_of_memset(engine: str, buffer: str) -> None:
    made = call("memset", dst=Z, value=3, engine=engine)
    arranged([made], buffers={"z": buffer}).check()


# -- unwritten elements ---------------------------------------------------------------------------


@pytest.mark.parametrize("buffer", ["sbuf", "psum", "shared_hbm"])
@pytest.mark.parametrize("dtype", ROUNDED_TYPES)
def test_unwritten_elements(dtype: str, buffer: str) -> None:
    copy = "tensor_copy" if buffer == "psum" else "dma_copy"
    calls = [
        call(copy, dst=Z[0:2, 2:5], src=X[0:2, 2:5]),
        call(copy, dst=Z[0:3, 6:9], src=Z[0:3, 4:7]),
    ]
    arranged(calls, dtype, tiles={"z": Tile(dtype, SHAPE, buffer)}).check(unwritten=True)


def test_unwritten_numbers_are_nan_and_unwritten_integers_4() -> None:
    tiles = {name: Tile(name, (1, 1)) for name in ("float16", *INTEGERS)}
    results = Program(tiles, []).run(unwritten=True)
    assert np.isnan(results.pop("float16"))
    assert {int(array[0, 0]) for array in results.values()} == {4}
