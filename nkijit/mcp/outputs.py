"""The result types of the tools: small documents. Times are in ns.

`plain` converts a dataclass to a document. `form` derives the schema that clients see from the same
dataclass, and its descriptions from the docstrings.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import pairwise
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

from pydantic import Field
from typing_extensions import TypedDict  # pydantic takes no other one before Python 3.12

from nkijit.passes.advise import advice
from nkijit.passes.diagnostics.places import Position
from nkijit.passes.profile.figures import QueueUse
from nkijit.passes.profile.profile import Profile
from nkijit.sweeps import costs


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel."""

    name: str
    default: str | None
    """Python text of the default value; null if the argument is required."""


@dataclass(frozen=True)
class KernelOfFile:
    """A kernel of a file."""

    name: str
    line: int
    target: str
    arguments: tuple[Argument, ...]
    is_known: bool
    """Whether the kernel needs no further arguments, because of defaults or an example."""


@dataclass(frozen=True)
class Kernels:
    """The kernels of a file."""

    kernels: tuple[KernelOfFile, ...]


@dataclass(frozen=True)
class Text:
    """A part of a text."""

    text: str
    lines: int
    """Number of lines of the whole text."""
    next: int | None
    """`first` of the next part; null at the end."""


@dataclass(frozen=True)
class Ir(Text):
    """A traced kernel."""

    kernel: str
    target: str
    errors: int
    warnings: int


@dataclass(frozen=True, slots=True, repr=False)
class Finding(costs.Finding):
    """A violated rule, or a possible improvement."""

    help: str


@dataclass(frozen=True)
class Findings:
    """The findings of a kernel."""

    kernel: str
    target: str
    errors: int
    warnings: int
    findings: tuple[Finding, ...]
    next: int | None
    """`first` of the next part; null at the end."""


@dataclass(frozen=True)
class Array:
    """An array that a kernel returned. `least`, `largest` and `mean` exclude NaN and infinities."""

    shape: tuple[int, ...]
    dtype: str
    least: float | None
    largest: float | None
    mean: float | None
    nan: int
    infinite: int
    values: tuple[str, ...]
    """The first values."""


@dataclass(frozen=True)
class RunOf:
    """The results of a run."""

    kernel: str
    target: str
    seed: int
    results: tuple[Array, ...]


@dataclass(frozen=True)
class Difference(Text):
    """A comparison of two kernels."""

    first_time: float
    second_time: float
    first_instructions: int
    second_instructions: int


@dataclass(frozen=True)
class Optimization(Text):
    """The source of a faster kernel, with a comment for each step. Times are in ns."""

    before: float
    after: float
    level: str
    """`bits`: results are equal; `reassociated`: sums in another order; `rounding`."""
    steps: list[str]
    """The applied changes, in order; empty if no change gains."""
    complete: bool
    """False if the time for the search was over before all changes were tried."""


@dataclass(frozen=True)
class Proven:
    """The result of a comparison of two kernels for all inputs."""

    level: str | None
    """The strictest level at which the kernels are equal; null if they are not proven equal."""
    is_proven: bool
    """True if the kernels are equal at the requested level, or at a stricter one."""
    text: str
    """The result in words, with the first element that differs."""


@dataclass(frozen=True)
class Explanation(Text):
    """The description of a rule, an instruction or a function."""

    name: str


# ------------------------------------------------------------------ schemas


def form(
    of: type, doc: str | None = None, only: Sequence[str] | None = None, **more: Any
) -> type[Any]:
    """Return the TypedDict of a dataclass's JSON document, with docstrings as descriptions.

    Args:
        of: the dataclass.
        doc: the description; by default the dataclass's docstring.
        only: the names of the fields; by default all that `plain` writes.
        more: the types of further fields, or other types for existing ones.
    """
    hints, docs = get_type_hints(of), _docs_of_fields(of)
    names = [f.name for f in fields(of) if f.repr] if only is None else only
    items = {
        name: Annotated[_type_of_json(hints[name]), Field(description=docs.get(name))]
        for name in names
    }
    typed_dict: Any = TypedDict
    typed = typed_dict(of.__name__, items | more)
    typed.__doc__ = doc or of.__doc__
    return typed


def _type_of_json(hint: Any) -> Any:
    """Return the type of a value after `plain`."""
    if hint is Position:
        return Annotated[str, Field(description="`file:line:column`")]
    if is_dataclass(hint):
        return form(cast(type, hint))
    origin = get_origin(hint)
    parts: Any = tuple(_type_of_json(part) for part in get_args(hint) if part is not ...)
    if origin is tuple:
        return list[parts]
    return Union[parts] if origin is UnionType else hint  # noqa: UP007


def _docs_of_fields(of: type) -> dict[str, str]:
    """Return the docstrings of a dataclass's fields: the strings after them in the source."""
    docs: dict[str, str] = {}
    for kind in reversed(of.__mro__[:-1]):
        (tree,) = ast.parse(inspect.getsource(kind)).body
        assert isinstance(tree, ast.ClassDef)
        for field, after in pairwise(tree.body):
            match field, after:
                case ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                    docs[name] = inspect.cleandoc(text)
                case _:
                    pass
    return docs


_NEXT = Annotated[int | None, Field(description=_docs_of_fields(Text)["next"])]
QUEUE = form(QueueUse, only=("core", "queue", "instructions", "busy", "waiting", "idle"))
PROFILE = form(
    Profile,
    "The predicted time of a kernel, and its causes.",
    only=("kernel", "target", "time", "bound", "mfu", "instructions", "lines"),
    low=float,
    high=float,
    queues=list[QUEUE],
    next=_NEXT,
)
SUGGESTION = form(
    advice.Suggestion,
    "A change that was tried and gains time.",
    only=(
        "kind",
        "place",
        "message",
        "reasons",
        "numbers",
        "level",
        "proven",
        "before",
        "after",
        "by_compiler",
    ),
)
ADVICE = form(
    advice.Advice,
    "Changes that make a kernel faster.",
    only=("kernel", "target", "time", "tried"),
    suggestions=list[SUGGESTION],
    next=_NEXT,
)
COST = form(
    costs.Cost,
    "The predicted cost of a kernel. Without a time, it has findings or a failure.",
    found=Annotated[int, Field(description="Number of all findings; `verify` returns them.")],
)
