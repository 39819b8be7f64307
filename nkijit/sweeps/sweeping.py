"""`nkijit.sweep`: predict the variants of a kernel, and find the best."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from nkijit.argument_text import with_tensors
from nkijit.chosen import checked
from nkijit.costs import Cost
from nkijit.examples import examples_of
from nkijit.images import UnkeyableError, named_images
from nkijit.images.digest import digest_of
from nkijit.kernel import Kernel
from nkijit.passes.compile.schedules import Schedule
from nkijit.spec import map_tensors
from nkijit.sweeps.exact import cost_of, data_of
from nkijit.sweeps.found import Sweep
from nkijit.sweeps.payload import packed, payload_of
from nkijit.sweeps.pool import DiedError, Task, outcomes
from nkijit.sweeps.results import Measure, Variant, measure_of
from nkijit.sweeps.space import Point, point_text, points_of
from nkijit.sweeps.store import Store, StoreError
from nkijit.sweeps.worker import Agreement, compare, predict
from nkijit.terminal import progress_bar
from nkijit.version import __version__

StrPath = str | os.PathLike[str]


def sweep(
    kernel: Kernel[...],
    space: Mapping[str, Iterable[Any]],
    objective: str | Measure = "time",
    *,
    arguments: Mapping[str, Any] | None = None,
    run: bool = False,
    seed: int = 0,
    schedule: str = "compiler",
    executor: Executor | None = None,
    workers: int | None = None,
    store: StrPath | None = None,
) -> Sweep:
    """Predict the variants of a kernel, each in a process of its own, and find the best.

    A variant is a point of a grid: a value for each argument in `space`. One that has errors, or
    raises, or ends its process, is a result as well. Order and results do not depend on how many
    processes there are. `print` the result for a table; `.best.point` are the best arguments.

    Args:
        kernel: a kernel; `kernel[2]` for two cores.
        space: for some arguments the values that they have: `{"tile": [128, 256]}`. Tensors may be
            text: `{"x": ["128x512:float32", "128x512:bfloat16"]}`.
        objective: what is best: the least "time", "high" (the slow end of its range), "sbuf",
            "psum", "instructions", the highest "mfu"; or a function of a `Cost`, to be as small as
            possible.
        arguments: the other arguments; tensors as arrays, `TensorSpec` or text. By default those of
            the kernel's first `@nkijit.example`.
        run: run the variants, too, and compare their results with those of the first valid one.
        seed: of the random data for tensors without data.
        schedule: as for `nkijit.cost`.
        executor: what runs the variants, by default processes of this machine. They get the kernel
            and its arguments by value.
        workers: how many variants are under way at a time, by default one for each processor.
        store: a file that gets each result as soon as it is known. What it has is not computed
            again, as long as kernel, arguments and nkijit are the same.

    Raises ValueError for an unknown objective or schedule, SpaceError for an empty space,
    StoreError for a file of something else, UsageError for arguments that the kernel does not have,
    ImportError without cloudpickle (`pip install nkijit[sweep]`).

    Example:

        found = nki.sweep(kernel, {"x": ["128x512:float32", "128x256:float32"]}, "mfu")
        print(found)
        if found.best is not None:
            out = kernel(x[:128])
    """
    measure_of(objective)
    Schedule(schedule)
    points = points_of(space)
    if arguments is None:
        examples = examples_of(kernel)
        arguments = examples[0].arguments() if examples else {}
    fixed = {n: with_tensors(value) for n, value in arguments.items() if n not in points[0]}
    hint = 'arguments={{"{name}": "128x512:float32"}}'
    checked(kernel, {**fixed, **points[0]}, hint, 'arguments={{"{name}": 2.0}}')
    found = _Sweeping(kernel, fixed, points, schedule, seed, run, store)
    with progress_bar(f"variants of @{kernel.__name__}") as tell:
        variants = found.variants(executor, workers, tell)
    return Sweep(kernel.__name__, objective, variants)


class _Sweeping:
    """A sweep on its way."""

    def __init__(
        self,
        kernel: Kernel[...],
        arguments: Mapping[str, Any],
        points: Sequence[Point],
        schedule: str,
        seed: int,
        run: bool,
        store: StrPath | None,
    ):
        if not run:  # arrays may be large, and only their types are looked at
            arguments = map_tensors(arguments, lambda name, value, spec: spec)
            points = [map_tensors(point, lambda name, value, spec: spec) for point in points]
        self._kernel, self._points, self._run = kernel, points, run
        self._data = packed(payload_of(kernel, arguments, schedule, seed), kernel)
        self._packed = [packed(point, kernel) for point in points]
        self._store: Store | None = None
        self._keys: list[str] = []
        if store is not None:
            try:
                self._keys = _keys(kernel, arguments, points, (schedule, seed))
            except UnkeyableError as error:
                raise StoreError(
                    f"results of this kernel cannot be known again, so they are not stored: {error}"
                ) from None
            self._store = Store(store)

    def variants(
        self, executor: Executor | None, workers: int | None, tell: Callable[[float], None]
    ) -> list[Variant]:
        """All variants: what the store has, and what is computed."""
        count = len(self._points)
        phases = 2 if self._run else 1

        def each(
            function: Callable[..., Any], asked: Mapping[int, Task], kind: str, start: int
        ) -> dict[int, Any]:
            found: dict[int, Any] = {}
            for place in asked:
                kept = self._stored(kind, place, asked[place])
                if kept is not None:
                    found[place] = kept
            left = [place for place in asked if place not in found]
            tasks = [asked[place] for place in left]
            for index, result in outcomes(function, tasks, executor, workers):
                found[left[index]] = self._outcome(kind, result)
                if not isinstance(result, DiedError):  # with more memory it may be another one
                    self._keep(kind, left[index], asked[left[index]], result)
                tell((start * count + len(found)) / (count * phases))
            return found

        tasks = {place: (self._data, point) for place, point in enumerate(self._packed)}
        costs: dict[int, Cost] = each(predict, tasks, "cost", 0)
        valid = [place for place in range(count) if costs[place].time is not None]
        agreements: dict[int, Agreement] = {}
        if self._run and valid:
            reference = self._packed[valid[0]]
            tasks = {place: (self._data, self._packed[place], reference) for place in valid}
            agreements = each(compare, tasks, "agreement", 1)
        return [
            Variant(place, point, costs[place], agreements.get(place))
            for place, point in enumerate(self._points)
        ]

    def _outcome(self, kind: str, result: Any) -> Any:
        """What a task gave; one that has ended its process is a failure."""
        if not isinstance(result, DiedError):
            return result
        if kind == "agreement":
            return Agreement(None, False, str(result))
        return Cost(self._kernel.__name__, self._kernel.target.platform, failure=str(result))

    def _key(self, kind: str, place: int, task: Task) -> str:
        reference = "" if kind == "cost" else f" {self._keys[self._packed.index(task[-1])]}"
        return f"{kind} {self._keys[place]}{reference}"

    def _stored(self, kind: str, place: int, task: Task) -> Any:
        entry = None if self._store is None else self._store.get(self._key(kind, place, task))
        if entry is None:
            return None
        return Agreement(**entry[kind]) if kind == "agreement" else cost_of(entry[kind])

    def _keep(self, kind: str, place: int, task: Task, result: Cost | Agreement) -> None:
        if self._store is None:
            return
        key = self._key(kind, place, task)
        self._store.add(key, point_text(self._points[place]), {kind: data_of(result)})


def _keys(
    kernel: Kernel[...],
    arguments: Mapping[str, Any],
    points: Sequence[Point],
    options: tuple[Any, ...],
) -> list[str]:
    """A key for each point: of all that its result depends on. Raises UnkeyableError."""
    asked = {"arguments": arguments, "kernel": kernel, "target": kernel.target.platform}
    base = digest_of(named_images({**asked, "options": options}))
    whole = [base, __version__.encode(), repr(kernel.target).encode()]
    keys: list[str] = []
    for point in points:
        digest = hashlib.blake2b(digest_of(named_images({"point": point})), digest_size=16)
        for part in whole:
            digest.update(b"%d:%s" % (len(part), part))
        keys.append(digest.hexdigest())
    return keys
