"""nkijit: a tracing JIT front-end for the NKI kernel language of AWS Trainium.

`import nkijit as nki` provides the API of `nki`. With the distribution nkijit-nki, `import nki`
does as well.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from nkijit.version import __version__ as __version__

if TYPE_CHECKING:
    from nkijit import collectives, compiler, dtype, isa, language, typing
    from nkijit.discovery.examples import example
    from nkijit.isa import NkiValidationError
    from nkijit.kernels.arguments import TensorSpec
    from nkijit.kernels.entry import jit, run_ranks, simulate
    from nkijit.kernels.kernel import Kernel, UnsupportedError
    from nkijit.kernels.stepping import value_of
    from nkijit.passes.diagnostics.errors import NkiWarning
    from nkijit.sweeps.costs import Cost, cost
    from nkijit.sweeps.found import Sweep
    from nkijit.sweeps.sweeping import sweep
    from nkijit.traced.kernel import TracedKernel, load, load_record

__all__ = [
    "Cost",
    "Kernel",
    "NkiValidationError",
    "NkiWarning",
    "Sweep",
    "TensorSpec",
    "TracedKernel",
    "UnsupportedError",
    "collectives",
    "compiler",
    "cost",
    "dtype",
    "example",
    "isa",
    "jit",
    "language",
    "load",
    "load_record",
    "run_ranks",
    "simulate",
    "sweep",
    "typing",
    "value_of",
]

_HOMES = {
    "Cost": "sweeps.costs",
    "Kernel": "kernels.kernel",
    "NkiValidationError": "isa",
    "NkiWarning": "passes.diagnostics.errors",
    "Sweep": "sweeps.found",
    "TensorSpec": "kernels.arguments",
    "TracedKernel": "traced.kernel",
    "UnsupportedError": "kernels.kernel",
    "cost": "sweeps.costs",
    "example": "discovery.examples",
    "jit": "kernels.entry",
    "load": "traced.kernel",
    "load_record": "traced.kernel",
    "run_ranks": "kernels.entry",
    "simulate": "kernels.entry",
    "sweep": "sweeps.sweeping",
    "value_of": "kernels.stepping",
}
"""The defining module of each public name that is not itself a module."""

_INSTEAD = {
    "simulate_kernel": "call nki.simulate(kernel)(...)",
    "trace": "use @nki.jit, and kernel.trace(...) for the IR",
    "baremetal": "it runs kernels on a device",
    "benchmark": "it measures kernels on a device",
    "profile": "it measures kernels on a device",
}
"""Names of `nki` that older kernels use, each with the replacement, for error messages."""


if not TYPE_CHECKING:  # type checkers would accept any name

    def __getattr__(name: str) -> object:
        # Imported on first use: commands that do not need the API start faster.
        if name not in __all__:
            from nkijit.tracing.dtype_names import missing

            raise missing("nki", name, _HOMES, _INSTEAD)
        from nkijit.dialects.collection import lasting

        home = _HOMES.get(name)
        with lasting():
            module = import_module(f"nkijit.{home or name}")
        found = globals()[name] = module if home is None else getattr(module, name)
        return found

    def __dir__() -> list[str]:
        # Only public names, for completion in editors and notebooks.
        return sorted(__all__)
