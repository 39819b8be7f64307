"""The documentation of arguments is said once: a field's own is what the API's docstring says."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest
from support import public_api as reference

import nkijit.collectives as ncc
import nkijit.isa as nisa
from nkijit.dialects.declare.documentation import documentation_of
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.dialects.nisa.matmul import NcMatmulOp

ALL = (*INSTRUCTIONS, *COLLECTIVES)
_SECTION = re.compile(r"^Args:\n((?:    .*\n|\n)*)", re.MULTILINE)
_ARGUMENT = re.compile(r"^    (\w+): ", re.MULTILINE)


def _arguments(docstring: str) -> dict[str, str]:
    """What the section of arguments says of each, in one line."""
    section = _SECTION.search(f"{docstring}\n")
    _, *parts = _ARGUMENT.split("" if section is None else section[1])
    return {
        name: " ".join(text.split()) for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def _function(op_class: type[NisaOp]) -> object:
    module = nisa if op_class in INSTRUCTIONS else ncc
    return getattr(module, op_class.SPEC.name)


def test_arguments_of_a_docstring() -> None:
    section = "Args:\n    one: a tile;\n        as two.\n    two: a tile."
    text = f"What it does.\n\n{section}\n\nSource: none."
    assert _arguments(text) == {"one": "a tile; as two.", "two": "a tile."}
    assert _arguments("What it does.") == {}


def test_every_instruction_is_covered() -> None:
    assert len(ALL) == len(reference.ISA_INSTRUCTIONS) + len(reference.COLLECTIVES)


@pytest.mark.parametrize("op_class", ALL, ids=lambda op: op.name)
def test_every_field_is_documented(op_class: type[NisaOp]) -> None:
    missing = [f.name for f in op_class.SPEC.fields if not f.doc]
    assert not missing, f"fields of {op_class.__name__} without a string below: {missing}"


@pytest.mark.parametrize("op_class", ALL, ids=lambda op: op.name)
def test_the_api_documents_the_fields_in_the_same_words(op_class: type[NisaOp]) -> None:
    function = _function(op_class)
    documented = _arguments(inspect.getdoc(function) or "")
    documented.pop("name", None)  # every instruction has one
    # A register that a collective returns is a field, but no argument.
    returned = {f.name for f in op_class.SPEC.fields} - set(
        inspect.signature(function).parameters  # pyright: ignore[reportArgumentType]
    )
    fields = {f.name: f.doc for f in op_class.SPEC.fields if f.name not in returned}
    if op_class.SPEC.name in reference.COLLECTIVES_IN_PARTS:
        # Those that only the other part has as fields.
        documented = {name: text for name, text in documented.items() if name in fields}
    assert documented == fields
    assert list(documented) == list(fields)


def test_what_has_no_source_has_no_documentation() -> None:
    namespace: dict[str, type] = {}
    exec("class Made:\n    field = 1\n    'of a field'\n", {"__name__": "nowhere"}, namespace)
    sys.modules["nowhere"] = type(sys)("nowhere")
    try:
        assert documentation_of(namespace["Made"], "field") == ""
    finally:
        del sys.modules["nowhere"]
    assert documentation_of(NcMatmulOp, "no_field") == ""


def test_documentation_without_docstrings() -> None:
    """-OO leaves out docstrings; those of fields are read from the source."""
    program = (
        "from nkijit.dialects.nisa.matmul import NcTransposeOp\n"
        "from nkijit.reference.catalogue import explain_instruction\n"
        "print(NcTransposeOp.__doc__, NcTransposeOp.SPEC.by_name['dst'].doc)\n"
        "assert explain_instruction('nisa.nc_transpose')\n"
    )
    done = subprocess.run(
        [sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "None (F, P) tile of the dtype of `data`.\n"
