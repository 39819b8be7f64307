"""Lowered programs as IR: equal to the program, and with every instruction listed."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from support.paths import LIT
from support.tangled_kernels import tangled_kernel
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.engine.program import ProgramOp, programs_of
from nkijit.dialects.ncc import Ncc
from nkijit.dialects.nisa import Nisa
from nkijit.dialects.nki.kernel import kernels_of
from nkijit.ir.text import parse
from nkijit.passes.lower.engines import lower_to_engines
from nkijit.passes.lower.from_ir import from_ir
from nkijit.passes.lower.listing import listing
from nkijit.passes.lower.listing_json import listing_json
from nkijit.passes.lower.passes import LOWERING, run_lowering
from nkijit.passes.lower.program import LoweringError
from nkijit.passes.lower.schedule import lower, schedule
from nkijit.passes.lower.to_ir import to_ir

LOWER = LIT / "lower"
INSTRUCTIONS = [
    op for dialect in (Nisa, Ncc) for op in dialect.operations if issubclass(op, NisaOp)
]


def text_of(op: ProgramOp, *, generic: bool = False) -> str:
    stream = StringIO()
    printer = Printer(stream, print_debuginfo=True, print_generic_format=generic)
    printer.print_op(ModuleOp([op.clone()]))
    return stream.getvalue()


def read_back(op: ProgramOp, *, generic: bool) -> ProgramOp:
    text = text_of(op, generic=generic)
    (found,) = programs_of(parse(text))
    assert text_of(found, generic=generic) == text
    return found


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("seed", range(4))
def test_a_program_comes_back_from_text(seed: int, depth: int) -> None:
    traced, _ = tangled_kernel(seed, ("trn1", "trn2", "trn3")[seed % 3], 14, depth)
    (program,) = traced.programs()
    back = from_ir(read_back(to_ir(program), generic=bool(seed % 2)))
    assert listing(back) == listing(program)
    assert listing_json([back]) == listing_json([program])


@pytest.mark.parametrize("depth", range(3))
@pytest.mark.parametrize("seed", range(3))
def test_scheduling_a_parsed_program_gives_the_same(seed: int, depth: int) -> None:
    traced, _ = tangled_kernel(seed, length=14, depth=depth)
    (kernel,) = kernels_of(traced.module)
    back = from_ir(read_back(to_ir(lower_to_engines(kernel)), generic=False))
    assert listing_json([schedule(back)]) == listing_json([lower(kernel)])


def test_equal_instructions_are_known_by_a_number_again() -> None:
    traced, _ = tangled_kernel(1, depth=1)
    (program,) = traced.programs()
    back = from_ir(read_back(to_ir(program), generic=False))
    one = [i.like for i in program.instructions if i.stage >= 0]
    two = [i.like for i in back.instructions if i.stage >= 0]
    assert len(set(zip(one, two, strict=True))) == len(set(one)) == len(set(two)) < len(one)


def test_a_kernel_may_enter_the_pipeline_after_any_pass() -> None:
    traced, _ = tangled_kernel(2, depth=1)
    names = [step.lowering.name for step in LOWERING]
    texts: set[str] = set()
    for stop in (None, *names):
        module = traced.module.clone()
        if stop is not None:
            assert list(run_lowering(module, stop)) == names[: names.index(stop) + 1]
            module = parse(str(module))
        list(run_lowering(module))
        texts.add(str(module))
    assert len(texts) == 1


def test_a_pass_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no pass 'place'; it has allocate, lower-to-engines"):
        list(run_lowering(ModuleOp([]), "place"))


def test_a_tile_without_an_address_is_refused() -> None:
    traced, _ = tangled_kernel(3)
    (program,) = traced.programs()
    text = re.sub(r" address=\[\d+, \d+\]", "", text_of(to_ir(program)), count=1)
    (op,) = programs_of(parse(text))
    with pytest.raises(LoweringError, match="has no address"):
        from_ir(op)


@pytest.mark.parametrize("op", INSTRUCTIONS, ids=lambda op: op.name)
def test_every_instruction_is_listed(op: type[NisaOp]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in LOWER.glob("*.mlir")]
    listed = "\n".join(line for text in texts for line in text.splitlines() if "CHECK" in line)
    assert any(re.search(rf"^ *{re.escape(op.name)} ", text, re.M) for text in texts)
    for stage in op.SPEC.stages:
        assert re.search(rf"\b{stage.mnemonic}\b", listed), stage.mnemonic


@pytest.mark.parametrize("op", INSTRUCTIONS, ids=lambda op: op.name)
def test_every_operand_belongs_to_a_stage(op: type[NisaOp]) -> None:
    """Operands without a stage would be missing in the listing."""
    touched = {name for stage in op.SPEC.stages for name in stage.operands}
    assert touched == {f.name for f in op.SPEC.operand_fields}
