"""Kernels as objects: calling, tracing, caching, arguments, results, errors, threads."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import threading
import traceback
import types
import typing
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import nkijit as nki
import nkijit.classic as classic
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.ir.text import parse
from nkijit.kernels.arguments import ArgumentTypeError
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.traced.kernel import TracedKernel

X = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)


@nki.jit
def scaled(x, scale=2.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=scale)
    nl.store(out, tile)
    return out


def test_call_computes():
    assert np.array_equal(scaled(X), X * 2)
    assert np.array_equal(scaled(X, scale=-1.0), -X)


def test_simulate_computes_the_same_and_takes_plain_functions():
    assert np.array_equal(nki.simulate(scaled)(X), scaled(X))
    assert np.array_equal(nki.simulate(scaled.__wrapped__)(X), X * 2)


def test_name_and_docstring_are_the_functions():
    assert scaled.__name__ == "scaled"
    assert "scaled" in repr(scaled)


def test_trace_needs_no_data():
    traced = scaled.trace(nki.TensorSpec((128, 8), nl.float32))
    assert str(traced) == str(scaled.trace(X))


def test_trace_of_a_tensor_larger_than_memory():
    traced = copy_corner.trace(nki.TensorSpec((1 << 20, 1 << 14), nl.float32))
    assert not traced.diagnostics.errors


@nki.jit
def copy_corner(x):
    out = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x[-128:, -8:])
    return out


# ---------------------------------------------------------------------- cache


def test_same_specialisation_is_traced_once(capsys):
    @nki.jit
    def kernel(x):
        print("traced")
        return x

    kernel(X)
    kernel(X + 1)
    kernel(np.asfortranarray(X))
    assert capsys.readouterr().out == "traced\n"


class Colour(Enum):
    red = 1
    blue = 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        (None, 0),
        ("a", "b"),
        (Colour.red, Colour.blue),
        ((1, 2), [1, 2]),
        ({"a": 1}, {"a": 2}),
        (np.float32(1), np.float32(2)),
        (np.float32, np.int32),
        (nl.add, nl.subtract),
        (len, abs),
        (slice(0, 2), slice(0, 3)),
        (range(0), range(1, 1)),
    ],
)
def test_different_static_arguments_are_different_specialisations(first, second):
    @nki.jit
    def kernel(x, value=None):
        return x

    spec = nki.TensorSpec((128, 8), nl.float32)
    assert kernel.trace(spec, first) is kernel.trace(spec, first)
    assert kernel.trace(spec, first) is not kernel.trace(spec, second)


def test_shape_dtype_and_target_are_part_of_the_key(monkeypatch):
    a = scaled.trace(X)
    assert scaled.trace(X[:64]) is not a
    assert scaled.trace(X.astype(ml_dtypes.bfloat16)) is not a
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn2")
    assert scaled.trace(X) is not a
    assert scaled.trace(X).target.platform == "trn2"


FACTOR = 2.0


def multiply_by_factor(tile):
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=FACTOR)


def test_a_changed_global_is_noticed_also_in_a_helper(monkeypatch):
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        multiply_by_factor(tile)
        nl.store(out, tile)
        return out

    assert np.array_equal(kernel(X), X * 2)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert np.array_equal(kernel(X), X * 3)


def test_a_changed_closure_and_a_changed_list_are_noticed():
    factor, factors = 2.0, [1.0]

    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nisa.tensor_scalar(tile, tile, nl.multiply, factor, op1=nl.add, operand1=factors[0])
        nl.store(out, tile)
        return out

    assert np.array_equal(kernel(X), X * 2 + 1)
    factor = 4.0
    assert np.array_equal(kernel(X), X * 4 + 1)
    factors[0] = 5.0
    assert np.array_equal(kernel(X), X * 4 + 5)


def test_a_changed_attribute_of_a_config_object_is_noticed():
    @dataclass
    class Config(nl.NKIObject):
        scale: float = 1.0

    @nki.jit
    def kernel(x, config):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=config.scale)
        nl.store(out, tile)
        return out

    config = Config(2.0)
    assert np.array_equal(kernel(X, config), X * 2)
    config.scale = 3.0
    assert np.array_equal(kernel(X, config), X * 3)


class Settings:
    scale = 2.0


def test_a_changed_class_attribute_is_noticed(monkeypatch):
    @nki.jit
    def kernel(x):
        return scaled(x, Settings.scale)

    assert np.array_equal(kernel(X), X * 2)
    monkeypatch.setattr(Settings, "scale", 5.0)
    assert np.array_equal(kernel(X), X * 5)


def test_a_changed_module_is_noticed(monkeypatch):
    settings = types.ModuleType("settings")
    settings.__file__ = "settings.py"
    settings.scale = 2.0

    @nki.jit
    def kernel(x):
        return scaled(x, settings_module.scale)

    monkeypatch.setitem(globals(), "settings_module", settings)
    assert np.array_equal(kernel(X), X * 2)
    settings.scale = 5.0
    assert np.array_equal(kernel(X), X * 5)


settings_module = types.ModuleType("replaced by the test above")


class Number(int):
    pass


class Owner:
    def __init__(self, scale):
        self.scale = scale

    def get(self):
        return self.scale

    def kernel(self, x):
        return scaled(x, self.scale)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Number(2), Number(5)),
        (functools.partial(float, 2), functools.partial(float, 5)),
        (Owner(2.0).get, Owner(5.0).get),
    ],
)
def test_objects_whose_content_is_hidden_are_traced_anew(first, second):
    @nki.jit
    def kernel(x, scale):
        return scaled(x, float(scale()) if callable(scale) else float(scale))

    assert np.array_equal(kernel(X, first), X * 2)
    assert np.array_equal(kernel(X, second), X * 5)


def test_a_list_with_attributes_is_known_again():
    class Scales(list):
        factor = 1.0

    @nki.jit
    def kernel(x, scales):
        return scaled(x, scales[0])

    scales = Scales([2.0])
    spec = nki.TensorSpec((128, 8), nl.float32)
    first = kernel.trace(spec, scales)
    assert kernel.trace(spec, scales) is first
    scales.note = 1
    assert kernel.trace(spec, scales) is not first


def test_bound_methods_and_partial_functions_are_kernels():
    owner = Owner(2.0)
    kernel = nki.jit(owner.kernel)
    assert np.array_equal(kernel(X), X * 2)
    owner.scale = 5.0
    assert np.array_equal(kernel(X), X * 5)
    partial = nki.jit(functools.partial(scaled.__wrapped__, scale=3.0))
    assert np.array_equal(partial(X), X * 3)


def test_findings_survive_an_exception_of_the_author():
    @nki.jit
    def kernel(x):
        nisa.memset(nl.load(x), "zero")
        raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        kernel(X)
    assert [d.rule.id for d in caught.value.diagnostics] == ["argument", "python-error"]


# ---------------------------------------------------------------------- arguments and results


@nki.jit
def overwrite(x, y):
    tile = nl.full(x.shape, 7, x.dtype)
    nl.store(x, tile)
    nl.store(y[0:1, :], tile[0:1, :])


def test_written_inputs_change_in_place_and_nothing_is_returned():
    x, y = X.copy(), X.copy()
    assert overwrite(x, y) is None
    assert np.all(x == 7)
    assert np.all(y[0] == 7)
    assert np.array_equal(y[1:], X[1:])


@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        lambda a: a[::-1][::-1],
        lambda a: a[:, ::-1],
    ],
)
def test_inputs_of_any_layout(layout):
    x = layout(X.copy())
    assert np.array_equal(scaled(x), np.asarray(x) * 2)
    overwrite(x, X.copy())
    assert np.all(x == 7)


def test_inputs_that_are_only_read_never_change():
    x = X.copy()
    x.flags.writeable = False
    scaled(x)
    assert np.array_equal(x, X)


def test_a_read_only_input_that_is_written_is_refused():
    x = X.copy()
    x.flags.writeable = False
    with pytest.raises(InterpretationError, match="input 'x' is read-only"):
        overwrite(x, X.copy())


def test_a_returned_input_is_a_copy():
    @nki.jit
    def identity(x):
        return x

    x = X.copy()
    result = identity(x)
    result[...] = 0
    assert np.array_equal(x, X)


@pytest.mark.parametrize(
    "wrap", [lambda a, b: (a, b), lambda a, b: [a, b], lambda a, b: {"a": a, "b": b}]
)
def test_results_come_back_in_the_container_of_the_kernel(wrap):
    @nki.jit
    def kernel(x):
        return wrap(x, x[0:1, :])

    result = kernel(X)
    expected = wrap(X, X[0:1])
    assert type(result) is type(expected)
    items = result.values() if isinstance(result, dict) else result
    wanted = expected.values() if isinstance(expected, dict) else expected
    assert all(np.array_equal(a, b) for a, b in zip(items, wanted, strict=True))
    again = parse(str(kernel.trace(X)))
    assert str(nki.TracedKernel(again)) == str(kernel.trace(X))


def test_tensors_in_containers():
    Pair = namedtuple("Pair", "left right")

    @nki.jit
    def kernel(pair, more):
        assert pair.left.shape == (128, 8)
        return pair.right, more["x"][0]

    left, right = kernel(Pair(X, X + 1), {"x": [X + 2], "n": 3})
    assert np.array_equal(left, X + 1)
    assert np.array_equal(right, X + 2)


def test_booleans_stay_booleans():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x))
        return out

    result = kernel(X > 5)
    assert result.dtype == np.bool_
    assert np.array_equal(result, X > 5)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (X.astype(np.float64), "argument 'x' is an array of float64"),
        (np.zeros((0, 3), np.float32), "has shape"),
        (type("Array", (), {"__array__": None, "shape": ()})(), "Array that NumPy cannot read"),
    ],
)
def test_arguments_that_are_no_tensors(value, message):
    with pytest.raises(ArgumentTypeError, match=message):
        scaled(value)


@pytest.mark.parametrize(
    ("value", "shown", "help"),
    [
        ("128x8:float32", "'128x8:float32' (str)", 'nkijit.TensorSpec((128, 512), "float32")'),
        ("x.npy", "'x.npy' (str)", "pass the array of the file: np.load('x.npy')"),
        (None, "None", "pass an array"),
        (2.5, "2.5 (float)", "pass an array"),
    ],
)
def test_values_in_the_place_of_tensors(value: Any, shown: str, help: str):
    for call in (scaled, scaled.trace):
        with pytest.raises(AttributeError) as found:
            call(value)
        assert f"argument 'x' is {shown}, and not a tensor" in str(found.value)
        assert help in str(found.value)
        assert "did you mean" not in str(found.value)


def test_empty_arrays():
    with pytest.raises(ArgumentTypeError, match="help: call the kernel only if there is data"):
        scaled(np.ones((0, 8), np.float32))


TRACED = [name for name in dir(TracedKernel) if not name.startswith("_")]


@pytest.mark.parametrize("name", [name for name in TRACED if not hasattr(nki.Kernel, name)])
def test_members_of_the_trace_that_a_kernel_is_asked_for(name: str):
    with pytest.raises(AttributeError, match=rf"before it is traced: scaled\.trace\(…\)\.{name}"):
        getattr(scaled, name)


def test_members_that_neither_a_kernel_nor_its_trace_has():
    with pytest.raises(AttributeError, match="'Kernel' object has no attribute 'profil'"):
        scaled.profil  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(scaled, "_nothing")


def test_wrong_number_of_inputs_of_a_trace():
    with pytest.raises(InterpretationError, match=r"expected 1 input \(x\), got 2"):
        scaled.trace(X).run(X, X)
    with pytest.raises(InterpretationError, match=r"expected shape \(128, 8\)"):
        scaled.trace(X).run(X[:64])
    with pytest.raises(InterpretationError, match="expected float32, got an array of"):
        scaled.trace(X).run(X.astype(np.int32))


# ---------------------------------------------------------------------- errors


def test_a_kernel_that_raises_leaves_no_state():
    @nki.jit
    def kernel(x):
        nl.load(x)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        kernel(X)
    with pytest.raises(RuntimeError, match="only be called inside a kernel"):
        nl.ndarray((1, 1), dtype=nl.float32)
    assert np.array_equal(scaled(X), X * 2)


def test_endless_recursion_is_pythons_own_error():
    @nki.jit
    def kernel(x):
        return kernel(x)

    with pytest.raises(RecursionError):
        kernel(X)


def test_five_mistakes_are_five_diagnostics_without_frames_of_nkijit():
    @nki.jit(platform_target="trn2")
    def kernel(x):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        t = nl.ndarray((256, 8), dtype=nl.float32)
        a = nl.load(x)
        nisa.activate2(a, nl.gelu, a, 1.0, 1.0, nl.multiply, nl.bypass)
        nisa.memset(a, "zero")
        nisa.tensor_tensor(a, a, a, op=nl.gelu)
        nisa.tensor_copy(a, a[:, 0:4])
        nisa.dma_copy(out, a)
        return t

    traced = kernel.trace(X)
    assert [d.rule.id for d in traced.diagnostics] == [
        "alloc-partitions",
        "generation",
        "argument",
        "alu-operator",
        "free-size-match",
        "return-value",
    ]
    assert all(d.where[0].file == __file__ for d in traced.diagnostics)
    with pytest.raises(nisa.NkiValidationError) as caught:
        kernel(X)
    assert caught.value.diagnostics == traced.diagnostics
    frames = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
    assert not any("dialects" in name or "passes" in name for name in frames)


def test_a_view_error_ends_the_trace_and_carries_earlier_findings():
    @nki.jit
    def kernel(x):
        a = nl.load(x)
        nisa.memset(a, None)
        return a[0:129]

    with pytest.raises(nisa.NkiValidationError) as caught:
        kernel.trace(X)
    assert [d.rule.id for d in caught.value.diagnostics] == ["argument", "view"]
    assert "runs past its size 128" in str(caught.value)


def test_options_that_are_not_modelled_are_refused_by_name():
    with pytest.raises(nki.UnsupportedError, match="debug") as caught:
        nki.jit(scaled.__wrapped__, debug=True)
    assert "it has additional_compile_opt, compile_config, debug_kernel" in str(caught.value)
    with pytest.raises(nki.UnsupportedError, match="did you mean 'show_compiler_tb'"):
        nki.jit(scaled.__wrapped__, show_compiler_db=True)
    with pytest.raises(nki.UnsupportedError, match="did you mean 'torchxla'"):
        nki.jit(scaled.__wrapped__, mode="torch_xla")
    with pytest.raises(ValueError, match="unknown platform target 'trn9'"):
        nki.jit(scaled.__wrapped__, platform_target="trn9")
    assert np.array_equal(scaled[1](X), X * 2)


def test_options_of_the_compiler_are_kept_and_have_no_effect():
    options = {
        "debug_kernel": True,
        "show_compiler_tb": True,
        "experimental_flags": "skip-non-top-level-shared-hbm-check",
        "additional_compile_opt": "-O1",
    }
    for kernel in (
        nki.jit(mode="torchxla", **options)(scaled.__wrapped__),
        nki.jit(scaled.__wrapped__, mode="torchxla", **options),
        nki.jit(nki.jit(scaled.__wrapped__), mode="torchxla", **options)[1],
    ):
        assert kernel.options == {"mode": "torchxla", **options}
        assert kernel.for_target("trn2").options == kernel.options
        assert kernel.trace(X) is kernel.trace(X)
        assert kernel.trace(X).text() == scaled.trace(X).text()
        assert np.array_equal(kernel(X), X * 2)
    assert scaled.options == {}


@pytest.mark.parametrize("jit", [nki.jit, classic.jit], ids=["current", "classic"])
@pytest.mark.parametrize("name", ["trn1", "trn2", "trn3", "inf2"])
def test_targets_are_names_or_targets_of_kernels(jit, name):
    named = jit(scaled.__wrapped__, platform_target=name)
    assert named.platform_target == name
    for given in (named.target, named.target.version):
        for kernel in (
            jit(scaled.__wrapped__).for_target(given),
            jit(scaled.__wrapped__, platform_target=given),
            jit(platform_target=given)(scaled.__wrapped__),
            jit(jit(scaled.__wrapped__), platform_target=given),
        ):
            assert kernel.target is named.target
            assert kernel.platform_target == named.target.platform
    traced = scaled.for_target(name).trace(X)
    assert scaled.for_target(traced.target).trace(X) is traced
    assert scaled.for_target(TracedKernel(parse(traced.text())).target).trace(X) is traced


def test_a_target_with_constants_of_its_own_is_refused():
    other = dataclasses.replace(scaled.target, disable_dge=True)
    for make in (scaled.for_target, lambda target: nki.jit(platform_target=target)):
        with pytest.raises(ValueError, match="the target has other constants than trn3"):
            make(other)
        with pytest.raises(ValueError, match="unknown platform target 'trn9'"):
            make("trn9")


def plain(x, factor=2.0, *, bias=None):
    """Scale."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, scaled(x, factor))
    return out


plain.__annotations__["factor"] = float
FUNCTION_ATTRIBUTES = [
    *("__annotations__", "__closure__", "__code__", "__defaults__", "__doc__", "__globals__"),
    *("__kwdefaults__", "__module__", "__name__", "__qualname__"),
]


@pytest.mark.parametrize("jit", [nki.jit, classic.jit], ids=["current", "classic"])
def test_kernels_look_like_functions(jit):
    kernel = jit(plain)
    assert kernel.func is plain
    for name in FUNCTION_ATTRIBUTES:
        assert getattr(kernel, name) == getattr(plain, name), name
        assert getattr(kernel.for_target("trn2"), name) == getattr(plain, name), name
    assert kernel.__globals__ is globals()
    assert inspect.signature(kernel) == inspect.signature(plain)
    assert inspect.signature(kernel, follow_wrapped=False) == inspect.signature(plain)
    assert inspect.getfullargspec(kernel) == inspect.getfullargspec(plain)
    assert inspect.getsource(kernel) == inspect.getsource(plain)
    assert inspect.getdoc(kernel) == "Scale."
    assert typing.get_type_hints(kernel) == {"factor": float}
    assert types.FunctionType(kernel.__code__, kernel.__globals__).__code__ is plain.__code__


def test_a_kernel_of_an_object_has_its_attributes():
    class Scale:
        def __call__(self, x):
            return x

    kernel = nki.jit(Scale())
    assert not hasattr(kernel, "__code__")
    assert list(inspect.signature(kernel).parameters) == ["x"]
    bound = nki.jit(functools.partial(plain, factor=3.0))
    assert bound.func is plain
    assert np.array_equal(bound(X), X * 3)


def test_kernels_that_look_like_functions_are_keyed_by_their_contents():
    """A kernel that calls another kernel is traced again if that kernel's inputs have changed."""
    factor = 2.0

    @nki.jit
    def inner(x):
        return scaled(x, factor)

    @nki.jit
    def outer(x):
        return inner(x)

    @nki.jit
    def takes(x, function):
        return function(x)

    first = outer.trace(X)
    assert outer.trace(X) is first
    assert np.array_equal(outer(X), X * 2)
    assert np.array_equal(takes(X, inner), X * 2)
    factor = 5.0
    assert outer.trace(X) is not first
    assert np.array_equal(outer(X), X * 5)
    assert np.array_equal(takes(X, inner), X * 5)
    assert takes.trace(X, inner) is takes.trace(X, inner)
    assert takes.trace(X, inner) is not takes.trace(X, scaled)


def test_unknown_target_in_the_environment(monkeypatch):
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "tpu")
    with pytest.raises(ValueError, match="NEURON_PLATFORM_TARGET_OVERRIDE: unknown platform"):
        scaled(X)


@pytest.mark.parametrize("module", [nisa, nl])
def test_missing_names_of_a_module_are_refused_by_name(module):
    with pytest.raises(AttributeError, match=r"nki\.\w+ has no 'no_such_thing'"):
        module.no_such_thing  # noqa: B018
    assert not hasattr(module, "no_such_thing")


@pytest.mark.parametrize(
    ("module", "name", "hint"),
    [
        (nki, "benchmark", "it measures kernels on a device"),
        (nl, "mgrid", "index with slices"),
    ],
)
def test_names_of_older_kernels_suggest_their_replacements(module, name, hint):
    with pytest.raises(AttributeError, match=f"{name} is not modelled by nkijit: {hint}"):
        getattr(module, name)


def test_paths_below_the_current_folder_are_shown_relative(monkeypatch, tmp_path):
    @nki.jit
    def kernel(x):
        return x[0:129]

    with pytest.raises(nisa.NkiValidationError) as caught:
        kernel.trace(X)
    monkeypatch.chdir(Path(__file__).parent)
    assert f"--> {Path(__file__).name}:" in str(caught.value)
    monkeypatch.chdir(tmp_path)
    assert f"--> {__file__}:" in str(caught.value)


def test_kernels_call_kernels():
    @nki.jit
    def outer(x):
        return scaled(x, 3.0)

    assert np.array_equal(outer(X), X * 3)


def test_a_tensor_of_another_trace_is_refused():
    kept = []

    @nki.jit
    def keep(x):
        kept.append(nl.load(x))
        return x

    @nki.jit
    def use(x):
        nl.store(x, kept[0])

    keep.trace(X)
    assert [d.rule.id for d in use.trace(X).diagnostics] == ["argument"]


# ---------------------------------------------------------------------- threads


def test_threads_trace_and_run_at_the_same_time():
    results: dict[int, np.ndarray] = {}

    def work(n: int) -> None:
        x = np.full((128, 8 * (n % 3 + 1)), n, np.float32)
        for _ in range(20):
            results[n] = scaled(x, float(n))

    workers = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.all(results[n] == n * n) for n in range(8))


@nki.jit(compile_config=nki.compiler.CompileConfig(barrier_check=True))
def copied_by_cores(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    rows = x.shape[0] // nl.num_programs(0)
    first = nl.program_id(0) * rows
    nisa.dma_copy(dst=out[first : first + rows], src=x[first : first + rows])
    return out


def test_configurations_of_the_compiler_are_kept():
    config = copied_by_cores.options["compile_config"]
    assert config == nki.compiler.CompileConfig(barrier_check=True)
    assert config.address_rotation is None


@pytest.mark.parametrize("cores", [1, 2])
def test_the_environment_says_how_many_cores(monkeypatch, cores):
    monkeypatch.setenv("NEURON_LOGICAL_NC_CONFIG", str(cores))
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    assert len(copied_by_cores.trace(x).cycles()) == cores
    assert np.array_equal(copied_by_cores(x), x)
    # An explicit option takes precedence, also in the cache of traces.
    assert len(copied_by_cores[1].trace(x).cycles()) == 1
    assert len(copied_by_cores[2].trace(x).cycles()) == 2


def test_a_wrong_number_of_cores_in_the_environment(monkeypatch):
    monkeypatch.setenv("NEURON_LOGICAL_NC_CONFIG", "3")
    with pytest.raises(ValueError, match="NEURON_LOGICAL_NC_CONFIG is '3', expected 1 or 2"):
        copied_by_cores(np.zeros((4, 2), np.float32))


def test_a_cached_call_looks_for_no_misspelled_names(monkeypatch):
    """Keys see the modules that a kernel uses, and ask them for nothing that they do not have."""
    x = np.zeros((4, 2), np.float32)
    copied_by_cores[1](x)

    def fail(*args, **kwargs):
        raise AssertionError("a name is looked for")

    monkeypatch.setattr("nkijit.dialects.spelling.get_close_matches", fail)
    copied_by_cores[1](x)
