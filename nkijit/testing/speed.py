"""The assertion that one kernel is predicted to be faster than another kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nkijit.kernels.kernel import Kernel
from nkijit.testing.kernels import Inputs, label_of, traced_of
from nkijit.traced.kernel import TracedKernel
from nkijit.tracing.tracebacks import without_own_frames

if TYPE_CHECKING:
    from nkijit.passes.profile.profile import Profile


@without_own_frames
def assert_faster(
    new: TracedKernel | Kernel,
    old: TracedKernel | Kernel,
    *,
    by: float = 1.0,
    inputs: Inputs | None = None,
    schedule: str = "compiler",
) -> float:
    """Assert that a kernel is predicted to be faster than another one.

    Nothing is measured. The constants of the prediction have known uncertainties, so a prediction
    is a range (`nkijit profile` shows it). The true constants are the same for both kernels.
    Therefore the kernels are compared with the best estimates of the constants, with all constants
    at their fast ends, and with all at their slow ends. `new` must be faster in all three cases.

    Args:
        new, old: traced kernels, or kernels with `inputs`, for the same target.
        by: the minimum speed-up: 1.2 means that `old` takes 1.2 times as long.
        inputs: the arguments to trace kernels with.
        schedule: "compiler" compares the kernels with the compiler's order and tiles, "author" with
            those of the source.

    Returns:
        The speed-up with the best estimates.

    Raises:
        AssertionError: the speed-up is too small, or uncertain because of the constants. The
            message has both times and their ranges.
        ValueError: the kernels have different targets.
        Exception: any exception of `TracedKernel.profile`.

    Example: `assert_faster(fused.trace(x), plain.trace(x), by=1.2)`.
    """
    from nkijit.passes.profile.extremes import times_at_ends

    __tracebackhide__ = True
    if by <= 0:
        raise ValueError(f"by: expected a number above 0, got {by}")
    pair = [traced_of(kernel, None if _is_traced(kernel) else inputs) for kernel in (new, old)]
    if pair[0].target != pair[1].target:
        raise ValueError(
            f"{label_of(pair[0])} and {label_of(pair[1])} are for two targets; trace both for one"
        )
    profiles = [traced.profile(schedule=schedule) for traced in pair]
    times = [[p.time, *times_at_ends(p.timeline)] for p in profiles]
    ratios = [slow / fast for fast, slow in zip(*times, strict=True)]
    if min(ratios) < by:
        raise AssertionError(_message(pair, profiles, ratios, by))
    return ratios[0]


def _is_traced(kernel: object) -> bool:
    return isinstance(kernel, TracedKernel)


def _message(
    pair: list[TracedKernel], profiles: list[Profile], ratios: list[float], by: float
) -> str:
    from nkijit.passes.profile.units import range_text

    least, likely, most = min(ratios), ratios[0], max(ratios)
    names = [f"@{traced.name}" for traced in pair]
    if names[0] == names[1]:
        names = [f"new {names[0]}", f"old {names[1]}"]
    new, old = names
    if max(ratios) < by:
        first = f"{new} is predicted to be {_times(likely)} as fast as {old}, not {_times(by)}"
    else:
        first = (
            f"whether {new} is {_times(by)} as fast as {old} cannot be told: it is predicted to be "
            f"{_times(likely)}, but what is known of the constants leaves open "
            f"{least:.3g} to {most:.3g}"
        )
    width = max(map(len, names))
    rows = [
        f"  {name:{width}}  {range_text(p.time, p.range.low, p.range.high)}, bound by {p.bound}"
        for name, p in zip(names, profiles, strict=True)
    ]
    help_ = "  = help: "
    if most >= by:
        help_ += f"by={_floor(least)} holds whatever the constants are; "
    help_ += f"print({pair[0].name}.trace(…).advice()), or nkijit diff, says where the time goes"
    speedup = f"  speed-up {likely:.3g} ({least:.3g} to {most:.3g}), predicted for "
    return "\n".join([first, *rows, speedup + pair[0].target.platform, help_])


def _times(ratio: float) -> str:
    return f"{ratio:.3g} times"


def _floor(ratio: float) -> float:
    """Round a ratio down to two decimals."""
    return int(ratio * 100) / 100
