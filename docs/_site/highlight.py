"""Syntax highlighting of IR on the site: a lexer for MLIR, which Pygments lacks."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
)


class MlirLexer(RegexLexer):
    """MLIR's textual form, with the operations, types and attributes of any dialect."""

    name = "MLIR"
    aliases: ClassVar[list[str]] = ["mlir"]
    filenames: ClassVar[list[str]] = ["*.mlir"]
    tokens: ClassVar = {
        "root": [
            (r"//[^\n]*", Comment.Single),
            (r'"(?:\\.|[^"\\\n])*"', String),
            (r"%[\w.$-]+(?:#\d+)?", Name.Variable),
            (r"@[\w.$-]+", Name.Function),
            (r"\^\w+", Name.Label),
            (r"[#!][\w.]+", Keyword.Type),
            (r"(?:memref|tensor|vector)(?=<)|(?:bf|[fi]|si|ui)\d+\w*\b|\bindex\b", Keyword.Type),
            (r"\b(?:0x[\da-fA-F]+|(?:\d+x)+(?=[a-z])|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)", Number),
            (r"\b(?:true|false|unit|loc|to|step|do|signal|wait|target)\b", Keyword),
            (r"[a-z_]\w*\.[\w.]+", Name.Builtin),
            (r"[A-Za-z_]\w*", Name.Attribute),
            (r"->|[=:+*/-]", Operator),
            (r"[^\S\n]+|\n", Text.Whitespace),
            (r".", Punctuation),
        ]
    }
