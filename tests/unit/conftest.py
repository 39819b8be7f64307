"""Options of the test run."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Tests run in as many processes as there are cores. With threads in each of them NumPy's BLAS waits
# for itself, and matrix products take many times as long. NumPy reads this when it is imported,
# which nothing has done yet.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# When native code takes over depends on how busy the machine is. Tests that ask for it say so.
os.environ.setdefault("NKIJIT_BACKEND", "numpy")

# The verdicts of earlier processes must not decide a test.
os.environ["NKIJIT_VERDICT_CACHE"] = ""

# pytest rewrites the assertions of test files, which takes half of the collection. Where the
# environment asks for no bytecode beside the sources, the results are cached below build/.
if sys.dont_write_bytecode and sys.pycache_prefix is None:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[2] / "build" / "bytecode")

# Under `nohup`, or in the background of a script, signals are ignored, also by all processes that
# tests start and stop.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Machines that run tests are shared: how long an example takes says nothing. Derandomised, so
# that a failure in CI is the same failure here.
settings.register_profile("nkijit", deadline=None, derandomize=True, database=None)
settings.load_profile("nkijit")


def pytest_collection_finish() -> None:
    _freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path != item.path:
        _freeze()


def _freeze() -> None:
    """Exclude all present objects from garbage collection.

    Tests and caches of earlier tests are millions of objects, and each full collection would visit
    them. Kernels that are traced cause many collections, and benchmarks begin with one.
    """
    gc.collect()
    gc.freeze()


_BEGUN = time.monotonic()


def pytest_runtest_setup(item: pytest.Item) -> None:
    seconds: float | None = item.config.getoption("--seconds")
    if seconds is not None and time.monotonic() - _BEGUN > seconds:
        pytest.skip(f"the {seconds:g} seconds of this run are over")
    if sys.platform == "win32" and item.get_closest_marker("posix") is not None:
        pytest.skip("Windows does not have what it needs")


@pytest.fixture(scope="session", autouse=True)
def _checked_traces() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Every kernel that a test traces is well-formed IR."""
    from support.well_formed import checking_traces

    with checking_traces():
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the files in tests/golden anew; look at the difference before committing it",
    )
    parser.addoption(
        "--seconds", type=float, help="skip the tests that have not begun after so many seconds"
    )
