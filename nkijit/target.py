"""Which NeuronCore generation a kernel is for."""

from __future__ import annotations

import os

from nkijit.dialects.hardware.targets import DEFAULT_PLATFORM, TARGETS, Target, target_named
from nkijit.dialects.hardware.words import nc_version
from nkijit.tracer import active_tracer

TARGET_VARIABLE = "NEURON_PLATFORM_TARGET_OVERRIDE"


def resolve_target(
    platform_target: str | nc_version | None = None, default: str = DEFAULT_PLATFORM
) -> Target:
    """The target named by the argument, else by the environment, else the default, trn3.

    Names are trn1, inf2, gen2, trn2, gen3, trn3, gen4. Raises ValueError for others.
    """
    if isinstance(platform_target, nc_version):
        return TARGETS[platform_target]
    if platform_target is not None:
        return target_named(platform_target)
    name = os.environ.get(TARGET_VARIABLE)
    if not name:
        return target_named(default)
    try:
        return target_named(name)
    except ValueError as error:
        raise ValueError(f"{TARGET_VARIABLE}: {error}") from None


def current_target() -> Target:
    """The target of the kernel that is being traced, else the one calls would get now."""
    tracer = active_tracer()
    return resolve_target() if tracer is None else tracer.target
