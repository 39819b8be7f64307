"""The IR from tracing: names, locations, constants, views, defaults."""

from __future__ import annotations

import inspect
import math
import os
import re
import struct

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.views import ViewOp
from nkijit.ir.text import parse
from nkijit.passes.diagnostics.places import positions

SPEC = nki.TensorSpec((128, 64), nl.float32)


def ir(function, *arguments):
    return nki.jit(function).trace(*(arguments or (SPEC,)))


def ops(traced):
    return list(traced._kernel.body.block.ops)


def instructions(traced):
    return [op for op in ops(traced) if op.name.startswith("nisa.")]


def test_ssa_names_are_the_authors():
    class Holder:
        pass

    def kernel(x):
        first = nl.ndarray((128, 64), nl.float32)
        second = third = nl.load(x)
        named = nl.ndarray((128, 64), nl.float32, name="my weights.0")
        holder = Holder()
        holder.attribute = nl.ndarray((128, 64), nl.float32)
        in_list = [nl.ndarray((128, 64), nl.float32)]
        nl.zeros((128, 64), nl.float32)
        assert first.name == "first"
        assert third is second
        assert named.name == "my weights.0"
        assert in_list[0].name == "sbuf"

    names = [op.results[0].name_hint for op in ops(ir(kernel)) if op.name == "nki.alloc"]
    assert names == ["first", "second", "my_weights.0", "attribute", "sbuf", "sbuf"]


def test_numbered_names_stay_apart():
    @nki.jit
    def kernel(w_1, w_2, w):
        return w_2, w

    traced = kernel.trace(SPEC, SPEC, SPEC)
    assert [name for name, _, _ in traced.argument_types] == ["w.1", "w.2", "w"]
    again = nki.TracedKernel(parse(str(traced)))
    assert str(again) == str(traced)
    assert again.argument_types == traced.argument_types


def test_locations_have_line_column_and_the_chain_of_calls():
    def helper(t):
        nisa.memset(t, 0)  # here

    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        helper(t)  # called

    traced = ir(kernel)
    (memset,) = instructions(traced)
    lines, start = inspect.getsourcelines(test_locations_have_line_column_and_the_chain_of_calls)
    here = start + next(i for i, line in enumerate(lines) if "# here" in line)
    called = start + next(i for i, line in enumerate(lines) if "# called" in line)
    places = positions(memset.location)
    assert [(p.file, p.line, p.column) for p in places] == [
        (__file__, here, 9),
        (__file__, called, 9),
    ]
    again = parse(traced.text(locations=True))
    assert nki.TracedKernel(again).text(locations=True) == traced.text(locations=True)


def test_loops_with_locations_are_read_back():
    def kernel(x):
        going = nisa.register_alloc(1)

        def body(register):
            nisa.register_move(register, 0)
            return register

        nl.while_loop(going, body)
        for _ in nl.dynamic_range(going):
            nisa.register_move(going, 1)
        return x

    traced = ir(kernel)
    for generic in (False, True):
        text = traced.text(locations=True, generic=generic)
        assert nki.TracedKernel(parse(text)).text(locations=True, generic=generic) == text


def test_names_that_are_not_unicode_can_be_written(tmp_path):
    """Python's names for files that are not UTF-8, and other names that can be written."""
    path = tmp_path / os.fsdecode(b"k\xff.py")
    path.write_text(
        "def kernel(x):\n"
        "    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, name='t\\ud800')\n"
        "    nisa.memset(dst=tile, value=0.0)\n"
        "    return {'r\\udfff': x}\n"
    )
    space = {"nl": nl, "nisa": nisa}
    exec(compile(path.read_text(), str(path), "exec"), space)
    traced = ir(space["kernel"])
    text = traced.text(locations=True)
    assert r"k\\udcff.py" in text
    assert nki.TracedKernel(parse(text)).text(locations=True) == text
    assert r"t\\ud800" in traced.text()
    text.encode()
    traced.report().encode()


def test_views_are_emitted_once_and_identity_views_never():
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        for _ in range(3):
            nisa.memset(t[0:64, 0:32], 0)
            nisa.memset(t.slice(0, 0, 64)[:, nl.ds(0, 32)], 0)
            nisa.memset(t[...], 0)
            nisa.memset(t.reshape((128, 8, 8)).flatten_dims(1, 2), 0)

    traced = ir(kernel)
    assert sum(isinstance(op, ViewOp) for op in ops(traced)) == 1
    assert len(instructions(traced)) == 12


def test_a_view_that_no_instruction_uses_is_not_emitted():
    def kernel(x):
        x[0:2].permute((1, 0))

    assert not any(isinstance(op, ViewOp) for op in ops(ir(kernel)))


@pytest.mark.parametrize(
    "number", [0.0, -0.0, 1.0, 0.1, 1e-6, -3.5e38, math.inf, -math.inf, 2**31, -(2**31), 7]
)
def test_constants_are_exact_and_emitted_once(number):
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        nisa.tensor_scalar(t, t, nl.multiply, number, op1=nl.add, operand1=number)
        nisa.tensor_scalar(t, t, nl.add, number)

    traced = ir(kernel)
    constants = [op for op in ops(traced) if op.name == "arith.constant"]
    assert len(constants) == 1
    assert ops(traced)[0] is constants[0]
    value = constants[0].properties["value"].value.data
    if isinstance(number, float):
        try:
            expected = struct.unpack("<f", struct.pack("<f", number))[0]
        except OverflowError:
            expected = math.copysign(math.inf, number)
        assert math.copysign(1, value) == math.copysign(1, number)
    else:
        expected = number
    assert value == expected
    again = nki.TracedKernel(parse(str(traced)))
    assert str(again) == str(traced)


def test_nan_is_one_constant_and_survives_the_text():
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        nisa.tensor_scalar(t, t, nl.multiply, math.nan)
        nisa.tensor_scalar(t, t, nl.add, float("nan"))
        nisa.memset(t, math.nan)

    traced = ir(kernel)
    assert sum(op.name == "arith.constant" for op in ops(traced)) == 1
    assert str(nki.TracedKernel(parse(str(traced)))) == str(traced)


def test_defaults_are_left_out_also_when_given():
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        nisa.activation(t, nl.exp, t, bias=None, scale=1.0, reduce_cmd=nisa.reduce_cmd.idle)
        nisa.activation(t, nl.exp, t, scale=np.float32(1), name=None)
        nisa.tensor_reduce(t[:, 0:1], nl.add, t, -1, negate=np.False_, keepdims=False)

    texts = [str(op) for op in instructions(ir(kernel))]
    assert texts[0] == texts[1] == "nisa.activation dst=%t, op=exp, data=%t"
    assert "negate" not in texts[2]
    assert "axis=[-1]" in texts[2]


def test_equal_values_of_different_attributes_are_distinguished():
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        nisa.memset(t, np.float32(0.0))
        nisa.memset(t, np.float32(-0.0))
        nisa.iota(t, ([1, 64],))
        nisa.iota(t, [(1, 64)])
        nisa.tensor_reduce(t[:, 0:1], nl.add, t, (1,))
        nisa.tensor_reduce(t[:, 0:1], nl.add, t, (True,))
        nisa.tensor_reduce(t[:, 0:1], nl.add, t, (1.0,))
        nisa.tensor_reduce(t[:, 0:1], [nl.add], t, 1)
        nisa.tensor_reduce(t[:, 0:1], nl.add, t, 1, negate=[])

    traced = ir(kernel)
    texts = [str(op) for op in instructions(traced)]
    assert texts[:2] == ["nisa.memset dst=%t, value=0.0", "nisa.memset dst=%t, value=-0.0"]
    assert texts[2] == texts[3] == "nisa.iota dst=%t, pattern=[[1, 64]]"
    assert len(texts) == 5
    messages = [d.message for d in traced.diagnostics]
    assert [m.partition(":")[0] for m in messages] == ["'axis'", "'axis'", "'op'", "'negate'"]


def test_negative_zero_is_not_the_default():
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        nisa.activate2(t, nl.prelu, t, 1, 1, nl.bypass, nl.bypass, relu_param=-0.0)

    assert "relu_param=%c-0.0" in str(ir(kernel))


@pytest.mark.parametrize(
    ("operator", "word"),
    [
        (nl.add, "add"),
        (np.add, "add"),
        (np.subtract, "subtract"),
        (np.maximum, "maximum"),
        (np.max, "maximum"),
        (np.amin, "minimum"),
        (np.power, "power"),
        (np.not_equal, "not_equal"),
        (np.logical_xor, "logical_xor"),
    ],
)
def test_numpy_functions_of_the_same_meaning(operator, word):
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        nisa.tensor_tensor(t, t, t, op=operator)

    assert f"op={word}" in str(ir(kernel))


@pytest.mark.parametrize("operator", ["add", len, np.fft, None, 3, np.hypot, lambda x, y: x])
def test_values_that_are_not_operators(operator):
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        nisa.tensor_tensor(t, t, t, op=operator)

    assert [d.rule.id for d in ir(kernel).diagnostics] == ["argument"]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("dst", None),
        ("dst", 1.0),
        ("data", np.zeros((2, 2))),
        ("operand0", None),
        ("operand0", True),
        ("operand0", "1"),
        ("operand0", 2**70),
        ("operand0", np.ones(3)),
        ("operand0", 1j),
        ("operand1", None),
        ("operand1", 1.0),
        ("reverse0", 1),
        ("reverse1", None),
        ("name", 7),
    ],
)
def test_wrong_types_are_diagnosed_by_argument(argument, value):
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        arguments = {
            "dst": t, "data": t, "op0": nl.add, "operand0": 1.0, "op1": nl.add, "operand1": t,
        }  # fmt: skip
        nisa.scalar_tensor_tensor(**{**arguments, argument: value})

    (diagnostic,) = ir(kernel).diagnostics
    assert diagnostic.rule.id == "argument"
    assert diagnostic.message.startswith(f"'{argument}': expected")


def test_a_mistake_in_a_loop_is_reported_once_with_its_count():
    def kernel(x):
        t = nl.zeros((128, 64), nl.float32)
        for i in range(5):
            nisa.tensor_copy(t, t[:, 0 : i + 1])

    (diagnostic,) = ir(kernel).diagnostics
    assert "'src' has 1" in diagnostic.message
    assert diagnostic.notes[-1].startswith("the same finding 5 times")


def test_follow_up_errors_of_an_omitted_call_are_not_reported():
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        nisa.memset(t, "zero")
        nl.copy(t)

    (diagnostic,) = ir(kernel).diagnostics
    assert diagnostic.rule.id == "argument"


def test_an_aborted_kernel_reports_its_reads():
    @nki.jit
    def kernel(x):
        t = nl.ndarray((128, 64), nl.float32)
        nisa.tensor_copy(t, t)
        raise KeyError("the author's own")

    with pytest.raises(KeyError) as caught:
        kernel.trace(np.zeros((2, 2), np.float32))
    assert "read-unwritten" in str(caught.value)


def test_language_helpers():
    seen = {}

    @nki.jit(platform_target="trn2")
    def kernel(x):
        seen["version"] = nisa.get_nc_version()
        seen["moving"] = nl.tile_size.gemm_moving_fmax
        seen["ids"] = (nl.program_id(0), nl.num_programs(), nl.program_ndim())
        seen["ranges"] = [list(r(1, 7, 2)) for r in (nl.affine_range, nl.sequential_range)]
        seen["static"] = list(nl.static_range(3))
        seen["buffers"] = (nl.is_hbm(x.buffer), nl.is_on_chip(nl.psum), nl.is_sbuf(x.buffer))

    kernel.trace(SPEC)
    assert seen == {
        "version": nisa.nc_version.gen3,
        "moving": 512,
        "ids": (0, 1, 0),
        "ranges": [[1, 3, 5], [1, 3, 5]],
        "static": [0, 1, 2],
        "buffers": (True, True, False),
    }
    kernel[1].trace(SPEC)
    assert seen["ids"] == (0, 1, 1)
    assert nl.tile_size.gemm_moving_fmax == 512
    assert len(nl.affine_range(3)) == 3
    assert nl.tile_size.sbuf_size_bytes == 32 * 1024 * 1024


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nl.ndarray((-1, 4), nl.float32), "'shape': expected integers of at least 0"),
        (lambda: nl.ndarray((2.0, 4), nl.float32), "'shape': expected integers of at least 0"),
        (lambda: nl.ndarray((True, 4), nl.float32), "'shape': expected integers of at least 0"),
        (lambda: nl.ndarray((4, 4), "float64"), "'dtype': unknown data type 'float64'"),
        (lambda: nl.ndarray((4, 4), nl.float32, buffer="dram"), "'buffer': expected"),
        (lambda: nl.zeros((4, 4), nl.float32, buffer="psum"), r"help: write nl\.psum"),
        (lambda: nl.ndarray((4, 4), nl.float32, address=(0,)), "'address': expected"),
        (lambda: nl.ndarray((4, 4), nl.float32, name=3), "'name': expected a string"),
        (lambda: nl.load(3), "'src': expected a tensor"),
        (lambda: nl.device_print(1, 2), "'print_prefix': expected a string"),
        (lambda: nl.program_id(1), "the launch grid has one axis"),
        (lambda: nl.gelu(1), "'x': expected a tile, got 1"),
    ],
)
def test_wrong_calls_of_the_language_name_the_argument(call, message):
    def kernel(x):
        call()

    with pytest.raises(nisa.NkiValidationError) as caught:
        ir(kernel)
    # Not the whole text, which quotes the lines of this test.
    found = caught.value.diagnostics[0]
    assert re.search(message, f"{found.message}\nhelp: {found.help}")


def while_it_holds(t):
    while t:
        pass


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda t: t.ap([[64, 128], [1, 64]], indirect_dim=1), "indirect_dim"),
        (while_it_holds, "values of a tensor are not known"),
    ],
)
def test_unmodelled_names_are_refused_by_name(use, message):
    def kernel(x):
        use(nl.load(x))

    with pytest.raises(nisa.NkiValidationError, match=message):
        ir(kernel)


@pytest.mark.parametrize("shape", [(7,), (300, 5), (128, 64), (3, 5, 7), (1, 200_000)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "uint8"])
def test_filled_tensors_in_hbm(shape, dtype):
    @nki.jit
    def kernel(x):
        return (
            nl.zeros(shape, dtype, buffer=nl.shared_hbm),
            nl.ones(shape, dtype, buffer=nl.hbm),
            nl.full(shape, 3, dtype, buffer=nl.shared_hbm),
        )

    for value, array in zip((0, 1, 3), kernel(np.ones((1, 1), np.float32)), strict=True):
        assert array.shape == shape
        assert np.all(array.astype(np.float32) == value)


def test_load_and_store_convert():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, nl.int32, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x, dtype=nl.bfloat16))
        return out

    x = np.array([[0.5, 1.5, 2.5, -3.5, 1e10, 257.0]], np.float32)
    assert kernel(x).tolist() == [[0, 2, 2, -4, 2**31 - 1, 256]]


def test_device_print_prints_at_run_time_only(capsys):
    @nki.jit
    def kernel(x):
        nl.device_print("corner:", x[0:1, 0:2])

    traced = kernel.trace(SPEC)
    assert capsys.readouterr().out == ""
    traced.run(np.arange(128 * 64, dtype=np.float32).reshape(128, 64))
    assert capsys.readouterr().out == "corner:\n[[0. 1.]]\n"


def test_equal_functions_in_two_files_have_their_own_locations():
    source = inspect.cleandoc(
        """
        def copied(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=out, src=x)
            return out
        """
    )
    for file in ("/kernels/one.py", "/kernels/two.py"):
        names = {"nl": nl, "nisa": nisa}
        exec(compile(source, file, "exec"), names)
        (copy,) = instructions(ir(names["copied"]))
        assert [place.file for place in positions(copy.location)] == [file]
