"""Sweeps: the best of the variants, also if some of them fail."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import xml.dom.minidom
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from support.sweeping import SHAPE, InTurn, tiled

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.discovery.selection import UsageError
from nkijit.sweeps.pool import ExecutorError
from nkijit.sweeps.space import SpaceError
from nkijit.sweeps.store import StoreError


def times(found: nki.Sweep) -> list[float | None]:
    return [each.cost.time and each.cost.time.ns for each in found.variants]


# ------------------------------------------------------------------ results


def test_best_is_that_of_a_loop_over_profiles() -> None:
    expected: dict[tuple[int, int], float] = {}
    for width in (64, 128, 512):
        for copies in (0, 2):
            traced = tiled.trace(nki.TensorSpec((128, 512), "float32"), width, copies)
            expected[width, copies] = traced.profile().time
    space = {"width": [64, 128, 512], "copies": (0, 2)}
    found = nki.sweep(tiled, space, arguments=SHAPE, executor=InTurn())
    points = [(each.point["width"], each.point["copies"]) for each in found.variants]
    assert points == list(expected)
    assert times(found) == list(expected.values())
    assert found.best is not None
    best = found.best.point
    assert (best["width"], best["copies"]) == min(expected, key=lambda key: expected[key])
    ordered = [each.cost.time.ns for each in found.results if each.cost.time]
    assert ordered == sorted(expected.values())


def test_objectives() -> None:
    space = {"width": [512, 64, 128]}

    def best(objective: Any) -> int:
        found = nki.sweep(tiled, space, objective, arguments=SHAPE, executor=InTurn())
        assert found.best is not None
        return found.best.point["width"]

    assert best("sbuf") == 64
    assert best("instructions") == 512
    assert best(lambda cost: -cost.sbuf.bytes) == 512
    with pytest.raises(ValueError, match="no objective 'speed'; there are time, high, sbuf"):
        best("speed")
    with pytest.raises(ValueError, match="'sbuf' is given twice"):
        best(["sbuf", "time", "sbuf"])
    with pytest.raises(ValueError, match="there is no objective"):
        best([])


def test_pareto_front_is_that_of_all_pairs() -> None:
    space = {"width": [32, 64, 128, 256, 512], "copies": [0, 1]}
    found = nki.sweep(tiled, space, arguments=SHAPE, executor=InTurn())
    figures = {
        each.number: (each.cost.time.ns, each.cost.sbuf.bytes)
        for each in found.variants
        if each.cost.time and each.cost.sbuf
    }
    unbeaten = {
        number
        for number, (time, size) in figures.items()
        if not any(
            (t <= time and s <= size) and (t, s) != (time, size) for t, s in figures.values()
        )
    }
    front = {figures[each.number] for each in found.pareto}
    assert front == {figures[number] for number in unbeaten}


def test_front_of_several_objectives_is_that_of_all_pairs() -> None:
    space = {"width": [32, 64, 128, 256, 512], "copies": [0, 1]}

    def latest(cost: nki.Cost) -> float:
        assert cost.time is not None
        return cost.time.high

    found = nki.sweep(
        tiled, space, ["sbuf", latest, "instructions"], arguments=SHAPE, executor=InTurn()
    )
    figures: dict[int, tuple[float, ...]] = {}
    for each in found.variants:
        assert each.cost.time
        assert each.cost.sbuf
        figures[each.number] = (
            each.cost.sbuf.bytes,
            each.cost.time.high,
            each.cost.instructions or 0,
        )
    unbeaten = {
        mine
        for mine in figures.values()
        if not any(
            all(a <= b for a, b in zip(other, mine, strict=True)) and other != mine
            for other in figures.values()
        )
    }
    assert 1 < len(unbeaten) < len(figures)
    assert [figures[each.number] for each in found.pareto] == sorted(unbeaten)
    assert found.best is not None
    assert found.best.cost.sbuf == found.pareto[0].cost.sbuf
    text = str(found)
    assert f"not beaten in sbuf, latest, instructions (with *): {len(unbeaten)} of 10" in text
    assert sum(line.startswith("  * ") for line in text.splitlines()) == len(unbeaten)


def test_failing_variants_keep_their_findings() -> None:
    space = {"x": ["128x512:float32", "256x512:float32"], "width": [0, 128]}
    found = nki.sweep(tiled, space, executor=InTurn())
    assert [each.is_valid for each in found.variants] == [False, True, False, False]
    assert found.variants[0].cost.findings[0].subject == "ZeroDivisionError"
    (finding,) = found.variants[3].cost.findings
    assert finding.rule == "alloc-partitions"
    text = str(found)
    assert text.startswith("sweep of @tiled: 4 variants, 1 valid\n")
    assert text.splitlines()[-1].endswith(" alloc-partitions")
    assert found.results[0] is found.best is found.variants[1]


def test_no_valid_variant() -> None:
    found = nki.sweep(tiled, {"width": [0]}, arguments=SHAPE, run=True, executor=InTurn())
    assert found.best is None
    assert "1 variant, 0 valid" in str(found)
    assert "<svg" not in found.to_html()


@nki.jit
def wrong_at_256(x: Any, width: int) -> Any:
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[1] // width):
        tile = nl.load(x[:, nl.ds(i * width, width)])
        if width == 256:
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=1.001)
        nl.store(out[:, nl.ds(i * width, width)], tile)
    return out


def test_results_are_compared_with_the_first_valid_variant() -> None:
    space = {"width": [0, 512, 256, 128]}
    found = nki.sweep(wrong_at_256, space, arguments=SHAPE, run=True, seed=3, executor=InTurn())
    agreements = [each.agreement for each in found.variants]
    assert agreements[0] is None
    assert agreements[1] == agreements[3]
    assert agreements[1] is not None
    assert agreements[1].agrees
    assert agreements[1].off == 0
    assert agreements[2] is not None
    assert not agreements[2].agrees
    assert agreements[2].off == pytest.approx(0.001, rel=0.01)
    assert found.best is not None
    assert found.best.point["width"] != 256
    assert "computes something else" in str(found)


def test_examples_and_arrays() -> None:
    example = nki.example(x="128x512:float32")(nki.jit(tiled.func))
    found = nki.sweep(example, {"width": [128]}, executor=InTurn())
    array = nki.sweep(
        tiled, {"width": [128]}, arguments={"x": np.ones((128, 512), np.float32)}, executor=InTurn()
    )
    assert times(found) == times(array)


def test_wrong_calls() -> None:
    with pytest.raises(UsageError, match="no argument 'widht'"):
        nki.sweep(tiled, {"widht": [1]}, arguments=SHAPE)
    with pytest.raises(UsageError, match="argument 'x' is missing"):
        nki.sweep(wrong_at_256, {"width": [1]})
    for space in ({}, {"width": []}, {"width": "128"}):
        with pytest.raises(SpaceError):
            nki.sweep(tiled, space, arguments=SHAPE)
    with pytest.raises(ValueError, match="soon"):
        nki.sweep(tiled, {"width": [1]}, arguments=SHAPE, schedule="soon")


def test_page_needs_nothing_else() -> None:
    found = nki.sweep(tiled, {"width": [64, 512, 0]}, arguments=SHAPE, executor=InTurn())
    page = found.to_html()
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    picture = page[page.index("<svg") : page.index("</svg>") + 6]
    svg = xml.dom.minidom.parseString(picture)
    circles = svg.getElementsByTagName("circle")
    assert [len(circle.getElementsByTagName("title")) for circle in circles] == [1, 1]
    assert page.count("<tr") == 4
    assert "by zero" in page


def test_the_page_has_no_empty_columns() -> None:
    """The reasons of invalid variants are a column only if there are any."""
    headlines: list[list[str]] = []
    for widths in ([64, 512], [64, 0]):
        found = nki.sweep(tiled, {"width": widths}, arguments=SHAPE, executor=InTurn())
        headlines.append(re.findall("<th>([^<]*)</th>", found.to_html()))
    assert headlines[0] == ["width", "time", "bound", "SBUF", "PSUM", "MFU"]
    assert headlines[1] == [*headlines[0], "why not"]


@nki.jit
def with_an_unused_parameter(x: Any, unused: int = 0) -> Any:
    return tiled.func(x, 512)


def test_the_front_is_drawn_above_equal_variants() -> None:
    space = {"unused": [0, 1]}
    found = nki.sweep(with_an_unused_parameter, space, arguments=SHAPE, executor=InTurn())
    assert [variant.point["unused"] for variant in found.pareto] == [0]
    assert re.findall(r"<title>unused=(\d)", found.to_html()) == ["1", "0"]


# ------------------------------------------------------------------ stores


def test_interrupted_sweeps_go_on(tmp_path: Path) -> None:
    store = tmp_path / "found.jsonl"
    space = {"width": [32, 64, 0, 128, 256]}

    def sweep(executor: InTurn) -> nki.Sweep:
        return nki.sweep(
            tiled, space, arguments=SHAPE, run=True, executor=executor, workers=1, store=store
        )

    with pytest.raises(KeyboardInterrupt):
        sweep(InTurn(interrupted_at=3))
    lines = store.read_bytes().splitlines(keepends=True)
    assert len(lines) == 4
    store.write_bytes(b"".join(lines)[:-20])  # as if it had been killed while it wrote
    again = InTurn()
    resumed = sweep(again)
    assert again.count == 3 + 4  # of five variants two were known; four are run
    nothing = InTurn()
    assert sweep(nothing).to_json() == resumed.to_json()
    assert nothing.count == 0
    fresh = nki.sweep(tiled, space, arguments=SHAPE, run=True, executor=InTurn())
    assert fresh.to_json() == resumed.to_json()


def test_stored_results_belong_to_one_kernel_and_its_arguments(tmp_path: Path) -> None:
    store = tmp_path / "found.jsonl"

    def computed(kernel: nki.Kernel[...], arguments: Any = SHAPE, **options: Any) -> int:
        executor = InTurn()
        space = {"width": [128, 256]}
        nki.sweep(kernel, space, arguments=arguments, executor=executor, store=store, **options)
        return executor.count

    assert computed(tiled) == 2
    assert computed(tiled) == 0
    assert computed(nki.jit(tiled.func)) == 0
    assert computed(tiled, {"x": "128x1024:float32"}) == 2
    assert computed(tiled, {**SHAPE, "copies": 1}) == 2
    assert computed(tiled.for_target("trn2")) == 2
    assert computed(tiled, schedule="author") == 2
    assert computed(wrong_at_256) == 2


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "kernel.py"
    other.write_text("x = 1\n")
    with pytest.raises(StoreError, match="no file of results of a sweep"):
        nki.sweep(tiled, {"width": [128]}, arguments=SHAPE, store=other)
    assert other.read_text() == "x = 1\n"


def test_kernels_that_cannot_be_known_again_are_not_stored(tmp_path: Path) -> None:
    store = tmp_path / "found.jsonl"
    arguments = {**SHAPE, "folder": str(tmp_path)}
    with pytest.raises(StoreError, match="cannot be known again"):
        nki.sweep(nki.jit(killing), {"width": [128]}, arguments=arguments, store=store)
    assert not store.exists()


KEYS = """
import nkijit as nki, nkijit.language as nl
from nkijit.sweeps.evaluation import Evaluation
WORDS = {"a", "b", "c", "d"}
@nki.jit
def kernel(x, n):
    if n in {1, 2, 3} or "a" in WORDS:
        return nl.load(x)
asked = Evaluation(
    kernel, {"x": nki.TensorSpec((4, 4), "int8")},
    schedule="author", seed=0, run=False, store="found.jsonl", timeout=None,
)
print(asked.candidate({"n": 1}).key, asked.candidate({"n": 2.0}).key)
"""


def test_keys_are_the_same_in_every_process(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    printed: set[str] = set()
    for seed in "1", "2":
        file.write_text(KEYS)
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, str(file)]
        printed.add(subprocess.check_output(command, env=environment, text=True, cwd=tmp_path))
    assert len(printed) == 1
    one, other = printed.pop().split()
    assert one != other


# ------------------------------------------------------------------ processes


def hanging(x: Any, width: int, folder: str) -> Any:
    (Path(folder) / f"{width}-{os.getpid()}").touch()
    if width == 64:
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        while True:
            with contextlib.suppress(BaseException):
                time.sleep(3600)
    return tiled(x, width)


@pytest.mark.parametrize("kind", ["processes", "threads"])
def test_a_variant_that_hangs_is_ended(tmp_path: Path, kind: str) -> None:
    arguments = {**SHAPE, "folder": str(tmp_path)}
    space = {"width": [64, 512, 256, 128]}
    with ThreadPoolExecutor(1) if kind == "threads" else nullcontext() as executor:
        found = nki.sweep(
            nki.jit(hanging),
            space,
            arguments=arguments,
            workers=1,
            timeout=4.0,
            executor=executor,
        )
    assert [each.is_valid for each in found.variants] == [False, True, True, True]
    assert found.variants[0].cost.failure == "still running after 4 s; it was ended"
    assert "still running after 4 s" in str(found)
    looked_at = sorted(file.name.partition("-")[0] for file in tmp_path.iterdir())
    assert looked_at == ["128", "256", "512", "64"]
    for file in tmp_path.iterdir():
        width, _, process = file.name.partition("-")
        if width == "64":
            assert not psutil.pid_exists(int(process))


@nki.jit
def endless(x: Any, width: int) -> Any:
    while width == 64:
        pass
    return tiled(x, width)


def test_timeouts_are_stored_with_their_limit(tmp_path: Path) -> None:
    store = tmp_path / "found.jsonl"

    def computed(timeout: float) -> int:
        executor = InTurn(may_fail=True)
        nki.sweep(
            endless,
            {"width": [64]},
            arguments=SHAPE,
            executor=executor,
            timeout=timeout,
            store=store,
        )
        return executor.count

    assert computed(0.2) == 1
    assert computed(0.2) == 0
    assert computed(0.3) == 1


def test_time_limits_are_positive() -> None:
    for timeout in (0, -1.0):
        with pytest.raises(ValueError, match="more than 0 seconds"):
            nki.sweep(tiled, {"width": [64]}, arguments=SHAPE, timeout=timeout)


class Broken(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_an_executor_that_gives_up_is_an_error() -> None:
    with pytest.raises(ExecutorError, match="has given up its tasks"):
        nki.sweep(tiled, {"width": [64]}, arguments=SHAPE, executor=Broken())


def killing(x: Any, width: int, folder: str) -> Any:
    if width == 64:
        os.kill(os.getpid(), signal.SIGKILL)
    marker = Path(folder) / "once"
    if width == 128 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return tiled(x, width)


@pytest.mark.posix
def test_a_process_that_dies_costs_only_its_variant(tmp_path: Path) -> None:
    arguments = {**SHAPE, "folder": str(tmp_path)}
    space = {"width": [512, 64, 256, 128]}
    found = nki.sweep(nki.jit(killing), space, arguments=arguments, workers=2)
    assert [each.is_valid for each in found.variants] == [True, False, True, True]
    assert "was ended by SIGKILL, twice" in found.variants[1].cost.failure
    assert "was ended by SIGKILL, twice" in str(found)


def leaving(x: Any, width: int) -> Any:
    if width == 64:
        os._exit(3)
    return tiled(x, width)


def test_a_process_that_leaves_costs_only_its_variant() -> None:
    found = nki.sweep(nki.jit(leaving), {"width": [512, 64, 256]}, arguments=SHAPE, workers=1)
    assert [each.is_valid for each in found.variants] == [True, False, True]
    assert "has ended with exit code 3, twice" in found.variants[1].cost.failure


def test_results_do_not_depend_on_the_workers() -> None:
    space = {"width": [0, 512, 64], "copies": range(2)}
    found = nki.sweep(tiled, space, arguments=SHAPE, run=True, workers=2)
    with ThreadPoolExecutor(2) as threads:
        other = nki.sweep(tiled, space, arguments=SHAPE, run=True, executor=threads)
    assert found.to_json() == other.to_json()
    assert str(found) == str(other)


SCRIPT = """
    import nkijit as nki, nkijit.language as nl
    from pathlib import Path

    FACTOR = 2

    class Plan:
        width = 64 * FACTOR

    @nki.jit
    def helper(tile):
        return nl.multiply(tile, float(FACTOR))

    def plain(tile):
        return helper(tile)

    @nki.jit
    def kernel(x, plan, twice=False):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = plain(nl.load(x[:, 0:plan.width]))
        nl.store(out[:, 0:plan.width], plain(tile) if twice else tile)
        return out

    with open("started", "a") as file:
        file.write("once")
    space = {"plan": [Plan], "twice": [False, True]}
    found = nki.sweep(kernel, space, arguments={"x": "128x128:float32"}, workers=1)
    print(found.to_json())
"""


@pytest.mark.parametrize("how", ["script", "exec"])
def test_kernels_that_cannot_be_imported(tmp_path: Path, how: str) -> None:
    (tmp_path / "sweeping.py").write_text(textwrap.dedent(SCRIPT))
    (tmp_path / "cells.py").write_text(
        "text = open('sweeping.py').read()\n"
        "exec(compile(text, '<cell 1>', 'exec'), {'__name__': '__main__'})\n"
    )
    name = "sweeping.py" if how == "script" else "cells.py"
    printed = subprocess.check_output([sys.executable, name], cwd=tmp_path, text=True)
    document = json.loads(printed)
    assert [each["valid"] for each in document["variants"]] == [True, True], printed
    assert (tmp_path / "started").read_text() == "once"
