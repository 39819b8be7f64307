"""Kernels in functions that `torch.compile` reads: one operator per call, no graph breaks."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.classic import jit as classic_jit
from nkijit.classic import language as classic_nl

torch = pytest.importorskip("torch")

# PyTorch's compiler uses functions that PyTorch and Python have deprecated.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:torch.*"),
]

Sums = namedtuple("Sums", ["first", "second"])


@nki.jit
def scaled(x, factor=2.0, bias=None):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=factor)
    if bias is not None:
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=bias)
    nl.store(out, tile)
    return out


@nki.jit
def sums(pair, factors, dtype=nl.float32):
    """The sums of each row of two tensors, as a named tuple."""
    results = []
    for x, factor in zip(pair, factors["each"], strict=True):
        out = nl.ndarray((x.shape[0], 1), dtype=dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=factor)
        total = nl.ndarray((x.shape[0], 1), dtype=dtype, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
        nl.store(out, total)
        results.append(out)
    return Sums(*results)


@nki.jit
def as_dict(x, y):
    return {"x": x, "y": y}


@nki.jit
def overwrite(x, y):
    nl.store(x, nl.full(x.shape, 7, x.dtype))


@nki.jit
def halves(x):
    """Each core doubles its half of the rows."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = x.shape[0] // nl.num_programs(0)
    start = nl.program_id(0) * rows
    tile = nl.load(x[start : start + rows, :])
    nl.store(out[start : start + rows, :], nl.add(tile, tile))
    return out


@classic_jit
def classic_rows(x):
    """Each instance of the grid doubles 64 rows."""
    out = classic_nl.ndarray(x.shape, dtype=x.dtype, buffer=classic_nl.shared_hbm)
    start = classic_nl.program_id(0) * 64
    rows = start + classic_nl.arange(64)[:, None]
    columns = classic_nl.arange(x.shape[1])[None, :]
    classic_nl.store(out[rows, columns], classic_nl.load(x[rows, columns]) * 2.0)
    return out


def values(*shape):
    return torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape) / 7


@pytest.fixture
def compiled():
    """Compiles a function, without graph breaks; `.graphs` has the operators of each graph."""
    torch.compiler.reset()

    class Compiled:
        def __call__(self, function):
            self.graphs = []
            return torch.compile(function, fullgraph=True, backend=self.backend)

        def backend(self, module, inputs):
            from functorch.compile import make_boxed_func
            from torch._dynamo.backends.common import aot_autograd

            names = [str(n.target) for n in module.graph.nodes if n.op == "call_function"]
            own = [name.split(".")[1] for name in names if name.startswith("nkijit.")]
            self.graphs.append([name.rpartition("_")[0] for name in own])
            # With functionalisation and a second trace, as the default backend has.
            return aot_autograd(fw_compiler=lambda graph, _: make_boxed_func(graph.forward))(
                module, inputs
            )

    return Compiled()


def test_a_module_with_a_kernel(compiled):
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.kernel = scaled
            self.factor = 3.0

        def forward(self, x):
            return scaled(x + 1, bias=None) + self.kernel(x, factor=self.factor)

    module, x = Module(), values(128, 8)
    function = compiled(module)
    assert torch.equal(function(x), (x + 1) * 2 + x * 3)
    assert compiled.graphs == [["scaled", "scaled"]]
    # Other values and shapes are other specialisations.
    for module.factor in (4.0, 5.0, 6):
        assert torch.equal(function(x), (x + 1) * 2 + x * module.factor)
    for rows in (64, 32):
        assert torch.equal(function(x[:rows]), (x[:rows] + 1) * 2 + x[:rows] * 6)
    assert all(graph == ["scaled", "scaled"] for graph in compiled.graphs)


def test_tensors_in_containers_and_a_named_tuple_as_result(compiled):
    def function(x, y):
        found = sums((x, y), {"each": [2.0, 0.5]}, dtype=nl.bfloat16)
        return found.first, found.second + 1

    x, y = values(128, 8).to(torch.bfloat16), values(64, 4).to(torch.bfloat16)
    first, second = compiled(function)(x, y)
    expected = function(x, y)  # as tested in test_frameworks.py
    assert torch.equal(first, expected[0])
    assert torch.equal(second, expected[1])
    assert first.dtype == torch.bfloat16
    assert compiled.graphs == [["sums"]]


def test_data_types_and_dictionaries(compiled):
    def function(x):
        found = as_dict(x=x, y=x.to(torch.bfloat16))
        return sums((found["x"], x), {"each": (3, 1)}, dtype=torch.float32)[0], found["y"]

    x = values(128, 8)
    total, low = compiled(function)(x)
    assert torch.allclose(total, (x * 3).sum(dim=1, keepdim=True), rtol=1e-5)
    assert torch.equal(low, x.to(torch.bfloat16))


def test_written_tensors(compiled):
    def function(x, y):
        state = x * 2
        overwrite(state, y)
        overwrite(y, x)
        return state + x

    x, y = values(128, 8), values(128, 8)
    assert torch.equal(compiled(function)(x, y), x + 7)
    assert torch.equal(y, torch.full_like(y, 7))


def test_grids(compiled):
    x = values(128, 8)
    assert torch.equal(compiled(lambda x: halves[2](x) + 1)(x), x * 2 + 1)
    assert compiled.graphs == [["halves"]]
    assert torch.equal(compiled(lambda x: classic_rows[2](x))(x), x * 2)
    two = halves[2]
    assert torch.equal(compiled(lambda x: two(x))(x), x * 2)


def test_non_contiguous_tensors(compiled):
    x = values(8, 128)
    assert torch.equal(compiled(lambda x: scaled(x.t()))(x), x.t() * 2)
    wide = values(128, 16)
    assert torch.equal(compiled(lambda x: scaled(x[:, ::2]))(wide), wide[:, ::2] * 2)


def test_numpy_arrays(compiled):
    found = compiled(lambda x, y: as_dict(x, y)["y"] * 2)(values(128, 8), np.ones((2, 2), np.int32))
    assert torch.equal(torch.as_tensor(found), torch.full((2, 2), 2, dtype=torch.int32))


@dataclass
class Weights:
    w: object


@nki.jit
def of_object(x, weights):
    return x, weights.w


def test_mistakes_are_reported_while_compiling(compiled):
    x = values(128, 8)
    weights = Weights(x)
    for function, message in (
        (lambda x: scaled(x.reshape(1024)[:256].reshape(256, 1)), "at most 128 partitions"),
        (lambda x: scaled(x, torch.tensor(2.0)), "'factor' has no value yet"),
        (lambda x: scaled(x * torch.ones(1, requires_grad=True)), "scaled.with_backward"),
        (lambda x: of_object(x, weights), "'weights_w' .* is a tensor in an object"),
    ):
        with pytest.raises(Exception, match=message):
            compiled(function)(x)


def test_export_with_dynamo_has_one_node():
    class Module(torch.nn.Module):
        def forward(self, x):
            return halves[2](x) * 2

    x = values(128, 8)
    program = torch.export.export(Module(), (x,), strict=True)
    own = [n for n in program.graph.nodes if str(n.target).startswith("nkijit.halves_")]
    assert len(own) == 1
    assert torch.equal(program.module()(x), x * 4)


@pytest.mark.slow
def test_the_default_backend():
    import shutil

    if shutil.which("g++") is None:
        pytest.skip("the default backend compiles C++")
    torch.compiler.reset()

    def function(x, y):
        found = sums((x * 2, y), {"each": [2.0, 0.5]})
        return found.first + 1, found.second, scaled(x.t())

    x, y = values(64, 8), values(64, 4)
    found = torch.compile(function, fullgraph=True)(x, y)
    for one, other in zip(found, function(x, y), strict=True):
        assert torch.equal(one, other)
