"""Words of other libraries for data types, and the data types of NKI to write instead."""

from __future__ import annotations

from typing import Any, cast

from nkijit.dialects.dtypes import DTYPES
from nkijit.dialects.hardware.words import MemoryRegion
from nkijit.dialects.python_values import one_line
from nkijit.dialects.spelling import did_you_mean

DTYPE_HINT = "pass a data type of nl, e.g. dtype=nl.float32"

_WORDS = {
    **dict.fromkeys(("fp32", "f32", "f4", "float", "single"), "float32"),
    **dict.fromkeys(("fp16", "f16", "f2", "half"), "float16"),
    **dict.fromkeys(("bf16", "bfloat", "bfp16"), "bfloat16"),
    **dict.fromkeys(("tf32", "fp32r"), "tfloat32"),
    **dict.fromkeys(("i8", "s8", "i1", "char"), "int8"),
    **dict.fromkeys(("i16", "s16", "i2", "short"), "int16"),
    **dict.fromkeys(("i32", "s32", "i4", "int"), "int32"),
    **dict.fromkeys(("u8", "u1", "uint8_t", "byte"), "uint8"),
    **dict.fromkeys(("u16", "u2", "uint16_t"), "uint16"),
    **dict.fromkeys(("u32", "u4", "uint32_t", "uint"), "uint32"),
    **dict.fromkeys(("fp8", "e4m3", "fp8_e4m3", "f8e4m3"), "float8_e4m3"),
    **dict.fromkeys(("e4m3fn", "fp8_e4m3fn", "f8e4m3fn"), "float8_e4m3fn"),
    **dict.fromkeys(("e5m2", "fp8_e5m2", "f8e5m2"), "float8_e5m2"),
    **dict.fromkeys(("bool", "boolean"), "bool_"),
}
"""Words for the data types of nl."""

_WIDE = {
    **dict.fromkeys(("float64", "fp64", "f64", "double", "float128", "longdouble"), "float32"),
    **dict.fromkeys(("int64", "i64", "s64", "long", "longlong", "int64_t"), "int32"),
    **dict.fromkeys(("uint64", "u64", "ulong", "ulonglong", "uint64_t"), "uint32"),
}
"""Words for data types of more than 32 bits, and the widest data types of their kind in NKI."""


class UnknownDTypeError(ValueError):
    """A value names no data type of NKI."""

    def __init__(self, value: Any):
        word = name_of(value)
        near = word_of_nl(word) or _suggested(value, word)
        self.help = _help(value, word, near)
        """The text to write instead."""
        if word in _WIDE:
            reason = f"; NKI has no {word}"
        elif near:
            reason = f"; did you mean '{near}'?"
        else:
            reason = f"; known: {', '.join(DTYPES)}" if self.help == DTYPE_HINT else ""
        super().__init__(f"unknown data type {_shown(value, word)}{reason}")


def name_of(value: Any) -> str:
    """Return the word for a data type in an argument: `float64` for `np.float64`.

    For a class, this is its name; for a data type of NumPy or another library, the last part of its
    name. The byte order of a NumPy type code is left out.
    """
    if isinstance(value, str):
        name = value
    elif isinstance(value, type):
        name = value.__name__
    else:
        name = getattr(value, "name", None) or one_line(value)
    return str(name).rpartition(".")[2].lstrip("<>=|:")


def word_of_nl(word: str) -> str:
    """Return the data type of nl that a word of another library means; empty if there is none."""
    word = word.lower()
    return word if word in DTYPES else _WORDS.get(word, "") or _WIDE.get(word, "")


def reason_against(word: str) -> str:
    """Return the end of a message about the missing name `nl.<word>`.

    The end names the data type of nl to use. It is empty if no other library has a data type with
    this name.
    """
    if word in _WIDE:
        return f": NKI has no {word}; use nl.{_WIDE[word]}"
    meant = _WORDS.get(word, "")
    return f"; did you mean '{meant}'?" if meant else ""


def _suggested(value: Any, word: str) -> str:
    if not isinstance(value, (str, type)):
        return ""
    return did_you_mean(word, DTYPES).partition("'")[2].partition("'")[0]


def _shown(value: Any, word: str) -> str:
    if not isinstance(value, type):
        return one_line(value)
    kind = cast(type[Any], value)
    return word if kind.__module__ == "builtins" else f"{kind.__module__}.{word}"


def _help(value: Any, word: str, near: str) -> str:
    if isinstance(value, MemoryRegion):
        return f"pass the memory as buffer=nl.{value.value}, and e.g. dtype=nl.float32"
    if hasattr(value, "buffer") and hasattr(value, "dtype"):
        return "pass the data type of the tensor, e.g. dtype=x.dtype"
    if word in _WIDE:
        return f"write nl.{near}, the widest of its kind"
    return f"write nl.{near}" if near else DTYPE_HINT
