"""The native backend: machine code made by LLVM, with the bits of NumPy's results."""
