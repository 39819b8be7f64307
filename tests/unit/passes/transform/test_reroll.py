"""Rerolled loops mean exactly the same as the unrolled code, and equal the kernel's loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.calls import calls_of
from support.classic_kernels import classic_kernel
from support.examples import examples, parameters
from support.kernel_parts import random_kernel
from support.random_kernels import PARTS
from support.redundant_kernels import redundant_kernel
from support.tangled_kernels import tangled_kernel, visible_kernel
from xdsl.dialects.builtin import ModuleOp

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.dialects.nki.repeat import RepeatOp
from nkijit.ir.text import ir_text_of, parse
from nkijit.passes.transform.reroll import rolled_module
from nkijit.passes.transform.unroll import unroll
from nkijit.traced.kernel import TracedKernel


def texts(module: ModuleOp) -> list[str]:
    """All forms of a module's text."""
    return [
        ir_text_of(module, locations=locations, generic=generic)
        for locations in (False, True)
        for generic in (False, True)
    ]


def check_exact(module: ModuleOp) -> ModuleOp:
    """Reroll a module, and see that it is the same again, also as text; returns it rolled."""
    expected = texts(module)
    rolled = rolled_module(module)
    rolled.verify()
    assert texts(module) == expected
    for locations in (False, True):
        text = ir_text_of(rolled, locations=locations)
        assert ir_text_of(parse(text, rolled=True), locations=locations) == text
        assert ir_text_of(parse(text), locations=locations) == expected[2 * locations]
    again = rolled.clone()
    unroll(again)
    again.verify()
    assert texts(again) == expected
    assert again.is_structurally_equivalent(module)
    return rolled


@pytest.mark.parametrize("example", parameters())
def test_examples(example: Any) -> None:
    traced = example.kernel.trace(**example.inputs(example.small))
    check_exact(traced.module)


def test_classic_examples() -> None:
    for seed in range(4):
        check_exact(classic_kernel(seed)[0].module)


@pytest.mark.parametrize(("length", "depth"), [(24, 0), (6, 1), (7, 2)])
def test_tangled_kernels(length: int, depth: int) -> None:
    for seed in range(2):
        check_exact(tangled_kernel(seed, "trn3", length, depth)[0].module)
        check_exact(redundant_kernel(seed, "trn3", length, depth)[0].module)


def test_visible_kernels() -> None:
    for seed in range(2):
        check_exact(visible_kernel(seed, "trn2", 16)[0].module)


@pytest.mark.parametrize("part", PARTS)
def test_random_kernels(part: str) -> None:
    check_exact(random_kernel(Random(part), part).trace().module)


def lines(module: ModuleOp) -> int:
    return len(ir_text_of(module).splitlines())


def trip_counts(module: ModuleOp) -> list[str]:
    """Depth and end of each loop, in program order."""

    def found(op: Any, depth: int) -> Iterator[str]:
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    is_loop = isinstance(inner, RepeatOp)
                    if is_loop:
                        yield f"{'  ' * depth}{inner.end.data}"
                    yield from found(inner, depth + is_loop)

    return list(found(module, 0))


def test_flash_attention_has_its_loops() -> None:
    example = examples("flash_attention")[0]
    found: list[int] = []
    for rows in (2048, 4096):
        traced = example.kernel.trace(**example.inputs(replace(example.production, rows=rows)))
        found.append(lines(check_exact(traced.module)))
    assert lines(traced.module) > 5000
    assert found[0] <= 640
    assert found[1] <= 448


def test_matmul_has_its_loops() -> None:
    example = examples("matmul")[0]
    options = replace(example.production, rows=512, inner=640, columns=1536)
    rolled = check_exact(example.kernel.trace(**example.inputs(options)).module)
    # Loads of b; rows of a, their transposes, columns of the result; the first matmul overwrites.
    assert trip_counts(rolled) == ["5", "4", "  5", "  3", "    4"]


# ------------------------------------------------------------ loops known by construction


class _Nest:
    """A kernel of random nested loops, and the loops that it is to have."""

    def __init__(self, random: Random):
        self.random = random
        self.kinds = 0

    def statements(self, depth: int) -> list[Any]:
        """Return the contents of a block: numbers of statements, and loops with their counts."""
        found: list[Any] = [self._statement()]
        for _ in range(2):
            if depth < 2 and self.random.random() < 0.6:
                found.append((self.random.randint(3, 4), self.statements(depth + 1)))
            found.append(self._statement())
        return found

    def _statement(self) -> int:
        self.kinds += 1
        return self.kinds

    def expected(self, block: list[Any], depth: int = 0) -> Iterator[str]:
        for item in block:
            if isinstance(item, tuple):
                yield f"{'  ' * depth}{item[0]}"
                yield from self.expected(item[1], depth + 1)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1 << 30), st.booleans(), st.booleans())
def test_nested_loops(seed: int, allocates: bool, by_list: bool) -> None:
    nest = _Nest(Random(seed))
    block = nest.statements(0)
    steps = [nest.random.randint(0, 3) for _ in range(8)]

    def kernel(x: Any) -> Any:
        out = nl.ndarray((64, 64), dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray((64, 4096), dtype=x.dtype, buffer=nl.sbuf)
        made: list[Any] = []

        def run(items: list[Any], indices: tuple[int, ...]) -> None:
            for item in items:
                if isinstance(item, tuple):
                    for index in range(item[0]):
                        run(item[1], (*indices, index))
                    continue
                start = sum(i * step for i, step in zip(indices, steps, strict=False)) + item
                to = tile[:, start : start + 8]
                if allocates:
                    to = nl.ndarray((64, 8), dtype=x.dtype, buffer=nl.sbuf, name=f"kind{item}")
                    made.append(to)
                # The statement is known by its shape.
                nisa.memset(dst=to, value=float(item))

        run(block, ())
        if by_list:
            for each in made:
                nisa.activation(dst=each, op=nl.exp, data=each)
        nisa.dma_copy(dst=out, src=tile[:, 0:64])
        return out

    traced = nki.jit(kernel, platform_target="trn2").trace(np.zeros((64, 64), np.float32))
    rolled = check_exact(traced.module)
    # All statements come from one line, so an iteration may begin with another one, and the first
    # or last one may be outside: there are at least as many loops.
    assert len(trip_counts(rolled)) >= len(list(nest.expected(block)))


def conditional(rows: int, first: bool, last: bool) -> TracedKernel:
    """A kernel whose first and last iterations are something else."""

    @nki.jit(platform_target="trn2")
    def kernel(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        total = nl.ndarray((64, 64), dtype=x.dtype, buffer=nl.sbuf)
        for i in range(rows):
            tile = nl.ndarray((64, 64), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[i * 64 : i * 64 + 64])
            if first and i == 0:
                nisa.tensor_copy(dst=total, src=tile)
            else:
                nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
            if last and i == rows - 1:
                nisa.reciprocal(dst=total, data=total)
            nisa.dma_copy(dst=out[i * 64 : i * 64 + 64], src=total)
        return out

    return kernel.trace(np.zeros((rows * 64, 64), np.float32))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_first_and_last_iterations(first: bool, last: bool) -> None:
    rolled = check_exact(conditional(9, first, last).module)
    assert trip_counts(rolled) == [str(9 - first - last)]


def test_a_tile_of_the_iteration_before_is_no_element_of_a_list() -> None:
    @nki.jit(platform_target="trn2")
    def pipelined(x: Any) -> Any:
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        before = None
        for i in range(6):
            tile = nl.ndarray((64, 64), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[i * 64 : i * 64 + 64])
            if before is not None:
                nisa.dma_copy(dst=out[i * 64 - 64 : i * 64], src=before)
            before = tile
        return out

    check_exact(pipelined.trace(np.zeros((384, 64), np.float32)).module)


def test_a_rolled_kernel_computes_the_same(tmp_path: Any) -> None:
    example = examples("matmul")[0]
    inputs = example.inputs(example.small)
    traced = example.kernel.trace(**inputs)
    path = tmp_path / "rolled.mlir"
    path.write_text(traced.text(rolled=True))
    assert "nki.repeat" in path.read_text()
    arrays = list(inputs.values())
    loaded = nki.load(path)
    assert loaded.run(*arrays).tobytes() == traced.run(*arrays).tobytes()
    assert not any("nki.repeat" in str(kernel) for kernel in kernels_of(loaded.module))


def test_work_is_linear() -> None:
    few, many = (conditional(tiles, True, True).module for tiles in (200, 1600))
    assert calls_of(lambda: rolled_module(many)) < 8 * 1.5 * calls_of(lambda: rolled_module(few))
