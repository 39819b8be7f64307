"""Pages of the dialects: their operations, types and attributes, with a line of IR each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc

from xdsl.ir import Attribute, Dialect, Operation

from docs._site import ROOT
from docs._site.reference.markdown import contents, fenced, page
from nkijit.dialects.engine import Engine
from nkijit.dialects.ncc import Ncc
from nkijit.dialects.nisa import Nisa
from nkijit.dialects.nki import Nki
from nkijit.reference import catalogue

FOLDER = "reference/dialects"
_INTRODUCTIONS = {
    "nki": "Kernels, loops, and the operands of instructions: allocations, views, registers.",
    "nisa": "One operation for each instruction of `nki.isa`, with its name and its arguments.",
    "ncc": "One operation for each collective of `nki.collectives`.",
    "engine": "Queues of engine instructions, as `nkijit lower` prints them.",
}


def pages() -> Iterator[tuple[str, str]]:
    """Yield the index of the dialects, and a page for each."""
    dialects = {dialect.name: dialect for dialect in (Nki, Nisa, Ncc, Engine)}
    yield (
        f"{FOLDER}/index.md",
        page(
            "# Dialects",
            "The text that `nkijit trace` and `nkijit lower` print, and that `nkijit.load` and all "
            "commands read. It is MLIR's: SSA values begin with `%`, types are memrefs with a "
            "memory space (`memref<128x512xbf16, #nki.sbuf>`), `--generic` prints the generic "
            "form. A round trip through text is exact.",
            "\n".join(f"- [{name}]({name}.md): {_INTRODUCTIONS[name]}" for name in dialects),
            contents(dialects),
        ),
    )
    for name, dialect in dialects.items():
        yield f"{FOLDER}/{name}.md", dialect_page(dialect)


def dialect_page(dialect: Dialect) -> str:
    """Return the page of a dialect: its operations, types and attributes."""
    parts = [f"# The {dialect.name} dialect", _INTRODUCTIONS[dialect.name], "## Operations"]
    for op in dialect.operations:
        parts += _entry(op.name, op, _line_with(op.name))
    attributes = list(dialect.attributes)
    if attributes:
        parts.append("## Types and attributes")
    for attribute in attributes:
        parts += _entry(attribute.name, attribute, "")
    return page(*parts)


def _entry(name: str, definition: type[Operation] | type[Attribute], line: str) -> list[str]:
    prefix, _, _ = name.partition(".")
    linked = prefix in ("nisa", "ncc") and issubclass(definition, Operation) and _has_page(name)
    paragraphs = [
        catalogue.prose(part) for part in cleandoc(definition.__doc__ or "").split("\n\n")
    ]
    return [
        f"### {name}",
        *paragraphs,
        fenced(line, "mlir") if line else "",
        f"[All of {name}](../instructions/{name}.md)" if linked else "",
    ]


def _has_page(name: str) -> bool:
    from docs._site.reference.instructions import COLLECTIVES, INSTRUCTIONS

    return any(op.name == name for op in (*INSTRUCTIONS, *COLLECTIVES))


@cache
def _lines() -> dict[str, str]:
    """Return for each operation the longest line from a test that fits the page."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "tests" / "lit").rglob("*.mlir")):
        if path.name.startswith(("ill-formed", "invalid", "parse-errors")):
            continue
        for text in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            line = re.sub(r"^// CHECK\S*\s", "", text).strip()
            match = _OPERATION.match(line)
            if match and "{{" not in line and "[[#" not in line:
                known = found.get(match[1])
                if len(line) <= _WIDTH and (known is None or len(line) > len(known)):
                    found[match[1]] = line
    return found


_WIDTH = 90
_OPERATION = re.compile(r"(?:%[\w.]+(?::\d+)?(?:, %[\w.]+)* = )?((?:nki|nisa|ncc|engine)\.\w+)\b")


def _line_with(op: str) -> str:
    return _lines().get(op, "")
