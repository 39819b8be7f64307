"""The native backend: machine code generated with LLVM, whose results equal NumPy's bit by bit."""
