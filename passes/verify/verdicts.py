"""Programs that verification found nothing in, remembered between processes.

Test suites and scripts verify the same kernels in every process. The cache has the digests of
programs without findings; programs with findings are verified again, as findings refer to their
operations. A digest covers all of a program, with its source locations, and nkijit's own code, so
an edit of either leads to a new verification.
"""

from __future__ import annotations

import hashlib
import os
import sys
from array import array
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import xdsl
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, MemRefType
from xdsl.ir import Attribute, Block, Data, Operation, ParametrizedAttribute, SSAValue

import nkijit.dialects
import nkijit.passes
from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.disk_cache import DiskCache
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.tiles import NkiMemRef, tile_info
from nkijit.dialects.walks import all_in, directly_in
from nkijit.passes.diagnostics.diagnostic import Diagnostic

CACHE_VARIABLE = "NKIJIT_VERDICT_CACHE"
"""The variable that names the cache's folder; empty disables the cache."""
LEAST_OPERATIONS = 2_000
"""Verification of smaller programs takes too little time to look for files."""


def remembered(
    kernels: Sequence[KernelOp], verify: Callable[[], list[Diagnostic]]
) -> list[Diagnostic]:
    """Return `verify()`, without the call if it is known to find nothing in these programs."""
    known = DiskCache.of_environment(CACHE_VARIABLE, "verdicts")
    if not known.enabled or sum(1 for k in kernels for _ in all_in(k)) < LEAST_OPERATIONS:
        return verify()
    name = digest_of(kernels)
    if known.load(name) is not None:
        return []
    found = verify()
    if not found:
        known.store(name, b"")
    return found


def digest_of(kernels: Sequence[KernelOp]) -> str:
    """Return a digest of the programs of a launch and of nkijit's code."""
    writer = _Writer()
    for kernel in kernels:
        writer.add(kernel)
    content = hashlib.sha256(_own_code().encode())
    content.update(array("q", writer.numbers).tobytes())
    content.update(repr(writer.texts).encode())
    return content.hexdigest()


class _Writer:
    """Writes programs as numbers, which refer to texts of attributes and names."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.texts: list[str] = []
        """The text of each attribute and name; the numbers are positions in this list."""
        self._known: dict[str, int] = {}
        # By identity: hashing values and attributes costs a call of a Python function.
        self._attributes: dict[int, int] = {}
        self._values: dict[int, int] = {}

    def add(self, op: Operation) -> None:
        """Add an operation with its regions."""
        numbers, values, known = self.numbers, self._values, self._attributes
        operands, results = operand_tuple(op), op.results
        numbers += (self._number(op.name), self._attribute(op.location), len(operands))
        numbers += [values[id(operand)] for operand in operands]
        numbers += (len(results), len(op.properties), len(op.attributes), len(op.regions))
        for result in results:
            self._define(result)
        for named in (op.properties, op.attributes):
            for name, attr in named.items():
                number = known.get(id(attr))
                numbers += (self._number(name), self._attribute(attr) if number is None else number)
        for region in op.regions:
            numbers.append(len(region.blocks))
            for block in region.blocks:
                self._add_block(block)

    def _add_block(self, block: Block) -> None:
        self.numbers.append(len(block.args))
        for argument in block.args:
            self._define(argument)
        ops = list(directly_in(block))
        self.numbers.append(len(ops))
        for op in ops:
            self.add(op)

    def _define(self, value: SSAValue) -> None:
        self._values[id(value)] = len(self._values)
        self.numbers += (self._attribute(value.type), self._number(value.name_hint or ""))

    def _number(self, text: str) -> int:
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = len(self.texts)
            self.texts.append(text)
        return number

    def _attribute(self, attr: Attribute) -> int:
        number = self._attributes.get(id(attr))
        if number is None:
            number = self._attributes[id(attr)] = self._number(self._text(attr))
        return number

    def _text(self, attr: Attribute) -> str:
        """Return a text that is equal only for equal attributes."""
        known: Any = attr
        if isinstance(known, MemRefType):  # most attributes of large programs
            tile = tile_info(cast(NkiMemRef, known))
            words = (tile.region, tile.indirection, type(cast(NkiMemRef, known).layout).__name__)
            return f"{tile.dtype.name}{tile.shape}{tile.strides}{tile.offset}{words}"
        parts: list[int] | None = None
        if isinstance(known, ParametrizedAttribute):
            parts = [self._attribute(parameter) for parameter in known.parameters]
        elif isinstance(known, ArrayAttr):
            elements = cast(ArrayAttr[Attribute], known).data
            parts = [self._attribute(element) for element in elements]
        elif isinstance(known, DictionaryAttr):
            pairs = known.data.items()
            parts = [n for k, v in pairs for n in (self._number(k), self._attribute(v))]
        if parts is not None:
            return f"{attr.name}{parts}"
        content: object = cast(Any, attr).data if isinstance(attr, Data) else None
        if isinstance(content, Enum):
            return f"{attr.name} {content.name}"
        if isinstance(content, (str, int, float, bytes)):
            return f"{attr.name} {content!r}"
        return str(cast(Any, attr))


@cache
def _own_code() -> str:
    """Return a description of the code that verifies: its files and the libraries it uses."""
    packages = (nkijit.dialects, nkijit.passes)
    folders = [Path(path) for package in packages for path in package.__path__]
    files = [
        (entry, status.st_size, status.st_mtime_ns)
        for folder in folders
        for entry in sorted(folder.rglob("*.py"))
        for status in (os.stat(entry),)
    ]
    return repr((sys.version_info, np.__version__, str(xdsl.__version__), files))
