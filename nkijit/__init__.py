"""nkijit: a tracing JIT front-end for the NKI kernel language of AWS Trainium.

`import nkijit as nki` offers what kernels use of `nki`; the distribution nkijit-nki makes
`import nki` mean the same.
"""

from __future__ import annotations

from typing import NoReturn

from nkijit import collectives, compiler, dtype, isa, language, typing
from nkijit.isa import NkiValidationError
from nkijit.jit import jit, run_ranks, simulate
from nkijit.kernel import Kernel, UnsupportedError
from nkijit.names import missing
from nkijit.passes.diagnostics.errors import NkiWarning
from nkijit.spec import TensorSpec
from nkijit.traced import TracedKernel, load

_INSTEAD = {
    "simulate_kernel": "call nki.simulate(kernel)(...)",
    "trace": "use @nki.jit, and kernel.trace(...) for the IR",
    "baremetal": "it runs kernels on a device",
    "benchmark": "it measures kernels on a device",
    "profile": "it measures kernels on a device",
}
"""What older kernels use of `nki`, and what to do about it."""


def __getattr__(name: str) -> NoReturn:
    raise missing("nki", name, globals(), _INSTEAD)


__all__ = [
    "Kernel",
    "NkiValidationError",
    "NkiWarning",
    "TensorSpec",
    "TracedKernel",
    "UnsupportedError",
    "collectives",
    "compiler",
    "dtype",
    "isa",
    "jit",
    "language",
    "load",
    "run_ranks",
    "simulate",
    "typing",
]


def __dir__() -> list[str]:
    """The public names: modules that they come from are not completed."""
    return sorted(__all__)
