"""One text for several that differ in numbers: those become affine in an index.

That is how iterations of a loop, and the programs of two cores, are written once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_TOKEN = re.compile(
    r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""  # strings
    r"|[^\W\d]\w*"  # names
    r"|\d+(?:\.\d*)?[eE][+-]?\d+|\d+\.\d*"  # numbers with a fraction or an exponent
    r"|(?:(?<=[\[(,:=] )|(?<=[\[(,:=]))-\d+|\d+"  # integers
    r"|\s+|."
)
_INTEGER = re.compile(r"-?\d+")


def merged(base: str, others: Mapping[str, str]) -> str | None:
    """The text that is `base` where all indices are 0, and another one where one of them is 1.

    Args:
        base: the text where all indices are 0.
        others: for each index, the text where it is 1 and the others are 0.

    Returns None where the texts differ in more than integers.

    Example:
        >>> merged("x[0:128, 3]", {"m": "x[128:256, 3]"})
        'x[128 * m : 128 * m + 128, 3]'
    """
    if all(other == base for other in others.values()):
        return base
    tokens = _TOKEN.findall(base)
    samples = {index: _TOKEN.findall(text) for index, text in others.items()}
    if any(len(sample) != len(tokens) for sample in samples.values()):
        return None
    out: list[str] = []
    complex_at: set[int] = set()
    for at, token in enumerate(tokens):
        there = {index: sample[at] for index, sample in samples.items()}
        if all(other == token for other in there.values()):
            out.append(token)
            continue
        if not all(_INTEGER.fullmatch(number) for number in (token, *there.values())):
            return None
        steps = {index: int(number) - int(token) for index, number in there.items()}
        source = affine_source(int(token), steps)
        if not source.isidentifier():
            complex_at.add(len(out))
        out.append(source)
    return "".join(_spaced(out, complex_at))


def affine_source(constant: int, steps: Mapping[str, int]) -> str:
    """A sum of indices, each times a step, and a constant, as an expression.

    Example:
        >>> affine_source(64, {"m": 512, "k": -1})
        '512 * m - k + 64'
    """
    terms = [(step, name) for name, step in steps.items() if step]
    if not terms:
        return str(constant)
    # What is negative comes last, so that the first term has no sign.
    parts: list[tuple[int, str]] = [
        (1 if step > 0 else -1, name if abs(step) == 1 else f"{abs(step)} * {name}")
        for step, name in terms
    ]
    if constant:
        parts.append((1 if constant > 0 else -1, str(abs(constant))))
    first = next((i for i, (sign, _) in enumerate(parts) if sign > 0), 0)
    parts.insert(0, parts.pop(first))
    text = parts[0][1] if parts[0][0] > 0 else f"-{parts[0][1]}"
    for sign, part in parts[1:]:
        text += f" {'+' if sign > 0 else '-'} {part}"
    return text


def _spaced(tokens: Sequence[str], complex_at: set[int]) -> list[str]:
    """Tokens with spaces around the colons of slices whose limits are no mere numbers."""
    result = list(tokens)
    for at, token in enumerate(tokens):
        if token == ":" and (at - 1 in complex_at or at + 1 in complex_at):
            result[at] = " : "
    return result
