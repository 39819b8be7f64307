"""Mutated files (IR, arrays, timing constants) as inputs of all commands that read them.

Files are untrusted. For any content, a command exits with 0, 1 or 2 within its limits of time,
memory and output. It prints its own error message, not a traceback, and no content of other files
that the file names. `nkijit verify` and `nkijit-opt -p verify` agree on the result.

Every command runs in its own child process, forked from a process that has imported everything. A
mutant whose output is new in the round is mutated further.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
from support.kernel_parts import random_kernel
from support.mutations import MUTATIONS
from support.paths import GOLDEN, LIT, TIMINGS
from support.random_kernels import PARTS

import nkijit
import nkijit.cli.opt
from nkijit.cli import app
from nkijit.cli.app import COMMANDS, FAILED, whole
from nkijit.dialects.dtypes import DTYPES
from nkijit.passes.numerics.storage import storage
from tests.fuzz.campaign import Count, Finding, until
from tests.fuzz.ir_mutations import Mutator

CASES = 24
"""Maximum mutants per round."""
SECONDS = 30
"""Time limit of a command. Files are small; most commands take a tenth of a second."""
MEMORY = 3 << 30
"""Limit for the address space of a command, in bytes. An idle one has about 0.5 GB."""
OUTPUT = 32 << 20
"""Limit for the output of a command, in bytes."""
LARGEST = 40_000
"""Maximum size of the original files, in bytes."""
LARGEST_MUTANT = 500_000
"""Maximum size of a mutant, in bytes: larger ones may exceed the time limit legitimately."""

CANARY = "canary_of_the_campaign"
"""Content of the files that mutants may name. No output may contain it."""

for _command in COMMANDS:
    whole(_command)  # imported here, before the children are forked

PYTHONS_WORDS = [
    re.compile(pattern, re.M)
    for pattern in (
        r"^Traceback \(most recent call last\)",
        r"(?i)\binternal\b.*\berror",
        r"object has no attribute|is not (subscriptable|iterable|callable)|unhashable type",
        r"index out of range|out of bounds for axis|pop from|not in list|not enough values",
        r"unsupported operand|not supported between|positional argument|keyword argument '",
        r"division by zero|maximum recursion depth|invalid literal for int|Exceeds the limit",
        r"could not be broadcast|could not broadcast|Unable to allocate|MemoryError|NoneType",
        r"codec can't (de|en)code|embedded null|surrogates not allowed|math (domain|range)",
        r"^error: *$|^error: '[^']*'$|^error: \S{1,20}$|dictionary (changed|keys)|AssertionError",
    )
]
"""Phrases of Python's exceptions, which must not occur in error messages of commands."""


@dataclass(frozen=True)
class Answer:
    """The result of a command."""

    code: int | None
    """Exit code; None if it exceeded the time limit."""
    seconds: float
    out: bytes
    error: bytes
    written: bytes
    """The file that it has written."""

    @property
    def text(self) -> str:
        """Standard error and standard output, without the written file."""
        return (self.error + self.out).decode("utf-8", "replace")


@dataclass(frozen=True)
class Command:
    """A command with its options. {file}, {first} and {made} are replaced by paths."""

    words: tuple[str, ...]
    inputs: bool = False
    """Whether it gets an array for each argument of the kernel."""

    def __str__(self) -> str:
        return " ".join(self.words)

    @property
    def runs(self) -> bool:
        """Whether it executes the kernel, which may take long."""
        return self.words[0] == "run"


def _commands(*lines: str) -> tuple[Command, ...]:
    return tuple(Command(tuple(line.split()), line.startswith("run")) for line in lines)


VERIFY, OPT = _commands("verify {file}", "opt {file} -p verify -o {made}")
COMMANDS = _commands(
    "list {file}", "list --json {file}", "list --no-strict {file}", "lower {file}",
    "lower --locations {file}", "lower --dump-after-all {file}", "memory {file}",
    "memory --json {file}", "memory --svg {file}", "profile {file}", "profile --json {file}",
    "profile --no-strict {file}", "diff {file} {first}", "diff {first} {file}",
    "report {file} -o {made}", "report --no-strict {file} -o {made}", "run {file}",
    "run --sanitize {file}", "run --no-strict {file}", "verify --json {file}",
    "verify --sarif {file}", "opt {file} -o {made}", "opt {file} --print-op-generic -o {made}",
    "opt {file} --print-debuginfo -o {made}", "opt {file} -p allocate,lower-to-engines,schedule",
    "opt {file} -p verify,lint -t nki-listing", "opt {file} -p schedule -t nki-listing",
    "opt {file} --split-input-file -o {made}",
)  # fmt: skip
CONSTANTS = _commands(
    "profile {first} --constants {file}", "profile --json {first} --constants {file}",
    "diff {first} {first} --constants {file}", "report {first} --constants {file} -o {made}",
)  # fmt: skip
ARRAYS = tuple(
    replace(command, inputs=False)
    for command in _commands("run {first} -i {file}", "run --no-strict {first} -i x={file}")
)
ONE_ARGUMENT = (GOLDEN / "softmax.mlir").read_text("utf-8")
"""The kernel that mutated arrays are passed to."""


# -- one command ----------------------------------------------------------------------------------


def run(command: Command, file: Path, first: Path, seconds: float = SECONDS) -> Answer:
    """Run a command in a child process with limits."""
    folder = file.parent
    out, error, made = folder / "out", folder / "error", folder / "made"
    made.unlink(missing_ok=True)
    start = time.monotonic()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _be_the_child(command, file, first, made, out, error)
    status = _wait(child, start + seconds)
    taken = time.monotonic() - start
    code = None if status is None else os.waitstatus_to_exitcode(status)
    written = made.read_bytes() if made.exists() else b""
    return Answer(code, taken, out.read_bytes(), error.read_bytes(), written)


def _wait(child: int, deadline: float) -> int | None:
    """Wait for a child and return its status; kill it at the deadline and return None."""
    pause = 0.002
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)


def _be_the_child(
    command: Command, file: Path, first: Path, made: Path, out: Path, error: Path
) -> None:
    """Run the command in the child and exit with its exit code. Never returns."""
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
        for number, path, flags in (
            (0, Path(os.devnull), os.O_RDONLY),
            (1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
            (2, error, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        ):
            os.dup2(os.open(path, flags, 0o600), number)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.chdir(file.parent)
        paths = {"file": str(file), "first": str(first), "made": str(made)}
        words = [word.format(**paths) for word in command.words]
        if command.inputs:
            words += _inputs(file)
        code = _exit_code(words)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        with contextlib.suppress(Exception):
            sys.stderr.flush()
    finally:
        os._exit(code)


def _exit_code(words: Sequence[str]) -> int:
    try:
        if words[0] == "opt":
            return nkijit.cli.opt.main(words[1:])
        app(list(words))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _inputs(file: Path) -> list[str]:
    """Return options with an array for each argument, if the file can be loaded."""
    words: list[str] = []
    with contextlib.suppress(Exception):
        for index, (_, shape, dtype) in enumerate(nkijit.load(file).argument_types):
            if np.prod(shape, dtype=object) < 1 << 24:
                array = np.ones(shape, storage(DTYPES[dtype]))
                path = file.parent / f"input{index}.npy"
                plain = array.dtype.isbuiltin == 1
                np.save(path, array if plain else array.view(f"u{array.dtype.itemsize}"))
                words += ["-i", str(path)]
    return words


# -- problems of an answer ------------------------------------------------------------------------


def wrong_with(command: Command, answer: Answer, mutant: bytes) -> Iterator[str]:
    """Yield the problems of an answer."""
    if answer.code is None:
        # A kernel with loops may run for any time.
        if not (command.runs and b"scf." in mutant):
            yield f"{command} takes more than {SECONDS} s"
        return
    if answer.code < 0:
        yield f"{command} is ended by {signal.Signals(-answer.code).name}"
    elif answer.code > FAILED:
        yield f"{command} ends with {answer.code}"
    message = _without_quotes_of(mutant, answer.error.decode("utf-8", "replace"))
    if any(pattern.search(message) for pattern in PYTHONS_WORDS):
        yield f"Python's own words: {_main_line(message)}"
    for stream in (answer.out, answer.error, answer.written):
        if CANARY.encode() in stream:
            yield f"{command} shows a file that the mutant names"
        if len(stream) >= OUTPUT:
            yield f"{command} writes {OUTPUT} bytes or more"


def _main_line(message: str) -> str:
    """Return the line of a message with the exception's name, else the first Python phrase."""
    lines = [line.strip() for line in message.split("\n") if line.strip()]
    named = [line for line in lines if re.match(r"\w+(\.\w+)*(Error|Exception|Interrupt)\b", line)]
    phrases = [line for line in lines if any(p.search(line) for p in PYTHONS_WORDS)]
    return (named[-1:] or phrases or lines or ["error:"])[0][:200]


def _without_quotes_of(mutant: bytes, message: str) -> str:
    """Return a message without the lines of the mutant that it quotes."""
    own = {line.strip() for line in mutant.decode("utf-8", "replace").splitlines()}
    return "\n".join(line for line in message.split("\n") if line.strip() not in own)


def differ(verify: Answer, opt: Answer) -> Iterator[str]:
    """Yield a problem if the two ways to verify a file disagree."""
    codes = {verify.code, opt.code}
    if codes == {0, 1} and "has no kernel" not in verify.text:
        message = (verify if verify.code else opt).text.strip().split("\n")[0]
        by = "nkijit verify" if verify.code else "nkijit-opt"
        yield f"only {by} refuses the file: {message[:200]!r}"


# -- the campaign ---------------------------------------------------------------------------------


@cache
def texts() -> list[str]:
    """Return the IR texts of the repository that are small enough."""
    paths = sorted({*GOLDEN.rglob("*.mlir"), *LIT.rglob("*.mlir")})
    found = [path.read_text("utf-8") for path in paths if path.stat().st_size <= LARGEST]
    # Tests of findings have several cases per file.
    return [part for text in found for part in re.split(r"^// -+$", text, flags=re.M) if part]


def _start(rng: Random) -> str:
    """Return the IR to mutate: a file of the repository, or a random kernel, valid or not."""
    if rng.random() < 0.6:
        return rng.choice(texts())
    if rng.random() < 0.3:
        mutation = rng.choice(MUTATIONS)
        kernel = random_kernel(rng, mutation.part, mutation.targets)
        mutation.apply(kernel, rng)
    else:
        kernel = random_kernel(rng, rng.choice(list(PARTS)))
    traced = kernel.trace()
    return traced.text(locations=rng.random() < 0.5, generic=rng.random() < 0.2)


def _shape_of(answer: Answer) -> str:
    """Return an answer without names and numbers, to detect new kinds of answers."""
    return f"{answer.code} {re.sub(r'[^A-Za-z ]+', '', answer.text)[:300]}"


@contextlib.contextmanager
def _folder() -> Iterator[tuple[Path, list[str]]]:
    """Create a folder for mutants, and files that they may name.

    Commands may quote Python files in the folder of the IR that names them, but no other files.
    """
    with tempfile.TemporaryDirectory(prefix="nkijit-fuzz-") as name:
        elsewhere, folder = Path(name) / "elsewhere", Path(name) / "mutants"
        secret = f"{CANARY} = '{CANARY}'\n" * 9
        for place in (elsewhere, folder):
            place.mkdir()
        for kind in ("py", "mlir", "txt", "toml"):
            (elsewhere / f"named.{kind}").write_text(secret, "utf-8")
        for kind in ("txt", "json", "pem"):
            (folder / f"named.{kind}").write_text(secret, "utf-8")
        (folder / "link.py").symlink_to(elsewhere / "named.py")
        (folder / "beside.py").write_text("shown = 1\n" * 9, "utf-8")
        os.mkfifo(folder / "pipe.py")
        files = [str(path) for path in sorted((*elsewhere.iterdir(), *folder.iterdir()))]
        relative = ["link.py", "named.txt", "../elsewhere/named.py"]
        yield folder, [*files, *relative, "/dev/zero", "/dev/stdin", name]


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round: mutants of one file, and of its mutants with new answers."""
    count = Count()
    with _folder() as (folder, named):
        mutator = Mutator(rng, texts(), named)
        first = folder / "first.mlir"
        kind = rng.choices(("mlir", "toml", "npy"), (8, 1, 1))[0]
        first.write_text(_start(rng) if kind == "mlir" else ONE_ARGUMENT, "utf-8")
        file = folder / f"mutant.{kind}"
        forebears = [_forebear(rng, kind, first)]
        answers: set[str] = set()
        for _ in until(deadline, CASES):
            forebear = rng.choice(forebears)
            mutant = mutator.array(forebear) if kind == "npy" else mutator.mutant(forebear)
            if len(mutant) > LARGEST_MUTANT:
                count.skipped += 1
                continue
            file.write_bytes(mutant)
            count.cases += 1
            shape = _try(rng, file, first, mutant, count)
            if shape not in answers and len(mutant) < 2 * LARGEST:
                answers.add(shape)
                forebears.append(mutant)
    return count


def _forebear(rng: Random, kind: str, first: Path) -> bytes:
    if kind == "mlir":
        return first.read_bytes()
    if kind == "toml":
        return rng.choice(sorted(TIMINGS.glob("*.toml"))).read_bytes()
    stream = io.BytesIO()
    np.save(stream, np.ones((256, 1024), np.uint16)[:, : rng.choice((1, 1024))])
    return stream.getvalue()


def _try(rng: Random, file: Path, first: Path, mutant: bytes, count: Count) -> str:
    """Run commands on a mutant and count their problems. Returns the kind of the first answer."""
    found: list[tuple[Command, str]] = []
    if file.suffix == ".mlir":
        commands = [VERIFY, OPT]
    else:
        commands = [rng.choice(CONSTANTS if file.suffix == ".toml" else ARRAYS)]
    answers = [(command, run(command, file, first)) for command in commands]
    first_answer = answers[0][1]
    if file.suffix == ".mlir":
        by_opt = answers[1][1]
        found += [(VERIFY, problem) for problem in differ(first_answer, by_opt)]
        # Commands treat unreadable files in the same way: some of them suffice.
        readable = first_answer.code == 0 or "error[" in first_answer.text
        chosen = COMMANDS if readable and rng.random() < 0.1 else rng.sample(COMMANDS, 3)
        answers += [(command, run(command, file, first)) for command in chosen]
    for command, answer in answers:
        found += [(command, problem) for problem in wrong_with(command, answer, mutant)]
    by_command = dict(answers)
    for command, problem in found:
        answer = by_command[command]
        message = answer.error.decode("utf-8", "replace")[-8000:]
        text = f"{problem}\n\n{command}, exit code {answer.code}, {answer.seconds:.1f} s\n{message}"
        count.findings.append(Finding(text, {file.name: mutant, "first.mlir": first.read_bytes()}))
    return _shape_of(first_answer)
