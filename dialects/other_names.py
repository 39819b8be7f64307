"""Names that NumPy, PyTorch, Python and the hardware's documents have for functions of nl."""

from __future__ import annotations

from collections.abc import Container, Iterable

from nkijit.dialects.spelling import did_you_mean, is_misspelling

SYNONYMS: dict[str, str] = {
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "atan": "arctan",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift",
    "div": "divide",
    "dot": "matmul",
    "eq": "equal",
    "expit": "sigmoid",
    "fabs": "abs",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lshift": "left_shift",
    "lt": "less",
    "mm": "matmul",
    "mul": "multiply",
    "ne": "not_equal",
    "neg": "negative",
    "pow": "power",
    "remainder": "mod",
    "rshift": "right_shift",
    "sgn": "sign",
    "sub": "subtract",
    "swish": "silu",
    "true_divide": "divide",
    "truediv": "divide",
}
"""Maps names of other libraries to the names of the same functions in nl."""

AS_OPERATORS: dict[str, str] = {
    "max": "maximum",
    "min": "minimum",
    "sum": "add",
    "prod": "multiply",
}
"""Maps reductions to the operators of two operands that they apply."""

ENGINES: dict[str, str] = {
    "act": "scalar",
    "activation": "scalar",
    "dve": "vector",
    "pe": "tensor",
    "pool": "gpsimd",
    "sp": "sync",
}
"""Maps names of engines in hardware documents to members of `nki.isa.engine`."""

COMPOSED: dict[str, str] = {
    "clamp": "nl.minimum(nl.maximum(t, low), high)",
    "clip": "nl.minimum(nl.maximum(t, low), high)",
    "exp2": "nl.power(2.0, t)",
    "expm1": "nl.subtract(nl.exp(t), 1.0)",
    "log10": "nl.multiply(nl.log(t), 1 / math.log(10))",
    "log1p": "nl.log(nl.add(t, 1.0))",
    "log2": "nl.multiply(nl.log(t), 1 / math.log(2))",
    "relu6": "nl.minimum(nl.relu(t), 6.0)",
    "std": "nl.sqrt(nl.var(t, axis=1))",
}
"""Maps functions of other libraries that nl lacks to the calls that compute them for a tile `t`."""

_DIFFERENT = (
    "acos acosh arange arccos arccosh arcsin arcsinh arctan2 arctanh argmax argmin argsort around "
    "asin asinh atan2 atanh block call celu choose copysign cosh cross cumprod cumsum einsum elu "
    "erfc erfcinv erfi erfinv expi expn floor_divide floordiv fmax fmin frexp fsum glu hardsigmoid "
    "hardswish hardtanh hypot iadd imatmul imod inner isclose isin isinf isnan isqrt ldexp "
    "leaky_relu log_softmax logaddexp logsigmoid logsumexp long lrelu median modf nanmax nanmean "
    "nanmin nanprod nansum nanvar outer pad repeat rint round rrelu selu signbit sinc sinh sort "
    "softmin softshrink softsign tanhshrink threshold tile trace tril triu"
)
_OTHERS = frozenset((*SYNONYMS, *COMPOSED, *_DIFFERENT.split()))
"""Names of functions in NumPy, SciPy, PyTorch or Python that resemble names of nl."""


def operator_meant(name: str, known: Container[str]) -> str:
    """Return the known operator with this name or a synonym; empty if there is none."""
    own = SYNONYMS.get(name, name)
    own = AS_OPERATORS.get(own, own)
    return own if own in known else ""


def member_meant(name: str, members: Container[str]) -> str:
    """Return the member of an enumeration with this name in any case, or with a synonym of it.

    Empty if there is none. Only engines have synonyms.
    """
    word = name.lower()
    own = ENGINES.get(word, word)
    return own if own in members else ""


def function_instead(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about a missing function of nl: a name or a call; may be empty.

    A name of another library suggests only a function with the same results.
    """
    names = list(known)
    own = SYNONYMS.get(name)
    if own in names:
        return f"; did you mean '{own}'?"
    if name in COMPOSED:
        return f"; write {COMPOSED[name]}"
    return "" if name in _OTHERS else did_you_mean(name, names)


def means(name: str, meant: str) -> bool:
    """Return whether a name certainly means another name: as a synonym or a misspelling of it."""
    synonyms = (SYNONYMS.get(name), AS_OPERATORS.get(name), ENGINES.get(name.lower()))
    if meant in synonyms or name.lower() == meant:
        return True
    return is_misspelling(name, meant) and name not in _OTHERS
