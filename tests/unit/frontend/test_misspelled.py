"""Names that do not exist are answered with the one that was probably meant."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pytest

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.isa as classic_isa
import nkijit.classic.language as classic_language
import nkijit.isa as nisa
import nkijit.language as nl

X = np.zeros((128, 64), np.float32)

MODULES = [
    ("nkijit", "nki", "simulat", "simulate"),
    ("nkijit.isa", "nki.isa", "nc_matmull", "nc_matmul"),
    ("nkijit.isa.constants", "nki.isa.constants", "dge_modes", "dge_mode"),
    ("nkijit.language", "nki.language", "afine_range", "affine_range"),
    ("nkijit.language", "nki.language", "bfloat_16", "bfloat16"),
    ("nkijit.collectives", "nki.collectives", "allreduce", "all_reduce"),
    ("nkijit.typing", "nki.typing", "mutable_tensors", "mutable_tensor"),
    ("nkijit.dtype", "nki.dtype", "float_32", "float32"),
    ("nkijit.classic", "neuronxcc.nki", "simulate_kernels", "simulate_kernel"),
    ("nkijit.classic.isa", "neuronxcc.nki.isa", "tensor_tensors", "tensor_tensor"),
    ("nkijit.classic.isa.constants", "neuronxcc.nki.isa.constants", "engines", "engine"),
    ("nkijit.classic.language", "neuronxcc.nki.language", "loads", "load"),
    ("nkijit.classic.language.constants", "neuronxcc.nki.language.constants", "finf", "finfo"),
    ("nkijit.classic.typing", "neuronxcc.nki.typing", "tensr", "tensor"),
    ("nkijit.classic.compiler", "neuronxcc.nki.compiler", "force_autoalloc", "force_auto_alloc"),
    ("nkijit.classic.compiler.sbuf", "neuronxcc.nki.compiler.sbuf", "modalloc", "mod_alloc"),
    ("nkijit.classic.compiler.psum", "neuronxcc.nki.compiler.psum", "autoalloc", "auto_alloc"),
]


@pytest.mark.parametrize(("module", "shown", "wrong", "meant"), MODULES)
def test_a_name_of_a_module(module, shown, wrong, meant):
    found = importlib.import_module(module)
    with pytest.raises(AttributeError) as caught:
        getattr(found, wrong)
    assert str(caught.value) == f"{shown} has no '{wrong}'; did you mean '{meant}'?"
    assert not hasattr(found, "quite_another_thing")
    with pytest.raises(AttributeError, match=r"has no 'xyzzy'$"):
        found.xyzzy  # noqa: B018


def test_only_names_of_the_vendor_are_unmodelled():
    with pytest.raises(AttributeError, match=r"nki\.benchmark is not modelled by nkijit: it"):
        nki.benchmark  # noqa: B018
    with pytest.raises(AttributeError, match="not modelled by nkijit: index with slices"):
        nl.mgrid  # noqa: B018


@pytest.mark.parametrize(
    ("enum", "wrong", "meant"),
    [
        (nisa.engine, "vectr", "vector"),
        (nisa.dge_mode, "hw_dge", "hwdge"),
        (nisa.oob_mode, "skipp", "skip"),
        (nisa.reduce_cmd, "reset_reduc", "reset_reduce"),
        (nisa.nc_version, "gen_3", "gen3"),
        (nisa.matmul_perf_mode, "double_rows", "double_row"),
        (nisa.dma_engine, "gpsimd", "gpsimd_dma"),
        (nl.MemoryRegion, "share_hbm", "shared_hbm"),
        (classic_isa.dge_mode, "hw_dge", "hwdge"),
    ],
)
def test_a_member_of_an_enumeration(enum, wrong, meant):
    with pytest.raises(AttributeError) as caught:
        getattr(enum, wrong)
    assert str(caught.value).startswith(f"{enum.__name__} has no member '{wrong}'; it has ")
    assert str(caught.value).endswith(f"; did you mean '{meant}'?")
    for member in enum:
        assert getattr(enum, member.name) is member is pickle.loads(pickle.dumps(member))


def calls():
    return [
        (nki, lambda t: nisa.tensor_copy(dst=t, source=t), "'source'", "src"),
        (nki, lambda t: nisa.tensor_scalar(t, t, op0=nl.add, operand=1.0), "'operand'", "operand0"),
        (nki, lambda t: nl.ndarray((128, 4), dtyp=nl.float32), "'dtyp'", "dtype"),
        (nki, lambda t: nl.add(t, t, dtyp=nl.float32), "'dtyp'", "dtype"),
        (nki, lambda t: t.slice(0, start=0, ends=4), "'ends'", "end"),
        (classic, lambda t: classic_language.arange(4, dtyp=3), "'dtyp'", None),
        (classic, lambda t: t.reshape(shapes=(1, 2)), "'shapes'", "shape"),
    ]


@pytest.mark.parametrize(("api", "call", "wrong", "meant"), calls())
def test_a_keyword_argument(api, call, wrong, meant):
    @api.jit
    def kernel(x):
        call(api.language.load(x))

    with pytest.raises(TypeError, match=wrong) as caught:
        kernel.trace(X)
    (finding,) = caught.value.diagnostics
    assert finding.rule.id == "call-arguments"
    hint = "" if meant is None else f"; did you mean '{meant}'?"
    assert finding.message.startswith(f"there is no argument {wrong}{hint}")


def test_a_keyword_argument_of_a_classic_function_that_takes_any():
    @classic.jit
    def kernel(x):
        tile = classic_language.load(x)
        classic_isa.tensor_tensor(tile, tile, op=np.add, engin=nisa.engine.vector)

    with pytest.raises(nki.NkiValidationError, match="'engin'; did you mean 'engine'"):
        kernel.trace(X)


def test_a_data_type():
    with pytest.raises(ValueError, match=r"unknown data type 'bfloat_16'; .* mean 'bfloat16'"):
        nki.TensorSpec((4,), "bfloat_16")


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("fp32", "float32"),
        ("f32", "float32"),
        ("half", "float16"),
        ("BF16", "bfloat16"),
        ("<f4", "float32"),
        ("fp8", "float8_e4m3"),
        (float, "float32"),
        (int, "int32"),
    ],
)
def test_a_word_for_a_data_type(value, meant):
    with pytest.raises(ValueError, match=rf"unknown data type .*; did you mean '{meant}'\?$"):
        nki.TensorSpec((4,), value)


@pytest.mark.parametrize(
    "value", ["float64", ":float64", np.float64, np.dtype("float64"), "double"]
)
def test_a_data_type_of_64_bits(value):
    with pytest.raises(ValueError, match=r"unknown data type .*; NKI has no (float64|double)$"):
        nki.TensorSpec((4,), value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("float64", "nki.language has no 'float64': NKI has no float64; use nl.float32"),
        ("int64", "nki.language has no 'int64': NKI has no int64; use nl.int32"),
        ("fp32", "nki.language has no 'fp32'; did you mean 'float32'?"),
        ("half", "nki.language has no 'half'; did you mean 'float16'?"),
    ],
)
def test_a_name_of_a_data_type(name, text):
    with pytest.raises(AttributeError) as caught:
        getattr(nl, name)
    assert str(caught.value) == text


def test_errors_of_the_authors_own_functions_stay_as_they_are():
    def helper(value, factor):
        return value * factor

    @nki.jit
    def kernel(x):
        helper(1, facto=2)

    with pytest.raises(TypeError, match="'facto'") as caught:
        kernel.trace(X)
    (finding,) = caught.value.diagnostics
    assert finding.rule.id == "python-error"
    assert "got an unexpected keyword argument 'facto'" in finding.message
