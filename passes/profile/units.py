"""Texts of figures with their units."""

from __future__ import annotations


def time_text(ns: float) -> str:
    """Format a time: ns below 1 µs, otherwise µs, ms or s with four digits."""
    unit, size = _unit(ns)
    if size == 1:
        return f"{ns:.0f} ns"
    return f"{ns / size:.4g} {unit}" if abs(ns) < 1000 * size else f"{ns / size:.0f} {unit}"


def _unit(ns: float) -> tuple[str, float]:
    """Return the unit in which a time is shown, with the length of the unit in ns."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= size * 0.99995:
            return unit, size
    return "ns", 1.0


def range_text(ns: float, low: float, high: float) -> str:
    """Format a time with its range in the same unit: `251 us (235-270)`."""
    _, size = _unit(ns)
    least, likely, most = (f"{time / size:.3g}" for time in (low, ns, high))
    return time_text(ns) + (f" ({least}-{most})" if (least, most) != (likely, likely) else "")


def times_text(before: float, after: float) -> str:
    """Format two times, both in the unit of the first: `3.63 -> 2.09 ms`."""
    unit, size = _unit(before)
    digits = "{:.0f}" if size == 1 else "{:.4g}"
    return f"{digits.format(before / size)} -> {digits.format(after / size)} {unit}"


def bytes_text(count: float) -> str:
    """Format a number of bytes."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(count) >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count:.0f} B"


def flops_text(per_second: float) -> str:
    """Format a number of operations per second."""
    return f"{per_second / 1e12:.3g} TFLOPS"


def percent(share: float) -> str:
    """Format a fraction as a percentage."""
    return f"{100 * share:.1f}%"
