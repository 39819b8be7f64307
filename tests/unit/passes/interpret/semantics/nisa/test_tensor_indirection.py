"""Tensor indirection: operands whose elements an index tile names, in every instruction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from support.nisa.harness import (
    ALL,
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
    call,
    filled,
    holding,
    whole_numbers,
)
from support.nisa.naive_indirect import GROUP, ON_THE_TENSOR_ENGINE, TENSOR_ENGINE_GROUP

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.access import Indirection
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.isa import NkiValidationError
from nkijit.passes.interpret.records.errors import InterpretationError

WIDTH, ELEMENTS = 24, 10
"""Elements per partition of a tile that is addressed with numbers, and how many are named."""


@dataclass(frozen=True)
class Case:
    """A call, the operands that document indirection, and tiles that are not the usual ones."""

    made: Call
    operands: tuple[str, ...]
    dtypes: dict[str, str] = field(default_factory=dict[str, str])
    whole: bool = False
    """Hold small integers: accumulators and matmuls are exact then."""

    def __str__(self) -> str:
        return str(self.made)


def case(instruction: str, operands: str, dtypes: dict[str, str] | None = None, **a: Any) -> Case:
    whole = any(name in a for name in ("reduce_res", "reduce_op")) or "cumul" in instruction
    return Case(call(instruction, **a), tuple(operands.split()), dtypes or {}, whole)


CASES = [
    case("tensor_copy", "dst src", dst=Z, src=X),
    case("tensor_copy", "dst src", dst=Z, src=X, engine="scalar"),
    case(
        "tensor_copy_predicated",
        "dst predicate",
        {"x": "uint8"},
        dst=Z,
        src=Y,
        predicate=X,
    ),
    case("tensor_tensor", "dst data1", dst=Z, data1=X, data2=Y, op="subtract"),
    case("tensor_tensor", "dst data1", dst=Z, data1=X, data2=Y, op="add", engine="gpsimd"),
    case("tensor_scalar", "dst data", dst=Z, data=X, op0="multiply", operand0=C),
    case("tensor_scalar", "dst data", dst=Z, data=X, op0="add", operand0=2.0, engine="scalar"),
    case("tensor_scalar", "dst data", dst=Z, data=X, op0="rsqrt", operand0=None, engine="gpsimd"),
    case(
        "tensor_scalar_reduce",
        "dst data",
        dst=Z,
        data=X,
        op0="subtract",
        operand0=C,
        reduce_op="add",
        reduce_res=R,
    ),
    case("tensor_scalar_cumulative", "dst src", dst=Z, src=X, op0="add", op1="maximum", imm0=1.0),
    case("tensor_reduce", "dst data", {}, dst=Z, op="maximum", data=X, axis=1, keepdims=True),
    case("activation", "dst data", dst=Z, op="square", data=X, bias=C, scale=2.0),
    case(
        "activation_reduce",
        "dst data",
        dst=Z,
        op="copy",
        data=X,
        reduce_op="add",
        reduce_res=R,
    ),
    case(
        "activate2", "dst data", dst=Z, op="relu", data=X, imm0=C, imm1=D, op0="multiply", op1="add"
    ),
    case("exponential", "dst src", dst=Z, src=X, max_value=C),
]
MATMUL = case(
    "nc_matmul",
    "dst stationary moving",
    {"x": "bfloat16", "y": "bfloat16"},
    dst=Z,
    stationary=X,
    moving=Y,
    accumulate=False,
)


def test_every_operand_that_takes_indirection_is_tried() -> None:
    declared = {
        (op.SPEC.name, f.name)
        for op in INSTRUCTIONS
        for f in op.SPEC.operand_fields
        if Indirection.tensor in getattr(f.kind, "indirections", ())
    }
    tried = {(c.made.instruction, name) for c in (*CASES, MATMUL) for name in c.operands}
    tried |= {("nc_matmul_mx", name) for name in MX_OPERANDS}
    assert tried == declared


def index_tile(instruction: str, partitions: int, count: int, seed: int, *, repeats: bool) -> Tile:
    """Numbers of elements, none of them twice in a partition unless they may repeat."""
    size = TENSOR_ENGINE_GROUP if instruction in ON_THE_TENSOR_ENGINE else GROUP
    heights = [min(size, partitions - first) for first in range(0, partitions, size)]
    columns = -(-count // min(heights))
    random = np.random.default_rng(seed)
    # Unused indices can be out of bounds.
    numbers = np.full((partitions, columns), WIDTH, np.int32)
    for group, height in enumerate(heights):
        picked = random.choice(WIDTH, count, replace=repeats)
        for i, number in enumerate(picked):
            numbers[group * size + i % height, i // height] = number
    return holding("int32", numbers)


def program(c: Case, names: tuple[str, ...], partitions: int, count: int) -> Program:
    """The call, with these of its operands in wider tiles and addressed with numbers."""
    made = c.made
    fill = whole_numbers if c.whole or made.instruction == "nc_matmul" else filled
    tiles: dict[str, Tile] = {}
    changes: dict[str, View] = {}
    for seed, (name, view) in enumerate(made.views.items()):
        rows = partitions
        if made.instruction == "nc_matmul" and name == "dst":
            rows = count
        elements = 1 if view in (C, D, R) else count
        if made.instruction == "tensor_reduce" and name == "dst":
            elements = 1
        if name in names:
            index = View(f"i{view.tile}")
            repeats = name != "dst"
            tiles[index.tile] = index_tile(made.instruction, rows, elements, seed, repeats=repeats)
            changes[view.tile] = view.indirect(index, elements)
            elements = WIDTH
        dtype = c.dtypes.get(view.tile, "float32")
        buffer = "psum" if made.instruction == "nc_matmul" and name == "dst" else "sbuf"
        tiles[view.tile] = fill(dtype, (rows, elements), buffer, seed)
    return Program(tiles, [made.with_views(changes)])


def each_operand(cases: list[Case]) -> list[Any]:
    return [
        pytest.param(c, names, id=f"{c}-{'+'.join(names)}")
        for c in cases
        for names in (*((name,) for name in c.operands), c.operands)
    ]


@pytest.mark.parametrize("partitions", [1, 16, 17, 32, 128])
@pytest.mark.parametrize(("c", "names"), each_operand(CASES))
def test_each_operand(c: Case, names: tuple[str, ...], partitions: int) -> None:
    program(c, names, partitions, ELEMENTS).check()


@pytest.mark.parametrize("partitions", [1, 16, 17, 32, 33, 64, 128])
@pytest.mark.parametrize(("c", "names"), each_operand([MATMUL]))
def test_each_operand_of_matmuls(c: Case, names: tuple[str, ...], partitions: int) -> None:
    program(c, names, partitions, ELEMENTS).check()


@pytest.mark.parametrize("count", [1, 15, 16, 17, 24])
@pytest.mark.parametrize("partitions", [5, 16, 48])
def test_fewer_numbers_than_there_are(partitions: int, count: int) -> None:
    program(CASES[0], ("dst", "src"), partitions, count).check()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8", "uint32", "float8_e5m2"])
@pytest.mark.parametrize(("c", "names"), each_operand([CASES[0], CASES[3]]))
def test_data_types(c: Case, names: tuple[str, ...], dtype: str) -> None:
    made = Case(c.made, c.operands, {"x": dtype, "z": "bfloat16"})
    program(made, names, 32, ELEMENTS).check()
    made = Case(c.made, c.operands, {"z": dtype})
    program(made, names, 32, ELEMENTS).check()


def numbers(*values: int, dtype: str = "int32") -> Tile:
    """Numbers for a tile of as many partitions."""
    return holding(dtype, [[value] for value in values])


INDEX, OTHER = View("i"), View("j")
COPY = call("tensor_copy", dst=Z, src=X)


def test_the_documented_order() -> None:
    """Number i is in row i % G and column i // G."""
    x = holding("float32", np.arange(16 * 40).reshape(16, 40))
    i = holding("uint32", np.arange(32).reshape(2, 16).T)
    made = COPY.with_views({"x": X.indirect(INDEX, 32)})
    results = Program({"x": x, "i": i, "z": Tile("float32", (16, 32))}, [made]).run()
    assert (results["z"] == x.data[:, :32]).all()


@pytest.mark.parametrize("num_elem", [None, 32])
def test_all_numbers_are_the_default(num_elem: int | None) -> None:
    @nki.jit
    def reversed_(x: Any, i: Any) -> Any:
        tile, index = nl.load(x), nl.load(i)
        view = tile.indirect(index) if num_elem is None else tile.indirect(index, num_elem)
        assert view.shape == (16, 32)
        assert view.is_indirect()
        result = nl.ndarray((16, 32), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(result, view)
        out = nl.ndarray((16, 32), dtype=nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(out, result)
        return out

    x = np.arange(16 * 32, dtype=np.float32).reshape(16, 32)
    i = np.arange(32)[::-1].reshape(2, 16).T.astype(np.int32)
    assert (reversed_(x, i) == x[:, ::-1]).all()


LAYOUTS = {
    "3-D": ((16, 4, 6), ()),
    "permuted": ((16, 6, 4), (("permute", (0, 2, 1)),)),
    "strided": ((16, 49), (("__getitem__", (ALL, slice(1, None, 2))),)),
    "partition-32": ((48, 24), (("__getitem__", slice(32, 48)),)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("buffer", ["sbuf", "psum"])
def test_layouts(layout: str, buffer: str) -> None:
    shape, steps = LAYOUTS[layout]
    tiles = {
        "i": index_tile("tensor_copy", 16, 20, 1, repeats=True),
        "j": index_tile("tensor_copy", 16, 20, 2, repeats=False),
        "x": filled("float32", shape, buffer, 3),
        "z": filled("float32", shape, buffer, 4),
    }
    views = {"x": View("x", steps).indirect(INDEX, 20), "z": View("z", steps).indirect(OTHER, 20)}
    Program(tiles, [COPY.with_views(views)]).check()


@pytest.mark.parametrize("index", ["same", "other"])
def test_in_place(index: str) -> None:
    """Everything is read before anything is written."""
    tiles = {
        "i": index_tile("tensor_copy", 16, 20, 1, repeats=False),
        "j": index_tile("tensor_copy", 16, 20, 2, repeats=False),
        "x": filled("float32", (16, WIDTH)),
        "c": filled("float32", (16, 1)),
    }
    made = call("tensor_scalar", dst=Z, data=X, op0="add", operand0=C)
    into = X.indirect(INDEX if index == "same" else OTHER, 20)
    made = Call(made.instruction, made.arguments | {"dst": into, "data": X.indirect(INDEX, 20)})
    Program(tiles, [made]).check()


def test_a_static_destination_over_its_indirect_source() -> None:
    tiles = {
        "i": index_tile("tensor_copy", 16, WIDTH, 1, repeats=True),
        "x": filled("float32", (16, WIDTH)),
    }
    Program(tiles, [call("tensor_copy", dst=X, src=X.indirect(INDEX, WIDTH))]).check()


def test_indices_are_read_when_the_instruction_runs() -> None:
    tiles = {
        "i": index_tile("tensor_copy", 16, 8, 1, repeats=True),
        "j": index_tile("tensor_copy", 16, 8, 2, repeats=True),
        "x": filled("float32", (16, WIDTH)),
        "z": Tile("float32", (16, 16)),
    }
    calls = [
        call("tensor_copy", dst=Z[:, 0:8], src=X.indirect(INDEX, 8)),
        call("tensor_copy", dst=INDEX, src=OTHER),
        call("tensor_copy", dst=Z[:, 8:16], src=X.indirect(INDEX, 8)),
    ]
    Program(tiles, calls).check()


def test_elements_outside_the_scatter_stay_unwritten() -> None:
    tiles = {
        "i": index_tile("tensor_copy", 16, 8, 1, repeats=False),
        "x": filled("float32", (16, 8)),
        "z": Tile("float32", (16, WIDTH)),
    }
    Program(tiles, [call("tensor_copy", dst=Z.indirect(INDEX, 8), src=X)]).check()


# -- matmuls --------------------------------------------------------------------------------------


@pytest.mark.parametrize("accumulate", [True, False])
def test_a_matmul_accumulates_where_it_scatters(accumulate: bool) -> None:
    tiles = {
        "x": whole_numbers("bfloat16", (32, 16), seed=1),
        "y": whole_numbers("bfloat16", (32, WIDTH), seed=2),
        "i": index_tile("nc_matmul", 16, 8, 1, repeats=False),
        "z": Tile("float32", (16, WIDTH), "psum"),
    }
    calls = [
        call("nc_matmul", dst=Z, stationary=X, moving=Y, accumulate=False),
        call(
            "nc_matmul",
            dst=Z.indirect(INDEX, 8),
            stationary=X,
            moving=Y[:, 0:8],
            accumulate=accumulate,
        ),
    ]
    Program(tiles, calls).check()


@pytest.mark.parametrize("name", ["dst", "stationary"])
def test_transpose_mode(name: str) -> None:
    one_hot = np.eye(32)[:, np.random.default_rng(3).permutation(32)]
    tiles = {
        "x": filled("bfloat16", (32, WIDTH if name == "stationary" else 10), seed=1),
        "y": holding("bfloat16", one_hot),
        "i": index_tile("nc_matmul", 10 if name == "dst" else 32, 10, 1, repeats=False),
        "z": filled("bfloat16", (10, 32), "psum"),
    }
    made = call("nc_matmul", dst=Z, stationary=X, moving=Y, is_transpose=True)
    if name == "stationary":
        made = made.with_views({"x": X.indirect(INDEX, 10)})
    else:
        tiles["y"] = holding("bfloat16", one_hot[:, :10])
        tiles["z"] = filled("bfloat16", (10, WIDTH), "psum")
        made = made.with_views({"z": Z.indirect(INDEX, 10)})
    Program(tiles, [made]).check()


@pytest.mark.parametrize("scattered_first", [True, False])
def test_accumulate_none_needs_known_addresses(scattered_first: bool) -> None:
    scatter = call("nc_matmul", dst=Z.indirect(INDEX, 8), stationary=X, moving=Y)
    static = call("nc_matmul", dst=Z[:, 0:8], stationary=X, moving=Y)
    tiles = {
        "x": whole_numbers("bfloat16", (32, 16), seed=1),
        "y": whole_numbers("bfloat16", (32, 8), seed=2),
        "i": index_tile("nc_matmul", 16, 8, 1, repeats=False),
        "z": Tile("float32", (16, WIDTH), "psum"),
    }
    said = Call("nc_matmul", scatter.arguments | {"accumulate": False})
    calls = [said, static] if scattered_first else [static, scatter]
    with pytest.raises(InterpretationError, match="said with accumulate="):
        Program(tiles, calls).run()


MX_OPERANDS = ("dst", "stationary", "stationary_scale", "moving", "moving_scale")


@pytest.mark.parametrize("partitions", [32, 128])
@pytest.mark.parametrize("names", ["dst", "stationary", "moving", "dst stationary moving"])
def test_matmuls_of_packed_data(names: str, partitions: int) -> None:
    """Data and its scales are addressed with the same numbers."""
    random = np.random.default_rng(1)
    made = call(
        "nc_matmul_mx",
        dst=Z,
        stationary=X,
        moving=Y,
        stationary_scale=View("sx"),
        moving_scale=View("sy"),
        accumulate=False,
    )
    tiles: dict[str, Tile] = {}
    changes: dict[str, View] = {}
    for name, data, scale, columns in (("stationary", "x", "sx", 4), ("moving", "y", "sy", 6)):
        width = WIDTH if name in names else columns
        bits = random.integers(0, 2**32, (partitions, width)) & 0x3F3F3F3F
        tiles[data] = Tile("float8_e4m3fn_x4", bits.shape, data=bits.astype(np.uint32))
        tiles[scale] = holding("uint8", random.integers(125, 129, bits.shape))
        if name in names:
            index = View(f"i{data}")
            tiles[index.tile] = index_tile("nc_matmul_mx", partitions, columns, 2, repeats=True)
            changes |= {part: View(part).indirect(index, columns) for part in (data, scale)}
    tiles["z"] = filled("float32", (4, WIDTH if "dst" in names else 6), "psum")
    if "dst" in names:
        tiles["iz"] = index_tile("nc_matmul_mx", 4, 6, 3, repeats=False)
        changes["z"] = Z.indirect(View("iz"), 6)
    Program(tiles, [made.with_views(changes)]).check()


# -- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [-1, WIDTH])
@pytest.mark.parametrize("name", ["dst", "src"])
def test_indices_out_of_bounds_end_the_run(name: str, wrong: int) -> None:
    tiles = {
        "i": numbers(*range(15), wrong),
        "x": filled("float32", (16, WIDTH if name == "src" else 16)),
        "z": filled("float32", (16, WIDTH if name == "dst" else 16)),
    }
    changes = {"z": Z.indirect(INDEX, 16)} if name == "dst" else {"x": X.indirect(INDEX, 16)}
    expected = rf"'{name}' is out of bounds: %i\[15, 0\] is {wrong}; 1 of 16 is out of 0 to 23"
    with pytest.raises(InterpretationError, match=expected):
        Program(tiles, [COPY.with_views(changes)]).run()


def _kernel(index: Any, num_elem: Any, second: bool, buffer: str) -> nki.Kernel:
    @nki.jit
    def wrong(x: Any) -> None:
        numbers = nl.ndarray((16, 1), dtype=nl.int32, buffer=nl.sbuf)
        tile = nl.ndarray((16, 8), dtype=nl.float32, buffer=getattr(nl, buffer))
        view = tile.indirect(numbers if index is None else index, num_elem)
        if second:
            view.indirect(numbers)

    return wrong


@pytest.mark.parametrize(
    ("index", "num_elem", "second", "buffer", "message"),
    [
        ([0, 1], None, False, "sbuf", r"index is \[0, 1\]; legal: a tensor"),
        (None, 0, False, "sbuf", "num_elem is 0; legal: an int of at least 1"),
        (None, 1.5, False, "sbuf", "num_elem is 1.5; legal: an int of at least 1"),
        (None, None, True, "sbuf", "the view is indirect already"),
        (None, None, False, "private_hbm", "indirect of a tensor in HBM"),
    ],
)
def test_wrong_views_are_reported_at_the_authors_line(
    index: Any, num_elem: Any, second: bool, buffer: str, message: str
) -> None:
    with pytest.raises(NkiValidationError, match=rf"{message}(.|\n)*\.py:\d+"):
        _kernel(index, num_elem, second, buffer).trace(np.zeros((1, 1), np.float32))


def test_wrong_operands_are_reported_at_the_authors_line() -> None:
    @nki.jit
    def wrong(x: Any) -> None:
        index = nl.ndarray((16, 1), dtype=nl.int32, buffer=nl.sbuf)
        tile = nl.ndarray((16, 16), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(tile.indirect(index), tile, engine=nisa.engine.gpsimd)
        nisa.tensor_tensor(tile, tile, tile.indirect(index), op=nl.add)

    with pytest.raises(NkiValidationError) as raised:
        wrong(np.zeros((1, 1), np.float32))
    found = str(raised.value)
    assert "error[indirect-engine]: nisa.tensor_copy" in found
    assert "error[indirect-operand]: nisa.tensor_tensor: 'data2'" in found
    assert found.count("test_tensor_indirection.py:") >= 2


@pytest.mark.parametrize("target", ["trn1", "trn2"])
def test_older_generations_have_none(target: str) -> None:
    tiles = {
        "i": numbers(*range(16)),
        "x": filled("float32", (16, WIDTH)),
        "z": Tile("float32", (16, 16)),
    }
    made = COPY.with_views({"x": X.indirect(INDEX, 16)})
    with pytest.raises(NkiValidationError, match="tensor indirection needs NeuronCore-v4"):
        Program(tiles, [made], target).run()
