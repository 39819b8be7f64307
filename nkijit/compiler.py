"""`nki.compiler`: what a kernel tells the vendor's compiler about itself, since NKI 0.7.

Nothing is compiled here: `nki.jit` takes the two configurations, keeps them on `kernel.options`,
and computes the same. Example:

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
    """It may, but for tiles whose address is fixed."""
    ENABLE = auto()
    """It may move all of them."""
    DISABLE = auto()
    """It may move none."""


@dataclass(frozen=True, slots=True)
class CompileConfig:
    """Options for the compiler after tracing; None leaves one to the compiler."""

    address_rotation: AddressRotation | None = None
    """Whether tiles may be moved."""
    non_ssa_legalization: bool | None = None
    """Rewrite tiles that are written several times."""
    dead_code_elim: bool | None = None
    """Remove what nothing reads."""
    barrier_check: bool | None = None
    """Check the barriers between cores."""
    prefetch_auto: bool | None = None
    """Give loads a ring of SBUF that runs ahead."""
    nki_alloc_fallback: bool | None = None
    """Let another allocator try what NKI's finds no addresses for."""


@dataclass(frozen=True, slots=True)
class SpecializationConfig:
    """Options for tracing; None leaves one to the compiler."""

    allow_nested_config_override: bool | None = None
    """A kernel inside another one may have another configuration, with a warning."""


_BINARIES = "it builds binaries for devices; kernels run with @nki.jit and nki.simulate(kernel)"
_INSTEAD = {name: _BINARIES for name in ("compile_kernel", "kernel_builder")}


def __getattr__(name: str) -> NoReturn:
    raise missing("nki.compiler", name, globals(), _INSTEAD)


__all__ = ["AddressRotation", "CompileConfig", "SpecializationConfig"]
