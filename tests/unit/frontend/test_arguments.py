"""Arguments of kernels, and objects that can be kernels."""

from __future__ import annotations

import copy
import functools
import pickle
import sys
from collections import Counter, OrderedDict, defaultdict, namedtuple
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.frameworks.calls import ArgumentTypeError
from nkijit.passes.interpret.records.errors import InterpretationError

X = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)


def scale_into_result(x, scale):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=scale)
    nl.store(out, tile)
    return out


# ---------------------------------------------------------------------- objects


class Weights(nl.NKIObject):
    left: Any
    right: Any = None


@dataclass
class Model(nl.NKIObject):
    weights: Weights
    layers: list[Weights] = field(default_factory=list)
    scale: float = 2.0


@dataclass(frozen=True, slots=True)
class Frozen:
    x: Any
    scale: float


@nki.jit
def use_model(model):
    assert isinstance(model, Model)
    assert isinstance(model.weights.left, nl.NkiTensor)
    return scale_into_result(model.weights.left, model.scale), model.layers[1].right


def test_objects_hold_tensors():
    model = Model(Weights(X), [Weights(X), Weights(X, X + 1)])
    scaled, right = use_model(model)
    assert np.array_equal(scaled, X * 2)
    assert np.array_equal(right, X + 1)
    assert model.weights.left is X
    names = [name for name, _, _ in use_model.trace(model).argument_types]
    assert names == [
        "model_weights_left",
        "model_layers_0_left",
        "model_layers_1_left",
        "model_layers_1_right",
    ]


def test_objects_are_keyed_by_content():
    model = Model(Weights(X), [Weights(X), Weights(X, X)])
    again = Model(Weights(X + 1), [Weights(X), Weights(X, X)])
    assert use_model.trace(model) is use_model.trace(again)
    again.scale = 3.0
    assert use_model.trace(model) is not use_model.trace(again)
    again.weights.left = X[:64]
    assert use_model(again)[0].shape == (64, 8)


def test_a_kernel_gets_a_copy_of_containers():
    @nki.jit
    def kernel(x, model, values):
        model.scale = 7.0
        values.append(3.0)
        return x

    model, values = Model(Weights(1)), [1.0]
    kernel(X, model, values)
    assert (model.scale, values) == (2.0, [1.0])


def test_frozen_dataclasses_with_slots():
    @nki.jit
    def kernel(f):
        return scale_into_result(f.x, f.scale)

    assert np.array_equal(kernel(Frozen(X, 3.0)), X * 3)


def test_an_object_that_contains_itself():
    @nki.jit
    def kernel(node):
        assert node.right is node
        return node.left

    node = Weights(X)
    node.right = node
    assert np.array_equal(kernel(node), X)


def test_containers_of_other_classes_keep_their_class():
    class Noted(dict):
        def __getattr__(self, name):
            return self[name]

    @nki.jit
    def kernel(given, kind):
        assert type(given) is kind
        if kind is defaultdict:
            assert given["b"] == 2.0
        assert given is not original or kind is None
        return given["a"]

    noted = Noted(a=X)
    vars(noted)["note"] = 1
    for original in (OrderedDict(a=X), defaultdict(lambda: 2.0, a=X), Counter(a=X), noted):
        assert np.array_equal(kernel(original, type(original)), X)


def test_tensors_that_an_object_holds_are_written():
    @nki.jit
    def kernel(weights):
        nl.store(weights.left, nl.full(weights.left.shape, 7, weights.left.dtype))

    x = X.copy()
    kernel(Weights(x))
    assert np.all(x == 7)


# ---------------------------------------------------------------------- values


class Colour(Enum):
    red = 1.0
    blue = 2.0


@pytest.mark.parametrize(
    "value",
    [
        3.0,
        np.float32(3),
        np.float64(3),
        np.array(3.0, np.float32),
        np.array(3.0),
        np.array(3, ml_dtypes.bfloat16),
        ml_dtypes.bfloat16(3),
        np.int64(3),
        3,
    ],
)
def test_numbers_of_any_kind(value):
    assert np.array_equal(nki.jit(scale_into_result)(X, value), X * 3)


def test_functions_kernels_enums_strings_and_none():
    @nki.jit
    def inner(x, scale):
        return scale_into_result(x, scale)

    @nki.jit
    def outer(x, functions, colour, name, nothing):
        assert nothing is None
        return functions[name](x, colour.value)

    for function in (inner, scale_into_result, functools.partial(scale_into_result)):
        result = outer(X, {"f": function}, Colour.blue, "f", None)
        assert np.array_equal(result, X * 2)
    trace = outer.trace
    spec = nki.TensorSpec((128, 8), nl.float32)
    first = trace(spec, {"f": inner}, Colour.red, "f", None)
    assert first is trace(spec, {"f": inner}, Colour.red, "f", None)
    assert first is not trace(spec, {"f": inner}, Colour.blue, "f", None)
    assert str(first).count("nki.kernel") == 1


class Exporter:
    """Offers an array by one protocol, and nothing else of an array."""

    def __init__(self, array):
        self._array = array
        self.shape = array.shape


class WithDlpack(Exporter):
    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class WithArray(Exporter):
    def __array__(self, dtype=None, copy=None):
        return self._array


@pytest.mark.parametrize("kind", [WithDlpack, WithArray])
def test_arrays_by_protocol(kind):
    assert np.array_equal(nki.jit(scale_into_result)(kind(X), 2.0), X * 2)

    @nki.jit
    def overwrite(x):
        nl.store(x, nl.load(x))

    with pytest.raises(InterpretationError, match="input 'x' is read-only"):
        overwrite(kind(X.copy()))
    with pytest.raises(ArgumentTypeError, match="argument 'x' is an array of float64"):
        overwrite(kind(X.astype(np.float64)))


@pytest.mark.parametrize(("dtype", "hint"), [("int64", "int32"), ("float64", "float32")])
def test_an_unsupported_data_type_is_reported_with_a_supported_one(dtype: str, hint: str):
    with pytest.raises(ArgumentTypeError, match=rf"{dtype}.*e\.g\. with \.astype\(np\.{hint}\)"):
        nki.jit(scale_into_result)(np.zeros((128, 8), dtype), 2.0)


# ---------------------------------------------------------------------- results


class Pair(NamedTuple):
    first: Any
    second: Any


Untyped = namedtuple("Untyped", "first second")


@pytest.mark.parametrize("kind", [Pair, Untyped])
def test_named_tuples_come_back(kind):
    @nki.jit
    def kernel(x):
        return kind(second=x, first=x[0:1, :])

    result = kernel(X)
    assert type(result) is kind
    assert np.array_equal(result.second, X)
    assert type(kernel(X + 1)) is kind


@pytest.mark.parametrize("kind", [Weights, Frozen])
def test_objects_as_results_are_refused(kind):
    @nki.jit
    def kernel(x):
        return kind(x, x)

    (found,) = kernel.trace(X).diagnostics
    assert f"an object of class {kind.__name__}; return its tensors in a tuple" in found.message


# ---------------------------------------------------------------------- kernels


@dataclass
class Layer(nl.NKIObject):
    weight: Any
    scale: float = 2.0

    @nki.jit
    def forward(self, x):
        assert isinstance(self.weight, nl.NkiTensor)
        return scale_into_result(x, self.scale), self.weight

    @staticmethod
    @nki.jit
    def double(x):
        return scale_into_result(x, 2.0)

    @classmethod
    @nki.jit
    def by_class(cls, x):
        return scale_into_result(x, cls.scale)


def test_methods_are_kernels(capsys):
    layer = Layer(X + 1)
    scaled, weight = layer.forward(X)
    assert np.array_equal(scaled, X * 2)
    assert np.array_equal(weight, X + 1)
    assert layer.forward.trace(X) is Layer(X + 5).forward.trace(X)
    layer.scale = 3.0
    assert np.array_equal(layer.forward(X)[0], X * 3)
    assert np.array_equal(layer.forward.for_target("trn2")(X)[0], X * 3)
    assert np.array_equal(Layer.forward(layer, X)[0], X * 3)
    assert [name for name in layer.forward.signature.parameters] == ["x"]


def test_static_and_class_methods_are_kernels():
    assert np.array_equal(Layer.double(X), X * 2)
    assert np.array_equal(Layer(X).double(X), X * 2)
    assert np.array_equal(Layer.by_class(X), X * 2)


@pytest.mark.parametrize("kind", [staticmethod, classmethod])
def test_jit_is_below_static_and_class_method(kind):
    with pytest.raises(ArgumentTypeError, match=f"stands below @{kind.__name__}"):
        nki.jit(kind(scale_into_result))


def test_a_method_calls_a_kernel_of_its_object():
    class Block(nl.NKIObject):
        scale: float = 3.0

        @nki.jit
        def inner(self, x):
            return scale_into_result(x, self.scale)

        @nki.jit
        def outer(self, x):
            return self.inner(x)

    assert np.array_equal(Block().outer(X), X * 3)


def test_partial_functions_bind_tensors_and_are_traced_once(capsys):
    def body(weight, x, scale):
        print("traced")
        assert isinstance(weight, nl.NkiTensor)
        return scale_into_result(x, scale), weight

    kernel = nki.jit(functools.partial(body, X + 1, scale=3.0))
    assert kernel.__name__ == "body"
    for _ in range(2):
        scaled, weight = kernel(X)
    assert np.array_equal(scaled, X * 3)
    assert np.array_equal(weight, X + 1)
    assert capsys.readouterr().out == "traced\n"
    assert np.array_equal(kernel(X, scale=5.0)[0], X * 5)


def test_a_partial_kernel_is_a_kernel_and_can_be_called_by_kernels():
    twice = functools.partial(nki.jit(scale_into_result), scale=2.0)
    assert np.array_equal(nki.jit(twice)(X), X * 2)

    @nki.jit
    def kernel(x):
        return nki.jit(twice)(x)

    assert np.array_equal(kernel(X), X * 2)


def doubling(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args, 2.0)

    return wrapper


def test_a_decorator_below_jit_may_change_the_arguments():
    kernel = nki.jit(doubling(scale_into_result))
    assert np.array_equal(kernel(X), X * 2)
    assert kernel.__name__ == "scale_into_result"
    assert kernel.trace(X).argument_types[0][0] == "x"


def test_a_decorator_above_jit():
    assert np.array_equal(doubling(nki.jit(scale_into_result))(X), X * 2)


class Scaled:
    """A decorator with a state of its own."""

    def __init__(self, function, scale):
        functools.update_wrapper(self, function)
        self.function, self.scale = function, scale

    def __call__(self, x):
        return self.function(x, self.scale)


def test_a_changed_decorator_is_noticed():
    scaled = Scaled(scale_into_result, 2.0)
    kernel = nki.jit(scaled)

    @nki.jit
    def caller(x):
        return scaled(x)

    assert np.array_equal(kernel(X), X * 2)
    assert np.array_equal(caller(X), X * 2)
    scaled.scale = 5.0
    assert np.array_equal(kernel(X), X * 5)
    assert np.array_equal(caller(X), X * 5)


FACTORS: list[float] = []


class Table:
    def __getitem__(self, key):
        return FACTORS[key]


def test_inputs_of_special_methods_are_part_of_the_key(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "FACTORS", [2.0])
    table = Table()

    @nki.jit
    def kernel(x):
        return scale_into_result(x, table[0])

    assert np.array_equal(kernel(X), X * 2)
    FACTORS[0] = 5.0
    assert np.array_equal(kernel(X), X * 5)


def test_a_changed_attribute_of_a_function_is_noticed():
    def helper(x):
        return scale_into_result(x, helper.scale)

    helper.scale = 2.0
    kernel = nki.jit(helper)
    assert np.array_equal(kernel(X), X * 2)
    helper.scale = 5.0
    assert np.array_equal(kernel(X), X * 5)


def test_kernels_with_any_parameters():
    @nki.jit
    def kernel(first, /, *rest, scale=1.0, **named):
        return [scale_into_result(x, scale) for x in (first, *rest, *named.values())]

    results = kernel(X, X + 1, scale=2.0, y=X + 2)
    assert [r[0, 0] for r in results] == [0.0, 2.0, 4.0]


def test_recursion_that_ends():
    @nki.jit
    def kernel(x, depth):
        return x if depth == 0 else kernel(scale_into_result(x, 2.0), depth - 1)

    assert np.array_equal(kernel(X, 3), X * 8)


def generator(x):
    yield x


async def coroutine(x):
    return x


@pytest.mark.parametrize("function", [generator, coroutine, Weights, max, 3, "text"])
def test_values_that_cannot_be_kernels(function):
    with pytest.raises(ArgumentTypeError, match=r"nki\.jit expects a function"):
        nki.jit(function)


@nki.jit
def named(x):
    return x


def test_kernels_are_copied_and_pickled_by_name():
    assert pickle.loads(pickle.dumps(named)) is named
    assert copy.deepcopy([named])[0] is named


def test_the_mode_makes_no_difference_but_a_device_cannot_be_had():
    for mode in ("simulation", "trace", "auto", "jax", "torchxla"):
        assert np.array_equal(nki.jit(mode=mode)(scale_into_result)(X, 2.0), X * 2)
    for mode in ("baremetal", "benchmark", "profile"):
        with pytest.raises(nki.UnsupportedError, match=f"mode='{mode}'"):
            nki.jit(scale_into_result, mode=mode)


def test_a_kernel_is_given_another_target():
    kernel = nki.jit(nki.jit(scale_into_result), platform_target="trn2")
    assert kernel.trace(X, 2.0).target.platform == "trn2"


def test_an_argument_may_be_called_self():
    @nki.jit
    def kernel(**named):
        return named["self"]

    assert np.array_equal(kernel(self=X), X)
    assert kernel.trace(self=X).argument_types[0][1] == (128, 8)


def test_masked_arrays_are_refused():
    with pytest.raises(ArgumentTypeError, match="argument 'x' is a masked array"):
        named(np.ma.masked_array(X, X > 0))


def test_methods_run_in_threads():
    layer = Layer(X)

    def work(n):
        return layer.forward(X + n)[0][0, 0]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(32))) == [n * 2.0 for n in range(32)]
