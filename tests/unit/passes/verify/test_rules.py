"""Instructions of one form are checked once: findings equal those of separate checks."""

from __future__ import annotations

from random import Random

import pytest
from support.kernel_parts import random_kernel
from support.mutations import MUTATIONS, Mutation
from support.random_kernels import PARTS
from support.tangled_kernels import tangled_kernel

from nkijit.dialects.nisa.universal_rules import all_rules_of
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.ir.text import parse
from nkijit.passes.verify.rules import check_rules

HEAD = "nki.kernel @form() target=trn2 {\n"


def judged_alone(kernel: KernelOp) -> list[tuple[str, str, str]]:
    """Rule, message and text of the operation for every rule that one breaks, one by one."""
    found: list[tuple[str, str, str]] = []
    for op in kernel.operations:
        for rule in all_rules_of(type(op)):
            finding = rule.check(op, kernel.target)
            if finding is not None:
                found.append((rule.text.id, finding.message, op.name))
    return found


def compare(kernel: KernelOp) -> int:
    """Check that the pass finds the same; returns how many findings there are."""
    alone = judged_alone(kernel)
    found = [(d.rule.id, d.message.partition(": ")[2]) for d in check_rules(kernel)]
    assert len(found) == len(alone)
    for (rule, message), (expected, text, name) in zip(found, alone, strict=True):
        assert rule == expected, name
        assert text in message or message in text, name
    return len(found)


def form(*lines: str) -> KernelOp:
    (kernel,) = kernels_of(parse(HEAD + "\n".join(lines) + "\nnki.return\n}"))
    return kernel


SBUF = "memref<128x{}xf32, #nki.sbuf>"
ROWS = "memref<64x64xf32, #nki.sbuf>"


@pytest.mark.parametrize("first", [0, 32, 64])
def test_the_partition_where_a_tile_begins_is_part_of_the_form(first: int) -> None:
    lines = [f"%a = nki.alloc : {SBUF.format(64)}", f"%b = nki.alloc : {ROWS}"]
    for number, start in enumerate((first, 16, 48, first)):
        lines += [
            f"%v{number} = nki.view %a offset={start * 64} pattern=[[64, 64], [1, 64]]",
            f"nisa.tensor_copy dst=%v{number}, src=%b",
        ]
    assert compare(form(*lines)) == (4 if first == 32 else 2)


@pytest.mark.parametrize("offset", [0, 64, 4096 - 64, -64, 4096, 8128])
def test_the_bounds_of_each_view_are_checked(offset: int) -> None:
    starts = (0, offset, 64, offset)
    views = [
        f"%v{n} = nki.view %a offset={start} pattern=[[128, 64], [1, 64]]"
        for n, start in enumerate(starts)
    ]
    tensor = "%a = nki.alloc : memref<64x128xf32, #nki.{}>"
    on_chip, in_hbm = (form(tensor.format(where), *views) for where in ("sbuf", "shared_hbm"))
    for kernel in (on_chip, in_hbm):
        assert compare(kernel) == (0 if offset in (0, 64) else 2)


@pytest.mark.parametrize("start", [0, 256, 512])
def test_the_place_in_a_bank_is_part_of_the_form(start: int) -> None:
    lines = [
        "%w = nki.alloc : memref<128x128xbf16, #nki.sbuf>",
        "%x = nki.alloc : memref<128x512xbf16, #nki.sbuf>",
        "%p = nki.alloc : memref<128x2048xf32, #nki.psum>",
    ]
    for number, offset in enumerate((0, start, 512, start + 1024)):
        lines += [
            f"%v{number} = nki.view %p offset={offset} pattern=[[2048, 128], [1, 512]]",
            f"nisa.nc_matmul dst=%v{number}, stationary=%w, moving=%x, accumulate=false",
        ]
    assert compare(form(*lines)) == (2 if start % 512 else 0)


@pytest.mark.parametrize("step", [0, 1, 64])
def test_tiles_of_one_allocation_are_checked_by_their_offsets(step: int) -> None:
    lines = [f"%a = nki.alloc : {SBUF.format(256)}"]
    for number in range(3):
        lines += [
            f"%r{number} = nki.view %a offset={number} pattern=[[256, 128], [1, 64]]",
            f"%w{number} = nki.view %a offset={number * (1 + step)} pattern=[[256, 128], [1, 64]]",
            f"nisa.tensor_copy dst=%w{number}, src=%r{number}",
        ]
    assert compare(form(*lines)) == (2 if step == 1 else 0)


@pytest.mark.parametrize("name", sorted(PARTS))
def test_valid_kernels_give_no_findings_either_way(name: str) -> None:
    for seed in range(3):
        for kernel in kernels_of(random_kernel(Random(f"{name} {seed}"), name).trace().module):
            compare(kernel)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_mutants_give_the_same_findings_either_way(mutation: Mutation) -> None:
    for seed in range(2):
        random = Random(f"{mutation.name} {seed}")
        kernel = random_kernel(random, mutation.part, mutation.targets).copy()
        mutation.apply(kernel, random)
        try:
            traced = kernel.trace()
        except Exception:  # tracing refuses some mutants
            continue
        for each in kernels_of(traced.module):
            compare(each)


@pytest.mark.parametrize("seed", range(8))
def test_tangled_kernels_give_the_same_findings_either_way(seed: int) -> None:
    for kernel in kernels_of(tangled_kernel(seed, "trn3", 20, 1)[0].module):
        compare(kernel)
