"""Forms as machine code: compiled by LLVM, kept on disk."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import llvmlite.binding as llvm

from nkijit.passes.interpret.backends.native.emit import emit, emit_walk
from nkijit.passes.interpret.backends.native.forms import Form


class Compiler:
    """Compiles forms for the CPU of this machine; what it has made lasts as long as the process."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_default_triple()
        features = llvm.get_host_cpu_features().flatten()
        self._machine = target.create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=features, opt=2, jit=True
        )
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine)
        self._functions: dict[Form, int] = {}
        self._lock = threading.Lock()
        self._made = 0
        self.walk = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
            self._compile(emit_walk("walk"), "walk")
        )

    def function(self, form: Form) -> int:
        """The address of the code of a form."""
        with self._lock:
            address = self._functions.get(form)
            if address is None:
                self._made += 1
                name = f"form{self._made}"
                address = self._functions[form] = self._compile(emit(form, name), name)
            return address

    def _compile(self, module: Any, name: str) -> int:
        module.triple = self._machine.triple
        parsed = llvm.parse_assembly(str(module))
        parsed.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = False
        options.slp_vectorization = False
        builder = llvm.create_pass_builder(self._machine, options)
        passes = builder.getModulePassManager()
        passes.run(parsed, builder)
        self._engine.add_module(parsed)
        self._engine.finalize_object()
        return self._engine.get_function_address(name)
