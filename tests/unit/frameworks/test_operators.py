"""Kernels as custom operators of PyTorch: fake tensors, `torch.vmap`, gradients, `torch.export`."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.classic import jit as classic_jit
from nkijit.classic import language as classic_nl
from nkijit.frameworks.calls import ArgumentTypeError
from nkijit.passes.diagnostics.errors import NkiValidationError

torch = pytest.importorskip("torch")

# torch.export uses classes that PyTorch itself has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:`isinstance.treespec, LeafSpec:FutureWarning")


@nki.jit
def scaled(x, factor=2.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=factor)
    nl.store(out, tile)
    return out


@nki.jit
def sum_and_double(x, y):
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    double = nl.ndarray(y.shape, dtype=y.dtype, buffer=nl.shared_hbm)
    tile, sums = nl.load(x), nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=sums, op=nl.add, data=tile, axis=1)
    nl.store(total, sums)
    other = nl.load(y)
    nisa.tensor_scalar(dst=other, data=other, op0=nl.multiply, operand0=2.0)
    nl.store(double, other)
    return total, double


@nki.jit
def overwrite(x, y):
    """Write 7 to `x`."""
    nl.store(x, nl.full(x.shape, 7, x.dtype))


@classic_jit
def classic_scaled(x, factor=2.0):
    out = classic_nl.ndarray(x.shape, dtype=x.dtype, buffer=classic_nl.shared_hbm)
    classic_nl.store(out, classic_nl.load(x) * factor)
    return out


def fake_mode():
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode()


def nodes_of(program):
    """The operators of nkijit in the graph of an exported program, without their digests."""
    names = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    return [name.split(".")[1].rpartition("_")[0] for name in names if name.startswith("nkijit.")]


def values(*shape):
    return torch.arange(int(np.prod(shape)), dtype=torch.float32).reshape(shape) / 7


def test_fake_tensors_have_the_shapes_and_types_of_results():
    with fake_mode():
        total, double = sum_and_double(
            torch.empty(128, 64), torch.empty(128, 4, dtype=torch.bfloat16)
        )
    assert (total.shape, total.dtype) == ((128, 1), torch.float32)
    assert (double.shape, double.dtype) == ((128, 4), torch.bfloat16)
    assert double.device.type == "cpu"


def test_meta_tensors_have_no_data():
    result = scaled(torch.empty(128, 8, device="meta", dtype=torch.float16))
    assert result.is_meta
    assert result.dtype == torch.float16


def test_errors_of_a_kernel_on_fake_tensors_are_its_findings():
    with fake_mode(), pytest.raises(NkiValidationError, match="at most 128 partitions"):
        scaled(torch.empty(129, 8))
    with fake_mode(), pytest.raises(ArgumentTypeError, match="'factor' has no value yet"):
        scaled(torch.empty(128, 8), torch.tensor(2.0))


@pytest.mark.parametrize("kernel", [scaled, classic_scaled])
def test_an_exported_module_has_one_node_for_a_kernel(kernel):
    class Module(torch.nn.Module):
        def forward(self, x):
            return kernel(x + 1, factor=3.0) * 2

    x = values(128, 8)
    program = torch.export.export(Module(), (x,))
    assert nodes_of(program) == [kernel.__name__]
    assert torch.equal(program.module()(x), (x + 1) * 3.0 * 2)


def test_exported_modules_with_several_results_and_a_list():
    class Module(torch.nn.Module):
        def forward(self, x, y):
            total, double = sum_and_double(x, y)
            return {"total": total, "double": double}

    x, y = values(128, 64), values(128, 4).to(torch.bfloat16)
    program = torch.export.export(Module(), (x, y))
    assert nodes_of(program) == ["sum_and_double"]
    found = program.module()(x, y)
    assert torch.allclose(found["total"], x.sum(dim=1, keepdim=True), rtol=1e-5)
    assert torch.equal(found["double"], y * 2)


def test_the_schema_declares_written_tensors():
    class Module(torch.nn.Module):
        def forward(self, x, y):
            state = x * 2
            overwrite(state, y)
            return state + y

    x, y = values(128, 8), values(128, 8)
    program = torch.export.export(Module(), (x, y))
    node = next(n for n in program.graph.nodes if str(n.target).startswith("nkijit."))
    written = [(a.name, a.alias_info is not None) for a in node.target._schema.arguments]
    assert written == [("x", True), ("y", False)]
    assert torch.equal(program.module()(x, y), y + 7)
    # Functionalised: the graph of a run has no writes.
    assert torch.equal(program.run_decompositions().module()(x, y), y + 7)


def test_a_program_runs_in_a_process_that_has_defined_its_operator(tmp_path):
    (tmp_path / "kernels.py").write_text(
        """
import nkijit as nki
import nkijit.language as nl

@nki.jit
def doubled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.add(nl.load(x), nl.load(x)))
    return out
"""
    )
    save = """
import torch
from kernels import doubled

class Module(torch.nn.Module):
    def forward(self, x):
        return doubled(x)

torch.export.save(torch.export.export(Module(), (torch.ones(128, 8),)), "module.pt2")
"""
    load = """
import torch
from kernels import doubled

doubled(torch.empty(128, 8, device="meta"))
program = torch.export.load("module.pt2")
assert torch.equal(program.module()(torch.full((128, 8), 3.0)), torch.full((128, 8), 6.0))
"""
    for code in (save, load):
        subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, timeout=600)


# ---------------------------------------------------------------------- torch.vmap


def test_vmap_runs_the_kernel_for_each_element():
    x, y = values(3, 128, 8), values(128, 4)
    totals, doubles = torch.vmap(sum_and_double, in_dims=(0, None))(x, y)
    assert torch.allclose(totals, x.sum(dim=2, keepdim=True), rtol=1e-5)
    assert torch.equal(doubles, (y * 2).expand(3, 128, 4))
    assert torch.equal(torch.vmap(scaled, in_dims=2)(x.permute(1, 2, 0)), x * 2)
    assert torch.equal(torch.vmap(torch.vmap(scaled))(values(2, 3, 8, 4)), values(2, 3, 8, 4) * 2)


def test_vmap_refuses_kernels_that_write_arguments():
    with pytest.raises(ArgumentTypeError, match=r"torch.vmap of kernel 'overwrite'.*argument 'x'"):
        torch.vmap(lambda x: overwrite(x, x[:1].clone()))(torch.ones(2, 128, 8))


# ---------------------------------------------------------------------- gradients


def test_a_kernel_without_a_backward_kernel_names_what_is_missing():
    x = torch.ones(128, 8, requires_grad=True)
    with pytest.raises(ArgumentTypeError, match=r"'x' requires grad.*scaled.with_backward"):
        scaled(x)
    with pytest.raises(ArgumentTypeError, match=r"scaled.with_backward"):
        torch.func.grad(lambda x: scaled(x).sum())(torch.ones(128, 8))
    assert torch.equal(scaled(x.detach()), x.detach() * 2)


def test_tensors_that_require_grad_can_be_traced():
    x = torch.ones(128, 8, requires_grad=True)
    assert scaled.trace(x) is scaled.trace(x.detach())


def test_non_contiguous_tensors_as_operators():
    x = values(8, 128)
    with_vmap = torch.vmap(scaled)(x.t().unsqueeze(0))
    assert torch.equal(with_vmap[0], x.t() * 2)
    strided = values(128, 16)[:, ::2]
    assert torch.equal(torch.vmap(scaled)(strided.unsqueeze(0))[0], strided * 2)
