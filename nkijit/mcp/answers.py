"""Results of the tools: a document and a text, both of bounded size. Executes the user's files."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np

from nkijit.dialects.spelling import numbered
from nkijit.discovery.checking import check
from nkijit.discovery.errors import UsageError, failure_of
from nkijit.host.installed import is_library_file
from nkijit.host.processes.isolated import OutOfTime
from nkijit.kernels.arguments import map_tensors
from nkijit.mcp import outputs
from nkijit.mcp.questions import Question
from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.diagnostics.findings import Findings
from nkijit.passes.diagnostics.plain import plain
from nkijit.passes.numerics.storage import dtype_of_array
from nkijit.passes.profile.compare import counts_text, ir_text, profiles_text
from nkijit.reference import catalogue
from nkijit.sweeps.costs import cost_of, cost_of_trace
from nkijit.testing.inputs import random_inputs, with_random_data
from nkijit.traced.kernel import TracedKernel

MOST_CHARACTERS = 40_000
"""The maximum length of a text in one answer, in characters."""
_MOST_FINDINGS, _MOST_QUEUES = 20, 40
_MOST_VALUES = 8

_T = TypeVar("_T")
_Text = TypeVar("_Text", bound=outputs.Text)


@dataclass(frozen=True, slots=True)
class Page:
    """The requested part of a list or text: at most `limit` items from `first` (counted from 1)."""

    first: int
    limit: int

    def of(self, items: Sequence[_T]) -> tuple[Sequence[_T], int | None]:
        """Return the requested items, and the `first` of the next page; None on the last page.

        Raises UsageError if `first` is beyond the end.
        """
        if self.first > max(1, len(items)):
            raise UsageError(f"first={self.first}: there are {len(items)}")
        end = self.first - 1 + self.limit
        return items[self.first - 1 : end], end + 1 if end < len(items) else None

    def of_text(self, form: type[_Text], text: str, **about: Any) -> _Text:
        """Return the requested lines of a text, at most MOST_CHARACTERS, as a `form`.

        Args:
            form: the dataclass of the result.
            text: the whole text.
            about: the values of further fields of `form`.
        """
        lines = text.splitlines()
        shown, next_line = self.of(lines)
        size = 0
        for count, line in enumerate(shown):
            size += len(line) + 1
            if size > MOST_CHARACTERS and count:
                shown, next_line = shown[:count], self.first + count
                break
        cut = "\n".join(shown)
        if len(cut) > MOST_CHARACTERS:
            cut = f"{cut[:MOST_CHARACTERS]}…"
        return form(text=cut, lines=len(lines), next=next_line, **about)


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a tool: structured content, and the same as text."""

    document: Mapping[str, Any]
    text: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """The error of a tool: findings, an exception or an invalid request."""

    message: str


def answered(
    function: Callable[..., Answer], arguments: tuple[Any, ...], seconds: float
) -> Iterator[Answer | Refusal]:
    """Call a function of this module and yield its answer, or a refusal for an exception."""
    try:
        yield function(*arguments)
    except NkiValidationError as error:
        yield Refusal(_bounded(str(Findings(error.diagnostics))))
    except (Exception, SystemExit) as error:  # user code may raise any exception
        yield Refusal(_bounded(failure_of(error).message))
    except OutOfTime as error:
        yield Refusal(f"still running after {seconds:g} s; it was at\n{_where(error)}")


def _bounded(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _where(error: BaseException) -> str:
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not is_library_file(frame.filename) and not frame.filename.startswith("<frozen")
    ]
    return "".join(traceback.format_list(frames[-5:])).rstrip() or "  nkijit's own code"


def _more(items: str, next_one: int | None) -> str:
    return "" if next_one is None else f"… more {items}: first={next_one}\n"


def _of_text(found: outputs.Text, closing: str = "") -> Answer:
    return Answer(plain(found), f"{found.text}\n{_more('lines', found.next)}{closing}")


def list_kernels(question: Question) -> Answer:
    """List the kernels of a file."""
    kernels: list[outputs.KernelOfFile] = []
    shown: list[str] = []
    for chosen in question.all_chosen():
        arguments = tuple(
            outputs.Argument(p.name, None if p.default is p.empty else repr(p.default))
            for p in chosen.kernel.signature.parameters.values()
        )
        line = chosen.kernel.__code__.co_firstlineno
        target = chosen.kernel.target.platform
        kernels.append(outputs.KernelOfFile(chosen.name, line, target, arguments, chosen.is_known))
        known = "" if chosen.is_known else f"; needs {', '.join(chosen.needed)}"
        shown.append(f"{question.path}:{line}: {chosen.name}{chosen.kernel.signature}{known}")
    return Answer(plain(outputs.Kernels(tuple(kernels))), "\n".join(shown) or "no kernels")


def trace(question: Question, rolled: bool, locations: bool, page: Page) -> Answer:
    """Return the IR of a kernel."""
    traced = question.traced()
    found = traced.diagnostics
    part = page.of_text(
        outputs.Ir,
        traced.text(rolled=rolled, locations=locations),
        kernel=traced.name,
        target=traced.target.platform,
        errors=found.errors,
        warnings=len(found) - found.errors,
    )
    return _of_text(part, f"{found.summary()}: call `verify`\n" if found else "")


def verify(question: Question, page: Page) -> Answer:
    """Return the findings of a kernel."""
    if question.is_ir:
        traced = question.traced()
        name, target, found = traced.name, traced.target.platform, traced.diagnostics
    else:
        chosen = question.chosen()
        name, target = chosen.name, chosen.kernel.target.platform
        found = chosen.reported(check(chosen, chosen.known).findings)
    shown, next_one = page.of(found)
    findings = tuple(outputs.Finding.of(each, help=each.help) for each in shown)
    document = outputs.Findings(
        name, target, found.errors, len(found) - found.errors, findings, next_one
    )
    # The last line counts the shown findings; `closing` counts all of them.
    text = str(Findings(shown)).rpartition("\n")[0]
    closing = f"@{name} for {target}: {found.summary()}\n{_more('findings', next_one)}"
    return Answer(plain(document), f"{_bounded(text)}\n{closing}" if shown else closing)


def run(question: Question, seed: int) -> Answer:
    """Run a kernel on random data and summarise its results."""
    if question.is_ir:
        traced = question.traced()
        name, target = traced.name, traced.target.platform
        returned = traced.run(*random_inputs(traced, seed))
    else:
        chosen = question.chosen()
        name, target = chosen.name, chosen.kernel.target.platform
        returned = chosen.kernel(**with_random_data(chosen.checked(), seed))
    results: list[outputs.Array] = []
    map_tensors(
        {"result": returned}, lambda name, value, spec: results.append(_array(np.asarray(value)))
    )
    count = numbered(len(results), "result")
    shown = [f"@{name} for {target}, random data of seed {seed}: {count}"]
    for found in results:
        shape = "x".join(map(str, found.shape))
        ends = "no finite values"
        if found.mean is not None:
            ends = f"{found.least:g} to {found.largest:g}, mean {found.mean:g}"
        shown.append(
            f"  {shape}:{found.dtype}: {ends}, {found.nan} NaN, {found.infinite} "
            f"infinite; begins with {', '.join(found.values)}"
        )
    document = outputs.RunOf(name, target, seed, tuple(results))
    # Not `plain`, which rounds: results may be small numbers.
    return Answer(asdict(document), "\n".join(shown) + "\n")


def _array(array: np.ndarray[Any, Any]) -> outputs.Array:
    numbers = array.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    has = finite.size > 0
    dtype = dtype_of_array(array)
    return outputs.Array(
        shape=array.shape,
        dtype=str(array.dtype) if dtype is None else dtype.name,
        least=float(finite.min()) if has else None,
        largest=float(finite.max()) if has else None,
        mean=float(finite.mean()) if has else None,
        nan=int(np.isnan(numbers).sum()),
        infinite=int(np.isinf(numbers).sum()),
        values=tuple(str(value) for value in array.reshape(-1)[:_MOST_VALUES]),
    )


def profile(question: Question, schedule: str, page: Page) -> Answer:
    """Predict a kernel's time."""
    found = question.traced().profile(schedule=schedule)
    shown, next_one = page.of(found.lines)
    document = _part(
        outputs.PROFILE,
        found,
        low=found.range.low,
        high=found.range.high,
        queues=[_part(outputs.QUEUE, queue) for queue in found.queues[:_MOST_QUEUES]],
        lines=plain(tuple(shown)),
        next=next_one,
    )
    return Answer(document, _bounded(str(found)))


def _part(form: Any, figure: object, /, **more: Any) -> dict[str, Any]:
    """Return the fields that the TypedDict `form` declares, taken from `figure` and `more`."""
    document = plain(figure) | more
    return {name: document[name] for name in form.__annotations__}


def advise(question: Question, page: Page) -> Answer:
    """Return the changes that would make a kernel faster."""
    found = question.traced().advice()
    shown, next_one = page.of(found.suggestions)
    suggestions = [_part(outputs.SUGGESTION, each) for each in shown]
    document = _part(outputs.ADVICE, found, suggestions=suggestions, next=next_one)
    return Answer(document, _bounded(str(found)))


def optimize(
    question: Question, allow: str, budget: float, page: Page, *, two_cores: bool
) -> Answer:
    """Return a faster version of a kernel as source, with the steps to it."""
    found = question.traced().optimize(allow, budget, two_cores=two_cores)
    result = found.result
    part = page.of_text(
        outputs.Optimization,
        found.source(),
        before=result.before.time,
        after=result.after.time,
        level=result.level.value,
        steps=[step.message for step in result.steps],
        complete=result.is_complete,
    )
    return _of_text(part)


def cost(question: Question, schedule: str) -> Answer:
    """Return the cost of a kernel. Kernels with errors have one as well, without a time."""
    if question.is_ir:
        traced = question.traced()
        found = cost_of(traced, lambda: traced.profile(schedule=schedule))
    else:
        chosen = question.chosen()
        arguments = chosen.checked()

        def profiled(traced: TracedKernel) -> Any:
            return traced.profile(schedule=schedule)

        kernel = chosen.kernel
        found = cost_of_trace(kernel, lambda: kernel.trace(**arguments), profiled)
    shown = replace(found, findings=found.findings[:_MOST_FINDINGS])
    document = _part(outputs.COST, shown, found=len(found.findings))
    return Answer(document, _bounded(f"{found}\n"))


def prove(first: Question, second: Question, level: str) -> Answer:
    """Compare the results of two kernels for all inputs."""
    found = first.traced().equivalent(second.traced(), level)
    document = outputs.Proven(
        level=None if found.level is None else found.level.value,
        is_proven=found.holds(level),
        text=str(found),
    )
    return Answer(asdict(document), _bounded(f"{found}\n"))


def diff(first: Question, second: Question, schedule: str, page: Page) -> Answer:
    """Compare two kernels."""
    one, other = first.traced(), second.traced()
    names = (f"{first.path}:{one.name}", f"{second.path}:{other.name}")
    proof = one.equivalent(other)
    counts = counts_text(one.programs(schedule=schedule), other.programs(schedule=schedule), names)
    changed = ir_text(one.text(rolled=True), other.text(rolled=True), names)
    before, now = one.profile(schedule=schedule), other.profile(schedule=schedule)
    part = page.of_text(
        outputs.Difference,
        f"{proof}\n{counts}\n{changed}\n{profiles_text(now, before, ('second', 'first'))}",
        first_time=before.time,
        second_time=now.time,
        first_instructions=before.instructions,
        second_instructions=now.instructions,
    )
    return _of_text(part)


def explain(name: str, page: Page) -> Answer:
    """Explain a rule, an instruction, a function or a term."""
    try:
        text = catalogue.explain(name)
    except KeyError as error:
        raise UsageError(error.args[0]) from None
    return _of_text(page.of_text(outputs.Explanation, text, name=name))
