"""Kernels as Python files, for `TracedKernel.source` and `nkijit export`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from nkijit.dialects.collection import without_collection
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.spelling import numbered
from nkijit.dialects.tiles import info_of
from nkijit.export.body import Body
from nkijit.export.constants import data_lines
from nkijit.export.cores import CORE, merged_programs
from nkijit.export.errors import ExportError
from nkijit.export.layout import wrapped
from nkijit.export.names import MODULES, Names
from nkijit.export.settle import settled
from nkijit.export.statements import Statement, lines_of
from nkijit.passes.transform.reroll import rerolled
from nkijit.passes.transform.unroll import unrolled

_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
_MODULE = re.compile(rf"\b({'|'.join(MODULES)})\.")
_FEW = 3
"""The maximum number of results for which the return annotation lists each type."""
_STANDARD = ("base64", "zlib")


@without_collection()
def source_of(
    launches: Sequence[Sequence[KernelOp]],
    *,
    comments: bool = True,
    loops: bool = True,
    notes: Sequence[str] = (),
) -> str:
    """Return the text of a file with kernels of the current API.

    Args:
        launches: the kernels, each with its programs for all cores.
        comments: quote source lines in comments.
        loops: write repetitions as loops; otherwise write every instruction.
        notes: lines for a comment above the kernels.

    Raises:
        ExportError: the API cannot express the kernel.
    """
    names = Names()
    functions = [_kernel(cores, names, loops=loops) for cores in launches]
    used = {"nki", "nl", *(name for kernel in functions for name in kernel.modules())}
    data = {name: text for kernel in functions for name, text in kernel.data.items()}
    lines = [*_docstring(functions), "", *_imports(used)]
    for name, text in data.items():
        lines += ["", *data_lines(name, text)]
    lines += ["", *(f"# {note}".rstrip() for note in notes)] if notes else []
    for kernel in functions:
        lines += ["", "", *kernel.lines(comments=comments)]
    return "\n".join(lines) + "\n"


def _kernel(cores: Sequence[KernelOp], taken: Names, *, loops: bool) -> _Kernel:
    name = taken.of(cores[0].launch_name, "kernel")
    flat = [unrolled(core) for core in cores]
    if not loops:
        return _Kernel(flat, name, taken)
    try:
        looped = _Kernel([rerolled(settled(core)) for core in flat], name, taken)
    except ExportError:  # even if there is no text for a loop, each instruction may have one
        return _Kernel(flat, name, taken)
    if looped.size <= _LONG * sum(1 for op in flat[0].operations if is_instruction(op)):
        return looped
    # Iterations that passes made equivalent may differ in the positions of allocations.
    try:
        other = _Kernel([rerolled(settled(core, tiles=True)) for core in flat], name, taken)
    except ExportError:
        return looped
    return other if other.size < _LONG * looped.size else looped


_LONG = 0.8
"""A text counts as shorter if it has at most this fraction of the other text's statements."""


class _Kernel:
    """The text of a kernel: a Python function with statements for all cores."""

    def __init__(self, cores: Sequence[KernelOp], name: str, taken: Names):
        self.first = cores[0]
        self.name = name
        self.data: dict[str, str] = {}
        several = len(cores) > 1
        bodies = [Body(core, taken.inside(CORE), self.data, offsets=several) for core in cores]
        self.arguments = bodies[0].arguments
        self.cores = len(cores)
        self.statements = merged_programs([body.statements() for body in bodies])

    @property
    def size(self) -> int:
        """The number of statements in the kernel, including nested ones."""
        return sum(1 for _ in self._all())

    def _all(self) -> Iterator[Statement]:
        pending = list(self.statements)
        while pending:
            statement = pending.pop()
            yield statement
            pending += statement.body or ()

    def modules(self) -> set[str]:
        """Return the names of the modules that the kernel's statements use."""
        found = set[str]()
        for statement in self._all():
            found.update(_MODULE.findall(_STRING.sub("", statement.text)))
        return found

    def lines(self, *, comments: bool) -> Iterable[str]:
        parameters = ", ".join(f"{name}: nl.NkiTensor" for name in self.arguments)
        yield "@nki.jit"
        yield from wrapped(f"def {self.name}({parameters}) -> {self._result()}:")
        body = self.statements or [Statement("pass")]
        yield from lines_of(body, 1, comments=comments)

    def _result(self) -> str:
        end = self.first.return_op
        types = ["nl.NkiTensor"] * len(end.values)
        container = end.container
        if not isinstance(container, StringAttr):
            return types[0] if types else "None"
        if container.data == "tuple":
            several = len(types) > _FEW
            return f"tuple[{f'{types[0]}, ...' if several else ', '.join(types) or '()'}]"
        return "dict[str, nl.NkiTensor]" if container.data == "dict" else "list[nl.NkiTensor]"

    def described(self) -> list[str]:
        """Return the lines about this kernel in the module docstring."""
        target = self.first.target_name.data
        cores = f", launched on {numbered(self.cores, 'core')}: {self.name}[{self.cores}](...)"
        lines = [f"{self.name}, for {target}{cores if self.cores > 1 else ''}", ""]
        lines += [
            f"    {name}: {_type(value)}"
            for name, value in zip(self.arguments, self.first.arguments, strict=True)
        ]
        return [*lines, *(f"    returns {_type(v)}" for v in self.first.return_op.values)]


def _type(value: SSAValue) -> str:
    info = info_of(value)
    return f"{'x'.join(map(str, info.shape))}:{info.dtype.name}"


def _docstring(kernels: Sequence[_Kernel]) -> list[str]:
    word = "A kernel" if len(kernels) == 1 else "Kernels"
    lines = [
        f'"""{word} of NKI, written by nkijit from IR.',
        "",
        "It is for these shapes and data types. Other arguments of the original kernel are",
        "numbers in the text; tensors inside of objects are arguments.",
    ]
    for kernel in kernels:
        lines += ["", *kernel.described()]
    return [*lines, '"""']


def _imports(used: set[str]) -> list[str]:
    standard = [MODULES[name] for name in MODULES if name in used and name in _STANDARD]
    others = [MODULES[name] for name in MODULES if name in used and name not in _STANDARD]
    return [*standard, *([""] if standard else []), *others]


__all__: list[Any] = ["source_of"]
