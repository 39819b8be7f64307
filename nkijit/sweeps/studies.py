"""Optuna studies: axes as distributions, samplers by name, and storages."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from nkijit.dialects.spelling import did_you_mean
from nkijit.sweeps.evaluation import Evaluation
from nkijit.sweeps.payload import MissingDependencyError
from nkijit.sweeps.results import Objectives
from nkijit.sweeps.space import Interval, Point, SpaceError, value_text
from nkijit.sweeps.store import StoreError

try:
    import optuna
    from optuna import samplers
    from optuna.distributions import (
        BaseDistribution,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage, JournalStorage, RDBStorage
    from optuna.storages.journal import JournalFileBackend
    from optuna.study import StudyDirection
except ImportError as error:
    if (error.name or "").partition(".")[0] != "optuna":
        raise
    raise MissingDependencyError(
        "samplers are those of Optuna: pip install 'nkijit[optuna]'"
    ) from None

_OWNER = "nkijit"
"""The name of the study attribute with the kernel and objectives that the study is about."""


class SamplerError(ValueError):
    """A sampler that does not exist, or does not support the request."""


@dataclass(frozen=True)
class Axis:
    """A swept argument of the kernel, and the Optuna parameter that represents it."""

    distribution: BaseDistribution
    values: Mapping[Any, Any] | None = None
    """The argument's value for each category of the parameter.

    None if Optuna can represent the values themselves.
    """

    def value(self, found: Any) -> Any:
        """Return the argument's value for a value of the parameter."""
        return found if self.values is None else self.values[found]

    def params(self, value: Any) -> list[Any]:
        """Return the parameter's values for a value of the argument; [] outside of the space."""
        match self.distribution:
            case CategoricalDistribution(choices=choices):
                return [
                    c
                    for c in choices
                    if type(self.value(c)) is type(value) and self.value(c) == value
                ]
            case IntDistribution(low=low, high=high, step=step):
                fits = type(value) is int and low <= value <= high and (value - low) % step == 0
                return [value] if fits else []
            case FloatDistribution(low=low, high=high, step=None):
                return [value] if type(value) is float and low <= value <= high else []
            case _:
                return []


@dataclass(frozen=True)
class NkiStudy:
    """An Optuna study about variants of a kernel."""

    study: optuna.Study
    axes: Mapping[str, Axis]
    most: int | None = None
    """The number of trials after which the space is exhausted; None if unlimited."""

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        """The distribution of each parameter, by name."""
        return {name: axis.distribution for name, axis in self.axes.items()}

    def point(self, params: Mapping[str, Any]) -> Point:
        """Return the values of the swept arguments for the parameters of a trial."""
        return {name: axis.value(params[name]) for name, axis in self.axes.items()}


def axes_of(space: Mapping[str, Any]) -> dict[str, Axis]:
    """Return the axis of each argument in a space.

    Raises SpaceError if the values are neither a sequence nor a distribution.
    """
    return {name: _axis(name, values) for name, values in space.items()}


def _axis(name: str, values: Any) -> Axis:
    if isinstance(values, BaseDistribution):
        return Axis(values)
    if isinstance(values, range):
        return Axis(IntDistribution(min(values), max(values), step=abs(values.step)))
    if isinstance(values, Interval):
        if isinstance(values.low, int) and isinstance(values.high, int):
            return Axis(IntDistribution(values.low, values.high, log=values.log))
        return Axis(FloatDistribution(values.low, values.high, log=values.log))
    if not isinstance(values, Sequence):
        raise SpaceError(f"{name}: expected values or a distribution of Optuna, got {values!r}")
    several = cast("Sequence[Any]", values)
    if all(isinstance(each, (bool, int, float, str, type(None))) for each in several):
        return Axis(CategoricalDistribution(tuple(several)))
    labels = [value_text(each) for each in several]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({place})" for place, label in enumerate(labels)]
    return Axis(CategoricalDistribution(labels), dict(zip(labels, several, strict=True)))


def sampler_names() -> dict[str, type[BaseSampler]]:
    """Return Optuna's samplers by short names: "tpe" is its TPESampler."""
    found: dict[str, type[BaseSampler]] = {}
    for name in samplers.__all__:
        sampler_class: Any = getattr(samplers, name)
        if name.endswith("Sampler") and not inspect.isabstract(sampler_class):
            required = [
                p
                for p in inspect.signature(sampler_class).parameters.values()
                if p.default is p.empty and p.name != "search_space"
            ]
            if not required:
                found[name.removesuffix("Sampler").lower()] = sampler_class
    return found


def _sampler(name: str, axes: Mapping[str, Axis], seed: int) -> BaseSampler:
    known = sampler_names()
    if name.lower() not in known:
        near = did_you_mean(name, known)
        raise SamplerError(f"there is no sampler '{name}'; there are {', '.join(known)}{near}")
    sampler_class = known[name.lower()]
    takes = inspect.signature(sampler_class).parameters
    arguments: dict[str, Any] = {"seed": seed} if "seed" in takes else {}
    if "search_space" in takes:
        arguments["search_space"] = {n: _grid(n, axis.distribution) for n, axis in axes.items()}
    return sampler_class(**arguments)


def _grid(name: str, distribution: BaseDistribution) -> Sequence[Any]:
    """Return all values of a distribution, for the grid sampler."""
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices
    if isinstance(distribution, IntDistribution) and not distribution.log:
        return range(distribution.low, distribution.high + 1, distribution.step)
    raise SamplerError(f"sampler 'grid': '{name}' has no grid: give its values")


def only_warn() -> None:
    """Limit Optuna's log to warnings, for commands that print results."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)


@contextmanager
def quiet() -> Generator[None]:
    """Suppress Optuna's warnings about experimental features and ignored constraints.

    Raises:
        SamplerError: the sampler lacks a package.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        # Samplers without support for constraints ignore pruned trials instead.
        warnings.filterwarnings("ignore", "Constraints have been set", UserWarning)
        try:
            yield
        except ModuleNotFoundError as error:
            raise SamplerError(
                f"the sampler needs {error.name}, which is not installed: pip install {error.name}"
            ) from None


@contextmanager
def opened(storage: str | BaseStorage | None) -> Generator[BaseStorage | None]:
    """Open the storage of a study. Connections of a database that is opened here are closed.

    Raises:
        StoreError: the storage is unusable.
    """
    if not isinstance(storage, str):
        yield storage
        return
    with _as_store_errors(storage):
        if "://" not in storage:
            found = JournalStorage(JournalFileBackend(storage))
        else:
            found = RDBStorage(storage)
    try:
        yield found
    finally:
        if isinstance(found, RDBStorage):
            found.remove_session()
            found.engine.dispose()


def study_of(
    evaluation: Evaluation,
    space: Mapping[str, Any],
    objectives: Objectives,
    sampler: str | BaseSampler,
    seed: int,
    storage: BaseStorage | None,
    name: str | None,
) -> NkiStudy:
    """Create a study, or load it from the storage.

    Raises:
        SpaceError: an axis has neither values nor a distribution.
        SamplerError: the sampler is unknown or unusable.
        StoreError: the storage is unusable, or its study of that name is about another kernel or
            other objectives.
    """
    axes = axes_of(space)
    names = list(objectives)
    name = name or evaluation.kernel.__name__
    with quiet():
        study = _loaded(storage, name, len(names))
        if storage is not None:
            _own(study, {"kernel": evaluation.identity(), "objectives": names})
        is_new = not study.get_trials(deepcopy=False)
        if isinstance(sampler, str):
            # With the same seed, a resumed sampler would choose the same points again.
            sampler = _sampler(sampler, axes, seed + len(study.get_trials(deepcopy=False)))
        study.sampler = sampler
        if is_new:
            study.set_metric_names(names)
            written = _written(evaluation, axes)
            if written is not None and not isinstance(sampler, samplers.GridSampler):
                study.enqueue_trial(written)
        is_grid = isinstance(sampler, samplers.GridSampler)
        most = (
            math.prod(len(_grid(n, a.distribution)) for n, a in axes.items()) if is_grid else None
        )
    return NkiStudy(study, axes, most)


def _written(evaluation: Evaluation, axes: Mapping[str, Axis]) -> dict[str, Any] | None:
    """Return the trial parameters for the kernel's default values.

    None if a swept argument has no default value in the space.
    """
    found: dict[str, Any] = {}
    for name, axis in axes.items():
        parameter = evaluation.kernel.signature.parameters.get(name)
        params = [] if parameter is None else axis.params(parameter.default)
        if not params:
            return None
        found[name] = params[0]
    return found


def _loaded(storage: BaseStorage | None, name: str, objectives: int) -> optuna.Study:
    with _as_store_errors(storage):
        return optuna.create_study(
            storage=storage,
            study_name=name,
            directions=[StudyDirection.MINIMIZE] * objectives,
            load_if_exists=True,
        )


@contextmanager
def _as_store_errors(storage: str | BaseStorage | None) -> Generator[None]:
    """Convert exceptions to StoreError. Database drivers raise various types."""
    try:
        yield
    except Exception as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise StoreError(f"{storage}: no study can be kept there: {reason}") from None


def _own(study: optuna.Study, owner: Mapping[str, Any]) -> None:
    """Record in a study the kernel and objectives that it is about (its owner).

    Raises StoreError if the study has another owner.
    """
    before = study.user_attrs.get(_OWNER)
    if before is None and not study.get_trials(deepcopy=False):
        study.set_user_attr(_OWNER, owner)
    elif before != owner:
        is_ours = before is not None and before["kernel"] == owner["kernel"]
        problem = (
            "has other objectives" if is_ours else "is about another kernel, or other arguments"
        )
        raise StoreError(f"the study '{study.study_name}' {problem}; give this one another name")
