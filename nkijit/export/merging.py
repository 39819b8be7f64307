"""Merges texts that differ only in numbers: the numbers become affine expressions of indices.

This turns iterations of a loop, and the programs of two cores, into one text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nkijit.dialects.nki.affine import Affine

_TOKEN = re.compile(
    r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""  # strings
    r"|[^\W\d]\w*"  # names
    r"|\d+(?:\.\d*)?[eE][+-]?\d+|\d+\.\d*"  # numbers with a fraction or an exponent
    r"|(?:(?<=[\[(,:=] )|(?<=[\[(,:=]))-\d+|\d+"  # integers
    r"|\s+|."
)
_INTEGER = re.compile(r"-?\d+")
_IN_STRING = re.compile(r"\d+|\D+")

_Samples = Mapping[str, tuple[str, str]]
"""Maps each index to two texts: in the second text, the index is larger by one."""


@dataclass(frozen=True, slots=True)
class _String:
    """A string literal with differing numbers."""

    pieces: tuple[str | Affine, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A text in which some integers are affine in indices."""

    tokens: tuple[str | Affine | _String, ...]

    @staticmethod
    def of(base: str, samples: _Samples) -> Template | None:
        """Create the template of a text from samples for each index.

        All indices are 0 in `base`. Returns None if the texts differ in more than integers.

        Example:

            >>> made = Template.of("x[0:4, 3]", {"m": ("x[0:4, 3]", "x[4:8, 3]")})
            >>> made.source()
            'x[4 * m : 4 * m + 4, 3]'
        """
        tokens = _TOKEN.findall(base)
        found = {
            index: (_TOKEN.findall(before), _TOKEN.findall(after))
            for index, (before, after) in samples.items()
        }
        if any(len(tokens) != len(each) for pair in found.values() for each in pair):
            return None
        merged: list[str | Affine | _String] = []
        for at, token in enumerate(tokens):
            each = {index: (before[at], after[at]) for index, (before, after) in found.items()}
            token = _token(token, each)
            if token is None:
                return None
            merged.append(token)
        return Template(tuple(merged))

    def at(self, indices: Mapping[str, int]) -> str:
        """Return the text for values of the indices."""
        return "".join(_at(token, indices) for token in self.tokens)

    def source(self, *, constants: bool = False) -> str:
        """Return the text with expressions for differing numbers.

        With `constants`, constants added to indices are written even if they are 0.
        """
        texts = [self._source(at, constants=constants) for at in range(len(self.tokens))]
        for at, token in enumerate(self.tokens):
            # Formatters put spaces around the colon of a slice with computed bounds.
            beside = texts[max(0, at - 1) : at + 2]
            if token == ":" and any(" " in text.strip() for text in beside):
                texts[at] = " : "
        return "".join(texts)

    def _source(self, at: int, *, constants: bool) -> str:
        token = self.tokens[at]
        if isinstance(token, _String):
            parts = (
                f"{{{affine_source(piece)}}}"
                if isinstance(piece, Affine)
                else piece.replace("{", "{{").replace("}", "}}")
                for piece in token.pieces
            )
            return f"f{''.join(parts)}"
        if not isinstance(token, Affine):
            return token
        source = affine_source(token, constant=constants)
        is_factor = self._beside(at, -1) in ("*", "-") or self._beside(at, 1) == "*"
        return f"({source})" if is_factor and not source.isalnum() else source

    def _beside(self, at: int, step: int) -> object:
        """Return the nearest token that is no space, before (`step` -1) or after (1) a token."""
        at += step
        while 0 <= at < len(self.tokens) and str(self.tokens[at]).isspace():
            at += step
        return self.tokens[at] if 0 <= at < len(self.tokens) else None


def tidied(text: str) -> str:
    """Remove parts of a text that were only needed for merging.

    These are zeros in sums of indices (`m` for `m + 0`), and brackets around a number or index. The
    brackets of `in_brackets` protect the 0 of `x + (0)`.
    """
    if " + 0" not in text and f" {_OPEN}" not in text and not text.startswith(_OPEN):
        return text
    result: list[str] = []
    for token in _TOKEN.findall(text):
        result.append(token)
        if result[-4:] == [" ", "+", " ", "0"]:
            del result[-4:]
        elif result[-4:-3] in ([], [" "]) and _is_in_brackets(result[-3:]):
            result[-3:] = [result[-2]]
    return "".join(result)


def _is_in_brackets(tokens: list[str]) -> bool:
    """Whether tokens are a number or an index in brackets."""
    if tokens[:1] != [_OPEN] or tokens[-1] != _CLOSE or len(tokens) != 3:
        return False
    return tokens[1].isidentifier() or bool(_INTEGER.fullmatch(tokens[1]))


def in_brackets(number: str) -> str:
    """Put a number into brackets, so that it remains one operand even if merging makes it a sum."""
    return f"{_OPEN}{number}{_CLOSE}"


_OPEN, _CLOSE = "()"


def _at(token: str | Affine | _String, indices: Mapping[str, int]) -> str:
    if isinstance(token, _String):
        return "".join(_at(piece, indices) for piece in token.pieces)
    return str(token.at(indices)) if isinstance(token, Affine) else token


def _token(base: str, samples: _Samples) -> str | Affine | _String | None:
    """Merge a token: equal in all texts, or affine in the indices; None if neither."""
    if all(before == base == after for before, after in samples.values()):
        return base
    if all(before == after for before, after in samples.values()):
        return None
    if base[0] not in "\"'":
        return _affine(base, samples)
    pieces = _IN_STRING.findall(base)
    found = {i: tuple(map(_IN_STRING.findall, pair)) for i, pair in samples.items()}
    if any(len(each) != len(pieces) for pair in found.values() for each in pair):
        return None
    merged: list[str | Affine] = []
    for at, piece in enumerate(pieces):
        token = _token_in_string(piece, {i: (a[at], b[at]) for i, (a, b) in found.items()})
        if token is None:
            return None
        merged.append(token)
    return _String(tuple(merged))


def _token_in_string(base: str, samples: _Samples) -> str | Affine | None:
    if all(before == after for before, after in samples.values()):
        return base
    # f-strings write numbers without leading zeros.
    texts = [base, *(text for pair in samples.values() for text in pair)]
    return _affine(base, samples) if all(str(int(t)) == t for t in texts if t.isdigit()) else None


def _affine(base: str, samples: _Samples) -> Affine | None:
    texts = [base, *(text for pair in samples.values() for text in pair)]
    if not all(_INTEGER.fullmatch(text) for text in texts):
        return None
    steps = ((index, int(after) - int(before)) for index, (before, after) in samples.items())
    return Affine.of(int(base), steps)


def affine_source(number: Affine, *, constant: bool = False) -> str:
    """Return the expression of a sum of scaled indices and a constant.

    With `constant`, the constant is written even if it is 0.

    Example:

        >>> affine_source(Affine(64, (("m", 512), ("k", -1))))
        '512 * m - k + 64'
    """
    parts = [
        (step, name if abs(step) == 1 else f"{abs(step)} * {name}") for name, step in number.terms
    ]
    if number.constant or constant or not parts:
        parts.append((number.constant, str(abs(number.constant))))
    # The first term should be positive, to need no sign.
    first = next((i for i, (sign, _) in enumerate(parts) if sign > 0), 0)
    parts.insert(0, parts.pop(first))
    text = parts[0][1] if parts[0][0] >= 0 else f"-{parts[0][1]}"
    for sign, part in parts[1:]:
        text += f" {'+' if sign >= 0 else '-'} {part}"
    return text
