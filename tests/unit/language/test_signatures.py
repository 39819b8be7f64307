"""Names and signatures of `nki.language` against the reference."""

from __future__ import annotations

import inspect

import pytest

import nkijit.language as nl

# From the API reference (nki.language, SDK 2.32): argument names, with their defaults.
_REFERENCE = {
    "x y dtype=None": """
        add subtract multiply divide maximum minimum abs_max abs_min power equal not_equal less
        less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor left_shift right_shift
        logical_and logical_or logical_xor fmod mod
    """,
    "x dtype=None": """
        abs square invert logical_not exp log sqrt rsqrt tanh sigmoid relu gelu gelu_apprx_sigmoid
        gelu_apprx_tanh gelu_dx gelu_apprx_sigmoid_dx silu silu_dx softplus mish erf erf_dx
        reciprocal copy sin cos tan arctan ceil floor trunc negative sign
    """,
    "x axis dtype=None keepdims=False": "sum max min mean prod var",
    "x axis dtype=None": "all",
    "x axis=-1 dtype=None": "softmax",
    "x w axis n epsilon=1e-06 dtype=None compute_dtype=None": "rms_norm",
    "condition x y dtype=None": "where",
    "shape dtype buffer=MemoryRegion.sbuf name=''": "ones zeros",
    "shape fill_value dtype buffer=MemoryRegion.sbuf name=''": "full",
    "x dtype=None buffer=None name=''": "zeros_like empty_like",
    "x axis": "expand_dims",
    "x shape dtype=None": "broadcast_to",
    "constant": "shared_constant",
    "n dtype='uint8' dst=None": "shared_identity_matrix",
}
REFERENCE = {name: signature for signature, names in _REFERENCE.items() for name in names.split()}


def _shown(parameter: inspect.Parameter) -> str:
    default = parameter.default
    if default is parameter.empty:
        return parameter.name
    return f"{parameter.name}={default if isinstance(default, nl.MemoryRegion) else repr(default)}"


@pytest.mark.parametrize("name", REFERENCE)
def test_signature_is_the_references(name: str):
    function = getattr(nl, name)
    shown = " ".join(map(_shown, inspect.signature(function).parameters.values()))
    assert shown == REFERENCE[name]
    assert name in nl.__all__
    assert callable(function)


@pytest.mark.parametrize("name", REFERENCE)
def test_docstring_names_its_source(name: str):
    assert "nki.language" in (inspect.getdoc(getattr(nl, name)) or "") or name in ("ones", "zeros")


@pytest.mark.parametrize("name", ["average", "prelu", "bypass"])
def test_words_that_are_arguments_only(name: str):
    assert repr(getattr(nl, name)) == f"nl.{name}"
    assert name in nl.__all__


def test_every_public_name_exists_once():
    assert len(set(nl.__all__)) == len(nl.__all__)
    assert all(hasattr(nl, name) for name in nl.__all__)


def test_tensors_have_no_python_operators():
    """The reference has `[]` only: `nl.add(a, b)` is how tiles are added."""
    for name in ("__add__", "__radd__", "__mul__", "__neg__", "__lt__", "__matmul__"):
        assert getattr(nl.NkiTensor, name, None) is getattr(object, name, None)
