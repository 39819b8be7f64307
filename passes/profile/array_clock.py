"""The power limit of the Tensor Engine: after idle time, the array runs at a part of its speed.

The limit holds from the start of a kernel. It ends when the array has been used enough in the last
microseconds, and returns when it has not. The use of the array is the share of its rows that get
data, times the share of the time in which they do, at full speed. So a limited array with all rows
in use recovers, and a limited array with half of them does not.
"""

from __future__ import annotations

from collections import deque

from nkijit.dialects.costs.pe_array import rows_share
from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.hardware.targets import Target
from nkijit.passes.lower.program import EngineInstruction


class ArrayClock:
    """The speed of a core's array over time."""

    def __init__(self, target: Target):
        self._target = target
        self._tensor = target.timing.tensor
        self._recent: deque[tuple[float, float, float]] = deque()
        """Start, end and use of each multiplication that may reach into the window, in order."""
        self._shares: dict[int, float] = {}

    def factor(self, time: float) -> float:
        """Return how much longer than at full speed a multiplication at `time` takes."""
        t = self._tensor
        if not t.throttle:
            return 1.0
        recent, since = self._recent, time - t.throttle_window_ns
        while recent and recent[0][1] <= since:
            recent.popleft()
        used = sum((end - max(begin, since)) * use for begin, end, use in recent)
        return 1.0 if used >= t.throttle_below * t.throttle_window_ns else t.throttle_factor

    def note(self, head: EngineInstruction, begin: float, end: float, factor: float) -> None:
        """Record a multiplication that ran from `begin` to `end`, in ns."""
        if not self._tensor.throttle:
            return
        share = self._shares.get(head.like)
        if share is None:
            assert is_instruction(head.op)
            share = self._shares[head.like] = rows_share(head.op, self._target)
        self._recent.append((begin, end, share / factor))
