"""The trace cache of a kernel; keys are images (descriptions) of everything a trace depends on."""

from __future__ import annotations

import os
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nkijit.kernels.cache_key import UnkeyableError, difference, where
from nkijit.traced.kernel import TracedKernel

SIZE_VARIABLE = "NKIJIT_TRACE_CACHE"
DEFAULT_SIZE = 128
_MOST_REASONS = 256


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """The result of `kernel.cache_info()`."""

    hits: int
    """The number of calls that found their trace in the cache."""
    misses: int
    """The number of calls that traced the kernel."""
    maxsize: int
    """The maximum number of cached traces."""
    currsize: int
    """The number of cached traces."""
    reasons: Mapping[str, int]
    """The reasons for tracing and how often each occurred, the most recent reason last."""


class TraceCache:
    """Traces by key. A full cache evicts the least recently used trace."""

    def __init__(self) -> None:
        self._traces: OrderedDict[_Key, TracedKernel] = OrderedDict()
        self._lock = threading.Lock()
        self._last: _Key | None = None
        """The key of the most recently used trace; the next miss reports how its key differs."""
        self._hits = 0
        self._reasons: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._traces)

    def get(
        self, key_of: Callable[[], tuple[Any, ...]], trace: Callable[[], TracedKernel]
    ) -> TracedKernel:
        """Return the trace for a key; trace the kernel if the cache does not have it.

        Args:
            key_of: returns the key; called before and after tracing, because tracing may change the
                values that the key depends on. Raises UnkeyableError for a value that cannot be
                recognised at another call.
            trace: makes the trace.
        """
        key, why = _key_or_reason(key_of)
        if key is None:
            self._note(str(why))
            return trace()
        with self._lock:
            found = self._traces.get(key)
            if found is not None and found.is_current():
                self._hits += 1
                self._traces.move_to_end(key)
                self._last = key
                return found
        reason = self._reason(key, found is not None)
        traced = trace()
        after, why = _key_or_reason(key_of)
        if after != key:
            changed = difference(key.image, after.image) if after else why.path if why else ()
            self._note(f"tracing it changes {where(changed) or 'what it reads'}")
            return traced
        self._note(reason)
        return self._store(key, traced)

    def _store(self, key: _Key, traced: TracedKernel) -> TracedKernel:
        size = cache_size()
        with self._lock:
            # Another thread may have been faster; one object serves all callers.
            cached = self._traces.get(key)
            if cached is None or not cached.is_current():
                cached = self._traces[key] = traced
            self._last = key
            while len(self._traces) > size:
                self._traces.popitem(last=False)
        return cached

    def _reason(self, key: _Key, is_outdated: bool) -> str:
        if is_outdated:
            return "a file that it read has changed"
        with self._lock:
            if self._last is None:
                return "first call"
            changed = difference(self._last.image, key.image)
        return f"{where(changed) or 'what it reads'} has changed"

    def _note(self, reason: str) -> None:
        with self._lock:
            count = self._reasons.pop(reason, 0) + 1
            self._reasons[reason] = count
            if len(self._reasons) > _MOST_REASONS:
                first = next(iter(self._reasons))
                self._reasons["other reasons"] += self._reasons.pop(first)

    def info(self) -> CacheInfo:
        """Return the counts of calls and traces."""
        with self._lock:
            reasons = dict(self._reasons)
            traces = len(self._traces)
        return CacheInfo(self._hits, sum(reasons.values()), cache_size(), traces, reasons)

    def clear(self) -> None:
        """Forget all traces and counts."""
        with self._lock:
            self._traces.clear()
            self._reasons.clear()
            self._hits, self._last = 0, None


class _Key:
    """An image (description) of everything that a trace depends on, with its cached hash."""

    __slots__ = ("hash", "image")

    def __init__(self, image: tuple[Any, ...]):
        self.image = image
        self.hash = hash(image)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.image == other.image


def _key_or_reason(
    key_of: Callable[[], tuple[Any, ...]],
) -> tuple[_Key | None, UnkeyableError | None]:
    """Return a key, or the error if there is none.

    The error is not raised, because it would become the context of errors of tracing.
    """
    try:
        return _Key(key_of()), None
    except UnkeyableError as error:
        return None, error
    except TypeError as error:  # not hashable
        return None, UnkeyableError(f"it cannot be compared: {error}")


def cache_size() -> int:
    """Return how many traces each kernel caches. Raises ValueError for a wrong
    `NKIJIT_TRACE_CACHE`."""
    text = os.environ.get(SIZE_VARIABLE, "")
    if not text:
        return DEFAULT_SIZE
    if not text.isdecimal():
        raise ValueError(f"{SIZE_VARIABLE} is a number of traces, 0 for none; got {text!r}")
    return int(text)
