"""Parser for untrusted IR text: resources are bounded, and every error has a line and column.

The grammar is the grammar of xDSL's parser. The subclasses here read string literals in linear
time. They limit nesting, the size of expanded aliases, and the size of numbers.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from math import prod
from string import digits
from typing import IO, NoReturn, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    AnyFloat,
    ComplexType,
    FileLineColLoc,
    IndexType,
    IntAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    RankedStructure,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.parser import Parser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException
from xdsl.utils.lexer import Input, Position, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

from nkijit.dialects.collection import without_collection
from nkijit.dialects.core_program import IllFormedInside
from nkijit.dialects.files import read_regular
from nkijit.dialects.nki.constant import MAX_CONSTANT_BYTES, ConstantOp
from nkijit.dialects.nki.repeat import is_written_once
from nkijit.passes.diagnostics.source_text import claim_source, parsed_as
from nkijit.passes.transform.unroll import unroll

MAX_TEXT_BYTES = 1 << 28
"""Maximum size of a file of IR. The constants of a whole model are smaller."""

MAX_NESTING = 64
"""Maximum nesting of regions and attributes. Python's stack can hold several times as many."""

MAX_WRITTEN_OUT = 1 << 25
"""Maximum characters of all expanded aliases: nested aliases can grow exponentially."""

MAX_DIGITS = 1000
"""Maximum digits of a number."""

MAX_BITS = (1 << 24) - 1
"""Maximum bits of an integer type, as in MLIR (https://mlir.llvm.org/docs/Dialects/Builtin/)."""

MAX_AFFINE_CHARACTERS = 600
"""Maximum characters of an affine map or set; nkijit's dialects use none."""

MAX_DENSE_ELEMENTS = 1 << 20
"""Maximum elements of a dense literal. xDSL creates them all, even from a single value."""


class InvalidOperation(VerifyException):
    """The error for an operation that parses but does not verify, with its position in the text."""

    def __init__(self, message: str, span: Span[str]):
        super().__init__(message)
        self.msg = message
        self.span = span

    def __str__(self) -> str:
        return self.span.print_with_context(self.msg)


def read_ir(path: str | os.PathLike[str]) -> str:
    """Return the text of a file of IR.

    Raises OSError when the file cannot be read, is too large or is not a regular file, and
    ParseError at the first byte that is not UTF-8.
    """
    name = os.fspath(path)
    return decoded(read_regular(name, MAX_TEXT_BYTES), name)


def read_stream(stream: IO[bytes], name: str) -> str:
    """Return the text of a stream of IR.

    Raises ValueError if the text is too large, and otherwise the exceptions of `read_ir`.
    """
    data = stream.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise ValueError(f"{name}: is larger than {MAX_TEXT_BYTES >> 20} MiB")
    return decoded(data, name)


def decoded(data: bytes, name: str) -> str:
    """Decode the bytes of IR. Raises ParseError at the first byte that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        shown = Input(before + data[error.start :].decode("utf-8", errors="replace"), name)
        place = Span(len(before), len(before) + 1, shown)
        raise ParseError(place, f"the text is not UTF-8: {error.reason}") from None


@without_collection()
def parse_ir(
    context: Context,
    text: str,
    name: str | None,
    *,
    implicit_module: bool = True,
    verify: bool = True,
    lines_before: int = 0,
    rolled: bool = False,
) -> ModuleOp:
    """Parse IR text and verify it.

    If the text has a name, the location of an operation without `loc` is its position in the text,
    as in MLIR.

    Args:
        context: the xDSL context with the dialects.
        text: the IR.
        name: the name of the file that the text comes from.
        implicit_module: wrap the operations of a text without a module in a module.
        verify: run xDSL's verification of all operations.
        lines_before: the number of lines of the file before the text.
        rolled: retain `nki.repeat`, which only `reroll` and `unroll` accept. By default it is
            unrolled.

    Raises ParseError for text that does not parse, InvalidOperation for operations that do not
    verify.
    """
    parser = _Parser(context, text, name, lines_before)
    module = parser.parse_all(implicit_module)
    if verify:
        parser.verify(module)
    if not rolled and parser.has_repeats:
        parser.unroll(module, verify=verify)
    return module


class _Lexer(MLIRLexer):
    """xDSL's lexer, with the string literals of MLIR's lexer.

    A literal ends on its line. Escapes are `\\n`, `\\t`, `\\\\`, `\\"` and two hexadecimal digits
    for a byte of UTF-8 (https://github.com/llvm/llvm-project, `mlir/lib/AsmParser`).
    """

    # The expression is unambiguous, so there is no backtracking. xDSL's own takes time exponential
    # in the length of a literal that does not match.
    _inside = re.compile(r'"[^"\\\n\v\f]*(?:\\(?:["nt\\]|[0-9A-Fa-f]{2})[^"\\\n\v\f]*)*')

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        text = self.input.content
        match = self._inside.match(text, start_pos)
        end = start_pos if match is None else match.end()
        following = self.input.at(end)
        if following == "\\":
            self._refuse(end, f"the string has an unknown escape, {text[end : end + 2]}")
        if following != '"':
            self._refuse(start_pos, "the string is not closed on its line")
        self.pos = end + 1
        literal = StringLiteral(start_pos, self.pos, self.input)
        if text.find("\\", start_pos, end) >= 0:
            try:
                literal.bytes_contents.decode()
            except UnicodeDecodeError:
                return Token(MLIRTokenKind.BYTES_LIT, literal)
        return Token(MLIRTokenKind.STRING_LIT, literal)

    def _lex_number(self, start_pos: Position) -> MLIRToken:
        if self.input.content[start_pos] not in digits:  # `str.isnumeric` is true for ² as well
            self._refuse(start_pos, "unexpected character")
        token = super()._lex_number(start_pos)
        if self.pos - start_pos > MAX_DIGITS:
            self._refuse(start_pos, f"the number has more than {MAX_DIGITS} digits")
        return token

    def _refuse(self, pos: Position, message: str) -> NoReturn:
        raise ParseError(Span(pos, pos + 1, self.input), message)


class _Aliases(dict[str, Attribute]):
    """Aliases of attributes. `used` is called with the name of each alias that is expanded."""

    def __init__(self, used: Callable[[str], None]):
        super().__init__()
        self._used = used

    def __getitem__(self, name: str) -> Attribute:
        self._used(name)
        return super().__getitem__(name)


class _Parser(Parser):
    """xDSL's parser with limits, which records the position of each operation."""

    def __init__(self, context: Context, text: str, name: str | None, lines_before: int):
        shown = "<text>" if name is None else name
        super().__init__(context, "", shown)
        self._parser_state = ParserState(_Lexer(Input(text, shown)))
        self._places: dict[Operation, Span[str]] = {}
        self._name = None if name is None else StringAttr(name)
        if name is not None:
            parsed_as(name)
        self._lines_before = lines_before
        self._lines = [match.end() for match in re.finditer("\n", text)]
        self._has_location = False  # of the operation that was read last
        self.has_repeats = False
        """Whether the text has a `nki.repeat` or an operation that only occurs with repeats."""
        self._depth = 0
        self._deepest = 0
        self._constant_bytes = 0
        self._written_out = 0  # characters of all aliases expanded so far
        self._extents: dict[str, tuple[int, int]] = {}  # per alias: expanded characters, and depth
        self.attribute_aliases = _Aliases(self._use_alias)

    def parse_all(self, implicit_module: bool) -> ModuleOp:
        """Parse the module. Errors that xDSL raises without a position get the current position."""
        try:
            return self.parse_module(implicit_module)
        except ParseError:
            raise
        except VerifyException as error:
            raise InvalidOperation(str(error), self._current_token.span) from error
        except RecursionError:
            message = _TOO_DEEP
        except MemoryError:
            message = "this takes more memory than there is"
        except (DiagnosticException, ValueError, OverflowError) as error:
            message = str(error)
            if message.startswith("Exceeds the limit"):  # of int(), in the name of a type or value
                message = "the number has too many digits"
        except Exception as error:
            message = f"the parser has failed here: {type(error).__name__}: {error}"
            raise ParseError(self._current_token.span, message) from error
        raise ParseError(self._current_token.span, message)

    def verify(self, module: ModuleOp) -> None:
        """Raise InvalidOperation for the first operation that does not verify."""
        try:
            module.verify()
        except Exception as error:
            # xDSL does not say which operation failed: verify them one by one to find it.
            for op in _innermost_first(module):
                try:
                    _verify_alone(op)
                except IllFormedInside as found:
                    raise InvalidOperation(str(found), self._place_of(found.op)) from found
                except Exception as found:
                    raise InvalidOperation(str(found), self._place_of(op)) from found
            raise InvalidOperation(str(error), self._place_of(module)) from error

    def unroll(self, module: ModuleOp, *, verify: bool) -> None:
        """Unroll `nki.repeat`. Raises InvalidOperation if an iteration does not verify."""
        origins: dict[Operation, Operation] = {}
        try:
            unroll(module, origins)
        except IllFormedInside as error:
            raise InvalidOperation(str(error), self._place_of(error.op)) from error
        for op, origin in origins.items():
            self._places[op] = self._place_of(origin)
        if verify:
            self.verify(module)

    def _place_of(self, op: Operation) -> Span[str]:
        return self._places.get(op) or Span(0, 0, self.lexer.input)

    def _enter(self, depth: int) -> None:
        """Record the nesting depth of a region or attribute. Raises ParseError beyond the limit."""
        if depth > MAX_NESTING:
            self.raise_error(_TOO_DEEP)
        self._deepest = depth

    # Counters are not restored after an exception, because it ends the parser.

    def parse_operation(self) -> Operation:
        place = self._current_token.span
        self._depth += 1
        if self._depth > self._deepest:
            self._enter(self._depth)
        op = super().parse_operation()
        self._depth -= 1
        self._places[op] = place
        if not self._has_location and self._name is not None:
            op.location = self._location_at(self._name, place.start)
        if is_written_once(op):
            self.has_repeats = True
        if isinstance(op, ConstantOp):
            self._constant_bytes += len(op.data.data)
            if self._constant_bytes > MAX_CONSTANT_BYTES:
                self.raise_error(f"the constants have more than {MAX_CONSTANT_BYTES} bytes", place)
        return op

    def parse_optional_location(self) -> LocationAttr | None:
        location = super().parse_optional_location()
        self._has_location = location is not None
        return location

    def _location_at(self, name: StringAttr, start: Position) -> LocationAttr:
        """Return the position of an operation's name, MLIR's default location."""
        text = self.lexer.input.content
        if text[start] == "%":  # its results
            start = text.index("=", start) + 1
            start = cast(re.Match[str], _SPACE.match(text, start)).end()
        line = bisect_right(self._lines, start)
        column = start - (self._lines[line - 1] if line else 0)
        number = self._lines_before + line + 1
        return FileLineColLoc(name, IntAttr(number), IntAttr(column + 1))

    def parse_optional_attribute(self) -> Attribute | None:
        self._depth += 1
        if self._depth > self._deepest:
            self._enter(self._depth)
        attribute = super().parse_optional_attribute()
        self._depth -= 1
        return attribute

    def parse_optional_type(self) -> TypeAttribute | None:
        self._depth += 1
        if self._depth > self._deepest:
            self._enter(self._depth)
        start = self.pos
        attribute = super().parse_optional_type()
        self._depth -= 1
        if isinstance(attribute, IntegerType) and attribute.bitwidth > MAX_BITS:
            self.raise_error(f"an integer has at most {MAX_BITS} bits", start)
        return cast("TypeAttribute | None", attribute)

    def _parse_builtin_affine_map(self) -> AffineMapAttr:
        start = self.pos
        found = super()._parse_builtin_affine_map()
        self._check_affine(start)
        return found

    def _parse_builtin_affine_set(self) -> AffineSetAttr:
        start = self.pos
        found = super()._parse_builtin_affine_set()
        self._check_affine(start)
        return found

    def _check_affine(self, start: Position) -> None:
        """Limit the length of an affine map: the syntax tree of a sum is as deep as it is long."""
        if self.pos - start > MAX_AFFINE_CHARACTERS:
            self.raise_error(_TOO_DEEP, start)

    def _parse_dense_literal_type(
        self,
    ) -> RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType]:
        start = self.pos
        structure = super()._parse_dense_literal_type()
        if prod(structure.get_shape()) > MAX_DENSE_ELEMENTS:
            self.raise_error(f"a dense literal has at most {MAX_DENSE_ELEMENTS} elements", start)
        return structure

    def _parse_location(self) -> LocationAttr:
        self._depth += 1
        if self._depth > self._deepest:
            self._enter(self._depth)
        start = self.pos
        location = super()._parse_location()
        self._depth -= 1
        if isinstance(location, FileLineColLoc):
            if max(location.line.data, location.column.data) >= 1 << 32:
                self.raise_error("lines and columns have 32 bits", start)
            claim_source(location.filename.data)
        return location

    def _parse_alias_def(self) -> None:
        name, start, before = self._current_token.text, self.pos, self._written_out
        self._deepest = self._depth
        super()._parse_alias_def()
        written = self.pos - start + self._written_out - before
        self._extents[name] = (written, self._deepest - self._depth)

    def _use_alias(self, name: str) -> None:
        written, depth = self._extents[name]
        if self._depth + depth > self._deepest:
            self._enter(self._depth + depth)
        self._written_out += written
        if self._written_out > MAX_WRITTEN_OUT:
            self.raise_error(f"aliases stand for more than {MAX_WRITTEN_OUT} characters")


_SPACE = re.compile(r"(?:\s|//[^\n]*)*")
"""Spaces and comments between tokens."""

_TOO_DEEP = f"this is nested too deeply, more than {MAX_NESTING} levels"


def _innermost_first(op: Operation) -> Iterator[Operation]:
    """Yield operations in the order in which xDSL verifies them: nested operations first."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                yield from _innermost_first(inner)
    yield op


def _verify_alone(op: Operation) -> None:
    for region in op.regions:
        for block in region.blocks:
            if block.is_empty:
                block.verify()
    op.verify(verify_nested_ops=False)
