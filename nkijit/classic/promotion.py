"""Data types of results, by the type promotion rules of the classic API.

Source: NKI API reference 2.26, nki.api.shared, "NKI Type Promotion".
"""

from __future__ import annotations

from typing import Any

from nkijit.classic.tensors import Tensor
from nkijit.tensor import NkiTensor


def promoted(*operands: Any) -> Any:
    """The data type that tensors among the operands have together."""
    for operand in operands:
        if isinstance(operand, (Tensor, NkiTensor)):
            return operand.dtype
    return "float32"
