"""Compiles instruction forms (`forms.py`) to machine code for this machine's CPU, with LLVM."""

from __future__ import annotations

import ctypes
import hashlib
import threading
from pathlib import Path
from typing import Any

from nkijit.dialects.disk_cache import DiskCache
from nkijit.passes.interpret.backends.native.forms import NativeForm
from nkijit.passes.interpret.backends.native.llvm import binding as llvm

CACHE_VARIABLE = "NKIJIT_NATIVE_CACHE"
"""The variable that names the folder of object code; empty disables the cache."""
_WALK = "walk"


class Compiler:
    """Compiles instruction forms. Compiled code is kept until the process ends."""

    def __init__(self, objects: DiskCache | None = None):
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        triple = llvm.get_process_triple()
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        self._machine = llvm.Target.from_triple(triple).create_target_machine(
            cpu=cpu, features=features, opt=2, jit=True
        )
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine)
        # Object code depends on the form, the code that emits it, LLVM and the CPU.
        self._objects = objects or DiskCache.of_environment(CACHE_VARIABLE, "native")
        self._machine_key = repr((llvm.llvm_version_info, triple, cpu, features, _sources()))
        self._functions: dict[NativeForm | str, int] = {}
        self._lock = threading.Lock()
        self.compiled = 0
        """The number of forms that were compiled, because they were not in the disk cache."""
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        self.walk = kind(self.function(_WALK))

    def function(self, form: NativeForm | str) -> int:
        """Return the address of a form's code."""
        with self._lock:
            address = self._functions.get(form)
            if address is None:
                address = self._functions[form] = self._make(form)
            return address

    def _make(self, form: NativeForm | str) -> int:
        digest = hashlib.sha256(f"{self._machine_key}{form!r}".encode()).hexdigest()
        name = f"nkijit_{digest}"
        code = self._objects.load(digest)
        if code is None:
            code = self._compile(form, name)
            self._objects.store(digest, code)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        return self._engine.get_function_address(name)

    def _compile(self, form: NativeForm | str, name: str) -> bytes:
        # The IR emitters are imported only for compilation.
        from nkijit.passes.interpret.backends.native.emit.modules import emit, emit_walk

        module: Any = emit_walk(name) if isinstance(form, str) else emit(form, name)
        self.compiled += 1
        module.triple = self._machine.triple
        parsed = llvm.parse_assembly(str(module))
        parsed.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        # Vector instructions are explicit, so results do not depend on the optimiser.
        options.loop_vectorization = False
        options.slp_vectorization = False
        builder = llvm.create_pass_builder(self._machine, options)
        builder.getModulePassManager().run(parsed, builder)
        return self._machine.emit_object(parsed)


def _sources() -> str:
    """Return a digest of the source code that emits forms."""
    here = Path(__file__).parent
    texts = [here / "forms.py", *sorted((here / "emit").glob("*.py"))]
    return hashlib.sha256(b"".join(text.read_bytes() for text in texts)).hexdigest()
