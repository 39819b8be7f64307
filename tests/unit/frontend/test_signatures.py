"""The functions of `nki.isa` and `nki.collectives` against the op declarations."""

from __future__ import annotations

import inspect

import pytest
from support import public_api as reference

import nkijit.collectives as ncc
import nkijit.isa as nisa
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS, OF_SCALARS
from nkijit.passes.interpret.semantics.registry import _SEMANTICS, _register_all


def test_every_instruction_has_an_api_function_and_semantics():
    assert {op.SPEC.name for op in INSTRUCTIONS} >= set(reference.ISA_INSTRUCTIONS)
    assert {op.SPEC.name for op in COLLECTIVES} == set(reference.COLLECTIVES)
    _register_all()
    assert set(_SEMANTICS) == {*INSTRUCTIONS, *OF_SCALARS, *COLLECTIVES}


@pytest.mark.parametrize("op_class", INSTRUCTIONS, ids=lambda op: op.SPEC.name)
def test_op_fields_are_the_signatures(op_class):
    parameters = inspect.signature(getattr(nisa, op_class.SPEC.name)).parameters
    # Register instructions have no name.
    assert [f.name for f in op_class.SPEC.fields] == [p for p in parameters if p != "name"]
    for f in op_class.SPEC.fields:
        default = parameters[f.name].default
        if default is inspect.Parameter.empty:
            # Required by position; None is a value that some of them take.
            assert f.required or f.default is None
        else:
            assert not f.required
            assert f.default == getattr(default, "nki_operator", default)


@pytest.mark.parametrize("op_class", COLLECTIVES, ids=lambda op: op.SPEC.name)
def test_op_fields_are_the_collectives_signatures(op_class):
    parameters = dict(inspect.signature(getattr(ncc, op_class.SPEC.name)).parameters)
    assert parameters.pop("name").default is None
    if op_class.SPEC.name.endswith("_trigger"):
        # It takes over the arguments of the prepare.
        prepare = getattr(ncc, op_class.SPEC.name.replace("_trigger", "_prepare"))
        parameters = dict(inspect.signature(prepare).parameters)
        assert parameters.pop("name").default is None
    elif op_class.SPEC.name in reference.COLLECTIVES_IN_PARTS:
        assert list(parameters)[:2] == ["srcs", "dsts"]
        del parameters["srcs"], parameters["dsts"]
    # A register that the function returns is the first field.
    results = ["dst"] if "dst" in op_class.SPEC.by_name else []
    assert [f.name for f in op_class.SPEC.fields] == [*results, *parameters]
    optional = {name for name, p in parameters.items() if p.default is not p.empty}
    # The text of the IR always says which channels there are.
    optional -= {"channel_ids", "channel_id"}
    assert {f.name for f in op_class.SPEC.fields if not f.required} == optional


@pytest.mark.parametrize("name", reference.COLLECTIVES)
def test_docstring_of_a_collective_describes_every_argument(name: str):
    function = getattr(ncc, name)
    text = " ".join((inspect.getdoc(function) or "").split())
    assert f"Source: NKI API reference, nki.collectives.{name}." in text
    for parameter in inspect.signature(function).parameters:
        assert f"\n    {parameter}: " in (inspect.getdoc(function) or "")


@pytest.mark.parametrize("op_class", INSTRUCTIONS, ids=lambda op: op.SPEC.name)
def test_docstring_describes_every_argument_and_names_its_source(op_class):
    name = op_class.SPEC.name
    function = getattr(nisa, name)
    text = inspect.getdoc(function)
    assert f"Source: NKI API reference, nki.isa.{name}." in text
    for parameter in inspect.signature(function).parameters:
        assert f"\n    {parameter}: " in text
