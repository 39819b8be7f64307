"""Rules about the Python of a kernel, which runs while the kernel is traced."""

from __future__ import annotations

from nkijit.dialects.rule_texts.registry import rule

UNKNOWN_NAME = rule(
    "unknown-name",
    "python",
    "A name in a kernel is defined: a variable, or a member of the module or the object before the "
    "dot.",
    "correct the spelling, import the name, or assign the variable before this line",
    "Python language reference, naming and binding; NKI API reference",
)
CALL_ARGUMENTS = rule(
    "call-arguments",
    "python",
    "A call passes the arguments that the signature of the function names, each of them once.",
    "pass the arguments of the signature, each of them once",
    "NKI API reference",
)
MIXED_APIS = rule(
    "mixed-apis",
    "python",
    "A kernel calls functions of the API that its nki.jit is from: nki, or neuronxcc.nki.",
    "import nki.jit, nl and nisa from one API",
    "NKI API reference; NKI API reference 2.26",
)
PYTHON_ERROR = rule(
    "python-error",
    "python",
    "The Python code of a kernel, and of the functions that it calls, raises no exception while "
    "the kernel is traced.",
    "the kernel's Python runs while it is traced, with the arguments of this call: correct the "
    "line, or pass arguments for which it raises nothing",
    "NKI programming model",
)
