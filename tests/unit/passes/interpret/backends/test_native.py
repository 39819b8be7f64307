"""Native code gives the bits that NumPy gives, and takes over without being noticed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.backends import natively
from support.fresh_process import in_fresh_process

import nkijit as nki
from nkijit import isa as nisa
from nkijit import language as nl
from nkijit.dialects.disk_cache import DiskCache
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.interpret.backends import choice
from nkijit.passes.interpret.backends.choice import on_backend
from nkijit.passes.interpret.backends.native.compiler import CACHE_VARIABLE, Compiler
from nkijit.passes.interpret.backends.native.forms import CONVERTED
from nkijit.passes.interpret.backends.native.graphs import Graph, Node, Traced
from nkijit.passes.interpret.backends.native.layouts import merged, refined, strides_in
from nkijit.passes.interpret.backends.native.ufuncs import LoopError, loop_of
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.errors import InterpretationError

P, F = 128, 96


def plan_of(kernel: Any, *inputs: Any) -> Plan:
    """The plan of a kernel on one core."""
    (ir,) = kernels_of(kernel.trace(*inputs).module)
    return Plan(ir)


def on_both(kernel: Any, *inputs: Any) -> list[Any]:
    """The results of NumPy, after they were compared with those of native code, run twice."""
    traced = kernel.trace(*inputs)
    expected = np.asarray(traced.run(*inputs))
    with natively():
        for _ in range(2):
            assert_alike(np.asarray(traced.run(*inputs)), expected)
        report = traced.backend
    assert report.numpy == 0, str(report)
    return expected


def assert_alike(actual: Any, expected: Any) -> None:
    """Fail unless two arrays have the same bits, but for those of NaN."""
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    if actual.dtype.kind not in "biu":
        nan = np.asarray(np.nan, actual.dtype)
        with np.errstate(invalid="ignore"):  # signalling NaN
            actual, expected = (np.where(np.isnan(a), nan, a) for a in (actual, expected))
    assert actual.tobytes() == expected.tobytes()


def every_exponent(count: int = 1 << 15) -> Any:
    """float32 of all exponents, with mantissas near where narrow types have their ties."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    ties = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFF, 0x1000, 0x1001, 0x1FFF], np.uint32)
    some = (bits & np.uint32(0xFFFF0000)) | rng.choice(ties, count)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 2**31, -(2**31), 2**32], np.float32)
    near = (rng.integers(-70000, 70000, count) / 2).astype(np.float32)
    found = np.concatenate([bits.view(np.float32), some.view(np.float32), near, special])
    return np.resize(found, (P, -(-len(found) // P)))


# -- data types -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(CONVERTED))
def test_every_value_is_rounded_and_loaded_as_by_numpy(name):
    dtype = getattr(nl, name)

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
        a = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
        narrow = nl.ndarray(x.shape, dtype, buffer=nl.sbuf)
        wide = nl.ndarray(x.shape, nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(a, x)
        nisa.tensor_copy(narrow, a)
        nisa.tensor_copy(wide, narrow)
        # Another instruction reads the narrow tile, so it is stored.
        nisa.tensor_tensor(wide, wide, narrow, op=nl.maximum)
        nisa.dma_copy(out, wide)
        return out

    on_both(kernel, every_exponent())


def test_every_narrow_float_is_loaded_as_by_numpy():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
        nisa.dma_copy(out, x)
        return out

    patterns = np.arange(1 << 16, dtype=np.uint16).reshape(P, -1)
    for dtype in (np.float16, ml_dtypes.bfloat16):
        on_both(kernel, patterns.view(dtype))
    small = np.arange(1 << 8, dtype=np.uint8).reshape(P, -1)
    for dtype in (ml_dtypes.float8_e4m3, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        on_both(kernel, small.view(dtype))


# -- fusion ---------------------------------------------------------------------------------------


def tile(dtype=nl.float32, shape=(P, F), buffer=nl.sbuf):
    return nl.ndarray(shape, dtype, buffer=buffer)


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


@nki.jit
def rounded_between(x):
    """The bfloat16 intermediate is rounded, though it is not stored."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b, c = tile(), tile(nl.bfloat16), tile()
    nisa.dma_copy(a, x)
    nisa.tensor_scalar(b, a, op0=nl.multiply, operand0=1.001)
    nisa.tensor_scalar(c, b, op0=nl.add, operand0=0.1)
    nisa.dma_copy(out, c)
    return out


@nki.jit
def source_changes(x):
    """A copy is not read where it came from when something else is there by then."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b, c = tile(), tile(), tile()
    nisa.dma_copy(a, x)
    nisa.tensor_copy(b, a)
    nisa.tensor_scalar(a, a, op0=nl.multiply, operand0=3.0)
    nisa.tensor_tensor(c, a, b, op=nl.subtract)
    nisa.dma_copy(out, c)
    return out


@nki.jit
def destination_is_read(x):
    """Results do not go to where they are copied while something still reads that."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b, c = tile(), tile(), tile()
    nisa.dma_copy(a, x)
    nisa.tensor_scalar(b, a, op0=nl.multiply, operand0=2.0)
    nisa.activation(c, op=nl.square, data=a)
    nisa.tensor_copy(a, b)
    nisa.tensor_tensor(c, c, a, op=nl.add)
    nisa.dma_copy(out, c)
    return out


@nki.jit
def operand_changes(x):
    """A value is not recomputed after an operand tile has changed."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b, c = tile(), tile(), tile()
    nisa.dma_copy(a, x)
    nisa.tensor_scalar(b, a, op0=nl.multiply, operand0=2.0)
    nisa.tensor_scalar(a, a, op0=nl.add, operand0=3.0)
    nisa.tensor_tensor(c, a, b, op=nl.subtract)
    nisa.dma_copy(out, c)
    return out


@nki.jit
def destination_is_read_elsewhere(x):
    """Nor do results go early to a tile that they are not computed from."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b, c, d = tile(), tile(), tile(), tile()
    nisa.dma_copy(a, x)
    nisa.tensor_scalar(d, a, op0=nl.add, operand0=1.0)
    nisa.tensor_scalar(b, a, op0=nl.multiply, operand0=2.0)
    nisa.activation(c, op=nl.square, data=d)
    nisa.tensor_copy(d, b)
    nisa.tensor_tensor(c, c, d, op=nl.add)
    nisa.dma_copy(out, c)
    return out


@nki.jit
def shifted_onto_itself(x):
    """A tile that is written beside where it was read is not written while it is read."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b = tile(), tile(shape=(P, F - 1))
    nisa.dma_copy(a, x)
    nisa.tensor_scalar(b, a[:, 0 : F - 1], op0=nl.multiply, operand0=2.0)
    nisa.tensor_copy(a[:, 1:F], b)
    nisa.dma_copy(out, a)
    return out


@nki.jit
def sum_shifted_onto_itself(x):
    """The same, where the last step computes."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b = tile(), tile(shape=(P, F - 1))
    nisa.dma_copy(a, x)
    nisa.tensor_scalar(b, a[:, 0 : F - 1], op0=nl.multiply, operand0=2.0)
    nisa.tensor_scalar(a[:, 1:F], b, op0=nl.add, operand0=1.0)
    nisa.dma_copy(out, a)
    return out


@nki.jit
def read_in_another_order(x):
    """A value with one use is fused only if its elements are read in order."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b, c = tile(), tile(), tile()
    nisa.dma_copy(a, x)
    nisa.tensor_scalar(b, a, op0=nl.multiply, operand0=2.0)
    turned = b.ap([[F, P], [1, 4], [4, F // 4]])
    nisa.tensor_scalar(c.reshape((P, 4, F // 4)), turned, op0=nl.add, operand0=1.0)
    nisa.dma_copy(out, c)
    return out


@nki.jit
def one_number_of_each_row(x):
    """A value per row is used for all elements of the row."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b, c = tile(), tile(shape=(P, 1)), tile()
    nisa.dma_copy(a, x)
    nisa.tensor_scalar(b, a[:, 3:4], op0=nl.multiply, operand0=2.0)
    nisa.tensor_scalar(c, a, op0=nl.add, operand0=b)
    nisa.dma_copy(out, c)
    return out


@nki.jit
def halves_of_a_copy(x):
    """A copy is seen through as another data type: the high and the low halves of float32."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b, c = tile(), tile(), tile()
    nisa.dma_copy(a, x)
    nisa.tensor_copy(b, a)
    halves = b.view(nl.bfloat16)
    nisa.tensor_tensor(c, halves[:, 0 : 2 * F : 2], halves[:, 1 : 2 * F : 2], op=nl.maximum)
    nisa.tensor_tensor(a, a, c, op=nl.add)
    nisa.dma_copy(out, a)
    return out


@nki.jit
def moved_onto_itself(x):
    """Copies, conversions and transposes whose ends overlap."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a = tile()
    nisa.dma_copy(a, x)
    nisa.tensor_copy(a[:, 1:F], a[:, 0 : F - 1])
    nisa.tensor_scalar(a[:, 0 : F - 2], a[:, 2:F], op0=nl.add, operand0=1.0)
    nisa.nc_transpose(a[0:32, 16:48], a[0:32, 0:32], engine=nisa.engine.vector)
    nisa.tensor_copy(a.view(nl.bfloat16)[:, 0:F], a)
    nisa.dma_copy(out, a)
    return out


@nki.jit
def elements_written_twice(x):
    """Copies and sums, each into as many elements as a tile has, some of them several times."""
    out = nl.ndarray((4, *x.shape), nl.float32, buffer=nl.shared_hbm)
    a = tile()
    nisa.dma_copy(a, x)
    cube = a.reshape((P, 8, 12))
    patterns = [[F, P], [1, 8], [0, 12]], [[F, P], [4, 8], [1, 12]]
    for number, pattern in enumerate((*patterns, *patterns)):
        part, result = tile().ap(pattern), tile()
        if number < 2:
            nisa.tensor_copy(part, cube)
        else:
            nisa.tensor_scalar(part, cube, op0=nl.add, operand0=1.0)
        nisa.tensor_scalar(result.reshape((P, 8, 12)), part, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(out[number], result)
    return out


@nki.jit
def pieces(x):
    """Views of a copy, with steps and in another order."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    a, b = tile(), tile()
    nisa.dma_copy(a, x)
    nisa.tensor_scalar(b[:, 0 : F // 2], a[:, F // 2 : F], op0=nl.add, operand0=1.0)
    nisa.tensor_copy(b[:, F // 2 : F], a[:, 0:F:2])
    nisa.dma_copy(out, b)
    return out


@nki.jit
def columns(x):
    """Results of rows, in accumulators, with other results that are not read."""
    out = nl.ndarray((P, 2), nl.float32, buffer=nl.shared_hbm)
    a, b, total, most = tile(), tile(), tile(shape=(P, 1)), tile(shape=(P, 1))
    nisa.dma_copy(a, x)
    nisa.activation_reduce(b, op=nl.square, data=a, reduce_op=nl.add, reduce_res=total)
    nisa.tensor_reduce(most, op=nl.maximum, data=a, axis=1)
    nisa.dma_copy(out[:, 0:1], total)
    nisa.dma_copy(out[:, 1:2], most)
    return out


@nki.jit
def in_a_loop(x):
    """Tiles that each iteration writes before it reads them."""
    out = nl.ndarray(x.shape, nl.float32, buffer=nl.shared_hbm)
    total = tile()
    nisa.memset(total, 0.0)
    for _ in nl.dynamic_range(0, 3):
        a, b = tile(), tile()
        nisa.dma_copy(a, x)
        nisa.tensor_scalar(b, a, op0=nl.multiply, operand0=0.5)
        nisa.tensor_tensor(total, total, b, op=nl.add)
    nisa.dma_copy(out, total)
    return out


@nki.jit
def products(x):
    """Matmuls that begin and go on, and a transpose, which is written at once."""
    out = nl.ndarray((P, P), nl.float32, buffer=nl.shared_hbm)
    a = tile(nl.bfloat16, (P, P))
    nisa.dma_copy(a, x)
    sums = tile(shape=(P, P), buffer=nl.psum)
    for _ in range(3):
        nisa.nc_matmul(sums, a, a)
    result, turned, last = (
        tile(shape=(P, P)),
        tile(shape=(P, P), buffer=nl.psum),
        tile(shape=(P, P)),
    )
    nisa.tensor_copy(result, sums)
    nisa.nc_transpose(turned, result)
    nisa.tensor_copy(last, turned)
    nisa.dma_copy(out, last)
    return out


KERNELS = [
    rounded_between,
    source_changes,
    operand_changes,
    destination_is_read,
    destination_is_read_elsewhere,
    shifted_onto_itself,
    sum_shifted_onto_itself,
    read_in_another_order,
    one_number_of_each_row,
    halves_of_a_copy,
    moved_onto_itself,
    pieces,
    columns,
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_fewer_passes_give_the_same_bits(kernel):
    on_both(kernel, numbers(P, F))


def test_elements_that_are_written_twice_are_left_to_numpy():
    x = numbers(P, F)
    traced = elements_written_twice.trace(x)
    expected = np.asarray(traced.run(x))
    with natively():
        assert_alike(np.asarray(traced.run(x)), expected)
        report = traced.backend
    assert str(report).count("elements that are written twice") == 2, str(report)
    assert report.numpy == 4


def test_products_in_scratch_are_read_before_others_write_there():
    """A product that is rounded is left in scratch, and exponentials spill there."""

    @nki.jit
    def kernel(x):
        out = nl.ndarray((P, 4 * P), nl.float32, buffer=nl.shared_hbm)
        a, b, c = tile(shape=(P, 4 * P)), tile(shape=(P, 4 * P)), tile(shape=(P, 4 * P))
        nisa.dma_copy(a, x)
        product = tile(nl.bfloat16, (P, 4 * P), nl.psum)
        nisa.nc_matmul(product, a[:, 0:P], a)
        nisa.activation(b, op=nl.tanh, data=product)
        nisa.activation(c, op=nl.exp, data=b)
        nisa.dma_copy(out, c)
        return out

    on_both(kernel, numbers(P, 4 * P) / 8)


def test_bits_and_integers_give_the_same_bits():
    @nki.jit
    def kernel(x, y):
        out = nl.ndarray(x.shape, nl.uint32, buffer=nl.shared_hbm)
        a, b, c, d = (tile(nl.uint32) for _ in range(4))
        nisa.dma_copy(a, x)
        nisa.dma_copy(b, y)
        nisa.tensor_scalar(c, a, op0=nl.left_shift, operand0=3, op1=nl.bitwise_xor, operand1=0xFF)
        nisa.tensor_tensor(d, c, b, op=nl.multiply, engine=nisa.engine.gpsimd)
        nisa.tensor_tensor(d, d, a, op=nl.maximum, engine=nisa.engine.gpsimd)
        nisa.dma_copy(out, d)
        return out

    rng = np.random.default_rng(0)
    x, y = (rng.integers(0, 1 << 32, (P, F), np.uint32) for _ in range(2))
    shifted = (x << np.uint32(3)) ^ np.uint32(0xFF)
    assert_alike(on_both(kernel, x, y), np.maximum(shifted * y, x))


def test_values_per_row_are_computed_once():
    x = numbers(P, F)
    made = choice.native().make(plan_of(one_number_of_each_row, x))
    assert made.program.elements == P + P * F


def test_loops_give_the_same_bits():
    x = numbers(P, F)
    expected = in_a_loop(x)
    with natively():
        assert_alike(in_a_loop(x), expected)
        assert_alike(in_a_loop(x), expected)


def test_products_give_the_same_bits():
    on_both(products, numbers(P, P).astype(ml_dtypes.bfloat16))


def test_a_whole_chain_is_one_pass():
    """Loads, operators and the store of a tile are one instruction of native code."""

    @nki.jit
    def kernel(x, y):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        a, b, c, d = tile(), tile(), tile(), tile()
        nisa.dma_copy(a, x)
        nisa.dma_copy(b, y)
        nisa.tensor_tensor(c, a, b, op=nl.add)
        nisa.activation(d, op=nl.exp, data=c)
        nisa.dma_copy(out, d)
        return out

    x, y = numbers(P, F), numbers(P, F, seed=1)
    assert_alike(on_both(kernel, x, y), np.exp(x + y))
    plan = plan_of(kernel, x, y)
    assert choice.native().make(plan).program.elements == P * F
    assert len(plan.body.fast) == 1


# -- traces of operators --------------------------------------------------------------------------


def test_functions_are_traced_as_graphs():
    graph = Graph()
    x = Traced(graph, graph.add(Node("load", "f", detail=0)))
    y = np.where(x > 1.0, x * 2, 0.0)
    y += 1
    assert [node.name for node in graph.nodes] == [
        "load",
        "literal",
        "greater",
        "literal",
        "multiply",
        "literal",
        "select",
        "add",
    ]
    assert y.node == len(graph.nodes) - 1


def test_a_loop_of_numpy_is_found_by_its_data_types():
    assert loop_of(np.add, "ff->f").function
    with pytest.raises(LoopError, match="add has no loop ff->d"):
        loop_of(np.add, "ff->d")


# -- loops over strides ---------------------------------------------------------------------------


def test_dimensions_that_cut_each_other():
    assert refined([(4, 6), (2, 12)]) == (2, 2, 6)
    assert refined([(4, 6), (3, 8)]) is None
    assert refined([(1, 5, 1), (5,)]) == (5,)
    assert strides_in((2, 2, 6), (2, 12), (100, 4)) == [100, 24, 4]


def test_dimensions_that_are_one_loop():
    assert merged((2, 3, 4), [(48, 16, 4)]) == ([24], [[4]])
    assert merged((2, 3, 4), [(48, 16, 4), (0, 4, 0)]) == ([2, 3, 4], [[48, 16, 4], [0, 4, 0]])
    assert merged((1, 1), [(4, 4)]) == ([], [[]])


# -- which backend --------------------------------------------------------------------------------


def test_native_code_takes_over_in_the_background():
    x = numbers(P, F)
    expected = rounded_between(x)
    rounded_between.cache_clear()
    traced = rounded_between.trace(x)
    assert str(traced.backend) == "numpy: 4 instructions"
    with on_backend("auto"):
        deadline = time.monotonic() + 120
        while not traced.backend.native:
            assert_alike(np.asarray(traced.run(x)), expected)
            assert time.monotonic() < deadline
        assert_alike(np.asarray(traced.run(x)), expected)
        assert str(traced.backend) == "native: 4 of 4 instructions"


def test_records_left_to_numpy_are_reported():
    @nki.jit
    def kernel(x):
        out = nl.ndarray((P, 8), x.dtype, buffer=nl.shared_hbm)
        a, b = tile(), tile(shape=(P, 8))
        nisa.dma_copy(a, x)
        nisa.max8(b, a)
        nisa.dma_copy(out, b)
        return out

    x = numbers(P, F)
    traced = kernel.trace(x)
    with natively():
        traced.run(x)
        assert str(traced.backend) == (
            "native: 2 of 3 instructions\n  numpy: 1 × nisa.max8: Opaque"
        )


def test_a_backend_that_does_not_exist():
    with (
        on_backend("gpu"),
        pytest.raises(InterpretationError, match="NKIJIT_BACKEND is 'gpu', exp"),
    ):
        columns(numbers(P, F))


def test_native_code_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(choice, "is_installed", lambda: False)
    with natively(), pytest.raises(InterpretationError, match=r"pip install 'nkijit\[native\]'"):
        columns(numbers(P, F))
    with on_backend("auto"):
        for _ in range(4):
            columns(numbers(P, F))


def test_listeners_see_the_writes_of_every_instruction():
    seen: list[str] = []

    class Listener:
        def did_run(self, op, written):
            seen.append(op.name)
            assert all(np.isfinite(np.asarray(array, np.float32)).all() for array in written)

    x = numbers(P, F)
    with natively():
        traced = rounded_between.trace(x)
        traced.run(x)
        traced.run(x, listener=Listener())
    assert len(seen) == 4


@pytest.mark.posix
def test_a_process_that_forks_goes_on():
    in_fresh_process(_fork)


def _fork() -> None:
    x = numbers(P, F)
    with natively():
        expected = rounded_between(x)
    child = os.fork()
    if child == 0:
        with on_backend("auto"):
            same = all(np.array_equal(rounded_between(x), expected) for _ in range(10))
        os._exit(0 if same else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0


@pytest.mark.posix
def test_a_forked_child_exits_although_its_parent_compiles():
    script = """
import os, sys
from nkijit.passes.interpret.backends.native.service import make_later

class Plan:
    def adopt(self, made):
        print(type(made).__name__, flush=True)

plan = Plan()
make_later(plan)
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    # Python warns of forks in processes with threads, since release 3.12.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# -- object code on disk --------------------------------------------------------------------------


def test_object_code_is_compiled_once(tmp_path: Path):
    first = Compiler(DiskCache(tmp_path))
    assert first.compiled == 1
    assert Compiler(DiskCache(tmp_path)).compiled == 0
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert Compiler(DiskCache(tmp_path)).compiled == 1
    assert Compiler(DiskCache(tmp_path)).compiled == 0


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")
    for where in (None, tmp_path / "file" / "below"):
        objects = DiskCache(where)
        objects.store("name", b"code")
        assert objects.load("name") is None


def test_the_folder_is_named_in_the_environment(tmp_path: Path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    Compiler()
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.setenv(CACHE_VARIABLE, "")
    assert Compiler().compiled == 1
