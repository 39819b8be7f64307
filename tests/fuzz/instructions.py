"""Single instructions, compared with the element-by-element oracle.

The programs are those of the instructions' unit tests
(`tests/unit/passes/interpret/semantics/nisa`). A test varies one thing; the campaign varies several
at once: data, data types, layouts of operands, buffers, words, numbers, the target. It skips
programs that do not verify, and those that the oracle cannot check, such as a sum under an operator
that is not monotone.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import pytest
from support.nisa import naive
from support.nisa.harness import (
    READABLE,
    SHAPE,
    WORDS,
    WRITABLE,
    Array,
    Call,
    Program,
    Tile,
    View,
    any_bits,
    assert_right,
    filled,
    whole_numbers,
)
from support.nisa.naive import STORAGE
from support.oracle import FORMATS, INTEGERS, ROUNDED_TYPES, hard_values
from support.paths import ROOT
from support.random_kernels import TARGETS

from nkijit.passes.diagnostics.errors import NkiValidationError
from nkijit.passes.interpret.records.errors import InterpretationError
from tests.fuzz.campaign import Count, Finding, until

TESTS = ROOT / "tests" / "unit" / "passes" / "interpret" / "semantics" / "nisa"
CASES = 40
"""Maximum programs per round."""
ELEMENTS = 4000
"""Maximum elements of a program's tiles: the oracle computes them one by one."""

NUMBERS = (
    0.0, -0.0, 1.0, -1.5, 2.0**-149, -(2.0**-126), 1e-40, 1e30, -3.4e38, 2.0**24 + 1, 2.0**31,
    65504.0, 448.0, 240.0, math.inf, -math.inf, math.nan, 0, 1, -1, 127, 255, 2**24 + 1, 2**31 - 1,
)  # fmt: skip
"""Replacements for numbers in calls."""


@dataclass(frozen=True)
class Test:
    """A unit test with the values of its parameters."""

    function: Callable[..., None]
    values: dict[tuple[str, ...], tuple[Any, ...]]
    """Values by the parameters of one `parametrize`."""

    def programs(self, rng: Random) -> list[Program]:
        """Return the programs that the test checks with random values of its parameters."""
        arguments: dict[str, Any] = {}
        for names, values in self.values.items():
            value = rng.choice(values)
            single = (value,) if len(names) == 1 else value
            chosen = value.values if hasattr(value, "marks") else single
            arguments |= dict(zip(names, chosen, strict=True))
        with _intercepted() as seen:
            try:
                self.function(**arguments)
            except (Exception, pytest.fail.Exception, pytest.skip.Exception):
                # The test cannot continue without results.
                return seen
        return seen


class _NoResults(Exception):  # noqa: N818
    """Raised instead of running a program."""


@contextmanager
def _intercepted() -> Iterator[list[Program]]:
    """Collect programs instead of checking or running them."""
    seen: list[Program] = []

    def check(program: Program, *, unwritten: bool = False) -> None:
        seen.append(program)

    def run(program: Program, *, unwritten: bool = False) -> None:
        seen.append(program)
        raise _NoResults

    with mock.patch.object(Program, "check", check), mock.patch.object(Program, "run", run):
        yield seen


@cache
def tests() -> list[Test]:
    """Return the unit tests of instructions without fixtures."""
    found: list[Test] = []
    for path in sorted(TESTS.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"fuzzed_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        for name, function in vars(module).items():
            if not name.startswith("test_"):
                continue
            values = {
                _names(mark.args[0]): tuple(mark.args[1])
                for mark in getattr(function, "pytestmark", ())
                if mark.name == "parametrize"
            }
            parameters = {name for names in values for name in names}
            if parameters == set(inspect.signature(function).parameters) and all(values.values()):
                found.append(Test(function, values))
    return found


def _names(text: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if isinstance(text, str) else text


@cache
def words() -> dict[str, tuple[str, ...]]:
    """Return the words for each argument that takes one."""
    operators = (*naive.BITVEC, *naive.UNARY, *naive.IDENTITY, "power", "equal", "less", "exp")
    return {
        name: tuple(w for w in (*operators, *vars(space)) if hasattr(space, w) and w[0] != "_")
        if name.endswith(("engine", "cmd", "mode"))
        else operators
        for name, space in WORDS.items()
    }


# -- variations -----------------------------------------------------------------------------------


class Variation:
    """Random changes of a program."""

    def __init__(self, rng: Random, program: Program):
        self.rng = rng
        self.tiles = dict(program.tiles)
        self.calls = list(program.calls)
        self.target = program.target

    def program(self) -> Program:
        """Apply some changes and return the program."""
        rng = self.rng
        for change, chance in (
            (self._layouts, 0.4), (self._buffers, 0.25), (self._dtypes, 0.4), (self._words, 0.3),
            (self._numbers, 0.3), (self._target, 0.2), (self._again, 0.1), (self._data, 0.8),
        ):  # fmt: skip
            if rng.random() < chance:
                change()
        return Program(self.tiles, self.calls, self.target)

    def _again(self) -> None:
        """Repeat all calls: on their results and accumulators."""
        self.calls *= 2

    def _target(self) -> None:
        self.target = self.rng.choice(TARGETS)

    def _words(self) -> None:
        at = self.rng.randrange(len(self.calls))
        call = self.calls[at]
        names = [n for n, value in call.arguments.items() if n in WORDS and value is not None]
        if names:
            name = self.rng.choice(names)
            word = self.rng.choice(words()[name])
            self.calls[at] = Call(call.instruction, call.arguments | {name: word})

    def _numbers(self) -> None:
        at = self.rng.randrange(len(self.calls))
        call = self.calls[at]
        names = [
            name
            for name, value in call.arguments.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        if names:
            name = self.rng.choice(names)
            number = self.rng.choice(NUMBERS)
            self.calls[at] = Call(call.instruction, call.arguments | {name: number})

    def _some_tile(self) -> tuple[str, Tile]:
        name = self.rng.choice(sorted(self.tiles))
        return name, self.tiles[name]

    def _buffers(self) -> None:
        name, tile = self._some_tile()
        self.tiles[name] = replace(tile, buffer="psum" if tile.buffer == "sbuf" else "sbuf")

    def _dtypes(self) -> None:
        name, tile = self._some_tile()
        if tile.dtype not in ROUNDED_TYPES:
            return
        dtype = self.rng.choice(ROUNDED_TYPES)
        data = tile.data
        if data is not None:
            with np.errstate(all="ignore"):
                data = _held(data.astype(np.float32), dtype)
        self.tiles[name] = replace(tile, dtype=dtype, data=data)

    def _layouts(self) -> None:
        """Choose other layouts for operands that are whole tiles of the usual shape."""
        plain = {v.tile for call in self.calls for v in call.views.values() if v == View(v.tile)}
        others = {v.tile for call in self.calls for v in call.views.values() if v != View(v.tile)}
        written = {call.views["dst"].tile for call in self.calls if "dst" in call.views}
        changes: dict[str, View] = {}
        for name in sorted(plain - others):
            tile = self.tiles[name]
            if tile.shape != SHAPE or self.rng.random() < 0.4:
                continue
            layouts = WRITABLE if name in written else READABLE
            shape, steps = layouts[self.rng.choice(sorted(layouts))]
            self.tiles[name] = self._fill(tile, shape)
            changes[name] = View(name, steps)
        self.calls = [call.with_views(changes) for call in self.calls]

    def _fill(self, tile: Tile, shape: tuple[int, ...]) -> Tile:
        """Return a tile of another shape with the same kind of data."""
        if tile.data is None:
            return replace(tile, shape=shape)
        fill = whole_numbers if _is_whole(tile) else filled
        return fill(tile.dtype, shape, tile.buffer, self.rng.randrange(2**31))

    def _data(self) -> None:
        for name, tile in self.tiles.items():
            if tile.data is not None and self.rng.random() < 0.7:
                self.tiles[name] = replace(tile, data=self._other_data(tile))

    def _other_data(self, tile: Tile) -> Array:
        """Return other data: permuted, random or hard values.

        Small integers, and types without a format, are mostly permuted.
        """
        seed = self.rng.randrange(2**31)
        random = np.random.default_rng(seed)
        assert tile.data is not None
        if tile.dtype not in FORMATS or _is_whole(tile):
            if tile.dtype in INTEGERS and self.rng.random() < 0.3:
                return any_bits(tile.dtype, tile.shape, seed=seed).data
            return random.permutation(tile.data.reshape(-1)).reshape(tile.shape)
        kind = self.rng.randrange(4)
        if kind == 0:
            return filled(tile.dtype, tile.shape, seed=seed).data
        if kind == 1:
            return any_bits(tile.dtype, tile.shape, seed=seed).data
        with np.errstate(all="ignore"):
            hard = _held(hard_values(tile.shape, tile.dtype, seed), tile.dtype)
        share = self.rng.choice((0.05, 0.5, 1.0))
        return np.where(random.random(tile.shape) < share, hard, tile.data)


def _held(values: Array, dtype: str) -> Array:
    """Convert float32 numbers to a data type's storage."""
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        return np.clip(np.nan_to_num(values, posinf=0, neginf=0), limits.min / 2, limits.max / 2
                       ).astype(dtype)  # fmt: skip
    if dtype == "bool_":
        return (values != 0).astype(STORAGE[dtype])
    if dtype == "tfloat32":
        return (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return values.astype(STORAGE[dtype])


def _is_whole(tile: Tile) -> bool:
    """Whether a tile has small integers only. Tests choose them because their sums are exact."""
    if tile.dtype not in FORMATS:
        return tile.dtype in ROUNDED_TYPES
    with np.errstate(invalid="ignore"):
        numbers = tile.data.astype(np.float32)
        return bool((np.abs(numbers) <= 16).all() and (numbers == np.round(numbers)).all())


# -- the campaign ---------------------------------------------------------------------------------


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round: variations of the programs of random tests."""
    count = Count()
    for _ in until(deadline, CASES):
        programs = rng.choice(tests()).programs(rng)
        programs = [program for program in programs if program.calls and _size(program) <= ELEMENTS]
        program = Variation(rng, rng.choice(programs)).program() if programs else None
        wrong = None if program is None or _size(program) > ELEMENTS else compared(program)
        if program is None or wrong is None:
            count.skipped += 1
            continue
        count.cases += 1
        if wrong:
            count.findings.append(Finding(f"{wrong}\n\n{_shown(program)}"))
    return count


def _size(program: Program) -> int:
    return sum(math.prod(tile.shape) for tile in program.tiles.values())


def compared(program: Program) -> str | None:
    """Compare a program's results with the oracle.

    Returns the failure, "" if the results are right, None if the program cannot be checked.
    """
    try:
        traced = program.kernel.trace(program.inputs)
        traced.verify()
    except (NkiValidationError, ValueError, TypeError):
        return None
    try:
        with np.errstate(all="ignore"):
            expected = program.expected()
    except Exception:
        # The result is undetermined, or the oracle does not support the program.
        return None
    try:
        results = program.run()
        for name, contents in expected.items():
            assert_right(name, results[name], contents)
    except InterpretationError:
        return None
    except Exception as error:
        instructions = "+".join(dict.fromkeys(call.instruction for call in program.calls))
        return f"{instructions}: {type(error).__name__}: {error}"
    return ""


def _shown(program: Program) -> str:
    with np.printoptions(threshold=10_000):
        tiles = "\n".join(
            f"{name}: {t.dtype} {t.shape} in {t.buffer}\n{t.data}"
            for name, t in program.tiles.items()
        )
    calls = "\n".join(f"{call.instruction} {call.arguments}" for call in program.calls)
    text = program.kernel.trace(program.inputs).text()
    return f"{program.target}\n{calls}\n\n{tiles}\n\n{text}"
