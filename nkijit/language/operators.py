"""Operators as kernels name them: `nl.add`, `nl.gelu`, `nl.bypass`, …"""

from __future__ import annotations

from typing import Any, NoReturn

from nkijit.dialects.operators import OPERATORS
from nkijit.dialects.rule_texts import UNSUPPORTED
from nkijit.tracer import tracer_for


class Operator:
    """An operator or activation function, passed as `op=` to instructions.

    Calling one on tiles (`nl.add(x, y)`) is refused: use the instruction that takes it.
    """

    __slots__ = ("__name__", "nki_operator")

    def __init__(self, name: str):
        self.__name__ = name
        self.nki_operator = name

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        tracer_for(f"nl.{self.nki_operator}").fail(
            UNSUPPORTED,
            f"nl.{self.nki_operator}",
            "calling an operator on tiles is not modelled yet",
            f"pass op=nl.{self.nki_operator} to an instruction, e.g. nisa.tensor_tensor, "
            "nisa.tensor_scalar or nisa.activation",
        )

    def __repr__(self) -> str:
        return f"nl.{self.nki_operator}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (operator_named, (self.nki_operator,))


def operator_named(name: str) -> Operator:
    """The one operator object called `name`."""
    return _OPERATORS[name]


_OPERATORS = {name: Operator(name) for name in OPERATORS}

# Written out, because these are names that authors import and editors complete.
invert = _OPERATORS["invert"]
bitwise_and = _OPERATORS["bitwise_and"]
bitwise_or = _OPERATORS["bitwise_or"]
bitwise_xor = _OPERATORS["bitwise_xor"]
left_shift = _OPERATORS["left_shift"]
right_shift = _OPERATORS["right_shift"]
add = _OPERATORS["add"]
subtract = _OPERATORS["subtract"]
multiply = _OPERATORS["multiply"]
maximum = _OPERATORS["maximum"]
minimum = _OPERATORS["minimum"]
equal = _OPERATORS["equal"]
not_equal = _OPERATORS["not_equal"]
greater_equal = _OPERATORS["greater_equal"]
greater = _OPERATORS["greater"]
less_equal = _OPERATORS["less_equal"]
less = _OPERATORS["less"]
logical_and = _OPERATORS["logical_and"]
logical_or = _OPERATORS["logical_or"]
logical_xor = _OPERATORS["logical_xor"]
power = _OPERATORS["power"]
abs_max = _OPERATORS["abs_max"]
abs_min = _OPERATORS["abs_min"]
abs = _OPERATORS["abs"]
square = _OPERATORS["square"]
relu = _OPERATORS["relu"]
rsqrt = _OPERATORS["rsqrt"]
reciprocal = _OPERATORS["reciprocal"]
copy = _OPERATORS["copy"]
sigmoid = _OPERATORS["sigmoid"]
prelu = _OPERATORS["prelu"]
gelu = _OPERATORS["gelu"]
gelu_dx = _OPERATORS["gelu_dx"]
gelu_apprx_tanh = _OPERATORS["gelu_apprx_tanh"]
gelu_apprx_sigmoid = _OPERATORS["gelu_apprx_sigmoid"]
gelu_apprx_sigmoid_dx = _OPERATORS["gelu_apprx_sigmoid_dx"]
silu = _OPERATORS["silu"]
silu_dx = _OPERATORS["silu_dx"]
tanh = _OPERATORS["tanh"]
softplus = _OPERATORS["softplus"]
mish = _OPERATORS["mish"]
erf = _OPERATORS["erf"]
erf_dx = _OPERATORS["erf_dx"]
exp = _OPERATORS["exp"]
log = _OPERATORS["log"]
sin = _OPERATORS["sin"]
arctan = _OPERATORS["arctan"]
sqrt = _OPERATORS["sqrt"]
sign = _OPERATORS["sign"]
bypass = _OPERATORS["bypass"]
average = _OPERATORS["average"]

__all__ = [
    "abs",
    "abs_max",
    "abs_min",
    "add",
    "arctan",
    "average",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bypass",
    "copy",
    "equal",
    "erf",
    "erf_dx",
    "exp",
    "gelu",
    "gelu_apprx_sigmoid",
    "gelu_apprx_sigmoid_dx",
    "gelu_apprx_tanh",
    "gelu_dx",
    "greater",
    "greater_equal",
    "invert",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mish",
    "multiply",
    "not_equal",
    "power",
    "prelu",
    "reciprocal",
    "relu",
    "right_shift",
    "rsqrt",
    "sigmoid",
    "sign",
    "silu",
    "silu_dx",
    "sin",
    "softplus",
    "sqrt",
    "square",
    "subtract",
    "tanh",
]
