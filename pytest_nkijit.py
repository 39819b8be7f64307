"""The pytest plugin of nkijit.

pytest imports this file at every start, also in projects without kernels, so it imports nkijit only
when a test needs it. `nkijit.testing.plugin` has the implementation.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from nkijit.testing.goldens import Golden
    from nkijit.testing.plugin import RandomInputs

_MARKER = (
    "nki(targets=None): run the test once for each target (trn1, trn2, trn3), for which kernels "
    "are then traced; the fixture nki_target is its name"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("nkijit", "kernels (nkijit)")
    group.addoption(
        "--nki-update-goldens",
        action="store_true",
        help="write what nki_golden compares with anew; look at the difference before committing",
    )
    group.addoption(
        "--nki-deny",
        action="append",
        metavar="GROUP|RULE",
        default=[],
        help="fail calls of kernels with these warnings: suspicious, advice, portability, warnings "
        "(all), or a rule",
    )
    group.addoption(
        "--nki-report",
        metavar="DIR",
        help="write an HTML report of each kernel of a failing test into this folder",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and deny warnings for the session."""
    config.addinivalue_line("markers", _MARKER)
    denied = cast("Sequence[str]", config.getoption("--nki-deny"))
    if denied:
        from nkijit.traced.strictness import DENY_VARIABLE, denial_of_environment

        patch = pytest.MonkeyPatch()
        config.add_cleanup(patch.undo)
        patch.setenv(DENY_VARIABLE, ",".join(denied))
        try:
            denial_of_environment()
        except ValueError as error:
            raise pytest.UsageError(f"--nki-deny: {error}") from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the marker becomes one for each of its targets."""
    marker = metafunc.definition.get_closest_marker("nki")
    if marker is None:
        return
    targets = _targets_of(marker)
    if targets is not None:
        if "nki_target" not in metafunc.fixturenames:
            metafunc.fixturenames.append("nki_target")
        metafunc.parametrize("nki_target", targets, indirect=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test with the marker has the fixture, whether it names it or not."""
    if not isinstance(item, pytest.Function) or item.get_closest_marker("nki") is None:
        return
    # pytest omits the names that only `pytest_generate_tests` has added.
    if "nki_target" not in item.fixturenames:
        item.fixturenames.insert(0, "nki_target")


def _targets_of(marker: pytest.Mark) -> list[str] | None:
    """Return the targets of a marker, or raise CollectError for other arguments."""
    unknown = [name for name in marker.kwargs if name != "targets"]
    if marker.args or unknown:
        raise pytest.Collector.CollectError(
            '@pytest.mark.nki takes targets= only, e.g. @pytest.mark.nki(targets=["trn2", "trn3"])'
        )
    targets = marker.kwargs.get("targets")
    if targets is None:
        return None
    names = [targets] if isinstance(targets, str) else list(cast("Sequence[str]", targets))
    from nkijit.tracing.target import resolve_target

    for name in names:
        try:
            resolve_target(name)
        except ValueError as error:
            raise pytest.Collector.CollectError(f"@pytest.mark.nki: {error}") from None
    return names


@pytest.fixture
def nki_target(request: pytest.FixtureRequest) -> Iterator[str]:
    """The target that kernels are traced for in this test, but those that name another one."""
    from nkijit.testing.plugin import target_of_test

    with target_of_test(getattr(request, "param", None)) as name:
        yield name


@pytest.fixture
def nki_random(request: pytest.FixtureRequest) -> RandomInputs:
    """Random arrays, different for each test and always the same: see `random_inputs`.

    `nki_random({"x": "128x512:bfloat16"})`; for all targets of a test they are the same.
    """
    from nkijit.testing.plugin import RandomInputs

    return RandomInputs(request.node)


@pytest.fixture
def nki_golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a kernel's IR, or a text, with a file beside the test: `nki_golden(traced)`.

    `pytest --nki-update-goldens` writes the file.
    """
    from nkijit.testing.goldens import Golden

    return Golden(request.node, update=bool(request.config.getoption("--nki-update-goldens")))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Notes which kernels a test asks for, if anything has imported nkijit."""
    if "nkijit.testing.plugin" not in sys.modules and "nkijit.kernels.kernel" not in sys.modules:
        return (yield)
    from nkijit.testing.plugin import noting_kernels

    with noting_kernels(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the kernels of a failing test to its report."""
    report = yield
    if report.failed and "nkijit.testing.plugin" in sys.modules:
        from nkijit.testing.plugin import add_sections

        add_sections(item, call, report)
    return report
