"""Whole kernels: every way to run them gives the same bits, and the right ones where known.

Seven kinds of random kernels:

- tangled: all instructions depend on each other (loops on the device, registers, dynamic addresses,
  gathers, PSUM, tensor indirection);
- runtime: all kinds of bounds, addresses and indices that are known only at run time;
- visible: every value affects a result;
- of parts: typical valid kernels, on one core and two;
- classic: kernels of the classic API, with results from NumPy;
- odd: constructs that a compiler could mistake for others;
- sequenced: loops in sequence and nested, with results from NumPy.

Each is run as traced, sanitized, from its text in both forms, from its exported source, in native
code, as queues under interleavings, after the compiler's passes, and with arrays of PyTorch and JAX
if they are installed.
"""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
from support.classic_kernels import classic_kernel, indexed_classic_kernel
from support.compiled_runs import check
from support.exports import retraced
from support.kernel_parts import random_kernel
from support.lowered_runs import SEEDS, Checked, lowered, numbers
from support.odd_kernels import odd_kernel
from support.random_kernels import PARTS, TARGETS
from support.runtime_kernels import runtime_kernel
from support.sequenced_kernels import sequenced_kernel
from support.tangled_kernels import tangled_kernel, visible_kernel
from support.well_formed import check_dominance

from nkijit.ir.text import ir_text_of, parse
from nkijit.passes.interpret.backends.choice import NATIVE, on_backend
from nkijit.traced.kernel import TracedKernel
from tests.fuzz.campaign import Count, Finding, until

CASES = 6
"""Maximum kernels per round."""
ELEMENTS = 1 << 19
"""Maximum elements of the inputs of a kernel."""

Case = tuple[TracedKernel, list[Any], Any]
"""A kernel, its inputs, and the expected results, None if they are not known."""


def _tangled(rng: Random) -> Case:
    length, depth = rng.choice(((24, 0), (12, 1), (4, 1), (7, 2)))
    return *tangled_kernel(rng.randrange(2**31), rng.choice(TARGETS), length, depth), None


def runtime(rng: Random) -> Case:
    """Return a kernel with bounds, addresses and indices known only at run time, on 1-2 cores."""
    target, (length, depth) = rng.choice(TARGETS), rng.choice(((10, 0), (7, 1), (4, 2)))
    seed, cores = rng.randrange(2**31), rng.randint(1, 2)
    return *runtime_kernel(seed, target, length, depth, cores), None


def _visible(rng: Random) -> Case:
    return *visible_kernel(rng.randrange(2**31), rng.choice(TARGETS)), None


def _of_parts(rng: Random) -> Case:
    kernel = random_kernel(rng, rng.choice(list(PARTS)))
    inputs = [numbers(spec, rng.randrange(2**31)) for _, spec in kernel.arguments]
    return kernel.trace(), inputs, None


def _classic(rng: Random) -> Case:
    seed, length = rng.randrange(2**31), rng.randint(1, 12)
    make = indexed_classic_kernel if rng.random() < 0.3 else classic_kernel
    traced, inputs, expected = make(seed, length)
    return traced, inputs, [expected]


def _sequenced(rng: Random) -> Case:
    generated = sequenced_kernel(rng)
    return generated.kernel.trace(*generated.inputs), generated.inputs, generated.results


def _odd(rng: Random) -> Case:
    length, depth = rng.choice(((14, 0), (5, 1), (5, 2)))
    return *odd_kernel(rng.randrange(2**31), rng.choice(TARGETS), length, depth), None


SORTS: tuple[Callable[[Random], Case], ...] = (
    _tangled,
    runtime,
    _visible,
    _of_parts,
    _classic,
    _odd,
    _sequenced,
)


def campaign(rng: Random, deadline: float) -> Count:
    """Run a round: random kernels, each run in every way."""
    count = Count()
    for _ in until(deadline, CASES):
        sort = rng.choice(SORTS)
        traced, inputs, expected = sort(rng)
        if sum(array.size for array in inputs) > ELEMENTS:
            count.skipped += 1
            continue
        count.cases += 1
        for problem in wrong_with(rng, traced, inputs, expected):
            text = f"{sort.__name__.strip('_')}: {problem}"
            count.findings.append(Finding(text, {"kernel.mlir": traced.text().encode()}))
    return count


def wrong_with(
    rng: Random, traced: TracedKernel, inputs: Sequence[Any], expected: Any
) -> Iterator[str]:
    """Yield the ways of running a kernel with other results than a plain run.

    A plain run with other results than the expected ones is yielded as well.
    """
    arrays = _arrays(traced, inputs)
    plain = _bits(arrays, ())
    if expected is not None and plain != _bits(expected, inputs):
        yield "a plain run is not what NumPy says"
    text, generic = traced.text(locations=True), traced.text(generic=True)
    ways: dict[str, Callable[[], Any]] = {
        "again": lambda: results_of(traced, inputs),
        "sanitized": lambda: results_of(traced, inputs, sanitize=True),
        "from its text": lambda: results_of(TracedKernel(parse(text)), inputs),
        "from generic text": lambda: results_of(TracedKernel(parse(generic)), inputs),
        "from its source": lambda: results_of(retraced(traced), inputs),
    }
    if importlib.util.find_spec("llvmlite"):
        # The second run reuses the memory of the first.
        for way in ("natively", "natively again"):
            ways[way] = lambda: plain if _equal_but_nan(_natively(traced, inputs), arrays) else None
    if not any("written" in d.rule.id for d in traced.diagnostics):
        ways["as queues"] = lambda: _run_queues(rng, traced, inputs) or plain
        ways["as a compiler has it"] = lambda: plain if check(traced, inputs, range(2)) >= 0 else ()
    for name, import_arrays in FRAMEWORKS.items():
        if importlib.util.find_spec(name):
            ways[f"with arrays of {name}"] = lambda make=import_arrays: _run_with_framework(
                traced, inputs, plain, make
            )
    for way, run in ways.items():
        try:
            if run() != plain:
                yield f"other results {way}"
        except Exception as error:
            yield f"{type(error).__name__} {way}: {error}\n\n{traceback.format_exc()}"
    yield from _differences_of_text(traced)


def _differences_of_text(traced: TracedKernel) -> Iterator[str]:
    """Yield the forms of a kernel's text that do not parse to the same kernel."""
    try:
        check_dominance(traced.module)
        for options in ({}, {"locations": True}, {"generic": True}, {"rolled": True}):
            text = traced.text(**options)
            module = parse(text)
            if not module.is_structurally_equivalent(traced.module):
                yield f"its text {options or ''} is another kernel"
            if not options.get("rolled") and ir_text_of(module, **options) != text:
                yield f"its text {options or ''} is another one when it is read"
    except Exception as error:
        yield f"{type(error).__name__}, its text: {error}\n\n{traceback.format_exc()}"


def _run_queues(rng: Random, traced: TracedKernel, inputs: Sequence[Any]) -> None:
    """Run two interleavings, with addresses reused at once or as late as possible."""
    checked = Checked(lowered(traced, rng.choice((None, 0))), inputs, all_bits=False)
    checked.check([rng.choice(SEEDS) + len(SEEDS) * rng.randrange(10**6) for _ in range(2)])


def results_of(traced: TracedKernel, inputs: Sequence[Any], **options: Any) -> Any:
    """Run a kernel and return the bits of its results and of the inputs after the run."""
    return _bits(_arrays(traced, inputs, **options), ())


def _arrays(traced: TracedKernel, inputs: Sequence[Any], **options: Any) -> list[Any]:
    """Run a kernel and return its results and the inputs after the run."""
    arrays = [array.copy() for array in inputs]
    results = _listed(traced.run(*arrays, **options))
    return [np.asarray(array) for array in (*results, *arrays)]


def _natively(traced: TracedKernel, inputs: Sequence[Any]) -> list[Any]:
    with on_backend(NATIVE):
        return _arrays(traced, inputs)


def _equal_but_nan(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether arrays are equal except for the bits of NaN."""
    return _bits(list(map(_one_nan, some)), ()) == _bits(list(map(_one_nan, others)), ())


def _one_nan(array: Any) -> Any:
    if array.dtype.kind in "biu":
        return array
    with np.errstate(invalid="ignore"):  # signalling NaN
        return np.where(np.isnan(array), np.asarray(np.nan, array.dtype), array)


def _listed(result: Any) -> list[Any]:
    if isinstance(result, dict):
        return list(result.values())
    return list(result) if isinstance(result, tuple | list) else [result]


def _bits(results: Sequence[Any], inputs: Sequence[Any]) -> Any:
    """Return shapes and bits of results, and of inputs, which a kernel may write."""
    arrays = [np.asarray(array) for array in (*results, *inputs)]
    return [(array.shape, array.dtype.itemsize, array.tobytes()) for array in arrays]


# -- arrays of frameworks -------------------------------------------------------------------------


def _of_torch(array: Any) -> tuple[Any, Callable[[Any], Any]]:
    import torch

    def back(tensor: Any) -> Any:
        if tensor.dtype is torch.bfloat16:
            return tensor.view(torch.int16).numpy()
        return tensor.numpy()

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16), back
    return torch.from_numpy(array.copy()), back


def _of_jax(array: Any) -> tuple[Any, Callable[[Any], Any]]:
    import jax.numpy as jnp

    return jnp.asarray(array), np.asarray


FRAMEWORKS = {"torch": _of_torch, "jax": _of_jax}
"""Conversions from a NumPy array to an array of each framework, with the conversion back."""


def _run_with_framework(
    traced: TracedKernel,
    inputs: Sequence[Any],
    plain: Any,
    make: Callable[[Any], tuple[Any, Callable[[Any], Any]]],
) -> Any:
    """Run a kernel with arrays of a framework and return the bits of results and inputs."""
    converted = [make(array) for array in inputs]
    if not converted or _writes_arguments(plain, inputs):
        return plain
    results = _listed(traced.run(*(array for array, _ in converted)))
    back = converted[0][1]
    return _bits([back(result) for result in results], [back(array) for array, _ in converted])


def _writes_arguments(plain: Any, inputs: Sequence[Any]) -> bool:
    """Whether a kernel writes its arguments, which arrays of JAX do not allow."""
    return plain[len(plain) - len(inputs) :] != _bits([], inputs)
