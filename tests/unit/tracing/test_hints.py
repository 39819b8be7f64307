"""Help for wrong arguments, and for misspelt names."""

from __future__ import annotations

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit import NkiValidationError
from nkijit.tracing.hints import explained

X = nki.TensorSpec((128, 64), "float32")


def found(body):
    """The one finding of a kernel with this body."""

    @nki.jit
    def kernel(x):
        body(nl.load(x))
        nl.store(x, nl.load(x))

    try:
        diagnostics = kernel.trace(X).diagnostics
    except NkiValidationError as error:
        diagnostics = error.diagnostics
    (finding,) = [d for d in diagnostics if d.severity == "error"]
    return finding


@pytest.mark.parametrize(
    ("body", "help"),
    [
        (lambda t: nisa.memset(t, 0.0, engine="vectr"), "pass nisa.engine.vector"),
        (lambda t: nisa.memset(t, 0.0, engine="vector"), "pass nisa.engine.vector"),
        (lambda t: nisa.memset(t, 0.0, engine="pool"), "pass nisa.engine.gpsimd"),
        (lambda t: nisa.memset(t, 0.0, engine="ACT"), "pass nisa.engine.scalar"),
        (lambda t: nisa.memset(t, 0.0, engine="pe"), "pass nisa.engine.tensor"),
        (lambda t: nisa.memset(t, 0.0, engine="dve"), "pass nisa.engine.vector"),
        (lambda t: nisa.memset(t, 0.0, engine="VECTOR"), "pass nisa.engine.vector"),
        (lambda t: nisa.memset(t, 0.0, engine="sp"), "pass nisa.engine.sync"),
        (lambda t: nisa.memset(t, 0.0, engine="fast"), "pass a member of nisa.engine"),
        (lambda t: nisa.tensor_tensor(t, t, t, op="sub"), "pass nl.subtract, an object"),
        (lambda t: nisa.tensor_tensor(t, t, t, op="div"), "write u = nl.divide(a, b)"),
        (lambda t: nisa.tensor_tensor(t, t, t, op=nl.divide), "multiply by the reciprocal"),
        (lambda t: nisa.tensor_tensor(t, t, t, op=nl.mod), "write u = nl.mod(a, b)"),
        (lambda t: nisa.tensor_tensor(t, t, t, op=nl.mod(t, t)), "write u = nl.mod(a, b)"),
        (lambda t: nisa.tensor_scalar(t, t, nl.negative, 1.0), "write u = nl.negative(t)"),
        (lambda t: nisa.activation(t, "log2", t), "write u = nl.multiply(nl.log(t), 1 / math.log"),
        (lambda t: nisa.activation(t, "expp", t), "pass nl.exp, an object, not its name"),
        (lambda t: nisa.activation(t, lambda v: v, t), "e.g. op=nl.add"),
        (lambda t: nisa.tensor_copy(t, nisa.memset(t, 0.0)), "given as dst"),
        (lambda t: nisa.tensor_copy(t, None), "what nl.load or nl.ndarray returns"),
        (lambda t: nisa.tensor_tensor(t, t, 3.0, op=nl.add), "nisa.tensor_scalar"),
        (lambda t: nisa.tensor_copy(t, np.ones((128, 64))), "nl.shared_constant"),
        (lambda t: nisa.memset(t, t), "known on the device only"),
        (lambda t: nl.exp(np.ones((128, 64))), "nl.shared_constant"),
        (lambda t: nl.ndarray((), nl.float32), "pass np.reshape(array, (1, 1))"),
        (lambda t: nl.load(np.float32(3)), "fill a tile with the number"),
        (lambda t: nl.ndarray((128, None), nl.float32), "nkijit explain nl.ndarray"),
        (lambda t: nl.ndarray(None, nl.float32), "leave the argument out"),
        (lambda t: nl.ndarray((128, 64 / 2), nl.float32), "divide sizes with //"),
        (lambda t: nl.ndarray((128, 64), "flaot32"), "write nl.float32"),
        (lambda t: nl.ndarray((128, 64), nl.float32, buffer="sbfu"), "write nl.sbuf"),
        (lambda t: nisa.iota(t, "rows", offset=0), "nkijit explain nisa.iota"),
    ],
)
def test_a_wrong_argument_names_the_right_one(body, help):
    finding = found(body)
    assert finding.rule.id == "argument"
    assert help in finding.help


def test_a_long_value_is_one_short_line():
    message = found(lambda t: nisa.tensor_copy(t, np.ones((128, 64)))).message
    assert "\n" not in message
    assert len(message) < 120


def test_parameters_are_listed_when_an_argument_is_missing():
    @nki.jit
    def kernel(x):
        return nisa.tensor_copy(nl.load(x))

    with pytest.raises(TypeError, match="'dst' is missing") as caught:
        kernel.trace(X)
    (finding,) = caught.value.diagnostics
    assert finding.rule.id == "call-arguments"
    assert finding.notes[0] == "nisa.tensor_copy takes dst, src, engine, name"


def test_modules_are_no_names_that_were_meant():
    with pytest.raises(AttributeError, match="did you mean 'sbuf'"):
        _ = nl.buffer
    with pytest.raises(AttributeError, match=r"nl\.tile_size has no 'pmaxx'; did you mean 'pmax'"):
        _ = nl.tile_size.pmaxx


def ended(count):
    """The induction variable of a loop that has ended, and the tensor that it indexes."""
    tensor = nl.ndarray((9, 128, 64), nl.float32, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(*count):
        nl.load(tensor[i])
    return tensor, i


@pytest.mark.parametrize(
    ("count", "last"), [((4,), "iteration is 3,"), ((1, 8, 3), "iteration is 7,"), ((0,), "")]
)
def test_an_induction_variable_after_its_loop(count, last):
    def body(t):
        tensor, i = ended(count)
        nl.store(tensor[i], t)

    finding = found(body)
    assert finding.subject == "register 'i'"
    assert finding.help.startswith("move the line into the body of the loop")
    assert last in finding.help


def test_an_induction_variable_of_a_loop_with_unknown_bounds():
    def body(t):
        tensor, i = ended((nisa.register_alloc(3),))
        nl.store(tensor[i], t)

    assert found(body).help == "move the line into the body of the loop"


def test_pages_are_of_the_current_api_only():
    assert explained("nl.ndarray") == "`nkijit explain nl.ndarray` lists what each argument takes"
    assert explained("nl.par_dim", is_classic=True) == ""
    assert explained("register 'i'") == ""
