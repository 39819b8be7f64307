"""`nki.compiler`: configuration of the vendor's compiler for a kernel, since NKI 0.7.

nkijit does not use it: `nki.jit` accepts the two configurations and stores them in
`kernel.options`; results are the same. Example:

    @nki.jit(compile_config=CompileConfig(barrier_check=True))
    def kernel(x): ...

Source: NKI API reference 0.7, nki.compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import NoReturn

from nkijit.tracing.dtype_names import missing


class AddressRotation(Enum):
    """Whether the compiler may move tiles to other addresses (`nki.compiler.AddressRotation`)."""

    AUTO = auto()
    """Tiles without a fixed address may be moved."""
    ENABLE = auto()
    """All tiles may be moved."""
    DISABLE = auto()
    """No tile may be moved."""


@dataclass(frozen=True, slots=True)
class CompileConfig:
    """Compiler options after tracing. None means the compiler's default."""

    address_rotation: AddressRotation | None = None
    """Whether the compiler may move tiles to other addresses."""
    non_ssa_legalization: bool | None = None
    """Rewrite tiles that are written several times."""
    dead_code_elim: bool | None = None
    """Remove instructions whose results are never read."""
    barrier_check: bool | None = None
    """Check the barriers between cores."""
    prefetch_auto: bool | None = None
    """Prefetch loads into a ring buffer in SBUF."""
    nki_alloc_fallback: bool | None = None
    """Use another allocator when NKI's finds no addresses."""


@dataclass(frozen=True, slots=True)
class SpecializationConfig:
    """Options for tracing. None means the compiler's default."""

    allow_nested_config_override: bool | None = None
    """Allow a kernel that another kernel calls to have its own configuration, with a warning."""


_BINARIES = "it builds binaries for devices; kernels run with @nki.jit and nki.simulate(kernel)"
_INSTEAD = {name: _BINARIES for name in ("compile_kernel", "kernel_builder")}


def __getattr__(name: str) -> NoReturn:
    raise missing("nki.compiler", name, globals(), _INSTEAD)


__all__ = ["AddressRotation", "CompileConfig", "SpecializationConfig"]
