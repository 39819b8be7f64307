"""The arguments of a kernel as text: `-a`, `[tool.nkijit]` and `@nkijit.example`.

| text | argument |
|---|---|
| `128x512:float32` | a tensor: its shape and data type |
| `2`, `-0.5`, `1e-3`, `inf`, `true`, `none` | a number, a boolean, None, in any case |
| `'relu'`, `"relu"` | a string |
| `nl.bfloat16`, `nisa.engine.vector` | the member of NKI's API with this name |
| `[…]`, `(…, …)`, `{name: …}` | a list, a tuple, a dictionary of any of these |
| `@x.npy` | the array of a file |
| `@args.py:name` | a member of a Python file, such as a dataclass of tensors or a function |
| `random` | random data for a tensor whose shape other settings give |

Other text is an error. A word without quotes is not a string: it could be a mistyped `false`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, cast

from nkijit.dialects.spelling import did_you_mean
from nkijit.discovery.python_files import run_file
from nkijit.host.array_files import load_array
from nkijit.host.missing_files import missing_file
from nkijit.kernels.arguments import TensorSpec


class ArgumentTextError(ValueError):
    """A text that cannot be parsed as an argument. The message marks the error and suggests a fix.

    Args:
        message: the message of the error.
        text: the whole text.
        start: the position of the wrong part's first character.
        end: the position after the last character of the wrong part.
        help: the fix, for a `help:` line.
    """

    def __init__(self, message: str, text: str, start: int, end: int, help: str = ""):
        super().__init__(message)
        self.message, self.help = message, help
        self._text, self._start, self._end = text, start, max(end, start + 1)

    def __str__(self) -> str:
        first = max(0, self._start - _AROUND)
        last = min(len(self._text), max(self._start + _AROUND, first + 2 * _AROUND))
        before, after = "…" * (first > 0), "…" * (last < len(self._text))
        marker = " " * (len(before) + self._start - first)
        marker += "^" * (min(self._end, last + len(after)) - self._start)
        shown = [f"  {before}{self._text[first:last]}{after}", f"  {marker}"]
        helps = [f"help: {self.help}"] if self.help else []
        return "\n".join([self.message, *(shown if self._text.strip() else []), *helps])


class Random:
    """The argument `random`: random data for a tensor whose shape other settings give."""

    def __repr__(self) -> str:
        return "random"


RANDOM = Random()

_AROUND = 40
"""The number of characters that error messages show before and after a mistake."""
_DEPTH = 32
"""The maximum nesting of lists, to stay below Python's recursion limit."""
_ATOM = re.compile(r"""[^\s,\[\](){}'"]+""")
_KEY = re.compile(r"""[^\s,:\[\](){}'"]+""")
_PATH = re.compile(r"""[^,\[\](){}]+""")
_MEMBER = re.compile(r".+\.py:[^\W\d]\w*")
_NUMBER = re.compile(r"[+-]?(\d|\.\d)[\w.+-]*")
_WORDS = {
    "true": True,
    "false": False,
    "none": None,
    "inf": float("inf"),
    "nan": float("nan"),
    "random": RANDOM,
}
_MODULES = {"nl": "nkijit.language", "nisa": "nkijit.isa", "nki": "nkijit"}
_EXAMPLES = "128x512:float32 is a tensor, 2.0 a number, true and none are words"


def argument_of(text: str, folder: Path | None = None) -> Any:
    """Parse the text of an argument.

    Args:
        text: in the syntax of the module's table.
        folder: base of relative paths; the current folder by default.

    Tensors are returned as `TensorSpec`. Arrays are memory-mapped, so their data is read on access.
    Raises ArgumentTextError for other text, for files that cannot be read and for missing members.

    Example: `argument_of("{w: 4x8:bfloat16, axes: [0, 1]}")` is
    `{"w": TensorSpec((4, 8), "bfloat16"), "axes": [0, 1]}`.
    """
    return _Parser(text, folder or Path()).whole()


def written_argument(value: Any, folder: Path) -> Any:
    """Apply `argument_of` to the strings in a value, including strings in containers.

    Raises ArgumentTextError for strings that cannot be parsed. Example:
    `written_argument(["4x8:int8", 2], Path())` is `[TensorSpec((4, 8), "int8"), 2]`.
    """
    return _with_texts_read(value, lambda text: argument_of(text, folder))


def with_tensors(value: Any) -> Any:
    """Replace strings such as `4x8:int8` in a call's argument by a `TensorSpec`.

    Strings in containers are replaced as well; other strings are unchanged. Raises ValueError for a
    string that looks like a tensor but cannot be parsed. Example:
    `with_tensors(["4x8:int8", "fast"])` is
    `[TensorSpec((4, 8), "int8"), "fast"]`.
    """
    return _with_texts_read(
        value, lambda text: TensorSpec.parse(text) if TensorSpec.is_meant(text) else text
    )


def _with_texts_read(value: Any, read: Callable[[str], Any]) -> Any:
    """Apply `read` to the strings of a value, also in lists, tuples and dictionary values."""
    if isinstance(value, str):
        return read(value)
    if type(value) in (list, tuple):
        return type(value)(_with_texts_read(each, read) for each in cast("Sequence[Any]", value))
    if type(value) is dict:
        items = cast("dict[Any, Any]", value).items()
        return {name: _with_texts_read(each, read) for name, each in items}
    return value


class _Parser:
    def __init__(self, text: str, folder: Path):
        self._text = text
        self._at = 0
        self._folder = folder

    def whole(self) -> Any:
        """Parse all of the text as one argument."""
        self._skip()
        if self._at == len(self._text):
            self._fail("there is no value", self._at, help=_EXAMPLES)
        if self._peek() == "@" and self._text[self._at + 1 : self._at + 2] not in ("'", '"'):
            return self._file(self._text[self._at + 1 :].strip(), self._at, len(self._text))
        value = self._value(0)
        self._skip()
        if self._at < len(self._text):
            self._fail("there is more after the value", self._at, len(self._text), help=_EXAMPLES)
        return value

    def _fail(self, message: str, start: int, end: int | None = None, help: str = "") -> NoReturn:
        raise ArgumentTextError(message, self._text, start, start + 1 if end is None else end, help)

    def _skip(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, pattern: re.Pattern[str]) -> tuple[str, int]:
        match = pattern.match(self._text, self._at)
        if match is None:
            found = self._peek()
            shown = f"'{found}'" if found else "the end"
            self._fail(f"expected a value, got {shown}", self._at, help=_EXAMPLES)
        self._at = match.end()
        return match[0], match.start()

    # ---------------------------------------------------------------- values

    def _value(self, depth: int) -> Any:
        self._skip()
        if depth > _DEPTH:
            self._fail("too many nested lists", self._at)
        match self._peek():
            case "[":
                return self._items("]", depth)[0]
            case "(":
                items, comma = self._items(")", depth)
                return items[0] if len(items) == 1 and not comma else tuple(items)
            case "{":
                return self._dictionary(depth)
            case "'" | '"':
                return self._string()
            case "@":
                start = self._at
                self._at += 1
                quoted = self._peek() in ("'", '"')
                path = self._string() if quoted else self._take(_PATH)[0].strip()
                return self._file(path, start, self._at)
            case _:
                return self._atom(*self._take(_ATOM))

    def _items(self, end: str, depth: int) -> tuple[list[Any], bool]:
        """Parse a list up to the bracket `end`. Also returns whether it ends with a comma."""
        items: list[Any] = []
        comma = self._each(end, lambda: items.append(self._value(depth + 1)))
        return items, comma

    def _each(self, end: str, read: Callable[[], None]) -> bool:
        """Call `read` for each item up to the bracket `end`. Returns whether a comma is last."""
        opened = self._at
        self._at += 1
        comma = True
        while True:
            self._skip()
            if self._peek() == end:
                self._at += 1
                return comma
            if not self._peek():
                self._fail(f"'{self._text[opened]}' is not closed", opened)
            if not comma:
                self._fail(f"expected ',' or '{end}'", self._at)
            read()
            self._skip()
            comma = self._peek() == ","
            self._at += comma

    def _dictionary(self, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}

        def read() -> None:
            start = self._at
            if self._peek() in ("'", '"'):
                key: Any = self._string()
            elif self._peek() in "[({":
                self._fail("a key is a name or a number", start)
            else:
                text, _ = self._take(_KEY)
                key = text if text.isidentifier() else self._number(text, start)
            self._skip()
            if self._peek() != ":":
                self._fail("expected ':' after the key", self._at)
            self._at += 1
            if key in found:
                self._fail(f"the key {key!r} is given twice", start, self._at - 1)
            found[key] = self._value(depth + 1)

        self._each("}", read)
        return found

    def _string(self) -> str:
        start = self._at
        quote = self._peek()
        self._at += 1
        while self._peek() not in ("", quote):
            self._at += 2 if self._peek() == "\\" else 1
        if not self._peek():
            self._fail("the string is not closed", start)
        self._at += 1
        try:
            return str(ast.literal_eval(self._text[start : self._at]))
        except (SyntaxError, ValueError) as error:
            self._fail(f"is not a Python string: {error}", start, self._at)

    def _atom(self, text: str, start: int) -> Any:
        end = start + len(text)
        if TensorSpec.is_meant(text):
            try:
                return TensorSpec.parse(text)
            except ValueError as error:
                self._fail(str(error), start, end)
        word = text.lower().removeprefix("+")
        if word.removeprefix("-") in ("inf", "nan"):
            return float(word)
        if word in _WORDS:
            return _WORDS[word]
        if ":" in text and text.removeprefix("-")[:1].isnumeric():
            self._fail("expected SHAPE:DTYPE, e.g. 128x512:float32", start, end)
        if re.fullmatch(r"[1-9]\d*(x\d+)+", text):
            self._fail(f"a tensor needs a data type, e.g. {text}:float32", start, end)
        if _NUMBER.fullmatch(text):
            return self._number(text, start)
        root, dot, rest = text.partition(".")
        if dot and root in _MODULES:
            return self._named(root, rest, start, end)
        self._refuse(text, start, end)

    def _number(self, text: str, start: int) -> Any:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            value = None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        self._refuse(text, start, start + len(text))

    def _refuse(self, text: str, start: int, end: int) -> NoReturn:
        shown = text if len(text) <= _AROUND else f"{text[:_AROUND]}…"
        near = did_you_mean(text.lower(), _WORDS)
        language = import_module(_MODULES["nl"])
        if text.isidentifier() and text in language.__all__:
            near = f"; did you mean nl.{text}, or the string?"
        help = f"""a string needs quotes: "'{shown}'"; {_EXAMPLES}"""
        if text.endswith(".npy"):
            help = f"write @{text} to read the array of the file"
        elif _MEMBER.fullmatch(text):
            help = f"write @{text} to read the member of the file"
        self._fail(f"'{shown}' is not a value{near}", start, end, help)

    def _named(self, root: str, names: str, start: int, end: int) -> Any:
        """Return the member of a module of NKI's API, e.g. `engine.vector` of `nisa`."""
        found: Any = import_module(_MODULES[root])
        for name in names.split("."):
            if name.startswith("_"):
                self._fail("names do not begin with '_'", start, end)
            try:
                found = getattr(found, name)
            except AttributeError as error:
                self._fail(str(error), start, end)
        return found

    # ---------------------------------------------------------------- files

    def _file(self, path: str, start: int, end: int) -> Any:
        if path.endswith(".npy"):
            try:
                return load_array(self._folder / path, mapped=True)
            except FileNotFoundError:
                self._fail(missing_file(self._folder / path), start, end)
            except (OSError, ValueError) as error:
                self._fail(f"cannot read {path}: {error}", start, end)
        file, colon, name = path.rpartition(":")
        if not colon or not file.endswith(".py") or not name.isidentifier():
            self._fail("expected @FILE.npy, or @FILE.py:NAME", start, end)
        if not (self._folder / file).is_file():
            self._fail(missing_file(self._folder / file), start, end)
        members = vars(run_file(self._folder / file))
        if name not in members:
            known = [each for each in members if not each.startswith("_")]
            self._fail(f"{file} has no '{name}'{did_you_mean(name, known)}", start, end)
        return members[name]
