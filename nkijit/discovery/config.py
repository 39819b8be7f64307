"""`[tool.nkijit]` of the nearest pyproject.toml: targets and arguments of kernels.

    [tool.nkijit]
    target = "trn2"
    suppress = ["small-dma"]
    portable = true
    nki = "0.6"

    [tool.nkijit.kernels."kernels/softmax.py:softmax"]
    arguments = { x = "128x512:bfloat16", scale = 2.0 }

Strings among arguments have the syntax of `-a` (see `argument_text`). A list of tables gives
several sets of arguments. Paths are relative to the folder of pyproject.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

from nkijit.dialects.hardware.targets import target_named
from nkijit.dialects.rule_texts import RULE_TEXTS
from nkijit.dialects.spelling import did_you_mean
from nkijit.discovery.argument_text import written_argument
from nkijit.discovery.errors import UsageError
from nkijit.passes.diagnostics.denial import Denial
from nkijit.releases.table import release
from nkijit.tracing.target import GRIDS

FILE = "pyproject.toml"


class ConfigError(ValueError):
    """An invalid `[tool.nkijit]`. The message names the file and the table."""


@dataclass(frozen=True)
class KernelConfig:
    """The configuration of one kernel."""

    arguments: tuple[Mapping[str, Any], ...] = ()
    """The kernel's sets of arguments as in the file: strings are not parsed."""
    target: str | None = None
    cores: int | None = None


@dataclass(frozen=True)
class Config:
    """The configuration of a project's kernels."""

    folder: Path = Path()
    target: str | None = None
    suppress: frozenset[str] = frozenset()
    """Ids of suppressed warnings."""
    deny: Denial = field(default_factory=Denial)
    """Warnings that count as errors."""
    portable: bool = False
    """Whether kernels are checked against a release of NKI, as with `--portable`."""
    nki: str | None = None
    """The version of this release; None for the newest."""
    kernels: Mapping[tuple[Path, str | None], KernelConfig] = field(
        default_factory=dict[tuple[Path, str | None], KernelConfig]
    )
    """The configuration of each kernel, by (file, kernel's name).

    The name is None in an entry for the only kernel of a file.
    """

    def of(self, path: Path, name: str, *, alone: bool) -> KernelConfig:
        """Return the configuration of a kernel.

        `alone`: whether this is the only kernel of the file, so that an entry without a kernel name
        applies.
        """
        file = path.resolve()
        found = self.kernels.get((file, name))
        if found is None and alone:
            found = self.kernels.get((file, None))
        return found or KernelConfig()

    def arguments(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """Parse one set of arguments. Raises ArgumentTextError."""
        return {name: written_argument(value, self.folder) for name, value in written.items()}


def config_for(path: Path) -> Config:
    """Return the configuration for a file or folder.

    This is the `[tool.nkijit]` of the nearest pyproject.toml that has one, in the folder of the
    file or above. Raises ConfigError.
    """
    path = path.resolve()
    for folder in (path, *path.parents) if path.is_dir() else path.parents:
        found = _read(folder)
        if found is not None:
            return found
    return Config()


@cache
def _read(folder: Path) -> Config | None:
    file = folder / FILE
    if not file.is_file():
        return None
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("nkijit")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: {error}") from None
    return None if table is None else _Reader(file).read(table)


_KEYS = ("target", "suppress", "deny", "portable", "nki", "kernels")


class _Reader:
    def __init__(self, file: Path):
        self._file = file

    def read(self, table: Any) -> Config:
        where = "[tool.nkijit]"
        known = self._table(table, where, _KEYS)
        target = self._target(known.get("target"), where)
        suppress = self._rules(known.get("suppress", []))
        deny = self._denial(known.get("deny", []))
        portable = known.get("portable", False)
        if not isinstance(portable, bool):
            raise self._fail(f"{where} portable", f"expected true or false, got {portable!r}")
        nki = self._release(known.get("nki"))
        kernels: dict[tuple[Path, str | None], KernelConfig] = {}
        for key, value in self._table(known.get("kernels", {}), "[tool.nkijit.kernels]").items():
            try:
                path, name = split_kernel(key)
            except UsageError as error:
                raise self._fail("[tool.nkijit.kernels]", str(error)) from None
            if not (self._file.parent / path).is_file():
                raise self._fail(f'[tool.nkijit.kernels."{key}"]', f"there is no file {path}")
            of = (self._file.parent / path).resolve(), name
            kernels[of] = self._kernel(value, f'[tool.nkijit.kernels."{key}"]')
        return Config(self._file.parent, target, suppress, deny, portable, nki, kernels)

    def _fail(self, where: str, message: str) -> ConfigError:
        return ConfigError(f"{self._file}: {where}: {message}")

    def _table(
        self, value: Any, where: str, known: Sequence[str] | None = None
    ) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._fail(where, f"expected a table, got {value!r}")
        table = cast("dict[str, Any]", value)
        for key in table if known is not None else ():
            if key not in (known or ()):
                keys = ", ".join(known or ())
                near = did_you_mean(key, known or ())
                raise self._fail(where, f"there is no key '{key}'; there are {keys}{near}")
        return table

    def _target(self, value: Any, where: str) -> str | None:
        if value is None:
            return None
        try:
            target_named(value)
        except (ValueError, TypeError, AttributeError) as error:
            raise self._fail(f"{where} target", str(error)) from None
        return str(value)

    def _release(self, value: Any) -> str | None:
        try:
            return None if value is None else release(value).version
        except ValueError as error:
            raise self._fail("[tool.nkijit] nki", str(error)) from None

    def _rules(self, value: Any) -> frozenset[str]:
        where = "[tool.nkijit] suppress"
        if not isinstance(value, list):
            raise self._fail(where, f"expected a list of rules, got {value!r}")
        for rule in cast("list[Any]", value):
            text = RULE_TEXTS.get(rule) if isinstance(rule, str) else None
            if text is None:
                near = did_you_mean(str(rule), RULE_TEXTS)
                raise self._fail(where, f"there is no rule {rule!r}{near}")
            if text.severity == "error":
                raise self._fail(where, f"{rule} is an error; only warnings can be suppressed")
        return frozenset(cast("list[str]", value))

    def _denial(self, value: Any) -> Denial:
        where = "[tool.nkijit] deny"
        if not isinstance(value, list):
            raise self._fail(where, f"expected a list of groups or rules, got {value!r}")
        try:
            return Denial(tuple(map(str, cast("list[Any]", value))))
        except ValueError as error:
            raise self._fail(where, str(error)) from None

    def _kernel(self, value: Any, where: str) -> KernelConfig:
        table = self._table(value, where, ("arguments", "target", "cores"))
        written: Any = table.get("arguments", [])
        sets: Iterable[Any] = cast("list[Any]", written) if isinstance(written, list) else [written]
        arguments = tuple(self._table(each, f"{where} arguments") for each in sets)
        cores = table.get("cores")
        if cores is not None and cores not in GRIDS:
            raise self._fail(f"{where} cores", f"expected {' or '.join(map(str, GRIDS))}")
        return KernelConfig(arguments, self._target(table.get("target"), where), cores)


def split_kernel(text: str) -> tuple[str, str | None]:
    r"""Split `FILE:KERNEL` into path and name. The name is None if missing: `C:\k.py` is a path.

    Raises UsageError if the text after the colon is no name.
    """
    path, colon, name = text.rpartition(":")
    if colon and path and name.isidentifier():
        return path, name
    if colon and (path == "-" or path.endswith((".py", ".mlir"))) and not set("/\\") & {*name}:
        problem = f"'{name}' is not the name of a kernel" if name else "there is no name after ':'"
        raise UsageError(f"{text}: {problem}; write {path}:KERNEL, or {path} alone")
    return text, None
