"""Mutated files through every command that reads them: IR, arrays, timing constants.

A file may come from anywhere. Whatever is in it, a command ends with 0, 1 or 2 within its limits
of time, memory and output; says what is wrong in words of its own, without a traceback; shows
nothing of the files that the file names; and `nkijit verify` and `nkijit-opt -p verify` judge
alike.

Every command runs in a child of its own, forked from a process that has imported everything. A
mutant with an answer that is new to the round is mutated further.
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
"""Mutants of a round, at most."""
SECONDS = 30
"""What a command may take. Files are small; most take a tenth of a second."""
MEMORY = 3 << 30
"""The address space of a command, in bytes. An idle one has about 0.5 GB."""
OUTPUT = 32 << 20
"""Bytes that a command may write."""
LARGEST = 40_000
"""Bytes of the files that are mutated, at most."""
LARGEST_MUTANT = 500_000
"""Bytes of a mutant, at most: a larger one may take its time."""

CANARY = "canary_of_the_campaign"
"""What files have in them that a mutant may name, and no output may show."""

for _command in COMMANDS:
    whole(_command)  # children find it imported

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
"""What Python says, and no message of a command should."""


@dataclass(frozen=True)
class Answer:
    """How a command has ended."""

    code: int | None
    """None: it was ended, for it took too long."""
    seconds: float
    out: bytes
    error: bytes
    made: bytes
    """The file that it has written."""

    @property
    def text(self) -> str:
        """All that it has said, without the page of a report."""
        return (self.error + self.out).decode("utf-8", "replace")


@dataclass(frozen=True)
class Command:
    """A command with its options; {file}, {first} and {made} stand for paths."""

    words: tuple[str, ...]
    inputs: bool = False
    """It takes an array for each argument of the kernel."""

    def __str__(self) -> str:
        return " ".join(self.words)

    @property
    def runs(self) -> bool:
        """It takes as long as the kernel does."""
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
"""What mutated arrays are given to."""


# -- one command ----------------------------------------------------------------------------------


def run(command: Command, file: Path, first: Path, seconds: float = SECONDS) -> Answer:
    """Run a command in a child of its own, under limits."""
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
    """The status of a child; None when time is up, and it is ended."""
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
    """Never returns: the process ends with the exit code of the command."""
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
    """Options that give a kernel its arrays, as far as it says which it has."""
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


# -- what is wrong with an answer -----------------------------------------------------------------


def wrong_with(command: Command, answer: Answer, mutant: bytes) -> Iterator[str]:
    """What an answer has that it must not have."""
    if answer.code is None:
        # A kernel may compute for as long as it says.
        if not (command.runs and b"scf." in mutant):
            yield f"{command} takes more than {SECONDS} s"
        return
    if answer.code < 0:
        yield f"{command} is ended by {signal.Signals(-answer.code).name}"
    elif answer.code > FAILED:
        yield f"{command} ends with {answer.code}"
    said = _without_quotes_of(mutant, answer.error.decode("utf-8", "replace"))
    if any(pattern.search(said) for pattern in PYTHONS_WORDS):
        yield f"Python's own words: {_telling_line(said)}"
    for stream in (answer.out, answer.error, answer.made):
        if CANARY.encode() in stream:
            yield f"{command} shows a file that the mutant names"
        if len(stream) >= OUTPUT:
            yield f"{command} writes {OUTPUT} bytes or more"


def _telling_line(said: str) -> str:
    """The line of a message that names the exception, else the first that is Python's."""
    lines = [line.strip() for line in said.split("\n") if line.strip()]
    named = [line for line in lines if re.match(r"\w+(\.\w+)*(Error|Exception|Interrupt)\b", line)]
    told = [line for line in lines if any(p.search(line) for p in PYTHONS_WORDS)]
    return (named[-1:] or told or lines or ["error:"])[0][:200]


def _without_quotes_of(mutant: bytes, said: str) -> str:
    """What was said, without the lines of the mutant that it quotes."""
    own = {line.strip() for line in mutant.decode("utf-8", "replace").splitlines()}
    return "\n".join(line for line in said.split("\n") if line.strip() not in own)


def differ(verify: Answer, opt: Answer) -> Iterator[str]:
    """What the two ways to verify a file disagree about."""
    codes = {verify.code, opt.code}
    if codes == {0, 1} and "has no kernel" not in verify.text:
        said = (verify if verify.code else opt).text.strip().split("\n")[0]
        by = "nkijit verify" if verify.code else "nkijit-opt"
        yield f"only {by} refuses the file: {said[:200]!r}"


# -- the campaign ---------------------------------------------------------------------------------


@cache
def texts() -> list[str]:
    """The IR of the repository that is small enough."""
    paths = sorted({*GOLDEN.rglob("*.mlir"), *LIT.rglob("*.mlir")})
    found = [path.read_text("utf-8") for path in paths if path.stat().st_size <= LARGEST]
    # Tests of findings have many cases in a file.
    return [part for text in found for part in re.split(r"^// -+$", text, flags=re.M) if part]


def _start(rng: Random) -> str:
    """What is mutated: a file of the repository, or a random kernel, valid or not."""
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
    """An answer without names and numbers: what makes one new."""
    return f"{answer.code} {re.sub(r'[^A-Za-z ]+', '', answer.text)[:300]}"


@contextlib.contextmanager
def _folder() -> Iterator[tuple[Path, list[str]]]:
    """A folder for mutants, and files that they name.

    Source may be shown that lies beside the IR which names it; of all others nothing may.
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
    """Mutants of one file, and of those of them with new answers."""
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
                count.passed_over += 1
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
    """Run commands on a mutant; returns what it is like."""
    found: list[tuple[Command, str]] = []
    if file.suffix == ".mlir":
        commands = [VERIFY, OPT]
    else:
        commands = [rng.choice(CONSTANTS if file.suffix == ".toml" else ARRAYS)]
    answers = [(command, run(command, file, first)) for command in commands]
    first_answer = answers[0][1]
    if file.suffix == ".mlir":
        by_opt = answers[1][1]
        found += [(VERIFY, what) for what in differ(first_answer, by_opt)]
        # What cannot be read is the same to all; some of them are enough.
        readable = first_answer.code == 0 or "error[" in first_answer.text
        chosen = COMMANDS if readable and rng.random() < 0.1 else rng.sample(COMMANDS, 3)
        answers += [(command, run(command, file, first)) for command in chosen]
    for command, answer in answers:
        found += [(command, what) for what in wrong_with(command, answer, mutant)]
    by_command = dict(answers)
    for command, what in found:
        answer = by_command[command]
        said = answer.error.decode("utf-8", "replace")[-8000:]
        text = f"{what}\n\n{command}, exit code {answer.code}, {answer.seconds:.1f} s\n{said}"
        count.findings.append(Finding(text, {file.name: mutant, "first.mlir": first.read_bytes()}))
    return _shape_of(first_answer)
