"""The assertion that two kernels are equal for all inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nkijit.kernels.kernel import Kernel
from nkijit.testing.kernels import Inputs, label_of, traced_of
from nkijit.traced.kernel import TracedKernel
from nkijit.tracing.tracebacks import without_own_frames

if TYPE_CHECKING:
    from nkijit.passes.prove.proof import Proof


@without_own_frames
def assert_equivalent(
    new: TracedKernel | Kernel,
    old: TracedKernel | Kernel,
    *,
    level: str = "bits",
    inputs: Inputs | None = None,
) -> Proof:
    """Assert that two kernels compute the same results for all inputs, without data.

    Args:
        new, old: traced kernels, or kernels with `inputs`, with arguments and results of the same
            types.
        level: the weakest level that is allowed: "bits", "reassociated" or "rounding".
        inputs: the arguments to trace kernels with.

    Returns:
        The proof, with the strictest level that holds.

    Raises:
        AssertionError: the kernels differ, or there is no proof. The message has the first element
            that differs, and the terms of both kernels where they begin to differ.
        NkiValidationError: a kernel has errors.

    Example: `assert_equivalent(fused.trace(x), plain.trace(x), level="reassociated")`.
    """
    __tracebackhide__ = True
    one, other = (
        traced_of(kernel, None if isinstance(kernel, TracedKernel) else inputs)
        for kernel in (old, new)
    )
    proof = one.equivalent(other, level)
    if not proof.holds(level):
        names = f"{label_of(other)} and {label_of(one)}"
        raise AssertionError(f"{names} are not proven equal at the level {level}\n{proof}")
    return proof
