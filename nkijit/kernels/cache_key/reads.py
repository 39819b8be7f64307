"""The outside values that the code of a function reads: globals, modules, closures."""

from __future__ import annotations

import dis
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, cast

from nkijit.host.identities import Noted
from nkijit.host.installed import is_library_code, words

Chain = tuple[str, ...]
"""The attributes that directly follow a name: `("cfg", "TILE")` of `settings.cfg.TILE`."""


@dataclass(eq=False, slots=True)
class Reads:
    """The outside values that a code object, with the functions defined in it, reads.

    There is one instance per code object. Cache keys contain the instance instead of the code.
    """

    code_name: str
    """The qualified name of the function."""
    names: dict[str, list[Chain]] = field(default_factory=dict[str, list[Chain]])
    """The globals and builtins that are read, by name, each with the attribute chains after it.

    The chain `()` means that the value itself is used.
    """
    free: dict[str, list[Chain]] = field(default_factory=dict[str, list[Chain]])
    """The variables of enclosing functions that the code reads, each with its attribute chains."""
    imports: dict[tuple[str, int, str], list[Chain]] = field(
        default_factory=dict[tuple[str, int, str], list[Chain]]
    )
    """The imports in the function, each with the attribute chains after it.

    A key is (module, level, name): level is 1 for `from .x import name`; name is "" for the module
    itself.
    """
    attributes: set[str] = field(default_factory=set[str])
    """Names of all attributes that the code reads."""
    door: str = ""
    """An attribute in the code that gives access to all names (`__globals__`, …); "" if none."""
    digest: bytes = b""
    """The digest of the code and its line numbers, equal across processes; empty for libraries."""
    is_library: bool = False
    """Whether the code's file belongs to Python, nkijit or an installed package."""

    @property
    def where(self) -> str:
        """The function's name in messages."""
        return f"function '{self.code_name}'"


_known: Noted[Reads] = Noted()
"""The reads of each code object, by identity.

Equal code objects may be in different files, and comparing them is slow.
"""


def reads_of(code: CodeType) -> Reads:
    """Return the outside values that a code object reads."""
    found = _known.of(code)
    if found is not None:
        return found
    reads = Reads(code.co_qualname, is_library=is_library_code(code.co_filename))
    _add(reads, code)
    if not reads.is_library:
        reads.digest = _digest_of(code)
    reads.door = min(reads.attributes & _DOORS, default="")
    return _known.note(code, reads)


def _digest_of(code: CodeType) -> bytes:
    """Return a digest of the bytes, constants and lines of code, without the path of its file."""
    digest = hashlib.blake2b(code.co_code + code.co_linetable, digest_size=16)
    digest.update(repr((code.co_firstlineno, code.co_names, code.co_varnames)).encode())
    for constant in code.co_consts:
        is_code = isinstance(constant, CodeType)
        digest.update(_digest_of(constant) if is_code else _constant_text(constant).encode())
    return digest.digest()


def _constant_text(constant: Any) -> str:
    """Return a constant of code as text; sets are sorted, as their order differs by process."""
    if isinstance(constant, frozenset):
        return f"frozenset{sorted(map(repr, cast('frozenset[Any]', constant)))}"
    return repr(constant)


_DOORS = words(
    "__builtins__ __globals__ __loader__ __spec__ __subclasses__ cr_frame f_back f_builtins"
    " f_globals f_locals gi_frame tb_frame"
)
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_FREE = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_NO_EFFECT = ("CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL")
_FUSED = re.compile(r"(LOAD|STORE)_FAST(?:_BORROW)?_(LOAD|STORE)_FAST(?:_BORROW)?")

_Step = tuple[str, Any]
"""The name and argument of a bytecode instruction."""


def _steps(code: CodeType) -> Iterator[_Step]:
    """Yield bytecode instructions in a form that is equal for all supported Python versions."""
    for step in dis.get_instructions(code):
        name = step.opname
        fused = _FUSED.fullmatch(name)
        if fused is not None:
            yield from zip((f"{word}_FAST" for word in fused.groups()), step.argval, strict=True)
        elif name.startswith("LOAD_FAST"):
            yield "LOAD_FAST", step.argval
        elif name not in _NO_EFFECT:
            yield "LOAD_ATTR" if name == "LOAD_METHOD" else name, step.argval


def _add(reads: Reads, code: CodeType) -> None:
    steps = list(_steps(code))
    imported = _imported(steps, {*code.co_cellvars})
    for index, (name, argument) in enumerate(steps):
        roots: dict[Any, list[Chain]] | None = None
        root: Any = argument
        if name in _GLOBALS:
            roots = reads.names
        elif name in _FREE and argument not in code.co_cellvars:
            roots = reads.free
        elif name == "LOAD_FAST" and argument in imported:
            roots, root = reads.imports, imported[argument]
        if roots is not None:
            _note(roots, root, tuple(_attributes_after(steps, index)))
    for source in _sources(steps):
        if source not in imported.values():
            _note(reads.imports, source, ())
    reads.attributes.update(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _add(reads, constant)


def _note(roots: dict[Any, list[Chain]], root: Any, chain: Chain) -> None:
    chains = roots.setdefault(root, [])
    if chain not in chains:
        chains.append(chain)


def _attributes_after(steps: list[_Step], index: int) -> Iterator[str]:
    for name, argument in steps[index + 1 :]:
        if name != "LOAD_ATTR":
            return
        yield str(argument)


_Source = tuple[str, int, str]


def _sources(steps: list[_Step]) -> dict[_Source, int]:
    """Return the imports, each with the index of the instruction that pushes its value.

    The index is -1 for an import whose value is not pushed.
    """
    found: dict[_Source, int] = {}
    module, level, taken = "", 0, None
    for index, (name, argument) in enumerate(steps):
        if name == "IMPORT_NAME":
            module, level, taken = argument, steps[index - 2][1], steps[index - 1][1]
            if not taken:
                # `import a.b` binds a; `import a.b as c` reads the attribute b.
                found[module.partition(".")[0], level, ""] = index
                if "." in module:
                    found[module, level, ""] = -1
            elif taken == ("*",):
                found[module, level, ""] = -1
        elif name == "IMPORT_FROM" and taken:
            found[module, level, argument] = index
    return found


def _imported(steps: list[_Step], shared: set[str]) -> dict[str, _Source]:
    """Map each local variable to its import, if the variable has no other assignment."""
    sources = {index: source for source, index in _sources(steps).items()}
    found: dict[str, set[_Source | None]] = {}
    for index, (name, argument) in enumerate(steps):
        if name == "STORE_FAST":
            found.setdefault(argument, set()).add(sources.get(index - 1))
    return {
        variable: source
        for variable, (source, *others) in found.items()
        if source is not None and not others and variable not in shared
    }
