"""Who is told of every kernel that a call or `trace` specialises: what reports on tests."""

from __future__ import annotations

from collections.abc import Callable

from nkijit.traced.kernel import TracedKernel

WATCHERS: list[Callable[[TracedKernel], None]] = []
"""Called with each specialisation when it is asked for, also when it was traced before."""
