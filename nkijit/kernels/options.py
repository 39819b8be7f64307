"""Options of `nki.jit` that speak to the vendor's compiler: taken, kept, without effect here."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from nkijit.dialects.spelling import did_you_mean

COMPILER_OPTIONS = (
    "additional_compile_opt",
    "compile_config",
    "debug_kernel",
    "experimental_flags",
    "show_compiler_tb",
    "specialization_config",
    "trace_time_unroll_builtin_range",
)
"""Options that only the vendor's compiler reads.

Sources: NKI API reference 2.26, nki.baremetal (`additional_compile_opt`), and 2.33, nki.jit (the
two configurations); published kernels of both API generations, for no reference describes them,
the others.
"""


def compiler_options(mode: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What `kernel.options` has of options: a mode that was chosen, and what the compiler reads."""
    kept = {} if mode == "auto" else {"mode": mode}
    return MappingProxyType({**kept, **{n: given[n] for n in COMPILER_OPTIONS if n in given}})


def unknown_options(given: Collection[str], known: Collection[str], mode: str = "auto") -> str:
    """What is wrong with options of `nki.jit` that are not known; empty if nothing."""
    unknown = [name for name in sorted(given) if name not in known]
    if not unknown:
        return ""
    where = "" if mode == "auto" else f" in mode '{mode}'"
    meant = "".join(did_you_mean(name, known) for name in unknown)
    options = ", ".join(sorted(known))
    return f"nki.jit has no options{where}: {', '.join(unknown)}; it has {options}{meant}"
