"""Emits LLVM modules: the function of a form, and the function that runs an instruction table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nkijit.passes.interpret.backends.native.emit.function import SIGNATURE, Function
from nkijit.passes.interpret.backends.native.emit.lanes import I64
from nkijit.passes.interpret.backends.native.emit.movement import write_copy, write_transpose
from nkijit.passes.interpret.backends.native.emit.rows import write_rows
from nkijit.passes.interpret.backends.native.forms import (
    CopyForm,
    MatmulForm,
    NativeForm,
    RowForm,
    TransposeForm,
)
from nkijit.passes.interpret.backends.native.llvm import building

ir = building()


def emit(form: NativeForm, name: str) -> Any:
    """Return a module with the function of a form."""
    module = ir.Module(name)
    function = ir.Function(module, SIGNATURE, name)
    builder = ir.IRBuilder(function.append_basic_block())
    _EMITTERS[type(form)](form, Function(builder, *function.args))
    builder.ret_void()
    return module


def _write_matmul(form: MatmulForm, f: Function) -> None:
    m, n, p = f.words(3)
    addresses = [f.address() for _ in range(3)]
    strides = f.words(6)
    loop = f.word(), f.word()
    f.call_loop(loop, addresses, [I64(1), m, n, p], [0, 0, 0, *strides])


def emit_walk(name: str) -> Any:
    """Return a module with the function that runs a table of consecutive instructions.

    A table entry has the address of the instruction's function, the number of its words, and the
    words.
    """
    module = ir.Module(name)
    pointer = ir.PointerType(I64)
    kind = ir.FunctionType(ir.VoidType(), [pointer, pointer, I64])
    function = ir.Function(module, kind, name)
    words, bases, count = function.args
    b = ir.IRBuilder(function.append_basic_block())
    f = Function(b, words, bases)
    at = f.variable(words)
    with f.loop(count):
        here = b.load(at)
        code, size = b.load(here), b.load(b.gep(here, [I64(1)]))
        own = b.gep(here, [I64(2)])
        b.call(b.inttoptr(code, ir.PointerType(SIGNATURE)), [own, bases])
        b.store(b.gep(own, [size]), at)
    b.ret_void()
    return module


_EMITTERS: dict[type[Any], Callable[[Any, Function], None]] = {
    RowForm: write_rows,
    CopyForm: write_copy,
    TransposeForm: write_transpose,
    MatmulForm: _write_matmul,
}
