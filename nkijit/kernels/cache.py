"""The traces of a kernel, by what they depend on."""

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
    """What `kernel.cache_info()` says."""

    hits: int
    """Calls that found their trace."""
    misses: int
    """Calls that traced the kernel."""
    maxsize: int
    """How many traces are kept."""
    currsize: int
    """How many there are."""
    reasons: Mapping[str, int]
    """Why the kernel was traced, and how often; the last reason comes last."""


class TraceCache:
    """Traces by key. When there are too many, the one goes that was used the longest ago."""

    def __init__(self) -> None:
        self._traces: OrderedDict[_Key, TracedKernel] = OrderedDict()
        self._lock = threading.Lock()
        self._last: _Key | None = None
        """The key of the last trace that was kept."""
        self._hits = 0
        self._reasons: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._traces)

    def get(
        self, key_of: Callable[[], tuple[Any, ...]], trace: Callable[[], TracedKernel]
    ) -> TracedKernel:
        """The trace for a key, made if it is not there.

        Args:
            key_of: gives the key; asked before and after tracing, which may change what it reads.
                Raises UnkeyableError for what cannot be known again.
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
        made = trace()
        after, why = _key_or_reason(key_of)
        if after != key:
            changed = difference(key.image, after.image) if after else why.path if why else ()
            self._note(f"tracing it changes {where(changed) or 'what it reads'}")
            return made
        self._note(reason)
        return self._keep(key, made)

    def _keep(self, key: _Key, made: TracedKernel) -> TracedKernel:
        size = cache_size()
        with self._lock:
            # Another thread may have been faster; one object serves all callers.
            kept = self._traces.get(key)
            if kept is None or not kept.is_current():
                kept = self._traces[key] = made
            self._last = key
            while len(self._traces) > size:
                self._traces.popitem(last=False)
        return kept

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
        """The counts."""
        with self._lock:
            reasons = dict(self._reasons)
            traces = len(self._traces)
        return CacheInfo(self._hits, sum(reasons.values()), cache_size(), traces, reasons)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._traces.clear()
            self._reasons.clear()
            self._hits, self._last = 0, None


class _Key:
    """What a trace depends on, with its hash, which takes as long as a look at it."""

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
    """A key or why there is none. Not raised: what tracing raises has nothing to do with it."""
    try:
        return _Key(key_of()), None
    except UnkeyableError as error:
        return None, error
    except TypeError as error:  # there is no hash
        return None, UnkeyableError(f"it cannot be compared: {error}")


def cache_size() -> int:
    """How many traces each kernel keeps. Raises ValueError for a wrong `NKIJIT_TRACE_CACHE`."""
    text = os.environ.get(SIZE_VARIABLE, "")
    if not text:
        return DEFAULT_SIZE
    if not text.isdecimal():
        raise ValueError(f"{SIZE_VARIABLE} is a number of traces, 0 for none; got {text!r}")
    return int(text)
