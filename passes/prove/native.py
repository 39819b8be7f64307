"""Loops over words as machine code: a faster form of the functions of digests, with equal results.

LLVM compiles them if llvmlite is installed. NumPy computes small arrays, the first large ones, and
all arrays without llvmlite.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import count
from typing import Any

import numpy.typing as npt

from nkijit.passes.interpret.backends.choice import NATIVE, NUMPY, is_installed, wanted

SMALLEST = 1 << 14
"""The number of words of an array from which on machine code computes it."""
WORTH_IT = 200
"""The number of such arrays that NumPy computes before loops are compiled, unless `native` is set.

NumPy needs about as long for them as LLVM for all loops.
"""
FIRST, SECOND = 0x9FB21C651E98DF25, 0xD6E8FEB86659FD93
"""The odd factors that scramble words."""
ODD, EVEN = 1, (1 << 64) - 2

Value = Any
"""A value of LLVM's IR."""
Loop = tuple[int, int, int, Callable[[Any, list[Value], list[Value]], list[Value]]]

_seen = count()
"""Counts the arrays that NumPy has computed although they are large."""


def run(
    name: str, out: npt.NDArray[Any], inputs: Sequence[npt.NDArray[Any]], numbers: Iterable[Any]
) -> bool:
    """Compute `out` with a loop; return False, without a result, if NumPy has to.

    Args:
        name: the name of the loop in `LOOPS`.
        out: a contiguous array of results.
        inputs: contiguous arrays of words.
        numbers: the words that are the same for all elements.
    """
    if inputs[0].size < SMALLEST or name not in LOOPS or not _is_worth_it():
        return False
    assert all(each.flags.c_contiguous for each in (out, *inputs))
    pointers = [each.ctypes.data for each in (out, *inputs)]
    _function(name)(inputs[0].size // LOOPS[name][0], *pointers, *map(int, numbers))
    return True


def _is_worth_it() -> bool:
    """True if machine code can be compiled, and there is enough to compute for it."""
    backend = wanted()
    if backend == NUMPY or not is_installed():
        return False
    return backend == NATIVE or next(_seen) >= WORTH_IT


# -------------------------------------------------------------------- formulas


def _word(number: int) -> Value:
    return _word_type()(number)


def _shifted(b: Any, x: Value, bits: int) -> Value:
    """Return `x ^ (x >> bits)`."""
    return b.xor(x, b.lshr(x, _word(bits)))


def _mixed(b: Any, x: Value) -> Value:
    """Return `digests.mixed(x)`."""
    x = b.mul(_shifted(b, x, 32), _word(FIRST))
    return b.and_(_shifted(b, x, 29), _word(EVEN))


def _ordered(b: Any, inputs: list[Value], numbers: list[Value]) -> list[Value]:
    name, *factors = numbers
    for x, factor in zip(inputs, factors, strict=True):
        name = b.add(name, b.mul(x, factor))
    return [_mixed(b, name)]


def _unordered(b: Any, inputs: list[Value], numbers: list[Value]) -> list[Value]:
    x, y = (b.add(each, numbers[0]) for each in inputs)
    return [_mixed(b, b.mul(x, y))]


def _added(b: Any, inputs: list[Value], numbers: list[Value]) -> list[Value]:
    (x0, x1, y0, y1), (name, zero) = inputs, numbers
    flags = b.and_(b.or_(x0, y0), _word(ODD))
    x0, y0 = (b.and_(each, _word(EVEN)) for each in (x0, y0))
    out0, out1 = (_unordered(b, [x, y], [name])[0] for x, y in ((x0, y0), (x1, y1)))
    for one, (other0, other1) in ((x0, (y0, y1)), (y0, (x0, x1))):
        is_zero = b.icmp_unsigned("==", one, zero)
        out0, out1 = b.select(is_zero, other0, out0), b.select(is_zero, other1, out1)
        alone = b.and_(is_zero, b.icmp_unsigned("!=", other0, zero))
        flags = b.select(alone, _word(ODD), flags)
    return [b.or_(out0, flags), out1]


def _entered(b: Any, inputs: list[Value], numbers: list[Value]) -> list[Value]:
    second, first, shift = numbers
    x = b.mul(_shifted(b, inputs[0], 32), second)
    x = b.mul(_shifted(b, x, 32), first)
    return [b.sub(_shifted(b, x, 32), shift)]


def _joined(b: Any, inputs: list[Value], numbers: list[Value]) -> list[Value]:
    into_second, into_first, first, second, shift = numbers
    entered = [_entered(b, [x], [into_second, into_first, shift])[0] for x in inputs]
    x = b.mul(_shifted(b, b.add(b.add(*entered), shift), 32), first)
    return [_shifted(b, b.mul(_shifted(b, x, 32), second), 32)]


def _joined_once(b: Any, inputs: list[Value], numbers: list[Value]) -> list[Value]:
    x0, x1, y0, y1 = inputs
    joined = (_joined(b, pair, numbers)[0] for pair in ([x0, y0], [x1, y1]))
    equal = (b.icmp_unsigned("==", x, y) for x, y in ((x0, y0), (x1, y1)))
    same = b.and_(*equal)
    return [b.select(same, x, each) for x, each in zip((x0, x1), joined, strict=True)]


def _integers(b: Any, inputs: list[Value], numbers: list[Value]) -> list[Value]:
    double = _building().DoubleType()
    flat = [_mixed(b, each) for each in inputs]
    rest = b.add(*(b.mul(x, factor) for x, factor in zip(flat, numbers, strict=True)))
    halves = [b.shl(flat[0], _word(32)), flat[0], b.shl(flat[1], _word(32)), flat[1], rest]
    integers = [b.sitofp(b.ashr(half, _word(40)), double) for half in halves]
    return [b.bitcast(each, _word_type()) for each in integers]


def _summed(b: Any, inputs: list[Value], numbers: list[Value]) -> list[Value]:
    double, word = _building().DoubleType(), _word_type()
    sums = [b.fptosi(b.bitcast(each, double), word) for each in inputs]
    for number, factor in zip((1, 2, 4), numbers, strict=True):
        sums[number] = b.mul(sums[number], factor)
    return [b.add(b.add(sums[first], sums[first + 1]), sums[2]) for first in (0, 3)]


LOOPS: dict[str, Loop] = {
    **{f"ordered{n}": (1, n, n + 1, _ordered) for n in range(1, 5)},
    "unordered": (1, 2, 1, _unordered),
    "added": (2, 2, 2, _added),
    "entered": (1, 1, 3, _entered),
    "joined": (1, 2, 5, _joined),
    "joined_once": (2, 2, 5, _joined_once),
    "integers": (2, 1, 2, _integers),
    "summed": (1, 5, 3, _summed),
}
"""For each loop: the words of an element, the numbers of inputs and of parameters, and its formula.

A formula maps the words of all inputs and the parameters to the words of the result. They are next
to each other, but those of `integers` are in one array after the other.
"""


# -------------------------------------------------------------------- compilation


def _building() -> Any:
    from nkijit.passes.interpret.backends.native.llvm import building

    return building()


def _word_type() -> Any:
    return _building().IntType(64)


@cache
def _engine() -> tuple[Any, Any, Any]:
    """Return LLVM's interface, the target machine and the engine that holds machine code."""
    from nkijit.passes.interpret.backends.native.llvm import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        jit=True,
    )
    return llvm, machine, llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


@cache
def _function(name: str) -> Callable[..., None]:
    """Return a loop: a function of the number of elements, the addresses, and the parameters."""
    llvm, machine, engine = _engine()
    parsed = llvm.parse_assembly(str(_module(name, machine)))
    parsed.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    engine.add_module(parsed)
    engine.finalize_object()
    _, inputs, numbers, _ = LOOPS[name]
    kinds = [ctypes.c_int64, *[ctypes.c_void_p] * (inputs + 1), *[ctypes.c_uint64] * numbers]
    return ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address(f"prove_{name}"))


def _module(name: str, machine: Any) -> Any:
    ir, word = _building(), _word_type()
    size, inputs, numbers, formula = LOOPS[name]
    kinds = [word, *[ir.PointerType(word)] * (inputs + 1), *[word] * numbers]
    module = ir.Module(name)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), f"prove_{name}")
    elements, out, *rest = function.args
    for each in function.args[1 : inputs + 2]:
        each.add_attribute("noalias")
    before, body, after = (function.append_basic_block() for _ in range(3))
    ir.IRBuilder(before).branch(body)
    b = ir.IRBuilder(body)
    at = b.phi(word)
    at.add_incoming(word(0), before)
    places = [b.add(b.mul(at, word(size)), word(lane)) for lane in range(size)]
    read = [b.load(b.gep(each, [place])) for each in rest[:inputs] for place in places]
    results = formula(b, read, rest[inputs:])
    for number, value in enumerate(results):
        if formula is _integers:
            place = b.add(b.mul(elements, word(number)), at)
        else:
            place = b.add(b.mul(at, word(len(results))), word(number))
        b.store(value, b.gep(out, [place]))
    following = b.add(at, word(1))
    at.add_incoming(following, body)
    b.cbranch(b.icmp_unsigned("<", following, elements), body, after)
    ir.IRBuilder(after).ret_void()
    return module
