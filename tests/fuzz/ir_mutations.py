"""Mutations of files: of bytes, and for text of tokens, lines and nesting."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[%#@!^][\w.$-]*|-?\d[\w.]*(?:[eE][-+]\d+)?|[A-Za-z_][\w.]*|->|\s+|.', re.S
)

NUMBERS = (
    "0", "-0", "1", "-1", "7", "127", "128", "129", "255", "65536", "2147483647", "-2147483648",
    "2147483648", "4294967295", "4294967296", "9223372036854775807", "9223372036854775808",
    "18446744073709551616", "1" + "0" * 40, "9" * 5000, "00", "1_000", "-0.0", "1e-45", "1e38",
    "1e309", "-1e309", "1e-400", "0x7FC00000", "0xFF800000", "0xFFFFFFFFFFFFFFFF", "nan", "inf",
    "1.5", "0.1", "1e", "1.0e+99999",
)  # fmt: skip
"""Limits of types, numbers beyond them, and malformed numbers."""

WORDS = (
    "memref<1x1xf32, #nki.sbuf>", "memref<128x512xf32, #nki.psum>", "memref<0x1xf32, #nki.sbuf>",
    "memref<f32, #nki.sbuf>", "memref<?x4xf32, #nki.sbuf>", "memref<1x1xf32>", "tensor<4xf32>",
    "memref<4294967296x4294967296xf32, #nki.private_hbm>", "memref<1x1xf64, #nki.shared_hbm>",
    "memref<1x1x1x1x1x1x1x1xi1, #nki.sbuf>", "index", "i32", "i64", "i1", "f32", "bf16", "f8E4M3FN",
    "none", "unit", "true", "false", "#nki.sbuf", "#nki.psum", "#nki.private_hbm",
    "#nki.shared_hbm", "trn1", "trn2", "trn3", "trn9", "[]", "[[]]", "[[0, 0]]", "[[1, 1]]", "{}",
    "()", "<>", "loc(unknown)", '""', '"\\00"', '"\\FF"', "dense<1.0>", "add", "multiply", "power",
    "rsqrt", "copy", "exp", "vector", "gpsimd", "scalar", "tensor", "reset_reduce", "load_reduce",
    "reduce", "idle", "%nothing", "@nothing", "#nothing", "!nothing", "^nothing", "builtin.module",
    "scf.for", "scf.while", "nki.return", "nki.read", "nki.register", "module", "func.func",
)  # fmt: skip

HEADERS = tuple(
    f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"
    for descr in ("'<u2'", "'|O'", "'<f8'", "'|V2'", "'<U4'", "'<M8[s]'", "[('a', '<u2')]", "'x'")
    for order in ("False", "True", "1")
    for shape in ("(256, 1024)", "()", "(0,)", "(-1, 4)", "(1 << 70,)", "(4294967296, 65536)", "1")
)
"""Headers of `.npy` files: types, orders and shapes, most of them invalid."""

STRANGE = ("\x00", "\u202e", "\ufeff", "\r", "\x0b", "\u2028", "é", "\U0001f600", "\\", '"', "//")


def tokens_of(text: str) -> list[str]:
    """Split a text into strings, names, numbers, words, signs and blanks."""
    return _TOKEN.findall(text)


class Mutator:
    """Applies random mutations."""

    def __init__(self, rng: Random, corpus: Sequence[str], files: Sequence[str]):
        """
        Args:
            rng: for all choices.
            corpus: other IR, the source of tokens and lines.
            files: paths for locations.
        """
        self._rng = rng
        self._corpus = corpus
        self._files = files

    def mutant(self, raw: bytes) -> bytes:
        """Return a text with one to eight mutations."""
        rng, text = self._rng, raw.decode("utf-8", "surrogateescape")
        for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
            text = self._choose((self._tokens, 6), (self._structure, 4))(text)
        changed = text.encode("utf-8", "surrogateescape")
        return self._bytes(changed) if rng.random() < 0.1 else changed

    def array(self, raw: bytes) -> bytes:
        """Return a `.npy` file with a changed header, changed bytes, or truncated."""
        rng = self._rng
        if rng.random() < 0.3:
            return self._bytes(raw[: rng.choice((64, 128, 200, len(raw)))])
        end = 10 + int.from_bytes(raw[8:10], "little")
        header = raw[10:end].decode("latin-1")
        for _ in range(rng.choice((1, 1, 2))):
            header = self._tokens(header) if rng.random() < 0.5 else rng.choice(HEADERS)
        coded = header.encode("latin-1", "replace")[:60_000]
        length = len(coded) if rng.random() < 0.9 else rng.choice((0, 1, 65535))
        version = raw[:8] if rng.random() < 0.9 else raw[:6] + bytes([rng.randrange(5), 0])
        return version + length.to_bytes(2, "little") + coded + raw[end:]

    def _choose(self, *weighted: tuple[Callable[..., str], int]) -> Callable[..., str]:
        functions, weights = zip(*weighted, strict=True)
        return self._rng.choices(functions, weights)[0]

    # -------------------------------------------------------------- bytes

    def _bytes(self, raw: bytes) -> bytes:
        rng, changed = self._rng, bytearray(raw)
        for _ in range(rng.choice((1, 1, 4))):
            at = rng.randrange(len(changed) + 1)
            kind = rng.randrange(4)
            if kind == 0:
                changed[at : at + 1] = bytes([rng.randrange(256)])
            elif kind == 1:
                changed[at:at] = rng.choice((b"\x00", b"\xff\xfe", b"\x80", b'"', b"{" * 9))
            elif kind == 2:
                del changed[at : at + rng.choice((1, 2, 10, 100))]
            else:
                del changed[at:]
        return bytes(changed)

    # -------------------------------------------------------------- tokens

    def _tokens(self, text: str) -> str:
        rng, tokens = self._rng, tokens_of(text)
        places = [at for at, token in enumerate(tokens) if not token.isspace()]
        if not places:
            return text
        at, other = rng.choice(places), rng.choice(places)
        kind = rng.randrange(10)
        if kind == 0:
            tokens[at] = ""
        elif kind == 1:
            tokens[at] += f" {tokens[at]}"
        elif kind == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = rng.choice(WORDS)
        elif kind == 4:
            tokens[at] += rng.choice(STRANGE)
        elif kind < 7:
            self._another_of_its_kind(tokens, at)
        else:
            numbers = [p for p in places if tokens[p].lstrip("-")[:1].isdigit()]
            if numbers:
                self._other_number(tokens, rng.choice(numbers))
        return "".join(tokens)

    def _another_of_its_kind(self, tokens: list[str], at: int) -> None:
        """Replace a token by another one of its kind, such as a name by a name."""
        kind = tokens[at][:1]
        elsewhere = tokens_of(self._rng.choice(self._corpus)) if kind not in "%@^" else tokens
        same = [t for t in elsewhere if t[:1] == kind or (t[:1].isalpha() and kind.isalpha())]
        if same:
            tokens[at] = self._rng.choice(same)

    def _other_number(self, tokens: list[str], at: int) -> None:
        token = tokens[at]
        shape = token.split("x")
        if len(shape) > 1 and not token.startswith("0x"):
            dim = self._rng.randrange(len(shape) - 1)
            shape[dim] = self._rng.choice(NUMBERS)
            tokens[at] = "x".join(shape)
        elif token.isdigit() and len(token) < 1000 and self._rng.random() < 0.5:
            tokens[at] = str(max(0, int(token) + self._rng.choice((-1, 1, 2, -32, 512))))
        else:
            tokens[at] = self._rng.choice(NUMBERS)

    # -------------------------------------------------------------- structure

    def _structure(self, text: str) -> str:
        lines = text.split("\n")
        return "\n".join(
            self._choose(
                (self._dropped, 3), (self._twice, 3), (self._swapped, 3), (self._moved, 3),
                (self._from_elsewhere, 3), (self._located, 4), (self._in_loops, 2),
                (self._nested, 1), (self._many, 1), (self._long, 1),
            )(lines)
        )  # fmt: skip

    def _at(self, lines: Sequence[str]) -> int:
        return self._rng.randrange(len(lines))

    def _dropped(self, lines: list[str]) -> list[str]:
        at = self._at(lines)
        return lines[:at] + lines[at + self._rng.choice((1, 1, 2, 5)) :]

    def _twice(self, lines: list[str]) -> list[str]:
        at = self._at(lines)
        return lines[: at + 1] + lines[at:]

    def _swapped(self, lines: list[str]) -> list[str]:
        one, two, changed = self._at(lines), self._at(lines), list(lines)
        changed[one], changed[two] = changed[two], changed[one]
        return changed

    def _moved(self, lines: list[str]) -> list[str]:
        changed = list(lines)
        line = changed.pop(self._at(lines))
        changed.insert(self._rng.randrange(len(changed) + 1), line)
        return changed

    def _from_elsewhere(self, lines: list[str]) -> list[str]:
        """Insert lines of another text."""
        other = self._rng.choice(self._corpus).split("\n")
        start, at = self._at(other), self._at(lines)
        return lines[:at] + other[start : start + self._rng.choice((1, 1, 3, 30))] + lines[at:]

    def _located(self, lines: list[str]) -> list[str]:
        """Add locations: in existing files, or malformed ones."""
        rng = self._rng
        file = rng.choice((*self._files, "", "\\00", "x" * 5000, "../" * 40, "<b>", "\\u202e"))
        place = rng.choice(("1:1", "2:3", "0:0", "-1:-1", "999999999:1", "4294967296:9", ""))
        location = f'loc("{file}":{place})' if place else f'loc("{file}")'
        if rng.random() < 0.2:
            location = f'loc(callsite({location} at loc("{rng.choice(self._files)}":1:1)))'
        changed, some = list(lines), rng.random()
        for at, line in enumerate(lines):
            if line.rstrip().endswith(("{", "}")) or not line.strip():
                continue
            if rng.random() < some:
                changed[at] = f"{re.sub(r' loc[(].*', '', line)} {location}"
        return changed

    def _in_loops(self, lines: list[str]) -> list[str]:
        """Move lines into nested loops on the device."""
        start = next((n for n, line in enumerate(lines) if line.rstrip().endswith("{")), 0) + 1
        at = self._rng.randrange(start, max(start + 1, len(lines)))
        depth = self._rng.choice((1, 2, 3, 5, 50, 500, 3000))
        count = self._rng.choice(("0", "1", "2", "3", "100", "2147483647", "-1"))
        head = [f"%f{n} = arith.constant {v} : i32" for n, v in (("o", 0), ("s", 1), ("e", count))]
        loops = [f"scf.for %in{n} = %fo to %fe step %fs : i32 {{" for n in range(depth)]
        inner = lines[at : at + self._rng.choice((0, 1, 4))]
        body = [*head, *loops, *inner, *(["}"] * depth)]
        return lines[:at] + body + lines[at + len(inner) :]

    def _nested(self, lines: list[str]) -> list[str]:
        """Insert nested brackets."""
        depth = self._rng.choice((10, 100, 1000, 20000))
        opening, closing = self._rng.choice(("[]", "{}", "()", "<>"))
        at, changed = self._at(lines), list(lines)
        column = self._rng.randrange(len(changed[at]) + 1)
        nest = opening * depth + self._rng.choice(("", "1", closing * depth))
        changed[at] = changed[at][:column] + nest + changed[at][column:]
        return changed

    def _many(self, lines: list[str]) -> list[str]:
        """Repeat a line many times."""
        at = self._at(lines)
        return lines[:at] + [lines[at]] * self._rng.choice((30, 300, 3000)) + lines[at + 1 :]

    def _long(self, lines: list[str]) -> list[str]:
        """Lengthen a name, word or string by many characters."""
        tokens = tokens_of("\n".join(lines))
        named = [at for at, token in enumerate(tokens) if re.fullmatch(r"[%@]?\w+|\".*\"", token)]
        if named:
            at = self._rng.choice(named)
            longer = self._rng.choice((300, 70_000)) * self._rng.choice(("a", "9", "é", "."))
            old, tail = tokens[at], '"' if tokens[at].endswith('"') else ""
            new = old.removesuffix('"') + longer + tail
            tokens = [new if token == old else token for token in tokens]
        return "".join(tokens).split("\n")
