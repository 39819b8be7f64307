"""The documentation of arguments: `explain` reads the docstrings of the API functions."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import rules_of
from nkijit.dialects.ncc import COLLECTIVES
from nkijit.dialects.nisa import INSTRUCTIONS
from nkijit.reference.catalogue import arguments_of, documented_arguments


def documented() -> None:
    """The effect.

    Args:
        one: a tile;
            as two.

        two: a tile: small.

    Source: none.
    """


def undocumented() -> None:
    pass


def test_documented_arguments() -> None:
    assert documented_arguments(documented) == {"one": "a tile; as two.", "two": "a tile: small."}
    assert documented_arguments(undocumented) == {}


@pytest.mark.parametrize("op", [*INSTRUCTIONS, *COLLECTIVES], ids=lambda op: op.name)
def test_arguments_are_explained_in_the_words_of_their_documentation(op: type[NisaOp]) -> None:
    """Two lines at least, of which the first is documentation; registers returned have none."""
    explained = {name: text.split("\n") for name, text in arguments_of(op)}
    assert list(explained) == [f.name for f in op.SPEC.fields]
    bare = [name for name, lines in explained.items() if len(lines) < 2]
    assert bare == (["dst"] if op.name.endswith("rank_id") else [])


def test_conditions_of_effects_are_explained() -> None:
    explained = {op.name: dict(arguments_of(op)) for op in (*INSTRUCTIONS, *COLLECTIVES)}
    effects = [(op, r.effect) for op in INSTRUCTIONS for r in rules_of(op) if r.effect is not None]
    assert effects
    for op, effect in effects:
        lines = explained[op.name][effect.field].split("\n")
        assert f"Has an effect only {effect.condition}." in lines


def test_default_engines_are_named() -> None:
    """An argument `engine` names the engine, or the choice of the engine, when it is omitted."""
    shown = {op.name: dict(arguments_of(op)).get("engine") for op in INSTRUCTIONS}
    named = {name: text for name, text in shown.items() if text is not None}
    engines = "tensor|vector|scalar|gpsimd|sync"
    assert len(named) > 10
    for name, text in named.items():
        words = " ".join(text.split())
        assert re.search(rf"by default ({engines})|({engines}) by default", words), (name, words)
    assert "by default gpsimd for nl.rsqrt, else vector." in named["nisa.tensor_scalar"]


@pytest.mark.parametrize("op", [*INSTRUCTIONS, *COLLECTIVES], ids=lambda op: op.name)
def test_arguments_refer_to_no_text_elsewhere(op: type[NisaOp]) -> None:
    """Commands and editors show arguments without the text of the docstring."""
    for _, text in arguments_of(op):
        assert not re.search(r"\b(as|see|chosen) (above|below)\b", text)


def test_explain_without_docstrings() -> None:
    """-OO removes docstrings; declared facts are still explained."""
    program = (
        "from nkijit.reference.catalogue import explain_instruction\n"
        "print(explain_instruction('nisa.nc_transpose'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=True
    )
    assert "\ndst     A tile, written, in sbuf or psum.\n" in done.stdout
