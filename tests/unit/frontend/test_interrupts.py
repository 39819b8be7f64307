"""Ctrl-C ends a call at any time, and preserves inputs and state that the next call needs."""

import gc

import numpy as np
import pytest
from support.interrupts import interrupt, places

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.language as cl
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.interpret.backends.choice import NATIVE, NUMPY, is_installed, on_backend
from nkijit.tracing.tracer import active_tracer

SHAPE = (128, 256)  # results are large enough for memory that is used again
X = np.arange(128 * 256, dtype=np.float32).reshape(SHAPE)


@pytest.fixture(autouse=True)
def no_callbacks():
    """Hypothesis and JAX register Python callbacks for garbage collection, which swallow errors."""
    kept, gc.callbacks[:] = list(gc.callbacks), []
    yield
    gc.callbacks[:] = kept


def bumping():
    """A kernel that nothing has traced, which writes an argument and returns a tensor."""

    @nki.jit
    def bump(x, cache):
        out = nl.ndarray(SHAPE, nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray(SHAPE, nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        for _ in nl.dynamic_range(2):
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=cache, src=tile)
        nisa.dma_copy(dst=out, src=tile)
        return out

    return bump


def classic_kernel():
    @classic.jit
    def twice(x):
        out = cl.ndarray(SHAPE, cl.float32, buffer=cl.shared_hbm)
        i = cl.arange(128)[:, None]
        for part in cl.affine_range(4):
            if part == 2:
                break
            f = part * 128 + cl.arange(128)[None, :]
            cl.store(out[i, f], cl.load(x[i, f]) * 2)
        return out

    return twice


ROW_MAJOR, COLUMN_MAJOR = "C", "F"


class Call:
    """A call with fresh arrays."""

    def __init__(self, kernel, order=ROW_MAJOR, method=None):
        self.cache = np.zeros(SHAPE, np.float32, order=order)
        self.kernel = kernel
        self.method = method or (lambda kernel, *given: kernel(*given))

    def __call__(self):
        self.method(self.kernel, X, self.cache)

    def is_untouched(self):
        return not self.cache.any()


def dropping(kernel):
    """A call whose result, and then the kernel itself, come to their end."""
    held = [kernel]
    del kernel

    def call():
        held[0](X, np.zeros(SHAPE, np.float32))
        held.clear()
        gc.collect()

    return call


def traced_once(kernel):
    kernel(X, np.zeros(SHAPE, np.float32))
    return kernel


def calls():
    """The calls to interrupt: functions that return a new call, and a number of places."""
    warm = traced_once(bumping())
    traced = warm.trace(X, X)
    lowered = Call(traced, method=lambda t, *given: t.run_lowered(*given))
    lowered()
    return {
        "a call": (lambda: Call(warm), None),
        "a call with an array in another order": (lambda: Call(warm, COLUMN_MAJOR), None),
        "a call that is watched": (
            lambda: Call(traced, method=lambda t, *given: t.run(*given, listener=lambda _: None)),
            None,
        ),
        "a call that is sanitized": (
            lambda: Call(traced, method=lambda t, *given: t.run(*given, sanitize=True)), 60
        ),
        "a call on two ranks": (
            lambda: Call(traced, method=lambda t, *given: t.run_ranks([given, (X, X.copy())])),
            60,
        ),
        "queues": (lambda: Call(traced, method=lambda t, *given: t.run_lowered(*given)), 60),
        "a recording": (lambda: Call(traced, method=lambda t, *given: t.record(*given)), 60),
        "the first call": (lambda: Call(bumping()), 60),
        "results and kernels that end": (lambda: dropping(traced_once(bumping())), None),
        "a loop that is left": (
            lambda: Call(classic_kernel(), method=lambda kernel, x, _: kernel.trace(x)), 60
        ),
    }  # fmt: skip


NAMES = (
    "a call", "a call with an array in another order", "a call that is watched",
    "a call that is sanitized", "a call on two ranks", "queues", "a recording",
    "the first call", "results and kernels that end", "a loop that is left",
)  # fmt: skip


def wrong_after(make, most):
    """Return the places where an interrupt was swallowed, or left something changed."""
    count = places(make())
    assert count > 50
    step = 1 if most is None else max(1, count // most)
    wrong = []
    errors = np.geterr()
    for place in range(1, count + 1, step):
        call = make()
        found = interrupt(call, place)
        if not found.where:  # a later call may take another way
            continue
        state = {
            "it was swallowed": not found.raised,
            "inputs are written": isinstance(call, Call) and not call.is_untouched(),
            "nothing looks for garbage": not gc.isenabled(),
            "a tracer is active": active_tracer() is not None,
            "NumPy's error handling is another one": np.geterr() != errors,
        }
        gc.enable()
        np.seterr(**errors)
        wrong += [f"{what} after {found.where}" for what, is_so in state.items() if is_so]
        if active_tracer() is not None:
            break
    return wrong


BACKENDS = [NUMPY, pytest.param(NATIVE, marks=pytest.mark.skipif(not is_installed(), reason=""))]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NAMES)
def test_an_interrupt_ends_a_call_and_leaves_everything_alone(name, backend):
    with on_backend(backend):
        make, most = calls()[name]
        wrong = wrong_after(make, most)
        assert not wrong, "\n\n".join(wrong)
        warm = bumping()
        cache = np.zeros(SHAPE, np.float32)
        assert (warm(X, cache) == X + 2).all()
        assert (cache == X + 2).all()
