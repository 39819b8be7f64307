"""The same computation in both generations of the API: the same numbers, and the same IR.

Names of values and the order of allocations are the authors' own, and that an allocation is
`masked` says how its author has cropped it; everything else is compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nkijit as nki
import nkijit.classic as classic
import nkijit.classic.isa as cisa
import nkijit.classic.language as cl
import nkijit.isa as nisa
import nkijit.language as nl

Array = np.ndarray[Any, Any]
Body = Callable[..., Any]


def canonical(text: str) -> list[str]:
    """Return the lines of a kernel without names; values are numbered in the order of use.

    Declarations have no effect at run time, so each is printed before its first use. The API
    generation is omitted.
    """
    text = text.replace(" classic {", " {")
    declared: dict[str, str] = {}
    lines: list[str] = []
    numbers: dict[str, str] = {}

    def use(match: re.Match[str]) -> str:
        name = match[0]
        if name not in numbers:
            declaration = declared.get(name)
            if declaration is not None:
                line = re.sub(r"%[\w.$-]+", use, declaration.split(" = ", 1)[1])
                numbers[name] = f"%{len(numbers)}"
                lines.append(f"{numbers[name]} = {line}")
            else:
                numbers[name] = f"%{len(numbers)}"
        return numbers[name]

    for line in map(str.strip, text.splitlines()):
        if re.match(r"%\S+ = (nki\.(alloc|view)|arith\.constant)", line):
            declared[line.split(" ", 1)[0]] = line.replace(" {masked}", "")
        else:
            lines.append(re.sub(r"%[\w.$-]+", use, re.sub(r"@\w+", "@kernel", line)))
    return lines


# ------------------------------------------------------------------ pairs


def activation_current(a: Any, b: Any) -> Any:
    out = nl.ndarray(a.shape, dtype=nl.bfloat16, buffer=nl.shared_hbm)
    x, bias = nl.load(a), nl.load(b)
    y = nl.ndarray(a.shape, dtype=nl.bfloat16)
    nisa.activation(y, nl.exp, x, bias=bias, scale=0.5)
    nl.store(out, y)
    return out


def activation_classic(a: Any, b: Any) -> Any:
    out = cl.ndarray(a.shape, dtype=cl.bfloat16, buffer=cl.shared_hbm)
    p, f = cl.mgrid[0 : a.shape[0], 0 : a.shape[1]]
    x, bias = cl.load(a[p, f]), cl.load(b)
    y = cisa.activation(np.exp, x[p, f], bias=bias, scale=0.5, dtype=cl.bfloat16)
    cl.store(out[p, f], y)
    return out


def reduction_current(a: Any, b: Any) -> Any:
    out = nl.ndarray((a.shape[0], 2), dtype=a.dtype, buffer=nl.shared_hbm)
    x = nl.load(a)
    y = nl.ndarray((a.shape[0], 2), dtype=a.dtype)
    nisa.tensor_reduce(y[:, 0:1], nl.add, x, axis=1)
    nisa.tensor_reduce(y[:, 1:2], nl.maximum, x, axis=1, negate=True)
    nl.store(out, y)
    return out


def reduction_classic(a: Any, b: Any) -> Any:
    out = cl.ndarray((a.shape[0], 2), dtype=a.dtype, buffer=cl.shared_hbm)
    x = cl.load(a)
    p, f = cl.arange(a.shape[0])[:, None], cl.arange(1)[None, :]
    y = cl.ndarray((a.shape[0], 2), dtype=a.dtype)
    y[p, f] = cisa.tensor_reduce(np.add, x, axis=[1])
    y[p, f + 1] = cisa.tensor_reduce(np.max, x, axis=[1], negate=True)
    cl.store(out, y)
    return out


def masked_current(a: Any, b: Any) -> Any:
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    rows = a.shape[0]
    for start in range(0, rows, 24):
        n = min(24, rows - start)
        x = nl.ndarray((24, a.shape[1]), dtype=a.dtype)
        y = nl.ndarray((24, a.shape[1]), dtype=a.dtype)
        nisa.dma_copy(x[0:n], a[start : start + n])
        nisa.tensor_scalar(y[0:n], x[0:n], nl.multiply, 2.0, op1=nl.add, operand1=1.0)
        nisa.dma_copy(out[start : start + n], y[0:n])
    return out


def masked_classic(a: Any, b: Any) -> Any:
    out = cl.ndarray(a.shape, dtype=a.dtype, buffer=cl.shared_hbm)
    rows = a.shape[0]
    p, f = cl.arange(24)[:, None], cl.arange(a.shape[1])[None, :]
    for i in cl.affine_range(-(-rows // 24)):
        inside = i * 24 + p < rows
        x = cl.load(a[i * 24 + p, f], mask=inside)
        y = cisa.tensor_scalar(x, np.multiply, 2.0, op1=np.add, operand1=1.0, mask=inside)
        cl.store(out[i * 24 + p, f], y, mask=inside)
    return out


def matmul_current(a: Any, b: Any) -> Any:
    steps = a.shape[0] // 16
    out = nl.ndarray((a.shape[1], a.shape[1]), dtype=nl.float32, buffer=nl.shared_hbm)
    total = nl.ndarray(out.shape, dtype=nl.float32, buffer=nl.psum)
    for k in range(steps):
        x, y = nl.load(a[k * 16 : k * 16 + 16]), nl.load(a[k * 16 : k * 16 + 16])
        nisa.nc_matmul(total, x, y, accumulate=k > 0)
    result = nl.ndarray(out.shape, dtype=nl.float32)
    nisa.tensor_copy(result, total)
    nl.store(out, result)
    return out


def matmul_classic(a: Any, b: Any) -> Any:
    steps = a.shape[0] // 16
    out = cl.ndarray((a.shape[1], a.shape[1]), dtype=cl.float32, buffer=cl.shared_hbm)
    total = cl.zeros(out.shape, cl.float32, buffer=cl.psum)
    p, f = cl.mgrid[0:16, 0 : a.shape[1]]
    for k in cl.affine_range(steps):
        x, y = cl.load(a[k * 16 + p, f]), cl.load(a[k * 16 + p, f])
        total += cisa.nc_matmul(x, y)
    cl.store(out, total)
    return out


def language_current(a: Any, b: Any) -> Any:
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    x, y = nl.load(a), nl.load(b)
    nl.store(out, nl.softmax(nl.exp(nl.subtract(x, y)), axis=1))
    return out


def language_classic(a: Any, b: Any) -> Any:
    out = cl.ndarray(a.shape, dtype=a.dtype, buffer=cl.shared_hbm)
    x, y = cl.load(a), cl.load(b)
    cl.store(out, cl.softmax(cl.exp(x - y), axis=1))
    return out


PAIRS: list[tuple[Body, Body]] = [
    (activation_current, activation_classic),
    (reduction_current, reduction_classic),
    (masked_current, masked_classic),
    (matmul_current, matmul_classic),
    (language_current, language_classic),
]


@pytest.mark.parametrize(("current", "older"), PAIRS)
def test_both_generations_give_the_same_numbers_and_the_same_ir(current: Body, older: Body) -> None:
    random = np.random.default_rng(5)
    a = random.standard_normal((64, 40)).astype(np.float32)
    b = random.standard_normal((64, 1)).astype(np.float32)
    one, two = nki.jit(current, platform_target="trn2"), classic.jit(older, platform_target="trn2")
    first, second = one(a, b), two(a, b)
    assert first.dtype == second.dtype
    assert first.tobytes() == second.tobytes()
    assert canonical(str(one.trace(a, b))) == canonical(str(two.trace(a, b)))


def test_the_comparison_sees_differences() -> None:
    a, b = np.zeros((64, 40), np.float32), np.zeros((64, 1), np.float32)
    texts = [
        canonical(str(nki.jit(current, platform_target="trn2").trace(a, b))) for current, _ in PAIRS
    ]
    assert len({"\n".join(text) for text in texts}) == len(PAIRS)
