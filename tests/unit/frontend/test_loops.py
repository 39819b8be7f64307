"""Loops on the device: tracing, refused forms, and results."""

from __future__ import annotations

import contextlib
import threading

import numpy as np
import pytest

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.ir.text import parse
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.traced.kernel import TracedKernel

COUNT = np.array([[4]], np.int32)
X = np.arange(24, dtype=np.float32).reshape(6, 4)


def _tile(shape=(1, 1), dtype=nl.int32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)


def _out(shape, dtype=nl.int32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.shared_hbm)


def _loaded(tensor):
    tile = _tile()
    nisa.dma_copy(dst=tile, src=tensor)
    register = nisa.register_alloc()
    nisa.register_load(register, tile)
    return register, tile


def _add_one(tile):
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1)


def _counter():
    tile = _tile()
    nisa.memset(dst=tile, value=0)
    return tile


def _stored(tile):
    out = _out(tile.shape, tile.dtype)
    nisa.dma_copy(dst=out, src=tile)
    return out


def _rules(kernel, *inputs) -> list[str]:
    with pytest.raises(nki.isa.NkiValidationError) as caught:
        kernel(*inputs)
    return [d.rule.id for d in caught.value.diagnostics]


def _round_trip(kernel, *inputs) -> None:
    text = str(kernel.trace(*inputs))
    assert str(TracedKernel(parse(text))) == text


# -- counted loops


@nki.jit
def _indices(bounds, start=0, step=1):
    """Element k of the result is the k-th value of the induction variable."""
    stop, _ = _loaded(bounds)
    out, at = _out((1, 16)), nisa.register_alloc(0)
    place = _counter()
    filled = _tile((1, 16))
    nisa.memset(dst=filled, value=-99)
    nisa.dma_copy(dst=out, src=filled)
    for i in nl.dynamic_range(start, stop, step):
        nisa.register_store(out[0:1, nl.ds(at, 1)], i)
        _add_one(place)
        nisa.register_load(at, place)
    return out


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [(0, 5, 1), (2, 9, 3), (-4, 3, 2), (-3, -1, 1), (5, 5, 1), (7, 2, 1), (0, -5, 1), (0, 1, 9)],
)
def test_values_of_the_induction_variable(start, stop, step):
    result = _indices(np.array([[stop]], np.int32), start, step)
    expected = list(range(start, stop, step))
    assert result[0, : len(expected)].tolist() == expected
    assert (result[0, len(expected) :] == -99).all()


@nki.jit
def _nested(n, m):
    rows, _ = _loaded(n)
    columns, _ = _loaded(m)
    total = _counter()
    for _ in nl.dynamic_range(rows):
        for _ in nl.dynamic_range(1, columns):

            def body(_):
                _add_one(total)

            nl.fori_loop(0, 3, body)
    return _stored(total)


@pytest.mark.parametrize(("n", "m"), [(2, 4), (0, 4), (3, 1), (1, 2)])
def test_nested_loops(n, m):
    counts = [np.array([[value]], np.int32) for value in (n, m)]
    assert _nested(*counts)[0, 0] == n * max(m - 1, 0) * 3
    _round_trip(_nested, *counts)


def test_two_loops_over_one_range():
    @nki.jit
    def kernel():
        total = _counter()
        numbers = nl.dynamic_range(3)
        for _ in numbers:
            _add_one(total)
        for _ in numbers:
            _add_one(total)
        return _stored(total)

    assert kernel()[0, 0] == 6


def test_bounds_are_read_when_the_loop_starts():
    @nki.jit
    def kernel(n):
        stop, _ = _loaded(n)
        total = _counter()
        for _ in nl.dynamic_range(stop):
            _add_one(total)
            nisa.register_move(stop, 100)
        return _stored(total)

    assert kernel(COUNT)[0, 0] == 4


def test_tensors_and_views_made_in_a_loop_are_used_after_it():
    @nki.jit
    def kernel(x):
        for i in nl.dynamic_range(3):
            tile = _tile((1, 4), x.dtype)
            half = tile[:, 0:2]
            nisa.dma_copy(dst=tile, src=x[nl.ds(i, 1), :])
            nisa.tensor_scalar(dst=half, data=half, op0=nl.multiply, operand0=-1.0)
        nisa.tensor_scalar(dst=half, data=half, op0=nl.add, operand0=0.5)
        return _stored(tile)

    assert kernel(X)[0].tolist() == [-7.5, -8.5, 10, 11]
    _round_trip(kernel, X)


def test_a_tensor_of_a_loop_that_never_runs_is_unwritten():
    @nki.jit
    def kernel(x):
        nothing = _tile()
        nisa.memset(dst=nothing, value=0)
        count = nisa.register_alloc()
        nisa.register_load(count, nothing)
        for _ in nl.dynamic_range(count):
            tile = _tile((6, 4), x.dtype)
            nisa.dma_copy(dst=tile, src=x)
        return _stored(tile)

    assert np.isnan(kernel(X)).all()


def test_accumulators_go_on_from_iteration_to_iteration():
    @nki.jit
    def kernel(x):
        tile, total = _tile((6, 4), x.dtype), _tile((6, 1), x.dtype)
        nisa.dma_copy(dst=tile, src=x)
        junk = _tile((6, 4), x.dtype)
        command = nisa.reduce_cmd
        arguments = {"dst": junk, "op": nl.copy, "data": tile, "reduce_op": nl.add}
        nisa.activation(**arguments, reduce_cmd=command.reset_reduce)
        for _ in nl.dynamic_range(3):
            nisa.activation(**arguments, reduce_cmd=command.reduce)
        nisa.activation(**arguments, reduce_cmd=command.reduce, reduce_res=total)
        return _stored(total)

    np.testing.assert_array_equal(kernel(X)[:, 0], 5 * X.sum(1))


# -- while


def _count_down(register, tile):
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.subtract, operand0=1)
    nisa.register_load(register, tile)


@nki.jit
def _while(n):
    register, left = _loaded(n)
    total = _counter()
    while register:
        _add_one(total)
        _count_down(register, left)
    return _stored(total)


@nki.jit
def _while_function(n):
    register, left = _loaded(n)
    total = _counter()

    def body(condition):
        _add_one(total)
        _count_down(condition, left)
        return condition

    nl.while_loop(register, body)
    return _stored(total)


@nki.jit
def _while_with_continue(n):
    registers = [_loaded(n)]
    total = _counter()
    while registers[0][0]:
        _add_one(total)
        _count_down(*registers[0])
        if total is not None:
            continue
        _add_one(total)
    return _stored(total)


@pytest.mark.parametrize("kernel", [_while, _while_function, _while_with_continue])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_while(kernel, n):
    assert kernel(np.array([[n]], np.int32))[0, 0] == n
    _round_trip(kernel, COUNT)


def test_while_loops_in_a_function_in_a_while_loop():
    def inner(n, total):
        register, left = _loaded(n)
        while register:
            _add_one(total)
            _count_down(register, left)

    @nki.jit
    def kernel(n):
        register, left = _loaded(n)
        total = _counter()
        while register:
            inner(n, total)
            inner(n, total)
            while_once = nisa.register_alloc(1)
            while while_once:
                _add_one(total)
                nisa.register_move(while_once, 0)
            _count_down(register, left)
        return _stored(total)

    assert kernel(COUNT)[0, 0] == 4 * (4 + 4 + 1)


def test_while_loop_leaves_the_first_condition_alone():
    @nki.jit
    def kernel(n):
        first, left = _loaded(n)
        other = nisa.register_alloc()

        def body(_):
            _count_down(other, left)
            return other

        nl.while_loop(first, body)
        out = _out((1, 1))
        nisa.register_store(out, first)
        return out

    assert kernel(COUNT)[0, 0] == 4


_REFUSED = {
    "if": lambda r: 1 if r else 2,
    "not": lambda r: not r,
    "int": int,
    "float": float,
    "range": range,
    "equal": lambda r: r == 0,
    "bool": bool,
    "any": lambda r: any([r]),
}


@pytest.mark.parametrize("use", _REFUSED)
def test_python_cannot_ask_for_the_value_of_a_register(use):
    @nki.jit
    def kernel():
        _REFUSED[use](nisa.register_alloc(1))

    with pytest.raises(TypeError, match="known on the device only"):
        kernel()


def test_a_while_tests_a_register_alone():
    @nki.jit
    def negated():
        register = nisa.register_alloc(1)
        while not register:
            pass

    @nki.jit
    def combined():
        register = nisa.register_alloc(1)
        while register and COUNT:
            pass

    @nki.jit
    def by_a_call():
        register = nisa.register_alloc(1)
        while all([register, register]):
            pass

    for kernel in (negated, combined, by_a_call):
        with pytest.raises(TypeError, match="known on the device only"):
            kernel()


# -- loops that are left


def test_a_loop_left_early_is_refused():
    @nki.jit
    def by_break(x):
        for _ in nl.dynamic_range(3):
            break
        return x

    @nki.jit
    def by_return(x):
        for _ in nl.dynamic_range(3):
            return x

    @nki.jit
    def by_exception(x):
        try:
            for _ in nl.dynamic_range(3):
                raise KeyError
        except KeyError:
            pass
        return x

    @nki.jit
    def by_exception_in_a_function(x):
        def body(_):
            raise KeyError

        with contextlib.suppress(KeyError):
            nl.fori_loop(0, 3, body)
        return x

    @nki.jit
    def kept(x):
        numbers = iter(nl.dynamic_range(3))
        next(numbers)
        return x

    for kernel in (by_break, by_return, by_exception, by_exception_in_a_function, kept):
        assert set(_rules(kernel, X)) == {"loop-left"}, kernel


def test_a_while_left_early_is_refused():
    @nki.jit
    def by_break(x):
        register = nisa.register_alloc(1)
        for _ in range(2):
            while register:
                break
        return x

    @nki.jit
    def by_return_inside_another(x):
        def inner(register):
            while register:
                return

        outer = nisa.register_alloc(1)
        while outer:
            inner(nisa.register_alloc(1))
        return x

    for kernel in (by_break, by_return_inside_another):
        assert set(_rules(kernel, X)) == {"loop-left"}, kernel


def test_a_break_of_a_python_loop_inside_is_fine():
    @nki.jit
    def kernel(n):
        register, left = _loaded(n)
        total = _counter()
        while register:
            for number in range(5):
                if number == 2:
                    break
                _add_one(total)
            _count_down(register, left)
        return _stored(total)

    assert kernel(COUNT)[0, 0] == 8


def test_a_while_keeps_its_register():
    @nki.jit
    def kernel(n):
        register, left = _loaded(n)
        while register:
            register = nisa.register_alloc(0)
        return _stored(left)

    assert _rules(kernel, COUNT) == ["loop-condition"]


def test_an_error_in_a_body_comes_out_as_it_is():
    @nki.jit
    def kernel():
        for _ in nl.dynamic_range(3):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        kernel()
    assert _while(COUNT)[0, 0] == 4


# -- arguments


@pytest.mark.parametrize("step", [0, -1, 1.0, True, None, "register"])
def test_steps(step):
    @nki.jit
    def kernel(x):
        given = nisa.register_alloc(1) if step == "register" else step
        for _ in nl.dynamic_range(0, 4, given):
            pass
        return x

    assert _rules(kernel, X) == ["loop-step"]


@pytest.mark.parametrize("bound", [1.5, None, 2**31, "4", True])
def test_bounds(bound):
    @nki.jit
    def kernel(x):
        nl.fori_loop(0, bound, lambda _: None)
        return x

    assert _rules(kernel, X) == ["argument"]


def test_bounds_may_be_numpy_integers():
    @nki.jit
    def kernel():
        total = _counter()
        for _ in nl.dynamic_range(np.int64(3)):
            _add_one(total)
        return _stored(total)

    assert kernel()[0, 0] == 3


def test_conditions_of_while_loop_are_registers():
    @nki.jit
    def of_a_number(x):
        nl.while_loop(1, lambda r: r)
        return x

    @nki.jit
    def of_nothing(x):
        nl.while_loop(nisa.register_alloc(1), lambda _: None)
        return x

    for kernel in (of_a_number, of_nothing):
        assert _rules(kernel, X) == ["argument"]


def test_the_induction_variable_is_read_in_its_loop_only():
    @nki.jit
    def used_behind(x):
        for i in nl.dynamic_range(3):
            nisa.register_move(nisa.register_alloc(), i)
        nisa.register_move(nisa.register_alloc(), i)
        return x

    @nki.jit
    def bound_behind(x):
        for i in nl.dynamic_range(3):
            nisa.register_move(nisa.register_alloc(), i)
        for _ in nl.dynamic_range(i):
            pass
        return x

    @nki.jit
    def written(x):
        for i in nl.dynamic_range(3):
            nisa.register_move(i, 3)
        return x

    assert _rules(used_behind, X) == ["argument"]
    assert _rules(bound_behind, X) == ["argument"]
    assert _rules(written, X) == ["frozen-register"]


def test_registers_of_another_kernel():
    kept = []

    @nki.jit
    def first(x):
        kept.append(nisa.register_alloc(1))
        return x

    @nki.jit
    def moved(x):
        nisa.register_move(nisa.register_alloc(), kept[0])
        return x

    @nki.jit
    def bound(x):
        for _ in nl.dynamic_range(kept[0]):
            pass
        return x

    @nki.jit
    def tested(x):
        while kept[0]:
            pass
        return x

    @nki.jit
    def tested_by_function(x):
        nl.while_loop(kept[0], lambda r: r)
        return x

    @nki.jit
    def address(x):
        tile = _tile((1, 4), x.dtype)
        nisa.dma_copy(dst=tile, src=x[nl.ds(kept[0], 1)])
        return x

    first(X)
    for kernel in (moved, bound, tested_by_function):
        assert _rules(kernel, X) == ["argument"], kernel
    assert _rules(address, X) == ["view"]
    with pytest.raises(TypeError, match="known on the device only"):
        tested(X)


def test_loops_outside_a_kernel():
    with pytest.raises(RuntimeError, match=r"nl\.dynamic_range can only be called inside a kernel"):
        nl.dynamic_range(3)
    with pytest.raises(RuntimeError, match=r"nl\.fori_loop can only be called inside a kernel"):
        nl.fori_loop(0, 3, lambda _: None)


# -- no_reorder


def test_no_reorder():
    @nki.jit
    def kernel():
        total = _counter()
        with nl.no_reorder():
            _add_one(total)
            with nl.no_reorder():
                _add_one(total)
        for _ in nl.dynamic_range(3):
            with nl.no_reorder():
                for _ in nl.affine_range(2):
                    _add_one(total)
        return _stored(total)

    assert kernel()[0, 0] == 8
    _round_trip(kernel)


def test_no_reorder_and_exceptions():
    @nki.jit
    def kernel():
        total = _counter()
        try:
            with nl.no_reorder():
                _add_one(total)
                raise KeyError
        except KeyError:
            _add_one(total)
        return _stored(total)

    assert kernel()[0, 0] == 2


def test_no_loops_in_no_reorder():
    @nki.jit
    def counted(x):
        with nl.no_reorder():
            for _ in nl.dynamic_range(3):
                pass
        return x

    @nki.jit
    def function(x):
        with nl.no_reorder():
            nl.while_loop(nisa.register_alloc(1), lambda r: r)
        return x

    @nki.jit
    def condition(x):
        register = nisa.register_alloc(1)
        with nl.no_reorder():
            while register:
                pass
        return x

    for kernel in (counted, function, condition):
        assert _rules(kernel, X) == ["no-reorder-loop"], kernel


# -- running


def test_registers_hold_nothing_at_first():
    @nki.jit
    def kernel():
        out = _out((1, 1))
        nisa.register_store(out, nisa.register_alloc())
        return out

    with pytest.raises(nki.NkiValidationError, match="register 'register' is read, but nothing"):
        kernel()
    with (
        pytest.raises(InterpretationError, match=r"test_loops\.py:\d+.*is read before anything"),
        pytest.warns(nki.NkiWarning, match="read-unwritten"),
    ):
        kernel.strict(False)()


def test_runaway_loops_are_stopped(monkeypatch):
    @nki.jit
    def forever(n):
        register, left = _loaded(n)
        while register:
            _add_one(left)
        return _stored(left)

    monkeypatch.setenv("NKIJIT_LOOP_LIMIT", "5")
    with pytest.raises(InterpretationError, match=r"test_loops\.py.* not ended after 5 iterations"):
        forever(COUNT)
    assert _while(np.array([[5]], np.int32))[0, 0] == 5
    with pytest.raises(InterpretationError, match="not ended after 5 iterations"):
        _while(np.array([[6]], np.int32))
    with pytest.raises(InterpretationError, match="not ended after 5 iterations"):
        _indices(np.array([[6]], np.int32))
    for wrong in ("0", "-1", "many"):
        monkeypatch.setenv("NKIJIT_LOOP_LIMIT", wrong)
        with pytest.raises(InterpretationError, match="expected a positive integer"):
            _while(COUNT)


def test_threads_run_one_kernel():
    traced = _nested.trace(COUNT, COUNT)
    results: dict[int, int] = {}

    def work(n: int) -> None:
        results[n] = int(traced.run(np.array([[n]], np.int32), np.array([[n]], np.int32))[0, 0])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: n * (n - 1) * 3 for n in range(1, 9)}


class _Recorder:
    def __init__(self):
        self.seen = []

    def did_run(self, op, written):
        self.seen.append((op.name, [array.copy() for array in written]))


def test_a_listener_is_called_for_every_iteration():
    @nki.jit
    def kernel(x):
        out = _out(x.shape, x.dtype)
        tile = _tile((1, 4), x.dtype)
        for i in nl.dynamic_range(1, 4):
            nisa.dma_copy(dst=tile, src=x[nl.ds(i, 1), :])
            nisa.dma_copy(dst=out[nl.ds(i, 1), 1:3], src=tile[:, 1:3])

    recorder = _Recorder()
    kernel.trace(X).run(X, listener=recorder)
    written = [arrays[0].tolist() for _, arrays in recorder.seen]
    rows = [X[i : i + 1] for i in range(1, 4)]
    assert written == [part.tolist() for row in rows for part in (row, row[:, 1:3])]


# -- registers


@pytest.mark.parametrize(
    ("dtype", "value", "held"),
    [
        ("int32", -5, -5),
        ("uint32", 2**32 - 1, -1),
        ("int8", -5, -5),
        ("uint8", 250, 250),
        ("int16", -30000, -30000),
        ("uint16", 60000, 60000),
        ("float32", 1.0, 0x3F800000),
        ("float16", 1.0, 0x3C00),
    ],
)
def test_loads_and_stores(dtype, value, held):
    @nki.jit
    def kernel(x):
        register = nisa.register_alloc()
        nisa.register_load(register, x)
        number, back = _out((1,)), _out((1,), getattr(nl, dtype))
        nisa.register_store(number, register)
        nisa.register_store(back, register)
        return number, back

    given = np.array([value], dtype)
    number, back = kernel(given)
    assert number[0] == held
    assert back.tobytes() == given.tobytes()


@pytest.mark.parametrize("value", [1.5, 2**31, -(2**31) - 1, True, "1"])
def test_numbers_that_a_register_cannot_hold(value):
    @nki.jit
    def kernel(x):
        nisa.register_alloc(value)
        return x

    assert _rules(kernel, X) == ["argument"]


def test_loops_in_loops_are_counted_together(monkeypatch):
    @nki.jit
    def nested(trips):
        left = _counter()
        for _ in nl.dynamic_range(trips):
            for _ in nl.dynamic_range(trips):
                for _ in nl.dynamic_range(trips):
                    _add_one(left)
        return _stored(left)

    monkeypatch.setenv("NKIJIT_LOOP_LIMIT", "84")
    nested(4)  # 4 + 16 + 64 iterations
    monkeypatch.setenv("NKIJIT_LOOP_LIMIT", "83")
    with pytest.raises(
        InterpretationError,
        match=r"test_loops\.py:\d+.*more than 83 iterations together; NKIJIT_LOOP_LIMIT raises",
    ):
        nested(4)


def test_a_body_without_the_next_condition_is_an_error() -> None:
    @nki.jit
    def kernel(n):
        register, left = _loaded(n)
        nl.while_loop(register, lambda condition: _count_down(condition, left))

    with pytest.raises(nki.NkiValidationError, match="end the body with a return of its parameter"):
        kernel(np.array([[3]], np.int32))
