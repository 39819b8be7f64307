"""What tools give, as clients get it declared: small documents. Times are in ns."""

from __future__ import annotations

from typing_extensions import TypedDict  # pydantic takes no other one before Python 3.12


class Argument(TypedDict):
    """An argument of a kernel."""

    name: str
    default: str | None
    """None where it has to be given."""


class KernelOfFile(TypedDict):
    """A kernel of a file."""

    name: str
    line: int
    target: str
    arguments: list[Argument]
    is_known: bool
    """Whether @nkijit.example or pyproject.toml say what its arguments are."""


class Kernels(TypedDict):
    """The kernels of a file."""

    kernels: list[KernelOfFile]


class Text(TypedDict):
    """A part of a text."""

    text: str
    lines: int
    """Of the whole text."""
    next: int | None
    """The line that `first` continues with; null at the end."""


class Ir(Text):
    """A traced kernel."""

    kernel: str
    target: str
    errors: int
    warnings: int


class Finding(TypedDict):
    """What breaks a rule, or could be better."""

    rule: str
    severity: str
    place: str | None
    """`file:line:column`, of the author's innermost line."""
    subject: str
    message: str
    help: str


class Findings(TypedDict):
    """What is wrong with a kernel."""

    kernel: str
    target: str
    errors: int
    warnings: int
    findings: list[Finding]
    next: int | None
    """The finding that `first` continues with; null at the end."""


class Array(TypedDict):
    """An array that a kernel returned. The figures leave NaN and infinities out."""

    shape: list[int]
    dtype: str
    least: float | None
    largest: float | None
    mean: float | None
    nan: int
    infinite: int
    values: list[str]
    """The first ones."""


class RunOf(TypedDict):
    """What a kernel computed."""

    kernel: str
    target: str
    seed: int
    results: list[Array]


class Line(TypedDict):
    """A line of the author's, and what it has a queue do."""

    place: str | None
    queue: str
    mnemonics: list[str]
    instructions: int
    busy: float
    path: float
    """How much of the critical path it is."""
    share: float
    """The same, as a part of the kernel's time."""
    reason: str


class Queue(TypedDict):
    """An engine, or a ring of DMAs."""

    core: int
    queue: str
    instructions: int
    busy: float
    waiting: float
    idle: float


class Profile(TypedDict):
    """How long a kernel is predicted to take, and why."""

    kernel: str
    target: str
    time: float
    low: float
    high: float
    bound: str
    mfu: float
    instructions: int
    queues: list[Queue]
    lines: list[Line]
    """Those with the largest share of the critical path first."""
    next: int | None
    """The line that `first` continues with; null at the end."""


class Difference(Text):
    """What differs between two kernels."""

    first_time: float
    second_time: float
    first_instructions: int
    second_instructions: int


class Suggestion(TypedDict):
    """A change that was tried, and gains time."""

    kind: str
    place: str | None
    message: str
    reasons: list[str]
    numbers: str
    """What it does to the results."""
    before: float
    after: float
    by_compiler: bool
    """The compiler does it itself."""


class Advice(TypedDict):
    """What would make a kernel faster."""

    kernel: str
    target: str
    time: float
    tried: int
    suggestions: list[Suggestion]
    next: int | None
    """The suggestion that `first` continues with; null at the end."""


class Time(TypedDict):
    """A predicted time, and between which times it is expected."""

    ns: float
    low: float
    high: float
    launch: float


class Peak(TypedDict):
    """The most that is in use of a memory, in bytes per partition."""

    bytes: int
    capacity: int


class CriticalLine(TypedDict):
    """A line of the author's that the kernel's time goes into."""

    place: str | None
    queue: str
    instructions: list[str]
    ns: float
    share: float


class ShortFinding(TypedDict):
    """What breaks a rule, in short."""

    rule: str
    severity: str
    place: str | None
    subject: str
    message: str


class Cost(TypedDict):
    """What a kernel costs by the model; without a time it has findings, or a failure."""

    kernel: str
    target: str
    time: Time | None
    bound: str | None
    sbuf: Peak | None
    psum: Peak | None
    mfu: float | None
    instructions: int | None
    lines: list[CriticalLine]
    findings: list[ShortFinding]
    """The first ones; `verify` has all."""
    found: int
    """How many there are."""
    failure: str


class Explanation(Text):
    """What a rule says, or what can be called."""

    name: str
