"""Chains of operators, functions of whole arrays and reductions, with their accumulator use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nkijit.passes.interpret.records.environment import Array, Env, Slots, Step
from nkijit.passes.interpret.records.operands import holds_float32, is_direct, put, reader, store
from nkijit.passes.interpret.records.records import (
    AccumulatorUse,
    Applied,
    Arithmetic,
    Chain,
    Computed,
    Destination,
    Function,
    Reduce,
    Source,
    Table,
)
from nkijit.passes.numerics.operators import (
    ACTIVATION,
    BINARY,
    BITVEC,
    BITVEC_REDUCE,
    FOLD,
    INTEGER,
    REDUCE,
    UNARY,
    running,
)

# ------------------------------------------------------------------ the common path


def compute(
    function: Function, sources: Sequence[Source], into: Destination, early: int, slots: Slots
) -> tuple[Step, int]:
    """Return a step that calls `function(*sources, out)`, and the slot of its float32 results.

    The step also rounds the results into the tile `into`. The function reads an element of the
    first `early` sources before it writes this element of `out`.
    """
    direct = into.reshape is None and holds_float32(into, slots)
    if direct and _writes_in_place(into, sources, early):
        return _call(function, sources, into.slot, slots), into.slot
    scratch = slots.scratch_of(into.shape)
    call = _call(function, sources, scratch, slots)
    round_results = store(scratch, into, slots)

    def step(env: Env) -> None:
        call(env)
        round_results(env)

    return step, scratch


def _call(function: Function, sources: Sequence[Source], out: int, slots: Slots) -> Step:
    """Return a step that calls a function; calls of 1 to 3 operands are spelled out for speed."""
    if all(is_direct(source, slots) for source in sources):
        at = [source.slot for source in sources]
        if len(at) == 1:
            (a,) = at
            return lambda env: function(env[a], env[out])
        if len(at) == 2:
            a, b = at
            return lambda env: function(env[a], env[b], env[out])
        if len(at) == 3:
            a, b, c = at
            return lambda env: function(env[a], env[b], env[c], env[out])
    reads = [reader(source, slots) for source in sources]
    return lambda env: function(*[read(env) for read in reads], env[out])


def _writes_in_place(into: Destination, sources: Sequence[Source], early: int) -> bool:
    """True if results can be written directly to a tile, as no overlapping source is read later."""
    pattern = into.tile.info
    if any(s == 0 and n > 1 for s, n in zip(pattern.strides, pattern.shape, strict=True)):
        return False
    for position, source in enumerate(sources):
        tile = source.tile
        if tile is None or not tile.overlaps(into.tile):
            continue
        if position >= early or not tile.covers(into.tile):
            return False
    return True


# ------------------------------------------------------------------ chains


def bind_chain(record: Chain, slots: Slots) -> Step:
    """Return the step of a chain, which applies the operators one after the other."""
    if record.arithmetic is Arithmetic.bits:
        return _bits(record, slots)
    if record.arithmetic is Arithmetic.integers:
        return _integers(record, slots)
    stages = [(_function_of(stage), stage.operand) for stage in record.stages]
    operands = [operand for _, operand in stages if operand is not None]
    function, early = _composed(stages)
    sources = (record.data, *operands)
    step, results = compute(function, sources, record.into, early, slots)
    return _accumulating(record.accumulators, step, results, slots)


def _function_of(stage: Applied) -> Function:
    """Return the NumPy function of a chain's stage: `f(x, out)`, or `f(x, operand, out)`."""
    if stage.table is Table.activation:
        return ACTIVATION[stage.word]
    if stage.table is Table.running:
        return running(stage.word)
    if stage.operand is None:
        return UNARY[stage.word]
    function = BINARY[stage.word]
    if not stage.reverse:
        return function

    def reversed_function(x: Any, y: Any, out: Any) -> None:
        function(y, x, out)

    return reversed_function


def _composed(stages: Sequence[tuple[Function, Source | None]]) -> tuple[Function, int]:
    """Return all stages of a chain as one function, and the first stage's number of operands."""
    if not stages:
        return _copied, 1
    early = 1 if stages[0][1] is None else 2
    if len(stages) == 1:
        return stages[0][0], early
    functions = tuple((function, operand is not None) for function, operand in stages)
    if [has for _, has in functions] == [True, True]:
        (first, _), (second, _) = functions

        def two(x: Any, y: Any, z: Any, out: Any) -> None:
            first(x, y, out)
            second(out, z, out)

        return two, early

    def run(x: Any, *rest: Any) -> None:
        out = rest[-1]
        position = 0
        for function, has_operand in functions:
            if has_operand:
                function(x, rest[position], out)
                position += 1
            else:
                function(x, out)
            x = out

    return run, early


def _copied(x: Any, out: Any) -> None:
    np.copyto(out, x)


def _bits(record: Chain, slots: Slots) -> Step:
    read, into = reader(record.data, slots), record.into
    stages = [
        (
            _bit_function(stage),
            None if stage.operand is None else reader(stage.operand, slots),
        )
        for stage in record.stages
    ]
    tile = record.data.tile
    assert tile is not None
    stored, write = slots.stored(tile.info.dtype), put(into)

    def step(env: Env) -> None:
        result: Array = read(env)
        for function, operand in stages:
            out = np.empty(into.shape, stored)
            if operand is None:
                function(result, out)
            else:
                function(result, _as(operand(env), stored), out)
            result = out
        write(env, result)

    return step


def _bit_function(stage: Applied) -> Function:
    function = BITVEC[stage.word]
    if not stage.reverse:
        return function

    def reversed_function(x: Any, y: Any, out: Any) -> None:
        function(np.broadcast_to(y, x.shape), x, out)

    return reversed_function


def _as(array: Any, stored: np.dtype[Any]) -> Any:
    return array if array.dtype == stored else array.view(stored)


def _integers(record: Chain, slots: Slots) -> Step:
    (stage,) = record.stages
    assert stage.operand is not None
    function, index = INTEGER[stage.word], record.into.slot
    x, y = reader(record.data, slots), reader(stage.operand, slots)

    def step(env: Env) -> None:
        result = function(x(env).astype(np.int64), y(env).astype(np.int64)).astype(np.int64)
        written = env[index]
        written[...] = result.astype(written.dtype).reshape(written.shape)

    return step


# ------------------------------------------------------------------ functions of whole arrays


def bind_computed(record: Computed, slots: Slots) -> Step:
    """Return the step of a function of whole arrays."""
    step, results = compute(record.function, record.sources, record.into, record.early, slots)
    return _accumulating(record.accumulators, step, results, slots)


def bind_reduce(record: Reduce, slots: Slots) -> Step:
    """Return the step of a reduction of one dimension."""
    bits = record.arithmetic is Arithmetic.bits
    reduce = (BITVEC_REDUCE if bits else REDUCE)[record.word]
    if bits:
        read, write = reader(record.source, slots), put(record.into)
        if record.over_partitions:
            return lambda env: write(env, reduce(read(env).T))
        return lambda env: write(env, reduce(read(env)))
    shape, over_partitions, negate = record.into.shape, record.over_partitions, record.negate
    divisor = None if record.divisor == 1 else np.float32(record.divisor)

    def reduced(x: Array, out: Array) -> None:
        out[...] = reduce(x.T).T if over_partitions else reduce(x).reshape(shape)
        if divisor is not None:
            np.divide(out, divisor, out)
        if negate:
            _negate(out, out)

    step, _ = compute(reduced, [record.source], record.into, 1, slots)
    return step


def _negate(x: Array, out: Array) -> None:
    # NumPy 2.4.6 gives wrong results for float32 and 32-bit integers on x86 if the elements of both
    # arrays are 16 bytes apart, as in a column of four. The copy avoids that.
    np.negative(np.array(x), out)


# ------------------------------------------------------------------ accumulators


def _accumulating(use: AccumulatorUse | None, step: Step, results: int, slots: Slots) -> Step:
    """Return `step` with the accumulator updates before and after it."""
    if use is None:
        return step
    registers = reader(use.registers, slots)
    steps: list[Step] = []
    if use.start is not None:
        steps.append(_start(registers, use.start, slots))
    steps.append(step)
    if use.word is not None:
        fold = FOLD[use.word]

        def add(env: Env) -> None:
            accumulators = registers(env)
            accumulators[...] = fold(accumulators, env[results])

        steps.append(add)
    if use.keeps_last:

        def keep_last(env: Env) -> None:
            registers(env)[...] = env[results][:, -1:]

        steps.append(keep_last)
    if use.into is not None:
        steps.append(_write_out(registers, use.into, use.negate, slots))
    return _in_order(steps)


def _start(registers: Any, start: Source | float, slots: Slots) -> Step:
    """Return a step that initialises the accumulators, before any result is written.

    The tile `start` may be a part of the destination.
    """
    if isinstance(start, Source):
        initial = reader(start, slots)

        def load(env: Env) -> None:
            registers(env)[...] = initial(env)

        return load

    def reset(env: Env) -> None:
        registers(env)[...] = start

    return reset


def _write_out(registers: Any, into: Destination, negate: bool, slots: Slots) -> Step:
    column = slots.scratch_of(into.shape)
    round_column = store(column, into, slots)

    def write(env: Env) -> None:
        if negate:
            _negate(registers(env), env[column])
        else:
            env[column][...] = registers(env)
        round_column(env)

    return write


def _in_order(steps: Sequence[Step]) -> Step:
    parts = tuple(steps)

    def step(env: Env) -> None:
        for part in parts:
            part(env)

    return step
