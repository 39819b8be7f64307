"""`nkijit.sweep`: predict the variants of a kernel, and find the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from nkijit.discovery.argument_text import with_tensors
from nkijit.discovery.examples import examples_of
from nkijit.discovery.selection import checked
from nkijit.host.terminal import progress_bar
from nkijit.kernels.kernel import Kernel
from nkijit.passes.compile.schedules import Schedule
from nkijit.sweeps.cluster import is_of_dask, workers_of_dask
from nkijit.sweeps.costs import Cost
from nkijit.sweeps.evaluation import Evaluation, Question, StrPath
from nkijit.sweeps.found import Sweep
from nkijit.sweeps.pool import Run, Workers, workers_of
from nkijit.sweeps.results import Measure, Variant, measures_of
from nkijit.sweeps.space import Point, points_of, space_of
from nkijit.sweeps.worker import Agreement
from nkijit.tracing.tracebacks import without_own_frames

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage


@without_own_frames
def sweep(
    kernel: Kernel[...],
    space: Mapping[str, Iterable[Any] | BaseDistribution],
    objective: str | Measure | Sequence[str | Measure] = "time",
    *,
    arguments: Mapping[str, Any] | None = None,
    run: bool = False,
    seed: int = 0,
    schedule: str = "compiler",
    executor: Executor | str | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    store: StrPath | None = None,
    sampler: str | BaseSampler | None = None,
    trials: int | None = None,
    storage: str | BaseStorage | None = None,
    study_name: str | None = None,
) -> Sweep:
    """Predict the variants of a kernel, in other processes, and find the best.

    A variant has a value for each argument in `space`. The variants are all points of the grid, or
    the points that an Optuna sampler chooses. A variant with errors, or that raises an exception or
    kills its process, is a result as well. Order and results of a grid do not depend on the number
    of processes.
    `print` the result for a table; `.best.point` has the best arguments.

    Args:
        kernel: a kernel; `kernel[2]` for two cores.
        space: the values of some arguments: `{"tile": [128, 256]}`. Tensors may be text: `{"x":
            ["128x512:float32", "128x512:bfloat16"]}`. With a sampler, Optuna distributions are
            possible as well.
        objective: the figure to minimise: "time", "high" (the slow end of its range), "sbuf",
            "psum" or "instructions"; or "mfu", which is maximised; or a function of a `Cost` to
            minimise. With several objectives, the first determines the best variant, and `.pareto`
            has the variants that no other variant beats in all of them.
        arguments: the other arguments; tensors as arrays, `TensorSpec` or text. Default: those of
            the kernel's first `@nkijit.example`.
        run: also run the variants, and compare their results with those of the first valid one.
        seed: the seed of random data for tensors without data, and of the sampler.
        schedule: as for `nkijit.cost`.
        executor: runs the variants: by default, processes of this machine; or any executor,
            including that of a Dask client; or the address of a Dask scheduler,
            `"tcp://10.0.0.1:8786"` (`pip install 'nkijit[dask]'`). The kernel and its arguments are
            sent by value.
        workers: the number of concurrent variants; by default, one per processor.
        timeout: the time limit of a variant in seconds. A variant that exceeds the limit is a
            failed result.
        store: a file to which each result is written as soon as it is known. A later sweep reuses
            the results in the file while kernel, arguments and nkijit are the same.
        sampler: chooses the variants: an Optuna sampler, or its name: "tpe", "random", "cmaes",
            "nsgaii", "qmc", "gp", … (`pip install 'nkijit[optuna]'`). Without a sampler, the whole
            grid is evaluated.
        trials: the number of variants that the sampler chooses, over all runs on its storage.
        storage: the storage of the Optuna study: a URL (`"sqlite:///x.db"`), a journal file, or an
            Optuna storage. An existing study is resumed.
        study_name: the study's name in the storage; by default, the kernel's.

    Raises:
        ValueError: the objective or schedule is unknown.
        SpaceError: the space is empty.
        StoreError: the file or study belongs to something else.
        SamplerError: the sampler is unusable.
        ClusterError: the scheduler is unusable.
        UsageError: the kernel does not have such arguments.
        ImportError: cloudpickle (`pip install 'nkijit[sweep]'`), Dask or Optuna is missing.

    Example:

        found = nki.sweep(kernel, {"x": ["128x512:float32", "128x256:float32"]}, "mfu")
        print(found)
        if found.best is not None:
            out = kernel(x[:128])
    """
    objectives = measures_of(objective)
    Schedule(schedule)
    if timeout is not None and timeout <= 0:
        raise ValueError(f"a time limit is more than 0 seconds, got {timeout:g}")
    is_sampled = sampler is not None or trials is not None
    if not is_sampled and (storage is not None or study_name is not None):
        raise ValueError("a storage and a study are of a sampler: say how many trials there are")
    axes = space_of(space)
    points = [] if is_sampled else points_of(axes)
    if arguments is None:
        examples = examples_of(kernel)
        arguments = examples[0].arguments() if examples else {}
    fixed = {n: with_tensors(value) for n, value in arguments.items() if n not in axes}
    hint = 'arguments={{"{name}": "128x512:float32"}}'
    checked(kernel, {**fixed, **axes}, hint, 'arguments={{"{name}": 2.0}}')
    evaluation = Evaluation(
        kernel, fixed, schedule=schedule, seed=seed, run=run, store=store, timeout=timeout
    )
    name = kernel.__name__
    if not is_sampled:
        with _workers(executor, workers, timeout) as found, _progress(name) as report:
            return Sweep(name, objectives, _grid(evaluation, points, found, report))
    # Optuna is imported only for searches.
    from nkijit.sweeps.search import Search
    from nkijit.sweeps.studies import opened, study_of

    with opened(storage) as backend:
        study = study_of(evaluation, axes, objectives, sampler or "tpe", seed, backend, study_name)
        search = Search(evaluation, study, objectives, trials)
        with _workers(executor, workers, timeout) as found, _progress(name) as report:
            search.run(found, report)
        return Sweep(name, objectives, search.variants, search.study)


def _progress(name: str) -> AbstractContextManager[Callable[[float], None]]:
    return progress_bar(f"variants of @{name}")


def _workers(
    executor: Executor | str | None, count: int | None, timeout: float | None
) -> AbstractContextManager[Workers]:
    if isinstance(executor, str) or is_of_dask(executor):
        return workers_of_dask(executor, count, timeout)
    return workers_of(executor, count, timeout)


def _grid(
    evaluation: Evaluation,
    points: Sequence[Point],
    workers: Workers,
    report: Callable[[float], None],
) -> list[Variant]:
    """Return all variants of a grid, from the store or computed."""
    candidates = [evaluation.candidate(point) for point in points]
    phases = 2 if evaluation.is_run else 1

    def each(questions: Sequence[Question], start: int) -> list[Any]:
        run, answers = Run(workers), [evaluation.stored(question) for question in questions]
        places: list[int] = []
        for place, question in enumerate(questions):
            if answers[place] is None:
                run.add(*evaluation.task(question, workers))
                places.append(place)
        for done, (number, outcome) in enumerate(run.outcomes(), len(answers) - len(places) + 1):
            place = places[number]
            answers[place] = evaluation.answer(questions[place], outcome)
            report((start + done / len(questions)) / phases)
        return answers

    costs: list[Cost] = each([Question(candidate) for candidate in candidates], 0)
    valid = [place for place, cost in enumerate(costs) if cost.time is not None]
    agreements: dict[int, Agreement] = {}
    if evaluation.is_run and valid:
        reference = candidates[valid[0]]
        queries = [Question(candidates[place], reference) for place in valid]
        agreements = dict(zip(valid, each(queries, 1), strict=True))
    return [
        Variant(place, point, costs[place], agreements.get(place))
        for place, point in enumerate(points)
    ]
