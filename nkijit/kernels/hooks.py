"""Callbacks for each specialised kernel: pytest's reports use them."""

from __future__ import annotations

from collections.abc import Callable

from nkijit.traced.kernel import TracedKernel

WATCHERS: list[Callable[[TracedKernel], None]] = []
"""Callbacks for each specialisation that a call or `trace` requests, cached or not."""
