"""Strictness: `strict`, `nki.simulate`, NKIJIT_STRICT; errors that stop a run, and warnings."""

from __future__ import annotations

import inspect
import itertools
import json
import warnings

import numpy as np
import pytest
from support.report_pages import text_of

import nkijit as nki
import nkijit.classic as classic
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.interpret.records.errors import (
    InterpretationError,
    OutOfBoundsError,
    UnwrittenError,
)
from nkijit.passes.lower.program import LoweringError

X = np.arange(1, 128 * 8 + 1, dtype=np.float32).reshape(128, 8)
WIDE = np.ones((128, 20000), np.float32)
"""Four tiles of this are too much for SBUF."""


@nki.jit
def sums(x):
    """The sum of four tiles that are in use at one time."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.load(x) for _ in range(4)]
    with nl.no_reorder():  # no compiler loads some of them later
        for tile in tiles[1:]:
            nisa.tensor_tensor(dst=tiles[0], data1=tiles[0], data2=tile, op=nl.add)
    nisa.dma_copy(dst=out, src=tiles[0])
    return out


@nki.jit
def half(x):
    """Adds a tile of which only a half has been written."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[:, :4], src=x[:, :4])
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
    nisa.dma_copy(dst=out, src=tile)
    return out


HALF = np.concatenate([X[:, :4] + 1, np.full((128, 4), np.nan, np.float32)], axis=1)


@nki.jit
def illegal(x):
    """Works on a tile in HBM."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    nisa.tensor_scalar(dst=out, data=x, op0=nl.add, operand0=1.0)
    return out


def line_of(kernel, text):
    """The number of the line of a kernel that has this text."""
    lines, first = inspect.getsourcelines(kernel.__wrapped__)
    return next(number for number, line in enumerate(lines, first) if text in line)


def lenient(kernel, *arrays):
    """Return the result of a call, and its warnings."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        result = kernel(*arrays)
    return result, issued


@pytest.fixture(autouse=True)
def variable(monkeypatch):
    monkeypatch.delenv("NKIJIT_STRICT", raising=False)


# ------------------------------------------------------------------ results


def test_simulation_goes_on_with_undefined_values():
    result, (warning,) = lenient(nki.simulate(half), X)
    assert np.array_equal(result, HALF, equal_nan=True)
    (finding,) = half.trace(X).diagnostics
    assert str(warning.message) == str(finding)
    assert warning.category is nki.NkiWarning
    assert (warning.filename, warning.lineno) == (__file__, line_of(half, "dst=out, src=tile"))


def test_simulation_goes_on_with_tiles_that_do_not_fit():
    result, (warning,) = lenient(nki.simulate(sums), WIDE)
    assert np.array_equal(result, WIDE * 4)
    assert "error[sbuf-capacity]" in str(warning.message)
    assert warning.filename == __file__


@pytest.mark.parametrize(("kernel", "x"), [(half, X), (sums, WIDE)])
def test_calls_and_verification_stop(kernel, x):
    traced = kernel.trace(x)
    for stopped in (
        lambda: kernel(x),
        lambda: nki.simulate(kernel, strict=True)(x),
        lambda: traced.run(x),
        traced.verify,
        traced.listing,
        traced.profile,
        traced.programs,
        lambda: traced.run_ranks([[x]]),
        lambda: nki.run_ranks(kernel, [[x]]),
    ):
        with pytest.raises(nki.NkiValidationError):
            stopped()


def test_illegal_instructions_stop_everything(monkeypatch):
    monkeypatch.setenv("NKIJIT_STRICT", "0")
    traced = illegal.trace(X)
    for stopped in (
        lambda: nki.simulate(illegal)(X),
        lambda: illegal.strict(False)(X),
        lambda: traced.run(X, strict=False),
        lambda: traced.listing(strict=False),
        lambda: traced.profile(strict=False),
    ):
        with pytest.raises(nki.NkiValidationError, match=r"error\[buffer\]"):
            stopped()
    assert "no listing and no timeline, for the kernel has" in text_of(traced.report(strict=False))


def test_one_illegal_line_stops_a_kernel_that_is_undefined_elsewhere():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nisa.tensor_scalar(dst=x, data=tile, op0=nl.add, operand0=1.0)

    with pytest.raises(nki.NkiValidationError) as caught:
        nki.simulate(kernel)(X)
    kinds = {d.rule.id: d.kind.value for d in caught.value.diagnostics}
    assert kinds == {"read-unwritten": "undefined", "buffer": "illegal"}


def test_a_right_kernel_has_no_warnings():
    result, issued = lenient(nki.simulate(sums), X)
    assert np.array_equal(result, X * 4)
    assert not issued


def test_inputs_change_in_place():
    @nki.jit
    def kernel(x):
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=tile)

    x = X.copy()
    lenient(nki.simulate(kernel), x)
    assert np.isnan(x).all()


# ------------------------------------------------------------------ precedence


@pytest.mark.parametrize(
    ("said", "environment", "simulated"),
    list(itertools.product([None, True, False], [None, "", "0", "1"], [False, True])),
)
def test_precedence(monkeypatch, said, environment, simulated):
    """The explicit option, then the environment, then the default of the kind of run."""
    if environment is not None:
        monkeypatch.setenv("NKIJIT_STRICT", environment)
    expected = {"0": False, "1": True}.get(environment or "", not simulated)
    expected = expected if said is None else said
    kernels = [half if said is None else half.strict(said)]
    if simulated:
        kernels = [nki.simulate(kernels[0]), nki.simulate(half, strict=said)]
    for kernel in kernels:
        if expected:
            with pytest.raises(nki.NkiValidationError):
                kernel(X)
        else:
            assert np.array_equal(lenient(kernel, X)[0], HALF, equal_nan=True)


def test_the_environment_is_for_traced_kernels_too(monkeypatch):
    traced = half.trace(X)
    monkeypatch.setenv("NKIJIT_STRICT", "0")
    assert np.array_equal(lenient(traced.run, X)[0], HALF, equal_nan=True)
    assert traced.listing().startswith("undefined: undefined-use\n")
    with pytest.raises(nki.NkiValidationError):
        traced.run(X, strict=True)
    with pytest.raises(nki.NkiValidationError):
        traced.verify()
    with pytest.raises(nki.NkiValidationError):
        traced.run_lowered(X)


def test_other_words_in_the_environment_are_refused(monkeypatch):
    monkeypatch.setenv("NKIJIT_STRICT", "no")
    with pytest.raises(ValueError, match="NKIJIT_STRICT is 'no', expected 0 or 1"):
        sums(X)
    assert np.array_equal(sums.strict()(X), X * 4)


def test_both_ways_share_a_trace_and_not_its_findings():
    kernel = nki.jit(half.__wrapped__)
    simulated = nki.simulate(kernel)
    for _ in range(2):
        result, issued = lenient(simulated, X)
        assert np.array_equal(result, HALF, equal_nan=True)
        assert len(issued) == 1
        with pytest.raises(nki.NkiValidationError):
            kernel(X)
    assert simulated.trace(X) is kernel.trace(X)


def test_it_composes():
    other = nki.simulate(half).for_target("trn2")
    assert other.target.platform == "trn2"
    for kernel in (
        other,
        nki.simulate(half)[1],
        nki.simulate(half[1]),
        nki.simulate(nki.simulate(half)),
        half.strict(False).with_schedule([]),
        half.strict(True).strict(False),
        nki.jit(half.strict(False), platform_target="trn2"),
        nki.simulate(half.__wrapped__),
    ):
        assert np.array_equal(lenient(kernel, X)[0], HALF, equal_nan=True)


def test_methods():
    class Model:
        @nki.jit
        def run(self, x):
            return half.__wrapped__(x)

    assert np.array_equal(lenient(nki.simulate(Model().run), X)[0], HALF, equal_nan=True)


def test_ranks():
    ranks = [[X], [X * 2]]
    results, issued = lenient(lambda: nki.run_ranks(nki.simulate(half), ranks))
    assert np.array_equal(results[0], HALF, equal_nan=True)
    assert np.array_equal(results[1][:, :4], X[:, :4] * 2 + 1)
    assert len(issued) == 1


def test_classic_kernels():
    import nkijit.classic.isa as cisa
    import nkijit.classic.language as cl

    def kernel(x):
        out = cl.ndarray(x.shape, x.dtype, buffer=cl.shared_hbm)
        tile = cl.ndarray((cl.par_dim(128), 8), x.dtype, buffer=cl.sbuf)
        cl.store(out, cisa.tensor_scalar(tile, cl.add, 1.0))
        return out

    kernel = classic.jit(kernel)
    with pytest.raises(nki.NkiValidationError):
        classic.simulate_kernel(kernel, X)
    for call in (kernel.strict(False), nki.simulate(kernel)):
        result, (warning,) = lenient(call, X)
        assert np.isnan(result).all()
        assert issubclass(warning.category, classic.NkiWarning)
    result, _ = lenient(lambda: classic.simulate_kernel(kernel.strict(False), X))
    assert np.isnan(result).all()


def test_benchmarks_of_classic_kernels_are_strict_or_not(capsys):
    import nkijit.classic.language as cl

    @classic.benchmark
    def kernel(x):
        out = cl.ndarray(x.shape, x.dtype, buffer=cl.shared_hbm)
        tiles = [cl.load(x) for _ in range(4)]
        cl.store(out, cl.add(cl.add(tiles[0], tiles[1]), cl.add(tiles[2], tiles[3])))
        return out

    with pytest.raises(nki.NkiValidationError):
        lenient(kernel, WIDE)
    result, _ = lenient(kernel.strict(False), WIDE)
    assert np.array_equal(result, WIDE * 4)
    assert "as the cost model predicts" in capsys.readouterr().out


def test_kernels_under_jax_jit():
    jax = pytest.importorskip("jax")
    with pytest.raises(nki.NkiValidationError):
        jax.jit(half)(X)
    result, issued = lenient(jax.jit(nki.simulate(half)), X)
    assert np.array_equal(result, HALF, equal_nan=True)
    assert len([w for w in issued if w.category is nki.NkiWarning]) == 1


# ------------------------------------------------------------------ warnings


@nki.jit
def repeated(x):
    """Reads unwritten tiles on one line, of two names."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    for _ in range(3):
        a = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        b = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.add)
        nisa.dma_copy(dst=out, src=a)
    return out


def test_one_warning_for_a_rule_and_a_line():
    assert len(repeated.trace(X).diagnostics) > 1
    _, (warning,) = lenient(nki.simulate(repeated), X)
    assert "read-unwritten" in str(warning.message)


def test_each_call_warns_and_filters_count():
    simulated = nki.simulate(half)
    for action, shown in (("always", 3), ("default", 1), ("ignore", 0)):
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter(action)
            for _ in range(3):
                simulated(X)
        assert len(issued) == shown


def test_warnings_as_errors_stop():
    with pytest.raises(nki.NkiWarning, match=r"error\[undefined-use\]"):
        nki.simulate(half)(X)


# ------------------------------------------------------------------ while it runs


@nki.jit
def racing(x, index):
    """Core 1 reads the row that core 0 writes, if `index` says so."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    shared = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    row = nisa.register_alloc()
    nisa.register_load(row, index)
    nisa.dma_copy(dst=out, src=x)
    if nl.program_id(0) == 0:
        nisa.dma_copy(dst=shared, src=x)
    else:
        tile = nl.ndarray((1, x.shape[1]), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(
            dst=tile, src=shared.ap([[x.shape[1], 1], [1, x.shape[1]]], scalar_offset=row)
        )
        nisa.dma_copy(dst=out[0:1, :], src=tile)
    return out


def test_races_that_only_a_run_sees():
    index = np.zeros((1, 1), np.int32)
    with pytest.raises(InterpretationError, match=r"without nisa\.core_barrier"):
        racing[2](X, index)
    results = []
    for _ in range(2):
        result, issued = lenient(nki.simulate(racing[2]), X, index)
        results.append(result)
        texts = [str(w.message) for w in issued]
        assert len([text for text in texts if "error[core-race]" in text]) == 1
        place = next(w for w in issued if "core-race" in str(w.message))
        assert (place.filename, place.lineno) == (__file__, line_of(racing, "nisa.dma_copy(\n"))
    assert np.array_equal(*results)
    assert np.array_equal(results[0], X)


@nki.jit
def both_write(x, index):
    """Both cores write a row, of which only the run knows that it is the same."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    row = nisa.register_alloc()
    nisa.register_load(row, index)
    nisa.dma_copy(dst=out, src=x)
    tile = nl.full((1, x.shape[1]), float(nl.program_id(0)), x.dtype)
    nisa.dma_copy(dst=out.ap([[x.shape[1], 1], [1, x.shape[1]]], scalar_offset=row), src=tile)
    return out


def test_two_writes_that_only_a_run_sees():
    index = np.zeros((1, 1), np.int32)
    with pytest.raises(InterpretationError, match=r"without nisa\.core_barrier"):
        both_write[2](X, index)
    one, issued = lenient(nki.simulate(both_write[2]), X, index)
    assert any("error[core-double-write]" in str(w.message) for w in issued)
    two, _ = lenient(nki.simulate(both_write[2]), X, index)
    assert np.array_equal(one, two)


def test_an_index_out_of_bounds_stops_both():
    @nki.jit
    def kernel(x, index):
        out = nl.ndarray((1, 8), x.dtype, buffer=nl.shared_hbm)
        row = nisa.register_alloc()
        nisa.register_load(row, index)
        nisa.dma_copy(dst=out, src=x.ap([[8, 1], [1, 8]], scalar_offset=row))
        return out

    index = np.full((1, 1), 1 << 20, np.int32)
    for call in (kernel, nki.simulate(kernel)):
        with pytest.raises(OutOfBoundsError, match=r"test_strictness.py:\d+"):
            call(X, index)


def test_sanitizing_is_unaffected():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(UnwrittenError, match="undefined-use"):
            half.trace(X).run(X, sanitize=True, strict=False)


# ------------------------------------------------------------------ listings and predictions


def test_tiles_that_do_not_fit_are_listed_as_if_they_did():
    traced = sums.trace(WIDE)
    first, *rest = traced.listing(strict=False).splitlines()
    assert first == "does not fit: sbuf-capacity (shown as if it did)"
    assert any("SBUF 320000 of 245752 bytes per partition" in line for line in rest[:4])
    (program,) = traced.programs(strict=False)
    addresses = sorted(address for _, address in program.placement.addresses.values())
    assert addresses == [0, 80000, 160000, 240000]


def test_profiles_say_so():
    profile = sums.trace(WIDE).profile(strict=False)
    first, schedule, title, *_ = str(profile).splitlines()
    assert first == "does not fit: sbuf-capacity (shown as if it did)"
    assert schedule.startswith("schedule compiler: ")
    assert title.startswith("profile of ")
    passed_over = {"does_not_fit": ["sbuf-capacity"], "undefined": []}
    assert json.loads(profile.to_json())["passed_over"] == passed_over
    assert not sums.trace(X).profile().passed_over
    assert profile.time > sums.trace(X).profile().time


def test_reports_say_so():
    page = text_of(sums.trace(WIDE).report(strict=False))
    assert "does not fit: sbuf-capacity (shown as if it did)" in page
    assert "no listing and no timeline" in text_of(sums.trace(WIDE).report())


def test_fixed_addresses_that_overlap_stay():
    @nki.jit
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        a = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf, address=(0, 64))
        b = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf, address=(0, 80))
        nisa.dma_copy(dst=a, src=x)
        nisa.memset(dst=b, value=2.0)
        nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.add)
        nisa.dma_copy(dst=out, src=a)
        return out

    result, (warning,) = lenient(nki.simulate(kernel), X)
    assert np.array_equal(result, X + 2)
    assert "error[address-overlap]" in str(warning.message)
    traced = kernel.trace(X)
    assert traced.listing(strict=False).startswith("does not fit: address-overlap")
    (program,) = traced.programs(strict=False)
    assert sorted(program.placement.addresses.values()) == [(0, 64), (0, 80)]


def test_tiles_without_addresses_are_a_warning_and_do_not_fit():
    @nki.jit
    def kernel(x):
        fixed = nl.ndarray((128, 1024), nl.float32, buffer=nl.sbuf, address=(0, 122880))
        a = nl.ndarray((128, 30000), nl.float32, buffer=nl.sbuf)
        b = nl.ndarray((128, 30000), nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=a, value=0)
        nisa.memset(dst=fixed, value=0)
        nisa.tensor_copy(dst=b, src=a)
        nisa.memset(dst=fixed, value=0)
        nisa.tensor_copy(dst=a, src=b)

    traced = kernel.trace(X)
    traced.verify()
    for _ in range(2):
        assert traced.listing(strict=False).startswith("does not fit: no-layout")
        with pytest.raises(LoweringError, match="no addresses found"):
            traced.listing()


def test_a_tile_that_is_larger_than_the_memory():
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nl.store(out, tile)
        return out

    x = np.ones((128, 70000), np.float32)
    result, issued = lenient(nki.simulate(kernel), x)
    assert np.array_equal(result, x)
    assert {str(w.message)[:17] for w in issued} == {"error[alloc-size]"}
    traced = nki.jit(kernel).trace(x)
    assert traced.listing(strict=False).startswith("does not fit: alloc-size")


GOES_ON = "\nstrict=False or NKIJIT_STRICT=0 goes on with that, as compilers do"


@pytest.mark.parametrize(("kernel", "x"), [(sums, WIDE), (half, X)])
def test_a_stopped_run_reports_how_to_go_on(kernel, x):
    traced = kernel.trace(x)
    for stopped in (lambda: kernel(x), traced.run, traced.listing, traced.profile):
        with pytest.raises(nki.NkiValidationError) as told:
            stopped(x) if stopped == traced.run else stopped()
        assert str(told.value).endswith(f"1 error{GOES_ON}")
        assert "strict=False" in told.value._repr_html_()


def test_a_run_that_cannot_go_on_reports_no_way():
    with pytest.raises(nki.NkiValidationError) as told:
        illegal(X)
    assert "goes on" not in str(told.value)
    with pytest.raises(nki.NkiValidationError) as told:
        half.trace(X).verify()  # which makes no difference
    assert "goes on" not in str(told.value)
