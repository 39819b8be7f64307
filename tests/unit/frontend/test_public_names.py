"""Every public name of `nki`, with its signature, against the reference: nothing is missing.

Nothing is invented, either: additional names of nkijit are in a separate list.
"""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from support import public_api as reference

import nkijit as nki
import nkijit.collectives as ncc
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.dialects.operators import OPERATORS

NKI_BESIDES = {
    *("Cost", "Sweep", "cost", "sweep"),
    *("Kernel", "NkiValidationError", "NkiWarning", "TensorSpec", "TracedKernel"),
    *("UnsupportedError", "example", "load_record", "value_of"),
    *("collectives", "compiler", "dtype", "isa", "language", "load", "run_ranks", "typing"),
}
"""Names that nkijit adds to `nki`, the submodules, and `dtype`, which annotates data types."""

LANGUAGE_BESIDES = {"par_dim", "range"}
"""Names that kernels use in `nki.language` though the reference does not list them."""

PARAMETERS_BESIDES = {(nki, "simulate"): ["strict=None"]}
"""Keyword-only parameters that nkijit adds."""

TENSOR_BESIDES = {"address", "ssa_value", "storage"}

FUNCTIONS = {
    nki: reference.NKI,
    nisa: reference.ISA_INSTRUCTIONS | reference.ISA_FUNCTIONS,
    nl: reference.LANGUAGE_FUNCTIONS,
    ncc: reference.COLLECTIVES,
    nl.NkiTensor: reference.TENSOR_METHODS,
    nl.NKIObject: reference.NKI_OBJECT,
    **{getattr(nisa, name): methods for name, methods in reference.ISA_CLASSES.items()},
}

NAMES = {
    nki: [*reference.NKI, *NKI_BESIDES],
    nisa: [
        *(FUNCTIONS[nisa] | {op.SPEC.name: "" for op in INSTRUCTIONS}),
        *reference.ISA_ENUMS,
        *reference.ISA_NAMES_OF_ENGINES,
        *reference.ISA_CLASSES,
    ],
    nl: [
        *FUNCTIONS[nl],
        *reference.LANGUAGE_WORDS,
        *reference.LANGUAGE_DTYPES,
        *reference.LANGUAGE_BUFFERS,
        *reference.LANGUAGE_OTHERS,
        *LANGUAGE_BESIDES,
    ],
    ncc: [*FUNCTIONS[ncc], "ReplicaGroup", "rg_partition_op"],
}


def name_of(owner):
    return owner.__name__.replace("nkijit", "nki")


def shown(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = parameter.default
    if default is parameter.empty:
        return stars + parameter.name
    # Members of enumerations and operators show as they are written.
    plain = isinstance(default, (str, int, float, tuple, list, type(None)))
    is_word = isinstance(default, nl.MemoryRegion) or not plain
    return f"{parameter.name}={default if is_word else repr(default)}"


@pytest.mark.parametrize("module", NAMES, ids=name_of)
def test_names_are_the_references(module):
    assert sorted(module.__all__) == sorted(NAMES[module])
    # Some are imported on first access, and are attributes of the module from then on.
    assert all(getattr(module, name) is vars(module)[name] for name in module.__all__)


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for owner, names in FUNCTIONS.items() for name in names]
)
def test_signature_is_the_references(owner, name):
    parameters = list(inspect.signature(getattr(owner, name)).parameters.values())
    if inspect.isclass(owner):
        assert parameters.pop(0).name == "self"
    own = PARAMETERS_BESIDES.get((owner, name), [])
    added = [parameters.pop() for _ in own][::-1]
    assert [shown(p) for p in added if p.kind is p.KEYWORD_ONLY] == own
    assert " ".join(map(shown, parameters)) == FUNCTIONS[owner][name]
    assert inspect.getdoc(getattr(owner, name))


@pytest.mark.parametrize("name", reference.ISA_ENUMS)
def test_enumerations_have_the_references_members(name):
    assert {member.name: member.value for member in getattr(nisa, name)} == (
        reference.ISA_ENUMS[name]
    )


def test_generations_are_ordered():
    assert nisa.nc_version.gen2 < nisa.nc_version.gen3 < nisa.nc_version.gen4


def test_engines_have_names_of_their_own():
    for name, member in reference.ISA_NAMES_OF_ENGINES.items():
        assert getattr(nisa, name) is nisa.engine[member]


def test_buffers():
    assert {region.name: region.value for region in nl.MemoryRegion} == reference.MEMORY_REGION
    assert [getattr(nl, name) for name in reference.MEMORY_REGION] == list(nl.MemoryRegion)
    assert nl.hbm is nl.private_hbm


def test_words_that_are_arguments_only():
    for name in reference.LANGUAGE_WORDS:
        assert repr(getattr(nl, name)) == f"nl.{name}"


def test_data_types_are_their_names():
    assert nl.DType is str
    assert sorted(reference.LANGUAGE_DTYPES) == sorted(DTYPES)
    assert all(getattr(nl, name) == name for name in reference.LANGUAGE_DTYPES)


def test_every_operator_is_public():
    for name in OPERATORS:
        assert getattr(nl, name).__name__ == name
        assert name in nl.__all__


@pytest.mark.parametrize("name", reference.LANGUAGE_FUNCTIONS)
def test_docstring_names_its_source(name):
    text = inspect.getdoc(getattr(nl, name))
    assert "Source: " in text or "see `" in text.lower() or "as `" in text.lower(), text


def test_tensors_have_the_references_members():
    members = {name for name in dir(nl.NkiTensor) if not name.startswith("_")}
    expected = {name for name in reference.TENSOR_METHODS if not name.startswith("_")}
    assert members == expected | {*reference.TENSOR_ATTRIBUTES} | TENSOR_BESIDES
    assert issubclass(nl.NkiTensor, nl.NKIObject)


def test_grids_have_the_references_attributes():
    for kind in (nl.NkiGrid, nl.NkiTileGrid, nl.NkiBlockGrid):
        members = {name for name in dir(kind) if not name.startswith("_")}
        assert members == {
            *reference.GRID_ATTRIBUTES,
            *(["block_shape"] if kind is nl.NkiBlockGrid else []),
        }


def test_tensors_have_no_python_operators():
    """The reference has `[]` only: `nl.add(a, b)` is how tiles are added."""
    for name in ("__add__", "__radd__", "__mul__", "__neg__", "__lt__", "__matmul__"):
        assert getattr(nl.NkiTensor, name, None) is getattr(object, name, None)


def test_tile_size_has_the_references_limits():
    members = [name for name in dir(nl.tile_size) if not name.startswith("_")]
    assert members == sorted(reference.TILE_SIZE)
    assert all(isinstance(getattr(nl.tile_size, name), int) for name in members)


def test_the_import_name_has_the_same_names():
    """In a process of its own, as a kernel's file imports them."""
    program = """
import nki, nki.collectives, nki.isa, nki.language, nki.typing, nkijit
assert nki.jit is nkijit.jit
assert nki.isa.engine is nkijit.isa.engine
from nki.language import NKIObject, NkiTensor, tile_size
from nki.isa import *
from nki.collectives import *
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)
