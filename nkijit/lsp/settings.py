"""The settings of the server: `initializationOptions` of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from nkijit.dialects.spelling import did_you_mean
from nkijit.releases.table import releases

RUN = ("change", "save", "never")


@dataclass(frozen=True)
class Settings:
    """Settings of the server. The fields have the same names as in `initializationOptions`."""

    run: str = "change"
    """When files are executed: after each `change`, on opening and `save`, or `never`."""
    delay: float = 0.3
    """Seconds without a change before a file is analysed."""
    timeLimit: float = 30.0  # noqa: N815, as in the protocol
    """The time limit of an analysis, in seconds."""
    memoryLimit: int = 8192  # noqa: N815
    """The memory limit of an analysis, in MiB."""
    inlayHints: bool = True  # noqa: N815
    codeLens: bool = True  # noqa: N815
    portable: bool | None = None
    """Whether kernels are checked against a release of NKI; None: the project decides."""
    nki: str | None = None
    """The version of this release; None: the project decides."""


def settings_of(options: object) -> tuple[Settings, list[str]]:
    """Read an editor's settings. Returns the settings, and messages about ignored invalid settings.

    Example: `settings_of({"run": "save"})` is `(Settings(run="save"), [])`.
    """
    settings = Settings()
    if options is None:
        return settings, []
    if not isinstance(options, Mapping):
        return settings, [f"initializationOptions: expected an object, got {options!r}"]
    names = [f.name for f in fields(Settings)]
    wrong: list[str] = []
    for name, value in cast("Mapping[str, Any]", options).items():
        if name not in names:
            wrong.append(f"there is no option '{name}'{did_you_mean(str(name), names)}")
        elif (expected := _expected(name, getattr(settings, name), value)) is not None:
            wrong.append(f"option '{name}': expected {expected}, got {value!r}")
        else:
            settings = replace(settings, **{name: value})
    return settings, wrong


def _expected(name: str, default: Any, value: Any) -> str | None:
    """Describe the expected value; None if `value` is valid."""
    if name == "run":
        return None if value in RUN else " or ".join(RUN)
    if name == "portable":
        return None if value is None or isinstance(value, bool) else "true, false or null"
    if name == "nki":
        known = [release.version for release in releases()]
        return None if value is None or value in known else " or ".join(known)
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "true or false"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    least = 0.0 if name == "delay" else 1.0
    return None if is_number and least <= value <= 86400 else f"a number of at least {least:g}"
