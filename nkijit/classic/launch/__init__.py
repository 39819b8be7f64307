"""Classic kernels and how they are called."""
