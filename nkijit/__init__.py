"""nkijit: a tracing JIT front-end for the NKI kernel language of AWS Trainium.

`import nkijit as nki` offers what kernels use of `nki`; the distribution nkijit-nki makes
`import nki` mean the same.
"""

from __future__ import annotations

from nkijit import isa, language
from nkijit.isa import NkiValidationError
from nkijit.jit import Kernel, UnsupportedError, jit, simulate
from nkijit.spec import TensorSpec
from nkijit.traced import TracedKernel, load

__all__ = [
    "Kernel",
    "NkiValidationError",
    "TensorSpec",
    "TracedKernel",
    "UnsupportedError",
    "isa",
    "jit",
    "language",
    "load",
    "simulate",
]
