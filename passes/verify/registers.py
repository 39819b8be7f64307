"""Checks that registers are written before use, and that no float bits are used as an integer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects.scf import WhileOp
from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.operation import is_instruction
from nkijit.dialects.effects import effects, registers_written
from nkijit.dialects.nisa.registers import RegisterLoadOp, RegisterMoveOp, RegisterStoreOp
from nkijit.dialects.nki.kernel import KernelOp
from nkijit.dialects.nki.loops import compared, storage_of
from nkijit.dialects.nki.registers import ReadRegisterOp, RegisterOp
from nkijit.dialects.nki.views import index_of
from nkijit.dialects.register_type import RegisterType
from nkijit.dialects.rule_texts.access import LOOP_CONDITION
from nkijit.dialects.rule_texts.dataflow import REGISTER_BITS
from nkijit.dialects.rule_texts.initialisation import READ_UNWRITTEN
from nkijit.dialects.tiles import info_of
from nkijit.dialects.walks import found_once
from nkijit.passes.diagnostics.diagnose import diagnose
from nkijit.passes.diagnostics.diagnostic import Diagnostic


def check_registers(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a finding for each register that is read, but that no earlier operation writes."""
    if not found_once(kernel, _has_registers):
        return
    written: set[SSAValue] = set()
    for op in kernel.operations:
        for register in _registers_read(op):
            if register not in written:
                name = register.name_hint or "?"
                yield diagnose(
                    READ_UNWRITTEN,
                    op,
                    f"register '{name}' is read, but nothing has written it",
                    help=f"write it first: nisa.register_load({name}, tile), where the tile has "
                    f"one integer, or nisa.register_move({name}, 4)",
                )
                written.add(register)
        written.update(registers_written(op))


def check_register_bits(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a warning for each load of a float into a register that is used as an integer."""
    if not found_once(kernel, _has_registers):
        return
    tested = _tested(kernel)
    loads: dict[SSAValue, RegisterLoadOp] = {}
    found: set[RegisterLoadOp] = set()
    for op in kernel.operations:
        if not isinstance(op, (RegisterStoreOp, RegisterMoveOp)) and op not in tested:
            for register in _registers_read(op):
                load = loads.get(register)
                if load is not None and load not in found:
                    found.add(load)
                    yield _bits(load, op)
        for register in registers_written(op):
            source = op.src if isinstance(op, RegisterMoveOp) else None
            load = loads.get(source) if source is not None else None
            if isinstance(op, RegisterLoadOp) and not info_of(op.src).dtype.is_integer:
                load = op
            if load is None:
                loads.pop(register, None)
            else:
                loads[register] = load


def check_while_loops(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Yield a warning for each `while` whose body does not write the register that it tests."""
    if not found_once(kernel, _has_registers):
        return
    for loop in kernel.operations:
        if not isinstance(loop, WhileOp):
            continue
        tested = [storage_of(number) for number in compared(loop) or ()]
        tested = [value for value in tested if isinstance(value.type, RegisterType)]
        written = {register for op in loop.walk() for register in registers_written(op)}
        if tested and written.isdisjoint(tested):
            name = tested[0].name_hint or "register"
            found = diagnose(
                LOOP_CONDITION,
                loop,
                f"nothing in its body writes '{name}', so the loop does not end",
                help=f"write it at the end of the body: nisa.register_load({name}, tile), where "
                f"the tile has one integer, or nisa.register_move({name}, 0)",
                severity="warning",
            )
            yield replace(found, subject="while")


def _has_registers(kernel: KernelOp) -> bool:
    return any(type(op) is RegisterOp for op in kernel.operations)


def _bits(load: RegisterLoadOp, user: Operation) -> Diagnostic:
    return diagnose(
        REGISTER_BITS,
        load,
        f"'src' is {info_of(load.src).dtype.name}: '{load.dst.name_hint or '?'}' gets its bits, "
        "and is used as an integer",
        [("src", load.src)],
        related=[(user, "used as an integer here")],
    )


def _registers_read(op: Operation) -> Iterator[SSAValue]:
    if isinstance(op, ReadRegisterOp):
        yield op.source
    elif is_instruction(op):
        written = set(registers_written(op))
        for value in op.operands:
            if isinstance(value.type, RegisterType) and value not in written:
                yield value
        for effect in effects(op):
            index = index_of(effect.value)
            if index is not None and isinstance(index.type, RegisterType):
                yield index


def _tested(kernel: KernelOp) -> set[Operation]:
    """Return the register reads that loop conditions use. There, any bits but zero mean true."""
    loops = (op for op in kernel.operations if isinstance(op, WhileOp))
    values = (value for loop in loops for value in compared(loop) or ())
    return {value.owner for value in values if isinstance(value.owner, ReadRegisterOp)}
