"""The target of a kernel, and the number of cores that it is launched on."""

from __future__ import annotations

import os

from nkijit.dialects.core_program import MAX_CORES
from nkijit.dialects.hardware.targets import DEFAULT_PLATFORM, TARGETS, Target, target_named
from nkijit.dialects.hardware.words import nc_version
from nkijit.tracing.tracer import active_tracer

TARGET_VARIABLE = "NEURON_PLATFORM_TARGET_OVERRIDE"
CORES_VARIABLE = "NEURON_LOGICAL_NC_CONFIG"
GRIDS = tuple(range(1, MAX_CORES + 1))
"""The numbers of cores that a kernel can be launched on."""


PlatformTarget = str | nc_version | Target
"""A target as users specify it: its name, its version, or the `target` of a kernel or trace."""


def resolve_target(
    platform_target: PlatformTarget | None = None, default: str = DEFAULT_PLATFORM
) -> Target:
    """Return the target that the argument names, else the environment's, else `default`.

    Names are trn1, inf2, gen2, trn2, gen3, trn3, gen4. Raises ValueError for other names, and for a
    target with changed constants, because kernels are traced for the standard targets only.
    """
    if isinstance(platform_target, nc_version):
        return TARGETS[platform_target]
    if isinstance(platform_target, Target):
        known = TARGETS[platform_target.version]
        if platform_target != known:
            raise ValueError(
                f"the target has other constants than {known.platform}; a kernel is traced for "
                "one of the targets that nkijit knows"
            )
        return known
    if platform_target is not None:
        return target_named(platform_target)
    name = os.environ.get(TARGET_VARIABLE)
    if not name:
        return target_named(default)
    try:
        return target_named(name)
    except ValueError as error:
        raise ValueError(f"{TARGET_VARIABLE}: {error}") from None


def platform_name(platform_target: PlatformTarget) -> str:
    """Return the name of a target, spelled as the user did. Raises as `resolve_target`."""
    target = resolve_target(platform_target)
    return platform_target if isinstance(platform_target, str) else target.platform


def current_target() -> Target:
    """Return the target of the active trace; without a trace, of the environment or the default."""
    tracer = active_tracer()
    return resolve_target() if tracer is None else tracer.target


def cores_of_environment() -> int | None:
    """Return the number of cores that the environment sets for calls without a grid, or None.

    Raises ValueError for a value that is no number of cores. Source: NKI API reference 0.7,
    nki.jit.
    """
    text = os.environ.get(CORES_VARIABLE)
    if not text:
        return None
    if text not in map(str, GRIDS):
        raise ValueError(f"{CORES_VARIABLE} is '{text}', expected {' or '.join(map(str, GRIDS))}")
    return int(text)
