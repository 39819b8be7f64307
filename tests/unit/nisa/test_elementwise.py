from __future__ import annotations

import pytest
from nisa.harness import C, D, Form, X, Y, Z, Call, arranged, call, each_form

CALLS = [
    call("tensor_tensor", dst=Z, data1=X, data2=Y, op="subtract"),
    call("tensor_scalar", dst=Z, data=X, op0="subtract", operand0=C),
    call("tensor_scalar", dst=Z, data=X, op0="multiply", operand0=C, op1="add", operand1=D),
    call("scalar_tensor_tensor", dst=Z, data=X, op0="multiply", operand0=C, op1="add", operand1=Y),
    call("reciprocal", dst=Z, data=X),
]


@each_form(CALLS)
def test_forms_of_operands(made: Call, form: Form, dtype: str) -> None:
    form.build(made, dtype).check()
