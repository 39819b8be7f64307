"""Finds loops in a list of nodes: consecutive iterations whose numbers grow by constant steps.

Loops with short iterations are found first. A loop that has been found is one node, so surrounding
loops are found in the same way. If source locations are known, an iteration begins with the
operation that is first in the source.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from nkijit.passes.transform.nodes import (
    Loop,
    Node,
    NodeForms,
    Place,
    Ref,
    RefStep,
    added,
    made_by,
)

_MOST_ROUNDS = 100
"""The maximum number of times that the search starts again from the shortest iterations.

Later rounds continue from the iteration length that was found last. Real kernels need about ten
rounds.
"""
_MOST_SHIFTS = 8
"""The largest number of nodes that are tried as the first node of an iteration.

This is necessary if source locations are unknown.
"""
_FEWEST_SAVED = 2
"""The smallest number of operations that a loop must save: the size of a loop without its body."""


def fold(nodes: list[Node], forms: NodeForms) -> list[Node]:
    """Return the nodes with repeated nodes replaced by loops."""
    rounds = 0
    period = 0
    known: dict[int, list[Loop]] = {}
    while True:
        found = _fold_shortest(nodes, forms, period if rounds > _MOST_ROUNDS else 0)
        if found is None:
            return nodes
        nodes, period, loops = found
        rounds += 1
        for loop in loops:
            nodes = _with_single(nodes, loop, known)


def _fold_shortest(
    nodes: list[Node], forms: NodeForms, least: int
) -> tuple[list[Node], int, list[Loop]] | None:
    """Find the loops with the shortest iterations of at least `least` nodes.

    Returns the nodes with these loops, the length of an iteration, and the loops; None if there
    are none.
    """
    ids = np.fromiter((node.form.index for node in nodes), np.int64, len(nodes))
    periods = _periods(ids)
    seen: set[int] = set()
    while periods:
        period = heappop(periods)
        if period < least or period in seen:
            continue
        seen.add(period)
        multiples: set[int] = set()
        found = _fold_period(nodes, ids, period, forms, multiples)
        if found is not None:
            return found[0], period, found[1]
        for multiple in multiples:
            heappush(periods, multiple)
    return None


def _with_single(nodes: list[Node], loop: Loop, known: dict[int, list[Loop]]) -> list[Node]:
    """Replace single iterations of a loop by a loop with one iteration.

    This lets a surrounding loop, in which the trip count grows, include its first iteration.
    `known` contains the loops for which this has been done, by form.
    """
    if loop.form.index in known:
        return nodes
    known[loop.form.index] = [loop]
    ids = np.fromiter((node.form.index for node in nodes), np.int64, len(nodes))
    size = len(loop.body)
    same = np.ones(max(0, len(nodes) - size + 1), np.bool_)
    for k, node in enumerate(loop.body):
        same &= ids[k : k + len(same)] == node.form.index
    result: list[Node] = []
    done = 0
    for start in np.flatnonzero(same).tolist():
        single = _single(nodes[start : start + size], loop) if start >= done else None
        if single is not None:
            result += nodes[done:start]
            result.append(single)
            done = start + size
    return result + nodes[done:] if done else nodes


def _single(block: list[Node], like: Loop) -> Loop | None:
    """Return a block as a loop of one iteration, in the form of `like`; None if impossible."""
    made = [_Made(block)]
    refs: list[Ref] = []
    steps: list[RefStep] = []
    left = iter(like.ref_steps)
    for k, node in enumerate(block):
        for ref in node.refs:
            known = next(left)
            step = _step([ref], made, k)
            if step is None or step[0].inside != known.inside:
                return None
            if known.inside:
                own = replace(step[0], step=known.step)
                if own != known:
                    return None
                steps.append(own)
            else:
                steps.append(known)
                refs += [step[1]] if step[1] is not None else []
    numbers = (1, *(number for node in block for number in node.numbers))
    size = sum(node.size for node in block)
    return Loop(
        like.form, numbers, refs, made_by(block), block[0].place, size,
        [block], like.number_steps, tuple(steps),
    )  # fmt: skip


def _periods(ids: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
    """Return candidates for the number of nodes in an iteration.

    The candidates are the distances of nodes to the previous node of the same form.
    """
    order = np.argsort(ids, kind="stable")
    same = ids[order][1:] == ids[order][:-1]
    distances = np.diff(order)[same]
    return [int(period) for period in np.unique(distances) if 2 * period <= len(ids)]


def _fold_period(
    nodes: list[Node],
    ids: np.ndarray[tuple[int], np.dtype[np.int64]],
    period: int,
    forms: NodeForms,
    multiples: set[int],
) -> tuple[list[Node], list[Loop]] | None:
    same = ids[period:] == ids[:-period]
    edges = np.flatnonzero(np.diff(np.concatenate(([False], same, [False])).astype(np.int8)))
    result: list[Node] = []
    loops: list[Loop] = []
    done = 0
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end - start < period or start < done:
            start = max(start, done)
            if end - start < period:
                continue
        for first, loop in _loops_in(nodes, start, end + period, period, forms, multiples):
            result += nodes[done:first]
            result.append(loop)
            loops.append(loop)
            done = first + len(loop.iterations) * period
    return (result + nodes[done:], loops) if loops else None


def _loops_in(
    nodes: list[Node], start: int, end: int, period: int, forms: NodeForms, multiples: set[int]
) -> list[tuple[int, Loop]]:
    """Find the loops in a region in which forms repeat with `period`; returns (start, loop) pairs.

    Adds multiples of the period to `multiples` if differences of numbers recur with them.
    """
    heads = _heads(nodes[start : start + period])
    slack = end - start - 2 * period + 1
    shifts = range(min(period, slack, _MOST_SHIFTS)) if heads is None else heads
    for shift in shifts:
        found = _loops_from(nodes, start + shift, end, period, forms, multiples)
        if found:
            return found
    return []


def _loops_from(
    nodes: list[Node], start: int, end: int, period: int, forms: NodeForms, multiples: set[int]
) -> list[tuple[int, Loop]]:
    """Like `_loops_in`, for iterations that begin at the start of the region."""
    count = (end - start) // period
    if count < 2:
        return []
    blocks = [nodes[start + i * period : start + (i + 1) * period] for i in range(count)]
    found: list[tuple[int, Loop]] = []
    steps = [_Difference(a, b) for a, b in pairwise(blocks)]
    at: dict[tuple[int, ...], int] = {}
    for i, step in enumerate(steps):
        before = at.get(step.numbers)
        if before is not None and i > before + 1:
            multiples.add((i - before) * period)
        at[step.numbers] = i
    for first, last in _even(steps):
        loop = _loop(blocks[first:last], forms)
        if loop is None and last - first > 2:
            # Iterations may use values of the previous one, which the first one cannot.
            first += 1
            loop = _loop(blocks[first:last], forms)
        if loop is not None and _is_worth_it(loop) and _is_likely(loop):
            found.append((start + first * period, loop))
    return found


def _is_worth_it(loop: Loop) -> bool:
    size = sum(node.size for node in loop.body)
    elements = sum(step.step != 0 for step in loop.ref_steps)
    # Without locations, repetition may not correspond to a loop in the source.
    fewest = _FEWEST_SAVED + elements + (not loop.place)
    return (len(loop.iterations) - 1) * size >= fewest


def _is_likely(loop: Loop) -> bool:
    """False for a loop of two iterations whose inner loop runs once in only one of them."""
    if len(loop.iterations) > 2:
        return True
    first, second = loop.iterations
    return not any(
        isinstance(a, Loop)
        and min(a.numbers[0], b.numbers[0]) == 1 != max(a.numbers[0], b.numbers[0])
        for a, b in zip(first, second, strict=True)
    )


def _heads(period: Sequence[Node]) -> list[int] | None:
    """Return the positions in a period of the nodes that may begin an iteration; None if unknown.

    An iteration begins with the node that is first in the source. If all calls are in one line, a
    later call may be an argument of the first call and then runs first, so there are two
    candidates.
    """
    places = [node.place for node in period]
    if not all(places):
        return None
    ends = [_end(node) for node in period]
    for level in range(min(map(len, (*places, *ends)))):
        at = [place[level] for place in places]
        before = [place[level] for place in (ends[-1], *ends[:-1])]
        lines = {line for line, _ in (*at, *before)}
        if len(lines) > 1:
            first = min(line for line, _ in at)
            begins = ((a[0] == first) > (b[0] == first) for a, b in zip(at, before, strict=True))
            return [next((i for i, begin in enumerate(begins) if begin), 0)]
        if len({*at, *before}) > 1:
            first = min(at)
            pairs = list(zip(at, before, strict=True))
            into = [i for i, (a, b) in enumerate(pairs) if a == first != b]
            out_of = [i for i, (a, b) in enumerate(pairs) if b == first != a]
            return [*into[:1], *out_of[:1]] or [0]
    return [0]


def _end(node: Node) -> Place:
    """Return the source position of the last operation of a node."""
    while isinstance(node, Loop):
        node = node.body[-1]
    return node.place


class _Difference:
    """The differences of the numbers and uses of two consecutive iterations."""

    __slots__ = ("back", "numbers", "ordinals")

    def __init__(self, before: Sequence[Node], after: Sequence[Node]):
        numbers: list[int] = []
        ordinals: list[int] = []
        back: list[int] = []
        for a, b in zip(before, after, strict=True):
            if a.numbers == b.numbers:
                numbers += [0] * len(a.numbers)
            elif a.form.masks:
                masks = a.form.masks
                for i, (x, y) in enumerate(zip(a.numbers, b.numbers, strict=True)):
                    numbers.append(0 if i in masks else y - x)
            else:
                numbers += [y - x for x, y in zip(a.numbers, b.numbers, strict=True)]
            for x, y in zip(a.refs, b.refs, strict=True):
                ordinals.append(y.ordinal - x.ordinal)
                back.append(y.back - x.back)
        self.numbers = tuple(numbers)
        self.ordinals = ordinals
        self.back = back


def _even(steps: Sequence[_Difference]) -> list[tuple[int, int]]:
    """Return the ranges (first, end) of iterations that form loops, given the steps between them.

    Three or more iterations with equal steps are a loop. Two iterations are a loop only if all
    differences within pairs are equal, as for an inner loop of two iterations that is alone in an
    outer loop.
    """
    runs: list[tuple[int, int]] = []
    position = left = 0
    while position < len(steps):
        end = _run(steps, position)
        if end - position >= 2:
            runs += _pairs(steps, left, position)
            runs.append((position, end + 1))
            position = left = end + 1
        else:
            position += 1
    return runs + _pairs(steps, left, len(steps) + 1)


def _run(steps: Sequence[_Difference], start: int) -> int:
    """Return the end of the sequence of steps that are equal to step `start`."""
    first = steps[start]
    ordinals = [True] * len(first.ordinals)
    back = [True] * len(first.back)
    end = start + 1
    while end < len(steps) and steps[end].numbers == first.numbers:
        step = steps[end]
        if step.ordinals != first.ordinals or step.back != first.back:
            by_ordinal = _still(ordinals, step.ordinals, first.ordinals)
            by_back = _still(back, step.back, first.back)
            if not all(a or b for a, b in zip(by_ordinal, by_back, strict=True)):
                break
            ordinals, back = by_ordinal, by_back
        end += 1
    return end


def _still(before: Sequence[bool], a: Sequence[int], b: Sequence[int]) -> list[bool]:
    return [ok and x == y for ok, x, y in zip(before, a, b, strict=True)]


def _pairs(steps: Sequence[_Difference], start: int, end: int) -> list[tuple[int, int]]:
    """Return the loops of two iterations that lie between longer loops, as (first, end)."""
    between = steps[start : end - 1]
    if not between or any(step.numbers != between[0].numbers for step in between[::2]):
        return []
    return [(first, first + 2) for first in range(start, end - 1, 2)]


def _loop(blocks: Sequence[list[Node]], forms: NodeForms) -> Loop | None:
    """Return the loop of some iterations; None if uses or omitted arguments are not compatible."""
    first, second = blocks[0], blocks[1]
    masks: list[int] = []
    position = 0
    for k, node in enumerate(first):
        for i in node.form.masks:
            mask = -1
            for block in blocks:
                mask &= block[k].numbers[i]
            if not mask:
                return None
            masks.append(position + i)
        position += len(node.numbers)
    number_steps = _Difference(first, second).numbers
    ref_steps: list[RefStep] = []
    refs: list[Ref] = []
    made = [_Made(block) for block in blocks]
    for k in range(len(first)):
        for slot in range(len(first[k].refs)):
            step = _step([block[k].refs[slot] for block in blocks], made, k)
            if step is None:
                return None
            ref_steps.append(step[0])
            if step[1] is not None:
                refs.append(step[1])
    makes: dict[int, int] = {}
    for block in blocks:
        added(makes, made_by(block))
    numbers = [len(blocks)]
    for k, node in enumerate(first):
        for i, number in enumerate(node.numbers):
            if i in node.form.masks:
                for block in blocks:
                    number &= block[k].numbers[i]
            numbers.append(number)
    key = ("loop", tuple(node.form.index for node in first), number_steps, tuple(ref_steps))
    form = forms.form(key, tuple(mask + 1 for mask in masks))
    return Loop(
        form, tuple(numbers), refs, makes, first[0].place,
        2 + sum(node.size for node in first), list(blocks), number_steps, tuple(ref_steps),
    )  # fmt: skip


class _Made:
    """The number of values of each kind (see `Ref`) that the nodes of one iteration create."""

    def __init__(self, nodes: Sequence[Node]):
        self._starts: dict[int, list[int]] = {}
        self._makers: dict[int, list[int]] = {}
        counts: dict[int, int] = {}
        for index, node in enumerate(nodes):
            for kind, count in node.makes.items():
                start = counts.get(kind, 0)
                self._starts.setdefault(kind, []).append(start)
                self._makers.setdefault(kind, []).append(index)
                counts[kind] = start + count
        self._totals = counts

    def before(self, kind: int, node: int) -> int:
        """Return the number of values of a kind that nodes before `node` create."""
        at = bisect_left(self._makers.get(kind, ()), node)
        starts = self._starts.get(kind, ())
        return starts[at] if at < len(starts) else self._totals.get(kind, 0)

    def maker(self, kind: int, ordinal: int) -> int:
        """Return the position of the node that creates the value `ordinal` of a kind."""
        return self._makers[kind][bisect_right(self._starts[kind], ordinal) - 1]


def _step(
    refs: Sequence[Ref], made: Sequence[_Made], node: int
) -> tuple[RefStep, Ref | None] | None:
    """Return how the value of a use changes from iteration to iteration.

    The second item is the use's `Ref` if the value is created outside the loop, else None. Returns
    None if only some iterations use a value of the same iteration, or if ordinals do not grow by a
    constant.
    """
    kind = refs[0].kind
    # The number of values of the kind before each iteration.
    begins = [
        ref.ordinal + ref.back - of.before(kind, node) for ref, of in zip(refs, made, strict=True)
    ]
    if all(ref.ordinal + ref.low >= begin for ref, begin in zip(refs, begins, strict=True)):
        return _inside(refs, made, begins)
    if any(ref.ordinal + ref.high >= begins[0] for ref in refs):
        return None
    ordinals = [ref.ordinal for ref in refs]
    step = ordinals[1] - ordinals[0] if len(ordinals) > 1 else 0
    if any(b - a != step for a, b in pairwise(ordinals)):
        return None
    low = min(ref.ordinal + ref.low for ref in refs) - ordinals[0]
    high = max(ref.ordinal + ref.high for ref in refs) - ordinals[0]
    return RefStep(step), Ref(kind, ordinals[0], begins[0] - ordinals[0], low, high)


def _inside(
    refs: Sequence[Ref], made: Sequence[_Made], begins: Sequence[int]
) -> tuple[RefStep, None] | None:
    """Return `_step` for a value that the same iteration creates."""
    kind = refs[0].kind
    places = [ref.ordinal - begin for ref, begin in zip(refs, begins, strict=True)]
    lows = [place + ref.low for place, ref in zip(places, refs, strict=True)]
    highs = [place + ref.high for place, ref in zip(places, refs, strict=True)]
    maker = min(of.maker(kind, low) for of, low in zip(made, lows, strict=True))
    last = max(of.maker(kind, high) for of, high in zip(made, highs, strict=True))
    starts = [of.before(kind, maker) for of in made]
    # The number of values may vary between iterations only if one node creates all used values.
    if maker != last and any(of.before(kind, last) != made[0].before(kind, last) for of in made):
        return None
    offsets = [place - start for place, start in zip(places, starts, strict=True)]
    step = offsets[1] - offsets[0] if len(offsets) > 1 else 0
    if any(b - a != step for a, b in pairwise(offsets)):
        return None
    low = min(low - start for low, start in zip(lows, starts, strict=True))
    high = max(high - start for high, start in zip(highs, starts, strict=True))
    return RefStep(step, True, maker, last, offsets[0], low, high), None
