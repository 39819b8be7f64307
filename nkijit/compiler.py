"""`nki.compiler` is the vendor's compiler for devices, which is refused: nothing here compiles."""

raise ImportError(
    "nki.compiler (compile_kernel, allocation decorators) builds binaries for devices, which "
    "nkijit does not; kernels run with @nki.jit and nki.simulate(kernel)"
)
