"""Facts about values from bytecode, on listings of every supported Python version.

Only one version runs the tests; the listings of the others are written out.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

from nkijit.classic.destinations.bytecode import Bytecode, BytecodeStep

CALLS = {
    "3.11": [("PUSH_NULL", 1), ("LOAD_FAST", 1), ("LOAD_FAST", 1), ("PRECALL", -1), ("CALL", -1)],
    "3.12": [("PUSH_NULL", 1), ("LOAD_FAST", 1), ("LOAD_FAST", 1), ("CALL", -2)],
    "3.13": [("LOAD_FAST", 1), ("PUSH_NULL", 1), ("LOAD_FAST", 1), ("CALL", -2)],
    "3.13, keywords": [("LOAD_GLOBAL", 2), ("LOAD_FAST", 1), ("LOAD_CONST", 1), ("CALL_KW", -3)],
    "3.14": [("LOAD_FAST_BORROW", 1), ("PUSH_NULL", 1), ("LOAD_FAST_BORROW", 1), ("CALL", -2)],
    "3.14, unpacked": [
        *(("LOAD_GLOBAL", 2), ("LOAD_FAST_BORROW", 1), ("PUSH_NULL", 1)),
        ("CALL_FUNCTION_EX", -3),
    ],
}
"""`f(x)`: names of instructions, and how they change the height of the stack."""

every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def listing(*steps: tuple[Any, ...]) -> list[BytecodeStep]:
    """Steps from (name, effect), (name, effect, argument) or, of a jump, also its effect."""
    found: list[BytecodeStep] = []
    for number, (name, effect, *rest) in enumerate(steps):
        found.append(BytecodeStep(2 * number, name, *rest[:1] or (None,), effect, *rest[1:]))
    return found


def makers(*steps: tuple[Any, ...]) -> set[str]:
    """Return the names of the calls that create the value which the last instruction assigns."""
    found = listing(*steps)
    numbers = Bytecode(found).makers_of_assigned(len(found) - 1)
    return {found[number].name for number in numbers}


PLACES = {
    "t[k]": [("LOAD_FAST", 1), ("LOAD_FAST", 1), ("STORE_SUBSCR", -3)],
    "t[k], fused": [("LOAD_FAST_LOAD_FAST", 2), ("STORE_SUBSCR", -3)],
    "t[k], borrowed": [("LOAD_FAST_BORROW_LOAD_FAST_BORROW", 2), ("STORE_SUBSCR", -3)],
    "t[0]": [("LOAD_FAST_BORROW", 1), ("LOAD_SMALL_INT", 1), ("STORE_SUBSCR", -3)],
    "t[a:b]": [("LOAD_FAST", 1), ("LOAD_FAST", 1), ("LOAD_FAST", 1), ("STORE_SLICE", -4)],
    "t.u[g(i), :]": [
        *(("EXTENDED_ARG", 0), ("LOAD_FAST", 1), ("LOAD_ATTR", 0)),
        *(("LOAD_GLOBAL", 2), ("LOAD_FAST", 1), ("CALL", -2)),
        *(("LOAD_CONST", 1), ("BUILD_TUPLE", -1), ("STORE_SUBSCR", -3)),
    ],
    "+=": [("BINARY_OP", -1)],
}


@every_call
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_call_makes_the_assigned_value(call: Any, place: Any) -> None:
    before = [("LOAD_FAST", 1)] if place[-1][0] == "BINARY_OP" else []
    assert makers(("RESUME", 0), *before, *call, *place) == {call[-1][0]}


@every_call
def test_a_call_on_each_way(call: Any) -> None:
    """`t[k] = f(x) if c else y`, with the jumps of each version."""
    length = len(call)
    for test in (
        [("POP_JUMP_FORWARD_IF_FALSE", -1)],
        [("POP_JUMP_IF_FALSE", -1)],
        [("TO_BOOL", 0), ("POP_JUMP_IF_FALSE", -1), ("NOT_TAKEN", 0)],
    ):
        start = 1 + len(test) + length
        jumps = [
            (*step, 2 * (start + 1), -1) if step[0].startswith("POP_JUMP") else step
            for step in test
        ]
        steps = [
            *(("LOAD_FAST", 1), *jumps, *call),
            ("JUMP_FORWARD", 0, 2 * (start + 2), 0),
            *(("LOAD_FAST", 1), ("LOAD_FAST", 1), ("LOAD_FAST", 1), ("STORE_SUBSCR", -3)),
        ]
        assert makers(*steps) == {call[-1][0], "LOAD_FAST"}


NAMED = {
    "t[k] = y": [
        *(("STORE_FAST", -1), ("LOAD_FAST", 1), ("LOAD_FAST", 1), ("LOAD_FAST", 1)),
        ("STORE_SUBSCR", -3),
    ],
    "t[k] = y, borrowed": [
        *(("STORE_FAST", -1), ("LOAD_FAST_BORROW_LOAD_FAST_BORROW", 2), ("LOAD_FAST_BORROW", 1)),
        ("STORE_SUBSCR", -3),
    ],
    "y = f(x); t[k] = y, fused": [
        *(("STORE_FAST_LOAD_FAST", 0), ("LOAD_FAST_LOAD_FAST", 2), ("STORE_SUBSCR", -3)),
    ],
    "t[k] = (y := f(x))": [
        *(("COPY", 1), ("STORE_FAST", -1), ("LOAD_FAST", 1), ("LOAD_FAST", 1)),
        ("STORE_SUBSCR", -3),
    ],
    "t[k] = (y := f(x)), fused": [
        *(("COPY", 1), ("STORE_FAST_LOAD_FAST", 0), ("LOAD_FAST", 1), ("STORE_SUBSCR", -3)),
    ],
    "t[k] = u[k] = f(x)": [
        *(("COPY", 1), ("LOAD_FAST_LOAD_FAST", 2), ("STORE_SUBSCR", -3)),
        *(("LOAD_FAST_LOAD_FAST", 2), ("STORE_SUBSCR", -3)),
    ],
    "t[k] = y = f(x)": [("COPY", 1), ("LOAD_FAST_LOAD_FAST", 2), ("STORE_SUBSCR", -3)],
    "a, t[k] = f(x)": [
        *(("UNPACK_SEQUENCE", 1), ("STORE_FAST_LOAD_FAST", 0), ("LOAD_FAST", 1)),
        ("STORE_SUBSCR", -3),
    ],
    "t[k], a = f(x), y": [
        *(("LOAD_FAST", 1), ("SWAP", 0), ("LOAD_FAST_LOAD_FAST", 2), ("STORE_SUBSCR", -3)),
    ],
    "p += (y := f(x))": [("COPY", 1), ("STORE_FAST", -1), ("BINARY_OP", -1)],
    "an instruction of the future": [
        *(("LOAD_FAST", 1), ("NEVER_HEARD_OF", 0), ("LOAD_FAST", 1), ("STORE_SUBSCR", -3)),
    ],
    "an effect that is not known": [
        *(("LOAD_FAST", 1), ("LOAD_NEW", None), ("LOAD_FAST", 1), ("STORE_SUBSCR", -3)),
    ],
    "another way to assign": [("LOAD_FAST", 1), ("LOAD_FAST", 1), ("STORE_NEW", -3)],
    "a call of __setitem__": [("LOAD_FAST", 1), ("LOAD_FAST", 1), ("CALL", -3)],
}


@every_call
@pytest.mark.parametrize("rest", NAMED.values(), ids=NAMED)
def test_a_value_that_is_seen_elsewhere_is_not_made_by_its_call(call: Any, rest: Any) -> None:
    before = [("LOAD_FAST", 1)] if rest[-1][0] == "BINARY_OP" else []
    assert not {name for name in makers(*before, *call, *rest) if name.startswith("CALL")}


RETURNS = {
    "at once": ([("RETURN_VALUE", -1)], True),
    "by a name": ([("STORE_FAST", -1, "y"), ("LOAD_FAST", 1, "y"), ("RETURN_VALUE", -1)], True),
    "by a borrowed name": (
        [("STORE_FAST", -1, "y"), ("LOAD_FAST_BORROW", 1, "y"), ("RETURN_VALUE", -1)],
        True,
    ),
    "by a fused name": ([("STORE_FAST_LOAD_FAST", 0, ("y", "y")), ("RETURN_VALUE", -1)], True),
    "another": ([("STORE_FAST", -1, "y"), ("LOAD_FAST", 1, "z"), ("RETURN_VALUE", -1)], False),
    "another, fused": ([("STORE_FAST_LOAD_FAST", 0, ("y", "z")), ("RETURN_VALUE", -1)], False),
    "by a cell": (
        [("STORE_DEREF", -1, "y"), ("LOAD_DEREF", 1, "y"), ("RETURN_VALUE", -1)],
        False,
    ),
    "a constant": ([("POP_TOP", -1), ("RETURN_CONST", 0)], False),
    "part of it": ([("LOAD_CONST", 1, 0), ("BINARY_SUBSCR", -1), ("RETURN_VALUE", -1)], False),
    "never": ([("POP_TOP", -1)], False),
}


def test_the_function_of_a_call_with_keywords() -> None:
    """`a.f(x, k=0)` as Python 3.13 has it: the names of keywords are at the place of the call."""
    here, there = (1, 0), (1, 4)
    steps = [
        BytecodeStep(0, "LOAD_FAST", "a", 1, begins=here),
        BytecodeStep(2, "LOAD_ATTR", "f", 1, begins=here),
        BytecodeStep(4, "LOAD_FAST_LOAD_FAST", ("x", "y"), 2, begins=there),
        BytecodeStep(6, "LOAD_CONST", ("k",), 1, begins=here),
        BytecodeStep(8, "CALL_KW", 2, -4, begins=here),
    ]
    assert tuple(Bytecode(steps).function_called(4)) == ("a", "f")
    fused = [steps[0]._replace(name="LOAD_FAST_LOAD_FAST", argument=("b", "a")), *steps[1:]]
    assert not Bytecode(fused).function_called(4)


@pytest.mark.parametrize(("rest", "expected"), RETURNS.values(), ids=RETURNS)
def test_values_returned_directly(rest: Any, expected: bool) -> None:
    assert Bytecode(listing(("CALL", -1), *rest)).is_returned(0) is expected


def test_values_returned_after_a_jump() -> None:
    steps = listing(
        *(("CALL", -1), ("JUMP_FORWARD", 0, 6, 0), ("POP_TOP", -1), ("EXTENDED_ARG", 0)),
        ("RETURN_VALUE", -1),
    )
    assert Bytecode(steps).is_returned(0)


# ------------------------------------------------------------------ the Python that runs


class Frames:
    """Callables that find the function call from inside the callee's frame."""

    def seen(self, *_: Any, **__: Any) -> Any:
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        bytecode = Bytecode.of(frame.f_code)
        number = bytecode.number_at(frame.f_lasti)
        assert frame.f_lasti in bytecode.offsets(number)
        return tuple(bytecode.function_called(number))


def test_functions_are_named_as_the_source_has_them() -> None:
    frames = Frames()
    seen = frames.seen
    holder = {"frames": frames}
    found = [
        frames.seen(),
        frames.seen(1, two=2),
        frames.seen(*(1, 2), **{"two": 2}),
        seen(max(1, 2), frames),
        (seen)(seen),
        (lambda: seen())(),
        holder["frames"].seen(),
        Frames().seen(),
    ]
    attribute = ("frames", "seen")
    # Parentheses are where the second call without an attribute begins, so it has no name.
    assert found == [attribute, attribute, attribute, ("seen",), (), ("seen",), (), ()]


def test_the_offset_of_an_instruction_may_be_in_its_caches() -> None:
    bytecode = Bytecode.of(Frames.seen.__code__)
    for number in range(20):
        offsets = bytecode.offsets(number)
        assert {bytecode.number_at(offset) for offset in offsets} == {number}
