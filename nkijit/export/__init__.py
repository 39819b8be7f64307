"""Kernels out again: IR as the Python that today's NKI API is."""
