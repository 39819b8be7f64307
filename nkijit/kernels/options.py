"""Options of `nki.jit` for the vendor's compiler: accepted and stored, without effect here."""

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
two configurations). The other options occur in published kernels of both API generations, but no
reference describes them.
"""


def compiler_options(mode: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the content of `kernel.options`: a mode other than auto, and compiler options."""
    chosen = {} if mode == "auto" else {"mode": mode}
    return MappingProxyType({**chosen, **{n: options[n] for n in COMPILER_OPTIONS if n in options}})


def unknown_options(names: Collection[str], known: Collection[str], mode: str = "auto") -> str:
    """Return the error about unknown options of `nki.jit`; empty if all are known."""
    unknown = [name for name in sorted(names) if name not in known]
    if not unknown:
        return ""
    where = "" if mode == "auto" else f" in mode '{mode}'"
    suggestions = "".join(did_you_mean(name, known) for name in unknown)
    options = ", ".join(sorted(known))
    return f"nki.jit has no options{where}: {', '.join(unknown)}; it has {options}{suggestions}"
