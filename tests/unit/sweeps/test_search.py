"""Variants that samplers of Optuna choose: the real one."""

from __future__ import annotations

import itertools
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import IntDistribution
from optuna.trial import TrialState
from support.sweeping import SHAPE, InTurn, tiled

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.sweeps.payload import MissingDependencyError
from nkijit.sweeps.space import Interval, SpaceError
from nkijit.sweeps.store import StoreError
from nkijit.sweeps.studies import SamplerError, opened

SPACE = {"width": [32, 64, 128, 256, 512], "copies": range(4)}
"""Twenty variants, all valid."""
HALF = {"width": range(64, 1025, 64), "copies": range(4)}
"""Of 64 variants those are wrong whose width is more than the tensor has, or no divisor."""


@pytest.fixture(autouse=True)
def quiet() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)


@nki.jit
def divided(x: Any, width: int = 64, copies: int = 1) -> Any:
    """`tiled`, which refuses widths that do not go into the tensor's."""
    columns = x.shape[1]
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    if columns % width:
        nl.ndarray((256, 1), x.dtype, buffer=nl.sbuf)  # more partitions than there are
    for i in range(columns // width):
        tile = nl.load(x[:, nl.ds(i * width, width)])
        for _ in range(copies):
            nisa.tensor_copy(dst=tile, src=tile)
        nl.store(out[:, nl.ds(i * width, width)], tile)
    return out


def search(kernel: Any = tiled, space: Any = SPACE, **options: Any) -> nki.Sweep:
    given = {"executor": InTurn(), "workers": 1, "trials": 12, "arguments": SHAPE, **options}
    return nki.sweep(kernel, space, given.pop("objective", "time"), **given)


def params(found: nki.Sweep) -> list[dict[str, Any]]:
    assert found.study is not None
    return [trial.params for trial in found.study.trials]


# ------------------------------------------------------------------ choices


@pytest.mark.parametrize(
    "sampler", ["tpe", "random", "cmaes", "qmc", "nsgaii", "nsgaiii", "grid", "bruteforce"]
)
def test_samplers_by_name_are_deterministic(sampler: str) -> None:
    space = {"width": range(32, 513, 32), "copies": range(4)}
    first = search(space=space, sampler=sampler, seed=3)
    again = search(space=space, sampler=sampler, seed=3)
    assert params(first) == params(again)
    assert first.to_json() == again.to_json()
    assert first.trials == 12
    if sampler != "qmc":  # its sequence is always the same
        assert params(first) != params(search(space=space, sampler=sampler, seed=4))
    assert first.study is not None
    assert type(first.study.sampler).__name__.lower() == f"{sampler}sampler"


def test_best_is_that_of_the_grid() -> None:
    space = {"width": [32, 64, 96, 128, 192, 256, 512, 1024], "copies": range(8)}
    whole = nki.sweep(divided, space, arguments=SHAPE, executor=InTurn())
    assert sum(each.is_valid for each in whole.variants) == 40
    executor = InTurn()
    found = search(divided, space, sampler="tpe", trials=32, executor=executor)
    assert whole.best is not None
    assert found.best is not None
    assert found.best.point == whole.best.point
    assert found.best.cost == whole.best.cost
    assert executor.count == len(found.variants) < len(whole.variants) / 2


def test_sampler_of_the_grid_goes_through_all_of_it() -> None:
    whole = nki.sweep(tiled, SPACE, arguments=SHAPE, executor=InTurn())
    for workers in 1, 3:
        found = search(sampler="grid", trials=1000, workers=workers)
        assert found.trials == 20

        def costs(of: nki.Sweep) -> dict[tuple[Any, ...], nki.Cost]:
            return {tuple(each.point.values()): each.cost for each in of.variants}

        assert costs(found) == costs(whole)


def test_samplers_that_have_gone_through_everything_end() -> None:
    found = search(sampler="bruteforce", trials=1000)
    assert len(found.variants) == 20


class OutOfOrder(Executor):
    """Runs tasks in threads that take differently long each time."""

    def __init__(self, delays: Any):
        self._pool, self._delays = ThreadPoolExecutor(3), itertools.cycle(delays)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        delay = next(self._delays)

        def late() -> Any:
            time.sleep(delay)
            return fn(*args, **kwargs)

        return self._pool.submit(late)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


def test_choices_do_not_depend_on_the_order_of_completion() -> None:
    chosen: list[Any] = []
    for delays in (0.0, 0.1), (0.1, 0.0, 0.05), (0.0,):
        with OutOfOrder(delays) as executor:
            chosen.append(params(search(executor=executor, workers=3, trials=16)))
    assert chosen[0] == chosen[1] == chosen[2]


def test_a_variant_that_is_chosen_again_is_looked_at_once() -> None:
    executor = InTurn()
    found = search(space={"copies": [1, 2]}, sampler="random", trials=9, executor=executor)
    assert found.trials == 9
    assert executor.count == len(found.variants) == 2
    assert "9 trials of 2 variants, 2 valid" in str(found)


def test_the_kernel_as_it_is_written_comes_first() -> None:
    assert params(search(trials=1)) == [{"width": 128, "copies": 1}]
    assert params(search(trials=1, space={"width": Interval(1, 512, log=True)})) == [{"width": 128}]
    elsewhere = params(search(trials=1, space={"width": range(100, 512, 100)}))
    assert elsewhere != [{"width": 128}]


def test_spaces() -> None:
    tensors = ["128x512:float32", nki.TensorSpec((128, 256), "float32"), "128x128:float32"]
    found = search(
        space={"x": tensors, "width": IntDistribution(32, 128, step=32), "copies": Interval(1, 3)}
    )
    shapes = {each.point["x"].shape for each in found.variants}
    assert shapes == {(128, 512), (128, 256), (128, 128)}
    assert {type(trial["x"]) for trial in params(found)} == {str}
    assert {each.point["width"] for each in found.variants} <= {32, 64, 96, 128}
    assert found.best is not None
    with pytest.raises(SpaceError, match="is for samplers"):
        nki.sweep(tiled, {"width": IntDistribution(32, 128)}, arguments=SHAPE)
    with pytest.raises(SpaceError, match="or a distribution of Optuna, got 3"):
        search(space={"width": 3})


# ------------------------------------------------------------------ observations


def test_wrong_variants_are_pruned_and_avoided() -> None:
    found = search(divided, HALF, sampler="tpe", trials=60)
    assert found.study is not None
    for trial in found.study.trials:
        is_right = 512 % trial.params["width"] == 0
        assert trial.state is (TrialState.COMPLETE if is_right else TrialState.PRUNED)
        errors = trial.user_attrs.get("findings", [])
        assert list(trial.constraints.values()) == [float(len(errors))]
        if is_right:
            assert "us" in trial.user_attrs["time"]
        else:
            assert any("error[alloc-partitions]" in finding for finding in errors)
    right = [512 % trial["width"] == 0 for trial in params(found)]
    # A quarter of the space is right.
    assert sum(right[20:]) > len(right[20:]) / 2, right


def test_exceptions_are_reported() -> None:
    found = search(space={"width": [0, 128]}, sampler="grid")
    assert found.study is not None
    (failed,) = (trial for trial in found.study.trials if trial.params["width"] == 0)
    assert failed.state is TrialState.PRUNED
    assert "python-error]: ZeroDivisionError" in failed.user_attrs["findings"][0]


@nki.jit
def wrong_at_256(x: Any, width: int = 512) -> Any:
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[1] // width):
        tile = nl.load(x[:, nl.ds(i * width, width)])
        if width == 256:
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=1.001)
        nl.store(out[:, nl.ds(i * width, width)], tile)
    return out


@pytest.mark.parametrize("workers", [1, 4])
def test_results_are_compared_with_those_of_the_kernel_as_it_is_written(workers: int) -> None:
    space = {"width": [256, 128, 64, 512, 0]}
    found = search(
        wrong_at_256, space, sampler="random", trials=20, workers=workers, run=True, seed=1
    )
    assert found.variants[0].point == {"width": 512}
    valid = {each.point["width"]: each.is_valid for each in found.variants}
    assert valid == {512: True, 256: False, 128: True, 64: True, 0: False}
    assert found.study is not None
    for trial in found.study.trials:
        assert (trial.state is TrialState.COMPLETE) == valid[trial.params["width"]]


@pytest.mark.parametrize("sampler", ["nsgaii", "tpe"])
def test_several_objectives(sampler: str) -> None:
    found = search(sampler=sampler, trials=30, objective=["time", "sbuf"], seed=2)
    assert found.study is not None
    assert found.study.metric_names == ["time", "sbuf"]
    front = {tuple(trial.params.values()) for trial in found.study.best_trials}
    mine = {tuple(each.point.values()) for each in found.pareto}
    assert len(mine) > 1
    assert mine <= front  # Optuna's has all of those that are equal
    figures = {tuple(trial.values) for trial in found.study.best_trials}
    assert len(figures) == len(mine)


# ------------------------------------------------------------------ where it is kept


@pytest.mark.parametrize("kind", ["sqlite", "journal"])
def test_interrupted_studies_go_on(tmp_path: Path, kind: str) -> None:
    storage = f"sqlite:///{tmp_path}/x.db" if kind == "sqlite" else str(tmp_path / "journal.log")
    options: dict[str, Any] = {"space": HALF, "sampler": "random", "storage": storage, "run": True}
    with pytest.raises(KeyboardInterrupt):
        search(divided, executor=InTurn(interrupted_at=5), **options)
    kept = search(divided, trials=1, executor=InTurn(interrupted_at=0), **options)
    known = {tuple(each.point.values()): each for each in kept.variants}
    assert 0 < len(known) < 5
    executor = InTurn()
    whole = search(divided, executor=executor, **options)
    assert whole.trials == 12
    assert len(whole.variants) > len(known)
    for each in whole.variants:
        before = known.get(tuple(each.point.values()))
        assert before is None or (before.cost, before.agreement) == (each.cost, each.agreement)
    new = [each for each in whole.variants if tuple(each.point.values()) not in known]
    runs = sum(each.agreement is not None for each in new)
    assert executor.count == len(new) + runs
    nothing = InTurn()
    again = search(divided, executor=nothing, **options)
    assert nothing.count == 0
    assert again.to_json() == whole.to_json()


def test_studies_of_something_else_are_refused(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/x.db"
    search(storage=storage, trials=2)
    with pytest.raises(StoreError, match="is about another kernel, or other arguments"):
        search(storage=storage, arguments={"x": "128x1024:float32"})
    with pytest.raises(StoreError, match="has other objectives"):
        search(storage=storage, objective="sbuf")
    with pytest.raises(SpaceError, match="the study 'tiled' does not go with this space"):
        search(storage=storage, space={**SPACE, "width": [32, 64]})
    found = search(storage=storage, objective="sbuf", study_name="small", trials=2)
    assert found.study is not None
    with opened(storage) as kept:
        assert kept is not None
        assert optuna.get_all_study_names(kept) == ["tiled", "small"]
    with pytest.raises(StoreError, match=r"no study can be kept there: .*unable to open"):
        search(storage=f"sqlite:///{tmp_path}/nowhere/x.db")


def test_stores_and_studies_go_together(tmp_path: Path) -> None:
    store = tmp_path / "found.jsonl"
    nki.sweep(tiled, SPACE, arguments=SHAPE, executor=InTurn(), store=store)
    executor = InTurn()
    found = search(store=store, executor=executor)
    assert executor.count == 0
    assert found.trials == 12


def test_wrong_calls() -> None:
    with pytest.raises(SamplerError, match=r"no sampler 'nsga'; there are .*mean 'nsgaii'"):
        search(sampler="nsga")
    with pytest.raises(SamplerError, match="'width' has no grid: give its values"):
        search(space={"width": Interval(1, 512, log=True)}, sampler="grid")
    with pytest.raises(SamplerError, match="how many variants"):
        search(sampler="tpe", trials=None)
    with pytest.raises(ValueError, match="say how many trials there are"):
        search(storage="sqlite://", trials=None)

    class Lacking(optuna.samplers.RandomSampler):
        def sample_independent(self, *_: Any) -> Any:
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

    with pytest.raises(SamplerError, match="needs torch, which is not installed"):
        search(sampler=Lacking())


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("nkijit.sweeps.search", "nkijit.sweeps.studies"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'nkijit\[optuna\]'"):
        search()
