"""Records as machine code, by LLVM: instructions in a row are one call, with the bits of NumPy."""
