"""ALU operators and activation functions: the table that all layers use.

Sources: tables "Supported Math Operators by NKI ISA" and "Supported Activation Functions by NKI
ISA" of the public API reference (nki.api.shared), and the NKI 0.4.0 release notes for the operators
that only NeuronCore-v4 has. The interpreter attaches the NumPy function under the same name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from nkijit.dialects.hardware.words import nc_version


class AluKind(Enum):
    """How an engine feeds an operator: bit patterns, or values converted to float32."""

    bitvec = "bitvec"
    arithmetic = "arithmetic"


@dataclass(frozen=True, slots=True)
class AluOp:
    """The properties of an operator as an ALU operator."""

    kind: AluKind
    arity: int = 2
    reducible: bool = False
    """True when `tensor_reduce` accepts the operator."""
    since: nc_version = nc_version.gen2


@dataclass(frozen=True, slots=True)
class ActivationFunction:
    """The properties of an operator as an activation function of the Scalar Engine."""

    low: float = -math.inf
    high: float = math.inf
    """The upper end of the valid inputs [low, high]; other inputs give invalid results."""
    symmetric: bool = False
    """True when the valid inputs are [low, high] and [-high, -low]."""
    parametric: bool = False
    """True when the function reads the argument `relu_param`."""
    table: str | None = None
    """The name of the table that the Scalar Engine loads, if several functions share it; else None.

    Not documented. Published profiles of NeuronCore-v3 show that copy, square and rsqrt share a
    table, and that sigmoid, silu, exp and softplus each have their own.
    """


@dataclass(frozen=True, slots=True)
class Operator:
    """A name that instructions take as an operator: `nl.add`, `nl.gelu`, `nl.bypass`.

    A name may denote an ALU operator, an activation function, or both.
    """

    name: str
    alu: AluOp | None = None
    activation: ActivationFunction | None = None


_UNRESTRICTED = ActivationFunction()

_ALU: dict[str, AluOp] = {
    "invert": AluOp(AluKind.bitvec, arity=1),
    "bitwise_and": AluOp(AluKind.bitvec, reducible=True),
    "bitwise_or": AluOp(AluKind.bitvec, reducible=True),
    "bitwise_xor": AluOp(AluKind.bitvec, reducible=True),
    "left_shift": AluOp(AluKind.bitvec),
    "right_shift": AluOp(AluKind.bitvec),
    "add": AluOp(AluKind.arithmetic, reducible=True),
    "subtract": AluOp(AluKind.arithmetic, reducible=True),
    "multiply": AluOp(AluKind.arithmetic, reducible=True),
    "maximum": AluOp(AluKind.arithmetic, reducible=True),
    "minimum": AluOp(AluKind.arithmetic, reducible=True),
    "equal": AluOp(AluKind.arithmetic),
    "not_equal": AluOp(AluKind.arithmetic),
    "greater_equal": AluOp(AluKind.arithmetic),
    "greater": AluOp(AluKind.arithmetic),
    "less_equal": AluOp(AluKind.arithmetic),
    "less": AluOp(AluKind.arithmetic),
    "logical_and": AluOp(AluKind.arithmetic, reducible=True),
    "logical_or": AluOp(AluKind.arithmetic, reducible=True),
    "logical_xor": AluOp(AluKind.arithmetic, reducible=True),
    "power": AluOp(AluKind.arithmetic),
    "abs_max": AluOp(AluKind.arithmetic, since=nc_version.gen4),
    "abs_min": AluOp(AluKind.arithmetic, since=nc_version.gen4),
    "abs": AluOp(AluKind.arithmetic, arity=1),
    "square": AluOp(AluKind.arithmetic, arity=1, since=nc_version.gen4),
    "relu": AluOp(AluKind.arithmetic, arity=1, since=nc_version.gen4),
    "rsqrt": AluOp(AluKind.arithmetic, arity=1),
    "reciprocal": AluOp(AluKind.arithmetic, arity=1),
}

LOGICAL = {
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
}
"""The operators on truth values that correspond to operators on bits."""

SHIFTS = ("left_shift", "right_shift")
"""Operators whose second operand is a number of bits."""

_ACTIVATIONS: dict[str, ActivationFunction] = {
    "copy": ActivationFunction(table="square"),
    "square": ActivationFunction(table="square"),
    "sigmoid": _UNRESTRICTED,
    "relu": _UNRESTRICTED,
    "prelu": ActivationFunction(parametric=True),
    "gelu": _UNRESTRICTED,
    "gelu_dx": _UNRESTRICTED,
    "gelu_apprx_tanh": _UNRESTRICTED,
    "gelu_apprx_sigmoid": _UNRESTRICTED,
    "gelu_apprx_sigmoid_dx": _UNRESTRICTED,
    "silu": _UNRESTRICTED,
    "silu_dx": _UNRESTRICTED,
    "tanh": _UNRESTRICTED,
    "softplus": _UNRESTRICTED,
    "mish": _UNRESTRICTED,
    "erf": _UNRESTRICTED,
    "erf_dx": _UNRESTRICTED,
    "exp": _UNRESTRICTED,
    "log": ActivationFunction(2.0**-64, 2.0**64),
    "sin": ActivationFunction(-math.pi, math.pi),
    "arctan": ActivationFunction(-math.pi / 2, math.pi / 2),
    "sqrt": ActivationFunction(2.0**-116, 2.0**118),
    "rsqrt": ActivationFunction(2.0**-87, 2.0**97, table="square"),
    "reciprocal": ActivationFunction(2.0**-42, 2.0**42, symmetric=True),
    "sign": _UNRESTRICTED,
    "abs": _UNRESTRICTED,
}

BYPASS = "bypass"
"""The name of "no operation" in a tensor-scalar stage."""

AVERAGE = "average"
"""The name of the mean, a reduction that only `tensor_partition_reduce` has."""

COMPARISONS = ("equal", "not_equal", "greater_equal", "greater", "less_equal", "less")
"""Operators that compare two numbers and give 1.0 or 0.0."""

OPERATORS: dict[str, Operator] = {
    name: Operator(name, _ALU.get(name), _ACTIVATIONS.get(name))
    for name in dict.fromkeys((*_ALU, *_ACTIVATIONS, AVERAGE, BYPASS))
}
"""Every operator by name, ALU operators first, in the order of the public tables."""
