"""Advice for arguments of an unexpected type."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import numpy as np

from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.operators import OPERATORS
from nkijit.dialects.other_names import COMPOSED, member_meant, operator_meant
from nkijit.dialects.rule_texts.view_helps import WHOLE_DIVISION
from nkijit.dialects.spelling import did_you_mean

INSTRUCTION_HINT = (
    "instructions return a handle and write to the tile that is given as dst: allocate it with "
    "nl.ndarray and pass that"
)
"""Advice for passing the result of an instruction as a tile."""
ONE_TUPLE = "write all dimensions of the shape as one tuple, e.g. (128, 512)"
"""Advice for a shape whose dimensions are separate arguments."""


def hint_for(value: Any, expected: str) -> str:
    """Return advice on which value to pass instead; empty if there is none.

    Args:
        value: the argument.
        expected: the expected kind, as in the message, e.g. `a tile or a number`.
    """
    name = type(value).__name__
    wants_tile = "tile" in expected or "tensor" in expected
    is_tensor = all(hasattr(value, member) for member in ("shape", "buffer", "name"))
    if name == "NkiInstruction":
        return INSTRUCTION_HINT
    if value is None and wants_tile:
        return "pass a tile, e.g. what nl.load or nl.ndarray returns"
    if value is None:
        return "None stands for no value here: leave the argument out, or pass what is expected"
    if "integers" in expected and _is_empty(value):
        return (
            "write a shape with dimensions, e.g. (1, 1); an array without dimensions is a number: "
            "pass np.reshape(array, (1, 1))"
        )
    if is_tensor and "register" in expected:
        return f"load the number into a register, {register_of(value)}, and pass r"
    if is_tensor and "operator" not in expected and not wants_tile:
        return (
            "what a tile holds is known on the device only, and this argument is fixed while the "
            "kernel is traced: pass a number or a word"
        )
    if wants_tile and (own := getattr(value, "nki_tile_hint", "")):
        return own
    if wants_tile and isinstance(value, (list, tuple)):
        if all(isinstance(item, (int, float, list, tuple)) for item in cast("list[Any]", value)):
            return (
                "a list of numbers is no tensor: pass an array to the kernel, e.g. "
                "np.array(..., np.float32)"
            )
        return "pass one tile, e.g. an item of the list"
    if wants_tile and not is_tensor and getattr(value, "shape", ()) != ():
        return (
            "pass the array to the kernel as an argument, or make it a constant with "
            "nl.shared_constant and load that"
        )
    if wants_tile and isinstance(value, (int, float, np.number)):
        return (
            "fill a tile with the number, e.g. nl.full(shape, value, dtype, buffer=nl.sbuf), or "
            "use what takes numbers: nisa.tensor_scalar, nl.add and its like"
        )
    if "operator" in expected:
        if isinstance(value, str):
            word = operator_meant(value, OPERATORS) or near(value, OPERATORS)
            if value in COMPOSED:
                return f"no operator computes it; write u = {COMPOSED[value]}"
            return f"pass nl.{word or 'add'}, an object, not its name"
        return "pass an operator of nl itself, e.g. op=nl.add; it is not called there"
    if isinstance(value, str) and "member of" in expected:
        enumeration, _, members = expected.removeprefix("a member of ").partition(" (")
        known = members.rstrip(")").split(", ")
        word = member_meant(value, known) or near(value.lower(), known)
        return f"pass nisa.{enumeration}.{word}" if word else f"pass a member of nisa.{enumeration}"
    if "string" in expected:
        return "pass a word in quotes"
    if "integer" in expected or "int32" in expected:
        if isinstance(value, float) or _has_float(value):
            return WHOLE_DIVISION
        if isinstance(value, str):
            return "pass an int, without quotes"
    if isinstance(value, str) and value in DTYPES:
        return f"pass nl.{value}"
    return ""


def explained(call: str, is_classic: bool = False) -> str:
    """Return advice to explain a function of the current API; empty for other names."""
    known = not is_classic and call.partition(".")[0] in ("nl", "nisa", "ncc")
    return f"`nkijit explain {call}` lists what each argument takes" if known else ""


def register_of(tile: Any) -> str:
    """Return the statements that load an element of a tile into a register."""
    name = tile.name or "tile"
    element = name if tile.size == 1 else f"{name}[{', '.join(['0:1'] * tile.ndim)}]"
    return f"r = nisa.register_alloc(); nisa.register_load(dst=r, src={element})"


def near(word: str, known: Collection[str]) -> str:
    """Return the known word with the same or a similar spelling; empty if there is none."""
    if word in known:
        return word
    return did_you_mean(word, known).partition("'")[2].partition("'")[0]


def _is_empty(value: Any) -> bool:
    return isinstance(value, tuple) and not value


def _has_float(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and any(isinstance(item, float) for item in value)  # pyright: ignore
