"""Arrays of PyTorch and JAX as arguments and results, and kernels as operators of both."""
