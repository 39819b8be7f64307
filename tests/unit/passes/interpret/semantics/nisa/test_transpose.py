"""dma_transpose."""

from __future__ import annotations

from typing import Any

import pytest
from support.nisa.harness import ALL, Program, Tile, View, X, Z, any_bits, call, filled

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.isa import NkiValidationError

TRANSPOSE = call("dma_transpose", dst=Z, src=X)
AXES = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
SHAPES = [(16, 128), (1, 1), (128, 1), (1, 128), (7, 5), (5, 3, 4), (16, 2, 128), (3, 2, 5, 4)]
TYPES = (
    "float32",
    "tfloat32",
    "bfloat16",
    "float16",
    "int32",
    "uint32",
    "int16",
    "uint16",
    "float8_e4m3fn_x4",
    "float4_e2m1fn_x4",
)


def transposed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(shape[axis] for axis in AXES[len(shape)])


@pytest.mark.parametrize("dtype", TYPES)
def test_data_types(dtype: str) -> None:
    tiles = {"x": any_bits(dtype, (6, 9)), "z": Tile(dtype, (9, 6))}
    results = Program(tiles, [TRANSPOSE]).run()
    assert results["z"].tobytes() == tiles["x"].data.T.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape: tuple[int, ...], given: bool, dtype: str) -> None:
    axes = {"axes": AXES[len(shape)]} if given else {}
    made = call("dma_transpose", **TRANSPOSE.arguments, **axes)
    tiles = {"x": filled(dtype, shape), "z": Tile(dtype, transposed(shape))}
    Program(tiles, [made]).check()


@pytest.mark.parametrize("shape", [(16, 100), (4, 8, 9), (2, 3, 8, 5)], ids=str)
def test_hardware_dge_moves_the_same(shape: tuple[int, ...]) -> None:
    made = call("dma_transpose", **TRANSPOSE.arguments, dge_mode="hwdge", priority=2)
    tiles = {"x": filled("bfloat16", shape), "z": Tile("bfloat16", transposed(shape))}
    Program(tiles, [made]).check()


LAYOUTS = {
    "strided": ((6, 20), X[:, 1:19:2], (9, 6), Z),
    "partition-32": ((40, 9), X[32:38], (9, 6), Z),
    "permuted": ((6, 4, 3), X.then("permute", (0, 2, 1)), (4, 3, 6), Z),
    "into-a-part": ((6, 9), X, (41, 14), Z[32:41, 1:13:2]),
    "into-permuted": ((5, 3, 4), X, (4, 5, 3), Z.then("permute", (0, 2, 1))),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    shape, x, result, z = LAYOUTS[layout]
    tiles = {"x": filled("float32", shape), "z": filled("float32", result, seed=1)}
    Program(tiles, [call("dma_transpose", dst=z, src=x)]).check()


@pytest.mark.parametrize(
    ("z", "x"),
    [(X, X), (X[0:4, 1:5], X[0:4, 0:4]), (X[1:5, 0:4], X[0:4, 0:4])],
    ids=["in-place", "to-the-right", "below"],
)
def test_onto_its_source(z: View, x: View) -> None:
    tiles = {"x": filled("float32", (5, 5))}
    Program(tiles, [call("dma_transpose", dst=z, src=x)]).check()


@nki.jit
def from_hbm(x: Any) -> Any:
    out = nl.ndarray((8, 2, 5), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((8, 2, 5), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(tile, x[1:6, :, 3:11])
    nisa.dma_copy(out, tile)
    return out


def test_from_hbm() -> None:
    x = filled("float16", (7, 2, 12)).data
    assert from_hbm(x).tobytes() == x[1:6, :, 3:11].transpose(2, 1, 0).tobytes()


@pytest.mark.parametrize("argument", [{"axes": "ab"}, {"axes": 1.5}, {"priority": 1.5}], ids=str)
def test_wrong_arguments_are_reported_at_the_authors_line(argument: dict[str, Any]) -> None:
    @nki.jit
    def wrong(x: Any) -> None:
        tile = nl.ndarray((9, 6), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_transpose(tile, x[ALL], **argument)

    with pytest.raises(NkiValidationError, match=r"expected(.|\n)*test_transpose\.py:\d+"):
        wrong(filled("float32", (6, 9)).data)
